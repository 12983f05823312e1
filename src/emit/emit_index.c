/*
 * Index expressions as C text. Division and modulo are floored in the IR and truncate in C,
 * so an operand that can be negative goes through TF_FDIV and TF_FMOD. A variable that runs
 * in lanes prints as its number, and what becomes constant by that is folded.
 */
#include "emit/cgen.h"

/* How tightly an expression must hold together where it is printed. */
enum prec { P_AND, P_LT, P_ADD, P_MUL, P_PRIMARY };

static void put(struct cgen *g, int e, enum prec p);

void cgen_int(struct str *s, int64_t v)
{
    char buf[24], *p = buf + sizeof buf;
    uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;

    do
        *--p = (char)('0' + u % 10);
    while (u /= 10);
    if (v < 0)
        *--p = '-';
    str_write(s, p, (size_t)(buf + sizeof buf - p));
}

static bool known(const struct cgen *g, int e, int64_t *c)
{
    const struct ix *x = &g->l->ix.x[e];
    int64_t a, b;

    if (x->op == IX_CONST) {
        *c = x->c;
        return true;
    }
    if (g->lane_var < 0)
        return false;
    if (x->op == IX_VAR) {
        *c = g->lane_at;
        return x->c == g->lane_var;
    }
    if (!known(g, x->a, &a) || !known(g, x->b, &b))
        return false;
    if (x->op == IX_ADD)
        *c = a + b;
    else if (x->op == IX_MUL)
        *c = a * b;
    else if (x->op == IX_DIV)
        *c = a / b - (a % b < 0);
    else if (x->op == IX_MOD)
        *c = a % b < 0 ? a % b + b : a % b;
    else if (x->op == IX_LT)
        *c = a < b;
    else if (x->op == IX_XOR)
        *c = a ^ b;
    else
        *c = a && b;
    return true;
}

/* Sums are printed flat, their constants in one number at the end. */
struct sum {
    int64_t constant;
    bool any; /* a term was printed */
};

static void put_term(struct cgen *g, int e, struct sum *sum)
{
    const struct ix *x = &g->l->ix.x[e];
    int64_t c, factor = 1;
    int rest = e;

    if (known(g, e, &c)) {
        sum->constant += c;
        return;
    }
    if (x->op == IX_ADD) {
        put_term(g, x->a, sum);
        put_term(g, x->b, sum);
        return;
    }
    if (x->op == IX_MUL && (known(g, x->a, &factor) || known(g, x->b, &factor)))
        rest = known(g, x->a, &c) ? x->b : x->a;
    if (factor == 0)
        return;
    if (sum->any)
        str_puts(g->s, factor < 0 ? " - " : " + ");
    else if (factor < 0)
        str_puts(g->s, "-");
    sum->any = true;
    if (factor != 1 && factor != -1) {
        cgen_int(g->s, factor < 0 ? -factor : factor);
        str_puts(g->s, "*");
        put(g, rest, P_PRIMARY);
    } else {
        put(g, rest, factor < 0 ? P_PRIMARY : P_MUL);
    }
}

static void put_sum(struct cgen *g, int e)
{
    struct sum sum = { 0 };

    put_term(g, e, &sum);
    if (!sum.any) {
        cgen_int(g->s, sum.constant);
    } else if (sum.constant) {
        str_puts(g->s, sum.constant < 0 ? " - " : " + ");
        cgen_int(g->s, sum.constant < 0 ? -sum.constant : sum.constant);
    }
}

static void put_divmod(struct cgen *g, const struct ix *x)
{
    struct ix_range r = ix_range(&g->l->ix, x->a, g->extent);
    bool div = x->op == IX_DIV;

    if (r.lo >= 0 || r.lo > r.hi) {
        put(g, x->a, P_PRIMARY);
        str_puts(g->s, div ? "/" : "%");
        put(g, x->b, P_PRIMARY);
        return;
    }
    str_puts(g->s, div ? "TF_FDIV(" : "TF_FMOD(");
    put(g, x->a, P_LT);
    str_puts(g->s, ", ");
    put(g, x->b, P_LT);
    str_puts(g->s, ")");
}

