/*
 * Parts of a block on the SIMT machine: named barriers, barriers and meetings of some lanes of
 * a warp, votes. Who was there is in order with who was there, and with nobody else.
 */
#include "testing.h"

#include <stdio.h>
#include <string.h>

#include "run/simt/hooks.h"
#include "run/simt/simt.h"

enum { THREADS = 96 };

static int g_out[THREADS], g_flag[2];

enum { A_POOL, A_OUT, A_FLAG, N_A };
enum {
    Y_ST,
    Y_LD,
    Y_LD2,
    Y_OUT,
    Y_OUT_LD,
    Y_FLAG,
    Y_BAR,
    Y_BAR2,
    Y_WARP,
    Y_WARP2,
    Y_VOTE,
    N_Y
};
static const struct simt_array array[N_A] = {
    [A_POOL] = { NULL, THREADS, 4, 0, 0, .shared = true },
    [A_OUT] = { g_out, THREADS, 4, 0, 0, .init = false },
    [A_FLAG] = { g_flag, 2, 4, 1, 0, .init = true },
};
static const struct simt_site site[N_Y] = {
    [Y_ST] = { A_POOL, 0, true },     [Y_LD] = { A_POOL, 0, false },
    [Y_LD2] = { A_POOL, 0, false },   [Y_OUT] = { A_OUT, 0, true },
    [Y_OUT_LD] = { A_OUT, 0, false }, [Y_FLAG] = { A_FLAG, 0, true },
    [Y_BAR] = { -1, 0, false },       [Y_BAR2] = { -1, 0, false },
    [Y_WARP] = { -1, 0, false },      [Y_WARP2] = { -1, 0, false },
    [Y_VOTE] = { -1, 0, false },
};

static void put(int i, int v)
{
    *(int *)tf_hook_sstore(Y_ST, i) = v;
}

static int get(int i)
{
    return *(const int *)tf_hook_sload(Y_LD, i);
}

static void out(int i, int v)
{
    *(int *)tf_hook_gstore(Y_OUT, i) = v;
}

static void two_groups(int t)
{
    int partner = t < 64 ? 63 - t : 159 - t;

    put(t, t);
    if (t < 64)
        tf_hook_bar(Y_BAR, 1, 64);
    else
        tf_hook_bar(Y_BAR2, 2, 32);
    out(t, get(partner));
}

static void other_group(int t)
{
    put(t, t);
    if (t < 64)
        tf_hook_bar(Y_BAR, 1, 64);
    if (t < 32)
        out(t, get(64 + t));
}

/* Warp 0 hands to 1 and 1 to 2: what 0 did is over for 2. */
static void handed_on(int t, bool whole)
{
    if (t < 32)
        put(t, t);
    if (t < 64)
        tf_hook_bar(Y_BAR, 1, 64);
    if (t >= 32 && whole)
        tf_hook_bar(Y_BAR2, 2, 64);
    if (t >= 64)
        out(t, get(t - 64));
}

/* Many read, one of them apart; the writer has met the others only. */
static void readers(int t, bool all)
{
    put(t, t);
    tf_hook_sync(Y_BAR);
    if (t < 64 || all)
        out(t, get(5));
    if (t >= 64 && !all)
        out(t, *(const int *)tf_hook_sload(Y_LD2, 6));
    if (t < 64)
        tf_hook_bar(Y_BAR2, 3, 64);
    if (t == 40)
        put(5, 1);
}

static void half_warps(int t, bool across)
{
    unsigned low = t % 32 < 16 ? 0xffffu : 0xffff0000u;

    put(t, t);
    tf_hook_syncwarp_of(Y_WARP, low);
    out(t, get(across ? t ^ 16 : t ^ 15));
}

static void masks_that_overlap(int t)
{
    if (t < 32)
        tf_hook_syncwarp_of(Y_WARP, t < 16 ? 0x1ffffu : 0xffff0000u);
}

