/* Small random programs and nasty data for the machine of legal.h. */
#ifndef TESTS_LEGAL_DRAW_H
#define TESTS_LEGAL_DRAW_H

#include "legal_run.h"

/* What inputs are made of. */
enum nasty {
    NASTY_NORMAL,
    NASTY_INTS,
    NASTY_HALF_ULP, /* 1, and what rounds away beside it */
    NASTY_WIDE,     /* any exponent */
    NASTY_TINY,
    NASTY_HUGE,
    NASTY_CANCEL, /* x, and -x but for a bit */
    NASTY_SAME,
    NASTY_SPREAD, /* tens and hundreds: logits */
    NASTY_ZEROS,  /* of both signs, and ones */
    NASTY_COUNT
};

static inline double uniform(struct legal *l)
{
    return (double)(legal_draw(l) >> 11) * 0x1p-53;
}

static inline double normal(struct legal *l)
{
    return sqrt(-2 * log(uniform(l) + 0x1p-54)) * cos(6.283185307179586 * uniform(l));
}

static inline double nasty_one(struct legal *l, enum dtype dt, enum nasty kind, double last,
                               int64_t k)
{
    int p = dt == DT_F64 ? 53 : dt == DT_F32 ? 24 : dt == DT_F16 ? 11 : 8;
    int most = dt == DT_F64 ? 1020 : dt == DT_F16 ? 14 : 125, e;

    switch (kind) {
    case NASTY_INTS:
        return legal_below(l, 9) - 4;
    case NASTY_HALF_ULP:
        if (k == 0)
            return 1;
        return ldexp(1 + (double)legal_below(l, 3) * ldexp(1, 1 - p), -p - legal_below(l, 2));
    case NASTY_WIDE:
        e = legal_below(l, 2 * most) - most;
        return ldexp(normal(l), e);
    case NASTY_TINY:
        return legal_below(l, 2) ? ldexp(normal(l), -most - legal_below(l, p)) : normal(l);
    case NASTY_HUGE:
        return legal_below(l, 3) ? normal(l) : ldexp(1 + uniform(l), most - legal_below(l, 6));
    case NASTY_CANCEL:
        if (k % 2 == 0)
            return normal(l) * ldexp(1, legal_below(l, 5));
        return -last * (1 + (double)(legal_below(l, 5) - 2) * ldexp(1, 1 - p));
    case NASTY_SAME:
        return k == 0 ? normal(l) : last;
    case NASTY_SPREAD:
        return normal(l) * (legal_below(l, 2) ? 10 : 60);
    case NASTY_ZEROS:
        return legal_below(l, 3) == 0 ? -0.0 : legal_below(l, 2) ? 0 : normal(l);
    case NASTY_NORMAL:
    case NASTY_COUNT:
        break;
    }
    return normal(l);
}

static inline void nasty_values(struct legal *l, struct trial *t, int i, enum nasty kind)
{
    struct values *v = arena_push(&arena, t->values, t->n_values, t->cap_values);
    enum dtype dt = t->prog.node[i].dt;
    double last = 1;

    *v = (struct values){ .node = i, .n = shape_count(&t->prog.node[i].sh) };
    v->v = arena_array(&arena, double, v->n + 1);
    for (int64_t k = 0; k < v->n; k++) {
        double x = float_round(dt, nasty_one(l, dt, kind, last, k));

        last = v->v[k] = isfinite(x) ? x : 1;
    }
}

/* The text of a program while it is written: every node is [r,n]. */
struct draft_text {
    char s[8192];
    size_t n;
    int nodes;
};

__attribute__((format(printf, 2, 3))) static inline void say(struct draft_text *d,
                                                             const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    d->n += (size_t)vsnprintf(d->s + d->n, sizeof d->s - d->n, fmt, ap);
    va_end(ap);
}

static const char *const literals[] = { "0.5", "2", "-1", "0.1", "3", "1e-3" };
static const char *const scales[] = { "1", "-1", "0.5", "2", "0.3", "-1.7", "0", "1e-4", "50" };

