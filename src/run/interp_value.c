/*
 * Values as interpreter code. Every value of a statement is computed once; literals and
 * scalar accumulators are registers by themselves.
 */
#include "base/bug.h"
#include "run/interp_code.h"

/* by class of the operands: f32 and halves, int, bool, f64 */
static const short arithmetic[OP_COUNT][4] = {
    [OP_NEG] = { INS_NEG_F, INS_NEG_I, -1, INS_NEG_D },
    [OP_ABS] = { INS_ABS_F, INS_ABS_I, -1, INS_ABS_D },
    [OP_EXP] = { INS_EXP_F, -1, -1, INS_EXP_D },
    [OP_EXP2] = { INS_EXP2_F, -1, -1, INS_EXP2_D },
    [OP_LOG] = { INS_LOG_F, -1, -1, INS_LOG_D },
    [OP_TANH] = { INS_TANH_F, -1, -1, INS_TANH_D },
    [OP_ERF] = { INS_ERF_F, -1, -1, INS_ERF_D },
    [OP_RECIP] = { INS_RECIP_F, -1, -1, INS_RECIP_D },
    [OP_SQRT] = { INS_SQRT_F, -1, -1, INS_SQRT_D },
    [OP_RSQRT] = { INS_RSQRT_F, -1, -1, INS_RSQRT_D },
    [OP_NOT] = { -1, -1, INS_NOT_B, -1 },
    [OP_ADD] = { INS_ADD_F, INS_ADD_I, -1, INS_ADD_D },
    [OP_SUM] = { INS_ADD_F, INS_ADD_I, -1, INS_ADD_D },
    [OP_SUB] = { INS_SUB_F, INS_SUB_I, -1, INS_SUB_D },
    [OP_MUL] = { INS_MUL_F, INS_MUL_I, -1, INS_MUL_D },
    [OP_PROD] = { INS_MUL_F, INS_MUL_I, -1, INS_MUL_D },
    [OP_DIV] = { INS_DIV_F, INS_DIV_I, -1, INS_DIV_D },
    [OP_MAX] = { INS_MAX_F, INS_MAX_I, -1, INS_MAX_D },
    [OP_MAX2] = { INS_MAX_F, INS_MAX_I, -1, INS_MAX_D },
    [OP_MIN] = { INS_MIN_F, INS_MIN_I, -1, INS_MIN_D },
    [OP_MIN2] = { INS_MIN_F, INS_MIN_I, -1, INS_MIN_D },
    [OP_AND] = { -1, -1, INS_AND_B, -1 },
    [OP_OR] = { -1, -1, INS_OR_B, -1 },
    [OP_LT] = { INS_LT_F, INS_LT_I, -1, INS_LT_D },
    [OP_LE] = { INS_LE_F, INS_LE_I, -1, INS_LE_D },
    [OP_EQ] = { INS_EQ_F, INS_EQ_I, INS_EQ_B, INS_EQ_D },
    [OP_COPY] = { INS_MOVE, INS_MOVE, INS_MOVE, INS_MOVE },
};

/* from, to; what stays on the grid of a narrower dtype is only moved */
static const short casts[DT_COUNT][DT_COUNT] = {
#define ROW(f32, i32, bool_, f64, f16, bf16)                                                   \
    {                                                                                          \
        [DT_F32] = INS_##f32, [DT_I32] = INS_##i32, [DT_BOOL] = INS_##bool_,                   \
        [DT_F64] = INS_##f64, [DT_F16] = INS_##f16, [DT_BF16] = INS_##bf16                     \
    }
    [DT_F32] = ROW(MOVE, F_TO_I, F_TO_B, F_TO_D, F_TO_H, F_TO_T),
    [DT_I32] = ROW(I_TO_F, MOVE, I_TO_B, I_TO_D, I_TO_H, I_TO_T),
    [DT_BOOL] = ROW(B_TO_F, B_TO_I, MOVE, B_TO_D, B_TO_F, B_TO_F),
    [DT_F64] = ROW(D_TO_F, D_TO_I, D_TO_B, MOVE, D_TO_H, D_TO_T),
    [DT_F16] = ROW(MOVE, F_TO_I, F_TO_B, F_TO_D, MOVE, F_TO_T),
    [DT_BF16] = ROW(MOVE, F_TO_I, F_TO_B, F_TO_D, F_TO_H, MOVE),
#undef ROW
};

