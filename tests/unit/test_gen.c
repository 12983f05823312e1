/*
 * The generator: every trial is legal, survives the round trip through text, is the same
 * whenever it is drawn; all ops, steps, dtypes, recipes, masks and algorithms occur; sizes hit
 * their aims; what the ring can't say is not drawn.
 */
#include "testing.h"

#include <stdio.h>
#include <string.h>

#include "fuzz/gen/gen.h"
#include "fuzz/gen/stats.h"
#include "ir/text.h"
#include "lower/lower.h"

enum { TRIALS = 3000 };

struct room {
    struct arena trial, again, scratch;
};

static int setup(void **state)
{
    static struct room r;

    arena_init(&r.trial);
    arena_init(&r.again);
    arena_init(&r.scratch);
    *state = &r;
    return 0;
}

static int teardown(void **state)
{
    struct room *r = *state;

    arena_release(&r->trial);
    arena_release(&r->again);
    arena_release(&r->scratch);
    return 0;
}

static void text_of(const struct trial *t, struct str *s)
{
    str_clear(s);
    trial_print(t, s);
}

/* Legal, lowers, prints and parses to itself. */
static void check_one(struct room *r, const struct trial *t, int number)
{
    struct lower_opts lo = LOWER_OPTS_DEFAULT;
    struct str text = { 0 }, back = { 0 };
    struct trial *parsed;
    struct lprog *l;
    struct err e;

    text_of(t, &text);
    if (trial_check(t, &e))
        fail_msg("trial %d is illegal: %s\n%s", number, e.msg, str_get(&text));
    arena_reset(&r->scratch);
    if (lower(t, &lo, &r->scratch, &l, &e))
        fail_msg("trial %d does not lower: %s\n%s", number, e.msg, str_get(&text));
    arena_reset(&r->scratch);
    if (trial_parse(text.s, text.n, &r->scratch, &parsed, &e))
        fail_msg("trial %d does not parse: %s\n%s", number, e.msg, str_get(&text));
    text_of(parsed, &back);
    assert_string_equal(str_get(&text), str_get(&back));
    assert_true(trial_key(t) == trial_key(parsed));
    str_release(&text);
    str_release(&back);
}

static void check_preset(struct room *r, enum preset preset, struct gen_stats *stats)
{
    struct gen_opts o;

    gen_opts_default(&o);
    o.preset = preset;
    for (int i = 0; i < TRIALS; i++) {
        const struct trial *t;

        arena_reset(&r->trial);
        t = gen_trial(11, (uint64_t)i, &o, &r->trial, &r->scratch);
        check_one(r, t, i);
        gen_stats_add(stats, t);
    }
}

/* All steps for GPUs occur, in trials that lower for a GPU as well. */
static void trials_for_gpus_are_legal_and_draw_every_step(void **state)
{
    struct gen_stats *stats = gen_stats_new();
    struct lower_opts lo = LOWER_OPTS_DEFAULT;
    struct room *r = *state;
    int mma = 0, async = 0, ring = 0, flash = 0, mode[SPLITK_ATOMIC + 1] = { 0 };

    lo.target = TARGET_GPU;
    for (int i = 0; i < TRIALS; i++) {
        struct gen_opts o;
        struct trial *t;
        struct lprog *l;
        struct err e;

        gen_opts_default(&o);
        o.preset = (enum preset)(i % PRESET_COUNT);
        o.gpu_percent = 100;
        arena_reset(&r->trial);
        t = gen_trial(11, (uint64_t)i, &o, &r->trial, &r->scratch);
        check_one(r, t, i);
        arena_reset(&r->scratch);
        if (lower(t, &lo, &r->scratch, &l, &e))
            fail_msg("trial %d does not lower for a GPU: %s", i, e.msg);
        gen_stats_add(stats, t);
        for (int k = 0; k < t->n_step; k++) {
            mma += t->step[k].mma;
            async += t->step[k].async;
            ring += t->step[k].kind == STEP_STAGE && t->step[k].depth > 2;
            flash += t->step[k].kind == STEP_ALGO && t->step[k].algo == ALGO_FLASH;
            mode[t->step[k].mode]++;
        }
    }
    for (int k = 0; k < STEP_COUNT; k++)
        if (gen_draws_gpu_step((enum step_kind)k) &&
            gen_stats_step(stats, (enum step_kind)k) < 60)
            fail_msg("step %s is hardly drawn", step_info((enum step_kind)k)->name);
    assert_true(mma >= 60 && flash >= 60 && async >= 200 && ring >= 200);
    for (int m = SPLITK_WORKSPACE; m <= SPLITK_ATOMIC; m++)
        assert_true(mode[m] >= 20);
    gen_stats_free(stats);
}

