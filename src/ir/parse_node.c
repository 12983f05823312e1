/*
 * Program lines of .trial text: input, const, output and NAME = op.
 */
#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "ir/parse.h"

static int add_work(struct parse *p, int64_t work)
{
    p->work += work;
    if (p->work <= MAX_WORK)
        return 0;
    return lex_fail(&p->lx, p->col[PART_OP],
                    "the program takes %lld element operations by here; expected at most %lld",
                    (long long)p->work, (long long)MAX_WORK);
}

/* A name for a new node: legal and not yet taken. */
static int parse_new_name(struct parse *p, char name[MAX_NAME])
{
    struct lex *lx = &p->lx;
    const char *want = "a name";
    int old;

    if (lx->tok.kind == TOK_WORD)
        want = name_fault(lx->tok.s, lx->tok.n);
    if (want)
        return lex_fail(lx, lex_col(lx), "bad name %s; expected %s", lex_quote(lx).s, want);
    old = names_find(&p->names, lx->tok.s, lx->tok.n);
    if (old >= 0)
        return lex_fail(lx, lex_col(lx), "%s is on line %d already; expected a new name",
                        lex_quote(lx).s, p->t->prog.node[old].line);
    memcpy(name, lx->tok.s, lx->tok.n);
    name[lx->tok.n] = '\0';
    lex_next(lx);
    return 0;
}

static int new_node(struct parse *p, const char *name, enum op op, struct node *n)
{
    if (p->t->prog.n >= MAX_NODES)
        return lex_fail(&p->lx, 1, "too many nodes; expected at most %d", MAX_NODES);
    *n = (struct node){ .op = op, .line = p->lx.number, .n_arg = op_info(op)->n_arg };
    n->name = arena_strdup(p->a, name);
    for (int k = 0; k < MAX_ARGS; k++)
        n->arg[k].node = -1;
    return 0;
}

/* The finished node goes through the checks and into the program. */
static int add_node(struct parse *p, struct node *n)
{
    enum part part;

    if (node_check(&p->t->prog, n, &part, p->lx.e))
        return parse_place(p, part);
    *prog_add(&p->t->prog, p->a) = *n;
    names_add(&p->names, p->t->prog.n - 1);
    return add_work(p, node_work(&p->t->prog, n));
}

int parse_input(struct parse *p)
{
    char name[MAX_NAME];
    struct node n;
    struct keyed kv;

    parse_mark(p, PART_OP);
    lex_next(&p->lx);
    if (parse_new_name(p, name) || new_node(p, name, OP_INPUT, &n) || parse_dtype(p, &n.dt) ||
        parse_shape(p, &n.sh) ||
        parse_keys(p, PART_BIT(PART_STRIDES) | PART_BIT(PART_OFFSET), 0, &kv) ||
        parse_layout(p, &kv, &n.sh, &n.layout))
        return p->lx.e->code;
    return add_node(p, &n);
}

int parse_const(struct parse *p)
{
    char name[MAX_NAME];
    struct node n;

    parse_mark(p, PART_OP);
    lex_next(&p->lx);
    if (parse_new_name(p, name) || new_node(p, name, OP_CONST, &n) || parse_dtype(p, &n.dt))
        return p->lx.e->code;
    parse_mark(p, PART_VALUE);
    if (lex_number(&p->lx, "a number", &n.value) || lex_need_end(&p->lx))
        return p->lx.e->code;
    return add_node(p, &n);
}

int parse_output(struct parse *p)
{
    struct prog *prog = &p->t->prog;
    struct output o = { .line = p->lx.number };
    struct keyed kv;
    enum part part;

    parse_mark(p, PART_OP);
    lex_next(&p->lx);
    parse_mark(p, PART_ARG);
    if (parse_node_ref(p, "the name of a node", &o.node) ||
        parse_keys(p, PART_BIT(PART_STRIDES) | PART_BIT(PART_OFFSET), 0, &kv) ||
        parse_layout(p, &kv, &prog->node[o.node].sh, &o.layout))
        return p->lx.e->code;
    while (p->n_is_out <= o.node)
        p->is_out[p->n_is_out++] = false;
    if (p->is_out[o.node])
        return lex_fail(&p->lx, p->col[PART_ARG],
                        "%s is an output already; expected each node once",
                        prog->node[o.node].name);
    p->is_out[o.node] = true;
    if (output_check(prog, &o, &part, p->lx.e))
        return parse_place(p, part);
    *prog_add_output(prog, p->a) = o;
    return add_work(p, output_work(prog, &o));
}

