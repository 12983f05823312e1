/* layernorm and rmsnorm over the last axis: two-pass, as they are defined. */
#include "lower/expand.h"

/* A vector over the last axis, spread over the whole shape. */
static int spread(struct expand *x, int arg, const char *cast, const char *part,
                  const struct shape *sh)
{
    return expand_to(x, part, expand_operand(x, arg, cast), sh);
}

static int scale(struct expand *x, int centred, int variance)
{
    const struct shape sh = *expand_shape(x, centred);
    int ve = expand_literal(x, "ve", OP_ADD, variance, x->n->eps);
    int rs = expand_unary(x, "rs", OP_RSQRT, ve);

    return expand_binary(x, "yn", OP_MUL, centred, expand_to(x, "rb", rs, &sh));
}

static int mean_square(struct expand *x, int d, uint32_t last)
{
    return expand_reduce(x, "va", OP_MEAN, expand_binary(x, "sq", OP_MUL, d, d), last, true);
}

void expand_layernorm(struct expand *x)
{
    int a = expand_operand(x, 0, "xw"), mu, d, y;
    const struct shape sh = *expand_shape(x, a);
    uint32_t last = 1u << (sh.rank - 1);

    mu = expand_reduce(x, "mu", OP_MEAN, a, last, true);
    d = expand_binary(x, "dx", OP_SUB, a, expand_to(x, "mb", mu, &sh));
    y = scale(x, d, mean_square(x, d, last));
    y = expand_binary(x, "yg", OP_MUL, y, spread(x, 1, "gw", "gb", &sh));
    expand_final(x, OP_ADD, y, spread(x, 2, "bw", "bb", &sh));
}

void expand_rmsnorm(struct expand *x)
{
    int a = expand_operand(x, 0, "xw"), y;
    const struct shape sh = *expand_shape(x, a);

    y = scale(x, a, mean_square(x, a, 1u << (sh.rank - 1)));
    expand_final(x, OP_MUL, y, spread(x, 1, "gw", "gb", &sh));
}
