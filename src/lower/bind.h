/*
 * Binding kernels: what the passes share that make kernels for blocks and threads.
 */
#ifndef LOWER_BIND_H
#define LOWER_BIND_H

#include "lower/loop.h"

enum { MAX_THREADS = 1024 };

/* How many loops at the top stand perfectly inside each other and run over no reduction:
 * BLOCK and THREAD loops and, below them, serial ones. */
int bind_prefix(const struct lprog *l, const struct kernel *k);

/* Is the loop over var run by blocks or threads? */
bool bind_has(const struct kernel *k, int var);

/* The loop over slices of a split-K kernel: its variable, -1 = none. */
int bind_slices(const struct lprog *l, const struct kernel *k);

/* Binds a kernel that is not bound as every kernel is for which no step says how: the part of
 * a rewrite that was asked for. */
void bind_default(struct lprog *l, struct kernel *k);

#endif
