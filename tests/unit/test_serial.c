/* Bound kernels written out as loops: what the interpreter, the tracer and tcc make of them, in
 * both algebras, against numbers from here. */
#include "bound_run.h"

/* How many loops over variable `name` there are. */
static int loops_called(const struct fix *f, const char *name)
{
    const struct kernel *k = &f->l.kernel[0];
    int n = 0;

    for (int i = 0; i < k->n; i++)
        n += k->st[i].kind == ST_LOOP && !strcmp(f->l.var[k->st[i].var].name, name);
    return n;
}

static int64_t reversed_by_32(int i)
{
    return i / 32 * 32 + 31 - i % 32;
}

static void threads_exchange(void **state)
{
    struct fix *f = *state;
    int sh, b, t;

    hand(f);
    sh = add_buffer(f, BUF_SHARED, DT_F32, "z.a", 32, -1, 0);
    b = open_loop(f, LOOP_BLOCK, "b", 2);
    t = open_loop(f, LOOP_THREAD, "t", 32);
    store(f, ST_STORE, sh, t, load(f, X, mad(f, b, 32, t)));
    sync(f, ST_SYNC, 0);
    store(f, ST_STORE, Z, mad(f, b, 32, t), load(f, sh, from(f, 31, t)));
    ends(f, 2);
    gives(f, reversed_by_32);
    assert_int_equal(loops_called(f, "t"), 2);
    assert_int_equal(loops_called(f, "b"), 1);
    assert_int_equal(f->l.buffer[sh].kind, BUF_TEMP);
}

static int64_t y_times_496(int i)
{
    return (100 + i) * 496;
}

/* z[i] = y[i] * the sum of x[0..31], x in stages of 8; accumulators of 4 */
static void stages_accumulate(void **state)
{
    struct fix *f = *state;
    int sh, b, u, t, m, r, j, acc;

    hand(f);
    sh = add_buffer(f, BUF_SHARED, DT_F32, "z.a", 8, -1, 0);
    b = open_loop(f, LOOP_BLOCK, "b", 2);
    u = open_loop(f, LOOP_THREAD, "u", 2);
    t = mad(f, u, 4, open_loop(f, LOOP_THREAD, "t", 4));
    acc = decl(f, 4);
    r = open_loop(f, LOOP_SERIAL, "r", 4);
    store(f, ST_STORE, sh, t, load(f, X, mad(f, r, 8, t)));
    sync(f, ST_SYNC, 0);
    j = open_loop(f, LOOP_SERIAL, "j", 8);
    m = open_loop(f, LOOP_SERIAL, "m", 4);
    accumulate(f, ST_UPDATE, acc, m,
               lprog_op2(&f->l, OP_MUL, DT_F32, load(f, sh, j),
                         load(f, Y, mad(f, b, 32, mad(f, m, 8, t)))));
    ends(f, 2);
    sync(f, ST_SYNC, 0);
    ends(f, 1);
    m = open_loop(f, LOOP_SERIAL, "n", 4);
    store(f, ST_STORE, Z, mad(f, b, 32, mad(f, m, 8, t)), acc_of(f, acc, m));
    ends(f, 4);
    gives(f, y_times_496);
    assert_int_equal(loops_called(f, "t"), 3);
}

static int64_t y_once(int i)
{
    return 100 + i;
}

/* Nobody sees anybody: one nest, accumulators as they were. */
static void alone_stays_whole(void **state)
{
    struct fix *f = *state;
    int b, t, acc;

    hand(f);
    b = open_loop(f, LOOP_BLOCK, "b", 8);
    t = mad(f, b, 8, open_loop(f, LOOP_THREAD, "t", 8));
    acc = decl(f, 1);
    sync(f, ST_SYNC, 0);
    push_if(&f->l, now(f), below(f, t, N));
    accumulate(f, ST_UPDATE, acc, -1, load(f, Y, t));
    ends(f, 1);
    store(f, ST_STORE, Z, t, acc_of(f, acc, -1));
    ends(f, 2);
    gives(f, y_once);
    assert_int_equal(loops_called(f, "t"), 1);
    assert_int_equal(f->l.n_acc, 1);
}

static int64_t sum_of_warp(int i)
{
    return i < 32 ? 496 : 496 + 32 * 32;
}

static void shuffles_add_up(void **state)
{
    struct fix *f = *state;
    int t, acc;

    hand(f);
    t = open_loop(f, LOOP_THREAD, "t", N);
    acc = decl(f, 1);
    accumulate(f, ST_UPDATE, acc, -1, load(f, X, t));
    for (int mask = 16; mask; mask /= 2)
        accumulate(f, ST_UPDATE, acc, -1, shuffled(f, acc, -1, mask));
    store(f, ST_STORE, Z, t, acc_of(f, acc, -1));
    ends(f, 1);
    gives(f, sum_of_warp);
}

