/*
 * Loops of the interpreter's code and the index expressions in them. Code of a loop:
 *
 *          LOOP   -> first
 *   body:  ..
 *          NEXT   -> again (body if nothing is to be recomputed), or -> end
 *   first: sums that are incremented by NEXT later on
 *   again: everything else that depends on the variable; JUMP body
 *   end:
 */
#include "base/bug.h"
#include "run/interp_code.h"

struct ins *gen_emit(struct gen *g, enum ins_op op, int d, int a, int b)
{
    struct code *c = g->c;
    struct ins *p = arena_push(c->arena, c->ins, c->n, c->cap);

    *p = (struct ins){ .op = op, .d = d, .a = a, .b = b };
    *arena_push(c->arena, c->stmt, c->n_stmt, c->cap_stmt) = g->at_stmt;
    return p;
}

static void room_for(struct gen *g, int n)
{
    struct placed *was = g->placed;
    int n_was = g->cap_placed;

    if (n <= n_was)
        return;
    g->cap_placed = n * 2 + 64;
    g->placed = arena_array(g->c->arena, struct placed, g->cap_placed);
    for (int i = 0; i < n_was; i++)
        g->placed[i] = was[i];
}

static bool has_b(enum x_op op)
{
    return op == X_ADD || op == X_MUL || op == X_LT || op == X_AND || op == X_XOR;
}

/* Puts e into the list of the loop at which it is complete; returns that loop's depth. */
static int place(struct gen *g, int e)
{
    const struct x *x = &g->c->x.x[e];
    struct placed *p = &g->placed[e];
    int da, db, depth;

    if (x->op == X_CONST)
        return 0;
    if (x->op == X_VAR) {
        for (int d = g->n_open - 1; d > 0; d--)
            if (g->open[d].var == e)
                return d;
        return 0;
    }
    if (p->loop && p->depth < g->n_open && g->open[p->depth].id == p->loop)
        return p->depth;
    da = place(g, x->a);
    db = has_b(x->op) ? place(g, x->b) : 0;
    depth = da > db ? da : db;
    *p = (struct placed){ .loop = g->open[depth].id, .depth = depth };
    /* an operand of an outer loop is read whenever this loop begins */
    if (da < depth)
        g->placed[x->a].used = true;
    if (has_b(x->op) && db < depth)
        g->placed[x->b].used = true;
    *arena_push(g->c->arena, g->open[depth].list, g->open[depth].n, g->open[depth].cap) = e;
    return depth;
}

int gen_index(struct gen *g, int e)
{
    room_for(g, g->c->x.n);
    place(g, e);
    g->placed[e].used = true;
    return e;
}

void gen_open(struct gen *g, int var, int64_t extent)
{
    struct open *o;

    if (g->n_open > MAX_LOOPS)
        BUG("kernel %s: more than %d loops are nested", g->k->name, MAX_LOOPS);
    o = &g->open[g->n_open++];
    o->id = ++g->next_id;
    o->var = var < 0 ? -1 : x_var(&g->c->x, var);
    o->extent = extent;
    o->n = 0;
    room_for(g, g->c->x.n);
    o->head = g->c->n;
    gen_emit(g, var < 0 ? INS_JUMP : INS_LOOP, o->var, 0, 0)->k = extent;
}

/* By how much does e grow per iteration of loop o? False = by no constant. */
static bool step_of(const struct gen *g, const struct open *o, int e, int64_t *step)
{
    const struct placed *p = &g->placed[e];

    *step = e == o->var;
    if (e == o->var || p->loop != o->id)
        return true;
    *step = p->step;
    return p->affine;
}

static void classify(struct gen *g, const struct open *o, int e)
{
    const struct x *x = &g->c->x.x[e];
    struct placed *p = &g->placed[e];
    int64_t sa, sb = 0;
    bool a = step_of(g, o, x->a, &sa), b = !has_b(x->op) || step_of(g, o, x->b, &sb);

    p->affine = a && b && (x->op == X_ADD || x->op == X_ADDC || x->op == X_MULC);
    p->step = x->op == X_MULC ? wrap_mul(sa, x->c) : wrap_add(sa, sb);
}

static bool power_of_two(int64_t c)
{
    return c > 0 && (c & (c - 1)) == 0;
}

static void emit_index(struct gen *g, int e)
{
    static const enum ins_op op[] = {
        [X_ADD] = INS_X_ADD, [X_ADDC] = INS_X_ADDC, [X_MUL] = INS_X_MUL, [X_MULC] = INS_X_MULC,
        [X_DIV] = INS_X_DIV, [X_MOD] = INS_X_MOD,   [X_LT] = INS_X_LT,   [X_LTC] = INS_X_LTC,
        [X_GTC] = INS_X_GTC, [X_IN] = INS_X_IN,     [X_AND] = INS_X_AND, [X_XOR] = INS_X_XOR,
    };
    const struct x x = g->c->x.x[e];
    struct ins *p = gen_emit(g, op[x.op], e, x.a, x.b);

    p->k = x.c;
    if (x.op == X_DIV && power_of_two(x.c)) {
        p->op = INS_X_SHIFT;
        p->k = __builtin_ctzll((unsigned long long)x.c);
    } else if (x.op == X_MOD && power_of_two(x.c)) {
        p->op = INS_X_MASK;
        p->k = x.c - 1;
    }
}

