/*
 * Reducer over dtypes: f32 in place of f64, f16 and bf16. The dtype of a node follows from its
 * operands, so it is changed where it is written down: inputs, constants, iotas and casts; all
 * of one dtype together, or one alone.
 */
#include "fuzz/min/reduce.h"

static const enum dtype odd[] = { DT_F64, DT_F16, DT_BF16 };
enum { N_ODD = sizeof odd / sizeof odd[0] };

int red_dtypes_count(const struct trial *t, struct arena *scratch)
{
    (void)scratch;
    return N_ODD + t->prog.n;
}

static bool names_dtype(enum op op)
{
    return op_is_source(op) || op == OP_CAST;
}

/* Values are what f32 can hold of them. */
static void to_f32(struct trial *t, int node, struct arena *a)
{
    struct values *v = trial_values(t, node);
    double *mine;

    t->prog.node[node].dt = DT_F32;
    if (!v)
        return;
    mine = arena_array(a, double, v->n + 1);
    for (int64_t k = 0; k < v->n; k++)
        mine[k] = (double)(float)v->v[k];
    v->v = mine;
}

static void acc_plain(struct prog *p, enum dtype dt)
{
    for (int i = 0; i < p->n; i++)
        if (p->node[i].acc_given && (p->node[i].acc == dt || p->node[i].dt == dt))
            p->node[i].acc_given = false;
}

bool red_dtypes_apply(struct trial *t, int from, int to, struct arena *a)
{
    struct prog *p = &t->prog;
    bool any = false;

    (void)to;
    for (int i = 0; i < p->n; i++) {
        enum dtype dt = p->node[i].dt;
        bool mine = from < N_ODD ? dt == odd[from] : i == from - N_ODD;

        if (!mine || !names_dtype(p->node[i].op) ||
            (dt != DT_F64 && dt != DT_F16 && dt != DT_BF16))
            continue;
        to_f32(t, i, a);
        any = true;
    }
    if (any && from < N_ODD)
        acc_plain(p, odd[from]);
    return any;
}
