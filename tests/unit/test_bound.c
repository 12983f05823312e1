/* The form of bound kernels: what loop_check takes and what it refuses; what pass plan may do
 * in place there. */
#include "bound.h"

#include "lower/plan.h"

/* One block of n threads, perhaps in two loops; the thread number. */
static int threads(struct fix *f, int64_t n)
{
    hand(f);
    open_loop(f, LOOP_BLOCK, "b", 2);
    return open_loop(f, LOOP_THREAD, "t", n);
}

static void refused(struct fix *f, const char *what)
{
    struct err e = { 0 };

    if (loop_check(&f->l, &e) == 0)
        fail_msg("it is taken, but has %s", what);
    if (!strstr(e.msg, what))
        fail_msg("it has %s: %s", what, e.msg);
}

static void taken(struct fix *f)
{
    struct err e = { 0 };

    if (loop_check(&f->l, &e))
        fail_msg("%s", e.msg);
}

static int shared(struct fix *f, int64_t elems)
{
    return add_buffer(f, BUF_SHARED, DT_F32, "z.a", elems, -1, 0);
}

static void loops_are_blocks_then_threads(void **state)
{
    struct fix *f = *state;
    int t;

    hand(f);
    open_loop(f, LOOP_THREAD, "t", 4);
    open_loop(f, LOOP_BLOCK, "b", 4);
    ends(f, 2);
    refused(f, "blocks in threads");

    threads(f, 4);
    ends(f, 1);
    open_loop(f, LOOP_SERIAL, "i", 4);
    ends(f, 2);
    refused(f, "beside its loop over blocks or threads");

    threads(f, 4);
    open_loop(f, LOOP_SERIAL, "i", 4);
    open_loop(f, LOOP_THREAD, "u", 4);
    ends(f, 4);
    refused(f, "a loop over blocks or threads inside");

    threads(f, 512);
    open_loop(f, LOOP_THREAD, "u", 4);
    ends(f, 3);
    refused(f, "more threads");

    t = threads(f, 512);
    store(f, ST_STORE, Z, t, load(f, X, t));
    sync(f, ST_SYNC, 0);
    ends(f, 2);
    taken(f);
    assert_int_equal(kernel_threads(&f->l, now(f)), 512);
    assert_int_equal(kernel_blocks(&f->l, now(f)), 2);
}

static void statements_know_their_place(void **state)
{
    struct fix *f = *state;
    int t, sh, one, acc;

    hand(f);
    sync(f, ST_SYNC, 0);
    refused(f, "synchronisation where threads can't wait");

    t = threads(f, 4);
    sh = shared(f, 4);
    one = ix_const(&f->l.ix, 1);
    store(f, ST_ASYNC, Z, t, load(f, X, t));
    ends(f, 2);
    refused(f, "an asynchronous copy that does more");

    t = threads(f, 4);
    sh = shared(f, 4);
    store(f, ST_ASYNC, sh, t, load_if(f, below(f, t, 3), X, t, 1));
    ends(f, 2);
    refused(f, "fills with something else");

    t = threads(f, 4);
    sh = shared(f, 4);
    store(f, ST_ATOMIC, sh, t, load(f, X, t));
    ends(f, 2);
    refused(f, "an atomic access to what only one block has");

    t = threads(f, 4);
    store(f, ST_ACQUIRE, Z, one, load(f, X, t));
    ends(f, 2);
    refused(f, "a dtype that has none");

    t = threads(f, 32);
    acc = decl(f, 1);
    accumulate(f, ST_UPDATE, acc, -1,
               lprog_op1(&f->l, OP_NEG, DT_F32, shuffled(f, acc, -1, 1)));
    ends(f, 2);
    refused(f, "a shuffle where none may be");

    hand(f);
    acc = decl(f, 1);
    accumulate(f, ST_UPDATE, acc, -1, shuffled(f, acc, -1, 1));
    refused(f, "a shuffle where none may be");
}

static void shared_memory_is_one_kernels(void **state)
{
    struct fix *f = *state;
    int t, sh;

    t = threads(f, 4);
    sh = shared(f, 13000);
    f->l.buffer[sh].smem_at = 0;
    store(f, ST_STORE, sh, t, load(f, X, t));
    ends(f, 2);
    refused(f, "more shared memory");
    f->l.buffer[sh].smem_at = -1;
    taken(f);
    lprog_kernel(&f->l, "z.next", -1);
    open_loop(f, LOOP_BLOCK, "c", 1);
    store(f, ST_STORE, Z, ix_const(&f->l.ix, 0), load(f, sh, ix_const(&f->l.ix, 0)));
    ends(f, 1);
    refused(f, "another kernel's shared buffer");
}

