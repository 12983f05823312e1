#include "fuzz/explain/copies.h"

#include <string.h>

#include "ir/contract.h"
#include "run/caps.h"

const char *copy_effect_name(enum copy_effect e)
{
    static const char *const name[COPY_EFFECTS] = { "none",    "not run", "differs",
                                                    "repairs", "breaks",  "bits" };

    return name[e];
}

bool copy_is_finding(enum copy_effect e)
{
    return e == COPY_REPAIRS || e == COPY_BREAKS || e == COPY_BITS;
}

/* May a value of a float node be another one than IEEE's, or be kept in more precision? */
enum {
    LOOSE_FLOATS =
        CONTRACT_MAY_CONTRACT | CONTRACT_MAY_FLUSH | CONTRACT_MAY_EXCESS | CONTRACT_MAY_UNCAST
};

/* By way of f32 it would be rounded twice. */
static bool goes_far(enum dtype from, enum dtype to)
{
    return dtype_info(to)->bytes < 4 && dtype_is_float(to) &&
           (from == DT_F64 || from == DT_I32);
}

/* Of floats: one rounding, or none. Division and 1/x are not: which zero they meet is free;
 * nor is the square root, which may be off by an ulp. */
static bool rounds_once(enum op op)
{
    return op == OP_NEG || op == OP_ABS || op == OP_ADD || op == OP_SUB || op == OP_MUL ||
           op == OP_CAST;
}

static bool picks(enum op op)
{
    return op == OP_MAX2 || op == OP_MIN2 || op == OP_MAX || op == OP_MIN || op == OP_ARGMAX;
}

static bool adds_up(enum op op)
{
    return op == OP_ADD || op == OP_SUB || op == OP_MUL || op == OP_NEG || op == OP_ABS ||
           op == OP_SUM || op == OP_PROD || op == OP_MATMUL || op == OP_CUMSUM;
}

static bool moves(enum op op)
{
    return op_is_view(op) || op_is_source(op) || op == OP_COPY || op == OP_WHERE ||
           op == OP_CONCAT || op == OP_ASSIGN;
}

static bool is_logic(enum op op)
{
    return op == OP_NOT || op == OP_AND || op == OP_OR || op == OP_LT || op == OP_LE ||
           op == OP_EQ;
}

static bool node_rigid(const struct prog *p, const struct node *n, unsigned c)
{
    enum dtype from = n->n_arg && n->arg[0].node >= 0 ? p->node[n->arg[0].node].dt : n->dt;
    bool floats = dtype_is_float(n->dt) || dtype_is_float(from);

    if (floats && (c & CONTRACT_MAY_FLUSH))
        return false; /* of whatever op, a copy too */
    if (moves(n->op))
        return true;
    if (floats && (c & (LOOSE_FLOATS | CONTRACT_OPEN_SPECIAL)))
        return false;
    if (is_logic(n->op))
        return true;
    if (n->op == OP_GATHER)
        return !(c & CONTRACT_OPEN_DOMAIN);
    if (picks(n->op))
        return !(c & (CONTRACT_OPEN_NAN_MAX | CONTRACT_OPEN_EMPTY | CONTRACT_OPEN_TIES));
    if (n->op == OP_CAST && dtype_is_float(from) && !dtype_is_float(n->dt))
        return !(c & CONTRACT_OPEN_DOMAIN);
    if (!floats && n->op == OP_DIV)
        return !(c & CONTRACT_OPEN_DOMAIN);
    if (!floats)
        return n->op == OP_CAST || (adds_up(n->op) && !(c & CONTRACT_OPEN_OVERFLOW));
    return rounds_once(n->op) && !goes_far(from, n->dt);
}

bool copies_rigid(const struct prog *p, unsigned contract, struct arena *scratch)
{
    bool *live = arena_array(scratch, bool, p->n + 1);

    if (contract & CONTRACT_MAY_VARY)
        return false;
    prog_live(p, live);
    for (int i = 0; i < p->n; i++)
        if (live[i] && !node_rigid(p, &p->node[i], contract))
            return false;
    return true;
}

