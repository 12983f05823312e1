/*
 * Passes tile, bind, splitk, mma and semaphore against the judge: whatever rewrite lowering
 * stops after, the loops mean the program. In the ring that is bit for bit.
 */
#include "gpu_fix.h"

static void tiles_of_matmuls(void **state)
{
    static const char *const rows[][3] = {
        { "f32", "32 32 16", "tile m 16x16x8 threads=32" },
        { "f32", "33 17 19", "tile m 16x16x8 threads=32" },
        { "f32", "5 3 7", "tile m 16x8x4 threads=64" },
        { "f32", "20 24 9", "tile m 8x8 threads=16" },
        { "i32", "9 10 11", "tile m 4x8x16 threads=4" },
        { "f64", "9 10 11", "tile m 2x4x3 threads=8" },
        { "f16", "9 10 11", "tile m 8x8x1 threads=1" },
        { "bf16", "17 16 0", "tile m 8x8x4 threads=32" },
        { "f32", "12 12 12", "tile m 8x8x4 threads=16\nunroll m.i0.1.1\nunroll m.r0.1" },
        { "f32", "12 12 12", "split m.r0 5\ntile m 8x8x2 threads=8" },
        { "f32", "12 14 12", "split m.i1 5\ntile m 2x8x2 threads=8" },
        { "f32", "12 8 12", "tile m 4x8x4 threads=4\nunroll m.i0.1.1\nvectorize m.i1.1.1 2" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_all(*state, matmul(*state, rows[i][0], rows[i][1], rows[i][2]));
}

static void tiles_of_other_kernels(void **state)
{
    static const char *const rows[] = {
        "input a f32 [3,9,10]\nb = exp a\noutput b\nschedule\ntile b 4x8 threads=8\n",
        "input a f32 [9,10]\np = permute a [1,0]\nb = neg p\noutput b\nschedule\n"
        "tile b 4x4 threads=16\n",
        "input a f32 [4,6,7,5]\nb = sum a axes=[1,3]\nc = mul b 2\noutput c\nschedule\n"
        "fuse b c\ntile b 2x4x4 threads=4\n",
        "input a f32 [6,7,5]\nb = max a axes=[2]\noutput b\nschedule\ntile b 4x4 threads=4\n",
        "input x f32 [2,9,7]\ninput y f32 [2,7,11]\nm = matmul x y\ns = mul m 3\n"
        "g = maximum s 0\noutput g\nschedule\nfuse m s\nfuse s g\ntile m 4x8x2 threads=16\n",
        "input x f32 [9,7]\ninput y f32 [7,11]\nx2 = add x 1\nm = matmul x2 y\noutput m\n"
        "schedule\nfuse x2 m\ntile m 4x8x4 threads=8\nplan linear\n",
        "input x f32 [9,6]\nq = pad x [1:1,0:0] value=2\nm = sum q axes=[0] keep=1\noutput m\n"
        "schedule\ntile m 1x4x4 threads=4\n",
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_all(*state, rows[i]);
}

static void binds(void **state)
{
    static const char *const rows[] = {
        "input a f32 [3,9,10]\nb = exp a\noutput b\nschedule\nbind b.i1 block\n"
        "bind b.i0 thread\n",
        "input a f32 [3,9,10]\nb = exp a\noutput b\nschedule\nsplit b.i2 4\nbind b.i0 block\n"
        "bind b.i1 thread\nbind b.i2.0 thread\n",
        "input x f32 [6,7]\ninput y f32 [7,5]\nm = matmul x y\noutput m\nschedule\n"
        "bind m.i1 thread\n",
        "input x f32 [6,7]\ninput y f32 [7,5]\nm = matmul x y\noutput m\nschedule\n"
        "reorder m m.i0 m.r0 m.i1\nbind m.i0 block\n",
        "input x f32 [6,7]\ninput y f32 [7,5]\nm = matmul x y\noutput m\nschedule\n"
        "reorder m m.r0 m.i0 m.i1\n",
        "input x f32 [6,7]\ninput y f32 [7,5]\nm = matmul x y\noutput m\nschedule\n"
        "splitk m 3\nbind m.i0 block\nbind m.i1 thread\n",
        "input x f32 [300]\ns = sum x axes=[0]\noutput s\nschedule\nsplitk s 4\n",
        "input x f32 [3,300]\nr = exp x\ns = sum r axes=[1]\nt = neg s\noutput t\noutput r\n"
        "schedule\nsplit r.i1 6\nvectorize r.i1.1 3\n",
        "input x f32 [4,5,6]\nz = softmax x axis=2\noutput z\nschedule\n",
        "input q f32 [2,6,3]\ninput k f32 [2,7,3]\ninput v f32 [2,7,5]\n"
        "z = attention q k v scale=0.5 mask=causal empty=zero\noutput z\nschedule\n"
        "algo z online block=3\n",
        "input x f32 [4,0]\ns = sum x axes=[1]\ny = exp x\noutput s\noutput y\nschedule\n",
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_all(*state, rows[i]);
}

static void slices_meet(void **state)
{
    static const char *const steps[] = {
        "tile m 8x8x4 threads=16",
        "bind m.i0 block\nbind m.i1 thread",
        "bind m.i1 thread",
        "",
        "split m.r0 4\nsplitk m 2 %s\ntile m 4x8x2 threads=8",
        "bind m.i0 thread\nbind m.r0 thread",
        "bind m.r0 thread",
        "tile m 8x8x4 threads=16\nstage m.a m.r0.0 depth=3 async\nstage m.b m.r0.0 depth=3 "
        "async\n"
        "epilogue m alias",
        "split m.i1 5",
    };
    static const char *const modes[] = { "workspace", "serial", "atomic" };
    static const char *const dts[] = { "f32", "i32", "bf16" };
    struct fix *f = *state;

    for (size_t m = 0; m < 3; m++)
        for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
            const char *s =
                strstr(steps[i], "splitk") ? arena_printf(&f->trial, steps[i], modes[m])
                : strstr(steps[i], "split ")
                    ? arena_printf(&f->trial, "%s\nsplitk m 3 %s", steps[i], modes[m])
                    : arena_printf(&f->trial, "splitk m 3 %s\n%s", modes[m], steps[i]);

            check_all(f, matmul(f, dts[i % 3], "9 11 13", s));
        }
    check_all(f, "input a f32 [6,40]\nb = max a axes=[1]\nc = mul b 2\noutput c\nschedule\n"
                 "fuse b c\nsplitk b 4 serial\nbind c.i0 thread\n");
    check_all(f, "input a f32 [6,40]\nb = prod a axes=[1]\noutput b\nschedule\n"
                 "splitk b 7 serial\n");
    check_all(f, "input a f32 [40]\nb = mean a axes=[0]\noutput b\nschedule\n"
                 "splitk b 7 atomic\n");
}

static const char fragments[] = "input x %s [%d,%d]\ninput y %s [%d,%d]\nm = matmul x y\n"
                                "output m\nschedule\ntile m %s mma\n%s\n";

static void warps(void **state)
{
    static const struct {
        const char *dt;
        int m, n, k;
        const char *tile;
    } rows[] = {
        { "f16", 16, 8, 16, "16x8x16 threads=32" },
        { "bf16", 20, 19, 33, "16x8x16 threads=32" },
        { "f16", 64, 40, 32, "32x16x32 threads=64" },
        { "f16", 32, 40, 32, "32x32x16 threads=128" },
    };
    struct fix *f = *state;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct trial *t =
            parse(f, arena_printf(&f->trial, fragments, rows[i].dt, rows[i].m, rows[i].k,
                                  rows[i].dt, rows[i].k, rows[i].n, rows[i].tile, ""));
        struct lower_opts o = LOWER_OPTS_DEFAULT;
        struct want *w = judge_want(t, AL_RING, &f->a);
        struct lprog *l;
        struct verdict v;
        struct err e = { 0 };

        /* up to pass mma: it wants stages */
        o.last_pass = pass_find("mma") - 1;
        assert_int_equal(lower(t, &o, &f->a, &l, &e), 0);
        assert_int_equal(judged(f, w, l, AL_RING, &v), VK_PASS);
        o.last_pass = INT32_MAX;
        assert_int_equal(lower(t, &o, &f->a, &l, &e), ERR_ILLEGAL);
        assert_non_null(strstr(e.msg, "shared memory"));
        arena_reset(&f->a);
        arena_reset(&f->trial);
    }
}

static void staged_fragments(void **state)
{
    struct fix *f = *state;
    static const char stages[] = "stage m.a m.r0.0\nstage m.b m.r0.0";

    check_all(f, arena_printf(&f->trial, fragments, "f16", 16, 16, "f16", 16, 8,
                              "16x8x16 threads=32", stages));
    check_all(f, arena_printf(&f->trial, fragments, "bf16", 20, 33, "bf16", 33, 19,
                              "16x8x16 threads=32", stages));
    check_all(f, arena_printf(&f->trial, fragments, "f16", 33, 40, "f16", 40, 30,
                              "32x32x32 threads=128", stages));
}

/* A value is wrong with the fault, none without it. */
static void faults_show_a_wrong_value(void **state)
{
    static const struct {
        enum fault fault;
        const char *body;
    } rows[] = {
        { FAULT_grid_delinearize_ceildiv,
          "input x f32 [20,16]\ny = exp x\noutput y\nschedule\ntile y 4x8 threads=8\n" },
        { FAULT_thread_bound_guard_lost,
          "input x f32 [9,5]\ny = exp x\noutput y\nschedule\ntile y 4x8 threads=8\n" },
        { FAULT_accumulator_not_reset,
          "input x f32 [4,3,7]\ny = sum x axes=[2]\noutput y\nschedule\nbind y.i0 thread\n" },
        { FAULT_splitk_workspace_skipped,
          "input x f32 [4,12]\ny = sum x axes=[1]\noutput y\nschedule\nsplitk y 3 atomic\n"
          "bind y.i0 thread\n" },
        { FAULT_mma_acc_to_operand_layout,
          "input x f16 [16,16]\ninput y f16 [16,8]\nm = matmul x y\noutput m\nschedule\n"
          "tile m 16x8x16 threads=32 mma\nstage m.a m.r0.0\nstage m.b m.r0.0\n" },
        { FAULT_reduce_over_mma_layout,
          "input x f16 [16,16]\ninput y f16 [16,16]\nm = matmul x y\noutput m\nschedule\n"
          "tile m 16x16x16 threads=64 mma\nstage m.a m.r0.0\nstage m.b m.r0.0\n" },
    };
    struct fix *f = *state;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct trial *t = parse(f, rows[i].body);
        struct want *w = judge_want(t, AL_RING, &f->a);

        for (int on = 0; on < 2; on++) {
            struct lower_opts o = LOWER_OPTS_DEFAULT;
            struct err e = { 0 };
            struct verdict v;
            struct lprog *l;

            o.target = TARGET_GPU_SERIAL;
            o.fault = on ? rows[i].fault : FAULT_none;
            if (lower(t, &o, &f->a, &l, &e))
                fail_msg("%s: line %d: %s", fault_info(rows[i].fault)->id, e.line, e.msg);
            if ((judged(f, w, l, AL_RING, &v) == VK_PASS) == on)
                fail_msg("%s %s: verdict %s in\n%s", fault_info(rows[i].fault)->id,
                         on ? "on" : "off", verdict_name(v.kind), show(f, l));
        }
        arena_reset(&f->a);
        arena_reset(&f->trial);
    }
}

/* What stands in the text in this order. */
static void in_order(const char *text, const char *const *part, int n)
{
    const char *s = text;

    for (int i = 0; i < n; i++, s++)
        if (!(s = strstr(s, part[i])))
            fail_msg("no '%s' behind '%s' in\n%s", part[i], i ? part[i - 1] : "", text);
}

/* The order of these is what the SIMT machine sees: loops as they are in the serial form don't
 * depend on it. */
static void a_semaphore_is_taken_and_given_outside_of_barriers(void **state)
{
    static const char *const right[] = { "kernel m.zero",
                                         "store m.sem",
                                         "kernel m.part",
                                         "block m.slice 3",
                                         "acquire m.sem[m.i1] == m.slice",
                                         "sync",
                                         "store m.ws[",
                                         "sync",
                                         "release m.sem[m.i1] = m.slice + 1" };
    static const char *const wrong[] = { "store m.ws[", "release m.sem", "sync" };
    struct fix *f = *state;
    const struct trial *t = parse(f, matmul(f, "f32", "4 5 6",
                                            "splitk m 3 serial\n"
                                            "bind m.i1 block\n"
                                            "bind m.i0 thread"));
    struct lower_opts o = LOWER_OPTS_DEFAULT;
    struct err e = { 0 };
    struct lprog *l;

    o.target = TARGET_GPU;
    assert_int_equal(lower(t, &o, &f->a, &l, &e), 0);
    in_order(show(f, l), right, 9);
    assert_false(l->unordered);
    o.fault = FAULT_semaphore_release_before_barrier;
    assert_int_equal(lower(t, &o, &f->a, &l, &e), 0);
    in_order(show(f, l), wrong, 3);
}

static void illegal_steps_name_their_line(void **state)
{
    static const struct {
        const char *step, *part;
    } rows[] = {
        { "tile c 4x4x4 threads=32", "can't share" },
        { "tile d 4x4x4 threads=4", "no reduction that steps" },
        { "tile s 4x4 threads=4", "less than two output axes" },
        { "tile c 64x64x4 threads=4", "elements for each thread" },
        { "tile c 16x8x8 threads=32 mma", "a multiple of 16" },
        { "tile c 16x8x16 threads=32 mma", "f16 or bf16" },
        { "reorder c c.r0 c.i0 c.i1\ntile c 4x4x4 threads=4", "naive order" },
        { "tile c 4x4x4 threads=4\ntile c 4x4x4 threads=4", "tiled already" },
        { "tile c 4x4x4 threads=4\nunroll c.i0.1.0", "blocks or threads" },
        { "tile c 4x4x4 threads=4\nvectorize c.i0.0 2", "straight body" },
        { "bind c.r0 block", "blocks can't" },
        { "bind c.i0 thread\nbind c.i1 block", "inside of the threads" },
        { "bind c.i0 thread\nbind c.i0 thread", "bound already" },
        { "split d.i0 1024\nsplit d.i1 2\nbind d.i0.1 thread\nbind d.i1.1 thread", "at most" },
        { "bind a.i0 block", "no kernel has a loop" },
        { "splitk p 2 atomic", "only sums" },
    };
    struct fix *f = *state;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct trial *t = parse(
            f,
            arena_printf(&f->trial,
                         "input a f32 [6,7]\ninput b f32 [7,5]\nc = matmul a b\nd = mul c 2\n"
                         "s = sum a axes=[0]\np = prod a axes=[1]\noutput d\noutput s\n"
                         "output p\nschedule\n%s\n",
                         rows[i].step));
        struct lower_opts o = LOWER_OPTS_DEFAULT;
        struct lprog *l;
        struct err e = { 0 };

        assert_int_equal(lower(t, &o, &f->a, &l, &e), ERR_ILLEGAL);
        assert_int_equal(e.line, 11 + t->n_step);
        if (!strstr(e.msg, rows[i].part))
            fail_msg("'%s': %s", rows[i].step, e.msg);
        arena_reset(&f->a);
        arena_reset(&f->trial);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_of_matmuls),
        cmocka_unit_test(tiles_of_other_kernels),
        cmocka_unit_test(binds),
        cmocka_unit_test(slices_meet),
        cmocka_unit_test(warps),
        cmocka_unit_test(staged_fragments),
        cmocka_unit_test(faults_show_a_wrong_value),
        cmocka_unit_test(a_semaphore_is_taken_and_given_outside_of_barriers),
        cmocka_unit_test(illegal_steps_name_their_line),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
