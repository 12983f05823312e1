#include "run/interp_index.h"

#include "base/bug.h"

void xtab_init(struct xtab *t, const struct lprog *l, struct arena *a)
{
    *t = (struct xtab){ .arena = a, .l = l };
    t->n_slot = 256;
    t->slot = arena_array(a, int, t->n_slot);
    t->imported = arena_array(a, int, l->ix.n + 1);
}

static unsigned hash_x(const struct x *x)
{
    uint64_t h = (uint64_t)x->op + 1;

    h = (h ^ (uint64_t)(uint32_t)x->a) * 0x9e3779b97f4a7c15u;
    h = (h ^ (uint64_t)(uint32_t)x->b) * 0x9e3779b97f4a7c15u;
    h = (h ^ (uint64_t)x->c) * 0x9e3779b97f4a7c15u;
    return (unsigned)(h >> 32);
}

static void rehash(struct xtab *t)
{
    t->n_slot *= 4;
    t->slot = arena_array(t->arena, int, t->n_slot);
    for (int i = 0; i < t->n; i++) {
        unsigned at = hash_x(&t->x[i]) & (unsigned)(t->n_slot - 1);

        while (t->slot[at])
            at = (at + 1) & (unsigned)(t->n_slot - 1);
        t->slot[at] = i + 1;
    }
}

static int intern(struct xtab *t, struct x x)
{
    unsigned at = hash_x(&x) & (unsigned)(t->n_slot - 1);

    for (; t->slot[at]; at = (at + 1) & (unsigned)(t->n_slot - 1)) {
        const struct x *y = &t->x[t->slot[at] - 1];

        if (y->op == x.op && y->a == x.a && y->b == x.b && y->c == x.c)
            return t->slot[at] - 1;
    }
    *arena_push(t->arena, t->x, t->n, t->cap) = x;
    t->slot[at] = t->n;
    if (t->n * 2 > t->n_slot)
        rehash(t);
    return t->n - 1;
}

static bool is_const(const struct xtab *t, int e, int64_t *c)
{
    *c = t->x[e].c;
    return t->x[e].op == X_CONST;
}

int x_const(struct xtab *t, int64_t c)
{
    return intern(t, (struct x){ X_CONST, 0, 0, c });
}

int x_var(struct xtab *t, int var)
{
    return intern(t, (struct x){ X_VAR, 0, 0, var });
}

int x_addc(struct xtab *t, int a, int64_t c)
{
    int64_t k;

    if (is_const(t, a, &k))
        return x_const(t, wrap_add(k, c));
    if (t->x[a].op == X_ADDC) {
        c = wrap_add(c, t->x[a].c);
        a = t->x[a].a;
    }
    return c == 0 ? a : intern(t, (struct x){ X_ADDC, a, 0, c });
}

int x_add(struct xtab *t, int a, int b)
{
    int64_t c;

    if (is_const(t, a, &c))
        return x_addc(t, b, c);
    if (is_const(t, b, &c))
        return x_addc(t, a, c);
    return intern(t, (struct x){ X_ADD, a, b, 0 });
}

int x_mulc(struct xtab *t, int a, int64_t c)
{
    int64_t k;

    if (is_const(t, a, &k))
        return x_const(t, wrap_mul(k, c));
    if (c == 0)
        return x_const(t, 0);
    return c == 1 ? a : intern(t, (struct x){ X_MULC, a, 0, c });
}

int x_mul(struct xtab *t, int a, int b)
{
    int64_t c;

    if (is_const(t, a, &c))
        return x_mulc(t, b, c);
    if (is_const(t, b, &c))
        return x_mulc(t, a, c);
    return intern(t, (struct x){ X_MUL, a, b, 0 });
}

int x_div(struct xtab *t, int a, int64_t c)
{
    int64_t k;

    if (is_const(t, a, &k))
        return x_const(t, floor_div(k, c));
    return c == 1 ? a : intern(t, (struct x){ X_DIV, a, 0, c });
}

