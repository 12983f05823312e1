/*
 * Compilers that are not ours keep to their own contract (ir/contract.h): what a MAY allows
 * widens the bound of the node by that much, what is OPEN is not judged, and so is all that is
 * computed from it. Looks at one evaluated node at a time, before its readers do.
 */
#include "judge/ref.h"

#include "ir/contract.h"
#include "judge/grid.h"

void ref_open(struct ref *r, int i, int64_t k)
{
    struct want_node *w = &r->want->node[i];

    r->grade[i] = GRADE_BOUND;
    if (w->ieee) {
        w->ieee[k] = (struct val){ NAN, -1 };
    } else if (w->wide) {
        w->wide[k] = (struct wide){ NAN, -1 };
    } else {
        if (!w->unsure)
            w->unsure = arena_array(r->arena, unsigned char, w->n);
        w->unsure[k] = 1;
    }
}

void ref_widen(struct ref *r, int i, int64_t k, double more)
{
    struct want_node *w = &r->want->node[i];

    r->grade[i] = GRADE_BOUND;
    if (w->ieee)
        w->ieee[k].e += more;
    else
        w->wide[k].e += more;
}

static void open_all(struct ref *r, int i)
{
    for (int64_t k = 0; k < r->want->node[i].n; k++)
        ref_open(r, i, k);
}

/* Opens what `is` says of the values of a float node. Returns how many. */
static int64_t open_where(struct ref *r, int i, bool (*is)(double v))
{
    struct want_node *w = &r->want->node[i];
    int64_t n = 0;

    for (int64_t k = 0; k < w->n; k++) {
        struct val x = judge_value(w, k);

        if (x.e < 0 || !is(x.v))
            continue;
        ref_open(r, i, k);
        n++;
    }
    return n;
}

static bool is_nan(double v)
{
    return isnan(v);
}

static bool is_special(double v)
{
    return !isfinite(v);
}

static bool is_finite(double v)
{
    return isfinite(v);
}

/* Has the line a NaN, or its maximum more than once? */
static void look_at_line(const struct want_node *o, int64_t at, const struct lines *l,
                         bool *nan, bool *tie)
{
    double most = -HUGE_VAL;
    int64_t n = 0;

    *nan = false;
    for (int64_t k = 0; k < l->n; k++) {
        int64_t from = at + k * l->inner;
        double v = o->word ? (double)(int32_t)o->word[from] : judge_value(o, from).v;

        *nan = *nan || isnan(v);
        n = v > most ? 1 : n + (v == most);
        most = v > most ? v : most;
    }
    *tie = n > 1;
}

static int64_t open_argmax(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];
    int from = x->arg[0].node;
    struct lines l = ref_lines(&r->prog->node[from].sh, x->axis);
    int64_t opened = 0;

    for (int64_t k = 0; k < r->want->node[i].n; k++) {
        bool nan, tie;

        look_at_line(&r->want->node[from], k / l.inner * l.n * l.inner + k % l.inner, &l, &nan,
                     &tie);
        if ((nan && (r->contract & CONTRACT_OPEN_NAN_MAX)) ||
            (tie && (r->contract & CONTRACT_OPEN_TIES))) {
            ref_open(r, i, k);
            opened++;
        }
    }
    return opened;
}

/* How many elements of the first operand meet in one of the result. */
static int64_t terms(const struct ref *r, const struct node *x)
{
    const struct shape *o;

    if ((!op_is_reduce(x->op) && !op_is_composite(x->op)) || x->op == OP_ASSIGN)
        return 1;
    o = &r->prog->node[x->arg[0].node].sh;
    if (x->op == OP_MATMUL)
        return (int64_t)((double)o->dim[o->rank - 1] * fmax(1, fabs(x->alpha))) + 3;
    if (x->op == OP_LAYERNORM || x->op == OP_RMSNORM)
        return o->dim[o->rank - 1];
    return shape_count(o);
}

/* Does the op only say where elements are? */
static bool moves(enum op op)
{
    return op_is_view(op) || op == OP_COPY || op == OP_GATHER || op == OP_CONCAT ||
           op == OP_ASSIGN;
}

/* Each term and the result may be 0 where they are below the least normal number. (Where
 * something large is made of a term, sum.h has seen to that; operands are nodes themselves.) */
static void widen_by_flush(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];
    struct want_node *w = &r->want->node[i];
    double inside = (double)terms(r, x) * grid_least_normal(x->acc);

    if (moves(x->op)) /* perhaps in its operand's memory */
        return;
    if (!op_is_reduce(x->op) && !op_is_composite(x->op))
        inside = 0;
    for (int64_t k = 0; k < w->n; k++) {
        struct val v = judge_value(w, k);
        double more = v.e > 0 || fabs(v.v) < inside ? inside : 0;

        if (v.e < 0 || !isfinite(v.v) || (v.v == 0 && v.e == 0))
            continue;
        if (fabs(v.v) - v.e < 2 * grid_least_normal(x->dt))
            more += 2 * grid_least_normal(x->dt);
        if (more == 0)
            continue;
        ref_widen(r, i, k, more);
    }
}

static bool is_pow2(double v)
{
    int exponent;

    return fabs(frexp(v, &exponent)) == 0.5;
}

