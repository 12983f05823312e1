/*
 * What the two passes that make split-K share.
 */
#ifndef LOWER_SPLITK_H
#define LOWER_SPLITK_H

#include "lower/loop.h"

/* A new kernel in front of kernel `at`; whatever names kernels by number goes along. */
void insert_kernel(struct lprog *l, int at, struct kernel k);

/* A temp of one axis that belongs to no program node. */
int splitk_buffer(struct lprog *l, const char *name, enum dtype dt, int64_t elems);

#endif