enum ins_op ins_of(enum op op, enum dtype dt, enum dtype to)
{
    int ins;

    if (op == OP_WHERE)
        return to == DT_F64 ? INS_WHERE_D : INS_WHERE;
    if (op == OP_CAST)
        return (enum ins_op)casts[dt][to];
    ins = arithmetic[op][dt == DT_F64 ? 3 : dtype_info(dt)->class];
    if (ins < 0 || (ins == 0 && op != OP_ADD && op != OP_SUM))
        BUG("no instruction for %s on %s", op_info(op)->name, dtype_info(dt)->name);
    return (enum ins_op)ins;
}

enum ins_op ins_round(enum dtype to)
{
    return to == DT_F16 ? INS_F_TO_H : to == DT_BF16 ? INS_F_TO_T : INS_MOVE;
}

enum ins_op ins_load(enum dtype dt)
{
    static const enum ins_op op[DT_COUNT] = {
        [DT_F32] = INS_LOAD_4, [DT_I32] = INS_LOAD_4, [DT_BOOL] = INS_LOAD_1,
        [DT_F64] = INS_LOAD_D, [DT_F16] = INS_LOAD_H, [DT_BF16] = INS_LOAD_T,
    };
    return op[dt];
}

/* The three of a row of MEM follow each other. */
static enum ins_op ins_load_guarded(enum dtype dt)
{
    return (enum ins_op)(ins_load(dt) + (INS_GLOAD_4 - INS_LOAD_4));
}

enum ins_op ins_store(enum dtype dt)
{
    return (enum ins_op)(ins_load(dt) + (INS_STORE_4 - INS_LOAD_4));
}

enum ins_op ins_in(enum ins_op op, enum algebra al)
{
    static const short ring[] = {
#define VAL(id, same, member, expr) INS_##same,
#define INT(id, expr)               INS_##id,
#define MEM(id, same, bytes, member, read, written)                                            \
    INS_LOAD_##same, INS_GLOAD_##same, INS_STORE_##same,
#define DOT(id, same, load, muladd, member) INS_##same,
#define INS(id, same)                       INS_##same,
#include "run/interp_ops.def"
    };
    return al == AL_RING ? (enum ins_op)ring[op] : op;
}

int gen_literal(struct gen *g, enum dtype dt, double v)
{
    struct code *c = g->c;
    union {
        double d;
        uint64_t u;
    } x = { v }, y;

    for (int i = 0; i < c->n_lit; i++) {
        y.d = c->lit[i].v;
        if (c->lit[i].dt == dt && x.u == y.u)
            return c->lit[i].reg;
    }
    *arena_push(c->arena, c->lit, c->n_lit, c->cap_lit) = (struct lit){ c->n_v, dt, v };
    return c->n_v++;
}

void gen_round(struct gen *g, enum dtype dt, int reg)
{
    enum ins_op op = ins_round(dt);

    if (op != INS_MOVE)
        gen_emit(g, op, reg, reg, 0);
}

bool gen_is_scalar(const struct gen *g, int acc, int at)
{
    return g->c->l->acc[acc].elems == 1 && at < 0;
}

/* v[d] = r[cond] ? v[d] : fill, for guards n-1 .. 0: the first that fails decides. */
static int pick_fills(struct gen *g, const struct place *p, int n, enum dtype dt, int d,
                      int from)
{
    for (int i = n - 1; i >= 0; i--) {
        int fill = gen_literal(g, dt, p->guard[i].fill);

        gen_emit(g, dt == DT_F64 ? INS_PICK_D : INS_PICK, d, from, fill)->c =
            gen_index(g, p->guard[i].cond);
        from = d;
    }
    return from;
}

