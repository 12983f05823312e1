/*
 * Guarded memory for tensor data. One slab is mapped per process: slots, each between two
 * inaccessible pages. A buffer is placed right- or left-aligned against a guard page; on its
 * other side is a margin of SLAB_MARGIN poisoned bytes (and up to 15 before the guard, to
 * keep its elements aligned), which slab_margins_ok compares.
 */
#ifndef RUN_SLAB_H
#define RUN_SLAB_H

#include <stdbool.h>
#include <stddef.h>

enum { SLAB_MARGIN = 64 };

struct slab_buf {
    unsigned char *p; /* bytes of the buffer; bytes may be 0 */
    size_t bytes;
    unsigned char *base; /* of the slot */
    size_t slot_bytes;
};

struct slab {
    unsigned char *map;
    size_t map_bytes;
    size_t slot_bytes; /* usable per slot */
    int n_slot, used;
};

/* slot_bytes is rounded up to pages. False = no memory. */
bool slab_open(struct slab *s, int n_slot, size_t slot_bytes);
void slab_close(struct slab *s);
void slab_reset(struct slab *s); /* all slots are free again; nothing is cleared */
/* Takes the next slot, margins poisoned, content poisoned (POISON_BYTE). right = ends at the
 * guard page (but starts at a multiple of `align`, a power of 2 up to 16). False = too large
 * or no slot left. */
bool slab_take(struct slab *s, size_t bytes, size_t align, bool right, struct slab_buf *b);
/* Slot bytes that a buffer of this size needs, its margin included. */
size_t slab_room(size_t bytes);
bool slab_margins_ok(const struct slab_buf *b);

#endif
