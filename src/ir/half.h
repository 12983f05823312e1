/*
 * The 2-byte floats as bits: one rounding from double, to nearest even, and back without
 * loss. For input data and literals only; backends and the judge convert by themselves.
 */
#ifndef IR_HALF_H
#define IR_HALF_H

#include "base/str.h"
#include "ir/dtype.h"

/* dt is DT_F16 or DT_BF16. Too large becomes inf, every NaN the positive quiet one. */
uint16_t half_of(enum dtype dt, double v);
double half_value(enum dtype dt, uint16_t bits);

/* The nearest number that a float dtype has. */
double float_round(enum dtype dt, double v);
/* The shortest decimal text that reads back as the same number of it; v is finite. */
void float_print(enum dtype dt, double v, struct str *s);

#endif
