/*
 * The store buffer, a mode: what a block writes to global memory stays with it until it
 * releases, fences or ends, so that others who don't acquire see what was there before. Each
 * resident block has a copy of all written memory, and a mark for every byte that it wrote.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "run/simt/machine.h"

static size_t total;

void buffer_begin(void)
{
    struct machine *m = &machine;

    total = 0;
    for (int i = 0; i < m->n_memory; i++) {
        m->memory[i].buffer_at = total;
        if (m->memory[i].recorded)
            total += (size_t)m->memory[i].bytes;
    }
    for (int i = 0; i < MAX_RESIDENT; i++) {
        struct block *b = &m->block[i];

        free(b->pending);
        free(b->dirty);
        b->pending = b->dirty = NULL;
        if (!m->o.store_buffer || i >= m->o.resident)
            continue;
        b->pending = must(malloc(total + 1));
        b->dirty = must(calloc(1, total + 1));
    }
}

void buffer_block(struct block *b)
{
    memset(b->dirty, 0, total);
}

static size_t place(const struct memory *m, const struct tf_site *d, int64_t index)
{
    return m->buffer_at + (size_t)(d->base - m->base) + ((size_t)index << d->shift);
}

unsigned char *buffer_access(const struct memory *m, const struct tf_site *d, int64_t index,
                             int n, bool store)
{
    static unsigned char mixed[64] __attribute__((aligned(16)));
    const struct block *b = machine.now->block;
    unsigned char *memory = d->base + ((uint64_t)index << d->shift);
    size_t at = place(m, d, index), bytes = (size_t)n << d->shift, own = 0;

    if (store) {
        memset(b->dirty + at, 1, bytes);
        return b->pending + at;
    }
    for (size_t i = 0; i < bytes; i++)
        own += b->dirty[at + i];
    if (!own)
        return memory;
    if (own == bytes)
        return b->pending + at;
    for (size_t i = 0; i < bytes; i++)
        mixed[i] = b->dirty[at + i] ? b->pending[at + i] : memory[i];
    return mixed;
}

static void drain(const struct block *b, const struct memory *m, size_t from, size_t n)
{
    for (size_t i = from; i < from + n; i++)
        if (b->dirty[m->buffer_at + i]) {
            m->base[i] = b->pending[m->buffer_at + i];
            b->dirty[m->buffer_at + i] = 0;
        }
}

void buffer_drain(struct block *b)
{
    for (int i = 0; i < machine.n_memory; i++)
        if (machine.memory[i].recorded)
            drain(b, &machine.memory[i], 0, (size_t)machine.memory[i].bytes);
}

void buffer_drain_range(const struct memory *m, const struct tf_site *d, int64_t index)
{
    drain(machine.now->block, m, place(m, d, index) - m->buffer_at, (size_t)1 << d->shift);
}
