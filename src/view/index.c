#include "view/index.h"

#include "base/bug.h"

/* Division and modulo are floored: the quotient of a negative index behind a failed guard
 * must mean the same in every executor. */
static int64_t floor_div(int64_t a, int64_t c)
{
    int64_t q = a / c;

    return a % c < 0 ? q - 1 : q;
}

static int64_t floor_mod(int64_t a, int64_t c)
{
    int64_t r = a % c;

    return r < 0 ? r + c : r;
}

void ixs_init(struct ixs *s, struct arena *a)
{
    *s = (struct ixs){ .arena = a, .n_slot = 512 };
    s->slot = arena_array(a, int, s->n_slot);
}

static unsigned hash_ix(enum ix_op op, int a, int b, int64_t c)
{
    uint64_t h = (uint64_t)op * 0x9e3779b97f4a7c15u;

    h = (h ^ (uint32_t)a) * 0xff51afd7ed558ccdu;
    h = (h ^ (uint32_t)b) * 0xc4ceb9fe1a85ec53u;
    h = (h ^ (uint64_t)c) * 0x9e3779b97f4a7c15u;
    return (unsigned)(h >> 33);
}

static void rehash(struct ixs *s)
{
    s->n_slot *= 2;
    s->slot = arena_array(s->arena, int, s->n_slot);
    for (int e = 0; e < s->n; e++) {
        const struct ix *x = &s->x[e];
        unsigned at = hash_ix(x->op, x->a, x->b, x->c) & (unsigned)(s->n_slot - 1);

        while (s->slot[at])
            at = (at + 1) & (unsigned)(s->n_slot - 1);
        s->slot[at] = e + 1;
    }
}

static int intern(struct ixs *s, enum ix_op op, int a, int b, int64_t c)
{
    unsigned at = hash_ix(op, a, b, c) & (unsigned)(s->n_slot - 1);

    for (; s->slot[at]; at = (at + 1) & (unsigned)(s->n_slot - 1)) {
        const struct ix *x = &s->x[s->slot[at] - 1];

        if (x->op == op && x->a == a && x->b == b && x->c == c)
            return s->slot[at] - 1;
    }
    *arena_push(s->arena, s->x, s->n, s->cap) = (struct ix){ op, a, b, c };
    s->slot[at] = s->n;
    if (s->n * 2 > s->n_slot)
        rehash(s);
    return s->n - 1;
}

int ix_const(struct ixs *s, int64_t c)
{
    return intern(s, IX_CONST, -1, -1, c);
}

int ix_var(struct ixs *s, int var)
{
    return intern(s, IX_VAR, -1, -1, var);
}

bool ix_is_const(const struct ixs *s, int e, int64_t *c)
{
    if (s->x[e].op != IX_CONST)
        return false;
    *c = s->x[e].c;
    return true;
}

int ix_add(struct ixs *s, int a, int b)
{
    int64_t x, y;
    bool ka = ix_is_const(s, a, &x), kb = ix_is_const(s, b, &y);

    if (ka && kb)
        return ix_const(s, x + y);
    if (ka && x == 0)
        return b;
    if (kb && y == 0)
        return a;
    return intern(s, IX_ADD, a, b, 0);
}

int ix_mul(struct ixs *s, int a, int b)
{
    int64_t x, y;
    bool ka = ix_is_const(s, a, &x), kb = ix_is_const(s, b, &y);

    if (ka && kb)
        return ix_const(s, x * y);
    if ((ka && x == 0) || (kb && y == 1))
        return a;
    if ((kb && y == 0) || (ka && x == 1))
        return b;
    return intern(s, IX_MUL, a, b, 0);
}

int ix_scale(struct ixs *s, int a, int64_t c)
{
    return ix_mul(s, a, ix_const(s, c));
}

int ix_div(struct ixs *s, int a, int64_t c)
{
    int64_t x;

    if (c <= 0)
        BUG("index division by %lld", (long long)c);
    if (c == 1)
        return a;
    if (ix_is_const(s, a, &x))
        return ix_const(s, floor_div(x, c));
    return intern(s, IX_DIV, a, ix_const(s, c), 0);
}

int ix_mod(struct ixs *s, int a, int64_t c)
{
    int64_t x;

    if (c <= 0)
        BUG("index modulo %lld", (long long)c);
    if (c == 1)
        return ix_const(s, 0);
    if (ix_is_const(s, a, &x))
        return ix_const(s, floor_mod(x, c));
    return intern(s, IX_MOD, a, ix_const(s, c), 0);
}

