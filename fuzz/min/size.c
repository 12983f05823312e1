/*
 * Symbols of sizes, and how views let a change of one of them pass to another.
 */
#include "fuzz/min/size.h"

void sizes_init(struct sizes *z, const struct prog *p, struct arena *a)
{
    int *up = arena_array(a, int, p->n *MAX_RANK + 1), *number;

    z->p = p;
    z->sym = arena_array(a, int, p->n *MAX_RANK + 1);
    z->n_sym = 0;
    z->extent = arena_array(a, int64_t, p->n * MAX_RANK + 1);
    z->to = arena_array(a, int64_t, p->n * MAX_RANK + 1);
    number = arena_array(a, int, p->n *MAX_RANK + 1);
    for (int i = 0; i < p->n * MAX_RANK; i++) {
        up[i] = i;
        number[i] = -1;
    }
    sizes_join(p, up);
    for (int i = 0; i < p->n; i++)
        for (int k = 0; k < p->node[i].sh.rank; k++) {
            int root = sizes_root(up, i * MAX_RANK + k);

            if (number[root] < 0) {
                z->to[z->n_sym] = -1;
                z->extent[z->n_sym] = p->node[i].sh.dim[k];
                number[root] = z->n_sym++;
            }
            z->sym[i * MAX_RANK + k] = number[root];
        }
}

int sizes_sym(const struct sizes *z, int node, int axis)
{
    return z->sym[node * MAX_RANK + axis];
}

int64_t sizes_new(const struct sizes *z, int sym)
{
    return z->to[sym] >= 0 ? z->to[sym] : z->extent[sym];
}

bool sizes_ask(struct sizes *z, int sym, int64_t extent)
{
    if (extent < 0)
        return false;
    if (z->to[sym] < 0 && extent != z->extent[sym])
        z->to[sym] = extent;
    return sizes_new(z, sym) == extent;
}

static int64_t magnitude(int64_t x)
{
    return x < 0 ? -x : x;
}

/* A slice takes at most what there is, and an assign writes to no more. An even choice keeps
 * what it leaves out at its ends. */
static bool follow_slice(struct sizes *z, int node, int axis, int choice)
{
    const struct node *n = &z->p->node[node];
    int in = sizes_sym(z, n->arg[0].node, axis);
    int out = sizes_sym(z, n->op == OP_ASSIGN ? n->arg[1].node : node, axis);
    int64_t step = magnitude(n->by[axis]), from = z->extent[in], to = z->extent[out];

    if (in == out || (z->to[in] < 0 && z->to[out] < 0))
        return true;
    if (z->to[in] >= 0 && z->to[out] >= 0)
        return z->to[out] <= z->to[in];
    if (z->to[in] >= 0) {
        int64_t less = choice % 2 == 0 ? (from - z->to[in] + step - 1) / step : to - z->to[in];

        return less <= 0 || (to > less && sizes_ask(z, out, to - less));
    }
    from -= choice % 2 == 0 ? (to - z->to[out]) * step : 0;
    return from >= z->to[out] && sizes_ask(z, in, from);
}

/* A pad keeps at least one element of each side that it has, if the choice lets it. */
static bool follow_pad(struct sizes *z, int node, int axis, int choice)
{
    const struct node *n = &z->p->node[node];
    int in = sizes_sym(z, n->arg[0].node, axis), out = sizes_sym(z, node, axis);
    int64_t least = choice >= 4 ? 0 : (n->lo[axis] > 0) + (n->hi[axis] > 0);

    if (in == out || (z->to[in] < 0 && z->to[out] < 0))
        return true;
    if (z->to[out] < 0)
        return sizes_ask(z, out, sizes_new(z, in) + n->lo[axis] + n->hi[axis]);
    if (z->to[out] >= sizes_new(z, in) + least || z->to[in] >= 0)
        return z->to[out] >= sizes_new(z, in);
    return z->to[out] > least && sizes_ask(z, in, z->to[out] - least);
}

/* A repeat stays a whole number of times. An even choice keeps that number. */
static bool follow_repeat(struct sizes *z, int node, int axis, int choice)
{
    const struct node *n = &z->p->node[node];
    int in = sizes_sym(z, n->arg[0].node, axis), out = sizes_sym(z, node, axis);
    int64_t times = n->by[axis], from = sizes_new(z, in), to = sizes_new(z, out);

    if (in == out || (z->to[in] < 0 && z->to[out] < 0))
        return true;
    if (z->to[in] >= 0 && z->to[out] >= 0)
        return from > 0 ? to % from == 0 : to == 0;
    if (z->to[in] >= 0)
        return sizes_ask(z, out, from * times);
    if (choice % 2 == 0 && times > 0 && to % times == 0)
        return sizes_ask(z, in, to / times);
    return from > 0 && to % from == 0;
}

struct segment { /* of a reshape: axes [in, in_end) hold what [out, out_end) hold */
    int in, in_end, out, out_end;
};

static bool segment_next(const struct shape *s, const struct shape *d, struct segment *g)
{
    int64_t p = 1, q = 1;

    g->in = g->in_end;
    g->out = g->out_end;
    if (g->in == s->rank && g->out == d->rank)
        return false;
    do {
        if (g->in_end < s->rank && (p <= q || g->out_end == d->rank))
            p *= s->dim[g->in_end++];
        else if (g->out_end < d->rank)
            q *= d->dim[g->out_end++];
        else
            break;
    } while (p != q);
    return true;
}