static void votes(int t)
{
    unsigned even = tf_hook_vote(Y_VOTE, ~0u, 2, t % 2 == 0);
    unsigned some = tf_hook_vote(Y_VOTE, ~0u, 0, t == 40), all;

    all = tf_hook_vote(Y_VOTE, ~0u, 1, t >= 32);
    if (t % 32 < 8) {
        unsigned part = tf_hook_vote(Y_WARP, 0xff, 2, t % 32 > 4);

        put(t, 0);
        out(t, (int)(even & 0xff) | (int)some << 8 | (int)all << 9 | (int)part << 10);
        if (part == 0xe0 && tf_hook_vote(Y_WARP2, 0xff, 1, 1))
            return;
    }
    out(t, -1);
}

static void vote_orders_nothing(int t)
{
    put(t, t);
    tf_hook_vote(Y_VOTE, ~0u, 0, 1);
    out(t, get(t ^ 1));
}

static void some_shuffle(int t, int mask)
{
    int v = t;

    if (t % 32 < 8)
        v = *(const int *)tf_hook_shuffle_of(Y_WARP, 0xff, &v, 4, mask);
    out(t, v);
}

/* The releaser has met some lanes of its warp: block 1 may read what those have done. */
static void released(int t, int b, bool met)
{
    int i = met ? 0 : 20;

    if (b == 0 && t < 32) {
        out(t, t);
        if (t < 16)
            tf_hook_syncwarp_of(Y_WARP, 0xffff);
        if (t == 3)
            tf_hook_release(Y_FLAG, 0, 1);
    }
    if (b == 1 && t == 0) {
        tf_hook_acquire(Y_FLAG, 0, 1);
        put(0, *(const int *)tf_hook_gload(Y_OUT_LD, i));
    }
}

enum {
    TWO_GROUPS,
    OTHER_GROUP,
    HANDED_ON,
    NOT_HANDED_ON,
    READERS_MET,
    READERS_NOT_MET,
    HALF_WARPS,
    ACROSS_HALVES,
    OVERLAP,
    VOTES,
    VOTE_ORDERS_NOTHING,
    SOME_SHUFFLE,
    SHUFFLE_FROM_OTHERS,
    RELEASED,
    RELEASED_UNMET,
    COUNTS_DIFFER,
    ODD_COUNT,
    NOBODY_ELSE,
    SPLIT_WARP,
    EXITED
};
static int which;

static void small(int kernel)
{
    int t = tf_hook_tid(), b = tf_hook_bid();

    (void)kernel;
    switch (which) {
    case TWO_GROUPS:
        two_groups(t);
        break;
    case OTHER_GROUP:
        other_group(t);
        break;
    case HANDED_ON:
    case NOT_HANDED_ON:
        handed_on(t, which == HANDED_ON);
        break;
    case READERS_MET:
    case READERS_NOT_MET:
        readers(t, which == READERS_NOT_MET);
        break;
    case HALF_WARPS:
    case ACROSS_HALVES:
        half_warps(t, which == ACROSS_HALVES);
        break;
    case OVERLAP:
        masks_that_overlap(t);
        break;
    case VOTES:
        votes(t);
        break;
    case VOTE_ORDERS_NOTHING:
        vote_orders_nothing(t);
        break;
    case SOME_SHUFFLE:
    case SHUFFLE_FROM_OTHERS:
        some_shuffle(t, which == SOME_SHUFFLE ? 3 : 8);
        break;
    case RELEASED:
    case RELEASED_UNMET:
        released(t, b, which == RELEASED);
        break;
    case COUNTS_DIFFER:
        tf_hook_bar(Y_BAR, 1, t < 64 ? 96 : 64);
        break;
    case ODD_COUNT:
        tf_hook_bar(Y_BAR, 1, 50);
        break;
    case NOBODY_ELSE:
        if (t < 32)
            tf_hook_bar(Y_BAR, 1, 64);
        break;
    case SPLIT_WARP:
        if (t < 64)
            tf_hook_bar(t == 7 ? Y_BAR : Y_BAR2, 1, 64);
        break;
    case EXITED:
        if (t != 9)
            tf_hook_bar(Y_BAR, 1, 96);
        break;
    }
}