static int64_t neighbour_in_order(int i)
{
    return (i ^ 3) + 100 * (i / 8 % 2);
}

/* SET of an element of an array from another thread's, in a loop */
static void shuffles_swap(void **state)
{
    struct fix *f = *state;
    int b, t, m, acc;

    hand(f);
    b = open_loop(f, LOOP_BLOCK, "b", 4);
    t = open_loop(f, LOOP_THREAD, "t", 8);
    acc = decl(f, 2);
    m = open_loop(f, LOOP_SERIAL, "m", 2);
    accumulate(f, ST_SET, acc, m,
               lprog_op2(&f->l, OP_ADD, DT_F32, load(f, X, mad(f, b, 16, mad(f, m, 8, t))),
                         load_if(f, ix_lt(&f->l.ix, ix_const(&f->l.ix, 0), m), Y,
                                 ix_const(&f->l.ix, 0), 0)));
    accumulate(f, ST_SET, acc, m, shuffled(f, acc, m, 3));
    store(f, ST_STORE, Z, mad(f, b, 16, mad(f, m, 8, t)), acc_of(f, acc, m));
    ends(f, 3);
    gives(f, neighbour_in_order);
}

static int64_t started_again(int i)
{
    return i < 20 ? 100 + i : (i ^ 1) + 100 + i;
}

/* An accumulator that some of the threads declare a second time */
static void some_declare_again(void **state)
{
    struct fix *f = *state;
    int t, acc;

    hand(f);
    t = open_loop(f, LOOP_THREAD, "t", N);
    acc = decl(f, 1);
    accumulate(f, ST_UPDATE, acc, -1, load(f, X, t));
    accumulate(f, ST_SET, acc, -1, shuffled(f, acc, -1, 1));
    push_if(&f->l, now(f), below(f, t, 20));
    kernel_push(&f->l, now(f), (struct stmt){ .kind = ST_DECL, .acc = acc, .acc_at = -1 });
    ends(f, 1);
    accumulate(f, ST_UPDATE, acc, -1, load(f, Y, t));
    store(f, ST_STORE, Z, t, acc_of(f, acc, -1));
    ends(f, 1);
    gives(f, started_again);
}

static int64_t reversed_to_50(int i)
{
    int from = i / 16 * 16 + 15 - i % 16;

    return from < 50 ? from : 0;
}

/* Two slots by turns, in copies of 4; the last are guarded away. */
static void copies_land(void **state)
{
    struct fix *f = *state;
    int sh, t, r, w, e, slot;

    hand(f);
    sh = add_buffer(f, BUF_SHARED, DT_F32, "z.a", 32, -1, 0);
    t = open_loop(f, LOOP_THREAD, "t", 4);
    r = open_loop(f, LOOP_SERIAL, "r", 4);
    slot = ix_mod(&f->l.ix, r, 2);
    w = open_loop(f, LOOP_WIDE, "w", 4);
    e = mad(f, t, 4, w);
    store(f, ST_ASYNC, sh, mad(f, slot, 16, e),
          load_if(f, below(f, mad(f, r, 16, e), 50), X, mad(f, r, 16, e), 0));
    ends(f, 1);
    sync(f, ST_COMMIT, 0);
    sync(f, ST_WAIT, 0);
    sync(f, ST_SYNC, 0);
    w = open_loop(f, LOOP_SERIAL, "v", 4);
    e = mad(f, t, 4, w);
    store(f, ST_STORE, Z, mad(f, r, 16, e), load(f, sh, mad(f, slot, 16, from(f, 15, e))));
    ends(f, 3);
    gives(f, reversed_to_50);
}

static int64_t columns_of_8(int i)
{
    return i < 8 ? 8 * i + 8 * 28 : 0;
}

static void atomics_add_up(void **state)
{
    struct fix *f = *state;
    int b, t;

    hand(f);
    t = open_loop(f, LOOP_SERIAL, "i", N);
    store(f, ST_STORE, Z, t, lprog_lit(&f->l, DT_F32, 0));
    ends(f, 1);
    lprog_kernel(&f->l, "z.add", -1);
    b = open_loop(f, LOOP_BLOCK, "b", 4);
    t = open_loop(f, LOOP_THREAD, "t", 16);
    store(f, ST_ATOMIC, Z, ix_mod(&f->l.ix, t, 8), load(f, X, mad(f, b, 16, t)));
    ends(f, 2);
    gives(f, columns_of_8);
}

static int64_t columns_of_16(int i)
{
    return 4 * (i % 16) + 16 * 6;
}

