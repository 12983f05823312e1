/* The interpreter and the tracer on hand-built loops of 2-byte and 8-byte elements. */
#include "interp_hand.h"

#include <math.h>
#include <stdio.h>

#include "ir/data.h"

static const char wide[] = "tilefuzz 1\ninput x f64 [8]\nz = copy x\noutput z\n"
                           "schedule\ndata seed=1 recipe=ints\n"
                           "values x [0.1,1.1,2.1,3.1,4.1,5.1,6.1,7.1]\n";

struct arrays {
    struct kernel *k;
    int i, x, z; /* a loop variable of 8, buffers of 8 f64 */
};

static struct arrays hand_built(struct fix *f)
{
    struct arrays s;

    build(f, wide);
    f->l.n_kernel = 0;
    s.x = f->l.node_buffer[0];
    s.z = f->l.node_buffer[1];
    s.i = lprog_var(&f->l, 1, "z.i9", 8, false);
    lprog_kernel(&f->l, "z", 1);
    s.k = f->l.kernel;
    return s;
}

static int temp(struct fix *f, enum dtype dt, int64_t elems, int64_t arena_at)
{
    if (f->l.arena_bytes < 64)
        f->l.arena_bytes = 64;
    return lprog_buffer(&f->l, (struct buffer){ .name = "t",
                                                .kind = BUF_TEMP,
                                                .dt = dt,
                                                .sh = { 1, { elems } },
                                                .layout = { true, 0, { 1 } },
                                                .elems = elems,
                                                .arena_at = arena_at,
                                                .node = -1 });
}

/* Every pattern of a half: written to the arena as an i32, read there as the half that its
 * low bytes are, given out as it is and as f64. */
static void patterns_pass_through_memory(void **state)
{
    static const enum dtype dt[] = { DT_F16, DT_BF16 };

    for (int i = 0; i < 2; i++) {
        struct fix *f = *state;
        char text[200];
        int n, v, t, u, half;
        const uint16_t *z;
        const double *d;

        snprintf(
            text, sizeof text,
            "tilefuzz 1\nx = iota %s [65536] axis=0\ny = copy x\nd = cast y f64\noutput y\n"
            "output d\nschedule\ndata seed=1 recipe=ints\n",
            dtype_info(dt[i])->name);
        build(f, text);
        f->l.n_kernel = 0;
        n = lprog_var(&f->l, 1, "n", 65536, false);
        v = ix_var(&f->l.ix, n);
        f->l.arena_bytes = 4 * 65536;
        t = temp(f, DT_I32, 65536, 0);
        u = temp(f, dt[i], 131072, 0);
        half = load(f, u, ix_scale(&f->l.ix, v, 2));
        lprog_kernel(&f->l, "y", 1);
        push_loop_of(f, f->l.kernel, n, LOOP_SERIAL);
        push_store_of(f, f->l.kernel, t, v, lprog_index(&f->l, DT_I32, v));
        push_store_of(f, f->l.kernel, f->l.node_buffer[1], v, half);
        push_store_of(f, f->l.kernel, f->l.node_buffer[2], v,
                      lprog_op1(&f->l, OP_CAST, DT_F64, half));
        push_end_of(f, f->l.kernel);
        run(f, AL_IEEE);
        z = f->o.out[0];
        d = f->o.out[1];
        for (int b = 0; b < 65536; b++) {
            double want = number(dt[i], (uint64_t)b);

            if (isnan(want) ? !isnan(d[b]) : d[b] != want || z[b] != b)
                fail_msg("%s %#x is %g, then %#x", dtype_info(dt[i])->name, b, d[b], z[b]);
        }
        run(f, AL_RING);
        for (int b = 0; b < 65536; b++) {
            assert_int_equal(((const uint16_t *)f->o.out[0])[b], b);
            assert_int_equal(((const uint64_t *)f->o.out[1])[b], b);
        }
    }
}

