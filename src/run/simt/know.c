/*
 * Intervals, and what a block or thread knows to be over in other blocks: filled by acquires
 * only, so lists of a few entries serve better than a clock for every block of the grid.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "run/simt/machine.h"

uint32_t interval_new(const struct block *b)
{
    struct machine *m = &machine;
    size_t number = m->hot.launch + m->n_interval;

    if (number >= tf_aside - 1)
        BUG("intervals ran out");
    if (m->n_interval == m->cap_interval) {
        m->cap_interval = m->cap_interval ? 2 * m->cap_interval : 1024;
        m->interval = must(realloc(m->interval, m->cap_interval * sizeof *m->interval));
    }
    m->interval[m->n_interval++] = (struct interval){ (uint32_t)b->id, b->epoch };
    return (uint32_t)number;
}

void interval_own(void)
{
    struct thread *t = machine.now;

    t->stamp = stamp_of(interval_new(t->block), 0, t->tid, stamp_clock(t->stamp));
    sched_stamps();
}

const struct interval *interval_info(uint32_t number)
{
    return &machine.interval[number - machine.hot.launch];
}

void know_clear(struct know *k)
{
    k->n_all = k->n_part = 0;
}

void know_free(struct know *k)
{
    free(k->all);
    free(k->part);
    *k = (struct know){ 0 };
}

static void *grow(void *old, int n, int *cap, size_t size)
{
    if (n < *cap)
        return old;
    *cap = *cap ? 2 * *cap : 8;
    return must(realloc(old, (size_t)*cap * size));
}

static uint32_t epochs_over(const struct know *k, uint32_t block)
{
    for (int i = 0; i < k->n_all; i++)
        if (k->all[i].block == block)
            return k->all[i].epoch;
    return 0;
}

static void drop_parts(struct know *k, uint32_t block, uint32_t epoch)
{
    int n = 0;

    for (int i = 0; i < k->n_part; i++)
        if (k->part[i].block != block || k->part[i].epoch >= epoch)
            k->part[n++] = k->part[i];
    k->n_part = n;
}

void know_epochs(struct know *k, uint32_t block, uint32_t epoch)
{
    int i = 0;

    while (i < k->n_all && k->all[i].block != block)
        i++;
    if (i == k->n_all) {
        k->all = grow(k->all, i, &k->cap_all, sizeof *k->all);
        k->all[k->n_all++] = (struct known){ block, epoch };
    } else if (k->all[i].epoch < epoch) {
        k->all[i].epoch = epoch;
    } else {
        return;
    }
    drop_parts(k, block, epoch);
}

void know_partly(struct know *k, struct partly p)
{
    if (p.epoch < epochs_over(k, p.block))
        return;
    for (int i = 0; i < k->n_part; i++) {
        const struct partly *q = &k->part[i];

        if (q->block == p.block && q->epoch == p.epoch && q->lane == p.lane &&
            stamp_tid(q->stamp) == stamp_tid(p.stamp)) {
            /* a thread's intervals and its warp's clock grow together */
            if (q->stamp < p.stamp)
                k->part[i] = p;
            return;
        }
    }
    k->part = grow(k->part, k->n_part, &k->cap_part, sizeof *k->part);
    k->part[k->n_part++] = p;
}

void know_join(struct know *to, const struct know *from)
{
    for (int i = 0; i < from->n_all; i++)
        know_epochs(to, from->all[i].block, from->all[i].epoch);
    for (int i = 0; i < from->n_part; i++)
        know_partly(to, from->part[i]);
}

bool know_has(const struct know *k, uint64_t stamp, const struct interval *of)
{
    for (int i = 0; i < k->n_all; i++)
        if (k->all[i].block == of->block && of->epoch < k->all[i].epoch)
            return true;
    for (int i = 0; i < k->n_part; i++) {
        const struct partly *p = &k->part[i];

        if (p->block != of->block || p->epoch != of->epoch || !same_warp(p->stamp, stamp))
            continue;
        if (stamp_clock(stamp) < stamp_clock(p->stamp) &&
            (!machine.parts || (p->lane && stamp_tid(stamp) == stamp_tid(p->stamp))))
            return true;
        if (!p->lane && stamp_tid(stamp) == stamp_tid(p->stamp) &&
            stamp_interval(stamp) <= stamp_interval(p->stamp))
            return true;
    }
    return false;
}
