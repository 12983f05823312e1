/*
 * The shadow memory against an exact oracle: random programs run on the machine, each event is
 * logged when it happens, and afterwards every pair of accesses to a cell is judged by vector
 * clocks, one component a thread. A cell must be reported exactly if some pair of its accesses
 * conflicts and is unordered.
 *
 * Within a block only barriers order shared memory; flags, fences and atomics order global. In
 * some of the programs parts of a block have barriers: named ones, and those of some lanes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "run/simt/hooks.h"
#include "run/simt/machine.h"

enum { TRACES = 100000, BLOCKS = 3, THREADS = 68, SMALLER = 36, ALL = BLOCKS * THREADS };
enum { SHARED = 4, GLOBAL = 6, OPS = 64, EVENTS = 8192, GENS = 24, PARTS = 512 };
enum { WARPS = (THREADS + WARP - 1) / WARP };
enum { CELLS = BLOCKS * SHARED + GLOBAL };

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

static int draw(int n)
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

static void happened(int thread, enum op_kind kind, const struct op *o)
{
    if (n_event == EVENTS)
        fail_msg("the log is full");
    event[n_event++] = (struct event){ kind, thread, o->at, o->from };
}

static void run_op(int me, const struct op *o)
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

static void kernel(int number)
{
    int me = tf_hook_bid() * THREADS + tf_hook_tid();

    (void)number;
    for (const struct op *o = program[me]; o->kind != END; o++)
        run_op(me, o);
}

/* ---- drawing programs */
static int n_op[ALL];

static void push(int thread, enum op_kind kind, int at, int from)
{
    program[thread][n_op[thread]++] = (struct op){ kind, at, from };
}

static void push_random(int thread)
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

static int part_new(struct part p)
{
    if (n_part == PARTS)
        fail_msg("too many barriers");
    part[n_part] = p;
    return n_part++;
}

/* Some lanes of a warp meet, or some and the others. */
static void push_lanes(int t0, int warp)
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
static void push_warps(int t0, int warps, int name)
{
    int first = draw(warps), n = 1 + draw(warps - first);
    int at = part_new((struct part){ 0, name, n * WARP });

    for (int t = first * WARP; t < n_threads && t < (first + n) * WARP; t++)
        push(t0 + t, PART, at, 0);
}

static void draw_block(int block, int density, bool parts)
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
static bool draw_program(void)
{
    bool parts = draw(5) == 0;

    n_part = 0;
    n_blocks = 1 + draw(BLOCKS);
    n_threads = draw(4) ? 2 + draw(4) : (parts && draw(2) ? THREADS : SMALLER) - draw(4);
    for (int b = 0; b < n_blocks; b++)
        draw_block(b, n_threads < WARP ? 40 + draw(60) : 3 + draw(20), parts);
    return parts;
}

/* ---- the oracle */
struct clocks {
    uint16_t c[ALL];
};
struct touch {
    enum op_kind kind;        /* SH_READ and SH_WRITE for copies to shared memory */
    int thread, clock, until; /* event number at which a copy was complete, else -1 */
    int number;               /* event number */
    struct clocks vc;
};

static struct clocks local[ALL], global[ALL], fenced[ALL], seen[ALL], word[GLOBAL + BLOCKS];
static struct clocks meeting[BLOCKS][GENS], warp_meeting[BLOCKS][WARPS][GENS];
static struct clocks part_meeting[PARTS], local_part[PARTS];
static struct clocks local_meeting[BLOCKS][GENS], local_warp[BLOCKS][WARPS][GENS];
static bool has_fenced[ALL], has_word[GLOBAL + BLOCKS];
static int gen[ALL], warp_gen[ALL];
static struct touch touch[CELLS][EVENTS];
static int n_touch[CELLS];
struct flight {
    int cell, source, issue, group; /* issue: index in touch of the cell */
    int source_issue;
};
static struct flight flight[ALL][OPS];
static int n_flight[ALL], group[ALL];

static void join(struct clocks *to, const struct clocks *from)
{
    for (int i = 0; i < n_blocks * THREADS; i++)
        if (to->c[i] < from->c[i])
            to->c[i] = from->c[i];
}

static int touch_cell(int cell, enum op_kind kind, int thread, int number, bool shared)
{
    struct touch *x = &touch[cell][n_touch[cell]];

    x->kind = kind;
    x->thread = thread;
    x->clock = global[thread].c[thread];
    x->until = -1;
    x->number = number;
    x->vc = shared ? local[thread] : global[thread];
    return n_touch[cell]++;
}

