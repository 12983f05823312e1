/*
 * Backend cc: every configuration of every compiler that is here builds and agrees with the
 * judge, alone and in batches; a text that does not compile is blamed on its own trial;
 * compilers that die, hang or are not there.
 */
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/bug.h"
#include "emit/emit.h"
#include "fuzz/camp/sample.h"
#include "fuzz/check/check.h"
#include "fuzz/gen/gen.h"
#include "ir/text.h"
#include "run/cc.h"
#include "run/cc_config.h"

enum { TRIALS = 6, SEED = 21 };

struct fix {
    struct checker ck;
    struct check c;
    struct arena a, scratch, ahead;
    struct gen_opts gen;
};

static int setup(void **state)
{
    static struct fix f;
    struct err e = { 0 };

    arena_init(&f.a);
    arena_init(&f.scratch);
    arena_init(&f.ahead);
    gen_opts_default(&f.gen);
    f.gen.max_work = 2000;
    *state = &f;
    return checker_open(&f.ck, &e);
}

static int teardown(void **state)
{
    struct fix *f = *state;

    checker_close(&f->ck);
    arena_release(&f->a);
    arena_release(&f->scratch);
    arena_release(&f->ahead);
    return 0;
}

/* The compilers that the machine lacks are told, and left out. */
static bool here(const struct backend *b, enum cc_config *c)
{
    struct err why = { 0 };

    if (!cc_of(b, c))
        return false;
    if (backend_available(b, &why))
        return true;
    print_message("%s is left out: %s\n", b->name, why.msg);
    return false;
}

static void only(struct check_opts *o, const struct backend *b)
{
    check_opts_default(o);
    o->isolate = false;
    o->n_backend = 1;
    o->backend[0] = b;
}

static const struct trial *draw(struct fix *f, int number)
{
    arena_reset(&f->a);
    return gen_trial(SEED, (uint64_t)number, &f->gen, &f->a, &f->scratch);
}

static void lower_text(struct fix *f, const struct trial *t, struct lprog **l, struct str *text)
{
    struct lower_opts lo = LOWER_OPTS_DEFAULT;
    struct err e = { 0 };

    arena_reset(&f->ahead);
    if (lower(t, &lo, &f->ahead, l, &e))
        fail_msg("%s", e.msg);
    str_clear(text);
    emit_c(*l, text);
}

static void expect_right(struct fix *f, const struct trial *t, const struct backend *b)
{
    struct check_opts o;
    struct err e = { 0 };

    only(&o, b);
    if (check_trial(&f->ck, t, &o, &f->c, &e))
        fail_msg("%s", e.msg);
    assert_true(f->c.n >= AL_COUNT);
    for (int i = 0; i < f->c.n; i++)
        if (f->c.verdict[i].kind != VK_PASS)
            fail_msg("%s in %s: %s %s", f->c.verdict[i].backend,
                     algebra_name(f->c.verdict[i].algebra), verdict_name(f->c.verdict[i].kind),
                     f->c.verdict[i].detail);
}

/* In ring the judge allows one word only: what passes agrees with tcc and the interpreter. */
static void all_configurations_are_right(void **state)
{
    struct fix *f = *state;
    struct str text = { 0 };
    struct lprog *l;

    for (int k = 0; k < n_backends; k++) {
        struct cc_batch *b;
        enum cc_config c;

        if (!here(backends[k], &c))
            continue;
        b = cc_batch_open(c);
        for (int i = 0; i < TRIALS; i++) {
            lower_text(f, draw(f, i), &l, &text);
            cc_batch_add(b, l, str_get(&text));
        }
        cc_batch_file(&f->ck.env, b);
        assert_non_null(f->ck.env.cc);
        for (int i = 0; i < TRIALS; i++)
            expect_right(f, draw(f, i), backends[k]);
        cc_batches_drop(&f->ck.env);
        expect_right(f, draw(f, TRIALS), backends[k]); /* alone */
    }
    str_release(&text);
}

static void prepare_and_release(struct fix *f, const struct backend *b, const struct lprog *l,
                                const char *text, enum outcome_status want)
{
    struct prepared p = { 0 };
    struct outcome o = { 0 };
    int rc = b->prepare(&f->ck.env, l, text, &p, &o);

    assert_int_equal(rc != 0, want != OUT_RAN);
    if (rc) {
        assert_int_equal(o.status, want);
        assert_non_null(strstr(o.detail, "error"));
        assert_null(strchr(o.detail, '\n'));
        return;
    }
    run_begin(&f->ck.env);
    b->run(&f->ck.env, &p, AL_RING, &o);
    assert_int_equal(o.status, OUT_RAN);
    b->release(&p);
}

static void a_bad_text_is_blamed_on_its_trial(void **state)
{
    static const char bad[] = "static void TF_KERNEL(bad)(void *const *p) { p = ; }\n";
    struct fix *f = *state;
    struct str text = { 0 };
    struct lprog *l;

    lower_text(f, draw(f, 0), &l, &text);
    for (int k = 0; k < n_backends; k++) {
        struct cc_batch *b;
        enum cc_config c;

        if (!here(backends[k], &c))
            continue;
        b = cc_batch_open(c);
        cc_batch_add(b, l, str_get(&text));
        cc_batch_add(b, l, bad);
        cc_batch_file(&f->ck.env, b);
        assert_null(f->ck.env.cc);
        prepare_and_release(f, backends[k], l, bad, OUT_BUILD_FAILED);
        prepare_and_release(f, backends[k], l, str_get(&text), OUT_RAN);
    }
    str_release(&text);
}

