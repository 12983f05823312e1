/*
 * What the bounds compute with. Values of f32 and the halves are doubles, which round at
 * 2^-53 where the contract rounds at 2^-24; with JUDGE_WIDE values of f64 are __float128.
 * Functions of the latter come from long double: their 2^-63 or so is FUNCTION_SLACK.
 */
#ifndef JUDGE_REAL_H
#define JUDGE_REAL_H

#include <float.h>
#include <math.h>

/* One unit roundoff, a little enlarged: the excess covers the roundings of the reference
 * itself and of the bound's own arithmetic. */
#define ENLARGED (1 + 0x1p-10)

#ifdef JUDGE_WIDE

typedef __float128 real;
#define val               wide
#define ieee              wide
#define REAL_DTYPE        DT_F64
#define REAL_MAX          DBL_MAX
#define REAL_LEAST_NORMAL DBL_MIN
#define UNIT              (0x1p-53 * ENLARGED)
/* Twice the largest error of rounding a result below the normal range; here also what the
 * errors, doubles themselves, may lose there. */
#define TINY           0x1p-1072
#define DUST           TINY     /* the same where nothing else rounds there */
#define SLACK          0x1p-100 /* of adding two reals */
#define FUNCTION_SLACK 0x1p-60
#define DEEP           1500 /* exp of minus this is 0 */
#define ERF_ULPS       2.0

#define ref_vals             ref_vals_wide
#define ref_store            ref_store_wide
#define ref_narrow           ref_wide
#define special_unary        special_unary_wide
#define special_binary       special_binary_wide
#define sum_kind             sum_kind_wide
#define sum_bound            sum_bound_wide
#define sum_special          sum_special_wide
#define sum_dot_kinds        sum_dot_kinds_wide
#define sum_dot_special      sum_dot_special_wide
#define soft_weigh           soft_weigh_wide
#define soft_kind            soft_kind_wide
#define soft_rows            soft_rows_wide
#define ref_bound_each       ref_wide_each
#define ref_bound_where      ref_wide_where
#define ref_bound_to_word    ref_wide_to_word
#define ref_bound_sum        ref_wide_sum
#define ref_bound_prod       ref_wide_prod
#define ref_bound_max        ref_wide_max
#define ref_bound_argmax     ref_wide_argmax
#define ref_bound_matmul     ref_wide_matmul
#define ref_bound_softmax    ref_wide_softmax
#define ref_bound_logsoftmax ref_wide_logsoftmax
#define ref_bound_cumsum     ref_wide_cumsum
#define ref_bound_norm       ref_wide_norm
#define ref_bound_attention  ref_wide_attention

#define real_abs(x)  __builtin_fabsf128(x)
#define real_exp(x)  expl((long double)(x))
#define real_exp2(x) exp2l((long double)(x))
#define real_log(x)  logl((long double)(x))
#define real_tanh(x) tanhl((long double)(x))
#define real_erf(x)  erfl((long double)(x))
/* what the functions do not see of their argument */
#define real_cut(x)     fabs((double)((x) - (long double)(x)))
#define real_on_grid(x) ((real)(double)(x) == (x))

static inline real real_sqrt(real x)
{
    real s = sqrtl((long double)x);

    return s > 0 && s < (real)HUGE_VAL ? s + (x - s * s) / (2 * s) : s;
}

#else

typedef double real;
#define REAL_DTYPE        DT_F32
#define REAL_MAX          ((double)FLT_MAX)
#define REAL_LEAST_NORMAL ((double)FLT_MIN)
#define UNIT              (0x1p-24 * ENLARGED)
/* Twice the largest error of rounding a result below the normal range. */
#define TINY              0x1p-149
#define DUST              0.0
#define SLACK             0x1p-50
#define FUNCTION_SLACK    0.0
#define DEEP              200
#define ERF_ULPS          1.0

#define real_abs(x)     fabs(x)
#define real_exp(x)     exp(x)
#define real_exp2(x)    exp2(x)
#define real_log(x)     log(x)
#define real_tanh(x)    tanh(x)
#define real_erf(x)     erf(x)
#define real_sqrt(x)    sqrt(x)
#define real_cut(x)     0.0
#define real_on_grid(x) ((double)(float)(x) == (x))

#endif

#endif
