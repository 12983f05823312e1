/* Passes reduce, smem and sync on what steps make: what is placed where, no race, and none of
 * the barriers in vain. */
#include "barriers.h"

#include "lower/reduce.h"

static char *reduction(int n, const char *op, const char *steps)
{
    return arena_printf(&arena,
                        "tilefuzz 1\ninput x f32 [3,5,%d]\nz = %s x axes=[2]\noutput z\n"
                        "schedule\n%sdata seed=3 recipe=normal\n",
                        n, op, steps);
}

static const char one_row[] = "bind z.i0 block\nbind z.i1 block\nbind z.r0 thread\n";
static const char rows_in_turn[] = "bind z.i0 block\nbind z.r0 thread\n";
static const char rows_at_once[] = "bind z.i0 block\nbind z.i1 thread\nbind z.r0 thread\n";

static void reductions_over_threads(void **state)
{
    static const struct {
        int n;
        const char *steps;
        int syncs; /* in all */
        int64_t scratch;
    } rows[] = {
        { 1, one_row, 0, 0 },        { 8, one_row, 0, 0 },       { 32, rows_in_turn, 0, 0 },
        { 64, one_row, 1, 2 },       { 96, one_row, 1, 3 },      { 100, one_row, 1, 100 },
        { 7, one_row, 1, 7 },        { 64, rows_in_turn, 2, 2 }, { 33, rows_in_turn, 2, 33 },
        { 64, rows_at_once, 1, 10 }, { 16, rows_at_once, 0, 0 }, { 6, rows_at_once, 1, 30 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct lprog *l = lowered(reduction(rows[i].n, "sum", rows[i].steps), FAULT_none);

        assert_int_equal(syncs(&l->kernel[0]), rows[i].syncs);
        assert_int_equal(l->buffer[reduce_scratch(l, 0)].elems, rows[i].scratch);
        check_barriers(l);
        arena_reset(&arena);
    }
}

static void guards_sink_into_a_reduction(void **state)
{
    struct lprog *l =
        lowered(reduction(50, "max",
                          "split z.i1 2\nsplit z.r0 32\nbind z.i0 block\nbind z.i1.1 thread\n"
                          "bind z.r0.1 thread\n"),
                FAULT_none);
    const struct kernel *k = &l->kernel[0];
    int depth = 0;

    (void)state;
    for (int i = 0; i < k->n; i++) {
        depth += k->st[i].kind == ST_IF;
        depth -= k->st[i].kind == ST_END && depth > 0;
        if (k->st[i].kind == ST_UPDATE && l->value[k->st[i].val].kind == V_SHFL)
            assert_int_equal(depth, 0);
    }
    check_barriers(l);
}

static void what_can_not_be_reduced_so(void **state)
{
    static const char *const steps[] = {
        "split z.r0 2\nreorder z z.r0.0 z.i0 z.i1 z.r0.1\nbind z.r0.1 thread\n",
        "bind z.r0 block\n",
        "bind z.i0 thread\nbind z.r0 thread\nbind z.i1 thread\n",
        "vectorize z.r0 4\nbind z.r0 thread\n",
    };
    struct err e = { 0 };
    struct lprog *l;

    (void)state;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        assert_int_equal(lower_with(reduction(8, "sum", steps[i]), FAULT_none, &l, &e),
                         ERR_ILLEGAL);
    assert_int_equal(lower_with(reduction(2048, "sum", one_row), FAULT_none, &l, &e),
                     ERR_ILLEGAL);
}

static char *tiled(const char *dtype, int m, int n, int k, const char *tile, const char *steps)
{
    return arena_printf(&arena,
                        "tilefuzz 1\ninput a %s [%d,%d]\ninput b %s [%d,%d]\n"
                        "m = matmul a b\noutput m\nschedule\ntile m %s\n%s"
                        "data seed=3 recipe=normal\n",
                        dtype, m, k, dtype, k, n, tile, steps);
}

static char *staged(const char *how, const char *more)
{
    return tiled(
        "f32", 20, 24, 37, "16x16x8 threads=32",
        arena_printf(&arena, "stage m.a m.r0.0%s\nstage m.b m.r0.0%s\n%s", how, how, more));
}

static void stages_and_rings(void **state)
{
    static const struct {
        const char *how, *more;
        int in_loop, all;
    } rows[] = {
        { "", "", 2, 2 },
        { " depth=2", "", 1, 2 },
        { " depth=3", "", 1, 2 },
        { " async", "", 2, 2 },
        { " depth=2 async", "", 1, 2 },
        { " depth=3 async", "", 1, 2 },
        { " depth=4 async", "", 1, 2 },
        { " depth=5 async", "", 1, 2 },
        { "", "epilogue m own\n", 2, 3 },
        { "", "epilogue m alias\n", 2, 3 },
        { " depth=3 async", "epilogue m own\n", 1, 3 },
        { " depth=3 async", "epilogue m alias\n", 1, 4 },
        { "", "epilogue m global\n", 2, 3 },
        { " depth=3 async", "epilogue m global\n", 1, 3 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct lprog *l = lowered(staged(rows[i].how, rows[i].more), FAULT_none);

        if (syncs(&l->kernel[0]) != rows[i].all ||
            syncs_in(l, 0, "m.r0.0") != rows[i].in_loop) {
            print(l);
            fail_msg("%s%s: %d barriers, %d in the loop", rows[i].how, rows[i].more,
                     syncs(&l->kernel[0]), syncs_in(l, 0, "m.r0.0"));
        }
        check_barriers(l);
        arena_reset(&arena);
    }
}

/* Halves, wide copies, swizzles, tensor cores, slices under a semaphore. */
static void richer_kernels(void **state)
{
    static const struct {
        const char *dtype, *tile, *steps;
    } rows[] = {
        { "f16", "32x16x16 threads=64 mma",
          "stage m.a m.r0.0 depth=3 async vec=16\nstage m.b m.r0.0 depth=3 async vec=16\n"
          "epilogue m alias\n" },
        { "f16", "32x16x16 threads=64 mma",
          "stage m.a m.r0.0 depth=2\nstage m.b m.r0.0 depth=2\nepilogue m alias\n" },
        { "f32", "16x16x8 threads=64",
          "stage m.a m.r0.0 depth=2 async vec=16\nstage m.b m.r0.0 depth=2 async vec=16\n"
          "swizzle m.b\n" },
        { "f64", "8x8x8 threads=16",
          "stage m.a m.r0.0\nstage m.b m.r0.0\nepilogue m alias\nswizzle m.a\n" },
        { "f32", "8x8x8 threads=16", "stage m.a m.r0.0 depth=4\n" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int splits = 0; splits < 2; splits++) {
            char *text = tiled(rows[i].dtype, 40, 24, 48, rows[i].tile, rows[i].steps);
            struct lprog *l;
            struct err e = { 0 };

            if (splits)
                text = arena_printf(&arena, "%.*sschedule\nsplitk m 2 serial\n%s",
                                    (int)(strstr(text, "schedule") - text), text,
                                    strstr(text, "schedule") + 9);
            if (lower_with(text, FAULT_none, &l, &e))
                fail_msg("%s in\n%s", e.msg, text);
            for (int k = 0; k < l->n_kernel; k++)
                if (races(l, k, -1)) {
                    print(l);
                    fail_msg("a race in kernel %s", l->kernel[k].name);
                }
            arena_reset(&arena);
        }
}

static void no_shared_memory_no_barrier(void **state)
{
    struct lprog *l = lowered(tiled("f32", 20, 24, 9, "16x16x8 threads=32", ""), FAULT_none);

    (void)state;
    assert_int_equal(syncs(&l->kernel[0]), 0);
}

/* What threads of a block hand each other through a temporary needs one barrier, and none
 * where that of a semaphore stands there already. */
static void meetings_in_global_memory(void **state)
{
    struct lprog *l = lowered(
        tiled("f32", 20, 24, 9, "16x16x8 threads=32", "epilogue m global\n"), FAULT_none);
    char *text = tiled("f32", 20, 24, 32, "16x16x8 threads=32", "epilogue m global\n");
    const char *rest = strstr(text, "schedule") + 9;
    struct lprog *slices = lowered(
        arena_printf(&arena, "%.*ssplitk m 2 serial\n%s", (int)(rest - text), text, rest),
        FAULT_none);

    (void)state;
    assert_int_equal(syncs(&l->kernel[0]), 1);
    assert_int_equal(kernel_smem(l, 0), 0);
    check_barriers(l);
    for (int k = 0; k < slices->n_kernel; k++) {
        bool part = slices->kernel[k].splitk == SPLITK_SERIAL;

        assert_int_equal(syncs(&slices->kernel[k]), part ? 2 : 0);
        assert_false(races(slices, k, -1));
    }
}

static int shared(const struct lprog *l, const char *name)
{
    for (int b = 0; b < l->n_buffer; b++)
        if (l->buffer[b].kind == BUF_SHARED && strcmp(l->buffer[b].name, name) == 0)
            return b;
    fail_msg("no buffer %s", name);
    return -1;
}

static void places_in_the_pool(void **state)
{
    struct lprog *own = lowered(staged(" depth=3 async", "epilogue m own\n"), FAULT_none);
    struct lprog *alias = lowered(staged(" depth=3 async", "epilogue m alias\n"), FAULT_none);
    struct err e = { 0 };

    (void)state;
    for (int b = 0; b < own->n_buffer; b++)
        if (own->buffer[b].kind == BUF_SHARED)
            assert_int_equal(own->buffer[b].smem_at % 16, 0);
    assert_int_equal(own->buffer[shared(own, "m.a")].smem_at, 0);
    assert_int_equal(own->buffer[shared(own, "m.b")].smem_at, 1536);
    assert_int_equal(own->buffer[shared(own, "m.e")].smem_at, 3072);
    assert_int_equal(alias->buffer[shared(alias, "m.e")].smem_at, 0);
    assert_int_equal(kernel_smem(alias, 0), 3072);
    /* 64 x 64 x 3 stages x 2 operands x 4 bytes */
    assert_int_equal(lower_with(tiled("f32", 64, 64, 128, "64x64x64 threads=128",
                                      "stage m.a m.r0.0 depth=3\nstage m.b m.r0.0 depth=3\n"),
                                FAULT_none, &alias, &e),
                     ERR_ILLEGAL);
    assert_int_equal(e.line, 9);
}

static void faults(void **state)
{
    const char *rings = staged(" depth=3 async", "epilogue m alias\n");
    const char *narrow =
        tiled("f32", 20, 24, 37, "5x3x7 threads=15", "stage m.a m.r0.0\nstage m.b m.r0.0\n");
    struct lprog *l;
    int inside = 0, depth = 0;

    (void)state;
    assert_true(races(lowered(rings, FAULT_barrier_before_wait), 0, -1));
    assert_true(races(lowered(rings, FAULT_smem_alias_unseen_by_sync), 0, -1));
    l = lowered(staged(" depth=3 async", "epilogue m global\n"),
                FAULT_block_exchange_via_global);
    assert_true(races(l, 0, -1));
    assert_int_equal(syncs(&l->kernel[0]), 2);
    l = lowered(reduction(64, "sum", rows_in_turn), FAULT_reduce_scratch_reuse_race);
    assert_true(races(l, 0, -1));
    l = lowered(narrow, FAULT_smem_offset_unaligned_overlap);
    assert_true(l->buffer[shared(l, "m.b")].smem_at < 5 * 7 * 4);
    l = lowered(reduction(64, "sum", one_row), FAULT_divergent_barrier);
    for (int i = 0; i < l->kernel[0].n; i++) {
        depth += l->kernel[0].st[i].kind == ST_IF;
        depth -= l->kernel[0].st[i].kind == ST_END && depth > 0;
        inside += l->kernel[0].st[i].kind == ST_SYNC && depth > 0;
    }
    assert_int_equal(inside, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reductions_over_threads),
        cmocka_unit_test(guards_sink_into_a_reduction),
        cmocka_unit_test(what_can_not_be_reduced_so),
        cmocka_unit_test(stages_and_rings),
        cmocka_unit_test(richer_kernels),
        cmocka_unit_test(no_shared_memory_no_barrier),
        cmocka_unit_test(meetings_in_global_memory),
        cmocka_unit_test(places_in_the_pool),
        cmocka_unit_test(faults),
    };
    int failed;

    arena_init(&arena);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_release(&arena);
    return failed;
}
