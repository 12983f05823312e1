/* What pass build makes kernels of: reads and stores of nodes at index expressions. */
#ifndef LOWER_BUILD_H
#define LOWER_BUILD_H

#include "lower/nest.h"

/* The value at idx[] of a node, through its views down to a buffer or a source. */
int build_read(struct lprog *l, int node, const int *idx);
/* A value in another dtype; the value itself where it is of that one. */
int build_widen(struct lprog *l, int val, enum dtype dt);
/* The loop variable "NODE.i0", "NODE.r1"; role r is a reduction's. */
int build_axis(struct lprog *l, int node, char role, int num, int64_t extent);
void build_store(struct lprog *l, struct kernel *k, int buffer, const int *idx, int val);

/* The kernel of an attention that its step asks to be one loop over blocks of keys, or with
 * splits a kernel of slices and one that combines them (build_flash.c). ERR_ILLEGAL if it is
 * too large. */
int build_flash(struct lprog *l, int node, struct err *e);

#endif
