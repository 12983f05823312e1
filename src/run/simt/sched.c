/*
 * Who runs next. Ready threads wait in one list: a ring where order is by arrival, a heap where
 * it is by priority, and a bag where anybody may be next.
 */
#include <stdlib.h>

#include "run/simt/machine.h"

const char *const simt_policy_names[SIMT_POLICIES] = {
    "in-order", "reverse", "permuted", "preempt", "turns", "straggler", "priority",
};

enum { ROOM = MAX_RESIDENT * MAX_THREADS, CHANGES = 5 };

static struct thread *list[ROOM];
static int n_list, head;
static uint64_t arrivals;
static long long tank; /* fuel that the running thread began with */
static int changes;    /* PRIORITY: interruptions that are left */

static int64_t draw(int64_t n)
{
    return (int64_t)rng_below(&machine.rng, (uint64_t)n);
}

static bool by_priority(void)
{
    return machine.o.policy == SIMT_STRAGGLER || machine.o.policy == SIMT_PRIORITY;
}

static long long fuel(void)
{
    switch (machine.o.policy) {
    case SIMT_PREEMPT:
        return draw(2 * (int64_t)machine.o.interval);
    case SIMT_TURNS:
        return 0;
    case SIMT_PRIORITY:
        return changes ? draw(2000) : INT64_MAX;
    case SIMT_IN_ORDER:
    case SIMT_REVERSE:
    case SIMT_PERMUTED:
    case SIMT_STRAGGLER:
    case SIMT_POLICIES:
        break;
    }
    return INT64_MAX;
}

void sched_begin(void)
{
    changes = machine.o.policy == SIMT_PRIORITY ? CHANGES : 0;
}

void sched_launch(void)
{
    n_list = head = 0;
    arrivals = 0;
}

static bool before(const struct thread *a, const struct thread *b)
{
    return a->priority != b->priority ? a->priority < b->priority : a->order < b->order;
}

static void heap_push(struct thread *t)
{
    int i = n_list++;

    for (; i && before(t, list[(i - 1) / 2]); i = (i - 1) / 2)
        list[i] = list[(i - 1) / 2];
    list[i] = t;
}

static struct thread *heap_pop(void)
{
    struct thread *top = list[0], *last = list[--n_list];
    int i = 0, child;

    while ((child = 2 * i + 1) < n_list) {
        if (child + 1 < n_list && before(list[child + 1], list[child]))
            child++;
        if (!before(list[child], last))
            break;
        list[i] = list[child];
        i = child;
    }
    list[i] = last;
    return top;
}

void sched_ready(struct thread *t)
{
    t->state = READY;
    t->order = arrivals++;
    if (by_priority())
        heap_push(t);
    else if (machine.o.policy == SIMT_PREEMPT)
        list[n_list++] = t;
    else
        list[(head + n_list++) % ROOM] = t;
}

static struct thread *pop(void)
{
    struct thread *t;

    if (by_priority())
        return heap_pop();
    if (machine.o.policy == SIMT_PREEMPT) {
        int i = (int)draw(n_list);

        t = list[i];
        list[i] = list[--n_list];
        return t;
    }
    t = list[head];
    head = (head + 1) % ROOM;
    n_list--;
    return t;
}

void sched_release(struct thread **t, int n)
{
    if (machine.o.policy == SIMT_PERMUTED)
        for (int i = n - 1; i > 0; i--) {
            int j = (int)draw(i + 1);
            struct thread *x = t[i];

            t[i] = t[j];
            t[j] = x;
        }
    for (int i = 0; i < n; i++)
        sched_ready(t[machine.o.policy == SIMT_REVERSE ? n - 1 - i : i]);
}

void sched_stamps(void)
{
    struct tf_hot *h = &machine.hot;
    const struct thread *t = machine.now;

    h->stamp = t->stamp;
    h->floor = t->block->floor;
    h->many = (uint64_t)h->floor << 2 | 2;
    h->warp = stamp_of(h->floor, 1, t->tid, stamp_clock(t->stamp)) >> 5;
    if (machine.parts) /* nothing is lumped */
        h->many = h->warp = ~0ull;
}

static void enter(struct thread *t)
{
    struct tf_hot *h = &machine.hot;

    machine.now = t;
    h->fuel = tank = fuel();
    h->tid = t->tid;
    h->bid = (int)t->block->id;
    h->smem = t->block->smem;
    h->shadow = t->block->shadow;
    sched_stamps();
}

/* The running thread gives up its turn. */
static void count_accesses(void)
{
    machine.r->accesses += (uint64_t)(tank - machine.hot.fuel);
    tank = machine.hot.fuel;
}

static void next(struct fiber *from, const struct thread *me)
{
    struct thread *t;

    if (me)
        count_accesses();
    machine.ticks++;
    copy_tick();
    if (!n_list) {
        fiber_switch(from, &machine.host);
        return;
    }
    t = pop();
    enter(t);
    if (t != me)
        fiber_switch(from, &t->fiber);
}

void sched_wait(void)
{
    next(&machine.now->fiber, machine.now);
}

void sched_preempt(void)
{
    struct thread *t = machine.now;

    machine.ticks += 8;
    if (machine.o.policy == SIMT_PRIORITY && changes) {
        changes--;
        t->priority += (uint64_t)1 << 40;
    }
    sched_ready(t);
    next(&t->fiber, t);
}

void sched_host(void)
{
    if (n_list)
        next(&machine.host, NULL);
}

void sched_leave(void)
{
    count_accesses();
    fiber_switch(&machine.now->fiber, &machine.host);
}
