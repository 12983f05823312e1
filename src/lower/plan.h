/* Liveness and in-place legality for pass plan. */
#ifndef LOWER_PLAN_H
#define LOWER_PLAN_H

#include "lower/loop.h"

/*
 * When a buffer's bytes are in use, in statements numbered through all live kernels in order.
 * A use inside a loop that does not hold the definition lasts until that loop ends: the loop
 * runs again. Two buffers may share bytes if one ends at or before the other's start (at the
 * same statement the reads come before the write).
 */
struct interval {
    int start, end;                /* -1 = never written */
    int first_kernel, last_kernel; /* that touch it */
};
const struct interval *plan_liveness(struct lprog *l);

/*
 * May `out`, stored by kernel k, take the storage of donor? Only if every read of the donor
 * in k stands in a store to `out` that has the same index, and `out` is not read in k. In a
 * bound kernel threads race: then what is stored must be the thread's own as well.
 */
bool plan_inplace_ok(const struct lprog *l, int k, int out, int donor);

/* Does another buffer than the donor use its bytes after statement `start`? */
bool plan_shared(const struct interval *live, int n, const struct buffer *buffer, int donor,
                 int start);

#endif