static unsigned contract_of(const struct backend *b)
{
    if (b->caps)
        return b->caps->contract;
    return b->contracts ? CONTRACT_MAY_CONTRACT : 0;
}

static const struct verdict *same_data(const struct check *c, const struct verdict *v)
{
    for (int i = 0; i < c->n; i++)
        if (c->verdict[i].algebra == v->algebra && c->verdict[i].exact == v->exact)
            return &c->verdict[i];
    return NULL;
}

static bool ran(enum verdict_kind k)
{
    return k == VK_PASS || k == VK_SUSPECT;
}

/* On one set of data. In ring and on exact data the judge has compared the bits already; what
 * it left out there has no one right result. */
static enum copy_effect effect_on(const struct verdict *before, const struct verdict *after,
                                  bool rigid)
{
    bool was_wrong = verdict_is_finding(before->kind),
         is_wrong = verdict_is_finding(after->kind);

    if (was_wrong && is_wrong)
        return COPY_NONE;
    if (was_wrong)
        return ran(after->kind) ? COPY_REPAIRS : COPY_NOT_RUN;
    if (is_wrong)
        return COPY_BREAKS;
    if (!ran(before->kind) || !ran(after->kind))
        return COPY_NOT_RUN;
    if (before->digest == after->digest)
        return COPY_NONE;
    return rigid ? COPY_BITS : COPY_DIFFERS;
}

/* The strongest effect on any data. What fails is asked no further, so data may be missing. */
static void compare(const struct check *before, const struct check *after, bool rigid,
                    struct copied *x)
{
    for (int i = 0; i < before->n; i++) {
        const struct verdict *v = &before->verdict[i], *w = same_data(after, v);
        enum copy_effect effect = w ? effect_on(v, w, rigid) : COPY_NONE;

        if (effect <= x->effect)
            continue;
        x->effect = effect;
        x->algebra = v->algebra;
        x->exact = v->exact;
        x->before = v->kind;
        x->after = w->kind;
    }
    /* a repair of some data that leaves others wrong is none */
    if (x->effect == COPY_REPAIRS && verdict_is_finding(after->kind))
        x->effect = COPY_NONE;
}

static bool legal(const struct trial *t, const struct check_opts *o, const struct backend *b,
                  struct arena *scratch)
{
    struct lower_opts lo = LOWER_OPTS_DEFAULT;
    struct err e = { 0 };
    struct lprog *l;

    lo.fault = o->fault;
    lo.target = b->gpu ? TARGET_GPU : TARGET_CPU;
    return !lower(t, &lo, scratch, &l, &e);
}

/* Leaves out steps, the last first, until what is left is legal. Returns how many. */
static int make_legal(struct trial *x, const struct check_opts *o, const struct backend *b,
                      struct arena *scratch)
{
    int n = x->n_step;

    for (int k = n - 1; k >= 0 && !legal(x, o, b, scratch); k--)
        trial_drop_step(x, k);
    return n - x->n_step;
}

int copies_check(struct checker *ck, const struct trial *t, const struct check_opts *o,
                 struct arena *a, struct copies *out, struct err *e)
{
    static struct check before, after;
    struct check_opts one = *o;
    struct edge *edge;
    int n = edge_list(&t->prog, &edge, a);

    *out = (struct copies){ .row = arena_array(a, struct copied, n * o->n_backend + 1) };
    one.digest = true;
    one.n_backend = 1;
    for (int i = 0; i < o->n_backend; i++) {
        const struct backend *b = o->backend[i];
        bool rigid = copies_rigid(&t->prog, contract_of(b), a);

        one.backend[0] = b;
        if (check_trial(ck, t, &one, &before, e))
            return e->code;
        for (int k = 0; k < n; k++) {
            struct copied *x = &out->row[out->n++];
            struct trial *with = edge_copied(t, &edge[k], !b->caps, a);

            *x = (struct copied){ .backend = b->name, .edge = edge[k] };
            if (!b->caps)
                x->left_out = make_legal(with, o, b, a);
            if (check_trial(ck, with, &one, &after, e))
                return e->code;
            compare(&before, &after, rigid, x);
        }
    }
    return 0;
}