/* A share of the trials, and the others are what they are without. */
static void gpu_percent_leaves_the_other_trials_as_they_are(void **state)
{
    struct str with = { 0 }, without = { 0 };
    struct room *r = *state;
    struct gen_opts o;
    int n = 0;

    gen_opts_default(&o);
    for (int i = 0; i < 300; i++) {
        o.gpu_percent = 0;
        arena_reset(&r->trial);
        text_of(gen_trial(3, (uint64_t)i, &o, &r->trial, &r->scratch), &without);
        o.gpu_percent = 30;
        arena_reset(&r->trial);
        text_of(gen_trial(3, (uint64_t)i, &o, &r->trial, &r->scratch), &with);
        n += strcmp(str_get(&with), str_get(&without)) != 0;
    }
    assert_in_range(n, 60, 120);
    str_release(&with);
    str_release(&without);
}

static void every_trial_is_legal_and_round_trips(void **state)
{
    for (int p = 0; p < PRESET_COUNT; p++) {
        struct gen_stats *stats = gen_stats_new();

        if (p != PRESET_ALL)
            check_preset(*state, (enum preset)p, stats);
        gen_stats_free(stats);
    }
}

static void preset_all_draws_every_op_and_step_and_hits_its_aims(void **state)
{
    struct gen_stats *stats = gen_stats_new();

    check_preset(*state, PRESET_ALL, stats);
    for (int op = 0; op < OP_COUNT; op++)
        if (gen_draws_op((enum op)op) && gen_stats_op(stats, (enum op)op) < 5)
            fail_msg("op %s is hardly drawn", op_info((enum op)op)->name);
    for (int k = 0; k < STEP_COUNT; k++)
        if (gen_draws_step((enum step_kind)k) && gen_stats_step(stats, (enum step_kind)k) < 60)
            fail_msg("step %s is hardly drawn", step_info((enum step_kind)k)->name);
    for (int dt = 0; dt < DT_COUNT; dt++)
        if (gen_stats_dtype(stats, (enum dtype)dt) < TRIALS / 25)
            fail_msg("dtype %s is hardly drawn", dtype_info((enum dtype)dt)->name);
    assert_true(gen_stats_dtype(stats, DT_F32) > TRIALS / 2);
    for (int r = 0; r < RECIPE_EXACT; r++)
        if (gen_stats_recipe(stats, (enum recipe)r) < TRIALS / 80)
            fail_msg("recipe %s is hardly drawn", recipe_name((enum recipe)r));
    assert_true(gen_stats_quantile(stats, STAT_NODES, 1, 2) >= 5);
    assert_true(gen_stats_quantile(stats, STAT_STEPS, 1, 2) >= 3);
    assert_true(gen_stats_quantile(stats, STAT_MUL_ADDS, 1, 2) >= 2000);
    assert_true(gen_stats_quantile(stats, STAT_WORK, 1, 1) <= 60000);
    gen_stats_free(stats);
}

/* What a hunt must have met of attention, and of schedules of composites. */
struct met {
    int mask[MASK_COUNT], empty[EMPTY_COUNT], algo[ALGO_COUNT];
    int grouped, unequal, ragged_block, part, wide_acc, half_acc;
};

static void meet_attention(struct met *m, const struct prog *p, const struct node *n)
{
    const struct shape *q = &p->node[n->arg[0].node].sh, *k = &p->node[n->arg[1].node].sh;

    m->mask[n->mask]++;
    m->empty[n->empty]++;
    m->grouped += q->dim[q->rank - 3] > k->dim[k->rank - 3] && k->dim[k->rank - 3] > 1;
    m->unequal += q->dim[q->rank - 2] != k->dim[k->rank - 2];
}

static void meet_step(struct met *m, const struct prog *p, const struct step *s)
{
    m->part += s->part[0] || s->part[1] || (s->n_axis && s->axis[0].part);
    if (s->kind != STEP_ALGO)
        return;
    m->algo[s->algo]++;
    if (s->algo != ALGO_DECOMPOSED && p->node[s->node[0]].op == OP_ATTENTION) {
        const struct shape *k = &p->node[p->node[s->node[0]].arg[1].node].sh;

        m->ragged_block += k->dim[k->rank - 2] % s->n != 0;
    }
}

