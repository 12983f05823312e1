/* Attention by flash against the judge, run by interp and tcc: every mask, ragged blocks,
 * grouped heads, rows that see nothing, all dtypes, slices; at every rewrite too. */
#include "reading.h"

#include <stdio.h>
#include <string.h>

#include "emit/emit.h"
#include "judge/judge.h"
#include "lower/lower.h"
#include "run/run.h"

static struct run_env env;
static struct arena arena;

static struct trial *parse(const char *text)
{
    return read_good(text, &arena);
}

static struct lprog *lowered(const struct trial *t, const struct lower_opts *o)
{
    struct lprog *l;
    struct err e = { 0 };

    if (lower(t, o, &arena, &l, &e))
        fail_msg("line %d: %s", e.line, e.msg);
    return l;
}

static void run_on(const char *name, const struct lprog *l, enum algebra al, struct outcome *o)
{
    const struct backend *b = backend_find(name);
    struct prepared p = { 0 };
    struct str text = { 0 };

    run_begin(&env);
    env.step_limit = 1 << 24;
    *o = (struct outcome){ 0 };
    if (strcmp(name, "interp") != 0)
        emit_c(l, &text);
    if (b->prepare(&env, l, str_get(&text), &p, o) == 0) {
        b->run(&env, &p, al, o);
        if (b->release)
            b->release(&p);
    }
    str_release(&text);
}

/* Is what backend `name` computes right in every element? */
static bool right(const struct trial *t, const struct lprog *l, const char *name,
                  enum algebra al)
{
    struct judge_opts jo = { 0 };
    struct verdict v = { 0 };
    struct outcome o;

    run_on(name, l, al, &o);
    judge_compare(judge_want(t, al, &arena), &o, &jo, &v);
    if (v.kind != VK_PASS)
        print_message("%s %s: %s wrong %lld want %g got %g bound %g\n", name,
                      al == AL_RING ? "ring" : "ieee", v.detail, (long long)v.n_wrong, v.want,
                      v.got, v.bound);
    return v.kind == VK_PASS;
}

static void check(const char *text)
{
    static const char *const names[] = { "interp", "tcc" };
    struct lower_opts o = LOWER_OPTS_DEFAULT;
    struct trial *t = parse(text);
    struct lprog *l = lowered(t, &o);

    for (int al = 0; al < AL_COUNT; al++)
        for (int n = 0; n < 2; n++)
            if (!right(t, l, names[n], (enum algebra)al))
                fail_msg("%s", text);
    arena_reset(&arena);
}

struct sizes {
    int hq, hk, s, t, d, e;
};

static char *attention(const struct sizes *z, const char *dtype, const char *mask,
                       const char *more, const char *steps)
{
    bool operand = strcmp(mask, "bool") == 0 || strcmp(mask, "add") == 0;

    return arena_printf(&arena,
                        "tilefuzz 1\ninput q %s [2,%d,%d,%d]\ninput k %s [2,%d,%d,%d]\n"
                        "input v %s [2,%d,%d,%d]\ninput m %s [%d,%d]\n"
                        "z = attention q k v %s scale=0.5 mask=%s%s\noutput z\nschedule\n%s"
                        "data seed=3 recipe=normal\n",
                        dtype, z->hq, z->s, z->d, dtype, z->hk, z->t, z->d, dtype, z->hk, z->t,
                        z->e, strcmp(mask, "bool") == 0 ? "bool" : dtype, z->s, z->t,
                        operand ? "m" : "", mask, more, steps);
}

static const char *const masks[] = { "none", "causal", "causal_br", "bool", "add" };
static const char *const dtypes[] = { "f32", "f16", "bf16", "f64" };
static const char *const algos[] = { "algo z flash block=3\n", "algo z flash block=7\n",
                                     "algo z flash block=100\n",
                                     "algo z flash block=1 splits=3\n",
                                     "algo z flash block=2 splits=4\n" };
static const struct sizes usual = { 4, 2, 6, 7, 3, 5 };

static void all_masks_and_dtypes(void **state)
{
    (void)state;
    for (size_t d = 0; d < 4; d++)
        for (size_t m = 0; m < 5; m++)
            for (size_t a = 0; a < 5; a++)
                check(attention(&usual, dtypes[d], masks[m], "", algos[a]));
}