/* What is not incremented is recomputed, and then its operands must be kept too. */
static void mark_used(struct gen *g, const struct open *o)
{
    for (int i = o->n - 1; i >= 0; i--) {
        const struct x *x = &g->c->x.x[o->list[i]];

        if (g->placed[o->list[i]].affine)
            continue;
        g->placed[x->a].used = true;
        if (has_b(x->op))
            g->placed[x->b].used = true;
    }
}

/* A body that only adds products of two loads to a scalar runs as one instruction: which
 * (HALT = none). */
static enum ins_op dot_for(const struct gen *g, const struct open *o, int next)
{
    static const struct {
        enum ins_op dot, load, muladd;
    } dots[] = {
#define DOT(id, ring, load, muladd, member) { INS_##id, INS_LOAD_##load, INS_##muladd },
#include "run/interp_ops.def"
    };
    const struct ins *p = &g->c->ins[o->head + 1];

    if (next != o->head + 4 ||
        !((p[2].a == p[0].d && p[2].b == p[1].d) || (p[2].a == p[1].d && p[2].b == p[0].d)))
        return INS_HALT;
    for (size_t i = 0; i < sizeof dots / sizeof dots[0]; i++)
        if (p[0].op == (int)dots[i].load && p[1].op == p[0].op &&
            p[2].op == (int)dots[i].muladd)
            return dots[i].dot;
    return INS_HALT;
}

/* By how much does the index in register reg grow? It is a sum, or nothing of the loop. */
static int64_t growth(const struct gen *g, const struct open *o, int reg)
{
    int64_t step;

    step_of(g, o, reg, &step);
    return step;
}

/* The two steps stand in inc[] like those of NEXT. */
static void emit_dot(struct gen *g, const struct open *o, enum ins_op dot)
{
    struct code *c = g->c;
    const struct ins body[2] = { c->ins[o->head + 1], c->ins[o->head + 2] };

    gen_emit(g, dot, 0, c->n_inc, 0);
    for (int i = 0; i < 2; i++)
        *arena_push(c->arena, c->inc, c->n_inc, c->cap_inc) =
            (struct inc){ body[i].a, growth(g, o, body[i].a) };
}

/* The sums, which NEXT increments as far as anybody reads them again. */
static void emit_sums(struct gen *g, const struct open *o, int next)
{
    struct code *c = g->c;

    for (int i = 0; i < o->n; i++) {
        const struct placed *p = &g->placed[o->list[i]];

        if (!p->affine)
            continue;
        emit_index(g, o->list[i]);
        if (o->var < 0 || !p->used || !p->step)
            continue;
        *arena_push(c->arena, c->inc, c->n_inc, c->cap_inc) =
            (struct inc){ o->list[i], p->step };
        c->ins[next].b++;
    }
}

/* What is computed anew in every iteration; false = nothing. */
static bool emit_rest(struct gen *g, const struct open *o)
{
    int from = g->c->n;

    for (int i = 0; i < o->n; i++)
        if (!g->placed[o->list[i]].affine)
            emit_index(g, o->list[i]);
    return g->c->n > from;
}

void gen_close(struct gen *g)
{
    struct code *c = g->c;
    struct open *o = &g->open[g->n_open - 1];
    int next = c->n, body = o->head + 1, first = next + 1, again;
    bool rest, kernel = o->var < 0;
    enum ins_op dot;

    for (int i = 0; i < o->n; i++)
        classify(g, o, o->list[i]);
    mark_used(g, o);
    gen_emit(g, kernel ? INS_JUMP : INS_NEXT, o->var, c->n_inc, 0)->k = o->extent;
    emit_sums(g, o, next);
    again = c->n;
    rest = emit_rest(g, o);
    dot = kernel || rest ? INS_HALT : dot_for(g, o, next);
    if (dot != INS_HALT)
        emit_dot(g, o, dot);
    else
        gen_emit(g, INS_JUMP, 0, 0, 0);
    c->ins[c->n - 1].c = body;
    c->ins[c->n - 1].e = c->n;
    c->ins[o->head].a = c->ins[o->head].c = first;
    c->ins[o->head].e = c->n;
    c->ins[next].c = kernel ? c->n : rest ? again : body;
    c->ins[next].e = c->n;
    g->n_open--;
}