static void wide_is_one_access(void **state)
{
    struct fix *f = *state;
    int t, sh, w;

    t = threads(f, 4);
    sh = shared(f, 16);
    w = open_loop(f, LOOP_WIDE, "w", 4);
    store(f, ST_ASYNC, sh, mad(f, t, 4, w), load(f, X, mad(f, t, 4, w)));
    ends(f, 3);
    taken(f);

    t = threads(f, 4);
    sh = shared(f, 16);
    w = open_loop(f, LOOP_WIDE, "w", 4);
    store(f, ST_STORE, sh, mad(f, t, 4, w), load(f, X, mad(f, t, 4, w)));
    store(f, ST_STORE, Z, mad(f, t, 4, w), load(f, X, mad(f, t, 4, w)));
    ends(f, 3);
    refused(f, "a wide loop that is more than one access");

    threads(f, 4);
    for (int i = 0; i < 3; i++)
        w = open_loop(f, i ? LOOP_SERIAL : LOOP_MMA, "w", 2);
    ends(f, 5);
    refused(f, "not 2 x 2 x 16");
}

/* A buffer v for which a kernel in front stands; z[..] = v[..] by threads. */
static int donor(struct fix *f)
{
    return add_buffer(f, BUF_TEMP, DT_F32, "v", N, -1, 0);
}

static void in_place_only_of_ones_own(void **state)
{
    struct fix *f = *state;
    int v, t, sh;

    hand(f);
    v = donor(f);
    t = open_loop(f, LOOP_THREAD, "t", N);
    store(f, ST_STORE, Z, t, load(f, v, t));
    ends(f, 1);
    assert_true(plan_inplace_ok(&f->l, 0, Z, v));

    hand(f);
    v = donor(f);
    t = open_loop(f, LOOP_THREAD, "t", N);
    open_loop(f, LOOP_THREAD, "again", 2);
    store(f, ST_STORE, Z, t, load(f, v, t));
    ends(f, 2);
    assert_false(plan_inplace_ok(&f->l, 0, Z, v));

    hand(f);
    v = donor(f);
    sh = shared(f, N);
    t = open_loop(f, LOOP_THREAD, "t", N);
    store(f, ST_STORE, sh, t, load(f, v, t));
    sync(f, ST_SYNC, 0);
    store(f, ST_STORE, Z, t, load(f, sh, t));
    ends(f, 1);
    assert_false(plan_inplace_ok(&f->l, 0, Z, v));

    hand(f);
    v = donor(f);
    t = open_loop(f, LOOP_THREAD, "t", N);
    store(f, ST_ATOMIC, Z, t, load(f, v, t));
    ends(f, 1);
    assert_false(plan_inplace_ok(&f->l, 0, Z, v));
}

static void prints_what_it_is(void **state)
{
    struct fix *f = *state;
    struct str s = { 0 };
    int t, sh, acc, w;

    t = threads(f, 4);
    sh = shared(f, 16);
    f->l.buffer[sh].smem_at = 0;
    w = open_loop(f, LOOP_WIDE, "w", 4);
    store(f, ST_ASYNC, sh, mad(f, t, 4, w), load(f, X, mad(f, t, 4, w)));
    ends(f, 1);
    sync(f, ST_COMMIT, 0);
    sync(f, ST_WAIT, 1);
    sync(f, ST_SYNC, 0);
    acc = decl(f, 1);
    accumulate(f, ST_SET, acc, -1, load(f, sh, t));
    accumulate(f, ST_UPDATE, acc, -1, shuffled(f, acc, -1, 2));
    store(f, ST_ATOMIC, Z, t, acc_of(f, acc, -1));
    ends(f, 2);
    loop_print(&f->l, &s);
    assert_string_equal(str_get(&s), "input x f32 [64]\n"
                                     "input y f32 [64]\n"
                                     "output z f32 [64]\n"
                                     "shared z.a f32 [16] at byte 0 of the block's pool\n"
                                     "kernel z\n"
                                     "  block b 2\n"
                                     "    thread t 4\n"
                                     "      wide w 4\n"
                                     "        async z.a[4*t + w] = x[4*t + w]\n"
                                     "      commit\n"
                                     "      wait 1\n"
                                     "      sync\n"
                                     "      decl acc0 f32 = identity of sum\n"
                                     "      set acc0 = z.a[t]\n"
                                     "      update acc0 sum= shfl(acc0, 2)\n"
                                     "      atomic z[t] += acc0\n");
    str_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_are_blocks_then_threads),
        cmocka_unit_test(statements_know_their_place),
        cmocka_unit_test(shared_memory_is_one_kernels),
        cmocka_unit_test(wide_is_one_access),
        cmocka_unit_test(in_place_only_of_ones_own),
        cmocka_unit_test(prints_what_it_is),
    };

    return cmocka_run_group_tests_name("bound", tests, setup, teardown);
}
