/*
 * Reductions and matmul of exact data. The proof: if all terms are multiples of 2^g and
 * their magnitudes add up to no more than 2^(g + bits of the accumulator), then every
 * partial sum, of any terms in any order, is a number that the accumulator has.
 */
#include "base/bug.h"
#include "judge/exact_eval.h"
#include "judge/walk.h"

void adder_put(struct adder *a, struct xval x)
{
    a->open |= x.e < 0 || !isfinite(x.v);
    a->s += x.v;
    a->t += fabs(x.v);
    a->e += x.e;
    if (x.v != 0) {
        int grid = exact_grid(x.v);

        a->grid = a->n == 0 || grid < a->grid ? grid : a->grid;
    }
    a->n += x.v != 0;
    a->terms++;
}

/* What x * y = p lacks, at the most. Below 2^-960 the remainder may itself be no double. */
static double product_rest(double x, double y, double p)
{
    double rest = fabs(fma(x, y, -p)) * 1.001;

    return x != 0 && y != 0 && fabs(p) < 0x1p-960 ? rest + 0x1p-1074 : rest;
}

void adder_put_product(struct adder *a, struct xval x, struct xval y)
{
    struct xval p = { x.v * y.v, -1 };

    if (x.e >= 0 && y.e >= 0) {
        p.e = fabs(x.v) * y.e + x.e * (fabs(y.v) + y.e);
        p.e += product_rest(x.v, y.v, p.v);
    }
    adder_put(a, p);
}

bool adder_fits(const struct adder *a, enum dtype acc)
{
    return !a->open && a->e == 0 &&
           (a->t == 0 || (a->t <= exact_room(acc, a->grid) && a->t <= xfloat(acc)->most &&
                          exact_grid_held(acc, a->grid)));
}

struct xval adder_sum(const struct adder *a, enum dtype acc)
{
    if (a->open || !(a->t + a->e <= xfloat(acc)->most / 2))
        return VAL_OPEN;
    if (adder_fits(a, acc))
        return (struct xval){ a->s, 0 };
    /* each product and each sum may round, below the normal range by eta at the most */
    return (struct xval){ a->s, a->e + (double)(2 * a->terms) * xfloat(acc)->eta +
                                    1.01 * (double)(a->terms + 1) * (xfloat(acc)->u + 0x1p-53) *
                                        (a->t + a->e) };
}

struct xval exact_store(enum dtype acc, enum dtype dt, struct xval x)
{
    if (x.e < 0)
        return x;
    if (x.e == 0) {
        x.v = exact_round(dt, x.v);
        return isfinite(x.v) ? x : VAL_OPEN;
    }
    if (acc != dt)
        x.e += xfloat(dt)->u * (fabs(x.v) + x.e) + xfloat(dt)->eta;
    return fabs(x.v) + x.e <= xfloat(dt)->most ? x : VAL_OPEN;
}

/* One division; or a product with 1/n; the sum may be stored in between. */
static struct xval mean(const struct node *n, struct xval s, int64_t count)
{
    double v = s.v / (double)count;
    bool even = is_pow2((double)count) && (v == 0 || fabs(v) > 0x1p-10);

    if (!count)
        return (struct xval){ NAN, 0 };
    if (s.e < 0)
        return s;
    s.e /= (double)count;
    s.v = v;
    if (even && s.e == 0 && fabs(v) * (double)count <= xfloat(n->dt)->most)
        return exact_store(n->acc, n->dt, s);
    s.e += 2 * xfloat(n->acc)->u * (fabs(v) + s.e) + xfloat(n->dt)->u * (fabs(v) + s.e);
    s.e += xfloat(n->dt)->eta;
    return exact_store(n->acc, n->dt, s);
}

struct product {
    double v, odd, most, least;
    int64_t n;
    bool open, near, zero;
};

static void product_put(struct product *p, struct xval x)
{
    double m = fabs(x.v);

    p->open |= x.e != 0 || !isfinite(m);
    p->n++;
    if (m == 0) {
        p->zero = true;
        return;
    }
    p->v *= x.v;
    p->odd *= ldexp(m, -exact_grid(m));
    p->most *= m > 1 ? m : 1;
    p->least *= m < 1 ? m : 1;
}

static struct xval product_end(const struct product *p, enum dtype acc)
{
    const struct xfloat *f = xfloat(acc);

