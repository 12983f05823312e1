/* The interpreter on hand-built loops: bounds, steps, lanes, storage, traces. */
#include "interp_hand.h"

static const char hand[] =
    "tilefuzz 1\ninput x i32 [8]\ninput y i32 [8]\nz = copy x\noutput z\n"
    "schedule\ndata seed=1 recipe=ints\nvalues x [0,1,2,3,4,5,6,7]\n"
    "values y [10,11,12,13,14,15,16,17]\n";
enum { X, Y, Z };

/* Buffers x, y, z of 8 i32, an empty kernel k and a loop variable i of 8. */
static struct kernel *hand_built(struct fix *f, int *i)
{
    const struct prog *p;

    arena_reset(&f->a);
    start(f, read_good(hand, &f->a));
    p = f->l.prog;
    for (int n = X; n <= Z; n++)
        lprog_buffer(
            &f->l, (struct buffer){ .name = p->node[n].name,
                                    .kind = n == Z ? BUF_OUTPUT : BUF_INPUT,
                                    .slot = n == Z ? 0 : n,
                                    .dt = DT_I32,
                                    .sh = p->node[n].sh,
                                    .layout = layout_of(&(struct layout){ 0 }, &p->node[n].sh),
                                    .elems = 8,
                                    .arena_at = -1,
                                    .node = n });
    *i = lprog_var(&f->l, Z, "z.i0", 8, false);
    lprog_kernel(&f->l, "z", Z);
    return f->l.kernel;
}

static void outside_loads_and_stores_stop(void **state)
{
    struct fix *f = *state;
    struct ixs *x = &f->l.ix;
    int i, v;
    struct kernel *k = hand_built(f, &i);

    v = ix_var(x, i);
    push_loop_of(f, k, i, LOOP_SERIAL);
    push_store_of(f, k, Z, v, load(f, Y, ix_scale(x, v, 3)));
    push_end_of(f, k);
    interp_run(&f->env, &f->l, AL_RING, &f->o);
    assert_int_equal(f->o.status, OUT_OUT_OF_BOUNDS);
    assert_string_equal(f->o.site.kernel, "z");
    assert_string_equal(f->o.site.buffer, "y");
    assert_string_equal(f->o.site.loops, "z.i0=3");
    assert_int_equal(f->o.site.index, 9);
    assert_int_equal(f->o.site.size, 8);
    assert_false(f->o.site.store);

    k = hand_built(f, &i);
    v = ix_var(x, i);
    push_loop_of(f, k, i, LOOP_SERIAL);
    push_store_of(f, k, Z, ix_add(x, ix_scale(x, v, -((int64_t)1 << 60)), ix_const(x, 7)),
                  load(f, X, v));
    push_end_of(f, k);
    interp_run(&f->env, &f->l, AL_IEEE, &f->o);
    assert_int_equal(f->o.status, OUT_OUT_OF_BOUNDS);
    assert_string_equal(f->o.site.loops, "z.i0=1");
    assert_true(f->o.site.store);
    assert_true(f->o.site.index < 0);
}

/* z[0] = sum of x[i] * y[i + shift] over i, in one accumulator */
static void push_dot(struct fix *f, struct kernel *k, int i, int64_t shift)
{
    struct ixs *x = &f->l.ix;
    int v = ix_var(x, i);
    int acc = lprog_acc(
        &f->l, (struct acc){
                   .dt = DT_I32, .op = OP_SUM, .identity = OP_SUM, .elems = 1, .name = "z" });
    int mul = lprog_op2(&f->l, OP_MUL, DT_I32, load(f, X, v),
                        load(f, Y, ix_add(x, v, ix_const(x, shift))));

    kernel_push(&f->l, k, (struct stmt){ .kind = ST_DECL, .acc = acc, .acc_at = -1 });
    push_loop_of(f, k, i, LOOP_SERIAL);
    kernel_push(&f->l, k,
                (struct stmt){ .kind = ST_UPDATE, .acc = acc, .acc_at = -1, .val = mul });
    push_end_of(f, k);
    push_store_of(f, k, Z, ix_const(x, 0), lprog_acc_load(&f->l, acc, -1));
}

