/* Backend simt on lowered kernels: outcomes, places of both accesses with their loops, replay,
 * and the same run from tcc and from gcc with the hooks inlined. */
#include "testing.h"

#include <stdio.h>
#include <string.h>

#include "ir/text.h"
#include "lower/lower.h"
#include "run/run.h"
#include "run/simt/program.h"

static const char ring[] = "tilefuzz 1\n"
                           "input x f32 [8,24]\n"
                           "input y f32 [24,8]\n"
                           "m = matmul x y\n"
                           "output m\n"
                           "schedule\n"
                           "tile m 8x8x4 threads=16\n"
                           "stage m.a m.r0.0 depth=3 async\n"
                           "stage m.b m.r0.0 depth=3 async\n"
                           "epilogue m alias\n"
                           "data seed=5 recipe=normal\n";

static const char serial[] = "tilefuzz 1\n"
                             "input x f32 [8,32]\n"
                             "input y f32 [32,8]\n"
                             "m = matmul x y\n"
                             "output m\n"
                             "schedule\n"
                             "splitk m 4 serial\n"
                             "tile m 8x8x4 threads=16\n"
                             "data seed=5 recipe=normal\n";

struct fix {
    struct run_env env;
    struct arena a;
    struct lprog *l;
    const struct backend *b;
    struct prepared p;
};

static void open_trial(struct fix *f, const char *text, enum fault fault)
{
    struct lower_opts lo = LOWER_OPTS_DEFAULT;
    struct trial *t;
    struct outcome o;
    struct err e = { 0 };

    arena_init(&f->a);
    assert_true(run_env_open(&f->env));
    lo.target = TARGET_GPU;
    lo.fault = fault;
    if (trial_parse(text, strlen(text), &f->a, &t, &e) || trial_check(t, &e) ||
        lower(t, &lo, &f->a, &f->l, &e))
        fail_msg("%s", e.msg);
    f->b = backend_find("simt");
    assert_non_null(f->b);
    run_begin(&f->env);
    if (f->b->prepare(&f->env, f->l, NULL, &f->p, &o))
        fail_msg("%s", o.detail);
}

static void close_trial(struct fix *f)
{
    f->b->release(&f->p);
    run_env_close(&f->env);
    arena_release(&f->a);
}

static void right_kernels_run(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct fix f;

        open_trial(&f, i ? serial : ring, FAULT_none);
        for (int al = 0; al < AL_COUNT; al++)
            for (int turn = 0; turn < 10; turn++) {
                struct outcome o;
                unsigned char first[8 * 8 * 4];

                f.b->run(&f.env, &f.p, (enum algebra)al, &o);
                if (o.status != OUT_RAN)
                    fail_msg("turn %d: %s", turn, o.detail);
                if (!turn)
                    memcpy(first, o.out[0], sizeof first);
                assert_memory_equal(first, o.out[0], sizeof first);
            }
        close_trial(&f);
    }
}

/* The founding bug: zeros that land late meet the epilogue. */
static void both_places_are_named(void **state)
{
    struct outcome o[2];
    struct fix f;

    (void)state;
    for (int i = 0; i < 2; i++) {
        open_trial(&f, ring, FAULT_async_zero_fill_after_loop);
        f.b->run(&f.env, &f.p, AL_RING, &o[i]);
        assert_int_equal(o[i].status, OUT_RACE);
        assert_string_equal(o[i].rule, "async");
        assert_string_equal(o[i].site.kernel, "m");
        assert_string_equal(o[i].site.buffer, "m.e");
        assert_string_equal(o[i].other.kernel, "m");
        assert_string_equal(o[i].other.buffer, "m.a");
        assert_true(o[i].site.store && o[i].other.store);
        assert_true(o[i].site.stmt > o[i].other.stmt);
        assert_non_null(strstr(o[i].site.loops, "m.i0.1.1="));
        /* the last two turns of the loop issue nothing but zeros */
        if (!strstr(o[i].other.loops, "m.r0.0=4") && !strstr(o[i].other.loops, "m.r0.0=5"))
            fail_msg("loops of the copy: %s", o[i].other.loops);
        close_trial(&f);
    }
    assert_memory_equal(&o[0].site, &o[1].site, sizeof o[0].site);
    assert_memory_equal(&o[0].other, &o[1].other, sizeof o[0].other);
}

static void blocks_are_told_apart(void **state)
{
    struct outcome o;
    struct fix f;

    (void)state;
    open_trial(&f, serial, FAULT_semaphore_relaxed);
    f.b->run(&f.env, &f.p, AL_RING, &o);
    assert_int_equal(o.status, OUT_RACE);
    assert_string_equal(o.rule, "blocks");
    assert_int_equal(o.site.block, 1);
    assert_int_equal(o.other.block, 0);
    assert_int_equal(o.site.index, o.other.index);
    close_trial(&f);
}

static void gcc_and_tcc_agree(void **state)
{
    struct fix f;
    struct simt_work w;
    struct str log = { 0 };
    struct simt_built *built[2];

    (void)state;
    open_trial(&f, ring, FAULT_async_zero_fill_after_loop);
    simt_work_make(&w, f.l, NULL, NULL);
    built[0] = simt_build_tcc(str_get(&w.text), false, &log);
    built[1] = simt_build_gcc(str_get(&w.text), NULL, &log);
    if (!built[0] || !built[1])
        fail_msg("%s", str_get(&log));
    for (int turn = 0; turn < 20; turn++) {
        struct simt_opts so = simt_opts_of(7, turn);
        struct simt_result r[2];
        unsigned char out[2][8 * 8 * 4];

        for (int i = 0; i < 2; i++) {
            struct err e = { 0 };
            struct simt_program p;
            const char *why;

            assert_int_equal(run_place(&f.env, f.l, AL_IEEE, &e), 0);
            p = simt_work_program(&w, &f.env,
                                  simt_built_entry(built[i], simt_work_entry(AL_IEEE)));
            assert_true(simt_run(&p, &so, &r[i], &why));
            for (int k = 0; k < f.l->n_buffer; k++)
                if (f.l->buffer[k].kind == BUF_OUTPUT)
                    memcpy(out[i], f.env.buf[k].p, sizeof out[i]);
        }
        assert_memory_equal(&r[0], &r[1], sizeof r[0]);
        assert_memory_equal(out[0], out[1], sizeof out[0]);
        assert_int_equal(r[0].first.class, SIMT_RACE);
    }
    simt_built_free(built[0]);
    simt_built_free(built[1]);
    simt_work_free(&w);
    str_release(&log);
    close_trial(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_kernels_run),
        cmocka_unit_test(both_places_are_named),
        cmocka_unit_test(blocks_are_told_apart),
        cmocka_unit_test(gcc_and_tcc_agree),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