static int parse_arg(struct parse *p, int k, struct arg *arg)
{
    parse_mark(p, PART_ARG + k);
    if (lex_at_number(&p->lx))
        return lex_number(&p->lx, "an operand", &arg->lit);
    return parse_node_ref(p, "an operand", &arg->node);
}

static int parse_permute(struct parse *p, struct node *n)
{
    int64_t v[MAX_RANK];
    int rank, want = n->arg[0].node >= 0 ? p->t->prog.node[n->arg[0].node].sh.rank : 0;

    if (parse_ints(p, "of axes like [1,0]", PART_LIST, v, &rank))
        return p->lx.e->code;
    if (rank != want)
        return lex_fail(&p->lx, p->col[PART_LIST], "%d axes; expected %d", rank, want);
    for (int i = 0; i < rank; i++)
        n->perm[i] = v[i] >= 0 && v[i] < MAX_RANK ? (int)v[i] : MAX_RANK;
    return 0;
}

/* [lo:hi,..] of pad, [lo:hi:by,..] of slice and assign; one entry per axis of the operand. */
static int parse_ranges(struct parse *p, struct node *n)
{
    struct lex *lx = &p->lx;
    bool slice = n->op != OP_PAD;
    const char *what = slice ? "an integer of start:stop:step" : "an integer of before:after";
    int rank = 0, want = n->arg[0].node >= 0 ? p->t->prog.node[n->arg[0].node].sh.rank : 0;

    parse_mark(p, PART_LIST);
    if (lex_need(lx, '[', slice ? "of ranges like [0:8:1]" : "of amounts like [1:0]"))
        return lx->e->code;
    while (lx->tok.kind != TOK_PUNCT || lx->tok.s[0] != ']') {
        if (rank == want)
            return lex_fail(lx, lex_col(lx), "too many entries; expected %d, one per axis",
                            want);
        parse_mark(p, PART_ITEM + rank);
        n->by[rank] = slice ? 1 : 0;
        if (lex_int(lx, what, &n->lo[rank]) ||
            lex_need(lx, ':', slice ? "and stop" : "and the amount after") ||
            lex_int(lx, what, &n->hi[rank]))
            return lx->e->code;
        if (slice && lex_take(lx, ':') && lex_int(lx, what, &n->by[rank]))
            return lx->e->code;
        rank++;
        if (!lex_take(lx, ','))
            break;
    }
    if (rank != want)
        return lex_fail(lx, lex_col(lx), "%d entries; expected %d, one per axis", rank, want);
    return lex_need(lx, ']', "or ','");
}

/* shift= of roll, times= of repeat: one entry per axis of the operand. */
static int take_list(struct parse *p, struct node *n, const struct keyed *kv)
{
    int part = n->op == OP_ROLL ? PART_SHIFT : PART_TIMES;
    int want = n->arg[0].node >= 0 ? p->t->prog.node[n->arg[0].node].sh.rank : 0;

    if (kv->n_list != want)
        return lex_fail(&p->lx, p->col[part], "%d entries; expected %d, one per axis",
                        kv->n_list, want);
    memcpy(n->op == OP_ROLL ? n->lo : n->by, kv->list, (size_t)want * sizeof *n->lo);
    return 0;
}

/* The keys of ops that have nothing else behind their operands. */
static void keys_of(enum op op, unsigned *allowed, unsigned *needed)
{
    if (op == OP_ROLL || op == OP_REPEAT) {
        *needed = PART_BIT(op == OP_ROLL ? PART_SHIFT : PART_TIMES);
    } else if (op_info(op)->class == OPC_REDUCE) {
        *needed = PART_BIT(PART_AXES);
        *allowed = PART_BIT(PART_KEEP);
    } else if (op == OP_LAYERNORM || op == OP_RMSNORM) {
        *needed = PART_BIT(PART_EPS);
    } else if (op == OP_ATTENTION) {
        *needed = PART_BIT(PART_SCALE);
        *allowed = PART_BIT(PART_MASK) | PART_BIT(PART_EMPTY);
    } else if (op_is_composite(op)) {
        *needed = PART_BIT(PART_AXIS);
    }
    if (op == OP_MATMUL)
        *allowed |= PART_BIT(PART_ALPHA) | PART_BIT(PART_BETA);
    if (op_takes_acc(op))
        *allowed |= PART_BIT(PART_ACC);
    *allowed |= *needed;
}