static void dots_are_checked(void **state)
{
    struct fix *f = *state;
    struct kernel *k;
    int i;

    k = hand_built(f, &i);
    push_dot(f, k, i, 0);
    assert_int_equal(run(f, AL_IEEE)[0], 28 * 10 + 140);
    k = hand_built(f, &i);
    push_dot(f, k, i, 1);
    interp_run(&f->env, &f->l, AL_IEEE, &f->o);
    assert_int_equal(f->o.status, OUT_OUT_OF_BOUNDS);
    assert_string_equal(f->o.site.loops, "z.i0=7");
    k = hand_built(f, &i);
    push_dot(f, k, i, 0);
    f->env.step_limit = 7;
    interp_run(&f->env, &f->l, AL_IEEE, &f->o);
    assert_int_equal(f->o.status, OUT_HANG);
}

static void steps_are_limited(void **state)
{
    struct fix *f = *state;
    int i, j;
    struct kernel *k = hand_built(f, &i);

    j = lprog_var(&f->l, Z, "z.r0", INT64_C(1) << 40, true);
    push_loop_of(f, k, i, LOOP_SERIAL);
    push_loop_of(f, k, j, LOOP_SERIAL);
    push_end_of(f, k);
    push_end_of(f, k);
    interp_run(&f->env, &f->l, AL_IEEE, &f->o);
    assert_int_equal(f->o.status, OUT_HANG);
    assert_string_equal(f->o.site.kernel, "z");
}

static void lanes_read_before_they_write(void **state)
{
    static const enum loop_kind kind[] = { LOOP_SERIAL, LOOP_LANES };

    for (int n = 0; n < 2; n++) {
        struct fix *f = *state;
        struct ixs *x = &f->l.ix;
        int i, j, v;
        struct kernel *k = hand_built(f, &i);
        const uint32_t *z;

        v = ix_var(x, i);
        push_loop_of(f, k, i, LOOP_SERIAL);
        push_store_of(f, k, Z, v, load(f, X, v));
        push_end_of(f, k);
        /* z[j+1] = z[j]: a shift in lanes, a smear in a serial loop */
        j = lprog_var(&f->l, Z, "z.i0.1", 7, false);
        v = ix_var(x, j);
        push_loop_of(f, k, j, kind[n]);
        push_store_of(f, k, Z, ix_add(x, v, ix_const(x, 1)), load(f, Z, v));
        push_end_of(f, k);
        z = run(f, AL_RING);
        assert_int_equal(z[7], kind[n] == LOOP_LANES ? 6 : 0);
        assert_int_equal(z[1], 0);
    }
}

static void arrays_of_accumulators(void **state)
{
    struct fix *f = *state;
    struct ixs *x = &f->l.ix;
    int i, j, acc, at, is_odd;
    struct kernel *k = hand_built(f, &i);
    const uint32_t *z;

    /* a[i % 4] max= y[i] where i > 3; then z[j] = a[j % 4] */
    acc = lprog_acc(
        &f->l, (struct acc){
                   .dt = DT_I32, .op = OP_MAX, .identity = OP_MAX, .elems = 4, .name = "z" });
    j = lprog_var(&f->l, Z, "z.i1", 8, false);
    at = ix_mod(x, ix_var(x, i), 4);
    is_odd = ix_lt(x, ix_const(x, 3), ix_var(x, i));
    kernel_push(&f->l, k, (struct stmt){ .kind = ST_DECL, .acc = acc, .acc_at = -1 });
    push_loop_of(f, k, i, LOOP_SERIAL);
    kernel_push(&f->l, k, (struct stmt){ .kind = ST_IF, .cond = is_odd });
    kernel_push(
        &f->l, k,
        (struct stmt){
            .kind = ST_UPDATE, .acc = acc, .acc_at = at, .val = load(f, Y, ix_var(x, i)) });
    push_end_of(f, k);
    push_end_of(f, k);
    push_loop_of(f, k, j, LOOP_SERIAL);
    push_store_of(f, k, Z, ix_var(x, j),
                  lprog_acc_load(&f->l, acc, ix_mod(x, ix_var(x, j), 4)));
    push_end_of(f, k);
    z = run(f, AL_IEEE);
    for (int n = 0; n < 8; n++)
        assert_int_equal(z[n], 14 + n % 4);
}