static void complete(int thread, int number, int keep)
{
    int n = 0;

    for (int i = 0; i < n_flight[thread]; i++) {
        struct flight *f = &flight[thread][i];

        if (f->group >= group[thread] || group[thread] - f->group <= keep) {
            flight[thread][n++] = *f;
            continue;
        }
        touch[f->cell][f->issue].until = number;
        touch[f->source][f->source_issue].until = number;
        touch_cell(f->cell, SH_WRITE, thread, number, true);
    }
    n_flight[thread] = n;
}

/* COMMIT isn't logged: it is found in the program when the next event of the thread comes. */
static int cursor[ALL];

static void pass_commits(int thread)
{
    while (program[thread][cursor[thread]].kind == COMMIT) {
        group[thread]++;
        cursor[thread]++;
    }
}

static void arrive(const struct event *e, bool warp)
{
    int t = e->thread, b = t / THREADS, w = t % THREADS / WARP;

    if (warp) {
        join(&warp_meeting[b][w][warp_gen[t]], &global[t]);
        join(&local_warp[b][w][warp_gen[t]], &local[t]);
    } else {
        join(&meeting[b][gen[t]], &global[t]);
        join(&local_meeting[b][gen[t]], &local[t]);
    }
}

static void depart(const struct event *e, bool warp)
{
    int t = e->thread, b = t / THREADS, w = t % THREADS / WARP;

    if (warp) {
        join(&global[t], &warp_meeting[b][w][warp_gen[t]]);
        join(&local[t], &local_warp[b][w][warp_gen[t]++]);
    } else {
        join(&global[t], &meeting[b][gen[t]]);
        join(&local[t], &local_meeting[b][gen[t]++]);
    }
}

static void flag_event(const struct event *e)
{
    int t = e->thread, f = GLOBAL + e->at;

    if (e->kind == RELEASE) {
        word[f] = global[t];
        has_word[f] = true;
    } else if (e->kind == RELEASE_RLX) {
        has_word[f] = has_fenced[t];
        word[f] = fenced[t];
    } else if (e->kind == FENCE) {
        join(&global[t], &seen[t]);
        fenced[t] = global[t];
        has_fenced[t] = true;
    } else if (has_word[f]) {
        join(e->kind == ACQUIRE ? &global[t] : &seen[t], &word[f]);
    }
}

static void see(const struct event *e, int number)
{
    int t = e->thread, shared = t / THREADS * SHARED + e->at, g = BLOCKS * SHARED + e->at;

    switch (e->kind) {
    case SH_READ:
    case SH_WRITE:
        touch_cell(shared, e->kind, t, number, true);
        break;
    case READ:
    case WRITE:
        touch_cell(g, e->kind, t, number, false);
        break;
    case ADD:
        touch_cell(g, ADD, t, number, false);
        break;
    case COPY:
        flight[t][n_flight[t]++] =
            (struct flight){ shared, BLOCKS * SHARED + e->from,
                             touch_cell(shared, COPY, t, number, true), group[t],
                             touch_cell(BLOCKS * SHARED + e->from, COPY, t, number, false) };
        break;
    case WAIT:
        complete(t, number, e->at);
        break;
    case SYNC:
    case SYNCWARP:
        arrive(e, e->kind == SYNCWARP);
        break;
    case PART:
        join(&part_meeting[e->at], &global[t]);
        join(&local_part[e->at], &local[t]);
        break;
    case PART_LEFT:
        join(&global[t], &part_meeting[e->at]);
        join(&local[t], &local_part[e->at]);
        break;
    case SYNC_LEFT:
    case SYNCWARP_LEFT:
        depart(e, e->kind == SYNCWARP_LEFT);
        break;
    case RELEASE:
    case RELEASE_RLX:
    case ACQUIRE:
    case ACQUIRE_RLX:
    case FENCE:
        break;
    case COMMIT:
    case END:
        return;
    }
    /* what was done so far is behind, what is told from here on includes it */
    global[t].c[t]++;
    local[t].c[t]++;
    if (e->kind >= RELEASE && e->kind <= FENCE)
        flag_event(e);
    if (e->kind == ADD) {
        if (has_word[e->at])
            join(&seen[t], &word[e->at]);
        if (has_fenced[t]) {
            if (!has_word[e->at])
                memset(&word[e->at], 0, sizeof word[e->at]);
            join(&word[e->at], &fenced[t]);
            has_word[e->at] = true;
        }
    }
}

