/*
 * The range of a node: the largest magnitude and the grid that holds all its values, or the
 * very values where these are few.
 */
#include <string.h>

#include "judge/interval_inner.h"

static struct range of_values(const double *v, int n)
{
    struct range r = { .ok = true, .grid = 1000, .one_sided = true };

    for (int k = 0; k < n; k++) {
        bool seen = false;

        for (int j = 0; j < r.n; j++)
            seen |= r.v[j] == v[k];
        if (!seen)
            r.v[r.n++] = v[k];
        r.mag = fmax(r.mag, fabs(v[k]));
        r.mean += fabs(v[k]) / n;
        if (v[k] != 0 && exact_grid(v[k]) < r.grid)
            r.grid = exact_grid(v[k]);
        r.one_sided &= v[k] * v[0] >= 0;
    }
    if (r.grid == 1000)
        r.grid = 0;
    return r;
}

static struct range of_arg(const struct intervals *x, const struct arg *a)
{
    return a->node >= 0 ? x->r[a->node] : of_values(&a->lit, 1);
}

/* A value of few that a function maps to a number of its dtype; NAN if not without rounding. */
static double map_value(enum op op, enum dtype core, double v)
{
    switch ((int)op) {
    case OP_NEG:
        return -v;
    case OP_ABS:
        return fabs(v);
    case OP_EXP:
        return v == 0 ? 1 : v <= -xfloat(core)->cut ? 0 : (double)NAN;
    case OP_EXP2:
        return v == 0 ? 1 : v <= -xfloat(core)->cut2 ? 0 : (double)NAN;
    case OP_SQRT:
        return v >= 0 && fma(sqrt(v), sqrt(v), -v) == 0 ? sqrt(v) : (double)NAN;
    case OP_RECIP:
        return is_pow2(v) ? 1 / v : (double)NAN;
    case OP_LOG:
        return v == 1 ? 0 : (double)NAN;
    case OP_TANH:
    case OP_ERF:
        return v == 0 ? 0 : (double)NAN;
    }
    return (double)NAN;
}

static double map_two(enum op op, double a, double b)
{
    switch ((int)op) {
    case OP_ADD:
        return a + b;
    case OP_SUB:
        return a - b;
    case OP_MUL:
        return a * b;
    case OP_DIV:
        return is_pow2(b) ? a / b : (double)NAN;
    case OP_MAX2:
        return fmax(a, b);
    case OP_MIN2:
        return fmin(a, b);
    }
    return (double)NAN;
}

static struct range unary(const struct range *a, enum op op, enum dtype core)
{
    double v[ALPHABET];
    struct range r;
    bool ok = a->ok;

    if (a->n == 0) {
        r = *a;
        r.ok &= op == OP_NEG || op == OP_ABS;
        r.one_sided |= op == OP_ABS;
        return r;
    }
    for (int k = 0; k < a->n; k++) {
        v[k] = map_value(op, core, a->v[k]);
        ok &= !isnan(v[k]);
        v[k] = isnan(v[k]) ? 0 : v[k];
    }
    r = of_values(v, a->n);
    r.ok = ok;
    return r;
}

static struct range two_of_few(const struct range *a, const struct range *b, enum op op,
                               bool same)
{
    double v[ALPHABET * ALPHABET];
    bool ok = a->ok && b->ok;
    struct range r;
    int n = 0;

    for (int k = 0; k < a->n; k++) {
        for (int j = same ? k : 0; j < (same ? k + 1 : b->n); j++) {
            double y = map_two(op, a->v[k], b->v[j]);
            bool seen = false;

            ok &= !isnan(y);
            for (int i = 0; i < n; i++)
                seen |= v[i] == y;
            if (!seen && !isnan(y) && n < ALPHABET)
                v[n++] = y;
            else if (!seen)
                return (struct range){ 0 };
        }
    }
    r = of_values(v, n);
    r.ok = ok;
    return r;
}

static struct range binary(const struct node *n, const struct range *a, const struct range *b)
{
    bool same = n->arg[0].node >= 0 && n->arg[0].node == n->arg[1].node;
    struct range r = { .ok = a->ok && b->ok };

