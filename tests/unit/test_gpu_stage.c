/*
 * Stages, rings, wide copies, swizzles and epilogues in the serial form of bound kernels:
 * after every rewrite the interpreter must get what it gets from the naive kernels.
 */
#include "staging.h"

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
            struct str text = { 0 };

            o.stop_after = n;
            o.bound = true;
            assert_int_equal(lower(t, &o, &arena, &l, &e), 0);
            loop_print(l, &text);
            fail_msg("wrong after rewrite %d (%s) of\n%s%s", n, l->log[n - 1].rule, body,
                     text.s);
        }
    }
}

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
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
