/*
 * interval_choose. Forward: of every node the largest and smallest magnitude and the grid
 * that holds all its values, or the very values where these are few. Backward: what a sqrt
 * or a quotient wishes its operand to be is carried to the input, through what can be undone.
 */
#include "judge/interval.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "judge/exact_eval.h"

enum { LARGEST = 100 }; /* integers beyond that don't see more */

struct range {
    bool ok;          /* every value is exact */
    bool blurred;     /* half: values are large enough to be rounded at the store */
    bool one_sided;   /* magnitudes add up coherently */
    double mag, mean; /* the largest magnitude, and about the usual one */
    int grid;
    int n; /* v[0 .. n): the only values; 0 = not known */
    double v[ALPHABET];
};

struct intervals {
    const struct prog *prog;
    struct alphabet *alpha;
    struct range *r;
    bool *hopeless, *blurry; /* not ok, blurred with even the smallest integers */
    bool *live;
};

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

static struct range matmul(const struct intervals *x, const struct node *n)
{
    struct range a = of_arg(x, &n->arg[0]), b = of_arg(x, &n->arg[1]), r = { 0 };

    r.ok = a.ok && b.ok;
    r.mag = a.mag * b.mag;
    r.mean = a.mean * b.mean;
    r.grid = a.grid + b.grid;
    r.one_sided = a.one_sided && b.one_sided;
    return added(r, terms(x, n), n->acc);
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
    if (n->op == OP_CONCAT) {
        b = of_arg(x, &n->arg[1]);
        return either(&a, &b);
    }
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

/* The first node that could do better with smaller integers; -1 = none */
static int too_large(struct intervals *x)
{
    int first = -1;

    for (int i = 0; i < x->prog->n; i++) {
        if (!x->live[i])
            continue;
        x->r[i] = evaluate(x, i);
        settle(&x->prog->node[i], &x->r[i]);
        if (first < 0 &&
            ((!x->r[i].ok && !x->hopeless[i]) || (x->r[i].blurred && !x->blurry[i])))
            first = i;
    }
    return first;
}

/* Of the inputs that node i depends on, the one with the largest integers; -1 = none */
static int largest_below(const struct intervals *x, int i, bool *seen)
{
    int best = -1;

    memset(seen, 0, (size_t)x->prog->n * sizeof *seen);
    seen[i] = true;
    for (; i >= 0; i--) {
        const struct node *n = &x->prog->node[i];
        const struct alphabet *l = &x->alpha[i];

        if (!seen[i])
            continue;
        for (int j = 0; j < n->n_arg; j++)
            if (n->arg[j].node >= 0)
                seen[n->arg[j].node] = true;
        if (n->op == OP_INPUT && !l->n && !l->index && l->most > 1 &&
            (best < 0 || l->most > x->alpha[best].most))
            best = i;
    }
    return best;
}

static void shrink(struct intervals *x, struct arena *a)
{
    bool *seen = arena_array(a, bool, x->prog->n);
    int at;

    while ((at = too_large(x)) >= 0) {
        int in = largest_below(x, at, seen);

        if (in < 0) {
            x->hopeless[at] = x->blurry[at] = true;
            continue;
        }
        x->alpha[in].most -= (x->alpha[in].most + 4) / 5;
    }
}

/* --- wishes ------------------------------------------------------------------------------ */

/* What x must be for `op x` (or with a literal) to be one of v[0 .. n); in place. */
static bool undo(const struct node *n, double *v, int *count)
{
    bool left = n->n_arg > 1 && n->arg[0].node < 0; /* literal first */
    double lit = left ? n->arg[0].lit : n->arg[1].lit;
    bool both = n->n_arg > 1 && n->arg[0].node >= 0 && n->arg[1].node >= 0;
    int kept = 0;

    if (both && !(n->op == OP_MUL && n->arg[0].node == n->arg[1].node))
        return false;
    for (int k = 0; k < *count; k++) {
        double y = v[k];

        switch ((int)n->op) {
        case OP_NEG:
            y = -y;
            break;
        case OP_ABS:
            if (y < 0)
                continue;
            y = k & 1 ? -y : y;
            break;
        case OP_ADD:
            y -= lit;
            break;
        case OP_SUB:
            y = left ? lit - y : y + lit;
            break;
        case OP_MUL:
            if (both && (y < 0 || fma(sqrt(y), sqrt(y), -y) != 0))
                continue;
            y = both ? (k & 1 ? -1 : 1) * sqrt(y) : y / lit;
            if (!both && (lit == 0 || y * lit != v[k]))
                continue;
            break;
        case OP_DIV:
            if (left || !is_pow2(lit))
                return false;
            y *= lit;
            break;
        case OP_MAX2:
        case OP_MIN2:
            if (n->op == OP_MAX2 ? y <= lit : y >= lit)
                continue;
            break;
        case OP_CAST:
        case OP_COPY:
            break;
        default:
            if (!op_is_view(n->op))
                return false;
        }
        if (y == 0 || exact_grid(y) >= -8)
            v[kept++] = y;
    }
    *count = kept;
    return kept >= 2;
}

static void wish(struct intervals *x, int at, const double *wanted, int n)
{
    double v[ALPHABET];

    memcpy(v, wanted, (size_t)n * sizeof *v);
    while (x->prog->node[at].op != OP_INPUT) {
        const struct node *p = &x->prog->node[at];

        if (p->n_arg < 1 || op_is_reduce(p->op) || op_is_composite(p->op) || !undo(p, v, &n))
            return;
        at = p->arg[p->arg[0].node >= 0 ? 0 : 1].node;
    }
    if (x->alpha[at].n || x->alpha[at].index)
        return;
    for (int k = 0; k < n; k++)
        if (dtype_info(x->prog->node[at].dt)->class == DTC_FLOAT
                ? exact_round(x->prog->node[at].dt, v[k]) != v[k]
                : v[k] != rint(v[k]))
            return;
    memcpy(x->alpha[at].v, v, (size_t)n * sizeof *v);
    x->alpha[at].n = n;
}

static void wishes(struct intervals *x)
{
    static const double squares[] = { 1, 4, 9, 16, 25, 36, 49, 64 }, selects[] = { 0, -1024 };
    static const double powers[] = { 1, 2, -1, 4, -2, 8, -4, 0.5 };

    for (int i = x->prog->n - 1; i >= 0; i--) {
        const struct node *n = &x->prog->node[i];

        if (!x->live[i] || dtype_info(n->dt)->class != DTC_FLOAT)
            continue;
        if (n->op == OP_SQRT || n->op == OP_RSQRT)
            wish(x, n->arg[0].node, squares, 8);
        else if (n->op == OP_EXP || n->op == OP_EXP2)
            wish(x, n->arg[0].node, selects, 2);
        else if (n->op == OP_RECIP)
            wish(x, n->arg[0].node, powers, 8);
        else if (n->op == OP_DIV && n->arg[1].node >= 0)
            wish(x, n->arg[1].node, powers, 8);
    }
}

/* An input that is read as an index stays in range. */
static void indices(struct intervals *x)
{
    for (int i = 0; i < x->prog->n; i++) {
        const struct node *n = &x->prog->node[i];
        int at;

        if (n->op != OP_GATHER)
            continue;
        for (at = n->arg[1].node;
             op_is_view(x->prog->node[at].op) || x->prog->node[at].op == OP_COPY;)
            at = x->prog->node[at].arg[0].node;
        if (x->prog->node[at].op == OP_INPUT) {
            x->alpha[at].most = x->prog->node[n->arg[0].node].sh.dim[n->axis];
            x->alpha[at].index = true;
        }
    }
}

struct alphabet *interval_choose(const struct trial *t, struct arena *a)
{
    int n = t->prog.n;
    struct intervals x = { .prog = &t->prog };

    x.alpha = arena_array(a, struct alphabet, n);
    x.r = arena_array(a, struct range, n);
    x.hopeless = arena_array(a, bool, n);
    x.blurry = arena_array(a, bool, n);
    x.live = arena_array(a, bool, n);
    prog_live(&t->prog, x.live);
    for (int i = 0; i < n; i++)
        x.alpha[i].most = 1;
    indices(&x);
    wishes(&x);
    too_large(&x);
    for (int i = 0; i < n; i++) {
        x.hopeless[i] = !x.r[i].ok;
        x.blurry[i] = x.r[i].blurred;
        if (!x.alpha[i].index)
            x.alpha[i].most = LARGEST;
    }
    shrink(&x, a);
    return x.alpha;
}