    if (p->open || p->most > f->most / 2 || p->least < 0x1p-12)
        return VAL_OPEN;
    if (p->zero)
        return (struct xval){ 0, 0 };
    if (p->odd <= ldexp(1, f->bits))
        return (struct xval){ p->v, 0 };
    return (struct xval){ p->v, 1.01 * (double)p->n * (f->u + 0x1p-53) * fabs(p->v) };
}

/* The larger of what was seen and x; of the smaller, negated ones are given. */
static struct xval larger(struct xval best, struct xval x)
{
    if (best.e < 0 || x.e < 0 || isnan(x.v))
        return VAL_OPEN;
    if (best.v - best.e >= x.v + x.e)
        return best;
    if (x.v - x.e >= best.v + best.e)
        return x;
    return (struct xval){ fmax(best.v, x.v), fmax(best.e, x.e) };
}

static struct xval extreme(const struct node *n, const struct xval *p, const int64_t *at,
                           int64_t count)
{
    bool i32 = n->dt == DT_I32;
    double sign = n->op == OP_MIN ? -1 : 1;
    struct xval best = { -INFINITY, 0 };

    for (int64_t k = 0; k < count; k++)
        best = larger(best, (struct xval){ sign * p[at[k]].v, p[at[k]].e });
    if (count == 0 && i32)
        return (struct xval){ n->op == OP_MIN ? INT32_MAX : INT32_MIN, 0 };
    best.v *= sign;
    return best;
}

static struct xval words(const struct node *n, const struct xval *p, const int64_t *at,
                         int64_t count)
{
    uint32_t r = n->op == OP_PROD;

    for (int64_t k = 0; k < count; k++) {
        uint32_t w = (uint32_t)(int64_t)p[at[k]].v;

        if (p[at[k]].e < 0)
            return VAL_OPEN;
        r = n->op == OP_PROD ? r * w : r + w;
    }
    return (struct xval){ (double)(int32_t)r, 0 };
}

/* The elements at at[0 .. count) are what meets in one result. */
static struct xval reduce(const struct exacts *x, const struct node *n, const int64_t *at,
                          int64_t count)
{
    const struct xnode *of = &x->node[n->arg[0].node];
    struct adder a = { 0 };
    struct product p = { .v = 1, .odd = 1, .most = 1, .least = 1 };

    if (n->op == OP_MAX || n->op == OP_MIN)
        return extreme(n, of->p, at, count);
    if (n->dt == DT_I32)
        return words(n, of->p, at, count);
    if (n->op == OP_PROD) {
        for (int64_t k = 0; k < count; k++)
            product_put(&p, of->p[at[k]]);
        return exact_store(n->acc, n->dt, product_end(&p, n->acc));
    }
    for (int64_t k = 0; k < count; k++)
        adder_put(&a, of->p[at[k]]);
    if (n->op == OP_MEAN)
        return mean(n, adder_sum(&a, n->acc), count);
    return exact_store(n->acc, n->dt, adder_sum(&a, n->acc));
}

void exact_reduce(struct exacts *x, int i)
{
    const struct node *n = &x->prog->node[i];
    const struct shape *sh = &x->prog->node[n->arg[0].node].sh;
    int64_t n_out, n_in, *out = walk_axes(sh, ~n->axes, x->arena, &n_out),
                         *in = walk_axes(sh, n->axes, x->arena, &n_in), *at;

    at = arena_array(x->arena, int64_t, n_in + 1);
    for (int64_t k = 0; k < n_out; k++) {
        for (int64_t j = 0; j < n_in; j++)
            at[j] = out[k] + in[j];
        x->node[i].p[k] = reduce(x, n, at, n_in);
    }
}

static struct xval times(double by, struct xval x)
{
    return (struct xval){ by * x.v,
                          x.e < 0 ? -1 : fabs(by) * x.e + product_rest(by, x.v, by * x.v) };
}

