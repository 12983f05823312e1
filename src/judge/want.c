/*
 * judge_want: every node that an output depends on, in program order, each from its
 * definition and from nothing but the values of its operands.
 */
#include <string.h>

#include "ir/contract.h"
#include "ir/data.h"
#include "judge/ref.h"

void ref_words(const struct ref *r, const struct arg *a, enum dtype dt, struct words *w)
{
    const struct want_node *n;

    if (a->node >= 0) {
        n = &r->want->node[a->node];
        *w = (struct words){ n->word, 1, n->unsure, 0 };
        return;
    }
    *w = (struct words){ .lit = (uint32_t)(int64_t)a->lit };
    if (dt == DT_BOOL)
        w->lit = a->lit != 0;
    if (ref_is_float(dt))
        w->lit = ring_literal(grid_round(dt, a->lit));
    if (grid_is_half(dt))
        w->lit &= 0xffff;
    w->p = &w->lit;
}

/* Words as they are stored: zero-extended, or without the high half. */
static void input_words(struct want_node *w, int bytes, const unsigned char *bits)
{
    for (int64_t k = 0; k < w->n; k++)
        memcpy(&w->word[k], bits + k * bytes, bytes < 4 ? (size_t)bytes : 4);
}

static enum grade input_floats(struct ref *r, struct want_node *w, enum dtype dt,
                               const unsigned char *bits)
{
    int bytes = dtype_info(dt)->bytes;
    bool integer = true;

    if (dt == DT_F64)
        w->wide = arena_array(r->arena, struct wide, w->n);
    else
        w->ieee = arena_array(r->arena, struct val, w->n);
    for (int64_t k = 0; k < w->n; k++) {
        double v = grid_load(dt, bits + k * bytes);

        if (w->wide)
            w->wide[k] = (struct wide){ v, 0 };
        else
            w->ieee[k] = val_exact(v);
        integer = integer && v == rint(v);
    }
    return integer ? GRADE_INTEGER : GRADE_EXACT;
}

static enum grade input_f32(struct ref *r, struct want_node *w, const float *f)
{
    bool integer = true;

    w->ieee = arena_array(r->arena, struct val, w->n);
    for (int64_t k = 0; k < w->n; k++)
        w->ieee[k] = val_exact((double)f[k]);
    for (int64_t k = 0; integer && k < w->n; k++)
        integer = w->ieee[k].v == rint(w->ieee[k].v);
    return integer ? GRADE_INTEGER : GRADE_EXACT;
}

static void input(struct ref *r, int i)
{
    struct want_node *w = &r->want->node[i];
    enum dtype dt = r->prog->node[i].dt;
    int bytes = dtype_info(dt)->bytes;
    void *bits = arena_alloc_array(r->arena, (size_t)w->n, (size_t)bytes, 8);

    data_dense(r->want->trial, i, r->want->algebra, bits);
    if (!ref_is_word(r, i)) {
        r->grade[i] = dt == DT_F32 ? input_f32(r, w, bits) : input_floats(r, w, dt, bits);
    } else if (bytes == 4) {
        w->word = bits;
    } else {
        w->word = arena_array(r->arena, uint32_t, w->n);
        input_words(w, bytes, bits);
    }
}

/* const and iota, as numbers first */
static void source(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];
    struct want_node *w = &r->want->node[i];
    int64_t inner = 1, turn = 1;
    struct words u;

    if (x->op == OP_IOTA) {
        turn = x->sh.dim[x->axis];
        for (int a = x->axis + 1; a < x->sh.rank; a++)
            inner *= x->sh.dim[a];
    }
    r->grade[i] = GRADE_INTEGER;
    if (ref_is_word(r, i))
        w->word = arena_array(r->arena, uint32_t, w->n);
    else if (x->dt == DT_F64)
        w->wide = arena_array(r->arena, struct wide, w->n);
    else
        w->ieee = arena_array(r->arena, struct val, w->n);
    for (int64_t k = 0; k < w->n; k++) {
        double number = x->op == OP_IOTA ? (double)(k / inner % turn) : x->value;

        if (w->word && x->op == OP_IOTA) { /* an integer, in ring never rounded */
            w->word[k] = (uint32_t)(k / inner % turn) & (grid_is_half(x->dt) ? 0xffff : ~0u);
            continue;
        }
        if (w->word) {
            ref_words(r, &(struct arg){ -1, number }, x->dt, &u);
            w->word[k] = u.lit;
            continue;
        }
        number = grid_round(x->dt, number);
        if (w->wide)
            w->wide[k] = (struct wide){ number, 0 };
        else
            w->ieee[k] = val_exact(number);
        if (number != rint(number))
            r->grade[i] = GRADE_EXACT;
    }
}

/* Is a float of node i's, result or operand, an f64? */
static bool is_wide(const struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];

    for (int j = 0; j < x->n_arg; j++)
        if (x->arg[j].node >= 0 && r->prog->node[x->arg[j].node].dt == DT_F64)
            return true;
    return x->dt == DT_F64;
}

