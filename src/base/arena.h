/*
 * A bump allocator. Everything a trial needs lives in one arena and is given back in one
 * call; single objects are never freed. Memory comes zeroed, and running out ends the
 * process, so callers need no check. Tensor data never lives here (see run/slab.h).
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

struct arena_block;

struct arena {
    struct arena_block *head;
    size_t used, peak; /* bytes handed out now, and at most since arena_init */
};

void arena_init(struct arena *a);
void arena_release(struct arena *a); /* gives everything back to the system */
void arena_reset(struct arena *a);   /* keeps the largest block for the next trial */

void *arena_alloc(struct arena *a, size_t size, size_t align);
void *arena_alloc_array(struct arena *a, size_t n, size_t size, size_t align);
#define arena_new(a, T)      ((T *)arena_alloc((a), sizeof(T), _Alignof(T)))
#define arena_array(a, T, n) ((T *)arena_alloc_array((a), (size_t)(n), sizeof(T), _Alignof(T)))

char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Grows an arena array: returns room for at least n + 1 elements, old content copied. */
void *arena_grow(struct arena *a, void *old, int n, int *cap, size_t size);
#define arena_push(a, arr, n, cap)                                                             \
    ((arr) = arena_grow((a), (arr), (n), &(cap), sizeof *(arr)), &(arr)[(n)++])

#endif
