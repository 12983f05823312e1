/*
 * The generator's door: presets, one trial from (seed, number), and the retry when a draw
 * was given up.
 */
#include <math.h>
#include <string.h>

#include "base/bug.h"
#include "fuzz/gen/build.h"

static void family_all(struct gen *g)
{
    static void (*const family[])(struct gen *) = { family_matmul, family_spelled,
                                                    family_fused,  family_views,
                                                    family_mixed,  family_attention };
    int rest = 100 - g->o->attention_percent;
    const int weight[] = { 27 * rest, 5 * rest,  26 * rest,
                           22 * rest, 20 * rest, 100 * g->o->attention_percent };

    if (!gen_may(g, OP_ATTENTION))
        family[rest ? rng_weighted(&g->rng, weight, 5) : 0](g);
    else
        family[rng_weighted(&g->rng, weight, 6)](g);
}

static const struct {
    const char *name, *help;
    void (*draw)(struct gen *g);
} presets[PRESET_COUNT] = {
    [PRESET_ALL] = { "all", "a weighted mix of the others, and programs of anything",
                     family_all },
    [PRESET_MATMUL] = { "matmul",
                        "matrix products, as a node or spelled by small ops, behind "
                        "views, with epilogues",
                        family_matmul },
    [PRESET_MHA] = { "mha",
                     "attention, as a node or as a graph of primitive ones, heads split by "
                     "views",
                     family_mha },
    [PRESET_FUSED] = { "fused", "elementwise chains, broadcasts, reductions with epilogues",
                       family_fused },
    [PRESET_VIEWS] = { "views", "chains of permute, reshape, expand, slice and pad",
                       family_views },
};

const char *preset_name(enum preset p)
{
    return presets[p].name;
}

const char *preset_help(enum preset p)
{
    return presets[p].help;
}

bool preset_parse(const char *s, enum preset *p)
{
    for (int i = 0; i < PRESET_COUNT; i++)
        if (strcmp(presets[i].name, s) == 0) {
            *p = (enum preset)i;
            return true;
        }
    return false;
}

bool gen_draws_op(enum op op)
{
    return op != OP_COUNT;
}

bool gen_draws_step(enum step_kind kind)
{
    return kind != STEP_COUNT && kind != STEP_SET && !gen_draws_gpu_step(kind);
}

bool gen_draws_gpu_step(enum step_kind kind)
{
    return step_is_gpu(&(struct step){ .kind = kind });
}

void gen_opts_default(struct gen_opts *o)
{
    *o = (struct gen_opts){
        .preset = PRESET_ALL,
#define KNOB(name, type, dflt, low, high, help) .name = dflt,
#include "fuzz/gen/knobs.def"
#undef KNOB
    };
    for (int i = 0; i < OP_COUNT; i++)
        o->op[i] = true;
    for (int i = 0; i < STEP_COUNT; i++)
        o->step[i] = true;
}

/* Does some output change with the data and hold more than a few bits? Otherwise a kernel
 * that does nothing might pass. */
static bool trusted(const struct gen *g)
{
    for (int i = 0; i < g->p->n_out; i++) {
        int x = g->p->out[i].node, at = x;
        const struct node *n = gen_at(g, x);
        int64_t count = shape_count(&n->sh);

        while (gen_at(g, at)->op == OP_COPY || gen_at(g, at)->op == OP_RESHAPE)
            at = gen_at(g, at)->arg[0].node;
        if (g->hint[x].varies && count > 0 && gen_at(g, at)->op != OP_INPUT &&
            (n->dt != DT_BOOL || count >= 12) && (gen_at(g, at)->op != OP_ARGMAX || count >= 8))
            return true;
    }
    return false;
}

/* A cast whose result is an output: layouts of outputs matter most where dtypes differ. */
static void cast_output(struct gen *g)
{
    int n = g->p->n, x = (int)rng_below(&g->rng, (uint64_t)n);
    const struct node *at = gen_at(g, x);
    int64_t count = shape_count(&at->sh);
    enum dtype to;

    if (!gen_may(g, OP_CAST) || count < 2 || count > 400 || at->sh.rank == 0 ||
        !g->hint[x].varies)
        return;
    to = gen_other(g, at->dt);
    if (to == DT_BOOL || (to == DT_I32 && dtype_is_float(at->dt) && !g->hint[x].exact))
        return;
    if (dtype_limit(to) >= fmax(fabs(g->hint[x].lo), fabs(g->hint[x].hi)))
        gen_output(g, gen_cast(g, x, to));
}