/* Float results in ieee, and what is decided by float operands there. */
static void bound_node(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];
    const struct ref_floats *f = is_wide(r, i) ? &ref_wide : &ref_narrow;

    if (x->op == OP_CAST)
        ref_cast(r, i);
    else if (x->op == OP_ARGMAX)
        f->argmax(r, i);
    else if (!ref_is_float(x->dt))
        f->to_word(r, i);
    else if (x->op == OP_WHERE)
        f->where(r, i);
    else if (x->op == OP_MATMUL)
        f->matmul(r, i);
    else if (x->op == OP_MAX || x->op == OP_MIN)
        f->max(r, i);
    else if (x->op == OP_PROD)
        f->prod(r, i);
    else if (op_is_reduce(x->op))
        f->sum(r, i);
    else if (x->op == OP_SOFTMAX)
        f->softmax(r, i);
    else if (x->op == OP_LOGSOFTMAX)
        f->logsoftmax(r, i);
    else if (x->op == OP_CUMSUM)
        f->cumsum(r, i);
    else if (x->op == OP_LAYERNORM || x->op == OP_RMSNORM)
        f->norm(r, i);
    else if (x->op == OP_ATTENTION)
        f->attention(r, i);
    else
        f->each(r, i);
}

static void word_node(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];
    struct want_node *w = &r->want->node[i];

    if (x->op == OP_MATMUL)
        ref_word_matmul(r, i);
    else if (op_is_reduce(x->op))
        ref_word_reduce(r, i);
    else if (x->op == OP_ARGMAX)
        ref_word_argmax(r, i);
    else if (x->op == OP_SOFTMAX)
        ref_word_softmax(r, i);
    else if (x->op == OP_LOGSOFTMAX)
        ref_word_logsoftmax(r, i);
    else if (x->op == OP_CUMSUM)
        ref_word_cumsum(r, i);
    else if (x->op == OP_LAYERNORM || x->op == OP_RMSNORM)
        ref_word_norm(r, i);
    else if (x->op == OP_ATTENTION)
        ref_word_attention(r, i);
    else
        ref_word_each(r, i);
    if (grid_is_half(x->dt))
        for (int64_t k = 0; k < w->n; k++)
            w->word[k] &= 0xffff;
}

/* Does node i compute with float values: its result or an operand is one? */
static bool is_bound(const struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];

    if (!ref_is_word(r, i))
        return true;
    for (int j = 0; j < x->n_arg; j++)
        if (x->arg[j].node >= 0 && !ref_is_word(r, x->arg[j].node))
            return true;
    return false;
}

static void evaluate(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];

    r->want->node[i].n = shape_count(&x->sh);
    if (x->op == OP_INPUT)
        input(r, i);
    else if (op_is_source(x->op))
        source(r, i);
    else if (op_is_view(x->op) || x->op == OP_COPY)
        ref_view(r, i);
    else if (x->op == OP_GATHER)
        ref_gather(r, i);
    else if (x->op == OP_CONCAT)
        ref_concat(r, i);
    else if (x->op == OP_ASSIGN)
        ref_overwrite(r, i);
    else if (is_bound(r, i))
        bound_node(r, i);
    else
        word_node(r, i);
}

/* Which live nodes another live one reads. */
static bool *readers(const struct prog *p, const bool *live, struct arena *a)
{
    bool *read = arena_array(a, bool, p->n);

    for (int i = 0; i < p->n; i++)
        for (int j = 0; live[i] && j < p->node[i].n_arg; j++)
            if (p->node[i].arg[j].node >= 0)
                read[p->node[i].arg[j].node] = true;
    return read;
}

static struct want *want(const struct trial *t, enum algebra al, struct ref r, struct arena *a)
{
    struct want *w = arena_new(a, struct want);
    bool *live = arena_array(a, bool, t->prog.n);

    r.prog = &t->prog;
    r.arena = a;
    r.want = w;
    r.ring = al == AL_RING;
    w->trial = t;
    w->algebra = al;
    w->node = arena_array(a, struct want_node, t->prog.n);
    r.grade = arena_array(a, enum grade, t->prog.n);
    prog_live(&t->prog, live);
    if (r.contract & (CONTRACT_MAY_EXCESS | CONTRACT_MAY_UNCAST))
        r.read = readers(&t->prog, live, a);
    for (int i = 0; i < t->prog.n; i++)
        if (live[i]) {
            evaluate(&r, i);
            if (r.foreign)
                ref_promise(&r, i);
        }
    w->opened = r.opened;
    return w;
}

struct want *judge_want(const struct trial *t, enum algebra al, struct arena *a)
{
    return want(t, al, (struct ref){ 0 }, a);
}

struct want *judge_want_apart(const struct trial *t, struct arena *a)
{
    return want(t, AL_IEEE, (struct ref){ .apart = true }, a);
}

struct want *judge_want_by(const struct trial *t, unsigned contract, struct arena *a)
{
    const struct ref r = { .foreign = true,
                           .contract = contract,
                           .apart = (contract & (CONTRACT_MAY_CONTRACT | CONTRACT_MAY_EXCESS |
                                                 CONTRACT_MAY_UNCAST)) != 0 };

    return want(t, AL_IEEE, r, a);
}