static void expect(int kernel, int threads, int blocks, enum simt_class class, const char *rule)
{
    const struct simt_kernel k = { blocks, threads, THREADS * 4, true };
    const struct simt_program p = { array, N_A, site, N_Y, &k, 1, small };

    which = kernel;
    for (uint64_t seed = 0; seed < 4; seed++)
        for (int policy = 0; policy < SIMT_POLICIES; policy++) {
            struct simt_opts o = { .seed = seed,
                                   .policy = (enum simt_policy)policy,
                                   .interval = 5,
                                   .resident = 8,
                                   .report = true };
            struct simt_result r;
            const char *why;

            memset(g_flag, 0, sizeof g_flag);
            assert_true(simt_run(&p, &o, &r, &why));
            /* who reads too early may meet nothing instead of the writer */
            if (class == SIMT_RACE && r.first.class == SIMT_UNINIT)
                continue;
            if (r.first.class != class || (rule && strcmp(rule, r.first.rule)))
                fail_msg("kernel %d policy %s: %s %s", kernel, simt_policy_names[policy],
                         simt_class_name(r.first.class), r.first.rule ? r.first.rule : "");
        }
}

static void named_barriers(void **state)
{
    (void)state;
    expect(TWO_GROUPS, 96, 1, SIMT_NONE, NULL);
    assert_int_equal(g_out[95], 64);
    expect(TWO_GROUPS, 80, 1, SIMT_UNINIT, "unwritten"); /* of threads that there are not */
    expect(OTHER_GROUP, 96, 1, SIMT_RACE, "barrier");
    expect(HANDED_ON, 96, 1, SIMT_NONE, NULL);
    expect(NOT_HANDED_ON, 96, 1, SIMT_RACE, "barrier");
    expect(READERS_MET, 96, 1, SIMT_NONE, NULL);
    expect(READERS_NOT_MET, 96, 1, SIMT_RACE, "barrier");
}

static void named_barriers_that_fail(void **state)
{
    (void)state;
    expect(COUNTS_DIFFER, 96, 1, SIMT_DIVERGENCE, "barrier");
    expect(ODD_COUNT, 96, 1, SIMT_DIVERGENCE, "barrier");
    expect(NOBODY_ELSE, 96, 1, SIMT_DEADLOCK, "barrier");
    expect(SPLIT_WARP, 96, 1, SIMT_DIVERGENCE, "warp");
    expect(EXITED, 96, 1, SIMT_DIVERGENCE, "exited");
}

static void some_lanes(void **state)
{
    (void)state;
    expect(HALF_WARPS, 96, 1, SIMT_NONE, NULL);
    assert_int_equal(g_out[17], 30);
    expect(ACROSS_HALVES, 96, 1, SIMT_RACE, "barrier");
    expect(OVERLAP, 96, 1, SIMT_DIVERGENCE, NULL); /* exited, if some went on */
    expect(SOME_SHUFFLE, 96, 1, SIMT_NONE, NULL);
    assert_int_equal(g_out[33], 34);
    assert_int_equal(g_out[40], 40);
    expect(SHUFFLE_FROM_OTHERS, 96, 1, SIMT_DIVERGENCE, "lane");
    expect(RELEASED, 32, 2, SIMT_NONE, NULL);
    expect(RELEASED_UNMET, 32, 2, SIMT_RACE, "blocks");
}

static void votes_count(void **state)
{
    (void)state;
    expect(VOTES, 96, 1, SIMT_NONE, NULL);
    assert_int_equal(g_out[0], 0x55 | 0xe0 << 10);
    assert_int_equal(g_out[39], 0x55 | 1 << 8 | 1 << 9 | 0xe0 << 10);
    assert_int_equal(g_out[64], 0x55 | 1 << 9 | 0xe0 << 10);
    assert_int_equal(g_out[20], -1);
    expect(VOTE_ORDERS_NOTHING, 96, 1, SIMT_RACE, "barrier");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(named_barriers),
        cmocka_unit_test(named_barriers_that_fail),
        cmocka_unit_test(some_lanes),
        cmocka_unit_test(votes_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
