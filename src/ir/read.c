/*
 * A .trial from a file, or from the opening comment of a repro that carries one.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ir/text.h"

/* A repro's own text and data stand round the trial. */
enum { REPRO_MAX = 4 * TRIAL_TEXT_MAX };

static int read_all(FILE *f, struct str *s, struct err *e)
{
    char buf[64 * 1024];
    size_t n;

    while (s->n <= REPRO_MAX && (n = fread(buf, 1, sizeof buf, f)) > 0)
        str_write(s, buf, n);
    if (ferror(f))
        return err_set(e, ERR_IO, "cannot read: %s; expected a .trial file", strerror(errno));
    return 0;
}

/*
 * If the text opens with a C comment, the part of it from the line "tilefuzz 1" to the end of
 * the comment; else all of it. *lines is how many lines stand above that part.
 */
static void find_trial(const char **text, size_t *bytes, int *lines)
{
    const char *s = *text, *end = s + *bytes, *close, *at;

    *lines = 0;
    if (*bytes < 4 || memcmp(s, "/*", 2) != 0)
        return;
    close = memmem(s + 2, *bytes - 2, "*/", 2);
    if (close)
        end = close;
    at = memmem(s, (size_t)(end - s), "\ntilefuzz 1", 11);
    if (!at)
        return;
    at++;
    for (const char *c = s; c < at; c++)
        *lines += *c == '\n';
    *text = at;
    *bytes = (size_t)(end - at);
}

/* Lines count from the top of the file, not from the top of the trial in it. */
static void move_down(struct trial *t, int lines)
{
    for (int i = 0; i < t->prog.n; i++)
        t->prog.node[i].line += lines;
    for (int i = 0; i < t->prog.n_out; i++)
        t->prog.out[i].line += lines;
    for (int i = 0; i < t->n_step; i++)
        t->step[i].line += lines;
    for (int i = 0; i < t->n_values; i++)
        t->values[i].line += lines;
}

int trial_read(const char *path, struct arena *a, struct trial **out, struct err *e)
{
    bool standard = strcmp(path, "-") == 0;
    FILE *f = standard ? stdin : fopen(path, "rb");
    struct str s = { 0 };
    const char *text;
    size_t bytes;
    int rc, lines;

    *out = NULL;
    snprintf(e->file, sizeof e->file, "%s", standard ? "stdin" : path);
    if (!f)
        return err_set(e, ERR_IO, "cannot open: %s; expected a .trial file", strerror(errno));
    rc = read_all(f, &s, e);
    if (!standard)
        fclose(f);
    if (rc == 0) {
        text = str_get(&s);
        bytes = s.n;
        find_trial(&text, &bytes, &lines);
        rc = trial_parse(text, bytes, a, out, e);
        if (rc == 0)
            move_down(*out, lines);
        else if (e->line)
            e->line += lines;
    }
    str_release(&s);
    return rc;
}
