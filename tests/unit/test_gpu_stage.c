/*
 * Stages, rings, wide copies, swizzles and epilogues in the serial form of bound kernels:
 * after every rewrite the interpreter must get what it gets from the naive kernels.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ir/text.h"
#include "lower/lower.h"
#include "run/interp.h"

static struct run_env env;
static struct arena arena;
static struct str text;

static struct trial *parse(const char *body)
{
    struct trial *t;
    struct err e = { 0 };
    char *s = arena_printf(&arena, "tilefuzz 1\n%s", body);

    if (trial_parse(s, strlen(s), &arena, &t, &e) || trial_check(t, &e))
        fail_msg("%d:%d: %s in\n%s", e.line, e.col, e.msg, body);
    return t;
}

static struct lprog *lowered(const struct trial *t, enum fault fault, int stop)
{
    struct lower_opts o = LOWER_OPTS_DEFAULT;
    struct lprog *l;
    struct err e = { 0 };

    o.fault = fault;
    o.stop_after = stop;
    if (lower(t, &o, &arena, &l, &e))
        fail_msg("line %d: %s", e.line, e.msg);
    return l;
}

static size_t out_bytes(const struct lprog *l)
{
    for (int i = 0; i < l->n_buffer; i++)
        if (l->buffer[i].kind == BUF_OUTPUT && l->buffer[i].slot == 0)
            return (size_t)(l->buffer[i].elems * dtype_info(l->buffer[i].dt)->bytes);
    fail_msg("no output");
    return 0;
}

/* What the naive kernels of the trial give in ring. */
static void *reference(const struct trial *t, size_t *bytes)
{
    struct lprog *l = lowered(t, FAULT_none, 0);
    struct outcome o;
    void *want;

    run_begin(&env);
    interp_run(&env, l, AL_RING, &o);
    assert_int_equal(o.status, OUT_RAN);
    *bytes = out_bytes(l);
    want = arena_alloc(&arena, *bytes, 16);
    memcpy(want, o.out[0], *bytes);
    return want;
}

static bool right(const struct lprog *l, const void *want, size_t bytes)
{
    struct outcome o;

    run_begin(&env);
    env.step_limit = (int64_t)1 << 26;
    interp_run(&env, l, AL_RING, &o);
    return o.status == OUT_RAN && memcmp(o.out[0], want, bytes) == 0;
}

static bool has_rule(const struct lprog *l, const char *rule)
{
    for (int i = 0; i < l->n_log; i++)
        if (strcmp(l->log[i].rule, rule) == 0)
            return true;
    return false;
}

/* Every stop gives what the naive kernels give, and every rule of `rules` is among them. */
static void every_stop(const char *body, const char *const *rules)
{
    const struct trial *t;
    struct lprog *all, *l;
    size_t bytes;
    void *want;

    arena_reset(&arena);
    t = parse(body);
    want = reference(t, &bytes);
    all = lowered(t, FAULT_none, INT32_MAX);
    for (int i = 0; rules && rules[i]; i++)
        if (!has_rule(all, rules[i]))
            fail_msg("no %s in\n%s", rules[i], body);
    for (int n = 0; n <= all->n_log; n++) {
        l = lowered(t, FAULT_none, n);
        if (!right(l, want, bytes)) {
            struct lower_opts o = LOWER_OPTS_DEFAULT;
            struct err e = { 0 };

            o.stop_after = n;
            o.bound = true;
            assert_int_equal(lower(t, &o, &arena, &l, &e), 0);
            str_clear(&text);
            loop_print(l, &text);
            fail_msg("wrong after rewrite %d (%s) of\n%s%s", n, l->log[n - 1].rule, body,
                     text.s);
        }
    }
}

#define MM(m, n, k)                                                                            \
    "input x f32 [" #m "," #k "]\ninput y f32 [" #k "," #n "]\nm = matmul x y\noutput m\n"     \
    "schedule\n"
#define MH(m, n, k)                                                                            \
    "input x f16 [" #m "," #k "]\ninput y f16 [" #k "," #n "]\nm = matmul x y\noutput m\n"     \
    "schedule\n"
#define BOTH(how) "stage m.a m.r0.0" how "\nstage m.b m.r0.0" how "\n"