/* What element k of a division is divided by. */
static struct val divisor(const struct ref *r, const struct node *x, int64_t k)
{
    const struct arg *a = &x->arg[x->op == OP_DIV];

    return a->node < 0 ? (struct val){ a->lit, 0 } : judge_value(&r->want->node[a->node], k);
}

/* A rounded inverse and a rounded product in place of one rounding; no promise at all where
 * the inverse overflows or is subnormal. (What divides inside a mean or a composite is bounded
 * as if it did so in any case.) */
static void widen_by_reciprocal(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];
    struct want_node *w = &r->want->node[i];
    double units = 4 * grid_unit(x->acc) + (grid_is_half(x->dt) ? 4 * grid_unit(x->dt) : 0);
    double least = grid_least_normal(x->dt);

    for (int64_t k = 0; k < w->n; k++) {
        struct val v = judge_value(w, k), y = divisor(r, x, k);
        double size = fabs(y.v), more;

        if (v.e < 0 || (y.e == 0 && is_pow2(y.v) && size > 8 * least && size < 0.125 / least))
            continue;
        if (!(size - y.e > 8 * least && size + y.e < 0.125 / least)) {
            r->opened++;
            ref_open(r, i, k);
            continue;
        }
        if (!isfinite(v.v))
            continue;
        more = units * (fabs(v.v) + v.e) + least;
        ref_widen(r, i, k, more);
    }
}

/* The sign of a zero is anybody's choice, and so is then that of what it makes infinite. */
static void open_poles(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];

    for (int64_t k = 0; k < r->want->node[i].n; k++)
        if (isinf(judge_value(&r->want->node[i], k).v) && divisor(r, x, k).v == 0)
            ref_open(r, i, k);
}

static bool adds_up(enum op op)
{
    return op == OP_SUM || op == OP_PROD || op == OP_MEAN || op == OP_MATMUL ||
           op == OP_SOFTMAX || op == OP_LOGSOFTMAX || op == OP_CUMSUM || op == OP_LAYERNORM ||
           op == OP_RMSNORM || op == OP_ATTENTION;
}

/* Does the op ask for the largest or the mean of no elements? */
static bool of_nothing(const struct ref *r, const struct node *x)
{
    const struct shape *o;

    if (x->op == OP_ATTENTION) {
        o = &r->prog->node[x->arg[1].node].sh;
        return o->dim[o->rank - 2] == 0;
    }
    if (x->op != OP_MAX && x->op != OP_MIN && x->op != OP_MEAN)
        return false;
    return shape_count(&r->prog->node[x->arg[0].node].sh) == 0;
}

/* Elements that those who read node i, an op's result in halves, may see unrounded. What is
 * exact is the same either way. */
static int64_t in_excess(const struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];
    const struct want_node *w = &r->want->node[i];
    int64_t n = 0;

    if (!grid_is_half(x->dt) || !r->read[i] || op_is_source(x->op) || op_is_view(x->op))
        return 0;
    for (int64_t k = 0; k < w->n; k++)
        n += w->ieee[k].e != 0;
    return n;
}

void ref_promise(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];
    unsigned c = r->contract;
    bool is_float = ref_is_float(x->dt);

    if (c & (CONTRACT_MAY_EXCESS | CONTRACT_MAY_UNCAST))
        r->opened += in_excess(r, i);
    if (is_float && (c & CONTRACT_MAY_FLUSH))
        widen_by_flush(r, i);
    if (is_float && (x->op == OP_DIV || x->op == OP_RECIP || x->op == OP_RSQRT))
        open_poles(r, i);
    if (is_float && (c & CONTRACT_MAY_RECIPROCAL) && x->op == OP_DIV)
        widen_by_reciprocal(r, i);
    if (is_float && (c & CONTRACT_OPEN_SPECIAL))
        r->opened += open_where(r, i, is_special);
    if (is_float && (c & CONTRACT_OPEN_NAN_MAX) &&
        (x->op == OP_MAX || x->op == OP_MIN || x->op == OP_MAX2 || x->op == OP_MIN2))
        r->opened += open_where(r, i, is_nan);
    if (x->op == OP_ARGMAX && (c & (CONTRACT_OPEN_NAN_MAX | CONTRACT_OPEN_TIES)))
        r->opened += open_argmax(r, i);
    if (c & CONTRACT_OPEN_DOMAIN)
        r->opened += ref_open_domain(r, i);
    if (c & CONTRACT_OPEN_OVERFLOW)
        r->opened += ref_open_overflow(r, i);
    if ((c & CONTRACT_OPEN_EMPTY) && of_nothing(r, x)) {
        open_all(r, i);
        r->opened += r->want->node[i].n;
    }
    if ((c & CONTRACT_OPEN_HALF_SUMS) && grid_is_half(x->dt) && adds_up(x->op)) {
        open_all(r, i);
        r->opened += r->want->node[i].n;
    }
    /* exact data, where these give exact numbers, are not in question */
    if (c & CONTRACT_MAY_APPROXIMATE)
        ref_approximate(r, i);
    if ((c & CONTRACT_OPEN_FUNCTIONS) && ref_uses_function(x->op))
        open_where(r, i, is_finite);
}
