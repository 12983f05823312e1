/*
 * The words of the vocabulary: types, literals, casts, and which macro an op of a dtype is,
 * with the rounding that a half result takes.
 */
#include "emit/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "ir/data.h"

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
    return dt == DT_F64 ? "tf_m64" : dtype_is_half(dt) ? "tf_m16" : cgen_type(dt);
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
        word = dtype_is_half(dt) ? ring_literal(v) & 0xffff : ring_literal(v);
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
const char *cgen_cast_open(enum dtype from, enum dtype to)
{
#define ROW(f32, i32, bool_, f64, f16, bf16)                                                   \
    {                                                                                          \
        [DT_F32] = f32, [DT_I32] = i32, [DT_BOOL] = bool_, [DT_F64] = f64, [DT_F16] = f16,     \
        [DT_BF16] = bf16                                                                       \
    }
    static const char *const open[DT_COUNT][DT_COUNT] = {
        [DT_F32] = ROW(NULL, "TF_F2I(", "TF_F2B(", "TF_F2D(", "TF_TO_F16(", "TF_TO_BF16("),
        [DT_I32] = ROW("TF_I2F(", NULL, "TF_I2B(", "TF_I2D(", "TF_TO_F16(TF_ODD(TF_I2D(",
                       "TF_TO_BF16(TF_ODD(TF_I2D("),
        [DT_BOOL] = ROW("TF_B2F(", "TF_B2I(", NULL, "TF_B2D(", "TF_B2F(", "TF_B2F("),
        [DT_F64] = ROW("TF_D2F(", "TF_D2I(", "TF_F2B(", NULL, "TF_TO_F16(TF_ODD(",
                       "TF_TO_BF16(TF_ODD("),
        [DT_F16] = ROW(NULL, "TF_F2I(", "TF_F2B(", "TF_F2D(", NULL, "TF_TO_BF16("),
        [DT_BF16] = ROW(NULL, "TF_F2I(", "TF_F2B(", "TF_F2D(", "TF_TO_F16(", NULL),
    };
#undef ROW

    return open[from][to];
}

/* As many as were opened. */
void cgen_close(struct cgen *g, const char *open)
{
    for (; *open; open++)
        if (*open == '(')
            str_puts(g->s, ")");
}

const char *cgen_round_open(enum dtype dt)
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
const char *cgen_word(const struct lprog *l, enum op op, enum dtype dt)
{
    const char *name = vocabulary[op][dtype_info(dt)->class];

    if (dt == DT_F64 && of_f64[op])
        name = of_f64[op];
    else if (op == OP_NEG && dtype_is_half(dt))
        name = "TF_HNEG";
    else if (FAULT(l, exp_clamped_not_zero) && op == OP_EXP)
        name = "TF_EXPC";
    if (!name)
        BUG("op %s of %s is no arithmetic of loop IR", op_info(op)->name, dtype_info(dt)->name);
    return name;
}

/* "TF_TO_F16(" unless the result needs no rounding or a store rounds it. */
const char *cgen_round(enum op op, enum dtype result, bool stored)
{
    return stored || stays_on_grid(op) ? "" : cgen_round_open(result);
}

void cgen_update(struct cgen *g, const struct acc *a)
{
    str_puts(g->s, cgen_round(a->op, a->dt, false));
    str_puts(g->s, cgen_word(g->l, a->op, a->dt));
    str_puts(g->s, "(");
}

void cgen_update_end(struct cgen *g, const struct acc *a)
{
    cgen_close(g, cgen_round(a->op, a->dt, false));
    str_puts(g->s, ")");
}
