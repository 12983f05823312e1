/* The SIMT machine on hand-written kernels: what is right stays silent under every schedule,
 * every planted defect is reported under every schedule, and values go wrong where they should.
 */
#include "testing.h"

#include <stdio.h>
#include <string.h>

#include "simt_split.h"

static struct simt_opts schedule(uint64_t seed, enum simt_policy policy)
{
    return (struct simt_opts){ .seed = seed,
                               .policy = policy,
                               .latency = (int)(seed % 5) * 4,
                               .interval = 3 + (int)(seed % 7) * 20,
                               .resident = 8,
                               .report = true };
}

static void right_is_silent(void **state)
{
    static const enum bug right[] = { NO_BUG, FENCES, ATOMICS };

    (void)state;
    split_prepare();
    for (int i = 0; i < 3; i++)
        for (uint64_t seed = 0; seed < 20; seed++)
            for (int p = 0; p < SIMT_POLICIES; p++) {
                struct simt_opts o = schedule(seed, (enum simt_policy)p);
                struct simt_result r;
                bool ok;

                o.resident = 1 + (int)seed % 8;
                o.store_buffer = seed & 1;
                ok = split_run(right[i], &o, &r);
                if (r.first.class || !ok)
                    fail_msg("bug %d seed %d policy %s: %s %s site %d index %d other %d, ok %d",
                             right[i], (int)seed, simt_policy_names[p],
                             simt_class_name(r.first.class), r.first.rule, r.first.at.site,
                             (int)r.first.at.index, r.first.other.site, ok);
            }
}

static void defects_are_reported(void **state)
{
    static const struct {
        enum bug bug;
        enum simt_class class[4]; /* any of them */
    } want[] = {
        { NO_SYNC_BEFORE_EPILOGUE, { SIMT_RACE, SIMT_STALE } },
        { NO_SYNC_IN_EPILOGUE, { SIMT_RACE, SIMT_STALE } },
        { NOT_DRAINED, { SIMT_RACE } },
        { RELAXED, { SIMT_RACE } },
        { TWO_BARRIERS, { SIMT_DIVERGENCE } },
        { PAST_SHARED, { SIMT_BOUNDS, SIMT_STALE } },
        { NOT_WRITTEN, { SIMT_STALE, SIMT_UNINIT } },
        { STAGE_OVERWRITTEN, { SIMT_RACE, SIMT_UNINIT } },
        { RELEASED_EARLY, { SIMT_RACE, SIMT_UNINIT } },
        { NO_COMMIT_BEFORE, { SIMT_RACE } },
        { NO_COMMIT, { SIMT_RACE } },
        { NO_WAIT, { SIMT_RACE } },
        { WAIT_FEWER, { SIMT_RACE } },
        { NO_SYNC_IN_LOOP, { SIMT_RACE, SIMT_UNINIT } },
        { NO_SYNC_ACQUIRE, { SIMT_RACE, SIMT_UNINIT } },
        { ACQUIRE_RELAXED, { SIMT_RACE } },
        { RELEASE_RELAXED, { SIMT_RACE } },
    };

    (void)state;
    split_prepare();
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        for (uint64_t seed = 0; seed < 10; seed++)
            for (int p = 0; p < SIMT_POLICIES; p++) {
                struct simt_opts o = schedule(seed, (enum simt_policy)p);
                struct simt_result r;
                bool found = false;

                split_run(want[i].bug, &o, &r);
                for (int c = 0; c < 4; c++)
                    found |= want[i].class[c] && r.first.class == want[i].class[c];
                if (!found)
                    fail_msg("bug %d seed %d policy %s: %s %s at site %d", want[i].bug,
                             (int)seed, simt_policy_names[p], simt_class_name(r.first.class),
                             r.first.rule ? r.first.rule : "", r.first.at.site);
            }
}

/* In how many of n seeds is the result wrong? */
static int wrong_values(enum bug bug, enum simt_policy policy, int latency, bool buffer)
{
    int wrong = 0;

    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct simt_opts o = { .seed = seed,
                               .policy = policy,
                               .latency = latency,
                               .interval = 50,
                               .resident = 4,
                               .store_buffer = buffer };
        struct simt_result r;

        wrong += !split_run(bug, &o, &r);
        assert_int_equal(r.count[SIMT_RACE], 0);
    }
    return wrong;
}

