/*
 * Random programs of threads, run on the SIMT machine, with each event logged when it happens.
 * In some of them parts of a block have barriers: named ones, and those of some lanes.
 */
#ifndef TESTS_TRACES_H
#define TESTS_TRACES_H

#include "testing.h"

#include <string.h>

#include "run/simt/hooks.h"
#include "run/simt/machine.h"

enum { BLOCKS = 3, THREADS = 68, SMALLER = 36, ALL = BLOCKS * THREADS };
enum { SHARED = 4, GLOBAL = 6, OPS = 64, EVENTS = 8192, GENS = 24, PARTS = 512 };

enum op_kind {
    SH_READ,
    SH_WRITE,
    READ,
    WRITE,
    ADD,
    COPY,
    COMMIT,
    WAIT,
    RELEASE,
    RELEASE_RLX,
    ACQUIRE,
    ACQUIRE_RLX,
    FENCE,
    SYNC,
    SYNCWARP,
    SYNC_LEFT,
    SYNCWARP_LEFT,
    PART, /* barrier of a part */
    PART_LEFT,
    END
};
struct op {
    enum op_kind kind;
    int at, from;
};
struct event {
    enum op_kind kind;
    int thread, at, from;
};

static struct op program[ALL][OPS];
static int n_threads, n_blocks;

/* Each barrier of a part that is met, with who meets there: lanes, or warps at a named one. */
struct part {
    unsigned lanes;
    int named, n;
};
static struct part part[PARTS];
static int n_part;
static struct event event[EVENTS];
static int n_event;
static int memory[GLOBAL], flags[BLOCKS];

static uint64_t seed;

static inline int draw(int n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (int)((seed >> 11) % (uint64_t)n);
}

/* ---- the program that is run */
enum { A_MEMORY, A_FLAGS, A_POOL };
enum {
    S_RD,
    S_WR,
    S_FLAG,
    S_SH_RD,
    S_SH_WR,
    S_CP,
    S_CP_FROM,
    S_SYNC,
    S_WARP,
    S_FENCE,
    S_PART,
    S_ALL
};
static const struct simt_array arrays[] = {
    [A_MEMORY] = { memory, GLOBAL, 4, 0, 0, .init = true },
    [A_FLAGS] = { flags, BLOCKS, 4, 1, 0, .init = true },
    [A_POOL] = { NULL, SHARED, 4, 0, 0, .shared = true },
};
static const struct simt_site sites[S_ALL] = {
    [S_RD] = { A_MEMORY, 0, false },      [S_WR] = { A_MEMORY, 0, true },
    [S_FLAG] = { A_FLAGS, 0, true },      [S_SH_RD] = { A_POOL, 0, false },
    [S_SH_WR] = { A_POOL, 0, true },      [S_CP] = { A_POOL, 0, true },
    [S_CP_FROM] = { A_MEMORY, 0, false }, [S_SYNC] = { -1, 0, false },
    [S_WARP] = { -1, 0, false },          [S_FENCE] = { -1, 0, false },
    [S_PART] = { -1, 0, false },
};

static inline void happened(int thread, enum op_kind kind, const struct op *o)
{
    if (n_event == EVENTS)
        fail_msg("the log is full");
    event[n_event++] = (struct event){ kind, thread, o->at, o->from };
}

static inline void run_op(int me, const struct op *o)
{
    switch (o->kind) {
    case SH_READ:
        tf_hook_sload(S_SH_RD, o->at);
        break;
    case SH_WRITE:
        *(int *)tf_hook_sstore(S_SH_WR, o->at) = 1;
        break;
    case READ:
        tf_hook_gload(S_RD, o->at);
        break;
    case WRITE:
        *(int *)tf_hook_gstore(S_WR, o->at) = 1;
        break;
    case ADD:
        ++*(int *)tf_hook_atomic(S_WR, o->at);
        break;
    case COPY:
        tf_hook_copy(S_CP, o->at, o->from, 4, 1);
        break;
    case COMMIT:
        tf_hook_commit(0);
        return;
    case WAIT:
        tf_hook_wait(0, o->at);
        break;
    case RELEASE:
        tf_hook_release(S_FLAG, o->at, 1);
        break;
    case RELEASE_RLX:
        tf_hook_release_relaxed(S_FLAG, o->at, 1);
        break;
    case ACQUIRE:
        tf_hook_acquire(S_FLAG, o->at, 1);
        break;
    case ACQUIRE_RLX:
        tf_hook_acquire_relaxed(S_FLAG, o->at, 1);
        break;
    case FENCE:
        tf_hook_fence(S_FENCE);
        break;
    case SYNC:
        happened(me, SYNC, o);
        tf_hook_sync(S_SYNC);
        happened(me, SYNC_LEFT, o);
        return;
    case SYNCWARP:
        happened(me, SYNCWARP, o);
        tf_hook_syncwarp(S_WARP);
        happened(me, SYNCWARP_LEFT, o);
        return;
    case PART:
        happened(me, PART, o);
        if (part[o->at].n)
            tf_hook_bar(S_PART, part[o->at].named, part[o->at].n);
        else
            tf_hook_syncwarp_of(S_PART, part[o->at].lanes);
        happened(me, PART_LEFT, o);
        return;
    case SYNC_LEFT:
    case SYNCWARP_LEFT:
    case PART_LEFT:
    case END:
        return;
    }
    happened(me, o->kind, o);
}