int x_mod(struct xtab *t, int a, int64_t c)
{
    int64_t k;

    if (is_const(t, a, &k))
        return x_const(t, floor_mod(k, c));
    return c == 1 ? x_const(t, 0) : intern(t, (struct x){ X_MOD, a, 0, c });
}

/* Moves the constant of (x + k) < c to the right, so that both tests of a range name the
 * same x. Only small numbers: there nothing can wrap. */
static int shift_test(const struct xtab *t, int a, int64_t *c)
{
    const int64_t small = (int64_t)1 << 40;
    const struct x *x = &t->x[a];

    if (x->op != X_ADDC || x->c > small || x->c < -small || *c > small || *c < -small)
        return a;
    *c -= x->c;
    return x->a;
}

int x_lt(struct xtab *t, int a, int b)
{
    int64_t ca, cb;
    bool ka = is_const(t, a, &ca), kb = is_const(t, b, &cb);

    if (ka && kb)
        return x_const(t, ca < cb);
    if (kb) {
        a = shift_test(t, a, &cb);
        return intern(t, (struct x){ X_LTC, a, 0, cb });
    }
    if (ka) {
        b = shift_test(t, b, &ca);
        return intern(t, (struct x){ X_GTC, b, 0, ca });
    }
    return intern(t, (struct x){ X_LT, a, b, 0 });
}

/* lo < x and x < hi as one test; -1 = they are not of that form */
static int as_range(struct xtab *t, int a, int b)
{
    const struct x p = t->x[a], q = t->x[b];

    if (p.op == X_LTC && q.op == X_GTC)
        return as_range(t, b, a);
    if (p.op != X_GTC || q.op != X_LTC || p.a != q.a || p.c >= INT64_MAX - 1)
        return -1;
    if (q.c <= p.c + 1)
        return x_const(t, 0);
    return intern(t, (struct x){ X_IN, p.a, x_const(t, wrap_add(q.c, -(p.c + 1))), p.c + 1 });
}

int x_and(struct xtab *t, int a, int b)
{
    int64_t c;
    int r;

    if (a == b)
        return a;
    if (is_const(t, a, &c))
        return c ? b : a;
    if (is_const(t, b, &c))
        return c ? a : b;
    if ((r = as_range(t, a, b)) >= 0)
        return r;
    if (t->x[a].op == X_AND && (r = as_range(t, t->x[a].b, b)) >= 0)
        return x_and(t, t->x[a].a, r);
    return intern(t, (struct x){ X_AND, a, b, 0 });
}

int x_xor(struct xtab *t, int a, int b)
{
    int64_t ca, cb;
    bool ka = is_const(t, a, &ca), kb = is_const(t, b, &cb);

    if (ka && kb)
        return x_const(t, ca ^ cb);
    return intern(t, (struct x){ X_XOR, a, b, 0 });
}

static int import_new(struct xtab *t, const struct ix *x)
{
    switch (x->op) {
    case IX_CONST:
        return x_const(t, x->c);
    case IX_VAR:
        return x_var(t, (int)x->c);
    case IX_ADD:
        return x_add(t, x_import(t, x->a), x_import(t, x->b));
    case IX_MUL:
        return x_mul(t, x_import(t, x->a), x_import(t, x->b));
    case IX_DIV:
        return x_div(t, x_import(t, x->a), t->l->ix.x[x->b].c);
    case IX_MOD:
        return x_mod(t, x_import(t, x->a), t->l->ix.x[x->b].c);
    case IX_LT:
        return x_lt(t, x_import(t, x->a), x_import(t, x->b));
    case IX_AND:
        return x_and(t, x_import(t, x->a), x_import(t, x->b));
    case IX_XOR:
        return x_xor(t, x_import(t, x->a), x_import(t, x->b));
    }
    BUG("index operation %d", (int)x->op);
}

int x_import(struct xtab *t, int ix)
{
    if (!t->imported[ix])
        t->imported[ix] = import_new(t, &t->l->ix.x[ix]) + 1;
    return t->imported[ix] - 1;
}