static void values_go_wrong(void **state)
{
    (void)state;
    split_prepare();
    for (int p = 0; p < SIMT_POLICIES; p++)
        assert_int_equal(wrong_values(NO_BUG, (enum simt_policy)p, 10, true), 0);
    /* copies that were not drained: silent in every order, wrong if they are late */
    assert_int_equal(wrong_values(NOT_DRAINED, SIMT_IN_ORDER, 0, false), 0);
    assert_int_equal(wrong_values(NOT_DRAINED, SIMT_PREEMPT, 0, false), 0);
    assert_in_range(wrong_values(NOT_DRAINED, SIMT_IN_ORDER, 11, false), 1, 20);
    assert_in_range(wrong_values(NOT_DRAINED, SIMT_PREEMPT, 11, false), 1, 20);
    assert_int_equal(wrong_values(RELEASED_EARLY, SIMT_IN_ORDER, 0, false), 0);
    assert_in_range(wrong_values(RELEASED_EARLY, SIMT_PREEMPT, 0, false), 1, 20);
    assert_int_equal(wrong_values(NO_SYNC_IN_EPILOGUE, SIMT_IN_ORDER, 0, false), 20);
    /* a flag without release: only a buffer of stores shows it */
    assert_int_equal(wrong_values(RELEASE_RELAXED, SIMT_PREEMPT, 0, false), 0);
    assert_int_equal(wrong_values(RELEASE_RELAXED, SIMT_PREEMPT, 0, true), 20);
}

static void same_seed_same_run(void **state)
{
    (void)state;
    split_prepare();
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct simt_opts o = schedule(seed, SIMT_PREEMPT);
        struct simt_result r[2];
        float first[S_M * S_N];

        o.latency = 8;
        split_run(NOT_DRAINED, &o, &r[0]);
        memcpy(first, s_c, sizeof first);
        split_run(NOT_DRAINED, &o, &r[1]);
        assert_memory_equal(first, s_c, sizeof first);
        assert_memory_equal(&r[0], &r[1], sizeof r[0]);
    }
}

/* ---- small kernels */
static int which;
static float g_in[1024], g_out[1024];
static int g_flag[4];
enum { K_IN, K_OUT, K_FLAG, K_S, K_SH, N_K };
enum {
    Y_IN,
    Y_OUT,
    Y_OUT_LD,
    Y_FLAG,
    Y_ST,
    Y_LD,
    Y_HST,
    Y_HLD,
    Y_SYNC,
    Y_SYNC2,
    Y_WARP,
    Y_SHFL,
    Y_MMA,
    Y_WIDE,
    N_Y
};
static const struct simt_array k_array[N_K] = {
    [K_IN] = { g_in, 1024, 4, K_IN, 0, .init = true },
    [K_OUT] = { g_out, 1000, 4, K_OUT, 0 },
    [K_FLAG] = { g_flag, 4, 4, K_FLAG, 0, .init = true },
    [K_S] = { NULL, 256, 4, 0, 0, .shared = true },
    [K_SH] = { NULL, 128, 2, 0, 1024, .shared = true },
};
static const struct simt_site k_site[N_Y] = {
    [Y_IN] = { K_IN, 0, false },      [Y_OUT] = { K_OUT, 0, true },
    [Y_OUT_LD] = { K_OUT, 0, false }, [Y_FLAG] = { K_FLAG, 0, true },
    [Y_ST] = { K_S, 0, true },        [Y_LD] = { K_S, 0, false },
    [Y_HST] = { K_SH, 0, true },      [Y_HLD] = { K_SH, 0, false },
    [Y_SYNC] = { -1, 0, false },      [Y_SYNC2] = { -1, 0, false },
    [Y_WARP] = { -1, 0, false },      [Y_SHFL] = { -1, 0, false },
    [Y_MMA] = { -1, 0, false },       [Y_WIDE] = { K_IN, 0, false },
};

static void st(int site, long long i, float v)
{
    *(float *)tf_hook_sstore(site, i) = v;
}