static void plain_stages(void **state)
{
    static const char *const copy[] = { "stage.copy", NULL };

    (void)state;
    every_stop(MM(32, 16, 24) "tile m 16x8x8 threads=32\n" BOTH(""), copy);
    every_stop(MM(32, 16, 24) "tile m 16x8x8 threads=32\nstage m.b m.r0.0\nstage m.a m.r0.0\n",
               copy);
    every_stop(MM(32, 16, 24) "tile m 16x8x8 threads=32\nstage m.b m.r0.0\n", copy);
    every_stop(MM(19, 13, 21) "tile m 16x8x8 threads=32\n" BOTH(""), copy);
    every_stop(MM(5, 3, 7) "tile m 8x8x4 threads=16\n" BOTH(""), copy);
    every_stop(MM(19, 13, 21) "tile m 8x8 threads=64\nstage m.a m.r0\nstage m.b m.r0\n", copy);
    every_stop(
        "input x f32 [3,10,9]\ninput y f32 [3,9,11]\nm = matmul x y\noutput m\nschedule\n"
        "tile m 8x8x4 threads=32\n" BOTH(""),
        copy);
}

static void operands_through_views(void **state)
{
    static const char *const copy[] = { "stage.copy", NULL };

    (void)state;
    every_stop("input x f32 [21,19]\ninput y f32 [13,21]\nxt = permute x [1,0]\n"
               "yt = permute y [1,0]\nm = matmul xt yt\noutput m\nschedule\n"
               "tile m 8x8x4 threads=32\n" BOTH(""),
               copy);
    every_stop("input x f32 [13,10]\ninput y f32 [14,9]\nxp = pad x [1:2,2:2]\n"
               "m = matmul xp y\noutput m\nschedule\n"
               "tile m 8x8x4 threads=32\n" BOTH(" depth=3 async"),
               copy);
    every_stop("input x f32 [13,10]\ninput y f32 [14,9]\nxp = pad x [1:2,2:2] value=3\n"
               "m = matmul xp y\noutput m\nschedule\n"
               "tile m 8x8x4 threads=32\n" BOTH(" depth=2"),
               copy);
    every_stop("input x f32 [30,12]\ninput y f32 [12,9]\nxs = slice x [29:2:-2,0:12:1]\n"
               "m = matmul xs y\noutput m\nschedule\n"
               "tile m 8x8x4 threads=32\n" BOTH(" depth=2"),
               copy);
    every_stop("input x f32 [6,24]\ninput y f32 [12,9]\nxs = reshape x [12,12]\n"
               "m = matmul xs y\noutput m\nschedule\n"
               "tile m 8x8x4 threads=32\n" BOTH(" depth=2"),
               copy);
    every_stop("input x f32 [6,24]\ninput y f32 [12,9]\nxq = permute x [1,0]\n"
               "xs = reshape xq [12,12]\nm = matmul xs y\noutput m\nschedule\n"
               "tile m 8x8x4 threads=32\n" BOTH(" depth=2"),
               copy);
}

static void loads_inside_expressions(void **state)
{
    static const char *const copy[] = { "stage.copy", NULL };

    (void)state;
    every_stop("input x f32 [19,21]\ninput y f32 [21,13]\ninput z f32 [19,21]\n"
               "a = mul x z\nb = exp y\nm = matmul a b\noutput m\nschedule\n"
               "fuse a m\nfuse b m\ntile m 8x8x4 threads=32\n"
               "stage m.a m.r0.0 depth=2\nstage m.b m.r0.0 depth=2\nstage m.c m.r0.0 depth=2\n",
               copy);
    every_stop("input x f32 [13,10]\ninput y f32 [14,9]\ne = exp x\nxp = pad e [1:2,2:2]\n"
               "m = matmul xp y\noutput m\nschedule\nfuse e m\n"
               "tile m 8x8x4 threads=32\n" BOTH(" depth=3 async"),
               copy);
    every_stop("input x f32 [19,21]\ninput y f32 [21,13]\nm = matmul x y\nd = exp m\n"
               "output d\nschedule\nfuse m d\ntile m 8x8x4 threads=32\n" BOTH(" depth=2"),
               copy);
    every_stop("input x f32 [40,24]\ns = sum x axes=[1]\noutput s\nschedule\n"
               "split s.r0 8\nbind s.i0 thread\nstage s.a s.r0.0 depth=3 async\n",
               copy);
}