static void preset_mha_draws_every_mask_and_algorithm(void **state)
{
    struct room *r = *state;
    struct met m = { 0 };
    struct gen_opts o;

    gen_opts_default(&o);
    o.preset = PRESET_MHA;
    for (int i = 0; i < TRIALS; i++) {
        const struct trial *t;

        arena_reset(&r->trial);
        t = gen_trial(12, (uint64_t)i, &o, &r->trial, &r->scratch);
        for (int k = 0; k < t->prog.n; k++) {
            const struct node *n = &t->prog.node[k];

            if (n->op == OP_ATTENTION)
                meet_attention(&m, &t->prog, n);
            m.wide_acc += n->acc_given && n->acc == DT_F64;
            m.half_acc += n->acc_given && n->acc == n->dt;
        }
        for (int k = 0; k < t->n_step; k++)
            meet_step(&m, &t->prog, &t->step[k]);
    }
    for (int i = 0; i < MASK_COUNT; i++)
        assert_true(m.mask[i] > TRIALS / 60);
    for (int i = 0; i < EMPTY_COUNT; i++)
        assert_true(m.empty[i] > TRIALS / 10);
    for (int i = 0; i < ALGO_COUNT; i++)
        if (i != ALGO_FLASH)
            assert_true(m.algo[i] > TRIALS / 100);
    assert_int_equal(m.algo[ALGO_FLASH], 0);
    assert_true(m.grouped > TRIALS / 60 && m.unequal > TRIALS / 10);
    assert_true(m.ragged_block > TRIALS / 20 && m.part > TRIALS / 5);
    assert_true(m.wide_acc > TRIALS / 100 && m.half_acc > TRIALS / 100);
}

/* Only given and counted integers, which are the same in both algebras. */
static bool is_counted(const struct prog *p, int x)
{
    const struct node *n = &p->node[x];

    if (n->dt != DT_I32 || n->op == OP_ARGMAX)
        return false;
    for (int i = 0; i < n->n_arg; i++)
        if (n->arg[i].node >= 0 && !is_counted(p, n->arg[i].node))
            return false;
    return true;
}

/* The ring's least word does not fit a half. */
static bool is_empty_extreme(const struct prog *p, const struct node *n)
{
    const struct shape *x = n->n_arg ? &p->node[n->arg[0].node].sh : NULL;

    return (n->op == OP_MAX || n->op == OP_MIN) && dtype_info(n->dt)->bytes == 2 &&
           shape_count(x) == 0 && shape_count(&n->sh) > 0;
}

static void what_the_ring_cant_say_is_not_drawn(void **state)
{
    struct room *r = *state;
    struct gen_opts o;
    int gathers = 0;

    gen_opts_default(&o);
    for (int i = 0; i < 3 * TRIALS; i++) {
        const struct trial *t;

        arena_reset(&r->trial);
        t = gen_trial(13, (uint64_t)i, &o, &r->trial, &r->scratch);
        for (int k = 0; k < t->prog.n; k++) {
            const struct node *n = &t->prog.node[k];

            gathers += n->op == OP_GATHER;
            if (n->op == OP_GATHER && !is_counted(&t->prog, n->arg[1].node))
                fail_msg("trial %d: the index of gather %s is no counted integer", i, n->name);
            if (is_empty_extreme(&t->prog, n))
                fail_msg("trial %d: %s is an empty maximum of halves", i, n->name);
        }
    }
    assert_true(gathers > TRIALS / 25);
}

static void a_trial_is_the_same_whenever_it_is_drawn(void **state)
{
    struct room *r = *state;
    struct str one = { 0 }, two = { 0 };
    struct gen_opts o;

    gen_opts_default(&o);
    for (int i = 199; i >= 0; i--) { /* another order, used arenas */
        arena_reset(&r->trial);
        text_of(gen_trial(5, (uint64_t)i, &o, &r->trial, &r->scratch), &one);
        arena_reset(&r->again);
        gen_trial(6, (uint64_t)i, &o, &r->again, &r->scratch);
        text_of(gen_trial(5, (uint64_t)i, &o, &r->again, &r->scratch), &two);
        assert_string_equal(str_get(&one), str_get(&two));
    }
    str_release(&one);
    str_release(&two);
}

