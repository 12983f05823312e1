/*
 * Flags, fences and atomics: how one block hands something to another. A word that was released
 * to carries what its releaser knew to be over; who acquires it knows that too, and so does his
 * block from the next barrier on. A relaxed access makes no edge unless a fence stands on the
 * right side of it.
 */
#include <stdlib.h>

#include "base/bug.h"
#include "run/simt/hooks.h"
#include "run/simt/machine.h"

enum { SLOTS = 1024 };

struct flag {
    struct flag *next;
    const unsigned char *at;
    struct know message;
    bool valid;
    struct thread *waiting;
};

static struct flag *table[SLOTS];

/* Between kernels everything is in order: nothing is handed on any more. */
void flag_begin(void)
{
    for (int i = 0; i < SLOTS; i++)
        while (table[i]) {
            struct flag *f = table[i];

            table[i] = f->next;
            know_free(&f->message);
            free(f);
        }
}

static struct flag *flag_at(const unsigned char *at)
{
    struct flag **slot = &table[((uintptr_t)at >> 2) * 2654435761u % SLOTS], *f;

    for (f = *slot; f; f = f->next)
        if (f->at == at)
            return f;
    f = must(calloc(1, sizeof *f));
    f->at = at;
    f->next = *slot;
    *slot = f;
    return f;
}

static void wake(struct flag *f)
{
    struct thread *t = f->waiting;

    f->waiting = NULL;
    while (t) {
        struct thread *next = t->wait_next;

        sched_ready(t);
        t = next;
    }
}

/* A word may have been written by other ways than a flag is: as wrong as that is, who spins on
 * it sees it. */
bool flag_wake_all(void)
{
    bool any = false;

    for (int i = 0; i < SLOTS; i++)
        for (struct flag *f = table[i]; f; f = f->next) {
            bool moved = false;

            for (struct thread *t = f->waiting; t; t = t->wait_next)
                moved |= *(const int *)f->at == t->wanted;
            if (moved)
                wake(f);
            any |= moved;
        }
    return any;
}

/* Everything that the running thread knows to be over, what it did itself included; what it
 * does next is in another interval. */
static void tell(struct know *k)
{
    struct thread *t = machine.now;
    const struct block *b = t->block;

    know_join(k, &b->know);
    know_join(k, &t->own);
    know_epochs(k, (uint32_t)b->id, b->epoch);
    know_partly(k, (struct partly){ t->stamp, (uint32_t)b->id, b->epoch, false });
    if (machine.parts)
        parts_tell(k);
}

/* Bounds, rules, and the word's place in memory. */
static unsigned char *word_at(int site, int64_t index, enum access_kind kind)
{
    struct machine *m = &machine;
    const struct tf_site *d = &m->site[site];
    const struct memory *mem = &m->memory[m->p->array[d->array].memory];
    unsigned more = d->shift - (unsigned)mem->cell_shift;

    if (!access_in_bounds(site, index, 1, kind != ATOMIC_LOAD))
        return NULL;
    if (d->cell && m->hot.track)
        for (int i = 0; i < 1 << more; i++) {
            struct tf_cell *c = d->cell + ((uint64_t)index << more) + i;

            if (trace_on)
                trace_access(c, kind != ATOMIC_LOAD);
            global_access(c, site, index, kind);
        }
    if (m->o.store_buffer && mem->recorded)
        buffer_drain_range(mem, d, index);
    return d->base + ((uint64_t)index << d->shift);
}

static void preempt(void)
{
    if (--machine.hot.fuel < 0)
        machine.hot.preempt();
}

/* Spins until the word is value. NULL = refused. */
static struct flag *spin(int site, int64_t index, int value)
{
    const struct tf_site *d = &machine.site[site];
    struct flag *f;

    preempt();
    if (!access_in_bounds(site, index, 1, false))
        return NULL;
    f = flag_at(d->base + ((uint64_t)index << d->shift));
    while (*(const int *)f->at != value) {
        struct thread *t = machine.now;

        t->state = AT_FLAG;
        t->wanted = value;
        t->at_site = site;
        t->wait_next = f->waiting;
        f->waiting = t;
        sched_wait();
    }
    word_at(site, index, ATOMIC_LOAD);
    return f;
}

void tf_hook_acquire(int site, long long index, int value)
{
    const struct flag *f = spin(site, index, value);

    if (f && f->valid)
        know_join(&machine.now->own, &f->message);
}

void tf_hook_acquire_relaxed(int site, long long index, int value)
{
    const struct flag *f = spin(site, index, value);

    if (f && f->valid)
        know_join(&machine.now->seen, &f->message);
}

static void store(struct flag *f, int value)
{
    *(int *)f->at = value;
    wake(f);
}

void tf_hook_release(int site, long long index, int value)
{
    struct flag *f;
    unsigned char *at;

    preempt();
    if (machine.o.store_buffer)
        buffer_drain(machine.now->block);
    at = word_at(site, index, ATOMIC_STORE);
    if (!at)
        return;
    f = flag_at(at);
    know_clear(&f->message);
    tell(&f->message);
    f->valid = true;
    interval_own();
    store(f, value);
}

void tf_hook_release_relaxed(int site, long long index, int value)
{
    struct flag *f;
    unsigned char *at;

    preempt();
    at = word_at(site, index, ATOMIC_STORE);
    if (!at)
        return;
    f = flag_at(at);
    know_clear(&f->message);
    f->valid = machine.now->has_fenced;
    if (f->valid)
        know_join(&f->message, &machine.now->fenced);
    store(f, value);
}

void tf_hook_fence(int site)
{
    struct thread *t = machine.now;

    (void)site;
    preempt();
    if (machine.o.store_buffer)
        buffer_drain(t->block);
    know_join(&t->own, &t->seen);
    know_clear(&t->seen);
    know_clear(&t->fenced);
    tell(&t->fenced);
    t->has_fenced = true;
    interval_own();
}

/* Reads and writes: what the word carried goes on with it. */
void *tf_hook_atomic(int site, long long index)
{
    struct flag *f;
    struct thread *t;
    unsigned char *at;

    preempt();
    t = machine.now;
    at = word_at(site, index, ATOMIC_ADD);
    if (!at)
        return dummy_element();
    f = flag_at(at);
    if (f->valid)
        know_join(&t->seen, &f->message);
    if (t->has_fenced) {
        know_join(&f->message, &t->fenced);
        f->valid = true;
    }
    wake(f);
    return at;
}
