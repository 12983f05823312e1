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
#include "ir/half.h"

enum {
    SHARED_SIZE = 6, /* a shared value of more operations gets a local */
    NEST_MAX = 12,   /* libtcc's time for nested macros grows with the square of the depth */
};

static bool is_half(enum dtype dt)
{
    return dt == DT_F16 || dt == DT_BF16;
}

const char *cgen_type(enum dtype dt)
{
    static const char *const name[DT_COUNT] = {
        [DT_F32] = "tf_f32", [DT_I32] = "tf_i32", [DT_BOOL] = "tf_bool",
        [DT_F64] = "tf_f64", [DT_F16] = "tf_f32", [DT_BF16] = "tf_f32",
    };

    return name[dt];
}

const char *cgen_stored(enum dtype dt)
{
    return dt == DT_F64 ? "tf_m64" : is_half(dt) ? "tf_m16" : cgen_type(dt);
}

/* The shortest of a few that reads back as the same number. */
static void put_decimal(struct str *s, double v, bool single)
{
    static const int digits[] = { 6, 9, 17 };
    char buf[32];

    for (size_t i = 0; i < ARRAY_LEN(digits); i++) {
        snprintf(buf, sizeof buf, "%.*g", digits[i], v);
        if (single ? strtof(buf, NULL) == (float)v : strtod(buf, NULL) == v)
            break;
    }
    str_puts(s, buf);
    str_puts(s, strpbrk(buf, ".e") ? "" : ".0");
    str_puts(s, single ? "f" : "");
}

void cgen_float(struct str *s, float v, const char *inf, const char *nan)
{
    cgen_real(s, DT_F32, (double)v, inf, nan);
}

void cgen_real(struct str *s, enum dtype dt, double v, const char *inf, const char *nan)
{
    if (isnan(v) || isinf(v)) {
        str_puts(s, isinf(v) && v < 0 ? "-" : "");
        str_puts(s, isnan(v) ? nan : inf);
        return;
    }
    put_decimal(s, v, dt != DT_F64);
}

