/* Preludes: the rows of prelude.def that a text uses, in the words of one algebra. */
#include <string.h>

#include "base/bug.h"
#include "emit/emit.h"
#include "emit/pieces.h"

#define SAME NULL
static const struct piece rows[] = {
#define PIECE(name, ieee, ring) { name, sizeof name - 1, { ieee, ring } },
#include "emit/prelude.def"
#undef PIECE
};
static const struct pieces pieces = { rows, ARRAY_LEN(rows) };

static void mark(const char *text, enum algebra al, bool *used)
{
    pieces_mark(&pieces, text, al, used);
    used[pieces.n - 1] = true; /* TF_KERNEL */
}

void emit_prelude(enum algebra al, const char *text, struct str *s)
{
    bool used[ARRAY_LEN(rows)] = { false };

    mark(text, al, used);
    pieces_put(&pieces, used, al, s);
}

void emit_prelude_end(const char *text, struct str *s)
{
    bool used[ARRAY_LEN(rows)] = { false };

    mark(text, AL_IEEE, used);
    for (int i = 0; i < pieces.n; i++) {
        if (!used[i] || !strchr("tT", rows[i].name[0]))
            continue;
        str_puts(s, "#undef ");
        str_puts(s, rows[i].name);
        str_puts(s, "\n");
    }
}
