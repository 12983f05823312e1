/* Blocks: how they begin, meet at barriers, and end. */
#include <string.h>

#include "base/bug.h"
#include "run/simt/hooks.h"
#include "run/simt/machine.h"

static void start_thread(struct block *b, int tid, int straggler)
{
    struct thread *t = &b->thread[tid];

    t->block = b;
    t->tid = tid;
    t->stamp = stamp_of(b->floor, 0, tid, 0);
    know_clear(&t->own);
    know_clear(&t->fenced);
    know_clear(&t->seen);
    t->has_fenced = false;
    t->group = 0;
    t->first = t->last = NULL;
    t->word = NULL;
    t->priority = 0;
    if (machine.o.policy == SIMT_STRAGGLER)
        t->priority = tid / WARP == straggler;
    else if (machine.o.policy == SIMT_PRIORITY)
        t->priority = rng_below(&machine.rng, 1 << 20);
    fiber_make(&t->fiber, t->number, thread_main);
}

void block_start(struct block *b)
{
    struct machine *m = &machine;
    struct thread *all[MAX_THREADS];
    int n = m->n_threads, n_warp = (n + WARP - 1) / WARP, straggler;

    b->id = m->next_block++;
    b->epoch = 0;
    b->floor = interval_new(b);
    b->live = n;
    b->arrived = b->exited = 0;
    know_clear(&b->know);
    for (int w = 0; w < n_warp; w++)
        b->warp[w] = (struct warp){ .live = n - w * WARP < WARP ? n - w * WARP : WARP };
    memset(b->named, 0, sizeof b->named);
    if (m->parts)
        parts_start(b);
    memset(b->smem, 0xff, (size_t)m->smem_bytes);
    if (m->hot.track)
        memset(b->shadow, 0, (size_t)(m->smem_bytes >> m->smem_shift) * sizeof *b->shadow);
    if (m->o.store_buffer)
        buffer_block(b);
    straggler = m->o.policy == SIMT_STRAGGLER ? (int)rng_below(&m->rng, (uint64_t)n_warp) : 0;
    for (int i = 0; i < n; i++) {
        start_thread(b, i, straggler);
        all[i] = &b->thread[i];
    }
    sched_release(all, n);
}

static void release(struct block *b)
{
    struct thread *go[MAX_THREADS];
    int n = 0;

    if (b->exited && !machine.o.lenient)
        report_access(SIMT_DIVERGENCE, "exited", NULL, b->bar_site, -1, false, NULL);
    b->arrived = 0;
    b->epoch++;
    b->floor = interval_new(b);
    for (int w = 0; w < MAX_WARPS; w++)
        b->warp[w].clock = 0;
    if (machine.parts)
        parts_sync(b);
    for (int i = 0; i < machine.n_threads; i++) {
        struct thread *t = &b->thread[i];

        if (t->own.n_all || t->own.n_part) {
            know_join(&b->know, &t->own);
            know_clear(&t->own);
        }
        t->stamp = stamp_of(b->floor, 0, i, 0);
        if (t->state == AT_BARRIER)
            go[n++] = t;
    }
    sched_release(go, n);
}

void barrier_check(struct block *b)
{
    if (b->live && b->arrived == b->live)
        release(b);
}

void tf_hook_sync(int site)
{
    struct thread *t = machine.now;
    struct block *b = t->block;

    if (!b->arrived) {
        b->bar_site = site;
        b->first_at_barrier = t->tid;
    } else if (b->bar_site != site) {
        struct met met = { b->thread[b->first_at_barrier].stamp, (unsigned)b->bar_site, false };

        report_access(SIMT_DIVERGENCE, "barrier", NULL, site, -1, false, &met);
    }
    t->state = AT_BARRIER;
    t->at_site = site;
    b->arrived++;
    barrier_check(b);
    sched_wait();
}

static void leave(void)
{
    struct thread *t = machine.now;
    struct block *b = t->block;

    t->state = DONE;
    b->live--;
    b->exited++;
    b->warp[t->tid / WARP].live--;
    warp_left(b, t->tid / WARP);
    named_left(b, t->tid / WARP);
    barrier_check(b);
    if (!b->live) {
        copies_end(b);
        if (machine.o.store_buffer)
            buffer_drain(b);
        machine.done_blocks++;
        sched_leave();
    } else {
        sched_wait();
    }
    BUG("a thread that was done ran on");
}

void thread_main(void)
{
    fiber_begun();
    machine.p->call(machine.kernel);
    leave();
}