static bool is_write(const struct touch *x, bool shared)
{
    return x->kind == SH_WRITE || x->kind == WRITE || x->kind == ADD ||
           (x->kind == COPY && shared);
}

/* x comes first */
static bool clash(const struct touch *x, const struct touch *y, bool shared)
{
    if (x->kind == COPY && shared && y->number > x->number && y->number < x->until)
        return true;
    if (x->kind == COPY && !shared && y->kind != ADD && is_write(y, shared) &&
        y->number > x->number && y->number < x->until)
        return true;
    if (!is_write(x, shared) && !is_write(y, shared))
        return false;
    if (x->thread == y->thread || (x->kind == ADD && y->kind == ADD))
        return false;
    return y->vc.c[x->thread] <= x->clock;
}

static bool racy(int cell)
{
    for (int i = 0; i < n_touch[cell]; i++)
        for (int j = i + 1; j < n_touch[cell]; j++)
            if (clash(&touch[cell][i], &touch[cell][j], cell < BLOCKS * SHARED))
                return true;
    return false;
}

static void judge_events(void)
{
    for (int t = 0; t < n_blocks * THREADS; t++) {
        memset(&local[t], 0, sizeof local[t]);
        memset(&global[t], 0, sizeof global[t]);
        memset(&fenced[t], 0, sizeof fenced[t]);
        memset(&seen[t], 0, sizeof seen[t]);
        local[t].c[t] = global[t].c[t] = 1;
        has_fenced[t] = false;
        gen[t] = warp_gen[t] = n_flight[t] = group[t] = cursor[t] = 0;
    }
    memset(has_word, 0, sizeof has_word);
    memset(meeting, 0, sizeof meeting);
    memset(warp_meeting, 0, sizeof warp_meeting);
    memset(local_meeting, 0, sizeof local_meeting);
    memset(local_warp, 0, sizeof local_warp);
    memset(part_meeting, 0, sizeof *part_meeting * (size_t)n_part);
    memset(local_part, 0, sizeof *local_part * (size_t)n_part);
    memset(n_touch, 0, sizeof n_touch);
    for (int i = 0; i < n_event; i++) {
        int t = event[i].thread;

        pass_commits(t);
        see(&event[i], i);
        if (event[i].kind != SYNC && event[i].kind != SYNCWARP && event[i].kind != PART)
            cursor[t]++;
    }
}

static bool reported(int cell)
{
    if (cell < BLOCKS * SHARED)
        return machine.block[cell / SHARED].shadow[cell % SHARED].w == ~0ull;
    return machine.memory[0].cell[cell - BLOCKS * SHARED].w == ~0ull;
}

static void one_trace(uint64_t number, int *n_racy, int *n_cell)
{
    struct simt_kernel sized = { .smem = SHARED * 4 };
    struct simt_program p = { arrays, 3, sites, S_ALL, &sized, 1, kernel };
    struct simt_opts o = {
        .seed = number, .resident = MAX_RESIDENT, .report = true, .lenient = true
    };
    struct simt_result r;
    const char *why;

    seed = (number + 1) * 0x9e3779b97f4a7c15u;
    sized.parts = draw_program();
    sized.blocks = n_blocks;
    sized.threads = n_threads;
    o.policy = draw(3) ? SIMT_PREEMPT : (enum simt_policy)draw(SIMT_POLICIES);
    o.interval = 1 + draw(6);
    o.latency = draw(8);
    memset(flags, 0, sizeof flags);
    n_event = 0;
    assert_true(simt_run(&p, &o, &r, &why));
    judge_events();
    for (int c = 0; c < CELLS; c++) {
        bool here = c >= BLOCKS * SHARED || c / SHARED < n_blocks, want = here && racy(c);

        if (!here)
            continue;
        ++*n_cell;
        *n_racy += want;
        if (want != reported(c))
            fail_msg("trace %d: cell %d is %sracy, %sreported", (int)number, c,
                     want ? "" : "not ", reported(c) ? "" : "not ");
    }
    for (int c = SIMT_UNINIT; c < SIMT_CLASSES; c++)
        if (r.count[c])
            fail_msg("trace %d: %s", (int)number, simt_class_name((enum simt_class)c));
}

static void shadow_is_exact(void **state)
{
    int n_racy = 0, n_cell = 0;

    (void)state;
    for (uint64_t i = 0; i < TRACES; i++)
        one_trace(i, &n_racy, &n_cell);
    print_message("%d cells, %d racy\n", n_cell, n_racy);
    assert_in_range(n_racy, n_cell / 20, n_cell * 19 / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(shadow_is_exact) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
