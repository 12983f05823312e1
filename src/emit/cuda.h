/*
 * Inside of emit: the statements of GPU kernels that C has no match for. Each function prints
 * the one at statement `at` and returns the number of the last statement that it covers.
 */
#ifndef EMIT_CUDA_H
#define EMIT_CUDA_H

#include "emit/cgen.h"

int cuda_wide(struct cgen *g, int at);  /* LOOP_WIDE: one access of several elements */
int cuda_async(struct cgen *g, int at); /* ASYNC of one element */
int cuda_mma(struct cgen *g, int at);   /* LOOP_MMA: fragments and one product of a warp */

#endif
