#include "emit/pieces.h"

#include <string.h>

#include "ir/data.h"

/* Every emitted text is scanned, three times over: this is worth a table. */
static const bool name_char[256] = {
    ['0' ... '9'] = true, ['A' ... 'Z'] = true, ['_'] = true, ['a' ... 'z'] = true
};

static inline bool in_name(char c)
{
    return name_char[(unsigned char)c];
}

static void use(const struct pieces *p, const char *name, size_t n, bool *used)
{
    for (int i = 0; i < p->n; i++)
        if (p->row[i].n == n && !memcmp(p->row[i].name, name, n)) {
            used[i] = true;
            return;
        }
}

/* Most names of a text are no pieces; two letters tell that of nearly all of them. */
static unsigned char key(const char *name)
{
    return (unsigned char)(name[0] * 31 + name[1]);
}

static void scan(const struct pieces *p, const char *text, bool *used)
{
    bool known[256] = { false };

    for (int i = 0; i < p->n; i++)
        known[key(p->row[i].name)] = true;
    while (*text) {
        const char *end = text;

        while (in_name(*end))
            end++;
        if (end - text > 1 && known[key(text)])
            use(p, text, (size_t)(end - text), used);
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
    scan(p, text, used);
    for (int i = p->n - 1; i >= 0; i--)
        if (used[i])
            scan(p, text_of(&p->row[i], al), used);
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
