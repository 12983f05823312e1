#include "ir/prog.h"

#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "ir/check.h"

int64_t shape_count(const struct shape *s)
{
    int64_t n = 1;

    for (int i = 0; i < s->rank; i++)
        n *= s->dim[i];
    return n;
}

bool shape_equal(const struct shape *a, const struct shape *b)
{
    return a->rank == b->rank &&
           memcmp(a->dim, b->dim, (size_t)a->rank * sizeof a->dim[0]) == 0;
}

void shape_print(const struct shape *s, char *buf, size_t n)
{
    size_t at = 0;

    if (n == 0)
        return;
    buf[0] = '\0';
    for (int i = 0; i < s->rank && at < n; i++)
        at += (size_t)snprintf(buf + at, n - at, "%c%lld", i ? ',' : '[', (long long)s->dim[i]);
    if (at < n)
        snprintf(buf + at, n - at, "%s", s->rank ? "]" : "[]");
}

int64_t range_count(int64_t lo, int64_t hi, int64_t by)
{
    if (by > 0 && hi > lo)
        return (hi - lo + by - 1) / by;
    return by < 0 && lo > hi ? (lo - hi - by - 1) / -by : 0;
}

struct shape ranges_shape(const struct node *n)
{
    struct shape sh = { .rank = n->sh.rank };

    for (int i = 0; i < sh.rank; i++)
        sh.dim[i] = range_count(n->lo[i], n->hi[i], n->by[i]);
    return sh;
}

void shape_strides(const struct shape *s, int64_t stride[MAX_RANK])
{
    int64_t step = 1;

    for (int i = s->rank - 1; i >= 0; i--) {
        stride[i] = step;
        step *= s->dim[i] > 1 ? s->dim[i] : 1;
    }
}

struct layout layout_of(const struct layout *l, const struct shape *s)
{
    struct layout full = *l;

    if (!full.given) {
        full = (struct layout){ .given = true };
        shape_strides(s, full.stride);
    }
    return full;
}

int64_t layout_storage(const struct layout *l, const struct shape *s)
{
    struct layout full = layout_of(l, s);
    int64_t last = full.offset;

    for (int i = 0; i < s->rank; i++) {
        if (s->dim[i] == 0)
            return 0;
        last += (s->dim[i] - 1) * full.stride[i];
    }
    return last + 1;
}

int64_t layout_at(const struct layout *l, const struct shape *s, int64_t i)
{
    int64_t at = l->offset;

    for (int a = s->rank - 1; a >= 0; a--) {
        at += i % s->dim[a] * l->stride[a];
        i /= s->dim[a];
    }
    return at;
}

int prog_find(const struct prog *p, const char *name, size_t n)
{
    for (int i = 0; i < p->n; i++)
        if (strncmp(p->node[i].name, name, n) == 0 && p->node[i].name[n] == '\0')
            return i;
    return -1;
}

struct node *prog_add(struct prog *p, struct arena *a)
{
    struct node *n = arena_push(a, p->node, p->n, p->cap);

    memset(n, 0, sizeof *n);
    n->name = "";
    for (int i = 0; i < MAX_ARGS; i++)
        n->arg[i].node = -1;
    return n;
}

struct output *prog_add_output(struct prog *p, struct arena *a)
{
    struct output *o = arena_push(a, p->out, p->n_out, p->cap_out);

    memset(o, 0, sizeof *o);
    return o;
}

void prog_clone(struct prog *dst, const struct prog *src, struct arena *a)
{
    *dst =
        (struct prog){ .n = src->n, .cap = src->n, .n_out = src->n_out, .cap_out = src->n_out };
    dst->node = arena_array(a, struct node, src->n);
    dst->out = arena_array(a, struct output, src->n_out);
    for (int i = 0; i < src->n; i++) {
        dst->node[i] = src->node[i];
        dst->node[i].name = arena_strdup(a, src->node[i].name);
    }
    for (int i = 0; i < src->n_out; i++)
        dst->out[i] = src->out[i];
}

void prog_compact(struct prog *p, const bool *keep, int *map)
{
    int n = 0;

    for (int i = 0; i < p->n; i++) {
        struct node *to = &p->node[n];

        map[i] = -1;
        if (!keep[i])
            continue;
        map[i] = n++;
        *to = p->node[i];
        for (int k = 0; k < to->n_arg; k++) {
            if (to->arg[k].node < 0)
                continue;
            if (map[to->arg[k].node] < 0)
                BUG("%s is kept but its operand %d is not", to->name, k);
            to->arg[k].node = map[to->arg[k].node];
        }
    }
    for (int i = 0; i < p->n_out; i++) {
        if (map[p->out[i].node] < 0)
            BUG("output %d is of a node that is not kept", i);
        p->out[i].node = map[p->out[i].node];
    }
    p->n = n;
}

