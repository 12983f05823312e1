/*
 * A hand-written kernel for the SIMT machine: a matrix product of 16 x 16 x K in slices of K,
 * one block each. A ring of three stages is filled asynchronously, with copies past the end
 * that write zeros; the epilogue goes through shared memory that lies over the ring; slices are
 * added one after the other under a semaphore. `bug` plants a defect.
 */
#ifndef SIMT_SPLIT_H
#define SIMT_SPLIT_H

#include <math.h>
#include <string.h>

#include "run/simt/hooks.h"
#include "run/simt/simt.h"

enum { S_M = 16, S_N = 16, S_K = 96, S_SLICES = 4, S_BK = 4, S_STAGES = 3, S_THREADS = 64 };

enum bug {
    NO_BUG,
    NO_SYNC_BEFORE_EPILOGUE,
    NO_SYNC_IN_EPILOGUE,
    NOT_DRAINED, /* the founding bug */
    RELAXED,
    TWO_BARRIERS,
    PAST_SHARED,
    NOT_WRITTEN,
    STAGE_OVERWRITTEN,
    RELEASED_EARLY,
    FENCES,  /* right */
    ATOMICS, /* right */
    /* one synchronisation removed or weakened */
    NO_COMMIT_BEFORE,
    NO_COMMIT,
    NO_WAIT,
    WAIT_FEWER,
    NO_SYNC_IN_LOOP,
    NO_SYNC_ACQUIRE,
    ACQUIRE_RELAXED,
    RELEASE_RELAXED,
    N_BUGS
};

enum array { A_A, A_B, A_W, A_C, A_SEM, A_AS, A_BS, A_EP, N_ARRAYS };

enum site {
    X_CPA,
    X_CPA_FROM,
    X_CPB,
    X_CPB_FROM,
    X_COMMIT0,
    X_WAIT,
    X_SYNC_LOOP,
    X_COMMIT,
    X_A,
    X_B,
    X_DRAIN,
    X_SYNC_PRE,
    X_SYNC_ODD,
    X_EP_ST,
    X_SYNC_EP,
    X_ACQ,
    X_SYNC_ACQ,
    X_EP_LD,
    X_W_LD,
    X_W_ST,
    X_C_ST,
    X_SYNC_REL,
    X_REL,
    X_FENCE,
    N_SITES
};

static float s_a[S_M * S_K], s_b[S_K * S_N], s_w[S_M * S_N], s_c[S_M * S_N], s_want[S_M * S_N];
static int s_sem[1];
static enum bug s_bug;

static float ld_shared(int site, long long i)
{
    return *(const float *)tf_hook_sload(site, i);
}

static void issue(int t, int stage, int tile, int slice)
{
    int pred = tile < S_K / S_SLICES / S_BK,
        k = pred ? slice * (S_K / S_SLICES) + tile * S_BK : 0;

    if (t < 16)
        tf_hook_copy(X_CPA, stage * 64 + t * 4, t * S_K + k, 16, pred);
    else if (t < 32)
        tf_hook_copy(X_CPB, stage * 64 + (t - 16) * 4,
                     (k + (t - 16) / 4) * S_N + (t - 16) % 4 * 4, 16, pred);
}

static void main_loop(int t, int slice, float acc[4])
{
    int tiles = S_K / S_SLICES / S_BK;

    for (int s = 0; s < S_STAGES - 1; s++) {
        issue(t, s, s, slice);
        if (s_bug != NO_COMMIT_BEFORE)
            tf_hook_commit(X_COMMIT0);
    }
    for (int it = 0; it < tiles; it++) {
        int cur = it % S_STAGES * 64, next = it + S_STAGES - 1;

        if (s_bug != NO_WAIT)
            tf_hook_wait(X_WAIT, s_bug == WAIT_FEWER ? 2 : 1);
        if (s_bug != NO_SYNC_IN_LOOP)
            tf_hook_sync(X_SYNC_LOOP);
        issue(t, s_bug == STAGE_OVERWRITTEN ? it % S_STAGES : next % S_STAGES, next, slice);
        if (s_bug != NO_COMMIT)
            tf_hook_commit(X_COMMIT);
        for (int kk = 0; kk < S_BK; kk++)
            for (int i = 0; i < 4; i++) {
                float a = ld_shared(X_A, cur + t / 4 * 4 + kk);
                float b = ld_shared(X_B, cur + kk * 16 + t % 4 * 4 + i);

                acc[i] = acc[i] + a * b;
            }
    }
    if (s_bug != NOT_DRAINED)
        tf_hook_wait(X_DRAIN, 0);
}

static void semaphore_wait(int slice)
{
    if (s_bug == RELAXED || s_bug == ACQUIRE_RELAXED || s_bug == FENCES || s_bug == ATOMICS)
        tf_hook_acquire_relaxed(X_ACQ, 0, slice);
    else
        tf_hook_acquire(X_ACQ, 0, slice);
    if (s_bug == FENCES || s_bug == ATOMICS)
        tf_hook_fence(X_FENCE);
}

static void semaphore_post(int slice)
{
    if (s_bug == FENCES || s_bug == ATOMICS)
        tf_hook_fence(X_FENCE);
    if (s_bug == ATOMICS)
        ++*(int *)tf_hook_atomic(X_REL, 0);
    else if (s_bug == RELAXED || s_bug == RELEASE_RELAXED || s_bug == FENCES)
        tf_hook_release_relaxed(X_REL, 0, slice + 1);
    else
        tf_hook_release(X_REL, 0, slice + 1);
}

