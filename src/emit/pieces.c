#include "emit/pieces.h"

#include <string.h>

#include "base/bug.h"
#include "ir/data.h"

/* Every emitted text is scanned, three times over: this is worth a table. */
static const bool name_char[256] = {
    ['0' ... '9'] = true, ['A' ... 'Z'] = true, ['_'] = true, ['a' ... 'z'] = true
};

static inline bool in_name(char c)
{
    return name_char[(unsigned char)c];
}

enum { MAX_ROWS = 256, KEYS = 256 };

/* Rows by a key of their names: nearly every name of a text is met by one row or none. */
struct table {
    short first[KEYS], next[MAX_ROWS]; /* number of a row + 1, 0 = none */
};

static unsigned key(const char *name, size_t n)
{
    const unsigned char *c = (const unsigned char *)name;

    return (c[1] * 5u + c[n - 1] * 29u + c[n / 2] * 3u + (unsigned)n * 41u) % KEYS;
}

static void table_fill(const struct pieces *p, struct table *t)
{
    if (p->n > MAX_ROWS)
        BUG("%d pieces", p->n);
    memset(t->first, 0, sizeof t->first);
    for (int i = 0; i < p->n; i++) {
        short *first = &t->first[key(p->row[i].name, p->row[i].n)];

        t->next[i] = *first;
        *first = (short)(i + 1);
    }
}

static void scan(const struct pieces *p, const struct table *t, const char *text, bool *used)
{
    while (*text) {
        const char *end = text;
        size_t n;

        while (in_name(*end))
            end++;
        n = (size_t)(end - text);
        for (int i = n > 1 ? t->first[key(text, n)] : 0; i; i = t->next[i - 1]) {
            const struct piece *x = &p->row[i - 1];

            if (x->n == n && !memcmp(x->name, text, n))
                used[i - 1] = true;
        }
        text = end;
        while (*text && !in_name(*text))
            text++;
    }
}

static const char *text_of(const struct piece *x, enum algebra al)
{
    return x->text[al] ? x->text[al] : x->text[AL_IEEE];
}

void pieces_mark(const struct pieces *p, const char *text, enum algebra al, bool *used)
{
    struct table t;

    table_fill(p, &t);
    scan(p, &t, text, used);
    for (int i = p->n - 1; i >= 0; i--)
        if (used[i])
            scan(p, &t, text_of(&p->row[i], al), used);
}

static void put(const char *body, enum algebra al, struct str *s)
{
    while (*body) {
        size_t n = strcspn(body, "$@");

        str_write(s, body, n);
        body += n;
        if (*body == '$')
            str_puts(s, algebra_name(al));
        else if (*body == '@')
            str_add(s, "0x%xu", (unsigned)ring_literal(1.4426950408889634));
        body += *body != '\0';
    }
}

void pieces_put(const struct pieces *p, const bool *used, enum algebra al, struct str *s)
{
    for (int i = 0; i < p->n; i++)
        if (used[i])
            put(text_of(&p->row[i], al), al, s);
}
