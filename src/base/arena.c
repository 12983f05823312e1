#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"

enum { BLOCK_MIN = 64 * 1024 };

struct arena_block {
    struct arena_block *next;
    size_t size, used; /* of data[], in bytes */
    _Alignas(16) unsigned char data[];
};

void arena_init(struct arena *a)
{
    *a = (struct arena){ 0 };
}

void arena_release(struct arena *a)
{
    struct arena_block *b = a->head;

    while (b) {
        struct arena_block *next = b->next;

        free(b);
        b = next;
    }
    a->head = NULL;
    a->used = 0;
}

void arena_reset(struct arena *a)
{
    struct arena_block *keep = NULL, *b = a->head;

    while (b) {
        struct arena_block *next = b->next;

        if (!keep || b->size > keep->size) {
            free(keep);
            keep = b;
        } else {
            free(b);
        }
        b = next;
    }
    if (keep) {
        keep->next = NULL;
        keep->used = 0;
    }
    a->head = keep;
    a->used = 0;
}

static struct arena_block *block_new(struct arena *a, size_t need)
{
    size_t size = a->head ? a->head->size * 2 : BLOCK_MIN;
    struct arena_block *b;

    if (size < need)
        size = need;
    b = malloc(sizeof *b + size);
    if (!b) {
        fprintf(stderr, "tilefuzz: out of memory (%zu bytes)\n", size);
        exit(3);
    }
    b->next = a->head;
    b->size = size;
    b->used = 0;
    a->head = b;
    return b;
}

void *arena_alloc(struct arena *a, size_t size, size_t align)
{
    struct arena_block *b = a->head;
    size_t at;
    void *p;

    if (align == 0 || align > 16)
        BUG("arena alignment %zu", align);
    at = b ? (b->used + align - 1) & ~(align - 1) : 0;
    if (!b || at > b->size || size > b->size - at) {
        b = block_new(a, size);
        at = 0;
    }
    p = b->data + at;
    a->used += at + size - b->used;
    b->used = at + size;
    if (a->used > a->peak)
        a->peak = a->used;
    memset(p, 0, size);
    return p;
}

void *arena_alloc_array(struct arena *a, size_t n, size_t size, size_t align)
{
    if (size && n > SIZE_MAX / 2 / size) {
        fprintf(stderr, "tilefuzz: out of memory (%zu x %zu bytes)\n", n, size);
        exit(3);
    }
    return arena_alloc(a, n * size, align);
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
    char *p = arena_alloc(a, n + 1, 1);

    memcpy(p, s, n);
    return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
    return arena_strndup(a, s, strlen(s));
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap, again;
    int n;
    char *p;

    va_start(ap, fmt);
    va_copy(again, ap);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    p = arena_alloc(a, (size_t)n + 1, 1);
    vsnprintf(p, (size_t)n + 1, fmt, again);
    va_end(again);
    return p;
}

void *arena_grow(struct arena *a, void *old, int n, int *cap, size_t size)
{
    void *p;

    if (n < *cap)
        return old;
    *cap = *cap ? *cap * 2 : 8;
    p = arena_alloc_array(a, (size_t)*cap, size, 16);
    if (n)
        memcpy(p, old, (size_t)n * size);
    return p;
}
