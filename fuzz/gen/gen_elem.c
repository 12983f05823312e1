/*
 * Elementwise nodes. Values are kept tame through their hints: exp only of small numbers,
 * 1/x and sqrt only of what can't reach 0; so nearly every element can be judged.
 */
#include <math.h>

#include "base/bug.h"
#include "fuzz/gen/build.h"

static double top(const struct gen *g, int x)
{
    return fmax(fabs(g->hint[x].lo), fabs(g->hint[x].hi));
}

static bool is_float(const struct gen *g, int x)
{
    return dtype_is_float(gen_at(g, x)->dt);
}

int elem_tame(struct gen *g, int x, double limit)
{
    double scale = 1;

    if (!is_float(g, x) || top(g, x) <= limit)
        return x;
    while (top(g, x) * scale > limit)
        scale /= 2;
    return gen_binary(g, OP_MUL, NODE(x), LIT(scale));
}

int elem_numeric(struct gen *g, int x)
{
    if (gen_at(g, x)->dt != DT_BOOL)
        return x;
    return gen_cast(g, x, rng_chance(&g->rng, 1, 2) ? DT_I32 : gen_float(g));
}

int elem_positive(struct gen *g, int x)
{
    if (g->hint[x].lo > 0.01)
        return x;
    if (g->hint[x].lo < 0) {
        if (rng_chance(&g->rng, 1, 2) && gen_may(g, OP_MUL))
            x = gen_binary(g, OP_MUL, NODE(x), NODE(x));
        else
            x = gen_unary(g, OP_ABS, x);
        g->hint[x].lo = fmax(g->hint[x].lo, 0);
    }
    return gen_binary(g, OP_ADD, NODE(x), LIT(rng_chance(&g->rng, 1, 2) ? 1 : 0.25));
}

double elem_lit(struct gen *g, enum dtype dt)
{
    static const double real[] = { 0.5, 2, -1, 1.5, 0.35355338, -0.25, 3, 0.1, -2.5, 1 };
    static const double whole[] = { 1, 2, -1, 3, -5, 7, 10, 255, -128, 4 };

    if (dt == DT_BOOL)
        return rng_chance(&g->rng, 1, 2);
    return dt == DT_I32 ? whole[rng_below(&g->rng, 10)] : real[rng_below(&g->rng, 10)];
}

/* op if it is allowed and safe on x, else 0 */
static int unary_weight(const struct gen *g, enum op op, int x)
{
    const struct hint *h = &g->hint[x];
    bool half = dtype_is_half(gen_at(g, x)->dt);

    if (!gen_may(g, op) || !op_takes(op, gen_at(g, x)->dt))
        return 0;
    switch ((int)op) {
    case OP_EXP:
        return h->hi < (half ? 8 : 12) && h->lo > -40 ? 6 : 0;
    case OP_EXP2:
        return h->hi < (half ? 11 : 17) && h->lo > -60 ? 3 : 0;
    case OP_LOG:
        return h->lo > (half ? 0.05 : 1e-3) ? 6 : 0;
    case OP_RSQRT:
        return h->lo > 1e-2 ? 5 : 0;
    case OP_TANH:
    case OP_ERF:
        return 2;
    case OP_RECIP:
        return h->lo > 0.01 || h->hi < -0.01 ? 5 : 0;
    case OP_SQRT:
        return h->lo > 1e-4 ? 4 : 0;
    case OP_COPY:
        return 2;
    default:
        return 3;
    }
}

int elem_unary(struct gen *g, int x)
{
    static const enum op op[] = { OP_NEG,  OP_ABS,  OP_EXP, OP_RECIP, OP_SQRT, OP_NOT,
                                  OP_COPY, OP_EXP2, OP_LOG, OP_TANH,  OP_ERF,  OP_RSQRT };
    enum { N = ARRAY_LEN(op) };
    int weight[N], sum = 0;

    if (is_float(g, x) && gen_room(g, 3) && rng_chance(&g->rng, 1, 4)) {
        if (rng_chance(&g->rng, 1, 3))
            x = elem_tame(g, x, 4);
        else if (gen_may(g, OP_ABS) && gen_may(g, OP_ADD))
            x = elem_positive(g, x);
    }
    for (int i = 0; i < N; i++)
        sum += weight[i] = unary_weight(g, op[i], x);
    if (sum == 0)
        gen_give_up(g);
    return gen_unary(g, op[rng_weighted(&g->rng, weight, N)], x);
}

static bool quotient_ok(const struct gen *g, const struct arg *y, enum dtype dt)
{
    if (dt == DT_I32)
        return true;
    if (y->node < 0)
        return y->lit != 0;
    return g->hint[y->node].lo > 0.01 || g->hint[y->node].hi < -0.01;
}

/* Through views that keep the order of elements, and copies. */
static int origin(const struct gen *g, int x)
{
    for (;;) {
        enum op op = gen_at(g, x)->op;

        if (op != OP_RESHAPE && op != OP_EXPAND && op != OP_COPY)
            return x;
        x = gen_at(g, x)->arg[0].node;
    }
}

