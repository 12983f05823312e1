/*
 * struct trial to .trial text. Canonical: one blank between words, every default that a
 * reader may wonder about is written, and parsing gives the same trial back.
 */
#include <math.h>
#include <string.h>

#include "base/bug.h"
#include "ir/half.h"
#include "ir/text.h"

static void put_int(struct str *s, int64_t v)
{
    char buf[24];
    size_t at = sizeof buf;
    uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;

    do
        buf[--at] = (char)('0' + u % 10);
    while (u /= 10);
    if (v < 0)
        buf[--at] = '-';
    str_write(s, buf + at, sizeof buf - at);
}

static void put_float(struct str *s, enum dtype dt, double v)
{
    if (dt == DT_F32 || !isfinite(v))
        str_float(s, v);
    else
        float_print(dt, v, s);
}

/* A value of dtype dt; integers in full, as they have no shortest float. */
static void put_value(struct str *s, enum dtype dt, double v)
{
    if (dtype_info(dt)->class == DTC_FLOAT)
        put_float(s, dt, v);
    else
        put_int(s, (int64_t)v);
}

static void put_key(struct str *s, const char *key, const char *word)
{
    str_puts(s, " ");
    str_puts(s, key);
    str_puts(s, "=");
    str_puts(s, word);
}

static void put_ints(struct str *s, const int64_t *v, int n)
{
    str_puts(s, "[");
    for (int i = 0; i < n; i++) {
        if (i)
            str_puts(s, ",");
        put_int(s, v[i]);
    }
    str_puts(s, "]");
}

static void put_layout(struct str *s, const struct layout *l, int rank)
{
    if (!l->given)
        return;
    str_puts(s, " strides=");
    put_ints(s, l->stride, rank);
    str_puts(s, " offset=");
    put_int(s, l->offset);
}

static void put_typed(struct str *s, const struct node *n)
{
    str_puts(s, " ");
    str_puts(s, dtype_info(n->dt)->name);
    str_puts(s, " ");
}

/* [lo:hi,..] or [lo:hi:by,..] */
static void put_ranges(struct str *s, const struct node *n, bool by)
{
    str_puts(s, " [");
    for (int i = 0; i < n->sh.rank; i++) {
        if (i)
            str_puts(s, ",");
        put_int(s, n->lo[i]);
        str_puts(s, ":");
        put_int(s, n->hi[i]);
        if (by) {
            str_puts(s, ":");
            put_int(s, n->by[i]);
        }
    }
    str_puts(s, "]");
}

static void put_axes(struct str *s, const struct node *n)
{
    int64_t axes[32];
    int k = 0;

    for (int a = 0; a < 32; a++)
        if (n->axes >> a & 1)
            axes[k++] = a;
    str_puts(s, " axes=");
    put_ints(s, axes, k);
    if (n->keep)
        str_puts(s, " keep=1");
}

static void put_number_key(struct str *s, const char *key, enum dtype dt, double v)
{
    put_key(s, key, "");
    put_value(s, dt, v);
}

static void put_composite(struct str *s, const struct node *n)
{
    if (n->op == OP_LAYERNORM || n->op == OP_RMSNORM) {
        put_number_key(s, "eps", n->acc, n->eps);
    } else if (n->op == OP_ATTENTION) {
        put_number_key(s, "scale", n->acc, n->scale);
        if (n->mask != MASK_NONE)
            put_key(s, "mask", mask_name(n->mask));
        if (n->empty != EMPTY_NAN)
            put_key(s, "empty", empty_name(n->empty));
    } else {
        put_key(s, "axis", "");
        put_int(s, n->axis);
    }
}