static void ops_and_steps_can_be_left_out(void **state)
{
    struct room *r = *state;
    struct gen_opts o;

    gen_opts_default(&o);
    o.op[OP_MATMUL] = o.op[OP_PAD] = o.op[OP_EXP] = o.op[OP_ATTENTION] = false;
    o.step[STEP_FUSE] = o.step[STEP_UNROLL] = o.step[STEP_ALGO] = false;
    for (int i = 0; i < 300; i++) {
        const struct trial *t;

        arena_reset(&r->trial);
        t = gen_trial(3, (uint64_t)i, &o, &r->trial, &r->scratch);
        check_one(r, t, i);
        for (int k = 0; k < t->prog.n; k++)
            assert_true(t->prog.node[k].op == OP_INPUT || o.op[t->prog.node[k].op]);
        for (int k = 0; k < t->n_step; k++)
            assert_true(o.step[t->step[k].kind]);
    }
}

/* A single op must do, whatever it is; and tiny knobs. */
static void narrow_options_still_give_legal_trials(void **state)
{
    struct room *r = *state;
    struct gen_opts o;

    for (int op = OP_INPUT + 1; op < OP_COUNT; op++) {
        gen_opts_default(&o);
        memset(o.op, 0, sizeof o.op);
        o.op[op] = true;
        for (int i = 0; i < 10; i++) {
            arena_reset(&r->trial);
            check_one(r, gen_trial(1, (uint64_t)i, &o, &r->trial, &r->scratch), i);
        }
    }
    gen_opts_default(&o);
    o.max_elements = 16;
    o.max_work = 64;
    o.max_nodes = 1;
    o.max_steps = 0;
    for (int i = 0; i < 50; i++) {
        arena_reset(&r->trial);
        check_one(r, gen_trial(1, (uint64_t)i, &o, &r->trial, &r->scratch), i);
    }
}

/* Every value but the first of each knob, and the program and other steps as they are without.
 */
static void knobs_of_others_are_drawn_beside_all_else(void **state)
{
    struct str with = { 0 }, without = { 0 };
    struct room *r = *state;
    int seen[3] = { 0 };
    struct gen_opts o;

    assert_true(gen_set_legal("a.x=0/1,b.y=p/q/r") && gen_set_legal(""));
    assert_false(gen_set_legal("a.x") || gen_set_legal("x=0/1") || gen_set_legal("a.x=0/") ||
                 gen_set_legal("a.x=0/-1"));
    gen_opts_default(&o);
    for (int i = 0; i < 200; i++) {
        struct trial *t;

        o.set[0] = '\0';
        arena_reset(&r->trial);
        text_of(gen_trial(3, (uint64_t)i, &o, &r->trial, &r->scratch), &without);
        strcpy(o.set, "a.x=0/1,b.y=p/q/r,a.x=0/1");
        arena_reset(&r->trial);
        t = gen_trial(3, (uint64_t)i, &o, &r->trial, &r->scratch);
        check_one(r, t, i);
        while (t->n_step && t->step[t->n_step - 1].kind == STEP_SET) {
            const struct step *s = &t->step[--t->n_step];

            assert_true(!strcmp(s->knob, "a.x") || !strcmp(s->knob, "b.y"));
            assert_non_null(strchr(s->knob[0] == 'a' ? "1" : "qr", s->value[0]));
            seen[s->value[0] == '1' ? 0 : s->value[0] == 'q' ? 1 : 2]++;
        }
        text_of(t, &with);
        assert_string_equal(str_get(&with), str_get(&without));
    }
    assert_in_range(seen[0], 70, 150); /* from either of the two places */
    assert_in_range(seen[1], 15, 60);
    assert_in_range(seen[2], 15, 60);
    str_release(&with);
    str_release(&without);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trials_for_gpus_are_legal_and_draw_every_step),
        cmocka_unit_test(gpu_percent_leaves_the_other_trials_as_they_are),
        cmocka_unit_test(every_trial_is_legal_and_round_trips),
        cmocka_unit_test(preset_all_draws_every_op_and_step_and_hits_its_aims),
        cmocka_unit_test(preset_mha_draws_every_mask_and_algorithm),
        cmocka_unit_test(what_the_ring_cant_say_is_not_drawn),
        cmocka_unit_test(a_trial_is_the_same_whenever_it_is_drawn),
        cmocka_unit_test(ops_and_steps_can_be_left_out),
        cmocka_unit_test(narrow_options_still_give_legal_trials),
        cmocka_unit_test(knobs_of_others_are_drawn_beside_all_else),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
