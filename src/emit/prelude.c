/*
 * Preludes: the rows of prelude.def that a text uses, in the words of one algebra.
 */
#include "emit/emit.h"

#include <ctype.h>
#include <string.h>

#include "base/bug.h"
#include "ir/data.h"

struct piece {
    const char *name;
    size_t n; /* of the name */
    const char *needs;
    const char *text[AL_COUNT]; /* ring NULL = the same */
};

#define SAME NULL
static const struct piece pieces[] = {
#define PIECE(name, needs, ieee, ring) { name, sizeof name - 1, needs, { ieee, ring } },
#include "emit/prelude.def"
#undef PIECE
};

enum { N_PIECES = ARRAY_LEN(pieces) };

static const double log2_e = 1.4426950216293335; /* as f32 */

static void need(bool *used, const char *name, size_t n)
{
    for (int i = 0; i < N_PIECES; i++)
        if (pieces[i].n == n && !memcmp(pieces[i].name, name, n)) {
            used[i] = true;
            return;
        }
}

/* Marks what the text names; vocabulary starts with TF_ or tf_. */
static void scan(const char *text, bool *used)
{
    for (const char *p = text; (p = strchr(p, '_')); p++) {
        const char *start = p - 2, *end = p;

        if (p - text < 2 || (start[0] | 32) != 't' || (start[1] | 32) != 'f' ||
            (start > text && (isalnum((unsigned char)start[-1]) || start[-1] == '_')))
            continue;
        while (isalnum((unsigned char)*end) || *end == '_')
            end++;
        need(used, start, (size_t)(end - start));
        p = end - 1;
    }
}

static void mark(const char *text, enum algebra al, bool *used)
{
    scan(text, used);
    need(used, "TF_KERNEL", strlen("TF_KERNEL"));
    for (int i = N_PIECES - 1; i >= 0; i--) {
        const char *body = pieces[i].text[al] ? pieces[i].text[al] : pieces[i].text[AL_IEEE];

        if (used[i] && *body)
            need(used, pieces[i].needs, strlen(pieces[i].needs));
    }
}

static void put_piece(const char *body, enum algebra al, struct str *s)
{
    for (const char *p = body; *p;) {
        size_t n = strcspn(p, "$@");

        str_write(s, p, n);
        p += n;
        if (*p == '$')
            str_puts(s, algebra_name(al));
        else if (*p == '@')
            str_add(s, "0x%x", (unsigned)ring_literal(log2_e));
        p += *p != '\0';
    }
}

void emit_prelude(enum algebra al, const char *text, struct str *s)
{
    bool used[N_PIECES] = { false };

    mark(text, al, used);
    for (int i = 0; i < N_PIECES; i++)
        if (used[i])
            put_piece(pieces[i].text[al] ? pieces[i].text[al] : pieces[i].text[AL_IEEE], al, s);
}

void emit_prelude_end(const char *text, struct str *s)
{
    bool used[N_PIECES] = { false };

    mark(text, AL_IEEE, used);
    for (int i = 0; i < N_PIECES; i++) {
        if (!used[i] || tolower((unsigned char)pieces[i].name[0]) != 't')
            continue;
        str_puts(s, "#undef ");
        str_puts(s, pieces[i].name);
        str_puts(s, "\n");
    }
}
