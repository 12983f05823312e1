/*
 * Fits y = c0 + sum c[j] * x[j] exactly through all points, by differences.
 */
#ifndef FUZZ_EXPLAIN_FIT_H
#define FUZZ_EXPLAIN_FIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/*
 * n points of m coordinates, x[i * m + j]; c has m + 1 entries, the constant last. A
 * coordinate that never varies gets 0. False if there is no such form, or no two points
 * that show a coordinate alone.
 */
bool fit_affine(int m, int n, const int64_t *x, const int64_t *y, int64_t *c);
/* "64*i0 + i2 + 3"; "0" if nothing is left */
void fit_print(int m, const int64_t *c, const char *const *name, struct str *s);

#endif