static void out(long long i, float v)
{
    *(float *)tf_hook_gstore(Y_OUT, i) = v;
}

enum {
    NEIGHBOUR,
    NEIGHBOUR_SYNC,
    WARP_SHUFFLE,
    WARP_SYNC,
    EARLY_EXIT,
    EXIT_RIGHT,
    SPIN_FOREVER,
    UNINIT_SHARED,
    UNINIT_GLOBAL,
    PAST_GLOBAL,
    MISALIGNED,
    WIDE,
    ADD_ALL,
    ADD_AND_READ,
    HALVES,
    TWO_BLOCKS,
    ODD_WARP,
    SUM_SHUFFLE,
    LONE_LANE,
};

static void small(int kernel)
{
    int t = tf_hook_tid(), b = tf_hook_bid(), n = 64;
    float v = (float)t;

    (void)kernel;
    switch (which) {
    case NEIGHBOUR:
    case NEIGHBOUR_SYNC:
        st(Y_ST, t, v);
        if (which == NEIGHBOUR_SYNC)
            tf_hook_sync(Y_SYNC);
        out(t, ld_shared(Y_LD, t ? t - 1 : 0));
        break;
    case WARP_SHUFFLE:
    case WARP_SYNC:
        st(Y_ST, t, v);
        if (which == WARP_SYNC)
            tf_hook_syncwarp(Y_WARP);
        else
            v = *(const float *)tf_hook_shuffle(Y_SHFL, &v, 4, 1);
        out(t, ld_shared(Y_LD, t ^ 1));
        break;
    case EARLY_EXIT:
        if (t >= 40)
            return;
        tf_hook_sync(Y_SYNC);
        break;
    case EXIT_RIGHT:
        tf_hook_sync(Y_SYNC);
        if (t >= 40)
            return;
        out(t, v);
        break;
    case SPIN_FOREVER:
        if (t == 0)
            tf_hook_acquire(Y_FLAG, 0, 7);
        tf_hook_sync(Y_SYNC);
        break;
    case UNINIT_SHARED:
        if (t < 63)
            st(Y_ST, t, v);
        tf_hook_sync(Y_SYNC);
        out(t, ld_shared(Y_LD, n - 1 - t));
        break;
    case UNINIT_GLOBAL:
        out(t, *(const float *)tf_hook_gload(Y_OUT_LD, t));
        break;
    case PAST_GLOBAL:
        out(t + 937, v);
        break;
    case MISALIGNED:
        memcpy(&v, tf_hook_gload_wide(Y_WIDE, 4 * t + (t == 5), 4), sizeof v);
        out(t, v);
        break;
    case WIDE:
        memcpy(&v, tf_hook_gload_wide(Y_WIDE, 4 * t, 4), sizeof v);
        out(t, v);
        break;
    case ADD_ALL:
        *(int *)tf_hook_atomic(Y_FLAG, 1) += 1;
        break;
    case ADD_AND_READ:
        *(int *)tf_hook_atomic(Y_FLAG, 1) += 1;
        tf_hook_gload(Y_FLAG, 1);
        break;
    case HALVES:
        *(unsigned short *)tf_hook_sstore(Y_HST, t) = (unsigned short)t;
        st(Y_ST, t, v);
        tf_hook_sync(Y_SYNC);
        out(t, ld_shared(Y_LD, n - 1 - t) +
                   (float)*(const unsigned short *)tf_hook_sload(Y_HLD, n - 1 - t));
        break;
    case TWO_BLOCKS:
        out(t + b, v);
        break;
    case ODD_WARP:
        if (t < 32)
            tf_hook_syncwarp(Y_WARP);
        else
            tf_hook_sync(Y_SYNC);
        break;
    case SUM_SHUFFLE:
        for (int d = 1; d < 32; d *= 2)
            v += *(const float *)tf_hook_shuffle(Y_SHFL, &v, 4, d);
        out(t, v);
        break;
    case LONE_LANE:
        v += *(const float *)tf_hook_shuffle(Y_SHFL, &v, 4, 16);
        break;
    }
}