static void put_attributes(struct str *s, const struct node *n)
{
    int64_t perm[MAX_RANK];

    if (n->op == OP_IOTA) {
        put_typed(s, n);
        put_ints(s, n->sh.dim, n->sh.rank);
        str_puts(s, " axis=");
        put_int(s, n->axis);
    } else if (n->op == OP_PERMUTE) {
        for (int i = 0; i < n->sh.rank; i++)
            perm[i] = n->perm[i];
        str_puts(s, " ");
        put_ints(s, perm, n->sh.rank);
    } else if (n->op == OP_RESHAPE || n->op == OP_EXPAND) {
        str_puts(s, " ");
        put_ints(s, n->sh.dim, n->sh.rank);
    } else if (n->op == OP_SLICE || n->op == OP_PAD || n->op == OP_ASSIGN) {
        put_ranges(s, n, n->op != OP_PAD);
        if (n->op == OP_PAD) {
            str_puts(s, " value=");
            put_value(s, n->dt, n->value);
        }
    } else if (n->op == OP_ROLL || n->op == OP_REPEAT) {
        put_key(s, n->op == OP_ROLL ? "shift" : "times", "");
        put_ints(s, n->op == OP_ROLL ? n->lo : n->by, n->sh.rank);
    } else if (n->op == OP_CAST) {
        str_puts(s, " ");
        str_puts(s, dtype_info(n->dt)->name);
    } else if (op_info(n->op)->class == OPC_REDUCE) {
        put_axes(s, n);
    } else if (op_is_composite(n->op)) {
        put_composite(s, n);
    }
    if (n->scaled)
        put_number_key(s, "alpha", n->acc, n->alpha);
    if (n->scaled && n->n_arg == 3)
        put_number_key(s, "beta", n->acc, n->beta);
    if (n->acc_given)
        put_key(s, "acc", dtype_info(n->acc)->name);
}

void node_print(const struct prog *p, int node, struct str *s)
{
    const struct node *n = &p->node[node];

    if (n->op == OP_INPUT || n->op == OP_CONST) {
        str_puts(s, op_info(n->op)->name);
        str_puts(s, " ");
        str_puts(s, n->name);
        put_typed(s, n);
        if (n->op == OP_CONST) {
            put_value(s, n->dt, n->value);
            return;
        }
        put_ints(s, n->sh.dim, n->sh.rank);
        put_layout(s, &n->layout, n->sh.rank);
        return;
    }
    str_puts(s, n->name);
    str_puts(s, " = ");
    str_puts(s, op_info(n->op)->name);
    for (int k = 0; k < n->n_arg; k++) {
        str_puts(s, " ");
        if (n->arg[k].node >= 0)
            str_puts(s, p->node[n->arg[k].node].name);
        else
            put_value(s, node_takes(p, n), n->arg[k].lit);
    }
    put_attributes(s, n);
}

void trial_print(const struct trial *t, struct str *s)
{
    const struct prog *p = &t->prog;

    str_puts(s, "tilefuzz 1\n");
    for (int i = 0; i < p->n; i++) {
        node_print(p, i, s);
        str_puts(s, "\n");
    }
    for (int i = 0; i < p->n_out; i++) {
        const struct node *n = &p->node[p->out[i].node];

        str_puts(s, "output ");
        str_puts(s, n->name);
        put_layout(s, &p->out[i].layout, n->sh.rank);
        str_puts(s, "\n");
    }
    if (t->n_step)
        str_puts(s, "schedule\n");
    for (int i = 0; i < t->n_step; i++) {
        step_print(p, &t->step[i], s);
        str_puts(s, "\n");
    }
    str_add(s, "data seed=%llu recipe=%s\n", (unsigned long long)t->seed,
            recipe_name(t->recipe));
    for (int i = 0; i < t->n_values; i++) {
        const struct values *v = &t->values[i];

        str_puts(s, "values ");
        str_puts(s, p->node[v->node].name);
        str_puts(s, " [");
        for (int64_t k = 0; k < v->n; k++) {
            if (k)
                str_puts(s, ",");
            put_value(s, p->node[v->node].dt, v->v[k]);
        }
        str_puts(s, "]\n");
    }
}