int ix_lt(struct ixs *s, int a, int b)
{
    int64_t x, y;

    if (ix_is_const(s, a, &x) && ix_is_const(s, b, &y))
        return ix_const(s, x < y);
    return intern(s, IX_LT, a, b, 0);
}

int ix_and(struct ixs *s, int a, int b)
{
    int64_t x;

    if (ix_is_const(s, a, &x))
        return x ? b : a;
    if (ix_is_const(s, b, &x))
        return x ? a : b;
    if (a == b)
        return a;
    return intern(s, IX_AND, a, b, 0);
}

int ix_xor(struct ixs *s, int a, int b)
{
    int64_t x, y;
    bool ka = ix_is_const(s, a, &x), kb = ix_is_const(s, b, &y);

    if (ka && kb)
        return ix_const(s, x ^ y);
    if (ka && x == 0)
        return b;
    if (kb && y == 0)
        return a;
    return intern(s, IX_XOR, a, b, 0);
}

bool ix_uses(const struct ixs *s, int e, int var)
{
    const struct ix *x = &s->x[e];

    if (x->op == IX_CONST || x->op == IX_VAR)
        return x->op == IX_VAR && x->c == var;
    return ix_uses(s, x->a, var) || ix_uses(s, x->b, var);
}

/* The same operation on other operands; folds again. */
static int rebuild(struct ixs *s, enum ix_op op, int a, int b)
{
    switch (op) {
    case IX_ADD:
        return ix_add(s, a, b);
    case IX_MUL:
        return ix_mul(s, a, b);
    case IX_DIV:
        return ix_div(s, a, s->x[b].c);
    case IX_MOD:
        return ix_mod(s, a, s->x[b].c);
    case IX_LT:
        return ix_lt(s, a, b);
    case IX_AND:
        return ix_and(s, a, b);
    case IX_XOR:
        return ix_xor(s, a, b);
    case IX_CONST:
    case IX_VAR:
        break;
    }
    BUG("index op %d has no operands", (int)op);
}

int ix_subst(struct ixs *s, int e, const int *to, int n_to)
{
    struct ix x = s->x[e];
    int a, b;

    if (x.op == IX_CONST)
        return e;
    if (x.op == IX_VAR)
        return x.c < n_to && to[x.c] >= 0 ? to[x.c] : e;
    a = ix_subst(s, x.a, to, n_to);
    b = ix_subst(s, x.b, to, n_to);
    return a == x.a && b == x.b ? e : rebuild(s, x.op, a, b);
}

int ix_replace(struct ixs *s, int e, int from, int to)
{
    struct ix x = s->x[e];
    int a, b;

    if (e == from)
        return to;
    if (x.op == IX_CONST || x.op == IX_VAR)
        return e;
    a = ix_replace(s, x.a, from, to);
    b = ix_replace(s, x.b, from, to);
    return a == x.a && b == x.b ? e : rebuild(s, x.op, a, b);
}

int ix_size(const struct ixs *s, int e, int limit)
{
    const struct ix *x = &s->x[e];
    int n = 1;

    if (x->op == IX_CONST || x->op == IX_VAR || limit <= 1)
        return 1;
    n += ix_size(s, x->a, limit - n);
    return n < limit ? n + ix_size(s, x->b, limit - n) : n;
}

int64_t ix_eval(const struct ixs *s, int e, const int64_t *var)
{
    const struct ix *x = &s->x[e];

    switch (x->op) {
    case IX_CONST:
        return x->c;
    case IX_VAR:
        return var[x->c];
    case IX_ADD:
        return ix_eval(s, x->a, var) + ix_eval(s, x->b, var);
    case IX_MUL:
        return ix_eval(s, x->a, var) * ix_eval(s, x->b, var);
    case IX_DIV:
        return floor_div(ix_eval(s, x->a, var), s->x[x->b].c);
    case IX_MOD:
        return floor_mod(ix_eval(s, x->a, var), s->x[x->b].c);
    case IX_LT:
        return ix_eval(s, x->a, var) < ix_eval(s, x->b, var);
    case IX_AND:
        return ix_eval(s, x->a, var) && ix_eval(s, x->b, var);
    case IX_XOR:
        return ix_eval(s, x->a, var) ^ ix_eval(s, x->b, var);
    }
    BUG("index op %d", (int)x->op);
}

static struct ix_range range_mul(struct ix_range a, struct ix_range b)
{
    int64_t p[4] = { a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi };
    struct ix_range r = { p[0], p[0] };

    for (int i = 1; i < 4; i++) {
        r.lo = p[i] < r.lo ? p[i] : r.lo;
        r.hi = p[i] > r.hi ? p[i] : r.hi;
    }
    return r;
}