/* Blocks take turns at a workspace. */
static void slices_take_turns(void **state)
{
    struct fix *f = *state;
    struct ixs *x = &f->l.ix;
    int flag, ws, b, t, first, old, zero;

    hand(f);
    flag = add_buffer(f, BUF_TEMP, DT_I32, "z.sem", 1, -1, 0);
    ws = add_buffer(f, BUF_TEMP, DT_F32, "z.ws", 16, -1, 0);
    zero = ix_const(x, 0);
    b = open_loop(f, LOOP_BLOCK, "b", 4);
    t = open_loop(f, LOOP_THREAD, "t", 16);
    first = ix_lt(x, zero, b);
    store(f, ST_ACQUIRE, flag, zero, lprog_index(&f->l, DT_I32, b));
    sync(f, ST_SYNC, 0);
    old = load_if(f, first, ws, t, 0);
    store(f, ST_STORE, ws, t,
          lprog_op2(&f->l, OP_ADD, DT_F32, old, load(f, X, mad(f, b, 16, t))));
    sync(f, ST_SYNC, 0);
    store(f, ST_RELEASE, flag, zero, lprog_index(&f->l, DT_I32, ix_add(x, b, ix_const(x, 1))));
    ends(f, 2);
    lprog_kernel(&f->l, "z.all", -1);
    t = open_loop(f, LOOP_SERIAL, "i", N);
    store(f, ST_STORE, Z, t, load(f, ws, ix_mod(x, t, 16)));
    ends(f, 1);
    gives(f, columns_of_16);
}

static int64_t through_the_other(int i)
{
    return 63 - (i ^ 1) + 1;
}

/* The second buffer lies over the first: what is stored there is read here. */
static void shared_buffers_overlap(void **state)
{
    struct fix *f = *state;
    struct ixs *x = &f->l.ix;
    int a, c, t, acc, one;

    hand(f);
    a = add_buffer(f, BUF_SHARED, DT_F32, "z.a", N, -1, 0);
    c = add_buffer(f, BUF_SHARED, DT_F32, "z.e", N, -1, 0);
    f->l.buffer[a].smem_at = f->l.buffer[c].smem_at = 16;
    f->l.buffer[c].overlay = true;
    f->l.arena_bytes = 40;
    t = open_loop(f, LOOP_THREAD, "t", N);
    store(f, ST_STORE, a, t, load(f, X, t));
    sync(f, ST_SYNC, 0);
    acc = decl(f, 1);
    one = lprog_lit(&f->l, DT_F32, 1);
    accumulate(f, ST_SET, acc, -1,
               lprog_op2(&f->l, OP_ADD, DT_F32, load(f, a, from(f, 63, t)), one));
    sync(f, ST_SYNC, 0);
    store(f, ST_STORE, c, t, acc_of(f, acc, -1));
    sync(f, ST_SYNC, 0);
    store(f, ST_STORE, Z, t, load(f, a, ix_xor(x, t, ix_const(x, 1))));
    ends(f, 1);
    gives(f, through_the_other);
    assert_int_equal(f->l.buffer[a].arena_at, 48 + 16);
    assert_int_equal(f->l.arena_bytes, 48 + 16 + 4 * N);
}

static int64_t lanes_of_others(int i)
{
    int64_t sum = 0;

    for (int j = 0; j < 4; j++)
        sum += 63 - i / 4 * 4 - j;
    return sum;
}

/* Lanes in threads: statement by statement for all of both. */
static void lanes_of_all_threads(void **state)
{
    struct fix *f = *state;
    int sh, t, j, acc;

    hand(f);
    sh = add_buffer(f, BUF_SHARED, DT_F32, "z.a", N, -1, 0);
    t = open_loop(f, LOOP_THREAD, "t", 16);
    acc = decl(f, 1);
    push_if(&f->l, now(f), below(f, t, 16));
    j = open_loop(f, LOOP_LANES, "j", 4);
    store(f, ST_STORE, sh, mad(f, t, 4, j), load(f, X, mad(f, t, 4, j)));
    accumulate(f, ST_UPDATE, acc, -1, load(f, sh, from(f, 63, mad(f, t, 4, j))));
    ends(f, 2);
    j = open_loop(f, LOOP_LANES, "k", 4);
    store(f, ST_STORE, Z, mad(f, t, 4, j), acc_of(f, acc, -1));
    ends(f, 2);
    gives(f, lanes_of_others);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_exchange),     cmocka_unit_test(stages_accumulate),
        cmocka_unit_test(alone_stays_whole),    cmocka_unit_test(shuffles_add_up),
        cmocka_unit_test(shuffles_swap),        cmocka_unit_test(some_declare_again),
        cmocka_unit_test(copies_land),          cmocka_unit_test(atomics_add_up),
        cmocka_unit_test(slices_take_turns),    cmocka_unit_test(shared_buffers_overlap),
        cmocka_unit_test(lanes_of_all_threads),
    };

    return cmocka_run_group_tests_name("serial", tests, setup, teardown);
}
