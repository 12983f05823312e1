/*
 * Barriers of parts of a block: named ones, at which some warps meet, and those of some lanes
 * of a warp. What they order is known to who was there, so in a kernel that has them every
 * thread has a clock, which counts its barriers since the last of the whole block, and a
 * vector: what each of the others did below which clock is over.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "run/simt/hooks.h"
#include "run/simt/machine.h"

bool stamp_met(uint64_t stamp)
{
    const struct thread *t = machine.now;
    uint64_t me = machine.hot.stamp;

    if (machine.parts)
        return stamp_clock(stamp) <
               t->block->over[t->tid * machine.n_threads + stamp_tid(stamp)];
    return same_warp(stamp, me) && stamp_clock(stamp) < stamp_clock(me);
}

static size_t vectors(void)
{
    return (size_t)machine.n_threads * (size_t)machine.n_threads;
}

void parts_start(struct block *b)
{
    if (b->cap_over < vectors()) {
        free(b->over);
        b->cap_over = vectors();
        b->over = must(malloc(b->cap_over * sizeof *b->over));
    }
    b->met = true;
    parts_sync(b);
}

void parts_sync(struct block *b)
{
    if (b->met)
        memset(b->over, 0, vectors() * sizeof *b->over);
    b->met = false;
}

void share_knowledge(struct thread **t, int n)
{
    for (int i = 1; i < n; i++)
        know_join(&t[0]->own, &t[i]->own);
    for (int i = 1; i < n; i++)
        know_join(&t[i]->own, &t[0]->own);
}

void parts_meet(struct block *b, struct thread **t, int n)
{
    int all = machine.n_threads;
    uint32_t *sum = &b->over[t[0]->tid * all];

    b->met = true;
    for (int i = 1; i < n; i++) {
        const uint32_t *own = &b->over[t[i]->tid * all];

        for (int u = 0; u < all; u++)
            sum[u] = sum[u] < own[u] ? own[u] : sum[u];
    }
    for (int i = 0; i < n; i++) {
        unsigned clock = stamp_clock(t[i]->stamp);

        clock += clock < MAX_CLOCK;
        t[i]->stamp = stamp_of(stamp_interval(t[i]->stamp), 0, t[i]->tid, clock);
        sum[t[i]->tid] = clock;
    }
    for (int i = 1; i < n; i++)
        memcpy(&b->over[t[i]->tid * all], sum, (size_t)all * sizeof *sum);
    share_knowledge(t, n);
}

void parts_tell(struct know *k)
{
    const struct thread *t = machine.now;
    const struct block *b = t->block;

    for (int u = 0; b->met && u < machine.n_threads; u++) {
        uint32_t clock = b->over[t->tid * machine.n_threads + u];

        if (clock)
            know_partly(k, (struct partly){ stamp_of(0, 0, u, clock), (uint32_t)b->id, b->epoch,
                                            true });
    }
}

/* All of the warp that lives waits there. */
static bool warp_there(const struct block *b, const struct named *x, int warp)
{
    return x->lanes[warp] && x->lanes[warp] == b->warp[warp].live;
}

static void named_release(struct block *b, struct named *x)
{
    struct thread *go[MAX_THREADS];
    bool exited = false;
    int n = 0, site = -1;

    for (int i = 0; i < machine.n_threads; i++) {
        struct thread *t = &b->thread[i];

        if (t->state != AT_NAMED || &b->named[t->named] != x || !warp_there(b, x, i / WARP))
            continue;
        exited |= b->warp[i / WARP].live < warp_size(i / WARP);
        site = t->at_site;
        go[n++] = t;
    }
    if (exited && !machine.o.lenient)
        report_access(SIMT_DIVERGENCE, "exited", NULL, site, -1, false, NULL);
    for (int i = 0; i < n; i++)
        x->lanes[go[i]->tid / WARP] = 0;
    x->waiting -= n;
    parts_meet(b, go, n);
    sched_release(go, n);
}

static void named_check(struct block *b, struct named *x)
{
    int warps = 0;

    for (int w = 0; w * WARP < machine.n_threads; w++)
        warps += warp_there(b, x, w);
    if (warps && warps * WARP >= x->n)
        named_release(b, x);
}

void named_left(struct block *b, int warp)
{
    for (int i = 0; i < NAMED; i++)
        if (b->named[i].lanes[warp])
            named_check(b, &b->named[i]);
}

/* Warps may come from different places, but each as one. */
static void check_arrival(const struct block *b, const struct named *x, int site, int n)
{
    const struct thread *t = machine.now, *lane = &b->thread[t->tid / WARP * WARP];
    const struct thread *first = &b->thread[x->first];

    if (n < WARP || n % WARP) {
        report_access(SIMT_DIVERGENCE, "barrier", NULL, site, -1, false, NULL);
    } else if (x->waiting && x->n != n) {
        report_access(SIMT_DIVERGENCE, "barrier", NULL, site, -1, false,
                      &(struct met){ first->stamp, (unsigned)first->at_site, false });
    }
    for (int i = 0; i < warp_size(t->tid / WARP); i++)
        if (lane[i].state == AT_NAMED && &b->named[lane[i].named] == x &&
            lane[i].at_site != site) {
            report_access(SIMT_DIVERGENCE, "warp", NULL, site, -1, false,
                          &(struct met){ lane[i].stamp, (unsigned)lane[i].at_site, false });
            return;
        }
}

void tf_hook_bar(int site, int id, int n)
{
    struct thread *t = machine.now;
    struct block *b = t->block;
    struct named *x = &b->named[id % NAMED];

    if (!machine.parts)
        BUG("a named barrier in a kernel that does not tell of it");
    check_arrival(b, x, site, n);
    if (!x->waiting++) {
        x->n = n;
        x->first = t->tid;
    }
    t->state = AT_NAMED;
    t->at_site = site;
    t->named = id % NAMED;
    x->lanes[t->tid / WARP]++;
    named_check(b, x);
    sched_wait();
}