static int load_buffer(struct gen *g, const struct access *ac, const struct place *p, int d)
{
    const struct buffer *b = &g->c->l->buffer[ac->buffer];
    int64_t elems = code_elems(g->c->l, ac->buffer);
    int index = gen_index(g, p->index), last = p->n_guard - 1, cond;
    struct ins *in;

    if (last < 0) {
        gen_emit(g, ins_load(b->dt), d, index, ac->buffer)->k = elems;
        return d;
    }
    cond = p->guard[last].cond;
    for (int i = last - 1; i >= 0; i--)
        cond = x_and(&g->c->x, p->guard[i].cond, cond);
    cond = gen_index(g, cond);
    in = gen_emit(g, ins_load_guarded(b->dt), d, index, ac->buffer);
    in->c = cond;
    in->k = elems;
    in->e = gen_literal(g, ac->dt, p->guard[last].fill);
    /* the guards before the last only matter where their fills differ */
    while (last > 0 && gen_literal(g, ac->dt, p->guard[last - 1].fill) == in->e)
        last--;
    return pick_fills(g, p, last, ac->dt, d, d);
}

static int number(struct gen *g, enum dtype dt, int d, int index)
{
    static const enum ins_op op[DT_COUNT] = {
        [DT_F32] = INS_NUM_F, [DT_I32] = INS_NUM_I, [DT_BOOL] = INS_NUM_B,
        [DT_F64] = INS_NUM_D, [DT_F16] = INS_NUM_H, [DT_BF16] = INS_NUM_T,
    };

    gen_emit(g, op[dt], d, gen_index(g, index), 0);
    return d;
}

static int gen_load(struct gen *g, int access, int d)
{
    const struct access *ac = &g->c->l->access[access];
    struct place p;
    int from = d;

    x_place(&g->c->x, ac, &p);
    switch (ac->src) {
    case SRC_BUFFER:
        return load_buffer(g, ac, &p, d);
    case SRC_IOTA:
        from = number(g, ac->dt, d, p.index);
        break;
    case SRC_CONST:
        from = gen_literal(g, ac->dt, ac->lit);
        break;
    case SRC_BODY:
        from = gen_value(g, ac->body);
        break;
    }
    return pick_fills(g, &p, p.n_guard, ac->dt, d, from);
}

int gen_acc_index(struct gen *g, int at)
{
    return gen_index(g, at < 0 ? x_const(&g->c->x, 0) : x_import(&g->c->x, at));
}

void gen_acc_access(struct gen *g, enum ins_op op, int d, int index, int acc)
{
    struct ins *p = gen_emit(g, op, d, index, g->c->acc_at[acc]);

    p->e = acc;
    p->k = g->c->l->acc[acc].elems;
}

static int gen_acc(struct gen *g, const struct value *v, int d)
{
    int acc = v->arg[0], at = v->arg[1];

    if (gen_is_scalar(g, acc, at))
        return g->c->acc_at[acc];
    gen_acc_access(g, v->dt == DT_F64 ? INS_AGET_D : INS_AGET, d, gen_acc_index(g, at), acc);
    return d;
}

static int gen_op(struct gen *g, const struct value *v, int d)
{
    const struct value *all = g->c->l->value;
    int n = op_info(v->op)->n_arg, arg[3] = { 0 };
    enum ins_op op = ins_of(v->op, all[v->arg[0]].dt, v->dt);

    if (op_is_reduce(v->op))
        n = 2;
    for (int i = 0; i < n; i++)
        arg[i] = gen_value(g, v->arg[i]);
    if (op == INS_MOVE)
        return arg[0];
    gen_emit(g, op, d, arg[0], arg[1])->c = arg[2];
    if (v->op != OP_CAST)
        gen_round(g, v->dt, d);
    return d;
}

int gen_value(struct gen *g, int val)
{
    const struct value *v = &g->c->l->value[val];
    int reg = val;

    if (g->done[val] == g->serial)
        return g->reg[val];
    switch (v->kind) {
    case V_LIT:
        reg = gen_literal(g, v->dt, v->lit);
        break;
    case V_LOAD:
        reg = gen_load(g, v->arg[0], val);
        break;
    case V_ACC:
        reg = gen_acc(g, v, val);
        break;
    case V_SHFL:
        BUG("kernel %s is bound: it was not written out", g->k->name);
    case V_INDEX:
        reg = number(g, v->dt, val, x_import(&g->c->x, v->arg[0]));
        break;
    case V_OP:
        reg = gen_op(g, v, val);
        break;
    }
    g->done[val] = g->serial;
    g->reg[val] = reg;
    return reg;
}
