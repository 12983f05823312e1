/*
 * assign beyond the judge: where the generator puts it (and that nothing else changes), the
 * schedule that lets it be wrong, and which scripts for Python write in place.
 */
#include "reading.h"

#include <string.h>

#include "base/bug.h"
#include "fuzz/gen/gen.h"
#include "fuzz/python/python.h"
#include "lower/lower.h"

static struct arena arena, scratch;

static int find_assign(const struct prog *p)
{
    for (int i = 0; i < p->n; i++)
        if (p->node[i].op == OP_ASSIGN)
            return i;
    return -1;
}

static bool depends(const struct prog *p, int node, int on)
{
    bool *need = arena_array(&scratch, bool, p->n);

    need[node] = true;
    for (int i = node; i >= 0; i--)
        for (int k = 0; need[i] && k < p->node[i].n_arg; k++)
            if (p->node[i].arg[k].node >= 0)
                need[p->node[i].arg[k].node] = true;
    return need[on];
}

static void text_of(const struct trial *t, struct str *s)
{
    str_clear(s);
    trial_print(t, s);
}

/* A few trials have one, on what they would have been without; the others are as before. */
static void few_trials_and_no_others(void **state)
{
    static const enum preset preset[] = { PRESET_ALL, PRESET_VIEWS, PRESET_FUSED };
    int met[3] = { 0 }, wide = 0, shifted = 0, literals = 0, inside = 0, all = 0;
    struct str with = { 0 }, without = { 0 };

    (void)state;
    for (int i = 0; i < 6000; i++) {
        struct gen_opts o;
        const struct trial *t, *u;
        const struct node *n;
        int at;

        arena_reset(&arena);
        gen_opts_default(&o);
        o.preset = preset[i % 3];
        t = gen_trial(21, (uint64_t)i, &o, &arena, &scratch);
        text_of(t, &with);
        o.assign_percent = 0;
        u = gen_trial(21, (uint64_t)i, &o, &arena, &scratch);
        text_of(u, &without);
        at = find_assign(&t->prog);
        assert_true(find_assign(&u->prog) < 0);
        if (at < 0) {
            assert_string_equal(str_get(&with), str_get(&without));
            continue;
        }
        all++;
        met[i % 3]++;
        n = &t->prog.node[at];
        assert_true(n->sh.rank >= 1);
        wide += n->sh.dim[n->sh.rank - 1] >= 8;
        literals += n->arg[1].node < 0;
        shifted += n->arg[1].node >= 0 && depends(&t->prog, n->arg[1].node, n->arg[0].node);
        inside += at < t->prog.n - 1;
    }
    for (int k = 0; k < 3; k++)
        if (met[k] < 30 || met[k] > 100)
            fail_msg("preset %s: %d of 2000 trials", preset_name(preset[k]), met[k]);
    assert_true(wide > all / 3 && shifted > all / 2 && inside > all / 3);
    assert_true(literals > 0 && literals < all / 6);
    str_release(&with);
    str_release(&without);
}

static void other_presets_and_excluded_ops(void **state)
{
    (void)state;
    for (int i = 0; i < 600; i++) {
        struct gen_opts o;

        arena_reset(&arena);
        gen_opts_default(&o);
        o.assign_percent = 100;
        o.preset = i % 3 ? PRESET_ALL : i % 2 ? PRESET_MATMUL : PRESET_MHA;
        o.op[OP_ASSIGN] = i % 3 == 0;
        assert_true(find_assign(&gen_trial(22, (uint64_t)i, &o, &arena, &scratch)->prog) < 0);
    }
}

static struct trial *parse(const char *text)
{
    return read_good(text, &arena);
}

#define TOP "tilefuzz 1\ninput x f32 [9]\nc = neg x\n"

/* Does y lie where c lies? */
static bool shares(const char *text, enum fault fault)
{
    struct lower_opts o = LOWER_OPTS_DEFAULT;
    struct lprog *l;
    struct err e;
    int64_t at[2];

    o.fault = fault;
    assert_int_equal(lower(parse(text), &o, &arena, &l, &e), 0);
    for (int k = 0; k < 2; k++)
        at[k] = l->buffer[l->node_buffer[prog_find(l->prog, k ? "y" : "c", 1)]].arena_at;
    return at[0] == at[1];
}

static void the_plan_sees_what_overlaps(void **state)
{
    static const char *const shifted =
        TOP "v = slice c [0:8]\ny = assign c v [1:9]\nz = neg y\noutput z\n";

    (void)state;
    assert_false(shares(shifted, FAULT_none));
    assert_true(shares(shifted, FAULT_inplace_overlapping_shift));
    assert_true(shares(TOP "y = assign c 3 [1:9:2]\nz = neg y\noutput z\n", FAULT_none));
}

/* Scripts write over c where nobody looks there later: by form, `eager` or `lazy`. */
static void scripts_write_in_place_where_they_may(void **state)
{
    static const struct {
        const char *text;
        bool eager, lazy;
    } cases[] = {
        { TOP "v = slice c [0:8]\ny = assign c v [1:9]\noutput y\n", true, true },
        { TOP "v = slice c [0:8]\nw = neg v\ny = assign c w [1:9]\noutput y\n", true, true },
        { "tilefuzz 1\ninput c f32 [9]\ny = assign c 1 [1:9]\noutput y\n", false, false },
        { TOP "y = assign c 1 [1:9]\noutput y\noutput c\n", false, false },
        { TOP "y = assign c 1 [1:9]\nz = add y c\noutput z\n", false, false },
        { TOP "v = slice c [0:8]\ny = assign c v [1:9]\nz = neg v\noutput y\noutput z\n", false,
          false },
        { TOP "v = cast c f32\ny = assign c 1 [1:9]\noutput y\noutput v\n", false, false },
        { TOP "v = reshape c [3,3]\nw = copy v\ny = assign c 1 [1:9]\noutput y\noutput w\n",
          false, false },
        { TOP "d = abs c\ny = assign c 1 [1:9]\noutput y\noutput d\n", true, false },
        { TOP "y = assign c 1 [1:9]\nz = assign y 2 [0:1]\noutput z\n", true, true },
    };
    struct str s = { 0 };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        for (int lazy = 0; lazy < 2; lazy++) {
            const char *form = lazy ? "tinygrad.py" : "numpy.py";
            bool want = lazy ? cases[i].lazy : cases[i].eager;
            struct err e = { 0 };

            str_clear(&s);
            if (python_script(parse(cases[i].text), form, "", "", &s, &e))
                fail_msg("%s", e.msg);
            if ((strstr(str_get(&s), ", True)\n") != NULL) != want ||
                (strstr(str_get(&s), ", False)\n") != NULL) == want)
                fail_msg("%s:\n%s", form, str_get(&s));
        }
    str_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_trials_and_no_others),
        cmocka_unit_test(other_presets_and_excluded_ops),
        cmocka_unit_test(the_plan_sees_what_overlaps),
        cmocka_unit_test(scripts_write_in_place_where_they_may),
    };

    arena_init(&arena);
    arena_init(&scratch);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
