/*
 * Drawn trials as a GPU runs them by default, and drawn tiles, slices and threads: after every
 * rewrite the loops mean the program.
 */
#include "fuzz/gen/gen.h"
#include "gpu_fix.h"

enum { TRIALS = 60, DRAWN = 150 };

/* Drawn trials as a GPU runs them by default. */
static void drawn_trials_keep_their_meaning(void **state)
{
    struct fix *f = *state;
    struct gen_opts o;
    int binds = 0;

    gen_opts_default(&o);
    for (int p = 0; p < PRESET_COUNT; p++)
        for (int i = 0; i < TRIALS; i++) {
            const struct trial *t;

            o.preset = (enum preset)p;
            arena_reset(&f->trial);
            arena_reset(&f->a);
            t = gen_trial(21, (uint64_t)i, &o, &f->trial, &f->scratch);
            binds += check_stops(f, t, TARGET_GPU_SERIAL, pass_find("tile"));
            check_stops(f, t, TARGET_GPU, pass_find("bind"));
        }
    assert_true(binds > 500);
}

static uint32_t lcg(uint32_t *s, uint32_t n)
{
    *s = *s * 1664525u + 1013904223u;
    return (*s >> 8) % n;
}

static void draw_fragments(struct str *o, uint32_t *s)
{
    static const char *const how[] = { "",
                                       " depth=2",
                                       " depth=3 async vec=4",
                                       " depth=5 async vec=8",
                                       " vec=4",
                                       " depth=1 async vec=16" };
    static const char *const tile[] = { "16x8x16 threads=32", "32x16x16 threads=64",
                                        "32x32x32 threads=128", "16x32x32 threads=64",
                                        "64x8x16 threads=64" };
    const char *at = how[lcg(s, 6)];

    str_add(o, "tile m %s mma\n", tile[lcg(s, 5)]);
    if (lcg(s, 4) == 0)
        str_add(o, "unroll m.i0.1.1.0\n");
    str_add(o, "stage m.a m.r0.0%s\nstage m.b m.r0.0%s\n", at, at);
    if (lcg(s, 2))
        str_add(o, "epilogue m %s\n", exchange_name((enum exchange)lcg(s, EXCHANGE_COUNT)));
    if (lcg(s, 4) == 0)
        str_puts(o, "swizzle m.a\n");
}

/* A schedule of tile, splitk, bind and what follows them; some are illegal. */
static const char *draw_steps(struct fix *f, uint32_t *s)
{
    static const char *const mode[] = { "", " serial", " atomic", " workspace" };
    static const int size[] = { 1, 2, 4, 8, 16, 3, 6 };
    static const int threads[] = { 1, 2, 4, 8, 16, 32, 64 };
    struct str o = { 0 };
    const char *text;

    if (lcg(s, 4) == 0)
        str_add(&o, "split m.r0 %d\n", size[lcg(s, 7)]);
    if (lcg(s, 5) == 0)
        str_add(&o, "split m.i%u %d\n", lcg(s, 2), size[lcg(s, 7)]);
    if (lcg(s, 2))
        str_add(&o, "splitk m %u%s\n", 1 + lcg(s, 5), mode[lcg(s, 4)]);
    if (lcg(s, 4) == 0) {
        draw_fragments(&o, s);
    } else if (lcg(s, 3)) {
        str_add(&o, "tile m %dx%d", size[lcg(s, 7)], size[lcg(s, 7)]);
        if (lcg(s, 4))
            str_add(&o, "x%d threads=%d\n", size[lcg(s, 7)], threads[lcg(s, 7)]);
        else
            str_add(&o, " threads=%d\n", threads[lcg(s, 7)]);
        if (lcg(s, 4) == 0)
            str_add(&o, "unroll m.i%u.1.1\n", lcg(s, 2));
        if (lcg(s, 4) == 0)
            str_puts(&o, "unroll m.r0.1\n");
        if (lcg(s, 4) == 0)
            str_puts(&o, "vectorize m.i1.1.1 2\n");
        if (lcg(s, 2))
            str_puts(&o, lcg(s, 2) ? "stage m.a m.r0.0\nstage m.b m.r0.0\n"
                                   : "stage m.a m.r0.0 depth=3 async\n");
        if (lcg(s, 3) == 0)
            str_puts(&o, "epilogue m own\n");
    } else {
        if (lcg(s, 2))
            str_add(&o, "bind m.i0%s\n", lcg(s, 2) ? " block" : " thread");
        if (lcg(s, 2))
            str_add(&o, "bind m.i1%s\n", lcg(s, 2) ? " block" : " thread");
        if (lcg(s, 3) == 0)
            str_puts(&o, "bind m.r0 thread\n");
    }
    text = arena_printf(&f->trial, "%s", str_get(&o));
    str_release(&o);
    return text;
}

static void drawn_steps_keep_the_meaning(void **state)
{
    static const char *const dts[] = { "f32", "f16", "i32", "f16", "bf16", "f16" };
    struct lower_opts o = LOWER_OPTS_DEFAULT;
    struct fix *f = *state;
    uint32_t s = 7;
    int legal = 0;

    for (int i = 0; i < DRAWN; i++) {
        uint32_t m = 1 + lcg(&s, 20), n = 1 + lcg(&s, 20), k = lcg(&s, 24);
        const char *shape = arena_printf(&f->trial, "%u %u %u", m, n, k);
        const char *steps = draw_steps(f, &s),
                   *dt = dts[lcg(&s, 3) + (strstr(steps, "mma") ? 3 : 0)];
        struct err e = { 0 };
        const struct trial *t = try_parse(f, matmul(f, dt, shape, steps), &e);
        struct lprog *l;

        o.target = TARGET_GPU;
        if (t && lower(t, &o, &f->a, &l, &e) == 0) {
            legal++;
            for (int target = 0; target < 3; target++)
                check_stops(f, t, (enum target)target, 0);
        }
        arena_reset(&f->a);
        arena_reset(&f->trial);
    }
    assert_true(legal > DRAWN / 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drawn_trials_keep_their_meaning),
        cmocka_unit_test(drawn_steps_keep_the_meaning),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