static void odd_sizes(void **state)
{
    static const struct sizes rows[] = {
        { 6, 2, 3, 1, 1, 1 }, { 1, 1, 1, 9, 2, 3 }, { 3, 3, 5, 8, 4, 1 },
        { 2, 1, 9, 4, 3, 2 }, { 2, 2, 4, 0, 3, 2 }, { 2, 2, 0, 4, 3, 2 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t m = 0; m < 5; m++)
            for (size_t a = 0; a < 5; a++) {
                if (m == 3 || m == 4 ? rows[i].t == 0 || rows[i].s == 0 : false)
                    continue;
                check(attention(&rows[i], "f32", masks[m], "", algos[a]));
            }
}

/* With 3 keys for 6 queries, bottom-right causal leaves rows that see nothing. */
static void empty_rows(void **state)
{
    static const struct sizes few = { 2, 1, 6, 3, 2, 2 };

    (void)state;
    for (size_t a = 0; a < 5; a++)
        for (int zero = 0; zero < 2; zero++) {
            check(attention(&few, "f32", "causal_br", zero ? " empty=zero" : "", algos[a]));
            check(attention(&few, "f16", "causal_br", zero ? " empty=zero" : "", algos[a]));
            check(attention(&few, "f32", "bool", zero ? " empty=zero" : "", algos[a]));
        }
}

static void special_values(void **state)
{
    static const char *const recipes[] = { "special", "magnitude" };

    (void)state;
    for (size_t r = 0; r < 2; r++)
        for (size_t m = 0; m < 5; m++) {
            char *text = attention(&usual, "f32", masks[m], "", algos[0]);
            char *at = strstr(text, "recipe=normal");

            *at = '\0';
            check(arena_printf(&arena, "%srecipe=%s\n", text, recipes[r]));
        }
}

/* Views in front of it, a consumer behind it. */
static void among_other_nodes(void **state)
{
    (void)state;
    check("tilefuzz 1\ninput x f32 [2,5,2,3]\ninput k f32 [2,2,6,3]\ninput v f32 [2,2,6,4]\n"
          "q = permute x [0,2,1,3]\nkk = slice k [0:2:1,0:2:1,5:-1:-1,0:3:1]\nz = attention q "
          "kk v scale=0.5 mask=causal\ny = add z z\n"
          "output y\nschedule\nalgo z flash block=4\ndata seed=3 recipe=normal\n");
}

static void steps_on_its_loops(void **state)
{
    static const char *const steps[] = {
        "split z.i2 4\n",
        "split z.i3 2\n",
        "reorder z z.i2 z.i0 z.i1\n",
        "unroll z.i3\n",
        "vectorize z.i3 2\n",
        "unroll z.i0\n",
        "bind z.i1 block\nbind z.i2 thread\n",
    };

    (void)state;
    for (size_t a = 0; a < 5; a += 3)
        for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
            check(attention(&usual, "f32", "causal", "",
                            arena_printf(&arena, "%s%s", algos[a], steps[i])));
}

/* Every kernel in blocks and threads, written out as loops. */
static void bound_as_on_a_gpu(void **state)
{
    struct lower_opts o = LOWER_OPTS_DEFAULT;

    (void)state;
    o.target = TARGET_GPU_SERIAL;
    for (size_t m = 0; m < 5; m++)
        for (size_t a = 0; a < 5; a++) {
            struct trial *t = parse(attention(&usual, "f32", masks[m], "", algos[a]));

            for (int al = 0; al < AL_COUNT; al++)
                assert_true(right(t, lowered(t, &o), "interp", (enum algebra)al));
            arena_reset(&arena);
        }
}

static void illegal(const char *text, const char *why)
{
    struct lower_opts o = LOWER_OPTS_DEFAULT;
    struct trial *t;
    struct lprog *l;
    struct err e = { 0 };

    if (trial_parse(text, strlen(text), &arena, &t, &e))
        fail_msg("%s", e.msg);
    if (trial_check(t, &e) == 0)
        assert_int_equal(lower(t, &o, &arena, &l, &e), ERR_ILLEGAL);
    if (!strstr(e.msg, why))
        fail_msg("%s", e.msg);
}

static void what_is_refused(void **state)
{
    (void)state;
    illegal(attention(&usual, "f32", "none", "", "algo z flash block=2\nsplitk z 2\n"),
            "splitk");
    illegal(attention(&usual, "f32", "none", "", "algo z flash block=2\nreorder z z.i3 z.i0\n"),
            "reorder");
    illegal(attention(&usual, "f32", "none", "", "algo z flash block=2\nbind z.i3 thread\n"),
            "bind");
    illegal(
        attention(&usual, "f32", "none", "", "algo z flash block=2\ntile z 2x2 threads=4\n"),
        "tile");
    illegal("tilefuzz 1\ninput x f32 [2,2,4,3]\nq = add x x\n"
            "z = attention q x x scale=1 mask=none\noutput z\nschedule\n"
            "algo z flash block=2\nfuse q z\ndata seed=1 recipe=normal\n",
            "flash");
    illegal("tilefuzz 1\ninput x f32 [2,2,4,3]\n"
            "z = attention x x x scale=1 mask=none\ny = add z 1\noutput y\nschedule\n"
            "algo z flash block=2\nfuse z y\ndata seed=1 recipe=normal\n",
            "flash");
}

static void its_fault_is_seen(void **state)
{
    struct lower_opts o = LOWER_OPTS_DEFAULT;
    struct trial *t = parse(attention(&usual, "f32", "none", "", algos[0]));

    (void)state;
    o.fault = FAULT_flash_missing_rescale;
    assert_false(right(t, lowered(t, &o), "interp", AL_RING));
    assert_false(right(t, lowered(t, &o), "interp", AL_IEEE));
}

static void every_rewrite_keeps_the_meaning(void **state)
{
    (void)state;
    for (size_t a = 0; a < 5; a += 3) {
        struct trial *t = parse(attention(&usual, "f32", "add", "", algos[a]));
        struct lower_opts o = LOWER_OPTS_DEFAULT;
        int n = lowered(t, &o)->n_log;

        for (o.stop_after = 0; o.stop_after <= n; o.stop_after++)
            assert_true(right(t, lowered(t, &o), "interp", AL_RING));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_masks_and_dtypes),
        cmocka_unit_test(odd_sizes),
        cmocka_unit_test(empty_rows),
        cmocka_unit_test(special_values),
        cmocka_unit_test(among_other_nodes),
        cmocka_unit_test(steps_on_its_loops),
        cmocka_unit_test(bound_as_on_a_gpu),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(its_fault_is_seen),
        cmocka_unit_test(every_rewrite_keeps_the_meaning),
    };
    int failed;

    arena_init(&arena);
    if (!run_env_open(&env))
        return 1;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    run_env_close(&env);
    arena_release(&arena);
    return failed;
}