/* Behind the operands of an attention or a matmul: another word that is no key is its mask, or
 * what is added to the product. */
static bool at_last(const struct parse *p, const struct node *n)
{
    struct lex peek = p->lx;

    if ((n->op != OP_ATTENTION && n->op != OP_MATMUL) || peek.tok.kind != TOK_WORD)
        return false;
    lex_next(&peek);
    return !lex_is(&peek, "=");
}

/* What stands behind the operands, by op. */
static int parse_attributes(struct parse *p, struct node *n)
{
    unsigned allowed = 0, needed = 0;
    struct keyed kv;
    int rc = 0;

    if (n->op == OP_IOTA) {
        rc = parse_dtype(p, &n->dt) || parse_shape(p, &n->sh);
        allowed = needed = PART_BIT(PART_AXIS);
    } else if (n->op == OP_CAST) {
        rc = parse_dtype(p, &n->dt);
    } else if (n->op == OP_PERMUTE) {
        rc = parse_permute(p, n);
    } else if (n->op == OP_RESHAPE || n->op == OP_EXPAND) {
        rc = parse_shape(p, &n->sh);
    } else if (n->op == OP_SLICE || n->op == OP_PAD || n->op == OP_ASSIGN) {
        rc = parse_ranges(p, n);
        allowed = n->op == OP_PAD ? PART_BIT(PART_VALUE) : 0;
    } else {
        keys_of(n->op, &allowed, &needed);
    }
    if (rc || parse_keys(p, allowed, needed, &kv))
        return p->lx.e->code;
    if ((n->op == OP_ROLL || n->op == OP_REPEAT) && take_list(p, n, &kv))
        return p->lx.e->code;
    n->axis = kv.axis >= 0 && kv.axis < MAX_RANK ? (int)kv.axis : MAX_RANK;
    n->axes = kv.axes;
    n->keep = kv.keep != 0;
    n->value = kv.value;
    n->acc_given = kv.seen & PART_BIT(PART_ACC);
    n->acc = kv.acc;
    n->eps = kv.eps;
    n->scaled = kv.seen & (PART_BIT(PART_ALPHA) | PART_BIT(PART_BETA));
    n->alpha = kv.seen & PART_BIT(PART_ALPHA) ? kv.alpha : 1;
    n->beta = kv.seen & PART_BIT(PART_BETA) ? kv.beta : 1;
    n->scale = kv.scale;
    n->mask = kv.mask;
    n->empty = kv.empty;
    return 0;
}

static int unknown_op(struct parse *p)
{
    struct lex *lx = &p->lx;
    char list[480] = "", hint[60] = "";
    int at = 0, best = 99;

    for (int op = 0; op < OP_COUNT; op++) {
        const char *name = op_info((enum op)op)->name;
        int d = name_distance(lx->tok.s, lx->tok.n, name);

        if (op == OP_INPUT || op == OP_CONST)
            continue;
        at += snprintf(list + at, sizeof list - (size_t)at, "%s%s", at ? " " : "", name);
        if (d < best) {
            best = d;
            snprintf(hint, sizeof hint, " (did you mean %s?)", name);
        }
    }
    return lex_fail(lx, lex_col(lx), "unknown op %s; expected one of %s%s", lex_quote(lx).s,
                    list, hint);
}

int parse_named(struct parse *p)
{
    struct lex *lx = &p->lx;
    char name[MAX_NAME];
    struct node n;
    enum op op;

    parse_mark(p, PART_OP);
    if (parse_new_name(p, name) || lex_need(lx, '=', "and an op after the name"))
        return lx->e->code;
    parse_mark(p, PART_OP);
    if (lx->tok.kind != TOK_WORD || !op_parse(lx->tok.s, lx->tok.n, &op))
        return unknown_op(p);
    if (op == OP_INPUT || op == OP_CONST)
        return lex_fail(lx, lex_col(lx),
                        "%s in the place of an op; expected the line '%s NAME "
                        "DTYPE ..'",
                        lex_quote(lx).s, op_info(op)->name);
    if (new_node(p, name, op, &n))
        return lx->e->code;
    lex_next(lx);
    for (int k = 0; k < n.n_arg; k++)
        if (parse_arg(p, k, &n.arg[k]))
            return lx->e->code;
    if (at_last(p, &n)) {
        int k = n.n_arg++;

        if (parse_arg(p, k, &n.arg[k]))
            return lx->e->code;
    }
    if (parse_attributes(p, &n))
        return lx->e->code;
    return add_node(p, &n);
}
