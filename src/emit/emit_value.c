/*
 * Values as C text, through the vocabulary of the preludes. A value that several readers of
 * one statement share is printed again where it is small, and bound to a local where it is
 * big; so is what nests too deep. Values are total, so binding them early is safe. For a GPU
 * every load of a buffer is bound, one full expression each, in order.
 */
#include "emit/words.h"

#include <math.h>
#include <string.h>

#include "base/bug.h"
#include "ir/half.h"

enum {
    SHARED_SIZE = 6, /* a shared value of more operations gets a local */
    NEST_MAX = 12,   /* libtcc's time for nested macros grows with the square of the depth */
};

int cgen_new_local(struct cgen *g, const char *type)
{
    str_puts(g->s, "const ");
    str_puts(g->s, type);
    str_puts(g->s, " ");
    cgen_local(g, ++g->n_local);
    str_puts(g->s, " = ");
    return g->n_local;
}

void cgen_local(struct cgen *g, int local)
{
    str_puts(g->s, g->local);
    cgen_int(g->s, local);
}

void cgen_statement(struct cgen *g)
{
    g->stamp++;
}

static int n_args(const struct value *v)
{
    return v->kind == V_OP ? op_info(v->op)->n_arg : 0;
}

static int body_of(const struct cgen *g, const struct value *v)
{
    const struct access *x = v->kind == V_LOAD ? &g->l->access[v->arg[0]] : NULL;

    return x && x->src == SRC_BODY ? x->body : -1;
}

static void count_uses(struct cgen *g, int val)
{
    const struct value *v = &g->l->value[val];
    struct cvalue *c = &g->value[val];

    if (c->stamp != g->stamp)
        *c = (struct cvalue){ .stamp = g->stamp };
    if (c->uses++)
        return;
    for (int i = 0; i < n_args(v); i++)
        count_uses(g, v->arg[i]);
    if (body_of(g, v) >= 0)
        count_uses(g, body_of(g, v));
}

static void put_inline(struct cgen *g, int val, bool stored);

/* Must it be an expression of its own? */
static bool alone(const struct cgen *g, const struct value *v)
{
    return g->sites && ((v->kind == V_LOAD && g->l->access[v->arg[0]].src == SRC_BUFFER) ||
                        v->kind == V_SHFL);
}

/* "TF_SHFL(tf_f32, 12, v3, acc, 16);": the local is declared by the word */
static void put_shuffle(struct cgen *g, const struct value *v, int local)
{
    str_puts(g->s, "TF_SHFL(");
    str_puts(g->s, cgen_type(v->dt));
    str_puts(g->s, ", ");
    cgen_int(g->s, cgen_site(g, SITE_SHFL, -1));
    str_puts(g->s, ", ");
    cgen_local(g, local);
    str_puts(g->s, ", ");
    cgen_acc(g, v->arg[0], v->arg[1]);
    str_puts(g->s, ", ");
    cgen_int(g->s, v->arg[2]);
    cgen_line(g, ");");
}

static void bind(struct cgen *g, int val)
{
    const struct value *v = &g->l->value[val];
    struct cvalue *c = &g->value[val];
    int body = body_of(g, v);

    if (c->size)
        return;
    c->size = 1 + (v->kind == V_LOAD ? g->l->access[v->arg[0]].n_guard : 0);
    for (int i = -1; i < n_args(v); i++) {
        int arg = i < 0 ? body : v->arg[i];

        if (arg < 0)
            continue;
        bind(g, arg);
        c->size += g->value[arg].size;
        if (c->depth < g->value[arg].depth + 1)
            c->depth = g->value[arg].depth + 1;
    }
    if (alone(g, v)) {
        if (v->kind == V_SHFL) {
            put_shuffle(g, v, ++g->n_local);
        } else {
            cgen_new_local(g, cgen_type(v->dt));
            put_inline(g, val, false);
            cgen_line(g, ";");
        }
        *c = (struct cvalue){ g->stamp, c->uses, 1, 0, g->n_local };
        return;
    }
    if (v->kind != V_OP && body < 0)
        return;
    if ((c->uses > 1 && c->size > SHARED_SIZE) || c->depth > NEST_MAX) {
        cgen_new_local(g, cgen_type(v->dt));
        put_inline(g, val, false);
        cgen_line(g, ";");
        *c = (struct cvalue){ g->stamp, c->uses, 1, 0, g->n_local };
    }
}

void cgen_bind(struct cgen *g, int val)
{
    count_uses(g, val);
    bind(g, val);
}

void cgen_place(struct cgen *g, int access)
{
    const struct access *x = &g->l->access[access];

    str_puts(g->s, g->buf[x->buffer]);
    str_puts(g->s, "[");
    cgen_index(g, x->index);
    str_puts(g->s, "]");
}

/* A fill squeezed into another dtype and back: what a load of the narrow dtype would give. */
static double squeeze(enum dtype dt, double v)
{
    if (dt == DT_BOOL)
        return v != 0;
    if (dt == DT_I32)
        return isnan(v) ? 0 : v < INT32_MIN ? INT32_MIN : v > INT32_MAX ? INT32_MAX : trunc(v);
    return float_round(dt, v);
}

static void put_number(struct cgen *g, enum dtype dt, int index)
{
    const char *open = dt == DT_F16    ? "TF_TO_F16(TF_IX2F("
                       : dt == DT_BF16 ? "TF_TO_BF16(TF_IX2F("
                       : dt == DT_F64  ? "TF_IX2D("
                       : dt == DT_F32  ? "TF_IX2F("
                                       : "TF_IX2I(";

    str_puts(g->s, open);
    cgen_operand(g, index);
    cgen_close(g, open);
}