static void add_slice(int t, int slice)
{
    if (slice > 0) {
        if (t == 0)
            semaphore_wait(slice);
        if (s_bug != NO_SYNC_ACQUIRE)
            tf_hook_sync(X_SYNC_ACQ);
    }
    for (int i = 0; i < 4; i++) {
        int e = t + i * S_THREADS;
        float v = ld_shared(X_EP_LD, e);

        if (slice > 0)
            v = v + *(const float *)tf_hook_gload(X_W_LD, e);
        if (slice == S_SLICES - 1)
            *(float *)tf_hook_gstore(X_C_ST, e) = v;
        else
            *(float *)tf_hook_gstore(X_W_ST, e) = v;
    }
    if (s_bug != RELEASED_EARLY)
        tf_hook_sync(X_SYNC_REL);
    if (t == 0)
        semaphore_post(slice);
}

static void split_kernel(int kernel)
{
    int t = tf_hook_tid(), slice = tf_hook_bid();
    float acc[4] = { 0 };

    (void)kernel;
    main_loop(t, slice, acc);
    if (s_bug == TWO_BARRIERS)
        tf_hook_sync(t < 32 ? X_SYNC_PRE : X_SYNC_ODD);
    else if (s_bug != NO_SYNC_BEFORE_EPILOGUE)
        tf_hook_sync(X_SYNC_PRE);
    for (int i = 0; i < 4; i++)
        if (s_bug != NOT_WRITTEN || t != 63 || i != 3)
            *(float *)tf_hook_sstore(X_EP_ST, t / 4 * 16 + t % 4 * 4 + i +
                                                  (s_bug == PAST_SHARED ? 4 : 0)) = acc[i];
    if (s_bug != NO_SYNC_IN_EPILOGUE)
        tf_hook_sync(X_SYNC_EP);
    add_slice(t, slice);
}

static const struct simt_array s_array[N_ARRAYS] = {
    [A_A] = { s_a, S_M *S_K, 4, A_A, 0, .input = true },
    [A_B] = { s_b, S_K *S_N, 4, A_B, 0, .input = true },
    [A_W] = { s_w, S_M *S_N, 4, A_W, 0 },
    [A_C] = { s_c, S_M *S_N, 4, A_C, 0 },
    [A_SEM] = { s_sem, 1, 4, A_SEM, 0, .init = true },
    [A_AS] = { NULL, S_STAGES * 64, 4, 0, 0, .shared = true },
    [A_BS] = { NULL, S_STAGES * 64, 4, 0, 768, .shared = true },
    [A_EP] = { NULL, S_M *S_N, 4, 0, 0, .shared = true },
};
static const struct simt_site s_site[N_SITES] = {
    [X_CPA] = { A_AS, 0, true },      [X_CPA_FROM] = { A_A, 0, false },
    [X_CPB] = { A_BS, 0, true },      [X_CPB_FROM] = { A_B, 0, false },
    [X_COMMIT0] = { -1, 0, false },   [X_WAIT] = { -1, 0, false },
    [X_SYNC_LOOP] = { -1, 0, false }, [X_COMMIT] = { -1, 0, false },
    [X_A] = { A_AS, 0, false },       [X_B] = { A_BS, 0, false },
    [X_DRAIN] = { -1, 0, false },     [X_SYNC_PRE] = { -1, 0, false },
    [X_SYNC_ODD] = { -1, 0, false },  [X_EP_ST] = { A_EP, 0, true },
    [X_SYNC_EP] = { -1, 0, false },   [X_ACQ] = { A_SEM, 0, false },
    [X_SYNC_ACQ] = { -1, 0, false },  [X_EP_LD] = { A_EP, 0, false },
    [X_W_LD] = { A_W, 0, false },     [X_W_ST] = { A_W, 0, true },
    [X_C_ST] = { A_C, 0, true },      [X_SYNC_REL] = { -1, 0, false },
    [X_REL] = { A_SEM, 0, true },     [X_FENCE] = { -1, 0, false },
};
static const struct simt_kernel s_kernel = { S_SLICES, S_THREADS, 1536 };
static const struct simt_program s_program = { s_array,   N_ARRAYS, s_site,      N_SITES,
                                               &s_kernel, 1,        split_kernel };

static void split_prepare(void)
{
    for (int i = 0; i < S_M * S_K; i++)
        s_a[i] = (float)(i * 7 % 17 - 8);
    for (int i = 0; i < S_K * S_N; i++)
        s_b[i] = (float)(i * 5 % 13 - 6);
    for (int i = 0; i < S_M * S_N; i++) {
        s_want[i] = 0;
        for (int k = 0; k < S_K; k++)
            s_want[i] += s_a[i / S_N * S_K + k] * s_b[k * S_N + i % S_N];
    }
}

/* True = the values are right. */
static bool split_run(enum bug bug, const struct simt_opts *o, struct simt_result *r)
{
    const char *why;

    s_bug = bug;
    s_sem[0] = 0;
    memset(s_w, 0xff, sizeof s_w);
    memset(s_c, 0xff, sizeof s_c);
    if (!simt_run(&s_program, o, r, &why))
        return false;
    return !memcmp(s_c, s_want, sizeof s_c);
}

#endif