static void rings(void **state)
{
    static const char *const deep[] = { "stage.copy", "ring.stages", NULL };
    static const char *const async[] = { "stage.copy", "ring.async", NULL };
    static const char *const drained[] = { "ring.async", "ring.drain", NULL };
    static const char mm[] = MM(19, 13, 43) "tile m 8x8x8 threads=32\n";
    static const char shallow[] = MM(19, 13, 13) "tile m 8x8x8 threads=32\n";

    (void)state;
    for (int d = 1; d <= 5; d++)
        for (int a = 0; a < 2; a++) {
            const char *const *rules = d > 1 ? deep : NULL;
            char how[40], body[400];

            if (a)
                rules = d > 2 ? drained : async;
            snprintf(how, sizeof how, " depth=%d%s\n", d, a ? " async" : "");
            snprintf(body, sizeof body, "%sstage m.a m.r0.0%sstage m.b m.r0.0%s", mm, how, how);
            every_stop(body, rules);
            snprintf(body, sizeof body, "%sstage m.a m.r0.0%sstage m.b m.r0.0%s", shallow, how,
                     how);
            every_stop(body, rules);
        }
    every_stop(MM(8, 8, 5) "tile m 8x8x8 threads=32\n" BOTH(" depth=5 async"), drained);
}

static void wide_copies(void **state)
{
    static const char *const wide[] = { "stage.copy", "wide.lanes", NULL };

    (void)state;
    every_stop(MM(20, 16, 24) "tile m 16x8x8 threads=32\n" BOTH(" vec=16"), wide);
    every_stop(MM(20, 12, 28) "tile m 16x8x8 threads=32\n" BOTH(" depth=3 async vec=16"), wide);
    every_stop(MM(19, 14, 22) "tile m 16x8x8 threads=32\n" BOTH(" depth=3 async vec=8"), wide);
    every_stop(MH(19, 14, 22) "tile m 16x8x8 threads=32\n" BOTH(" vec=4"), wide);
    every_stop(MH(20, 16, 24) "tile m 16x16x16 threads=32\n" BOTH(" depth=4 async vec=16"),
               wide);
    every_stop("input x f32 [24,12]\ninput y f32 [24,16]\nxt = permute x [1,0]\n"
               "m = matmul xt y\noutput m\nschedule\n"
               "tile m 8x8x4 threads=32\n" BOTH(" depth=2 async vec=16"),
               wide);
    every_stop("input x f32 [4,24]\ninput y f32 [12,8]\nxs = reshape x [8,12]\n"
               "m = matmul xs y\noutput m\nschedule\n"
               "tile m 8x8x4 threads=32\n" BOTH(" vec=16"),
               wide);
    every_stop("input x f32 [16,8]\ninput y f32 [12,8]\nxs = pad x [0:0,4:0]\n"
               "m = matmul xs y\noutput m\nschedule\n"
               "tile m 8x8x4 threads=32\n" BOTH(" depth=3 async vec=16"),
               wide);
}

static void swizzles(void **state)
{
    static const char *const both[] = { "swizzle.columns", NULL };
    static const char *const wide[] = { "swizzle.columns", "wide.lanes", NULL };

    (void)state;
    every_stop(
        MM(20, 16, 24) "tile m 16x8x8 threads=32\n" BOTH("") "swizzle m.a\nswizzle m.b\n",
        both);
    every_stop(MM(20, 32, 48) "tile m 16x16x16 threads=32\n" BOTH(
                   " depth=3 async vec=16") "swizzle m.a\nswizzle m.b\n",
               wide);
    every_stop(MH(20, 32, 64) "tile m 16x16x32 threads=32\n" BOTH(
                   " depth=2 async vec=8") "swizzle m.a\nswizzle m.b\n",
               wide);
}

