/*
 * Checks of whole programs, of output layouts and of literals.
 */
#include "ir/check.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ir/half.h"
#include "ir/names.h"

const char *literal_fault(enum dtype dt, double *v)
{
    static const char *const most[DT_COUNT] = {
        [DT_F32] = "at most 3.4028235e+38 in magnitude, or inf",
        [DT_F16] = "at most 65504 in magnitude, or inf",
        [DT_BF16] = "at most 3.39e+38 in magnitude, or inf",
    };
    double f;

    switch (dt) {
    case DT_F32:
    case DT_F64:
    case DT_F16:
    case DT_BF16:
        f = float_round(dt, *v);
        if (isinf(f) && !isinf(*v))
            return most[dt];
        *v = isnan(f) ? (double)NAN : f;
        return NULL;
    case DT_I32:
        if (!(*v >= INT32_MIN && *v <= INT32_MAX) || *v != trunc(*v))
            return "an integer from -2147483648 to 2147483647";
        *v = (double)(int32_t)*v;
        return NULL;
    case DT_BOOL:
        if (*v != 0 && *v != 1)
            return "0 or 1";
        *v = *v == 1;
        return NULL;
    case DT_COUNT:
        break;
    }
    return "a dtype";
}

/* Storage that an exact overlap test may look at: odd nestings larger than this are refused
 * unseen, as a hostile text could ask for thousands of them. */
enum { EXACT_STORAGE = 1 << 16 };

/* Walks all elements of a shape of at most EXACT_STORAGE storage and marks their places. */
static bool overlaps_exactly(const struct layout *l, const struct shape *s)
{
    unsigned char *seen = calloc((size_t)layout_storage(l, s), 1);
    int64_t idx[MAX_RANK] = { 0 }, at = l->offset;
    bool overlap = false;

    if (!seen)
        return true;
    for (;;) {
        int a = s->rank - 1;

        overlap = seen[at];
        if (overlap)
            break;
        seen[at] = 1;
        for (; a >= 0 && idx[a] + 1 == s->dim[a]; a--) {
            at -= idx[a] * l->stride[a];
            idx[a] = 0;
        }
        if (a < 0)
            break;
        idx[a]++;
        at += l->stride[a];
    }
    free(seen);
    return overlap;
}

/* Do two elements share an address? Sorted by stride, each stride that is larger than the
 * span of the ones before proves that they don't; only odd nestings are counted out. */
static bool layout_overlaps(const struct layout *l, const struct shape *s)
{
    int64_t stride[MAX_RANK], dim[MAX_RANK], span = 0;
    int n = 0;

    if (!l->given || shape_count(s) == 0)
        return false;
    for (int i = 0; i < s->rank; i++) {
        int k = n;

        if (s->dim[i] == 1)
            continue;
        for (; k > 0 && stride[k - 1] > l->stride[i]; k--) {
            stride[k] = stride[k - 1];
            dim[k] = dim[k - 1];
        }
        stride[k] = l->stride[i];
        dim[k] = s->dim[i];
        n++;
    }
    for (int k = 0; k < n; k++) {
        if (stride[k] == 0)
            return true;
        if (stride[k] <= span)
            return layout_storage(l, s) > EXACT_STORAGE || overlaps_exactly(l, s);
        span += (dim[k] - 1) * stride[k];
    }
    return false;
}

int output_check(const struct prog *p, const struct output *o, enum part *part, struct err *e)
{
    struct node as_input = { .op = OP_INPUT, .line = o->line, .layout = o->layout };

    *part = PART_ARG;
    if (o->node < 0 || o->node >= p->n)
        return err_at(e, ERR_INPUT, o->line, 0, "output of node %d; expected 0 to %d", o->node,
                      p->n - 1);
    as_input.sh = p->node[o->node].sh;
    as_input.dt = p->node[o->node].dt;
    if (node_check(p, &as_input, part, e))
        return e->code;
    if (layout_overlaps(&o->layout, &as_input.sh)) {
        *part = PART_STRIDES;
        return err_at(e, ERR_INPUT, o->line, 0,
                      "elements of output %s may share addresses; expected strides that keep "
                      "all elements apart",
                      p->node[o->node].name);
    }
    return 0;
}

/* Nodes in order: names, operands, and what node_infer says is what is recorded. */
static int check_nodes(const struct prog *p, struct err *e)
{
    struct names names;

    names_init(&names, p);
    for (int i = 0; i < p->n; i++) {
        const struct node *n = &p->node[i];
        struct node copy = *n;
        enum part part;
        const char *want = full_name_fault(n->name);

        if (want)
            return err_at(e, ERR_INPUT, n->line, 0, "bad name '%.60s'; expected %s", n->name,
                          want);
        if (names_find(&names, n->name, strlen(n->name)) >= 0)
            return err_at(e, ERR_INPUT, n->line, 0, "second node named %s; expected a new name",
                          n->name);
        for (int k = 0; k < n->n_arg && k < MAX_ARGS; k++)
            if (n->arg[k].node >= i)
                return err_at(e, ERR_INPUT, n->line, 0,
                              "operand %d of %s stands after it; expected an earlier node", k,
                              n->name);
        if (node_check(p, &copy, &part, e))
            return e->code;
        if (copy.dt != n->dt || copy.acc != n->acc ||
            (n->op == OP_MATMUL && (copy.alpha != n->alpha || copy.beta != n->beta)) ||
            !shape_equal(&copy.sh, &n->sh))
            return err_at(e, ERR_INPUT, n->line, 0,
                          "%s records another shape or dtype than its operands give; expected "
                          "node_infer after every change",
                          n->name);
        names_add(&names, i);
    }
    return 0;
}

int prog_check(const struct prog *p, struct err *e)
{
    bool is_out[MAX_NODES] = { false };
    enum part part;

    if (p->n > MAX_NODES)
        return err_set(e, ERR_INPUT, "%d nodes; expected at most %d", p->n, MAX_NODES);
    if (check_nodes(p, e))
        return e->code;
    if (p->n_out == 0)
        return err_set(e, ERR_INPUT, "no output; expected at least one 'output NAME' line");
    for (int i = 0; i < p->n_out; i++) {
        const struct output *o = &p->out[i];

        if (output_check(p, o, &part, e))
            return e->code;
        if (is_out[o->node])
            return err_at(e, ERR_INPUT, o->line, 0,
                          "%s is an output already; expected each node once",
                          p->node[o->node].name);
        is_out[o->node] = true;
    }
    if (prog_work(p) > MAX_WORK)
        return err_set(e, ERR_INPUT,
                       "the program takes %lld element operations; expected at most %lld",
                       (long long)prog_work(p), (long long)MAX_WORK);
    return 0;
}