static inline void kernel(int number)
{
    int me = tf_hook_bid() * THREADS + tf_hook_tid();

    (void)number;
    for (const struct op *o = program[me]; o->kind != END; o++)
        run_op(me, o);
}

/* ---- drawing programs */
static int n_op[ALL];

static inline void push(int thread, enum op_kind kind, int at, int from)
{
    program[thread][n_op[thread]++] = (struct op){ kind, at, from };
}

static inline void push_random(int thread)
{
    int block = thread / THREADS;

    switch (draw(16)) {
    case 0:
    case 1:
    case 2:
        push(thread, SH_READ, draw(SHARED), 0);
        break;
    case 3:
    case 4:
        push(thread, SH_WRITE, draw(SHARED), 0);
        break;
    case 5:
    case 6:
    case 7:
        push(thread, READ, draw(GLOBAL), 0);
        break;
    case 8:
    case 9:
        push(thread, WRITE, draw(GLOBAL), 0);
        break;
    case 10:
        push(thread, ADD, draw(GLOBAL), 0);
        break;
    case 11:
        push(thread, COPY, draw(SHARED), draw(GLOBAL));
        break;
    case 12:
        push(thread, COMMIT, 0, 0);
        break;
    case 13:
        push(thread, WAIT, draw(2), 0);
        break;
    case 14:
        if (block)
            push(thread, draw(3) ? ACQUIRE : ACQUIRE_RLX, draw(block), 0);
        break;
    default:
        push(thread, FENCE, 0, 0);
        break;
    }
}

static inline int part_new(struct part p)
{
    if (n_part == PARTS)
        fail_msg("too many barriers");
    part[n_part] = p;
    return n_part++;
}

/* Some lanes of a warp meet, or some and the others. */
static inline void push_lanes(int t0, int warp)
{
    unsigned lanes = (unsigned)draw(1 << 16) << 16 | (unsigned)draw(1 << 16);
    int both = draw(2), some[2] = { -1, -1 };

    for (int t = warp * WARP; t < n_threads && t < (warp + 1) * WARP; t++) {
        int in = lanes >> t % WARP & 1;

        if (!in && !both)
            continue;
        if (some[in] < 0)
            some[in] = part_new((struct part){ in ? lanes : ~lanes, 0, 0 });
        push(t0 + t, PART, some[in], 0);
    }
}

/* All of a warp alone, or two or three neighbours of it. */
static inline void push_warps(int t0, int warps, int name)
{
    int first = draw(warps), n = 1 + draw(warps - first);
    int at = part_new((struct part){ 0, name, n * WARP });

    for (int t = first * WARP; t < n_threads && t < (first + n) * WARP; t++)
        push(t0 + t, PART, at, 0);
}

static inline void draw_block(int block, int density, bool parts)
{
    int phases = 1 + draw(3), t0 = block * THREADS, warps = (n_threads + WARP - 1) / WARP;
    int releaser = draw(n_threads), when = draw(phases);

    for (int t = 0; t < n_threads; t++) {
        n_op[t0 + t] = 0;
        for (int i = 0; t == 0 && i < SHARED; i++)
            push(t0, SH_WRITE, i, 0);
        push(t0 + t, SYNC, 0, 0);
    }
    for (int p = 0; p < phases; p++) {
        for (int w = 0; w < warps; w++) {
            int pieces = 1 + draw(2);

            for (int q = 0; q < pieces; q++)
                for (int t = w * WARP; t < n_threads && t < (w + 1) * WARP; t++) {
                    for (int i = 0; i < 3; i++)
                        if (draw(100) < density)
                            push_random(t0 + t);
                    if (t == releaser && p == when && q == 0)
                        push(t0 + t, draw(4) ? RELEASE : RELEASE_RLX, block, 0);
                    if (q < pieces - 1)
                        push(t0 + t, SYNCWARP, 0, 0);
                }
        }
        for (int w = 0; parts && w < warps; w++)
            if (draw(2))
                push_lanes(t0, w);
        for (int t = 0; parts && t < n_threads; t++)
            if (draw(100) < density)
                push_random(t0 + t);
        if (parts && draw(3))
            push_warps(t0, warps, 1 + p);
        if (parts && p == 0 && draw(2)) /* nobody but those parts meets */
            continue;
        for (int t = 0; p < phases - 1 && t < n_threads; t++)
            push(t0 + t, SYNC, 0, 0);
    }
    for (int t = 0; t < n_threads; t++) {
        push(t0 + t, COMMIT, 0, 0);
        push(t0 + t, WAIT, 0, 0);
        push(t0 + t, END, 0, 0);
    }
}

/* With barriers of parts? */
static inline bool draw_program(void)
{
    bool parts = draw(5) == 0;

    n_part = 0;
    n_blocks = 1 + draw(BLOCKS);
    n_threads = draw(4) ? 2 + draw(4) : (parts && draw(2) ? THREADS : SMALLER) - draw(4);
    for (int b = 0; b < n_blocks; b++)
        draw_block(b, n_threads < WARP ? 40 + draw(60) : 3 + draw(20), parts);
    return parts;
}

#endif
