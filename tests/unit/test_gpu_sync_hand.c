/* Pass sync on kernels that are written here by hand. */
#include "barriers.h"

#include "lower/passes.h"

/* A kernel of 8 threads on shared buffer x (and y), statements by hand. */
struct hand {
    struct lprog l;
    struct kernel *k;
    int tid, loop, x, acc;
};

static int hand_buffer(struct hand *h, const char *name, int64_t elems, int64_t at)
{
    struct buffer b = { .name = name, .kind = BUF_SHARED, .dt = DT_F32, .elems = elems };

    b.sh = (struct shape){ 1, { elems } };
    b.layout = layout_of(&b.layout, &b.sh);
    b.arena_at = -1;
    b.smem_at = at;
    return lprog_buffer(&h->l, b);
}

static void hand_open(struct hand *h)
{
    static struct trial nothing;

    *h = (struct hand){ .l = { .arena = &arena,
                               .target = TARGET_GPU,
                               .trial = &nothing,
                               .prog = &nothing.prog,
                               .stop_after = INT32_MAX } };
    ixs_init(&h->l.ix, &arena);
    lprog_kernel(&h->l, "hand", -1);
    h->k = &h->l.kernel[0];
    h->tid = lprog_var(&h->l, -1, "t", 8, false);
    h->loop = lprog_var(&h->l, -1, "i", 5, false);
    h->acc = lprog_acc(&h->l, (struct acc){ DT_F32, OP_SUM, OP_SUM, 1, "acc" });
    h->x = hand_buffer(h, "x", 64, 0);
    push_loop(&h->l, h->k, h->tid, LOOP_THREAD);
    kernel_push(&h->l, h->k, (struct stmt){ .kind = ST_DECL, .acc = h->acc, .acc_at = -1 });
}

/* t + by, round the 8 threads */
static int turned(struct hand *h, int by)
{
    struct ixs *s = &h->l.ix;

    return ix_mod(s, ix_add(s, ix_var(s, h->tid), ix_const(s, by)), 8);
}

static int hand_at(struct hand *h, int buffer, int index)
{
    return lprog_place(&h->l, buffer, index);
}

static void store(struct hand *h, int buffer, int index)
{
    kernel_push(&h->l, h->k,
                (struct stmt){ .kind = ST_STORE,
                               .access = hand_at(h, buffer, index),
                               .val = lprog_lit(&h->l, DT_F32, 1) });
}

static void fetch(struct hand *h, int buffer, int index)
{
    int val = lprog_load(&h->l, hand_at(h, buffer, index));

    kernel_push(&h->l, h->k,
                (struct stmt){ .kind = ST_UPDATE, .acc = h->acc, .acc_at = -1, .val = val });
}

/* How many barriers pass sync adds; none are needed or missing afterwards. */
static int hand_close(struct hand *h)
{
    struct err e = { 0 };
    int before;

    push_end(&h->l, h->k, 1);
    before = syncs(h->k);
    assert_int_equal(pass_sync(&h->l, &e), 0);
    h->k = &h->l.kernel[0];
    assert_int_equal(loop_check(&h->l, &e), 0);
    check_barriers(&h->l);
    return syncs(h->k) - before;
}

static void own_elements_need_no_barrier(void **state)
{
    struct hand h;

    (void)state;
    hand_open(&h);
    store(&h, h.x, turned(&h, 0));
    fetch(&h, h.x, turned(&h, 0));
    assert_int_equal(hand_close(&h), 0);
    hand_open(&h);
    store(&h, h.x, turned(&h, 0));
    fetch(&h, h.x, turned(&h, 1));
    assert_int_equal(hand_close(&h), 1);
    assert_string_equal(h.l.log[0].rule, "sync.raw");
    hand_open(&h);
    fetch(&h, h.x, turned(&h, 1));
    store(&h, h.x, turned(&h, 0));
    assert_int_equal(hand_close(&h), 1);
    assert_string_equal(h.l.log[0].rule, "sync.war");
    hand_open(&h);
    store(&h, h.x, turned(&h, 1));
    store(&h, h.x, turned(&h, 0));
    assert_int_equal(hand_close(&h), 1);
    assert_string_equal(h.l.log[0].rule, "sync.waw");
}

static void loops_carry_conflicts(void **state)
{
    struct hand h;

    (void)state;
    hand_open(&h);
    push_loop(&h.l, h.k, h.loop, LOOP_SERIAL);
    store(&h, h.x, turned(&h, 0));
    fetch(&h, h.x, turned(&h, 1));
    push_end(&h.l, h.k, 1);
    assert_int_equal(hand_close(&h), 2);
    assert_int_equal(syncs_in(&h.l, 0, "i"), 2);

    /* two slots by turns: one barrier is enough */
    hand_open(&h);
    push_loop(&h.l, h.k, h.loop, LOOP_SERIAL);
    for (int i = 0; i < 2; i++) {
        struct ixs *s = &h.l.ix;
        int slot = ix_scale(s, ix_mod(s, ix_var(s, h.loop), 2), 8);

        if (i == 0)
            store(&h, h.x, ix_add(s, slot, turned(&h, 0)));
        else
            fetch(&h, h.x, ix_add(s, slot, turned(&h, 1)));
    }
    push_end(&h.l, h.k, 1);
    assert_int_equal(hand_close(&h), 1);
}

static void barriers_stand_outside_of_branches(void **state)
{
    struct hand h;
    struct ixs *s;

    (void)state;
    hand_open(&h);
    s = &h.l.ix;
    push_if(&h.l, h.k, ix_lt(s, ix_var(s, h.tid), ix_const(s, 1)));
    store(&h, h.x, ix_const(s, 0));
    push_end(&h.l, h.k, 1);
    push_if(&h.l, h.k, ix_lt(s, ix_const(s, 2), ix_var(s, h.tid)));
    fetch(&h, h.x, ix_const(s, 0));
    push_end(&h.l, h.k, 1);
    assert_int_equal(hand_close(&h), 1);
    for (int i = 0; i < h.k->n; i++)
        if (h.k->st[i].kind == ST_SYNC) {
            assert_int_equal(h.k->st[i - 1].kind, ST_END);
            assert_int_equal(h.k->st[i + 1].kind, ST_IF);
        }
}

static void barriers_that_stand_count(void **state)
{
    struct hand h;

    (void)state;
    hand_open(&h);
    store(&h, h.x, turned(&h, 0));
    kernel_push(&h.l, h.k, (struct stmt){ .kind = ST_SYNC });
    fetch(&h, h.x, turned(&h, 1));
    assert_int_equal(hand_close(&h), 0);
}

static void what_lies_over_another_conflicts(void **state)
{
    struct hand h;
    int y;

    (void)state;
    hand_open(&h);
    y = hand_buffer(&h, "y", 8, 16);
    store(&h, y, turned(&h, 0));
    fetch(&h, h.x, turned(&h, 3));
    assert_int_equal(hand_close(&h), 1);
    hand_open(&h);
    y = hand_buffer(&h, "y", 8, 256);
    store(&h, y, turned(&h, 0));
    fetch(&h, h.x, turned(&h, 3));
    assert_int_equal(hand_close(&h), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_elements_need_no_barrier),
        cmocka_unit_test(loops_carry_conflicts),
        cmocka_unit_test(barriers_stand_outside_of_branches),
        cmocka_unit_test(barriers_that_stand_count),
        cmocka_unit_test(what_lies_over_another_conflicts),
    };
    int failed;

    arena_init(&arena);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_release(&arena);
    return failed;
}