/* One more node, of an op drawn from all or the one that is asked for (< 0: any). */
enum { DRAWN_OPS = 30 };
static inline void say_node(struct legal *l, struct draft_text *d, const char *dt, int r, int n,
                            int op)
{
    static const char *const unary[] = { "neg",  "abs", "exp",   "exp2", "log",
                                         "tanh", "erf", "recip", "sqrt", "rsqrt" };
    static const char *const binary[] = { "add", "sub", "mul", "div", "maximum", "minimum" };
    static const char *const reduce[] = { "sum", "mean", "prod", "max", "min" };
    int a = legal_below(l, d->nodes), b = legal_below(l, d->nodes), me = d->nodes;
    bool half = dt[1] != '3' && dt[1] != '6';
    const char *acc = legal_below(l, 2)           ? ""
                      : half && legal_below(l, 2) ? dt[0] == 'b' ? " acc=bf16" : " acc=f16"
                      : legal_below(l, 2)         ? " acc=f64"
                      : dt[1] == '6'              ? ""
                                                  : " acc=f32";

    if (legal_below(l, 2))
        a = me - 1;
    if (op < 0)
        op = legal_below(l, DRAWN_OPS);
    if (op < 10) {
        say(d, "a%d = %s a%d\n", me, unary[op], a);
    } else if (op < 16) {
        if (legal_below(l, 4) == 0)
            say(d, "a%d = %s a%d %s\n", me, binary[op - 10], a, literals[legal_below(l, 6)]);
        else
            say(d, "a%d = %s a%d a%d\n", me, binary[op - 10], a, b);
    } else if (op < 21) {
        int axis = legal_below(l, 2);

        say(d, "b%d = %s a%d axes=[%d] keep=1%s\na%d = expand b%d [%d,%d]\n", me,
            reduce[op - 16], a, axis, op < 19 ? acc : "", me, me, r, n);
    } else if (op < 23) {
        say(d, "a%d = %s a%d axis=%d\n", me, op == 21 ? "softmax" : "logsoftmax", a,
            legal_below(l, 2));
    } else if (op == 23) {
        say(d, "a%d = cumsum a%d axis=%d%s\n", me, a, legal_below(l, 2), acc);
    } else if (op < 26) {
        static const char *const eps[] = { "1e-5", "0", "1e-12", "0.1" };

        say(d, "a%d = %s a%d g%s eps=%s\n", me, op == 24 ? "layernorm" : "rmsnorm", a,
            op == 24 ? " h" : "", eps[legal_below(l, 4)]);
    } else if (op < 28) {
        bool c = legal_below(l, 2);

        say(d, "a%d = matmul a%d w%s%s%s", me, a, c ? " a" : "", "", "");
        if (c)
            say(d, "%d", b);
        if (op == 27)
            say(d, " alpha=%s", scales[legal_below(l, 9)]);
        if (op == 27 && c)
            say(d, " beta=%s", scales[legal_below(l, 9)]);
        say(d, "%s\n", acc);
    } else if (op == 28) {
        int mask = legal_below(l, 3);

        say(d, "q%d = reshape a%d [1,%d,%d]\nk%d = reshape w [1,%d,%d]\n", me, a, r, n, me, n,
            n);
        if (mask == 2)
            say(d, "m%d = slice w [0:%d:1,0:%d:1]\n", me, r < n ? r : n, n);
        say(d, "o%d = attention q%d k%d k%d scale=%s mask=%s\na%d = reshape o%d [%d,%d]\n", me,
            me, me, me, scales[2 + legal_below(l, 3)], mask == 1 ? "causal" : "none", me, me, r,
            n);
    } else {
        say(d, "c%d = lt a%d a%d\na%d = where c%d a%d a%d\n", me, a, b, me, me, b, a);
    }
    d->nodes++;
}

/* Inputs a0 a1 [r,n], w [n,n], g h [n]; some nodes; the last is the output. */
static inline struct trial *draw_trial(struct legal *l, const char *dt, int op, int before,
                                       int after)
{
    struct draft_text d = { .nodes = 2 };
    int r = 1 + legal_below(l, 3), n = 1 + legal_below(l, legal_below(l, 4) ? 6 : 40);
    struct trial *t;

    say(&d,
        "input a0 %s [%d,%d]\ninput a1 %s [%d,%d]\ninput w %s [%d,%d]\ninput g %s [%d]\n"
        "input h %s [%d]\n",
        dt, r, n, dt, r, n, dt, n, n, dt, n, dt, n);
    for (int k = 0; k < before; k++)
        say_node(l, &d, dt, r, n, -1);
    say_node(l, &d, dt, r, n, op);
    for (int k = 0; k < after; k++)
        say_node(l, &d, dt, r, n, -1);
    say(&d, "output a%d\n", d.nodes - 1);
    t = trial_of("%s", d.s);
    for (int i = 0; i < 5; i++) {
        enum nasty kind = (enum nasty)legal_below(l, NASTY_COUNT);

        if (legal_below(l, 3) == 0)
            kind = NASTY_NORMAL;
        nasty_values(l, t, i, kind);
    }
    return t;
}

#endif
