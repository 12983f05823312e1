/*
 * sync: barriers of the block, where threads touch the same bytes of shared memory, or of a
 * temporary in global memory.
 * needs: offsets of shared buffers. keeps: the barriers that stand already (semaphores).
 * gives: as few SYNCs as order all conflicting accesses, one rewrite each, called by what
 * they separate: sync.raw (a write and a read behind it), sync.war, sync.waw.
 */
#include "lower/nest.h"
#include "lower/passes.h"
#include "lower/sync.h"
#include "lower/sync_site.h"

enum { MAX_BARRIERS = 64 };

static const char *const rules[] = {
    [HAZARD_RAW] = "sync.raw", [HAZARD_WAR] = "sync.war", [HAZARD_WAW] = "sync.waw"
};

struct barriers {
    struct conflict at[MAX_BARRIERS];
    int n;
    bool *before; /* by statement */
};

/* Always the first conflict in time, so that a barrier serves what comes later as well. */
static void place_all(struct sync *s, struct barriers *b)
{
    struct conflict c;

    while (b->n < MAX_BARRIERS && sync_conflict(s, b->before, &c) && !b->before[c.at]) {
        b->before[c.at] = true;
        b->at[b->n++] = c;
    }
}

/* A barrier that was placed early may be served by later ones. */
static void drop_needless(struct sync *s, struct barriers *b)
{
    int kept = 0;

    for (int i = 0; i < b->n; i++) {
        struct conflict c;

        b->before[b->at[i].at] = false;
        if (sync_conflict(s, b->before, &c)) {
            b->before[b->at[i].at] = true;
            b->at[kept++] = b->at[i];
        }
    }
    b->n = kept;
}

/* The END of the IF that stands right before `at`, but for declarations; -1 = none does. */
static int branch_before(const struct kernel *k, int at)
{
    int end = at - 1;

    while (end > 0 && k->st[end].kind == ST_DECL)
        end--;
    for (int i = end - 1; i >= 0; i--)
        if (k->st[i].kind == ST_IF && stmt_end(k, i) == end)
            return end;
    return -1;
}

/* Where a barrier comes to stand: where it is needed, unless a fault moves it. */
static int placed_at(const struct lprog *l, const struct kernel *k, int at)
{
    if (FAULT(l, barrier_before_wait) && at > 0 && k->st[at - 1].kind == ST_WAIT)
        return at - 1;
    if (FAULT(l, divergent_barrier) && branch_before(k, at) >= 0)
        return branch_before(k, at);
    return at;
}

static int by_place(const struct barriers *b, int at)
{
    for (int i = 0; i < b->n; i++)
        if (b->at[i].at == at)
            return i;
    return -1;
}

static void insert(struct lprog *l, struct kernel *k, int at)
{
    struct kernel list = list_new(k);

    for (int i = 0; i < k->n; i++) {
        if (i == at)
            kernel_push(l, &list, (struct stmt){ .kind = ST_SYNC });
        kernel_push(l, &list, k->st[i]);
    }
    list_take(k, &list);
}

/* In order of statements, last first: what stands before keeps its number. */
static void sync_kernel(struct lprog *l, int kernel)
{
    struct kernel *k = &l->kernel[kernel];
    struct sync *s = sync_open(l, kernel);
    struct barriers b = { .before = arena_array(l->arena, bool, k->n + 1) };

    place_all(s, &b);
    drop_needless(s, &b);
    for (int at = k->n - 1; at >= 0 && !l->stopped; at--) {
        int i = by_place(&b, at), by;

        if (i < 0)
            continue;
        by = l->buffer[b.at[i].buffer].by;
        if (lprog_rewrite(l, rules[b.at[i].hazard], by > 0 ? l->log[by - 1].step : -1, kernel))
            insert(l, &l->kernel[kernel], placed_at(l, k, at));
    }
}

static bool threads_meet(struct lprog *l, int kernel)
{
    bool *meets = arena_array(l->arena, bool, l->n_buffer + 1);

    sites_meet(l, kernel, meets);
    for (int b = 0; b < l->n_buffer; b++)
        if (meets[b])
            return true;
    return false;
}

int pass_sync(struct lprog *l, struct err *e)
{
    (void)e;
    for (int i = 0; i < l->n_kernel && !l->stopped; i++)
        if (!l->kernel[i].dead && kernel_bound(&l->kernel[i]) && threads_meet(l, i))
            sync_kernel(l, i);
    return 0;
}
