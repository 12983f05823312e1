/*
 * The evaluation of f64: the text of the other floats once more, on __float128 (real.h says
 * what changes).
 */
#define JUDGE_WIDE

#include "judge/ref_attention.c"
#include "judge/ref_bound.c"
#include "judge/ref_bound_argmax.c"
#include "judge/ref_bound_matmul.c"
#include "judge/ref_bound_max.c"
#include "judge/ref_bound_prod.c"
#include "judge/ref_bound_sum.c"
#include "judge/ref_cumsum.c"
#include "judge/ref_jump.c"
#include "judge/ref_logsoftmax.c"
#include "judge/ref_norm.c"
#include "judge/ref_softmax.c"
#include "judge/special.c"
#include "judge/sum.c"