    if (a->n && b->n && a->n * b->n <= 4 * ALPHABET) {
        struct range few = two_of_few(a, b, n->op, same);

        if (few.n)
            return few;
    }
    r.mag = fmax(a->mag, b->mag);
    r.mean = fmax(a->mean, b->mean);
    r.grid = a->grid < b->grid ? a->grid : b->grid;
    r.one_sided = a->one_sided && b->one_sided;
    if (n->op == OP_ADD || n->op == OP_SUB) {
        r.mag = a->mag + b->mag;
        r.mean = r.one_sided ? a->mean + b->mean : hypot(a->mean, b->mean);
    } else if (n->op == OP_MUL) {
        r.mag = a->mag * b->mag;
        r.mean = a->mean * b->mean;
        r.grid = a->grid + b->grid;
        r.one_sided |= same;
    } else if (n->op == OP_DIV) {
        double least = INFINITY;

        for (int k = 0; k < b->n; k++) {
            r.ok &= is_pow2(b->v[k]);
            least = fmin(least, fabs(b->v[k]));
        }
        r.ok &= b->n > 0;
        r.mag = a->mag / least;
        r.mean = a->mean / least;
        r.grid = b->n ? a->grid - (int)lrint(log2(b->mag)) : a->grid;
    }
    return r;
}

static int64_t terms(const struct intervals *x, const struct node *n)
{
    const struct shape *sh = &x->prog->node[n->arg[0].node].sh;
    int64_t count = 1;

    if (n->op == OP_MATMUL)
        return sh->dim[sh->rank - 1];
    for (int a = 0; a < sh->rank; a++)
        if (n->axes >> a & 1)
            count *= sh->dim[a];
    return count;
}

static struct range added(struct range r, int64_t n, enum dtype acc)
{
    r.n = 0;
    r.mag *= (double)n;
    r.mean *= r.one_sided ? (double)n : sqrt((double)n);
    if (acc != DT_I32)
        r.ok &= r.mag <= exact_room(acc, r.grid);
    return r;
}

static struct range reduce(const struct intervals *x, const struct node *n)
{
    struct range r = of_arg(x, &n->arg[0]);
    int64_t count = terms(x, n);

    if (n->op == OP_MAX || n->op == OP_MIN)
        return r;
    if (n->op == OP_PROD) {
        r.n = 0;
        r.grid *= (int)count;
        r.mag = count > 200 ? HUGE_VAL : pow(r.mag, (double)count);
        r.mean = count > 200 ? HUGE_VAL : pow(r.mean, (double)count);
        if (n->acc != DT_I32)
            r.ok &= r.mag <= exact_room(n->acc, r.grid);
        return r;
    }
    r = added(r, count, n->acc);
    if (n->op == OP_MEAN && count) {
        r.ok &= is_pow2((double)count);
        r.grid -= (int)ceil(log2((double)count));
        r.mag /= (double)count;
        r.mean /= (double)count;
    }
    return r;
}

/* alpha r, and + beta c: one sum of everything. */
static struct range scaled(const struct intervals *x, const struct node *n, struct range r)
{
    struct range c = n->n_arg == 3 ? of_arg(x, &n->arg[2]) : of_values(&(double){ 0 }, 1);

    r.ok &= c.ok;
    r.n = 0;
    r.grid += n->alpha != 0 ? exact_grid(n->alpha) : 0;
    if (n->n_arg == 3 && n->beta != 0 && c.grid + exact_grid(n->beta) < r.grid)
        r.grid = c.grid + exact_grid(n->beta);
    r.mag = r.mag * fabs(n->alpha) + c.mag * fabs(n->beta);
    r.mean = hypot(r.mean * n->alpha, c.mean * n->beta);
    r.one_sided = false;
    if (n->acc != DT_I32)
        r.ok &= r.mag <= exact_room(n->acc, r.grid);
    return r;
}

static struct range matmul(const struct intervals *x, const struct node *n)
{
    struct range a = of_arg(x, &n->arg[0]), b = of_arg(x, &n->arg[1]), r = { 0 };

    r.ok = a.ok && b.ok;
    r.mag = a.mag * b.mag;
    r.mean = a.mean * b.mean;
    r.grid = a.grid + b.grid;
    r.one_sided = a.one_sided && b.one_sided;
    r = added(r, terms(x, n), n->acc);
    if (n->scaled || n->n_arg == 3)
        r = scaled(x, n, r);
    return r;
}

static struct range either(const struct range *a, const struct range *b)
{
    struct range r = { .ok = a->ok && b->ok };

    r.mag = fmax(a->mag, b->mag);
    r.mean = fmax(a->mean, b->mean);
    r.grid = a->grid < b->grid ? a->grid : b->grid;
    r.one_sided = a->one_sided && b->one_sided;
    if (a->n && b->n && a->n + b->n <= ALPHABET) {
        double v[ALPHABET];

        memcpy(v, a->v, (size_t)a->n * sizeof *v);
        memcpy(v + a->n, b->v, (size_t)b->n * sizeof *v);
        r = of_values(v, a->n + b->n);
        r.ok = a->ok && b->ok;
    }
    return r;
}

