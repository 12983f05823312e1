/* Stages that are wrong on purpose: faults that a serial run shows or not, illegal steps. */
#include "staging.h"

/* Faults that a serial run shows: as a wrong value, or outside of an array. */
static void faults_show(void **state)
{
    static const struct {
        enum fault fault;
        const char *body;
    } rows[] = {
        { FAULT_guard_elided_smem_or_init,
          MM(16, 16, 16) "tile m 8x8x2 threads=64\n" BOTH("") },
        { FAULT_ring_stage_overwritten,
          MM(16, 16, 40) "tile m 8x8x8 threads=32\n" BOTH(" depth=2") },
        { FAULT_ring_stage_overwritten,
          MM(16, 16, 40) "tile m 8x8x8 threads=32\n" BOTH(" depth=4 async") },
        { FAULT_store_granule_not_dividing,
          MM(19, 13, 21) "tile m 8x8x4 threads=32\nepilogue m own\n" },
        { FAULT_alignment_from_shape_not_stride,
          MM(19, 14, 22) "tile m 16x8x8 threads=32\n" BOTH(" vec=8") },
        { FAULT_alignment_from_shape_not_stride,
          MM(19, 13, 21) "tile m 16x8x8 threads=32\n" BOTH("") },
        { FAULT_swizzle_one_side,
          MM(20, 16, 24) "tile m 16x8x8 threads=32\n" BOTH("") "swizzle m.a\n" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct trial *t;
        size_t bytes;
        void *want;

        arena_reset(&arena);
        t = parse(rows[i].body);
        want = reference(t, &bytes);
        assert_true(right(lowered(t, FAULT_none, INT32_MAX), want, bytes));
        if (right(lowered(t, rows[i].fault, INT32_MAX), want, bytes))
            fail_msg("%s does not show in\n%s", fault_info(rows[i].fault)->id, rows[i].body);
    }
}

/* Those that only time shows change what waits, and nothing else. */
static void faults_of_time(void **state)
{
    static const char body[] =
        MM(16, 16, 40) "tile m 8x8x8 threads=32\n" BOTH(" depth=3 async");
    const struct trial *t;
    size_t bytes;
    void *want;

    (void)state;
    arena_reset(&arena);
    t = parse(body);
    want = reference(t, &bytes);
    assert_false(
        has_rule(lowered(t, FAULT_async_zero_fill_after_loop, INT32_MAX), "ring.drain"));
    assert_true(right(lowered(t, FAULT_async_zero_fill_after_loop, INT32_MAX), want, bytes));
    assert_true(right(lowered(t, FAULT_prefetch_hoisted_over_wait, INT32_MAX), want, bytes));
}

static void illegal_steps_name_their_line(void **state)
{
    static const struct {
        const char *body, *part;
        int line;
    } rows[] = {
        { MM(16, 16, 16) "stage m.a m.r0\n", "has no threads", 7 },
        { MM(16, 16, 16) "tile m 8x8x4 threads=32\nstage m.c m.r0.0\n", "2 operands, no c", 8 },
        { MM(16, 16, 16) "tile m 8x8x4 threads=32\nstage m.a m.i0.0\n", "no serial loop", 8 },
        { MM(16, 16, 16) "tile m 8x8x4 threads=32\nstage m.a m.r0.0\nstage m.a m.r0.0\n",
          "already", 9 },
        { MM(16, 16,
             16) "tile m 8x8x4 threads=32\nstage m.a m.r0.0 depth=2\nstage m.b m.r0.0\n",
          "of the same loop has depth=2", 9 },
        { MM(16, 16, 18) "tile m 8x8x4 threads=32\nstage m.a m.r0.0 vec=16\n",
          "pieces of 16 aligned bytes", 8 },
        { MM(16, 18, 16) "tile m 8x8x4 threads=32\nstage m.b m.r0.0 vec=16\n",
          "pieces of 16 aligned bytes", 8 },
        { MM(16, 16, 16) "tile m 8x8x4 threads=32\nstage m.a m.r0.0 vec=2\n", "less than", 8 },
        { MH(16, 16, 16) "tile m 8x8x4 threads=32\nstage m.a m.r0.0 async\n",
          "4, 8 or 16 bytes", 8 },
        { "input x f32 [13,10]\ninput y f32 [14,9]\nxp = pad x [1:2,2:2] value=3\n"
          "m = matmul xp y\noutput m\nschedule\ntile m 8x8x4 threads=32\n"
          "stage m.a m.r0.0 async\n",
          "fill with 0", 9 },
        { MM(64, 64, 64) "tile m 64x64x64 threads=64\nstage m.a m.r0.0 depth=3\n"
                         "stage m.b m.r0.0 depth=3\n",
          "bytes of shared memory", 9 },
        { MM(16, 16, 16) "tile m 8x8x4 threads=32\nswizzle m.a\n", "not staged", 8 },
        { MM(16, 16, 16) "tile m 8x8x4 threads=32\nstage m.a m.r0.0\nswizzle m.a\n",
          "at least 8", 9 },
        { MM(16, 16, 16) "epilogue m own\n", "not tiled", 7 },
        { MM(16, 16, 16) "tile m 8x8x4 threads=32\nepilogue m global\nepilogue m own\n",
          "has one already", 9 },
        { MM(16, 16, 16) "tile m 8x8x4 threads=32\nepilogue m own\nepilogue m own\n",
          "one already", 9 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct lower_opts o = LOWER_OPTS_DEFAULT;
        struct lprog *l;
        struct err e = { 0 };

        arena_reset(&arena);
        if (lower(parse(rows[i].body), &o, &arena, &l, &e) != ERR_ILLEGAL)
            fail_msg("legal:\n%s", rows[i].body);
        if (!strstr(e.msg, rows[i].part) || e.line != rows[i].line)
            fail_msg("line %d: %s\n%s", e.line, e.msg, rows[i].body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults_show),
        cmocka_unit_test(faults_of_time),
        cmocka_unit_test(illegal_steps_name_their_line),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