static int64_t product(const struct sizes *z, int node, int from, int to)
{
    int64_t p = 1;

    for (int a = from; a < to; a++)
        p *= sizes_new(z, sizes_sym(z, node, a));
    return p;
}

/* Multiplies one free axis by num / den where that is exact. */
static bool follow_segment(struct sizes *z, int src, int dst, const struct segment *g,
                           int choice)
{
    int64_t pin = product(z, src, g->in, g->in_end), pout = product(z, dst, g->out, g->out_end);
    int sym[2 * MAX_RANK], n = 0;
    int64_t to[2 * MAX_RANK];

    if (pin == pout)
        return true;
    if (pin == 0 || pout == 0)
        return false;
    for (int side = 0; side < 2; side++) {
        int node = side ? src : dst, end = side ? g->in_end : g->out_end;
        int64_t num = side ? pout : pin, den = side ? pin : pout;

        for (int a = side ? g->in : g->out; a < end; a++) {
            int s = sizes_sym(z, node, a);
            int64_t d = z->extent[s];

            if (z->to[s] >= 0 || d <= 1 || d * num % den != 0 || d * num / den < 1)
                continue;
            sym[n] = s;
            to[n++] = d * num / den;
        }
    }
    return n > 0 && sizes_ask(z, sym[choice / 2 % n], to[choice / 2 % n]);
}

static bool follow_reshape(struct sizes *z, int node, int choice)
{
    int src = z->p->node[node].arg[0].node;
    struct segment g = { 0 };

    while (segment_next(&z->p->node[src].sh, &z->p->node[node].sh, &g))
        if (!follow_segment(z, src, node, &g, choice))
            return false;
    return true;
}

/* a concat is as long as both its operands: the first gives way, in an even choice */
static bool follow_concat(struct sizes *z, int node, int choice)
{
    const struct node *n = &z->p->node[node];
    int out = sizes_sym(z, node, n->axis), part[2];
    int64_t rest;

    for (int k = 0; k < 2; k++)
        part[k] = sizes_sym(z, n->arg[k].node, n->axis);
    rest = sizes_new(z, out) - sizes_new(z, part[0]) - sizes_new(z, part[1]);
    if (rest == 0)
        return true;
    if (z->to[out] < 0)
        return sizes_ask(z, out, sizes_new(z, out) - rest);
    for (int k = 0; k < 2; k++) {
        int s = part[(k + choice) % 2];

        if (z->to[s] < 0 && part[0] != part[1] && sizes_new(z, s) + rest > 0)
            return sizes_ask(z, s, sizes_new(z, s) + rest);
    }
    return rest % 2 == 0 && part[0] == part[1] &&
           sizes_ask(z, part[0], sizes_new(z, part[0]) + rest / 2);
}

/* Heads of queries are a multiple of those of keys: the same one, if the choice is even. */
static bool follow_heads(struct sizes *z, int node, int choice)
{
    const struct node *n = &z->p->node[node];
    int axis = n->sh.rank - 3, hq = sizes_sym(z, node, axis);
    int hk = sizes_sym(z, n->arg[1].node, axis);
    int64_t q = sizes_new(z, hq), k = sizes_new(z, hk), group;

    if (hq == hk || (z->to[hq] < 0 && z->to[hk] < 0))
        return true;
    if (z->extent[hk] == 0 || k == 0)
        return false;
    group = z->extent[hq] / z->extent[hk];
    if (z->to[hq] < 0 && (choice % 2 == 0 || q % k != 0))
        return sizes_ask(z, hq, k * group);
    if (z->to[hk] < 0 && choice % 2 == 0 && q % group == 0)
        return sizes_ask(z, hk, q / group);
    if (z->to[hk] < 0 && q % k != 0)
        return sizes_ask(z, hk, 1);
    return q % k == 0;
}

static int n_asked(const struct sizes *z)
{
    int n = 0;

    for (int s = 0; s < z->n_sym; s++)
        n += z->to[s] >= 0;
    return n;
}

bool sizes_follow(struct sizes *z, int choice)
{
    for (int before = -1; n_asked(z) != before;) {
        before = n_asked(z);
        for (int i = 0; i < z->p->n; i++) {
            const struct node *n = &z->p->node[i];

            for (int a = 0; a < n->sh.rank; a++) {
                if ((n->op == OP_SLICE || (n->op == OP_ASSIGN && n->arg[1].node >= 0)) &&
                    !follow_slice(z, i, a, choice))
                    return false;
                if (n->op == OP_PAD && !follow_pad(z, i, a, choice))
                    return false;
                if (n->op == OP_REPEAT && !follow_repeat(z, i, a, choice))
                    return false;
            }
            if (n->op == OP_RESHAPE && !follow_reshape(z, i, choice))
                return false;
            if (n->op == OP_CONCAT && !follow_concat(z, i, choice))
                return false;
            if (n->op == OP_ATTENTION && !follow_heads(z, i, choice))
                return false;
        }
    }
    return true;
}
