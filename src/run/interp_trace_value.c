/* Values in the tracer: a word and where it comes from. */
#include "base/bug.h"
#include "run/interp_trace.h"

int64_t trace_index(struct tracer *t, int e)
{
    const struct x *x = &t->x.x[e];
    int64_t a = 0, b = 0, r = 0;

    if (t->x_of[e] == t->serial)
        return t->x_val[e];
    if (x->op > X_VAR)
        a = trace_index(t, x->a);
    if (x->op == X_ADD || x->op == X_MUL || x->op == X_LT || x->op == X_AND || x->op == X_IN ||
        x->op == X_XOR)
        b = trace_index(t, x->b);
    switch (x->op) {
    case X_CONST:
        r = x->c;
        break;
    case X_VAR:
        r = t->var[x->c];
        break;
    case X_ADD:
        r = wrap_add(a, b);
        break;
    case X_ADDC:
        r = wrap_add(a, x->c);
        break;
    case X_MUL:
        r = wrap_mul(a, b);
        break;
    case X_MULC:
        r = wrap_mul(a, x->c);
        break;
    case X_DIV:
        r = floor_div(a, x->c);
        break;
    case X_MOD:
        r = floor_mod(a, x->c);
        break;
    case X_LT:
        r = a < b;
        break;
    case X_LTC:
        r = a < x->c;
        break;
    case X_GTC:
        r = a > x->c;
        break;
    case X_IN:
        r = a >= x->c && a < wrap_add(x->c, b);
        break;
    case X_AND:
        r = a & b;
        break;
    case X_XOR:
        r = a ^ b;
        break;
    }
    t->x_of[e] = t->serial;
    return t->x_val[e] = r;
}

/* Memory as the instructions read and write it. */
static void mem_read(enum ins_op load, const unsigned char *p, union word *w)
{
    switch ((int)load) {
#define MEM(id, ring, bytes, member, read, written)                                            \
    case INS_LOAD_##id:                                                                        \
        mem_read_##id(p, w);                                                                   \
        break;
#include "run/interp_ops.def"
    default:
        BUG("instruction %d loads nothing", (int)load);
    }
}

void trace_write(const struct tracer *t, enum dtype dt, unsigned char *p, union word w)
{
    enum ins_op store = ins_in(ins_store(dt), t->al);

    switch ((int)store) {
#define MEM(id, ring, bytes, member, read, written)                                            \
    case INS_STORE_##id:                                                                       \
        mem_write_##id(p, &w);                                                                 \
        break;
#include "run/interp_ops.def"
    default:
        BUG("instruction %d stores nothing", (int)store);
    }
}

static bool load(struct tracer *t, int access, struct val *v)
{
    const struct access *ac = &t->l->access[access];
    const struct place *p = &t->place[access];
    const struct guard *failed = NULL;
    const struct buffer *b = &t->l->buffer[ac->buffer];
    int64_t index = p->index >= 0 ? trace_index(t, p->index) : 0;

    *v = (struct val){ .tag = { TAG_NONE, 0 } };
    if (ac->src == SRC_BODY && !trace_value(t, ac->body, v))
        return false;
    for (int i = 0; i < p->n_guard && !failed; i++)
        if (!trace_index(t, p->guard[i].cond))
            failed = &p->guard[i];
    if (failed) {
        *v = (struct val){ word_literal(ac->dt, t->al, failed->fill), { TAG_NONE, 0 } };
    } else if (ac->src == SRC_BUFFER) {
        if (index < 0 || index >= code_elems(t->l, ac->buffer))
            return trace_outside(t, b->name, index, code_elems(t->l, ac->buffer), false);
        mem_read(ins_in(ins_load(b->dt), t->al), trace_cell(t, ac->buffer, index), &v->w);
        v->tag = *trace_tag(t, ac->buffer, index);
    } else if (ac->src == SRC_IOTA) {
        v->w = word_index(ac->dt, t->al, index);
    } else if (ac->src == SRC_CONST) {
        v->w = word_literal(ac->dt, t->al, ac->lit);
    }
    trace_record(t, access, false, failed != NULL, index, ac->dt, *v);
    return true;
}

static union word apply(enum ins_op op, union word A, union word B, union word C)
{
    union word w = { .all = 0 };

    switch ((int)op) {
#define VAL(id, ring, member, expr)                                                            \
    case INS_##id:                                                                             \
        w.member = (expr);                                                                     \
        break;
#include "run/interp_ops.def"
    default:
        BUG("instruction %d computes no value", (int)op);
    }
    return w;
}

union word trace_apply(const struct tracer *t, enum ins_op op, enum dtype dt,
                       const struct val arg[3])
{
    enum ins_op round = ins_round(dt);
    union word w = arg[0].w;

    if (op != INS_MOVE)
        w = apply(ins_in(op, t->al), w, arg[1].w, arg[2].w);
    return round == INS_MOVE ? w : apply(ins_in(round, t->al), w, w, w);
}

/* Widening changes no number. */
static bool moves(enum ins_op op)
{
    return op == INS_MOVE || op == INS_F_TO_D;
}

static bool op_at(struct tracer *t, const struct value *v, struct val *out)
{
    enum dtype dt = t->l->value[v->arg[0]].dt;
    enum ins_op op = ins_of(v->op, dt, v->dt);
    int n = op_is_reduce(v->op) ? 2 : op_info(v->op)->n_arg;
    struct val arg[3] = { 0 };

    for (int i = 0; i < n; i++)
        if (!trace_value(t, v->arg[i], &arg[i]))
            return false;
    out->w = trace_apply(t, op, v->dt, arg);
    out->tag = moves(op)           ? arg[0].tag
               : v->op == OP_WHERE ? arg[arg[0].w.u ? 1 : 2].tag
                                   : (struct tag){ TAG_COMPUTED, 0 };
    return true;
}

/* The cell of an accumulator, NULL = outside it. */
struct val *trace_acc(struct tracer *t, int acc, int at, bool store)
{
    const struct acc *a = &t->l->acc[acc];
    int64_t index = at < 0 ? 0 : trace_index(t, x_import(&t->x, at));

    if (index >= 0 && index < a->elems)
        return &t->acc[acc][index];
    trace_outside(t, a->name, index, a->elems, store);
    return NULL;
}

static bool compute(struct tracer *t, const struct value *v, struct val *out)
{
    const struct val *acc;

    *out = (struct val){ .tag = { TAG_NONE, 0 } };
    switch (v->kind) {
    case V_LIT:
        out->w = word_literal(v->dt, t->al, v->lit);
        return true;
    case V_LOAD:
        return load(t, v->arg[0], out);
    case V_ACC:
        acc = trace_acc(t, v->arg[0], v->arg[1], false);
        if (acc)
            *out = *acc;
        return acc != NULL;
    case V_SHFL:
        BUG("kernel %s is bound: it was not written out", t->l->kernel[t->kernel].name);
    case V_INDEX:
        out->w = word_index(v->dt, t->al, trace_index(t, x_import(&t->x, v->arg[0])));
        return true;
    case V_OP:
        return op_at(t, v, out);
    }
    return false;
}

bool trace_value(struct tracer *t, int val, struct val *out)
{
    if (t->val_of[val] != t->serial) {
        if (!compute(t, &t->l->value[val], &t->val[val]))
            return false;
        t->val_of[val] = t->serial;
    }
    *out = t->val[val];
    return true;
}
