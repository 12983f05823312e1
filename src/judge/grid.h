/*
 * The numbers that a float dtype has, and a stored element of one as a number. The judge's
 * own copy: ir/half.h makes input data, and what is judged has its own conversions too.
 */
#ifndef JUDGE_GRID_H
#define JUDGE_GRID_H

#include "ir/dtype.h"

static inline bool grid_is_half(enum dtype dt)
{
    return dt == DT_F16 || dt == DT_BF16;
}

double grid_unit(enum dtype dt);         /* half an ulp of 1; of what is no float, as of f32 */
double grid_least_normal(enum dtype dt); /* the smallest number with all its digits */
double grid_most(enum dtype dt);         /* the largest number there is */

/* The nearest number of a float dtype, ties to even, in one rounding; inf if too large. */
double grid_round(enum dtype dt, double v);

/* A stored element of a float dtype in ieee, and back (v is on the grid). */
double grid_load(enum dtype dt, const void *stored);
void grid_store(enum dtype dt, double v, void *dst);

#endif
