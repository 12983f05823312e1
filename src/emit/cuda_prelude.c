/*
 * Preludes of GPU kernels: the arithmetic of prelude.def under the words of prelude_cuda.def or
 * prelude_simt.def. A row of the latter two replaces one of the same name.
 */
#include <string.h>

#include "base/bug.h"
#include "emit/emit.h"
#include "emit/pieces.h"

#define SAME                    NULL
#define PIECE(name, ieee, ring) { name, sizeof name - 1, { ieee, ring } },
static const struct piece arithmetic[] = {
#include "emit/prelude.def"
};
static const struct piece device[] = {
#include "emit/prelude_cuda.def"
};
static const struct piece machine[] = {
#include "emit/prelude_simt.def"
};
#undef PIECE

enum { MAX_WORDS = ARRAY_LEN(arithmetic) + ARRAY_LEN(device) + ARRAY_LEN(machine) };

struct words {
    struct piece row[MAX_WORDS];
    bool used[MAX_WORDS];
    struct pieces p;
};

static bool named(const struct piece *rows, int n, const struct piece *like)
{
    for (int i = 0; i < n; i++)
        if (rows[i].n == like->n && !memcmp(rows[i].name, like->name, like->n))
            return true;
    return false;
}

static void words_fill(struct words *w, enum algebra al, enum cuda_host host, const char *text)
{
    const struct piece *own = host == CUDA_DEVICE ? device : machine;
    int n = (int)(host == CUDA_DEVICE ? ARRAY_LEN(device) : ARRAY_LEN(machine));

    memset(w, 0, sizeof *w);
    for (size_t i = 0; i < ARRAY_LEN(arithmetic); i++)
        if (!named(own, n, &arithmetic[i]))
            w->row[w->p.n++] = arithmetic[i];
    for (int i = 0; i < n; i++)
        w->row[w->p.n++] = own[i];
    w->p.row = w->row;
    pieces_mark(&w->p, text, al, w->used);
    w->used[w->p.n - 1] = true; /* TF_KERNEL */
}

/* Functions run on the device. */
static void put_device(const char *text, struct str *s)
{
    static const char word[] = "static ";
    const size_t n = sizeof word - 1;

    while (*text) {
        size_t line = strcspn(text, "\n");

        line += text[line] != '\0';
        if (!strncmp(text, word, n)) {
            str_puts(s, "static __device__ ");
            str_write(s, text + n, line - n);
        } else {
            str_write(s, text, line);
        }
        text += line;
    }
}

void emit_cuda_prelude(enum algebra al, enum cuda_host host, const char *text, struct str *s)
{
    struct words w;
    struct str out = { 0 };

    words_fill(&w, al, host, text);
    pieces_put(&w.p, w.used, al, &out);
    if (host == CUDA_DEVICE)
        put_device(str_get(&out), s);
    else
        str_puts(s, str_get(&out));
    str_release(&out);
}

void emit_cuda_prelude_end(enum cuda_host host, const char *text, struct str *s)
{
    struct words w;

    words_fill(&w, AL_IEEE, host, text);
    for (int i = 0; i < w.p.n; i++) {
        if (!w.used[i] || !strchr("tT", w.row[i].name[0]))
            continue;
        str_puts(s, "#undef ");
        str_puts(s, w.row[i].name);
        str_puts(s, "\n");
    }
}