static const char *load_open(enum dtype dt)
{
    return dt == DT_F16    ? "TF_GET_F16("
           : dt == DT_BF16 ? "TF_GET_BF16("
           : dt == DT_F64  ? "TF_GET_F64("
                           : "";
}

static void put_source(struct cgen *g, int access, int body)
{
    const struct access *x = &g->l->access[access];

    switch (x->src) {
    case SRC_BUFFER:
        str_puts(g->s, load_open(x->dt));
        if (g->sites) {
            cgen_access(g, cgen_shared(g, access) ? "TF_SLD(" : "TF_LD(", SITE_LOAD,
                        cgen_stored(x->dt), access);
            str_puts(g->s, ")");
        } else {
            cgen_place(g, access);
        }
        cgen_close(g, load_open(x->dt));
        return;
    case SRC_IOTA:
        put_number(g, x->dt, x->index);
        return;
    case SRC_CONST:
        cgen_literal(g, x->dt, x->lit);
        return;
    case SRC_BODY:
        cgen_value(g, body);
        return;
    }
}

/* (cond ? (cond ? x[..] : fill) : fill), the guards in order, fills squeezed to `narrow`. */
static void put_guarded(struct cgen *g, int access, int body, enum dtype dt, bool narrow)
{
    const struct access *x = &g->l->access[access];

    for (int i = 0; i < x->n_guard; i++) {
        str_puts(g->s, "(");
        cgen_cond(g, x->guard[i].cond);
        str_puts(g->s, " ? ");
    }
    put_source(g, access, body);
    for (int i = x->n_guard - 1; i >= 0; i--) {
        str_puts(g->s, " : ");
        cgen_literal(g, dt, narrow ? squeeze(dt, x->guard[i].fill) : x->guard[i].fill);
        str_puts(g->s, ")");
    }
}

static void put_load(struct cgen *g, int access)
{
    const struct access *x = &g->l->access[access];
    const struct value *b = x->src == SRC_BODY ? &g->l->value[x->body] : NULL;

    if (FAULT(g->l, guard_fill_narrowed) && b && x->n_guard && b->op == OP_CAST &&
        b->kind == V_OP && !g->value[x->body].local) {
        enum dtype from = g->l->value[b->arg[0]].dt;
        const char *cast = cgen_cast_open(from, b->dt);

        str_puts(g->s, cast ? cast : "(");
        put_guarded(g, access, b->arg[0], from, true);
        cgen_close(g, cast ? cast : "(");
        return;
    }
    put_guarded(g, access, x->body, x->dt, false);
}

static void put_cast(struct cgen *g, const struct value *v, bool stored)
{
    const char *open = cgen_cast_open(g->l->value[v->arg[0]].dt, v->dt);
    size_t round = strlen(cgen_round_open(v->dt));

    if (open && stored && !strncmp(open, cgen_round_open(v->dt), round))
        open += round;
    str_puts(g->s, open ? open : "");
    cgen_value(g, v->arg[0]);
    cgen_close(g, open ? open : "");
}

/* stored: what takes the value rounds it */
static void put_op(struct cgen *g, const struct value *v, bool stored)
{
    enum dtype from = g->l->value[v->arg[v->op == OP_WHERE]].dt;
    const char *round = cgen_round(v->op, v->dt, stored);

    if (v->op == OP_CAST) {
        put_cast(g, v, stored);
        return;
    }
    str_puts(g->s, round);
    str_puts(g->s, cgen_word(g->l, v->op, from));
    str_puts(g->s, "(");
    for (int i = 0; i < n_args(v); i++) {
        str_puts(g->s, i ? ", " : "");
        cgen_value(g, v->arg[i]);
    }
    str_puts(g->s, ")");
    cgen_close(g, round);
}

static void put_inline(struct cgen *g, int val, bool stored)
{
    const struct value *v = &g->l->value[val];

    switch (v->kind) {
    case V_LIT:
        cgen_literal(g, v->dt, v->lit);
        return;
    case V_LOAD:
        put_load(g, v->arg[0]);
        return;
    case V_ACC:
        str_puts(g->s, g->acc[v->arg[0]]);
        if (v->arg[1] >= 0) {
            str_puts(g->s, "[");
            cgen_index(g, v->arg[1]);
            str_puts(g->s, "]");
        }
        return;
    case V_SHFL:
        BUG("kernel %s is bound: C can't say that", g->k->name);
    case V_INDEX:
        if (v->dt == DT_BOOL) {
            str_puts(g->s, "(");
            cgen_cond(g, v->arg[0]);
            str_puts(g->s, ")");
            return;
        }
        put_number(g, v->dt, v->arg[0]);
        return;
    case V_OP:
        put_op(g, v, stored);
        return;
    }
}

static void put_value(struct cgen *g, int val, bool stored)
{
    if (g->value[val].local) {
        cgen_local(g, g->value[val].local);
        return;
    }
    put_inline(g, val, stored);
}

void cgen_value(struct cgen *g, int val)
{
    put_value(g, val, false);
}

void cgen_stored_value(struct cgen *g, enum dtype dt, int val, int local)
{
    const char *open = dt == DT_F16 ? "TF_PUT_F16(" : dt == DT_BF16 ? "TF_PUT_BF16(" : "";

    str_puts(g->s, open);
    if (local) {
        cgen_local(g, local);
    } else {
        put_value(g, val, dtype_is_half(dt));
    }
    cgen_close(g, open);
}