/* An array of four f64 accumulators, filled in lanes: z = x[i] of i % 4, added up. */
static void wide_lanes_and_arrays(void **state)
{
    struct fix *f = *state;
    struct arrays s = hand_built(f);
    struct ixs *x = &f->l.ix;
    int v = ix_var(x, s.i), at = ix_mod(x, v, 4);
    int acc = lprog_acc(
        &f->l, (struct acc){
                   .dt = DT_F64, .op = OP_SUM, .identity = OP_SUM, .elems = 4, .name = "z" });
    const double *z;

    kernel_push(&f->l, s.k, (struct stmt){ .kind = ST_DECL, .acc = acc, .acc_at = -1 });
    push_loop_of(f, s.k, s.i, LOOP_LANES);
    kernel_push(
        &f->l, s.k,
        (struct stmt){ .kind = ST_UPDATE, .acc = acc, .acc_at = at, .val = load(f, s.x, v) });
    push_end_of(f, s.k);
    push_loop_of(f, s.k, s.i, LOOP_LANES);
    push_store_of(f, s.k, s.z, v, lprog_acc_load(&f->l, acc, at));
    push_end_of(f, s.k);
    run(f, AL_IEEE);
    z = f->o.out[0];
    for (int n = 0; n < 8; n++)
        assert_true(z[n] == n % 4 + 0.1 + (n % 4 + 4.1));
    run(f, AL_RING);
    for (int n = 0; n < 8; n++)
        assert_true(((const uint64_t *)f->o.out[0])[n] ==
                    (uint32_t)(ring_literal(n % 4 + 0.1) + ring_literal(n % 4 + 4.1)));
}

/* Two i32 and one f64 share 8 bytes of the arena: in ring the low half counts. */
static void a_ring_f64_is_its_low_half(void **state)
{
    struct fix *f = *state;
    struct arrays s = hand_built(f);
    struct ixs *x = &f->l.ix;
    int t = temp(f, DT_I32, 2, 0), u = temp(f, DT_F64, 1, 0), zero = ix_const(x, 0);

    push_store_of(f, s.k, t, zero, lprog_lit(&f->l, DT_I32, -5));
    push_store_of(f, s.k, t, ix_const(x, 1), lprog_lit(&f->l, DT_I32, 7));
    push_store_of(f, s.k, s.z, zero, load(f, u, zero));
    run(f, AL_RING);
    assert_true(*(const uint64_t *)f->o.out[0] == 0xfffffffbu);
    run(f, AL_IEEE);
    assert_true(*(const uint64_t *)f->o.out[0] == 0x7fffffffbu);
}

/* --- the tracer --- */

static void traces_end_as_runs_do(void **state)
{
    struct fix *f = *state;
    struct trace tr;
    struct arrays s = hand_built(f);
    struct ixs *x = &f->l.ix;
    int t = temp(f, DT_F64, 100, 16), j; /* of which the arena has room for 6 */

    push_loop_of(f, s.k, s.i, LOOP_SERIAL);
    push_store_of(f, s.k, t, ix_var(x, s.i), load(f, s.x, ix_var(x, s.i)));
    push_end_of(f, s.k);
    interp_run(&f->env, &f->l, AL_IEEE, &f->o);
    assert_int_equal(f->o.status, OUT_OUT_OF_BOUNDS);
    assert_int_equal(f->o.site.index, 6);
    assert_int_equal(f->o.site.size, 6);
    interp_trace(&f->l, 0, &tr, &f->a);
    assert_int_equal(tr.ended.status, OUT_OUT_OF_BOUNDS);
    assert_memory_equal(&tr.ended.site, &f->o.site, sizeof f->o.site);

    s = hand_built(f);
    j = lprog_var(&f->l, 1, "z.r0", INT64_C(1) << 40, true);
    push_loop_of(f, s.k, j, LOOP_SERIAL);
    push_end_of(f, s.k);
    interp_trace(&f->l, 0, &tr, &f->a);
    assert_int_equal(tr.ended.status, OUT_HANG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_pass_through_memory),
        cmocka_unit_test(wide_lanes_and_arrays),
        cmocka_unit_test(a_ring_f64_is_its_low_half),
        cmocka_unit_test(traces_end_as_runs_do),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