static void expect(int kernel, int threads, int blocks, enum simt_class class, const char *rule)
{
    const struct simt_kernel k = { blocks, threads, 1280 };
    const struct simt_program p = { k_array, N_K, k_site, N_Y, &k, 1, small };

    which = kernel;
    for (uint64_t seed = 0; seed < 4; seed++)
        for (int policy = 0; policy < SIMT_POLICIES; policy++) {
            struct simt_opts o = schedule(seed, (enum simt_policy)policy);
            struct simt_result r;
            const char *why;

            memset(g_flag, 0, sizeof g_flag);
            assert_true(simt_run(&p, &o, &r, &why));
            /* who reads too early may meet nothing instead of the writer */
            if (class == SIMT_RACE && r.first.class == SIMT_UNINIT && policy)
                continue;
            if (r.first.class != class || (rule && strcmp(rule, r.first.rule)))
                fail_msg("kernel %d policy %s: %s %s", kernel, simt_policy_names[policy],
                         simt_class_name(r.first.class), r.first.rule ? r.first.rule : "");
        }
}

static void small_kernels(void **state)
{
    (void)state;
    for (int i = 0; i < 1024; i++)
        g_in[i] = (float)i;
    expect(NEIGHBOUR, 64, 1, SIMT_RACE, "barrier");
    expect(NEIGHBOUR_SYNC, 64, 1, SIMT_NONE, NULL);
    assert_true(g_out[63] == 62);
    expect(WARP_SHUFFLE, 64, 1, SIMT_RACE, "barrier");
    expect(WARP_SYNC, 64, 1, SIMT_NONE, NULL);
    assert_true(g_out[62] == 63);
    expect(EARLY_EXIT, 64, 1, SIMT_DIVERGENCE, "exited");
    expect(EXIT_RIGHT, 64, 1, SIMT_NONE, NULL);
    expect(SPIN_FOREVER, 64, 2, SIMT_DEADLOCK, "flag");
    expect(UNINIT_SHARED, 64, 1, SIMT_UNINIT, "unwritten");
    expect(UNINIT_GLOBAL, 64, 1, SIMT_UNINIT, "unwritten");
    expect(PAST_GLOBAL, 64, 1, SIMT_BOUNDS, "bounds");
    expect(MISALIGNED, 64, 1, SIMT_BOUNDS, "align");
    expect(WIDE, 64, 1, SIMT_NONE, NULL);
    assert_true(g_out[63] == 252);
    expect(ADD_ALL, 64, 5, SIMT_NONE, NULL);
    assert_int_equal(g_flag[1], 320);
    expect(ADD_AND_READ, 64, 1, SIMT_RACE, "atomic");
    expect(ADD_AND_READ, 1, 2, SIMT_RACE, "blocks");
    expect(HALVES, 64, 1, SIMT_NONE, NULL);
    assert_true(g_out[60] == 6);
    expect(TWO_BLOCKS, 64, 2, SIMT_RACE, "blocks");
    expect(ODD_WARP, 64, 1, SIMT_DIVERGENCE, "exited");
    expect(SUM_SHUFFLE, 64, 1, SIMT_NONE, NULL);
    assert_true(g_out[3] == 496);
    expect(LONE_LANE, 16, 1, SIMT_DIVERGENCE, "lane");
}

static void blame_is_exact(void **state)
{
    const struct simt_opts o = { .resident = 8, .report = true };
    struct simt_result r;

    (void)state;
    split_prepare();
    split_run(NO_SYNC_IN_EPILOGUE, &o, &r);
    assert_int_equal(r.first.at.site, X_EP_LD);
    assert_int_equal(r.first.at.thread, 0);
    split_run(RELEASED_EARLY, &o, &r);
    assert_int_equal(r.first.at.site, X_W_LD);
    assert_int_equal(r.first.other.site, X_W_ST);
    assert_int_equal(r.first.at.block, 1);
    assert_int_equal(r.first.other.block, 0);
    assert_int_equal(r.first.at.index, r.first.other.index);
    assert_string_equal(r.first.rule, "blocks");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_is_silent), cmocka_unit_test(defects_are_reported),
        cmocka_unit_test(values_go_wrong), cmocka_unit_test(same_seed_same_run),
        cmocka_unit_test(small_kernels),   cmocka_unit_test(blame_is_exact),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