static struct ix_range range_mod(struct ix_range a, int64_t c)
{
    if (floor_div(a.lo, c) == floor_div(a.hi, c))
        return (struct ix_range){ floor_mod(a.lo, c), floor_mod(a.hi, c) };
    return (struct ix_range){ 0, c - 1 };
}

/* No bit above the highest of both, and never more than their sum. */
static struct ix_range range_xor(struct ix_range a, struct ix_range b)
{
    int64_t top = (a.hi > b.hi ? a.hi : b.hi), bits = 0;

    if (a.lo < 0 || b.lo < 0)
        return (struct ix_range){ INT64_MIN / 2, INT64_MAX / 2 };
    if (a.lo == a.hi && b.lo == b.hi)
        return (struct ix_range){ a.lo ^ b.lo, a.lo ^ b.lo };
    while (bits < top)
        bits = 2 * bits + 1;
    return (struct ix_range){ 0, bits < a.hi + b.hi ? bits : a.hi + b.hi };
}

struct ix_range ix_range(const struct ixs *s, int e, const int64_t *extent)
{
    const struct ix *x = &s->x[e];
    struct ix_range a, b;

    if (x->op == IX_CONST)
        return (struct ix_range){ x->c, x->c };
    if (x->op == IX_VAR)
        return (struct ix_range){ 0, extent[x->c] - 1 };
    a = ix_range(s, x->a, extent);
    b = ix_range(s, x->b, extent);
    if (a.lo > a.hi || b.lo > b.hi)
        return (struct ix_range){ 0, -1 };
    switch (x->op) {
    case IX_ADD:
        return (struct ix_range){ a.lo + b.lo, a.hi + b.hi };
    case IX_MUL:
        return range_mul(a, b);
    case IX_DIV:
        return (struct ix_range){ floor_div(a.lo, b.lo), floor_div(a.hi, b.lo) };
    case IX_MOD:
        return range_mod(a, b.lo);
    case IX_LT:
        return (struct ix_range){ a.hi < b.lo, a.lo < b.hi };
    case IX_AND:
        return (struct ix_range){ a.lo && b.lo, a.hi && b.hi };
    case IX_XOR:
        return range_xor(a, b);
    case IX_CONST:
    case IX_VAR:
        break;
    }
    BUG("index op %d", (int)x->op);
}

/* Binding strength of an operator in C-like text; operands of a weaker one get brackets. */
static int strength(enum ix_op op)
{
    switch (op) {
    case IX_CONST:
    case IX_VAR:
    case IX_XOR: /* brings its own brackets */
        return 5;
    case IX_MUL:
    case IX_DIV:
    case IX_MOD:
        return 4;
    case IX_ADD:
        return 3;
    case IX_LT:
        return 2;
    case IX_AND:
        return 1;
    }
    return 0;
}

static void print_at(const struct ixs *s, int e, int weakest,
                     const char *(*name)(void *ctx, int var), void *ctx, struct str *out)
{
    static const char *const sign[] = {
        [IX_ADD] = " + ", [IX_MUL] = "*",    [IX_DIV] = "/",  [IX_MOD] = "%",
        [IX_LT] = " < ",  [IX_AND] = " && ", [IX_XOR] = " ^ "
    };
    const struct ix *x = &s->x[e];
    int mine = strength(x->op);
    int64_t c;

    if (x->op == IX_CONST) {
        str_add(out, x->c < 0 && weakest > 3 ? "(%lld)" : "%lld", (long long)x->c);
        return;
    }
    if (x->op == IX_VAR) {
        str_puts(out, name(ctx, (int)x->c));
        return;
    }
    if (mine < weakest || x->op == IX_XOR)
        str_puts(out, "(");
    if (x->op == IX_ADD && ix_is_const(s, x->b, &c) && c < 0) {
        print_at(s, x->a, mine, name, ctx, out);
        str_add(out, " - %lld", -(long long)c);
    } else if (x->op == IX_MUL && ix_is_const(s, x->b, &c) && c >= 0) {
        str_add(out, "%lld*", (long long)c);
        print_at(s, x->a, mine + 1, name, ctx, out);
    } else {
        print_at(s, x->a, mine, name, ctx, out);
        str_puts(out, sign[x->op]);
        print_at(s, x->b, mine + 1, name, ctx, out);
    }
    if (mine < weakest || x->op == IX_XOR)
        str_puts(out, ")");
}

void ix_print(const struct ixs *s, int e, const char *(*name)(void *ctx, int var), void *ctx,
              struct str *out)
{
    print_at(s, e, 0, name, ctx, out);
}