static int temp(struct fix *f, int64_t arena_at)
{
    struct buffer b = f->l.buffer[Z];

    b.name = "t";
    b.kind = BUF_TEMP;
    b.arena_at = arena_at;
    f->l.arena_bytes = 64;
    return lprog_buffer(&f->l, b);
}

/* t = x; u = y; z = t where t and u may share bytes of the arena */
static void push_two_temps(struct fix *f, struct kernel *k, int i, int t, int u)
{
    const int to[] = { t, u, Z }, from[] = { X, Y, t };

    for (int n = 0; n < 3; n++) {
        int v = ix_var(&f->l.ix, i);

        push_loop_of(f, k, i, LOOP_SERIAL);
        push_store_of(f, k, to[n], v, load(f, from[n], v));
        push_end_of(f, k);
    }
}

static void planned_temps_share_storage(void **state)
{
    struct fix *f = *state;
    const uint32_t *z;
    struct kernel *k;
    int i;

    k = hand_built(f, &i);
    push_two_temps(f, k, i, temp(f, 0), temp(f, 16));
    z = run(f, AL_IEEE);
    assert_int_equal(z[3], 3);
    assert_int_equal(z[4], 10);
    k = hand_built(f, &i);
    push_two_temps(f, k, i, temp(f, -1), temp(f, -1));
    z = run(f, AL_IEEE);
    assert_int_equal(z[4], 4);
}

/* --- the tracer --- */

static void accesses_are_recorded(void **state)
{
    struct fix *f = *state;
    struct trace tr;
    struct loops at;
    struct kernel *k;
    int i;

    k = hand_built(f, &i);
    push_two_temps(f, k, i, temp(f, 0), temp(f, 16));
    interp_trace(&f->l, 0, &tr, &f->a);
    assert_int_equal(tr.ended.status, OUT_RAN);
    assert_int_equal(tr.n, 3 * 8 * 2);
    assert_true(tr.rec[47].store);
    assert_int_equal(tr.rec[47].buffer, Z);
    assert_int_equal(tr.rec[47].index, 7);
    assert_int_equal(tr.rec[32].loops.n, 1);
    assert_int_equal(tr.rec[34].loops.at[0], 1);
    assert_true(interp_where(&f->l, Z, 5, &at, &f->a));
    assert_int_equal(at.var[0], i);
    assert_int_equal(at.at[0], 5);

    build(f, "tilefuzz 1\ninput x f32 [4]\ninput y f32 [4]\nc = lt x y\nw = where c x y\n"
             "p = pad w [1:0] value=3\nq = copy p\noutput q\n"
             "schedule\ndata seed=1 recipe=normal\nvalues x [1,2,3,4]\nvalues y [4,3,2,1]\n");
    interp_trace(&f->l, 2, &tr, &f->a);
    assert_string_equal(f->l.kernel[2].name, "q");
    assert_true(tr.rec[0].guarded);
    assert_false(tr.rec[2].guarded);
    assert_string_equal(f->l.buffer[tr.rec[2].buffer].name, "w");
    assert_int_equal(tr.rec[2].index, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outside_loads_and_stores_stop),
        cmocka_unit_test(dots_are_checked),
        cmocka_unit_test(steps_are_limited),
        cmocka_unit_test(lanes_read_before_they_write),
        cmocka_unit_test(arrays_of_accumulators),
        cmocka_unit_test(planned_temps_share_storage),
        cmocka_unit_test(accesses_are_recorded),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