/* The emitted text is wrong and the IR is right, so the interpreter can't see it. */
static void a_fault_of_the_emitter_is_seen_alone(void **state)
{
    static const char source[] = "tilefuzz 1\ninput x bool [3]\nc = cast x i32\n"
                                 "y = pad c [1:1] value=7\nz = add y 1\noutput z\nschedule\n"
                                 "fuse c z\ndata seed=1 recipe=normal\n";
    struct fix *f = *state;
    struct trial *t;
    struct err e = { 0 };

    arena_reset(&f->a);
    assert_int_equal(trial_parse(source, strlen(source), &f->a, &t, &e), 0);
    for (int k = 0; k < n_backends; k++) {
        struct check_opts o;
        enum cc_config c;

        if (!here(backends[k], &c))
            continue;
        expect_right(f, t, backends[k]);
        only(&o, backends[k]);
        assert_true(fault_parse("guard_fill_narrowed", &o.fault));
        assert_int_equal(check_trial(&f->ck, t, &o, &f->c, &e), 0);
        assert_int_equal(f->c.kind, VK_MISMATCH);
        assert_string_equal(f->c.verdict[f->c.first].backend, backends[k]->name);
    }
}

/* The same weight above and below the line, computed twice, and contracted in one place: the
 * quotient is not 1, and that is right. */
static void what_is_computed_twice_may_be_contracted_once(void **state)
{
    static const char source[] = "tilefuzz 1\ninput v f32 [1,1,1]\n"
                                 "z = attention v v v scale=21\noutput z\nschedule\n"
                                 "fuse z.ex z.sm\nfuse z.df z.ex\nfuse z.ss z.df\n"
                                 "data seed=1 recipe=normal\nvalues v [-2.2380981]\n";
    struct fix *f = *state;
    struct trial *t;
    struct err e = { 0 };

    arena_reset(&f->a);
    assert_int_equal(trial_parse(source, strlen(source), &f->a, &t, &e), 0);
    for (int k = 0; k < n_backends; k++) {
        enum cc_config c;

        if (here(backends[k], &c))
            expect_right(f, t, backends[k]);
    }
}

static void compilers_that_die_hang_or_are_missing(void **state)
{
    static const char *const dies[] = { "sh", "-c", "echo oh >&2; kill -SEGV $$", NULL };
    static const char *const hangs[] = { "sh", "-c", "sleep 100 & wait", NULL };
    static const char *const missing[] = { "no-such-compiler", NULL };
    static const char *const fine[] = { "true", NULL };
    volatile uint64_t tick = 0;
    struct cc_child c = { dies, -1, -1, 1, &tick };
    struct str log = { 0 };
    time_t start;

    (void)state;
    assert_int_equal(cc_child_run(&c, &log), CC_REJECTED);
    assert_non_null(strstr(log.s, "oh\n"));
    assert_non_null(strstr(log.s, "signal 11"));
    str_clear(&log);
    start = time(NULL);
    c.argv = hangs;
    assert_int_equal(cc_child_run(&c, &log), CC_REJECTED);
    assert_non_null(strstr(log.s, "did not end"));
    assert_true(time(NULL) - start < 30);
    assert_true(tick > 3);
    str_clear(&log);
    c.argv = missing;
    assert_int_equal(cc_child_run(&c, &log), CC_CANNOT);
    assert_non_null(strstr(log.s, "No such file"));
    c.argv = fine;
    assert_int_equal(cc_child_run(&c, &log), CC_BUILT);
    str_release(&log);
}

static void rows_and_groups(void **state)
{
    const struct backend *b = backend_find("cc:gcc-O3-fma");

    (void)state;
    assert_non_null(b);
    assert_true(backend_named(b, "cc") && backend_named(b, "cc:gcc"));
    assert_true(backend_named(b, "cc:gcc-O3") && backend_named(b, "cc:gcc-O3-fma"));
    assert_false(backend_named(b, "cc:gc") || backend_named(b, "") || backend_named(b, "tcc"));
    assert_non_null(strstr(b->command(), "gcc -std=gnu11 -O3"));
    assert_non_null(strstr(b->command(), "-ffp-contract=fast"));
    assert_non_null(strstr(backend_find("cc:clang-O2")->command(), "-ffp-contract=off"));
}

/* One trial in so many, all configurations in turn, the same whatever is asked before. */
static void a_sample_is_fair(void **state)
{
    struct sample s = { .every = 20 };
    int count[4] = { 0 }, n = 0;

    (void)state;
    for (int k = 0; k < n_backends && s.n < 4; k++)
        if (backends[k]->command)
            s.backend[s.n++] = backends[k];
    assert_int_equal(s.n, 4);
    for (uint64_t i = 0; i < 8000; i++) {
        const struct backend *b = sample_draw(&s, 3, i, 1);

        if (!b)
            continue;
        n++;
        count[sample_index(&s, b->name)]++;
        assert_ptr_equal(b, sample_draw(&s, 3, i, 1));
    }
    assert_int_equal(n, 400);
    for (int i = 0; i < 4; i++)
        assert_int_equal(count[i], 100);
    s.every = 1;
    assert_non_null(sample_draw(&s, 3, 17, 1));
    s.every = 0;
    assert_null(sample_draw(&s, 3, 17, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_and_groups),
        cmocka_unit_test(all_configurations_are_right),
        cmocka_unit_test(a_bad_text_is_blamed_on_its_trial),
        cmocka_unit_test(a_fault_of_the_emitter_is_seen_alone),
        cmocka_unit_test(what_is_computed_twice_may_be_contracted_once),
        cmocka_unit_test(compilers_that_die_hang_or_are_missing),
        cmocka_unit_test(a_sample_is_fair),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
