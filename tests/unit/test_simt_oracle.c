/*
 * The shadow memory against an exact oracle: random programs run on the machine, each event is
 * logged when it happens, and afterwards every pair of accesses to a cell is judged by vector
 * clocks, one component a thread. A cell must be reported exactly if some pair of its accesses
 * conflicts and is unordered.
 *
 * Within a block only barriers order shared memory; flags, fences and atomics order global.
 */
#include "traces.h"

enum { TRACES = 100000, WARPS = (THREADS + WARP - 1) / WARP };
enum { CELLS = BLOCKS * SHARED + GLOBAL };

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