void prog_live(const struct prog *p, bool *keep)
{
    memset(keep, 0, (size_t)p->n * sizeof *keep);
    for (int i = 0; i < p->n_out; i++)
        keep[p->out[i].node] = true;
    for (int i = p->n - 1; i >= 0; i--)
        for (int k = 0; keep[i] && k < p->node[i].n_arg; k++)
            if (p->node[i].arg[k].node >= 0)
                keep[p->node[i].arg[k].node] = true;
}

int prog_count_nodes(const struct prog *p)
{
    int n = 0;

    for (int i = 0; i < p->n; i++)
        n += p->node[i].op != OP_INPUT && p->node[i].op != OP_CONST;
    return n;
}

int64_t prog_max_size(const struct prog *p)
{
    int64_t max = 0;

    for (int i = 0; i < p->n; i++)
        for (int k = 0; k < p->node[i].sh.rank; k++)
            if (p->node[i].sh.dim[k] > max)
                max = p->node[i].sh.dim[k];
    return max;
}

/* Scores that an attention weighs: one for each query and key. */
static int64_t node_scores(const struct prog *p, const struct node *n)
{
    const struct shape *q = &p->node[n->arg[0].node].sh, *k = &p->node[n->arg[1].node].sh;
    struct shape scores = *q;

    scores.dim[q->rank - 1] = k->dim[q->rank - 2];
    return shape_count(&scores);
}

/* Terms that the reductions and matmuls of a composite add up. */
static int64_t composite_terms(const struct prog *p, const struct node *n)
{
    const struct shape *x = &p->node[n->arg[0].node].sh;

    if (n->op == OP_GATHER || n->op == OP_CONCAT || n->op == OP_ASSIGN)
        return 0;
    if (n->op == OP_ATTENTION)
        return node_scores(p, n) *
               (x->dim[x->rank - 1] + n->sh.dim[n->sh.rank - 1] + 2); /* maximum and sum */
    if (n->op == OP_CUMSUM)
        return shape_count(x) * x->dim[n->axis];
    return n->op == OP_RMSNORM ? shape_count(x) : 2 * shape_count(x);
}

enum dtype node_takes(const struct prog *p, const struct node *n)
{
    for (int k = n->op == OP_WHERE ? 1 : 0; k < n->n_arg; k++)
        if (n->arg[k].node >= 0)
            return p->node[n->arg[k].node].dt;
    return n->dt;
}

int64_t composite_inner(const struct prog *p, const struct node *n)
{
    if (n->op == OP_ATTENTION)
        return 8 * node_scores(p, n);
    if (n->op == OP_CUMSUM) /* of each line, for each of its elements */
        return 3 * shape_count(&n->sh) * n->sh.dim[n->axis];
    return 5 * (shape_count(&p->node[n->arg[0].node].sh) + shape_count(&n->sh));
}

/* Terms that a node adds up. Operands and scores of checked programs have at most 2^24
 * elements, so nothing here overflows. */
int64_t node_terms(const struct prog *p, const struct node *n)
{
    const struct shape *x;

    if (op_is_composite(n->op))
        return composite_terms(p, n);
    if (!op_is_reduce(n->op))
        return 0;
    x = &p->node[n->arg[0].node].sh;
    if (n->op == OP_MATMUL)
        return shape_count(&n->sh) * x->dim[x->rank - 1];
    return shape_count(x);
}

int64_t node_work(const struct prog *p, const struct node *n)
{
    if (n->op == OP_INPUT)
        return layout_storage(&n->layout, &n->sh);
    return shape_count(&n->sh) + node_terms(p, n) +
           (op_is_composite(n->op) ? composite_inner(p, n) : 0);
}

int64_t output_work(const struct prog *p, const struct output *o)
{
    return layout_storage(&o->layout, &p->node[o->node].sh);
}

static int64_t add_saturating(int64_t a, int64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

int64_t prog_work(const struct prog *p)
{
    int64_t sum = 0;

    for (int i = 0; i < p->n; i++)
        sum = add_saturating(sum, node_work(p, &p->node[i]));
    for (int i = 0; i < p->n_out; i++)
        sum = add_saturating(sum, output_work(p, &p->out[i]));
    return sum;
}

int64_t prog_mul_adds(const struct prog *p)
{
    int64_t sum = 0;

    for (int i = 0; i < p->n; i++)
        sum = add_saturating(sum, node_terms(p, &p->node[i]));
    return sum;
}
