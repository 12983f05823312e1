/* Statements as interpreter code, kernel by kernel. */
#include "base/bug.h"
#include "run/interp_code.h"

int64_t code_elems(const struct lprog *l, int buffer)
{
    const struct buffer *b = &l->buffer[buffer];
    const struct node *n = b->node >= 0 ? &l->prog->node[b->node] : NULL;
    int64_t room = b->elems;

    if (b->kind == BUF_INPUT)
        room = layout_storage(&n->layout, &n->sh);
    else if (b->kind == BUF_OUTPUT)
        room = layout_storage(&l->prog->out[b->slot].layout, &n->sh);
    else if (b->arena_at >= 0)
        room = (l->arena_bytes - b->arena_at) / dtype_info(b->dt)->bytes;
    return room < b->elems ? room : b->elems;
}

double acc_identity(const struct acc *a)
{
    bool is_int = a->dt == DT_I32;

    if (a->identity == OP_MAX)
        return is_int ? (double)INT32_MIN : -HUGE_VAL;
    if (a->identity == OP_MIN)
        return is_int ? (double)INT32_MAX : HUGE_VAL;
    return a->identity == OP_PROD;
}

static void gen_decl(struct gen *g, const struct stmt *s)
{
    const struct acc *a = &g->c->l->acc[s->acc];
    int lit = gen_literal(g, a->dt, acc_identity(a));

    if (a->elems == 1)
        gen_emit(g, a->dt == DT_F64 ? INS_MOVE_D : INS_MOVE, g->c->acc_at[s->acc], lit, 0);
    else
        gen_emit(g, INS_FILL, g->c->acc_at[s->acc], lit, 0)->k = a->elems;
}

/* acc[at] op= the value in register val */
static void gen_combine(struct gen *g, const struct stmt *s, int val)
{
    const struct acc *a = &g->c->l->acc[s->acc];
    enum ins_op op = ins_of(a->op, a->dt, a->dt);
    int at = g->c->acc_at[s->acc], index, tmp;
    bool wide = a->dt == DT_F64;

    if (gen_is_scalar(g, s->acc, s->acc_at)) {
        gen_emit(g, op, at, at, val);
        gen_round(g, a->dt, at);
        return;
    }
    index = gen_acc_index(g, s->acc_at);
    tmp = g->c->n_v++;
    gen_acc_access(g, wide ? INS_AGET_D : INS_AGET, tmp, index, s->acc);
    gen_emit(g, op, tmp, tmp, val);
    gen_round(g, a->dt, tmp);
    gen_acc_access(g, wide ? INS_APUT_D : INS_APUT, tmp, index, s->acc);
}

/* c + a * b on values of dt as one instruction. A half is rounded in between: there is none. */
static enum ins_op muladd(enum dtype dt)
{
    switch (dt) {
    case DT_F32:
        return INS_MULADD_F;
    case DT_I32:
        return INS_MULADD_I;
    case DT_F64:
        return INS_MULADD_D;
    case DT_F16:
    case DT_BF16:
    case DT_BOOL:
    case DT_COUNT:
        break;
    }
    return INS_MOVE;
}

static void gen_update(struct gen *g, const struct stmt *s)
{
    const struct value *v = &g->c->l->value[s->val];
    const struct acc *acc = &g->c->l->acc[s->acc];
    enum ins_op op = muladd(acc->dt);
    int at = g->c->acc_at[s->acc], a, b;

    if (v->kind == V_OP && v->op == OP_MUL && acc->op == OP_SUM && op != INS_MOVE &&
        gen_is_scalar(g, s->acc, s->acc_at)) {
        a = gen_value(g, v->arg[0]);
        b = gen_value(g, v->arg[1]);
        gen_emit(g, op, at, a, b)->c = at;
        return;
    }
    gen_combine(g, s, gen_value(g, s->val));
}

static void gen_store(struct gen *g, const struct stmt *s, int val)
{
    const struct access *ac = &g->c->l->access[s->access];
    const struct buffer *b = &g->c->l->buffer[ac->buffer];
    struct place p;
    int index;

    x_place(&g->c->x, ac, &p);
    index = gen_index(g, p.index);
    gen_emit(g, ins_store(b->dt), val, index, ac->buffer)->k = code_elems(g->c->l, ac->buffer);
}

/* acc[at] = the value in register val */
static void gen_set(struct gen *g, const struct stmt *s, int val)
{
    bool wide = g->c->l->acc[s->acc].dt == DT_F64;

    if (gen_is_scalar(g, s->acc, s->acc_at))
        gen_emit(g, wide ? INS_MOVE_D : INS_MOVE, g->c->acc_at[s->acc], val, 0);
    else
        gen_acc_access(g, wide ? INS_APUT_D : INS_APUT, val, gen_acc_index(g, s->acc_at),
                       s->acc);
}