static bool same_values(const struct gen *g, const struct arg *x, const struct arg *y)
{
    return x->node >= 0 && y->node >= 0 && origin(g, x->node) == origin(g, y->node);
}

static int binary_on(struct gen *g, enum dtype dt, struct arg x, struct arg y)
{
    static const enum op op[] = { OP_ADD,  OP_SUB, OP_MUL, OP_DIV, OP_MAX2,
                                  OP_MIN2, OP_AND, OP_OR,  OP_EQ };
    static const int base[] = { 6, 4, 6, 3, 2, 2, 3, 3, 1 };
    int weight[9], sum = 0, at;

    for (int i = 0; i < 9; i++) {
        bool ok = gen_may(g, op[i]) && op_takes(op[i], dt);

        if (op[i] == OP_DIV)
            ok = ok && quotient_ok(g, &y, dt);
        if (op[i] == OP_EQ) /* the result must be of the same dtype */
            ok = ok && dt == DT_BOOL;
        if (op[i] == OP_SUB && same_values(g, &x, &y))
            ok = false; /* all zero, most likely */
        weight[i] = ok ? base[i] : 0;
        sum += weight[i];
    }
    if (sum == 0)
        gen_give_up(g);
    at = rng_weighted(&g->rng, weight, 9);
    return gen_binary(g, op[at], x, y);
}

int elem_binary(struct gen *g, int x, int y)
{
    double limit = dtype_limit(gen_at(g, x)->dt);

    if (top(g, x) > limit)
        x = elem_tame(g, x, 100);
    if (top(g, y) > limit)
        y = elem_tame(g, y, 100);
    return binary_on(g, gen_at(g, x)->dt, NODE(x), NODE(y));
}

int elem_literal(struct gen *g, int x)
{
    enum dtype dt = gen_at(g, x)->dt;
    struct arg lit = LIT(elem_lit(g, dt));

    if (dt == DT_BOOL) /* x and 0, x or 1 are constants */
        return gen_may(g, OP_EQ) ? gen_binary(g, OP_EQ, NODE(x), lit) : elem_unary(g, x);
    if (g->hint[x].lo > 0.01 && rng_chance(&g->rng, 1, 6) && gen_may(g, OP_DIV))
        return gen_binary(g, OP_DIV, lit, NODE(x));
    if (rng_chance(&g->rng, 1, 8) && gen_may(g, OP_SUB))
        return gen_binary(g, OP_SUB, lit, NODE(x));
    return binary_on(g, dt, NODE(x), lit);
}

int elem_compare(struct gen *g, int x, struct arg y)
{
    static const enum op op[] = { OP_LT, OP_LE, OP_EQ };
    int weight[] = { 5, 4, 1 };
    bool exact = g->hint[x].exact && (y.node < 0 || g->hint[y.node].exact);
    enum dtype dt = gen_at(g, x)->dt;
    int sum = 0;

    for (int i = 0; i < 3; i++) {
        if (!gen_may(g, op[i]) || !op_takes(op[i], dt) || (op[i] == OP_EQ && !exact))
            weight[i] = 0;
        sum += weight[i];
    }
    if (sum == 0)
        gen_give_up(g);
    return gen_binary(g, op[rng_weighted(&g->rng, weight, 3)], NODE(x), y);
}

/* To another dtype without a jump. */
static int cast_any(struct gen *g, int x)
{
    enum dtype dt = gen_at(g, x)->dt;
    enum dtype to = gen_other(g, dt);

    if (to == DT_BOOL) /* mostly true otherwise */
        return elem_compare(g, x, LIT(is_float(g, x) ? 0.5 : 1));
    if (is_float(g, x) && !dtype_is_float(to) && !g->hint[x].exact)
        return elem_literal(g, x);
    return gen_cast(g, elem_tame(g, x, dtype_limit(to)), to);
}

/* A partner for x: the same tensor seen otherwise, a broadcast, anything. */
static int partner(struct gen *g, int x)
{
    const struct shape sh = gen_at(g, x)->sh;
    enum dtype dt = gen_at(g, x)->dt;
    int y = rng_chance(&g->rng, 1, 2) ? gen_reuse(g, dt, &sh) : -1;

    return y >= 0 ? y : gen_make(g, dt, &sh, (int)rng_below(&g->rng, 3));
}

int elem_any(struct gen *g, int x)
{
    static const int weight[] = { 16, 18, 14, 6, 4, 4, 1 };
    const struct shape sh = gen_at(g, x)->sh;
    enum dtype dt = gen_at(g, x)->dt;
    int c;

    switch (rng_weighted(&g->rng, weight, 7)) {
    case 0:
        return elem_unary(g, x);
    case 1:
        return elem_binary(g, x, partner(g, x));
    case 2:
        return elem_literal(g, x);
    case 3:
        return gen_may(g, OP_CAST) ? cast_any(g, x) : elem_unary(g, x);
    case 4:
        c = gen_make(g, DT_BOOL, &sh, 1);
        return gen_where(g, c, NODE(x), LIT(elem_lit(g, dt)));
    case 5:
        return gen_unary(g, OP_COPY, x);
    default:
        return act_idiom(g, x);
    }
}
