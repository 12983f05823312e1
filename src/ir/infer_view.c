/*
 * Shapes of views: permute, reshape, expand, slice, pad, roll, repeat.
 */
#include "ir/infer.h"

static int infer_permute(struct infer *f, const struct shape *x)
{
    struct node *n = f->n;
    unsigned seen = 0;

    for (int i = 0; i < x->rank; i++) {
        int a = n->perm[i];

        if (a < 0 || a >= x->rank || (seen >> a & 1))
            return infer_fault(f, PART_ITEM + i,
                               "axis %d is %s; expected each of 0 to %d once for %s", a,
                               a >= 0 && a < x->rank ? "there twice" : "not there", x->rank - 1,
                               infer_shown(x).s);
        seen |= 1u << a;
        n->sh.dim[i] = x->dim[a];
    }
    n->sh.rank = x->rank;
    return 0;
}

static int infer_expand(struct infer *f, const struct shape *x)
{
    const struct shape *to = &f->n->sh;
    int more = to->rank - x->rank;

    if (more < 0)
        return infer_fault(f, PART_LIST, "expand of %s to %s; expected at least rank %d",
                           infer_shown(x).s, infer_shown(to).s, x->rank);
    for (int i = 0; i < x->rank; i++)
        if (x->dim[i] != to->dim[more + i] && x->dim[i] != 1)
            return infer_fault(f, PART_ITEM + more + i,
                               "expand of %s to %s; expected %lld here, as only size 1 repeats",
                               infer_shown(x).s, infer_shown(to).s, (long long)x->dim[i]);
    return 0;
}

int infer_ranges(struct infer *f, const struct shape *x, struct shape *taken)
{
    const struct node *n = f->n;

    taken->rank = x->rank;
    for (int i = 0; i < x->rank; i++) {
        int64_t lo = n->lo[i], hi = n->hi[i], by = n->by[i], count, last;

        if (by == 0 || by < -MAX_ELEMENTS || by > MAX_ELEMENTS)
            return infer_fault(f, PART_ITEM + i,
                               "step %lld; expected a step that is not 0, at "
                               "most %lld",
                               (long long)by, (long long)MAX_ELEMENTS);
        if (lo < -MAX_ELEMENTS || lo > MAX_ELEMENTS || hi < -MAX_ELEMENTS || hi > MAX_ELEMENTS)
            return infer_fault(f, PART_ITEM + i, "slice %lld:%lld:%lld; expected 0 to %lld",
                               (long long)lo, (long long)hi, (long long)by,
                               (long long)x->dim[i]);
        count = range_count(lo, hi, by);
        last = lo + (count - 1) * by;
        if (count > 0 && (lo < 0 || lo >= x->dim[i] || last < 0 || last >= x->dim[i]))
            return infer_fault(
                f, PART_ITEM + i,
                "slice %lld:%lld:%lld takes elements %lld to %lld; expected 0 to "
                "%lld",
                (long long)lo, (long long)hi, (long long)by, (long long)lo, (long long)last,
                (long long)x->dim[i] - 1);
        taken->dim[i] = count;
    }
    return 0;
}

static int infer_pad(struct infer *f, const struct shape *x)
{
    struct node *n = f->n;
    const char *want;

    n->sh.rank = x->rank;
    for (int i = 0; i < x->rank; i++) {
        if (n->lo[i] < 0 || n->lo[i] > MAX_ELEMENTS || n->hi[i] < 0 || n->hi[i] > MAX_ELEMENTS)
            return infer_fault(f, PART_ITEM + i, "pad %lld:%lld; expected amounts of 0 to %lld",
                               (long long)n->lo[i], (long long)n->hi[i],
                               (long long)MAX_ELEMENTS);
        n->sh.dim[i] = n->lo[i] + x->dim[i] + n->hi[i];
    }
    want = literal_fault(n->dt, &n->value);
    return want ? infer_fault(f, PART_VALUE, "fill out of range; expected %s", want) : 0;
}

static int infer_reshape(struct infer *f, const struct shape *x)
{
    if (shape_count(&f->n->sh) != shape_count(x))
        return infer_fault(f, PART_LIST,
                           "reshape of %s to %s; expected %lld elements as before, not %lld",
                           infer_shown(x).s, infer_shown(&f->n->sh).s,
                           (long long)shape_count(x), (long long)shape_count(&f->n->sh));
    return 0;
}

static int infer_roll(struct infer *f, const struct shape *x)
{
    for (int i = 0; i < x->rank; i++)
        if (f->n->lo[i] < -MAX_ELEMENTS || f->n->lo[i] > MAX_ELEMENTS)
            return infer_fault(f, PART_ITEM + i, "shift %lld; expected at most %lld either way",
                               (long long)f->n->lo[i], (long long)MAX_ELEMENTS);
    f->n->sh = *x;
    return 0;
}

static int infer_repeat(struct infer *f, const struct shape *x)
{
    struct node *n = f->n;

    n->sh.rank = x->rank;
    for (int i = 0; i < x->rank; i++) {
        if (n->by[i] < 0 || n->by[i] > MAX_ELEMENTS)
            return infer_fault(f, PART_ITEM + i, "%lld times; expected 0 to %lld",
                               (long long)n->by[i], (long long)MAX_ELEMENTS);
        n->sh.dim[i] = x->dim[i] * n->by[i];
    }
    return infer_check_shape(f, &n->sh, PART_TIMES);
}

int infer_view(struct infer *f)
{
    struct node *n = f->n;
    const struct shape *x = &f->p->node[f->n->arg[0].node].sh;
    int rc = 0;

    n->dt = f->p->node[f->n->arg[0].node].dt;
    if ((n->op == OP_RESHAPE || n->op == OP_EXPAND) && infer_check_shape(f, &n->sh, PART_LIST))
        return f->e->code;
    if (n->op == OP_PERMUTE)
        rc = infer_permute(f, x);
    else if (n->op == OP_RESHAPE)
        rc = infer_reshape(f, x);
    else if (n->op == OP_EXPAND)
        rc = infer_expand(f, x);
    else if (n->op == OP_SLICE)
        rc = infer_ranges(f, x, &n->sh);
    else if (n->op == OP_ROLL)
        rc = infer_roll(f, x);
    else if (n->op == OP_REPEAT)
        rc = infer_repeat(f, x);
    else
        rc = infer_pad(f, x);
    return rc ? rc : infer_check_shape(f, &n->sh, PART_LIST);
}
