/*
 * Asynchronous copies. The source is read and the destination written at a time that the seed
 * chose between issue and wait; nobody may touch the destination, nor write the source, before
 * the issuer has waited, and others not before they have met him at a barrier after that.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "run/simt/hooks.h"
#include "run/simt/machine.h"

enum { CHUNK = 256 };

struct chunk {
    struct chunk *next;
    struct copy copy[CHUNK];
};

static struct chunk *chunks;
static struct copy *unused;
static int taken;
static struct copy **heap; /* by due */
static int n_heap, cap_heap;
static int n_over; /* of those in the heap */

static void free_chunk(struct chunk *k)
{
    for (int i = 0; i < CHUNK; i++) {
        k->copy[i].next = unused;
        unused = &k->copy[i];
    }
}

static struct copy *take(void)
{
    struct copy *c;

    if (!unused) {
        struct chunk *k = must(calloc(1, sizeof *k));

        k->next = chunks;
        chunks = k;
        free_chunk(k);
    }
    c = unused;
    unused = c->next;
    taken++;
    return c;
}

static void give(struct copy *c)
{
    c->over = true;
    if (c->queued) {
        n_over++;
        return; /* the heap gives it back */
    }
    taken--;
    c->next = unused;
    unused = c;
}

static void land(struct copy *c)
{
    unsigned char *to = c->block->smem + c->to;

    if (c->landed)
        return;
    c->landed = true;
    if (c->from)
        memcpy(to, c->from, (size_t)c->bytes);
    else
        memset(to, 0, (size_t)c->bytes);
}

static bool sooner(const struct copy *a, const struct copy *b)
{
    return a->due < b->due;
}