void cgen_literal(struct cgen *g, enum dtype dt, double v)
{
    uint32_t word;
    char text[16];

    switch (dtype_info(dt)->class) {
    case DTC_FLOAT:
        word = is_half(dt) ? ring_literal(v) & 0xffff : ring_literal(v);
        str_puts(g->s, "TF_LIT(");
        cgen_real(g->s, dt, dt == DT_F64 ? v : (double)(float)v, "TF_INF", "TF_NAN");
        snprintf(text, sizeof text, ", 0x%xu)", (unsigned)word);
        str_puts(g->s, text);
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

/* What opens a cast, NULL = nothing. What is rounded to a half comes last, so that a store
 * may leave it out. f64 and i32 become halves in one rounding: the one to odd is harmless. */
static const char *cast_open(enum dtype from, enum dtype to)
{
    static const char *const open[DT_COUNT][DT_COUNT] = {
        [DT_F32] = { [DT_I32] = "TF_F2I(",
                     [DT_BOOL] = "TF_F2B(",
                     [DT_F64] = "TF_F2D(",
                     [DT_F16] = "TF_TO_F16(",
                     [DT_BF16] = "TF_TO_BF16(" },
        [DT_F64] = { [DT_F32] = "TF_D2F(",
                     [DT_I32] = "TF_D2I(",
                     [DT_BOOL] = "TF_F2B(",
                     [DT_F16] = "TF_TO_F16(TF_ODD(",
                     [DT_BF16] = "TF_TO_BF16(TF_ODD(" },
        [DT_F16] = { [DT_I32] = "TF_F2I(",
                     [DT_BOOL] = "TF_F2B(",
                     [DT_F64] = "TF_F2D(",
                     [DT_BF16] = "TF_TO_BF16(" },
        [DT_BF16] = { [DT_I32] = "TF_F2I(",
                      [DT_BOOL] = "TF_F2B(",
                      [DT_F64] = "TF_F2D(",
                      [DT_F16] = "TF_TO_F16(" },
        [DT_I32] = { [DT_F32] = "TF_I2F(",
                     [DT_BOOL] = "TF_I2B(",
                     [DT_F64] = "TF_I2D(",
                     [DT_F16] = "TF_TO_F16(TF_ODD(TF_I2D(",
                     [DT_BF16] = "TF_TO_BF16(TF_ODD(TF_I2D(" },
        [DT_BOOL] = { [DT_F32] = "TF_B2F(",
                      [DT_I32] = "TF_B2I(",
                      [DT_F64] = "TF_B2D(",
                      [DT_F16] = "TF_B2F(",
                      [DT_BF16] = "TF_B2F(" },
    };

    return open[from][to];
}

/* As many as were opened. */
static void put_close(struct cgen *g, const char *open)
{
    for (; *open; open++)
        if (*open == '(')
            str_puts(g->s, ")");
}

static const char *round_open(enum dtype dt)
{
    return dt == DT_F16 ? "TF_TO_F16(" : dt == DT_BF16 ? "TF_TO_BF16(" : "";
}

/* The vocabulary: of floats, i32 and bool operands. */
static const char *const vocabulary[OP_COUNT][3] = {
    [OP_NEG] = { "TF_NEG", "TF_INEG", NULL },
    [OP_ABS] = { "TF_ABS", "TF_IABS", NULL },
    [OP_EXP] = { "TF_EXP", NULL, NULL },
    [OP_EXP2] = { "TF_EXP2", NULL, NULL },
    [OP_LOG] = { "TF_LOG", NULL, NULL },
    [OP_TANH] = { "TF_TANH", NULL, NULL },
    [OP_ERF] = { "TF_ERF", NULL, NULL },
    [OP_RECIP] = { "TF_RECIP", NULL, NULL },
    [OP_SQRT] = { "TF_SQRT", NULL, NULL },
    [OP_RSQRT] = { "TF_RSQRT", NULL, NULL },
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
    [OP_PROD] = { "TF_MUL", "TF_IMUL", NULL },
    [OP_MAX] = { "TF_MAX", "TF_IMAX", NULL },
    [OP_MIN] = { "TF_MIN", "TF_IMIN", NULL },
};

/* Where f64 needs another word than f32. */
static const char *const of_f64[OP_COUNT] = {
    [OP_ABS] = "TF_DABS",   [OP_EXP] = "TF_DEXP",     [OP_EXP2] = "TF_DEXP2",
    [OP_LOG] = "TF_DLOG",   [OP_TANH] = "TF_DTANH",   [OP_ERF] = "TF_DERF",
    [OP_SQRT] = "TF_DSQRT", [OP_RSQRT] = "TF_DRSQRT", [OP_MAX2] = "TF_DMAX",
    [OP_MIN2] = "TF_DMIN",  [OP_MAX] = "TF_DMAX",     [OP_MIN] = "TF_DMIN",
};

/* Is a result of half dtype on the grid already, in both algebras? */
static bool stays_on_grid(enum op op)
{
    return op == OP_NEG || op == OP_ABS || op == OP_MAX2 || op == OP_MIN2 || op == OP_MAX ||
           op == OP_MIN || op == OP_WHERE;
}

/* dt: of the operand that decides (for where the last) */
static const char *op_word(const struct lprog *l, enum op op, enum dtype dt)
{
    const char *name = vocabulary[op][dtype_info(dt)->class];

    if (dt == DT_F64 && of_f64[op])
        name = of_f64[op];
    else if (op == OP_NEG && is_half(dt))
        name = "TF_HNEG";
    else if (FAULT(l, exp_clamped_not_zero) && op == OP_EXP)
        name = "TF_EXPC";
    if (!name)
        BUG("op %s of %s is no arithmetic of loop IR", op_info(op)->name, dtype_info(dt)->name);
    return name;
}

/* "TF_TO_F16(" unless the result needs no rounding or a store rounds it. */
static const char *op_round(enum op op, enum dtype result, bool stored)
{
    return stored || stays_on_grid(op) ? "" : round_open(result);
}

void cgen_update(struct cgen *g, const struct acc *a)
{
    str_puts(g->s, op_round(a->op, a->dt, false));
    str_puts(g->s, op_word(g->l, a->op, a->dt));
    str_puts(g->s, "(");
}

void cgen_update_end(struct cgen *g, const struct acc *a)
{
    put_close(g, op_round(a->op, a->dt, false));
    str_puts(g->s, ")");
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
        put_inline(g, val, false);
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
    put_close(g, open);
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
        cgen_place(g, access);
        put_close(g, load_open(x->dt));
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
        const char *cast = cast_open(from, b->dt);

        str_puts(g->s, cast ? cast : "(");
        put_guarded(g, access, b->arg[0], from, true);
        put_close(g, cast ? cast : "(");
        return;
    }
    put_guarded(g, access, x->body, x->dt, false);
}

static void put_cast(struct cgen *g, const struct value *v, bool stored)
{
    const char *open = cast_open(g->l->value[v->arg[0]].dt, v->dt);
    size_t round = strlen(round_open(v->dt));

    if (open && stored && !strncmp(open, round_open(v->dt), round))
        open += round;
    str_puts(g->s, open ? open : "");
    cgen_value(g, v->arg[0]);
    put_close(g, open ? open : "");
}

/* stored: what takes the value rounds it */
static void put_op(struct cgen *g, const struct value *v, bool stored)
{
    enum dtype from = g->l->value[v->arg[v->op == OP_WHERE]].dt;
    const char *round = op_round(v->op, v->dt, stored);

    if (v->op == OP_CAST) {
        put_cast(g, v, stored);
        return;
    }
    str_puts(g->s, round);
    str_puts(g->s, op_word(g->l, v->op, from));
    str_puts(g->s, "(");
    for (int i = 0; i < n_args(v); i++) {
        str_puts(g->s, i ? ", " : "");
        cgen_value(g, v->arg[i]);
    }
    str_puts(g->s, ")");
    put_close(g, round);
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
        str_puts(g->s, g->local);
        cgen_int(g->s, g->value[val].local);
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
        str_puts(g->s, g->local);
        cgen_int(g->s, local);
    } else {
        put_value(g, val, is_half(dt));
    }
    put_close(g, open);
}
