/*
 * Values as C text, through the vocabulary of the preludes. A value that several readers of
 * one statement share is printed again where it is small, and bound to a local where it is
 * big; so is what nests too deep. Values are total, so binding them early is safe.
 */
#include "emit/cgen.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "ir/data.h"

enum {
    SHARED_SIZE = 6, /* a shared value of more operations gets a local */
    NEST_MAX = 12,   /* libtcc's time for nested macros grows with the square of the depth */
};

const char *cgen_type(enum dtype dt)
{
    switch (dtype_info(dt)->class) {
    case DTC_FLOAT:
        return "tf_f32";
    case DTC_INT:
        return "tf_i32";
    case DTC_BOOL:
        return "tf_bool";
    }
    return "";
}

void cgen_float(struct str *s, float v, const char *inf, const char *nan)
{
    char buf[32];

    if (isnan(v) || isinf(v)) {
        str_puts(s, isinf(v) && v < 0 ? "-" : "");
        str_puts(s, isnan(v) ? nan : inf);
        return;
    }
    for (int digits = 6; digits <= 9; digits += 3) {
        snprintf(buf, sizeof buf, "%.*g", digits, (double)v);
        if (strtof(buf, NULL) == v)
            break;
    }
    str_puts(s, buf);
    str_puts(s, strpbrk(buf, ".e") ? "f" : ".0f");
}

void cgen_literal(struct cgen *g, enum dtype dt, double v)
{
    char word[16];

    switch (dtype_info(dt)->class) {
    case DTC_FLOAT:
        str_puts(g->s, "TF_LIT(");
        cgen_float(g->s, (float)v, "TF_INF", "TF_NAN");
        snprintf(word, sizeof word, ", 0x%xu)", (unsigned)ring_literal(v));
        str_puts(g->s, word);
        return;
    case DTC_INT:
        if (v <= INT32_MIN) /* 2147483648 is no int, so its negative isn't one either */
            str_puts(g->s, "(-2147483647 - 1)");
        else
            cgen_int(g->s, v >= INT32_MAX ? INT32_MAX : (int64_t)v);
        return;
    case DTC_BOOL:
        str_puts(g->s, v != 0 ? "1" : "0");
        return;
    }
}

static const char *cast_op(enum dtype from, enum dtype to)
{
    static const char *const name[3][3] = {
        [DTC_FLOAT] = { [DTC_FLOAT] = NULL, [DTC_INT] = "TF_F2I", [DTC_BOOL] = "TF_F2B" },
        [DTC_INT] = { [DTC_FLOAT] = "TF_I2F", [DTC_INT] = NULL, [DTC_BOOL] = "TF_I2B" },
        [DTC_BOOL] = { [DTC_FLOAT] = "TF_B2F", [DTC_INT] = "TF_B2I", [DTC_BOOL] = NULL },
    };

    return name[dtype_info(from)->class][dtype_info(to)->class];
}

/* The vocabulary: of f32, i32 and bool operands. */
static const char *const vocabulary[OP_COUNT][3] = {
    [OP_NEG] = { "TF_NEG", "TF_INEG", NULL },
    [OP_ABS] = { "TF_ABS", "TF_IABS", NULL },
    [OP_EXP] = { "TF_EXP", NULL, NULL },
    [OP_RECIP] = { "TF_RECIP", NULL, NULL },
    [OP_SQRT] = { "TF_SQRT", NULL, NULL },
    [OP_NOT] = { NULL, NULL, "TF_NOT" },
    [OP_ADD] = { "TF_ADD", "TF_IADD", NULL },
    [OP_SUB] = { "TF_SUB", "TF_ISUB", NULL },
    [OP_MUL] = { "TF_MUL", "TF_IMUL", NULL },
    [OP_DIV] = { "TF_DIV", "TF_IDIV", NULL },
    [OP_MAX2] = { "TF_MAX", "TF_IMAX", NULL },
    [OP_MIN2] = { "TF_MIN", "TF_IMIN", NULL },
    [OP_AND] = { NULL, NULL, "TF_AND" },
    [OP_OR] = { NULL, NULL, "TF_OR" },
    [OP_LT] = { "TF_LT", "TF_ILT", NULL },
    [OP_LE] = { "TF_LE", "TF_ILE", NULL },
    [OP_EQ] = { "TF_EQ", "TF_IEQ", "TF_BEQ" },
    [OP_WHERE] = { "TF_WHERE", "TF_WHERE", "TF_WHERE" },
    [OP_SUM] = { "TF_ADD", "TF_IADD", NULL },
    [OP_MAX] = { "TF_MAX", "TF_IMAX", NULL },
    [OP_MIN] = { "TF_MIN", "TF_IMIN", NULL },
};

const char *cgen_op(enum op op, enum dtype dt)
{
    const char *name = vocabulary[op][dtype_info(dt)->class];

    if (!name)
        BUG("op %s of %s is no arithmetic of loop IR", op_info(op)->name, dtype_info(dt)->name);
    return name;
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

static void put_inline(struct cgen *g, int val);

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
    if (v->kind != V_OP && body < 0)
        return;
    if ((c->uses > 1 && c->size > SHARED_SIZE) || c->depth > NEST_MAX) {
        str_puts(g->s, "const ");
        str_puts(g->s, cgen_type(v->dt));
        str_puts(g->s, " ");
        str_puts(g->s, g->local);
        cgen_int(g->s, g->n_local + 1);
        str_puts(g->s, " = ");
        put_inline(g, val);
        str_puts(g->s, ";");
        cgen_flush(g);
        *c = (struct cvalue){ g->stamp, c->uses, 1, 0, ++g->n_local };
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
    return (double)(float)v;
}

static void put_number(struct cgen *g, enum dtype dt, int index)
{
    str_puts(g->s, dt == DT_F32 ? "TF_IX2F(" : "TF_IX2I(");
    cgen_operand(g, index);
    str_puts(g->s, ")");
}

static void put_source(struct cgen *g, int access, int body)
{
    const struct access *x = &g->l->access[access];

    switch (x->src) {
    case SRC_BUFFER:
        cgen_place(g, access);
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
        const char *cast = cast_op(from, b->dt);

        str_puts(g->s, cast ? cast : "");
        str_puts(g->s, "(");
        put_guarded(g, access, b->arg[0], from, true);
        str_puts(g->s, ")");
        return;
    }
    put_guarded(g, access, x->body, x->dt, false);
}

static void put_op(struct cgen *g, const struct value *v)
{
    enum dtype from = g->l->value[v->arg[0]].dt;
    const char *name = v->op == OP_CAST ? cast_op(from, v->dt) : cgen_op(v->op, from);

    if (!name) { /* a cast to the same dtype */
        cgen_value(g, v->arg[0]);
        return;
    }
    str_puts(g->s, name);
    str_puts(g->s, "(");
    for (int i = 0; i < n_args(v); i++) {
        str_puts(g->s, i ? ", " : "");
        cgen_value(g, v->arg[i]);
    }
    str_puts(g->s, ")");
}

static void put_inline(struct cgen *g, int val)
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
        put_op(g, v);
        return;
    }
}

void cgen_value(struct cgen *g, int val)
{
    if (g->value[val].local) {
        str_puts(g->s, g->local);
        cgen_int(g->s, g->value[val].local);
        return;
    }
    put_inline(g, val);
}