static void push(struct copy *c)
{
    int i = n_heap++;

    if (i == cap_heap) {
        cap_heap = cap_heap ? 2 * cap_heap : 1024;
        heap = must(realloc(heap, (size_t)cap_heap * sizeof *heap));
    }
    for (; i && sooner(c, heap[(i - 1) / 2]); i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = c;
    c->queued = true;
}

static struct copy *pop(void)
{
    struct copy *top = heap[0], *last = heap[--n_heap];
    int i = 0, child;

    while ((child = 2 * i + 1) < n_heap) {
        if (child + 1 < n_heap && sooner(heap[child + 1], heap[child]))
            child++;
        if (!sooner(heap[child], last))
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = last;
    top->queued = false;
    return top;
}

/* What nobody waits for any more is under way only as an entry of the heap. */
static void drop_over(void)
{
    int n = 0;

    for (int i = 0; i < n_heap; i++)
        if (heap[i]->over) {
            heap[i]->queued = false;
            give(heap[i]);
        } else {
            heap[n++] = heap[i];
        }
    n_heap = n_over = 0;
    for (int i = 0; i < n; i++)
        push(heap[i]);
}

/* A run that got stuck may have left some. */
void copy_begin(void)
{
    drop_over();
    n_heap = 0;
    if (!taken)
        return;
    taken = 0;
    unused = NULL;
    for (struct chunk *k = chunks; k; k = k->next)
        free_chunk(k);
}

void copy_tick(void)
{
    while (n_heap && heap[0]->due <= machine.ticks) {
        struct copy *c = pop();

        n_over -= c->over;
        if (c->over)
            give(c);
        else
            land(c);
    }
    if (n_over > 256 && 2 * n_over > n_heap)
        drop_over();
}

/* Reads the source for the rules, and remembers who had written it. */
static void read_source(struct copy *c, const struct tf_site *d, int site, int64_t index, int n)
{
    const struct memory *m = &machine.memory[machine.p->array[d->array].memory];
    unsigned more = d->shift - (unsigned)m->cell_shift;

    c->from = d->base + ((uint64_t)index << d->shift);
    if (!d->cell || !machine.hot.track)
        return;
    c->read = d->cell + ((uint64_t)index << more);
    c->read_cells = (short)(n << more);
    for (int i = 0; i < n << more; i++) {
        struct tf_cell *x = d->cell + ((uint64_t)index << more) + i;

        if (trace_on)
            trace_access(x, false);
        if (!tf_read_global(&machine.hot, x, d))
            global_access(x, site, index + (i >> more), PLAIN_READ);
        c->wrote[i] = x->w;
    }
    if (!d->frozen)
        interval_own();
}

static void claim_destination(const struct copy *c, const struct tf_site *d)
{
    unsigned more = d->shift - (unsigned)machine.smem_shift;

    for (int i = 0; i < c->cells; i++) {
        struct tf_cell *x = &machine.hot.shadow[c->cell + (unsigned)i];

        if (trace_on)
            trace_access(x, true);
        if (!tf_write_shared(&machine.hot, x, d))
            shared_write(x, c->site, c->to_index + (i >> more));
        x->w |= (uint64_t)tf_aside << 32;
    }
}

/* What the copy takes is 4, 8 or 16 bytes, whole elements of both sides. */
static bool whole(int bytes, const struct tf_site *to, const struct tf_site *from)
{
    return (bytes == 4 || bytes == 8 || bytes == 16) &&
           bytes >> to->shift << to->shift == bytes &&
           bytes >> from->shift << from->shift == bytes;
}

void tf_hook_copy(int site, long long to, long long from, int bytes, int pred)
{
    struct tf_hot *h = &machine.hot;
    const struct tf_site *d = &machine.site[site], *s = &machine.site[site + 1];
    struct thread *t;
    struct copy *c;

    if (--h->fuel < 0)
        h->preempt();
    t = machine.now;
    if (!whole(bytes, d, s)) {
        report_access(SIMT_BOUNDS, "size", NULL, site, to, true, NULL);
        return;
    }
    if (!access_in_bounds(site, to, bytes >> d->shift, true) ||
        (pred && !access_in_bounds(site + 1, from, bytes >> s->shift, false)))
        return;
    c = take();
    *c = (struct copy){ .block = t->block,
                        .group = t->group,
                        .site = site,
                        .thread = t->tid,
                        .bytes = (short)bytes };
    c->to_index = to;
    c->from_index = from;
    c->to = d->off + (unsigned)(to << d->shift);
    c->cell = c->to >> machine.smem_shift;
    c->cells = (short)(bytes >> machine.smem_shift);
    if (pred)
        read_source(c, s, site + 1, from, bytes >> s->shift);
    c->stamp = t->stamp;
    if (h->track)
        claim_destination(c, d);
    if (t->last)
        t->last->next = c;
    else
        t->first = c;
    t->last = c;
    machine.r->copies++;
    if (machine.o.latency) {
        c->due = machine.ticks + 1 + rng_below(&machine.rng, UINT64_C(1) << machine.o.latency);
        push(c);
    } else {
        land(c);
    }
}

void tf_hook_commit(int site)
{
    (void)site;
    machine.now->group++;
}

static void settle(const struct copy *c)
{
    struct tf_hot *h = &machine.hot;

    for (int i = 0; i < c->cells; i++) {
        struct tf_cell *x = &h->shadow[c->cell + (unsigned)i];

        if (x->w == (c->stamp | (uint64_t)tf_aside << 32))
            x->w = h->stamp;
    }
    for (int i = 0; i < c->read_cells; i++) {
        struct tf_cell *x = (struct tf_cell *)c->read + i;
        const struct met met = { x->w, x->wsite, true };

        if (x->w != c->wrote[i] && x->w != ~0ull) {
            report_access(SIMT_RACE, "async", x, c->site + 1, c->from_index, false, &met);
            return;
        }
    }
}

void tf_hook_wait(int site, int n)
{
    struct thread *t = machine.now;

    (void)site;
    while (t->first) {
        struct copy *c = t->first;

        if (c->group >= t->group || t->group - c->group <= (uint32_t)n)
            return;
        land(c);
        if (machine.hot.track)
            settle(c);
        t->first = c->next;
        if (!t->first)
            t->last = NULL;
        give(c);
    }
}

void copies_end(struct block *b)
{
    for (int i = 0; i < machine.n_threads; i++) {
        struct thread *t = &b->thread[i];

        if (t->first && machine.hot.track && machine.o.pending) {
            struct thread *leaving = machine.now;

            machine.now = t;
            report_access(SIMT_RACE, "pending", NULL, t->first->site, t->first->to_index, true,
                          NULL);
            machine.now = leaving;
        }
        while (t->first) {
            struct copy *c = t->first;

            t->first = c->next;
            land(c);
            give(c);
        }
        t->last = NULL;
    }
}
