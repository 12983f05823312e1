/*
 * Formulas that people write with elementwise ops, and two idioms of casts. Hints are
 * corrected where interval arithmetic can't see that an operand occurs twice.
 */
#include <math.h>

#include "fuzz/gen/build.h"

static int lit(struct gen *g, enum op op, int x, double v)
{
    return gen_binary(g, op, NODE(x), LIT(v));
}

static int two(struct gen *g, enum op op, int x, int y)
{
    return gen_binary(g, op, NODE(x), NODE(y));
}

/* between 0 and x, or a little below 0 */
static int gated(struct gen *g, int x, int y)
{
    g->hint[y].lo = fmin(g->hint[x].lo, -0.3);
    g->hint[y].hi = fmax(g->hint[x].hi, 0);
    return y;
}

static int sigmoid(struct gen *g, int x)
{
    int e = gen_unary(g, OP_EXP, gen_unary(g, OP_NEG, x)), y;

    e = lit(g, OP_ADD, e, 1);
    y = rng_chance(&g->rng, 1, 2) ? gen_unary(g, OP_RECIP, e)
                                  : gen_binary(g, OP_DIV, LIT(1), NODE(e));
    g->hint[y].lo = 0, g->hint[y].hi = 1;
    return y;
}

static int silu(struct gen *g, int x)
{
    int e;

    if (rng_chance(&g->rng, 1, 2))
        return gated(g, x, two(g, OP_MUL, x, sigmoid(g, x)));
    e = lit(g, OP_ADD, gen_unary(g, OP_EXP, gen_unary(g, OP_NEG, x)), 1);
    return gated(g, x, two(g, OP_DIV, x, e));
}

static int gelu(struct gen *g, int x)
{
    int t = lit(g, OP_ADD, gen_unary(g, OP_ERF, lit(g, OP_MUL, x, 0.70710678)), 1);

    return gated(g, x, two(g, OP_MUL, lit(g, OP_MUL, x, 0.5), t));
}

static int gelu_tanh(struct gen *g, int x)
{
    int c = two(g, OP_MUL, two(g, OP_MUL, x, x), lit(g, OP_MUL, x, 0.044715));

    c = gen_unary(g, OP_TANH, lit(g, OP_MUL, two(g, OP_ADD, x, c), 0.79788456));
    return gated(g, x, two(g, OP_MUL, lit(g, OP_MUL, x, 0.5), lit(g, OP_ADD, c, 1)));
}

int act_any(struct gen *g, int x)
{
    if (!dtype_is_float(gen_at(g, x)->dt) || !gen_room(g, 5))
        return elem_any(g, x);
    x = elem_tame(g, x, 6);
    switch (rng_below(&g->rng, 5)) {
    case 0:
        return sigmoid(g, x);
    case 1:
    case 2:
        return silu(g, x);
    case 3:
        return gelu(g, x);
    default:
        return gelu_tanh(g, x);
    }
}

/* exp of numbers far below 0 gives 0, or next to it. */
static int underflow(struct gen *g, int x)
{
    static const double far[] = { 95, 110, 150, 800 };
    enum dtype dt = gen_at(g, x)->dt;

    if (!dtype_is_float(dt))
        return elem_any(g, x);
    x = lit(g, OP_SUB, elem_tame(g, x, 8), far[rng_below(&g->rng, dt == DT_F64 ? 4 : 3)]);
    x = gen_unary(g, OP_EXP, x);
    if (rng_chance(&g->rng, 1, 2)) /* seen as it is: most ops after it hide the difference */
        gen_output(g, x);
    return x;
}

/* Through a narrower dtype and back. */
static int round_trip(struct gen *g, int x)
{
    enum dtype dt = gen_at(g, x)->dt, to = rng_chance(&g->rng, 1, 2) ? DT_F16 : DT_BF16;

    if (dt != DT_F32 && dt != DT_F64)
        return elem_any(g, x);
    x = gen_cast(g, gen_cast(g, elem_tame(g, x, dtype_limit(to)), to), dt);
    return rng_chance(&g->rng, 1, 2) ? elem_any(g, x) : x;
}

/* x plus something of another dtype. */
static int mixed_sum(struct gen *g, int x)
{
    const struct shape sh = gen_at(g, x)->sh;
    enum dtype dt = gen_at(g, x)->dt, of = dt == DT_I32 ? DT_BOOL : DT_I32;
    int y;

    if (dt == DT_BOOL)
        return elem_any(g, x);
    if (dtype_is_float(dt) && (g->mixed || rng_chance(&g->rng, 1, 3)))
        of = dt == DT_F32 ? DT_F16 : DT_F32;
    y = gen_make(g, of, &sh, (int)rng_below(&g->rng, 2));
    y = gen_cast(g, elem_tame(g, y, dtype_limit(dt)), dt);
    return rng_chance(&g->rng, 1, 2) ? two(g, OP_ADD, x, y) : two(g, OP_ADD, y, x);
}

int act_idiom(struct gen *g, int x)
{
    if (!gen_may(g, OP_CAST) || !gen_room(g, 3))
        return elem_any(g, x);
    switch (rng_below(&g->rng, 7)) {
    case 0:
    case 6:
        return underflow(g, x);
    case 1:
    case 2:
        return round_trip(g, x);
    default:
        return mixed_sum(g, x);
    }
}