static struct range source(const struct intervals *x, int i)
{
    const struct node *n = &x->prog->node[i];
    const struct alphabet *l = &x->alpha[i];
    double m = (double)l->most;

    if (n->op == OP_CONST)
        return of_values(&n->value, 1);
    if (n->op == OP_IOTA)
        return (struct range){ .ok = true,
                               .mag = (double)n->sh.dim[n->axis],
                               .mean = (double)n->sh.dim[n->axis],
                               .one_sided = true };
    if (l->n)
        return of_values(l->v, l->n);
    return (struct range){
        .ok = true, .mag = m, .mean = sqrt((m + 1) * (2 * m + 1) / 6), .one_sided = l->index
    };
}

static struct range cast(const struct range *a, enum dtype to)
{
    struct range r = *a;

    if (to == DT_BOOL)
        return (struct range){ .ok = a->ok, .mag = 1, .mean = 1, .one_sided = true };
    if (to == DT_I32 && a->grid < 0)
        r.grid = r.n = 0;
    return r;
}

/* A composite that is handed selected values is looked at later, as a whole. */
static struct range composite(const struct intervals *x, const struct node *n)
{
    struct range a = of_arg(x, &n->arg[0]), b;

    if (n->op == OP_GATHER) {
        b = of_values(&(double){ 0 }, 1);
        return either(&a, &b);
    }
    if (n->op == OP_CONCAT || n->op == OP_ASSIGN) {
        b = of_arg(x, &n->arg[1]);
        return either(&a, &b);
    }
    if (n->op == OP_CUMSUM)
        return added(a, n->sh.dim[n->axis], n->acc);
    if (n->op == OP_ARGMAX)
        return (struct range){ .ok = a.ok, .mag = 1e4, .mean = 1e4, .one_sided = true };
    return (struct range){ .mag = 1, .mean = 1 };
}

static struct range evaluate(const struct intervals *x, int i)
{
    const struct node *n = &x->prog->node[i];
    struct range a = { 0 }, b = { 0 };

    if (op_is_source(n->op))
        return source(x, i);
    a = of_arg(x, &n->arg[0]);
    if (n->n_arg > 1)
        b = of_arg(x, &n->arg[n->n_arg - 1]);
    switch (op_info(n->op)->class) {
    case OPC_SOURCE:
    case OPC_COPY:
        return a;
    case OPC_VIEW:
        b = of_values(&n->value, 1);
        return n->op == OP_PAD ? either(&a, &b) : a;
    case OPC_UNARY:
        return unary(&a, n->op,
                     exact_core(n->dt == DT_BOOL || n->dt == DT_I32 ? DT_F32 : n->dt));
    case OPC_BINARY:
        return binary(n, &a, &b);
    case OPC_COMPARE:
        return (struct range){ .ok = a.ok && b.ok, .mag = 1, .mean = 1, .one_sided = true };
    case OPC_WHERE:
        a = of_arg(x, &n->arg[1]);
        a = either(&a, &b);
        b = of_arg(x, &n->arg[0]);
        a.ok &= b.ok;
        return a;
    case OPC_CAST:
        return cast(&a, n->dt);
    case OPC_REDUCE:
        return reduce(x, n);
    case OPC_MATMUL:
        return matmul(x, n);
    case OPC_COMPOSITE:
        return composite(x, n);
    }
    return a;
}

/* Does every value fit where it is stored? i32 and bool are exact whatever happens. */
static void settle(const struct node *n, struct range *r)
{
    if (dtype_info(n->dt)->class != DTC_FLOAT) {
        bool input = n->op != OP_CAST && op_info(n->op)->class != OPC_COMPARE;

        r->ok |= input && r->mag >= 0 && !op_is_composite(n->op);
        r->mag = fmin(r->mag, 0x1p31);
        r->grid = 0;
        return;
    }
    r->ok &= r->mag <= exact_room(exact_core(n->dt), r->grid) && r->mag < xfloat(n->dt)->most;
    r->blurred =
        r->ok && exact_core(n->dt) != n->dt && 3 * r->mean > exact_room(n->dt, r->grid);
}

struct range interval_of(const struct intervals *x, int i)
{
    struct range r = evaluate(x, i);

    settle(&x->prog->node[i], &r);
    return r;
}
