#include "run/slab.h"

#include <assert.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ir/data.h"

static size_t page(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static unsigned char *slot_base(const struct slab *s, int i)
{
    return s->map + page() + (size_t)i * (s->slot_bytes + page());
}

/* Pages cost memory only once they are touched, so slots may be far larger than most
 * tensors. Guards are what was never made accessible. */
bool slab_open(struct slab *s, int n_slot, size_t slot_bytes)
{
    *s = (struct slab){ .n_slot = n_slot };
    s->slot_bytes = (slot_bytes + page() - 1) / page() * page();
    s->map_bytes = page() + (size_t)n_slot * (s->slot_bytes + page());
    s->map =
        mmap(NULL, s->map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (s->map == MAP_FAILED) {
        *s = (struct slab){ 0 };
        return false;
    }
    for (int i = 0; i < n_slot; i++) {
        if (mprotect(slot_base(s, i), s->slot_bytes, PROT_READ | PROT_WRITE)) {
            slab_close(s);
            return false;
        }
    }
    return true;
}

void slab_close(struct slab *s)
{
    if (s->map)
        munmap(s->map, s->map_bytes);
    *s = (struct slab){ 0 };
}

void slab_reset(struct slab *s)
{
    s->used = 0;
}

size_t slab_room(size_t bytes)
{
    return (bytes + 15) / 16 * 16 + SLAB_MARGIN;
}

bool slab_take(struct slab *s, size_t bytes, size_t align, bool right, struct slab_buf *b)
{
    size_t length = (bytes + align - 1) / align * align;
    unsigned char *base;

    if (s->used == s->n_slot || slab_room(bytes) > s->slot_bytes)
        return false;
    base = slot_base(s, s->used++);
    *b = (struct slab_buf){ base, bytes, base, s->slot_bytes };
    if (right)
        b->p = base + s->slot_bytes - length;
    memset(right ? b->p - SLAB_MARGIN : b->p, POISON_BYTE, length + SLAB_MARGIN);
    return true;
}

static bool poisoned(const unsigned char *from, const unsigned char *to)
{
    while (from < to && *from == POISON_BYTE)
        from++;
    return from == to;
}

bool slab_margins_ok(const struct slab_buf *b)
{
    const unsigned char *end = b->base + b->slot_bytes, *after = b->p + b->bytes;

    assert(b->base);
    if (b->p == b->base)
        return poisoned(after, after + SLAB_MARGIN);
    return poisoned(b->p - SLAB_MARGIN, b->p) && poisoned(after, end);
}