static void epilogues(void **state)
{
    static const char *const shared[] = { "epilogue.shared", NULL };
    static const char *const global[] = { "epilogue.global", "plan.place", NULL };
    static const char *const serial[] = { "epilogue.global", "semaphore.serial", NULL };

    (void)state;
    every_stop(MM(32, 16, 24) "tile m 16x8x8 threads=32\nepilogue m own\n", shared);
    every_stop(
        MM(19, 13, 21) "tile m 8x8x4 threads=32\n" BOTH(" depth=3 async") "epilogue m alias\n",
        shared);
    every_stop(MH(19, 13, 21) "tile m 8x8 threads=16\nepilogue m own\n", shared);
    every_stop(MM(19, 13, 41) "splitk m 5\ntile m 8x8x4 threads=32\n" BOTH(
                   " depth=3 async") "epilogue m alias\n",
               shared);
    every_stop("input x f32 [19,21]\ninput y f32 [21,13]\ninput z f32 [13,19]\n"
               "m = matmul x y\nzt = permute z [1,0]\nd = add m zt\n"
               "output d\nschedule\nfuse m d\ntile m 8x8x4 threads=32\nepilogue m own\n",
               shared);
    every_stop(MM(19, 13, 21) "tile m 8x8x4 threads=32\nepilogue m global\n", global);
    every_stop(MM(8, 16, 8) "tile m 8x8x4 threads=32\nepilogue m global\n", global);
    every_stop(MM(19, 13, 41) "splitk m 5 serial\ntile m 8x8x4 threads=32\n" BOTH(
                   " depth=3 async") "epilogue m global\n",
               serial);
    every_stop(MM(19, 13, 41) "splitk m 3 atomic\ntile m 8x8x4 threads=32\n"
                              "epilogue m global\n",
               global);
    every_stop("input x f32 [16,8]\ninput y f32 [8,16]\nm = matmul x y\ne = exp m\n"
               "r = sum e axes=[1]\noutput r\nschedule\ntile m 8x8x4 threads=32\n"
               "epilogue m global\n",
               global);
}

static void tensor_core_tiles(void **state)
{
    static const char *const all[] = { "stage.copy", "ring.async", "epilogue.shared", NULL };

    (void)state;
    every_stop(MH(40, 24, 64) "tile m 32x16x16 threads=64 mma\n" BOTH(
                   " depth=3 async vec=16") "epilogue m alias\n",
               all);
    every_stop(MH(36, 20, 56) "tile m 32x16x32 threads=64 mma\n" BOTH(
                   " depth=3 async vec=8") "epilogue m alias\nswizzle m.a\nswizzle m.b\n",
               all);
}

/* Loops of other kernels than tiled reductions. */
static void other_kernels(void **state)
{
    static const char *const copy[] = { "stage.copy", NULL };
    static const char flash[] = "input q f32 [2,9,8]\ninput k f32 [2,30,8]\n"
                                "input v f32 [2,30,12]\n"
                                "z = attention q k v scale=0.25\noutput z\nschedule\n"
                                "algo z flash block=8\nbind z.i0 block\nbind z.i1 thread\n";
    static const char *const ring[] = { "ring.async", "wide.lanes", NULL };
    char body[600];

    (void)state;
    every_stop("input x f32 [40,28]\np = permute x [1,0]\nt = copy p\noutput t\nschedule\n"
               "tile t 16x16 threads=32\nstage t.a t.i0.1.1\n",
               copy);
    every_stop("input x f32 [12,200]\ns = sum x axes=[1]\noutput s\nschedule\n"
               "split s.r0 32\nreorder s s.i0 s.r0.1 s.r0.0\nbind s.i0 block\n"
               "bind s.r0.1 thread\nstage s.a s.r0.0 depth=3 async\n",
               copy);
    snprintf(body, sizeof body, "%sstage z.b z.r0\n", flash);
    every_stop(body, copy);
    snprintf(body, sizeof body,
             "%sstage z.b z.r0 depth=3 async vec=16\nstage z.c z.r0 depth=3 async vec=16\n",
             flash);
    every_stop(body, ring);
    snprintf(body, sizeof body, "%sstage z.a z.r0\nstage z.c z.r0\nstage z.b z.r1\n", flash);
    every_stop(body, copy);
}

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
        cmocka_unit_test(plain_stages),
        cmocka_unit_test(operands_through_views),
        cmocka_unit_test(loads_inside_expressions),
        cmocka_unit_test(rings),
        cmocka_unit_test(wide_copies),
        cmocka_unit_test(swizzles),
        cmocka_unit_test(epilogues),
        cmocka_unit_test(tensor_core_tiles),
        cmocka_unit_test(other_kernels),
        cmocka_unit_test(faults_show),
        cmocka_unit_test(faults_of_time),
        cmocka_unit_test(illegal_steps_name_their_line),
    };
    int failed;

    if (!run_env_open(&env))
        return 1;
    arena_init(&arena);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    str_release(&text);
    arena_release(&arena);
    run_env_close(&env);
    return failed;
}
