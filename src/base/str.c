#include "base/str.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

static void room(struct str *t, size_t more)
{
    size_t cap = t->cap ? t->cap : 256;

    if (t->cap && more < t->cap - t->n)
        return;
    while (cap - t->n <= more)
        cap *= 2;
    t->s = realloc(t->s, cap);
    if (!t->s) {
        fprintf(stderr, "tilefuzz: out of memory (%zu bytes)\n", cap);
        exit(3);
    }
    t->cap = cap;
}

void str_write(struct str *t, const char *s, size_t n)
{
    room(t, n);
    if (n) /* s may be NULL then */
        memcpy(t->s + t->n, s, n);
    t->n += n;
    t->s[t->n] = '\0';
}

void str_puts(struct str *t, const char *s)
{
    str_write(t, s, strlen(s));
}

void str_add(struct str *t, const char *fmt, ...)
{
    va_list ap, again;
    int n;

    room(t, 128);
    va_start(ap, fmt);
    va_copy(again, ap);
    n = vsnprintf(t->s + t->n, t->cap - t->n, fmt, ap);
    va_end(ap);
    if ((size_t)n >= t->cap - t->n) {
        room(t, (size_t)n);
        vsnprintf(t->s + t->n, t->cap - t->n, fmt, again);
    }
    va_end(again);
    t->n += (size_t)n;
}

void str_clear(struct str *t)
{
    t->n = 0;
    if (t->s)
        t->s[0] = '\0';
}

void str_release(struct str *t)
{
    free(t->s);
    *t = (struct str){ 0 };
}

const char *str_get(const struct str *t)
{
    return t->s ? t->s : "";
}

const char *str_keep(struct str *t, struct arena *a)
{
    const char *text = arena_strdup(a, str_get(t));

    str_release(t);
    return text;
}

void str_float(struct str *t, double v)
{
    char buf[40];

    if (isnan(v)) {
        str_puts(t, "nan");
        return;
    }
    if (isinf(v)) {
        str_puts(t, v < 0 ? "-inf" : "inf");
        return;
    }
    if (fabs(v) < 1e9 && v == trunc(v)) { /* 60000, not 6e+04 */
        str_add(t, "%.0f", v);
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        double back;

        snprintf(buf, sizeof buf, "%.*g", digits, v);
        back = strtod(buf, NULL);
        if (back == v || ((double)(float)v == v && (float)back == (float)v))
            break;
    }
    str_puts(t, buf);
}