/* All lanes' values first, then all writes: two loops over the same variable. */
static void gen_lanes(struct gen *g, int var, const struct stmt *s)
{
    int64_t extent = g->c->l->var[var].extent;
    int reg = x_var(&g->c->x, var), val;
    bool wide = g->c->l->value[s->val].dt == DT_F64;

    if (s->kind != ST_UPDATE && s->kind != ST_STORE && s->kind != ST_SET)
        BUG("kernel %s: a statement in lanes neither updates nor stores", g->k->name);
    if (extent > g->c->n_lane)
        g->c->n_lane = (int)extent;
    gen_open(g, var, extent);
    gen_emit(g, wide ? INS_LANE_PUT_D : INS_LANE_PUT, gen_value(g, s->val), reg, 0);
    gen_close(g);
    gen_open(g, var, extent);
    val = g->c->n_v++;
    gen_emit(g, wide ? INS_LANE_GET_D : INS_LANE_GET, val, reg, 0);
    if (s->kind == ST_UPDATE)
        gen_combine(g, s, val);
    else if (s->kind == ST_SET)
        gen_set(g, s, val);
    else
        gen_store(g, s, val);
    gen_close(g);
}

/* Compiles the statements from `at` to the END that closes them (or the last); returns the
 * number after it. */
static int gen_block(struct gen *g, int at)
{
    const struct lprog *l = g->c->l;

    while (at < g->k->n) {
        const struct stmt *s = &g->k->st[at];
        int unless;

        g->at_stmt = at++;
        g->serial++;
        switch (s->kind) {
        case ST_LOOP:
            if (s->loop != LOOP_SERIAL && s->loop != LOOP_LANES)
                BUG("kernel %s is bound: it was not written out", g->k->name);
            if (s->loop == LOOP_LANES) {
                for (; g->k->st[at].kind != ST_END; at++) {
                    g->at_stmt = at;
                    g->serial++;
                    gen_lanes(g, s->var, &g->k->st[at]);
                }
                at++;
                break;
            }
            gen_open(g, s->var, l->var[s->var].extent);
            at = gen_block(g, at);
            g->at_stmt = (int)(s - g->k->st);
            gen_close(g);
            break;
        case ST_IF:
            unless = g->c->n;
            gen_emit(g, INS_UNLESS, 0, gen_index(g, x_import(&g->c->x, s->cond)), 0);
            at = gen_block(g, at);
            g->c->ins[unless].c = g->c->n;
            break;
        case ST_END:
            return at;
        case ST_DECL:
            gen_decl(g, s);
            break;
        case ST_UPDATE:
            gen_update(g, s);
            break;
        case ST_SET:
            gen_set(g, s, gen_value(g, s->val));
            break;
        case ST_STORE:
            gen_store(g, s, gen_value(g, s->val));
            break;
        case ST_SYNC:
        case ST_ASYNC:
        case ST_COMMIT:
        case ST_WAIT:
        case ST_ATOMIC:
        case ST_ACQUIRE:
        case ST_RELEASE:
            BUG("kernel %s is bound: it was not written out", g->k->name);
        }
    }
    return at;
}

static void machine_init(struct code *c)
{
    c->r = arena_array(c->arena, int64_t, c->x.n + 1);
    c->v = arena_array(c->arena, union word, c->n_v + 1);
    c->lane = arena_array(c->arena, union word, c->n_lane + 1);
    c->buf = arena_array(c->arena, unsigned char *, c->l->n_buffer + 1);
    for (int i = 0; i < c->x.n; i++)
        if (c->x.x[i].op == X_CONST)
            c->r[i] = c->x.x[i].c;
}

struct code *code_compile(const struct lprog *l, struct arena *a)
{
    struct code *c = arena_new(a, struct code);
    struct gen g = { .c = c };

    interp_math_init();
    c->l = l;
    c->arena = a;
    xtab_init(&c->x, l, a);
    c->kernel_at = arena_array(a, int, l->n_kernel + 1);
    c->acc_at = arena_array(a, int, l->n_acc + 1);
    c->n_v = l->n_value;
    for (int i = 0; i < l->n_acc; i++) {
        c->acc_at[i] = c->n_v;
        c->n_v += (int)l->acc[i].elems;
    }
    g.done = arena_array(a, int, l->n_value + 1);
    g.reg = arena_array(a, int, l->n_value + 1);
    for (int i = 0; i < l->n_kernel; i++) {
        c->kernel_at[i] = c->n;
        g.k = &l->kernel[i];
        if (g.k->dead || !g.k->n)
            continue;
        gen_open(&g, -1, 0);
        gen_block(&g, 0);
        gen_close(&g);
    }
    c->kernel_at[l->n_kernel] = c->n;
    gen_emit(&g, INS_HALT, 0, 0, 0);
    machine_init(c);
    return c;
}
