/*
 * A growing string on the heap. Output is built here and written once.
 */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stddef.h>

struct arena;

struct str {
    char *s; /* always NUL-terminated once something was added; NULL before */
    size_t n, cap;
};

void str_add(struct str *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void str_puts(struct str *t, const char *s);
void str_write(struct str *t, const char *s, size_t n);
void str_clear(struct str *t); /* keeps the memory */
void str_release(struct str *t);
const char *str_get(const struct str *t); /* "" when empty */
/* Moves the text to an arena: t is empty then. */
const char *str_keep(struct str *t, struct arena *a);

/* Shortest decimal text that reads back as the same float, integers below 1e9 in full; "inf"
 * "-inf" "nan" else. */
void str_float(struct str *t, double v);

#endif