/* alpha a b + beta c, all terms scaled: c may be NULL. */
static struct xval dot_scaled(const struct node *n, const struct xval *a, const struct xval *b,
                              int64_t k, int64_t step, const struct xval *c)
{
    double least = ldexp(xfloat(n->acc)->eta, xfloat(n->acc)->bits - 1);
    struct adder s = { 0 }, plain = { 0 };

    for (int64_t j = 0; j < k && n->alpha != 0; j++) {
        double x = fabs(n->alpha * a[j].v), y = fabs(n->alpha * b[j * step].v);

        if ((x != 0 && x < least) || (y != 0 && y < least)) /* alpha may go into an operand */
            return VAL_OPEN;
        adder_put_product(&s, times(n->alpha, a[j]), b[j * step]);
        adder_put_product(&plain, a[j], b[j * step]);
    }
    if (!(plain.t + plain.e <= xfloat(n->acc)->most / 2)) /* or comes when all is summed */
        return VAL_OPEN;
    if (c && n->beta != 0)
        adder_put_product(&s, (struct xval){ n->beta, 0 }, *c);
    s.terms += 2; /* roundings where it is not exact */
    return adder_sum(&s, n->acc);
}

/* One element of a float matmul whose operands need a closer look. */
static struct xval dot(const struct xval *a, const struct xval *b, int64_t k, int64_t step,
                       enum dtype acc)
{
    struct adder s = { 0 };

    for (int64_t j = 0; j < k; j++)
        adder_put_product(&s, a[j], b[j * step]);
    return adder_sum(&s, acc);
}

static struct xval dot_i32(const struct xval *a, const struct xval *b, int64_t k, int64_t step)
{
    uint32_t s = 0;

    for (int64_t j = 0; j < k; j++) {
        if (a[j].e < 0 || b[j * step].e < 0)
            return VAL_OPEN;
        s += (uint32_t)(int64_t)a[j].v * (uint32_t)(int64_t)b[j * step].v;
    }
    return (struct xval){ (double)(int32_t)s, 0 };
}

/* Everything fits, whatever the signs are. */
static double dot_plain(const struct xval *a, const struct xval *b, int64_t k, int64_t step)
{
    double s = 0;

    for (int64_t j = 0; j < k; j++)
        s += a[j].v * b[j * step].v;
    return s;
}

static struct xval scaled_i32(const struct exacts *x, const struct node *n, int64_t e,
                              struct xval product)
{
    uint32_t s = 0;

    if (n->alpha != 0) {
        if (product.e < 0)
            return product;
        s = (uint32_t)(int32_t)n->alpha * (uint32_t)(int32_t)product.v;
    }
    if (n->n_arg == 3 && n->beta != 0) {
        struct xval c = x->node[n->arg[2].node].p[e];

        if (c.e != 0)
            return VAL_OPEN;
        s += (uint32_t)(int32_t)n->beta * (uint32_t)(int32_t)c.v;
    }
    return (struct xval){ (double)(int32_t)s, 0 };
}

void exact_matmul(struct exacts *x, int i)
{
    const struct node *n = &x->prog->node[i];
    const struct xnode *l = &x->node[n->arg[0].node], *r = &x->node[n->arg[1].node];
    const struct shape *ls = &x->prog->node[n->arg[0].node].sh;
    int64_t cols = n->sh.dim[n->sh.rank - 1], rows = n->sh.dim[n->sh.rank - 2];
    int64_t k = ls->dim[ls->rank - 1];
    double most = (double)k * l->top * r->top;
    bool plain = n->dt != DT_I32 && l->sound && r->sound && most < xfloat(n->acc)->most &&
                 most <= exact_room(n->acc, l->grid + r->grid) &&
                 exact_grid_held(n->acc, l->grid + r->grid);

    for (int64_t e = 0; e < x->node[i].n; e++) {
        int64_t c = e % cols, m = e / cols % rows, b = e / cols / rows;
        const struct xval *pa = l->p + (b * rows + m) * k, *pb = r->p + b * k * cols + c;
        struct xval s;

        if (n->dt != DT_I32 && (n->scaled || n->n_arg == 3))
            s = dot_scaled(n, pa, pb, k, cols,
                           n->n_arg == 3 ? &x->node[n->arg[2].node].p[e] : NULL);
        else if (plain)
            s = (struct xval){ dot_plain(pa, pb, k, cols), 0 };
        else if (n->dt == DT_I32)
            s = scaled_i32(x, n, e, dot_i32(pa, pb, k, cols));
        else
            s = dot(pa, pb, k, cols, n->acc);
        x->node[i].p[e] = n->dt == DT_I32 ? s : exact_store(n->acc, n->dt, s);
    }
}