static void put_lt(struct cgen *g, const struct ix *x)
{
    int64_t c;

    if (known(g, x->a, &c) && c < INT64_MAX) { /* c < e is e >= c + 1 */
        put(g, x->b, P_ADD);
        str_puts(g->s, " >= ");
        cgen_int(g->s, c + 1);
        return;
    }
    put(g, x->a, P_ADD);
    str_puts(g->s, " < ");
    put(g, x->b, P_ADD);
}

static enum prec prec_of(const struct cgen *g, int e)
{
    const struct ix *x = &g->l->ix.x[e];
    int64_t c;

    if (known(g, e, &c))
        return c < 0 ? P_ADD : P_PRIMARY;
    switch (x->op) {
    case IX_CONST:
    case IX_VAR:
    case IX_XOR: /* printed in brackets */
        return P_PRIMARY;
    case IX_ADD:
        return P_ADD;
    case IX_MUL: /* with a factor of 1 or 0 it may print as a sum */
        return known(g, x->a, &c) || known(g, x->b, &c) ? P_ADD : P_MUL;
    case IX_DIV:
    case IX_MOD: {
        struct ix_range r = ix_range(&g->l->ix, x->a, g->extent);

        return r.lo < 0 && r.lo <= r.hi ? P_PRIMARY : P_MUL;
    }
    case IX_LT:
        return P_LT;
    case IX_AND:
        return P_AND;
    }
    return P_AND;
}

/* A condition is made a number by a cast: comparing or adding bare ones draws warnings. */
static void put(struct cgen *g, int e, enum prec p)
{
    const struct ix *x = &g->l->ix.x[e];
    enum prec have = prec_of(g, e);
    bool number = have <= P_LT && p > P_LT, inside = have < p;
    int64_t c;

    if (number)
        str_puts(g->s, p == P_PRIMARY ? "((tf_ix)" : "(tf_ix)");
    if (inside)
        str_puts(g->s, "(");
    if (known(g, e, &c)) {
        cgen_int(g->s, c);
    } else {
        switch (x->op) {
        case IX_CONST:
            break;
        case IX_VAR:
            str_puts(g->s, g->var[x->c] ? g->var[x->c] : "0");
            break;
        case IX_ADD:
            put_sum(g, e);
            break;
        case IX_MUL:
            if (have == P_ADD) {
                put_sum(g, e);
                break;
            }
            put(g, x->a, P_PRIMARY);
            str_puts(g->s, "*");
            put(g, x->b, P_PRIMARY);
            break;
        case IX_DIV:
        case IX_MOD:
            put_divmod(g, x);
            break;
        case IX_LT:
            put_lt(g, x);
            break;
        case IX_AND:
            cgen_cond(g, x->a);
            str_puts(g->s, " && ");
            cgen_cond(g, x->b);
            break;
        case IX_XOR:
            str_puts(g->s, "(");
            put(g, x->a, P_PRIMARY);
            str_puts(g->s, " ^ ");
            put(g, x->b, P_PRIMARY);
            str_puts(g->s, ")");
            break;
        }
    }
    if (inside)
        str_puts(g->s, ")");
    if (number && p == P_PRIMARY)
        str_puts(g->s, ")");
}

void cgen_index(struct cgen *g, int e)
{
    put(g, e, P_ADD);
}

void cgen_operand(struct cgen *g, int e)
{
    put(g, e, P_LT);
}

void cgen_cond(struct cgen *g, int e)
{
    enum prec have = prec_of(g, e);
    int64_t c;

    put(g, e, have <= P_LT ? P_AND : P_ADD);
    if (have > P_LT && !known(g, e, &c))
        str_puts(g->s, " != 0");
}