/* Outputs: what nobody reads, and now and then something that somebody does. */
static void choose_outputs(struct gen *g)
{
    int n = g->p->n;

    for (int i = 0; i < n; i++)
        if (!op_is_source(gen_at(g, i)->op) && gen_readers(g, i) == 0)
            gen_output(g, i);
    if (rng_chance(&g->rng, 1, 8)) {
        int x = (int)rng_below(&g->rng, (uint64_t)n);

        if (!op_is_source(gen_at(g, x)->op))
            gen_output(g, x);
    }
    if (rng_chance(&g->rng, 1, 10))
        cast_output(g);
    if (!trusted(g)) {
        int x = g->p->out[0].node;
        struct shape sh = gen_at(g, x)->sh;

        if (shape_count(&sh) == 0 || !g->hint[x].varies || gen_at(g, x)->dt == DT_BOOL) {
            gen_output(g, reduce_big(g, g->want / 2));
        } else {
            x = gen_binary(g, gen_may(g, OP_ADD) ? OP_ADD : OP_MUL, NODE(x), LIT(3));
            g->p->out[0].node = x;
        }
    }
}

/* When nothing of the preset fits the knobs: one op, or an input handed through. */
static void draw_least(struct gen *g)
{
    struct shape sh = { .rank = 2, .dim = { 2, 3 } };
    int x = gen_input(g, DT_F32, &sh);

    for (int op = 0; op < OP_COUNT; op++)
        if (gen_may(g, (enum op)op) && op_info((enum op)op)->class == OPC_UNARY &&
            op_takes((enum op)op, DT_F32)) {
            x = gen_unary(g, (enum op)op, x);
            break;
        }
    gen_output(g, x);
}

enum { MAX_ATTEMPTS = 60 };

static void restart(struct gen *g)
{
    g->t->prog = (struct prog){ 0 };
    g->t->values = NULL;
    g->t->n_values = g->t->cap_values = 0;
    g->t->step = NULL;
    g->t->n_step = g->t->cap_step = 0;
    g->hint = NULL;
    g->cap_hint = g->n_line = g->depth = 0;
    g->work = g->madds = 0;
    size_begin(g);
    dtype_begin(g);
}

/* One program; a draw that was given up is drawn again, further down the stream. */
static void draw_graph(struct gen *g, struct rng *assign)
{
    setjmp(g->again);
    restart(g);
    if (g->attempt++ < MAX_ATTEMPTS) {
        if (!g->gpu || !family_gpu(g))
            presets[g->o->preset].draw(g);
        choose_outputs(g);
        layout_outputs(g);
        if (g->assign)
            assign_append(g, assign);
    } else {
        draw_least(g);
    }
}

static bool wants_assign(const struct gen *g, struct rng *r)
{
    enum preset p = g->o->preset;

    return gen_may(g, OP_ASSIGN) &&
           (p == PRESET_ALL || p == PRESET_VIEWS || p == PRESET_FUSED) &&
           rng_chance(r, g->o->assign_percent, 100);
}

struct trial *gen_trial(uint64_t seed, uint64_t number, const struct gen_opts *o,
                        struct arena *a, struct arena *scratch)
{
    struct gen *g = arena_new(a, struct gen);
    struct rng r, assign;

    g->t = arena_new(a, struct trial);
    g->p = &g->t->prog;
    g->o = o;
    g->a = a;
    rng_init_named(&r, seed, number, "gpu");
    g->gpu = rng_chance(&r, (uint64_t)o->gpu_percent, 100);
    rng_init_named(&r, seed, number, "data");
    data_draw(&r, o, g->t);
    rng_init_named(&assign, seed, number, "assign");
    g->assign = wants_assign(g, &assign);
    rng_init_named(&g->rng, seed, number, "graph");
    rng_init_named(&r, seed, number, "schedule");
    do
        draw_graph(g, &assign);
    while (!(g->gpu ? sched_draw_gpu : sched_draw)(&r, o, g->t, a, scratch) &&
           g->attempt <= MAX_ATTEMPTS);
    rng_init_named(&r, seed, number, "set");
    set_draw(&r, o, g->t, a);
    return g->t;
}
