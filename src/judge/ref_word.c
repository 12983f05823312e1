/*
 * Elementwise ops on words: i32 and bool in both algebras, and everything in ring, where a
 * float is an unsigned integer whose order is the signed one (of a half: 0..65535, cut off
 * behind every node). i32 wraps; x / 0 = 0.
 * An element that depends on an unsure one is unsure.
 */
#include "base/bug.h"
#include "judge/ref.h"

#define EACH(expr)                                                                             \
    for (int64_t k = 0; k < n; k++) {                                                          \
        uint32_t x = a.p[k * a.step];                                                          \
                                                                                               \
        out[k] = (expr);                                                                       \
    }                                                                                          \
    return

#define EACH2(expr)                                                                            \
    for (int64_t k = 0; k < n; k++) {                                                          \
        uint32_t x = a.p[k * a.step], y = b.p[k * b.step];                                     \
                                                                                               \
        out[k] = (expr);                                                                       \
    }                                                                                          \
    return

#define S(x) ((int32_t)(x))

static uint32_t divide(uint32_t x, uint32_t y)
{
    if (y == 0)
        return 0;
    if (y == UINT32_MAX) /* INT_MIN / -1 wraps */
        return 0 - x;
    return (uint32_t)(S(x) / S(y));
}

/* x is the word of a float (ring), an i32 or a bool; the result is too. */
static void cast(enum dtype from, enum dtype to, uint32_t *out, struct words a, int64_t n)
{
    if (to == DT_BOOL && from != DT_BOOL) {
        EACH(x != 0);
    }
    EACH(x);
}

static void unary(enum op op, bool ring, uint32_t *out, struct words a, int64_t n)
{
    if (op == OP_NEG) {
        EACH(0 - x);
    }
    if (op == OP_ABS) {
        EACH(S(x) < 0 ? 0 - x : x);
    }
    if (op == OP_NOT) {
        EACH(!x);
    }
    if (ring && op == OP_EXP) {
        EACH(ring_exp(x));
    }
    if (ring && op == OP_RECIP) {
        EACH(ring_pinv(x));
    }
    if (ring && op == OP_SQRT) {
        EACH(ring_sqrt(x));
    }
    if (ring && op == OP_RSQRT) {
        EACH(ring_pinv(ring_sqrt(x)));
    }
    if (ring && op == OP_EXP2) {
        EACH(ring_exp2(x));
    }
    if (ring && op == OP_LOG) {
        EACH(ring_log(x));
    }
    if (ring && op == OP_TANH) {
        EACH(ring_tanh(x));
    }
    if (ring && op == OP_ERF) {
        EACH(ring_erf(x));
    }
    BUG("judge: %s on words", op_info(op)->name);
}

static void binary(enum op op, bool ring, uint32_t *out, struct words a, struct words b,
                   int64_t n)
{
    if (op == OP_ADD) {
        EACH2(x + y);
    }
    if (op == OP_SUB) {
        EACH2(x - y);
    }
    if (op == OP_MUL) {
        EACH2(x * y);
    }
    if (op == OP_DIV && ring) {
        EACH2(x * ring_pinv(y));
    }
    if (op == OP_DIV) {
        EACH2(divide(x, y));
    }
    if (op == OP_MAX2) {
        EACH2(S(x) > S(y) ? x : y);
    }
    if (op == OP_MIN2) {
        EACH2(S(x) < S(y) ? x : y);
    }
    if (op == OP_AND) {
        EACH2(x & y);
    }
    if (op == OP_OR) {
        EACH2(x | y);
    }
    if (op == OP_LT) {
        EACH2(S(x) < S(y));
    }
    if (op == OP_LE) {
        EACH2(S(x) <= S(y));
    }
    if (op == OP_EQ) {
        EACH2(x == y);
    }
    BUG("judge: %s on words", op_info(op)->name);
}

/* Marks what depends on an unsure element of any of the operands. */
static void unsure_any(struct ref *r, struct want_node *w, const struct words *arg, int n_arg)
{
    for (int j = 0; j < n_arg; j++) {
        if (!arg[j].unsure)
            continue;
        if (!w->unsure)
            w->unsure = arena_array(r->arena, unsigned char, w->n);
        for (int64_t k = 0; k < w->n; k++)
            w->unsure[k] |= arg[j].unsure[k];
    }
}

/* An unsure condition does not matter where both branches are the same. */
static void unsure_where(struct ref *r, struct want_node *w, const struct words *arg)
{
    const struct words c = arg[0], a = arg[1], b = arg[2];

    if (!c.unsure && !a.unsure && !b.unsure)
        return;
    w->unsure = arena_array(r->arena, unsigned char, w->n);
    for (int64_t k = 0; k < w->n; k++) {
        bool ua = a.unsure && a.unsure[k], ub = b.unsure && b.unsure[k];

        if (c.unsure && c.unsure[k])
            w->unsure[k] = ua || ub || a.p[k * a.step] != b.p[k * b.step];
        else
            w->unsure[k] = c.p[k * c.step] ? ua : ub;
    }
}

static void where(uint32_t *out, const struct words *arg, int64_t n)
{
    const struct words c = arg[0], a = arg[1], b = arg[2];

    for (int64_t k = 0; k < n; k++)
        out[k] = c.p[k * c.step] ? a.p[k * a.step] : b.p[k * b.step];
}

void ref_word_each(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];
    struct want_node *w = &r->want->node[i];
    struct words arg[MAX_ARGS];
    enum dtype dt = x->dt;
    bool ring;

    for (int j = 0; j < x->n_arg; j++) /* a compare's literal has its operand's dtype */
        if (x->arg[j].node >= 0 && op_info(x->op)->class == OPC_COMPARE)
            dt = r->prog->node[x->arg[j].node].dt;
    for (int j = 0; j < x->n_arg; j++)
        ref_words(r, &x->arg[j], dt, &arg[j]);
    ring = r->ring && ref_is_float(dt);
    w->word = arena_array(r->arena, uint32_t, w->n);
    if (x->op == OP_WHERE) {
        where(w->word, arg, w->n);
        unsure_where(r, w, arg);
        return;
    }
    if (x->op == OP_CAST)
        cast(r->prog->node[x->arg[0].node].dt, x->dt, w->word, arg[0], w->n);
    else if (x->n_arg == 1)
        unary(x->op, ring, w->word, arg[0], w->n);
    else
        binary(x->op, ring, w->word, arg[0], arg[1], w->n);
    unsure_any(r, w, arg, x->n_arg);
}
