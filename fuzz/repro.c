#include "fuzz/repro.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "emit/emit.h"
#include "fuzz/describe.h"

void repro_text(const struct trial *t, const struct check *c, bool cuda, const char *command,
                struct str *s)
{
    bool fails = c->first >= 0 && verdict_is_finding(c->kind);
    const struct verdict *v = fails ? &c->verdict[c->first] : NULL;
    struct repro r = {
        .trial = t,
        .l = cuda ? c->gpu_l : c->l,
        .algebra = v ? v->algebra : AL_RING,
        .command = command,
        .bounds = v && v->kind == VK_OUT_OF_BOUNDS,
    };
    const struct backend *b = v ? backend_find(v->backend) : NULL;
    struct str title = { 0 };
    struct arena a;

    if (v) {
        str_add(&title, "%s (%s, %s): ", verdict_name(v->kind), v->backend,
                algebra_name(v->algebra));
        verdict_print(v, &t->prog, &title);
    } else {
        str_puts(&title, "every judged element is right");
    }
    if (b && b->command)
        r.build = b->command();
    r.title = str_get(&title);
    arena_init(&a);
    if (cuda)
        emit_repro_cu(&r, &a, s);
    else
        emit_repro_c(&r, &a, s);
    arena_release(&a);
    str_release(&title);
}

static bool write_all(FILE *f, const char *text)
{
    size_t n = strlen(text);
    bool ok = fwrite(text, 1, n, f) == n && fflush(f) == 0 && fsync(fileno(f)) == 0;

    return fclose(f) == 0 && ok;
}

int file_write(const char *path, const char *text, struct err *e)
{
    char temp[4096];
    FILE *f;

    if (snprintf(temp, sizeof temp, "%s.tmp", path) >= (int)sizeof temp)
        return err_set(e, ERR_IO, "%s: the name is too long", path);
    f = fopen(temp, "w");
    if (!f)
        return err_set(e, ERR_IO, "%s: cannot write: %s", path, strerror(errno));
    if (!write_all(f, text) || rename(temp, path)) {
        err_set(e, ERR_IO, "%s: cannot write: %s", path, strerror(errno));
        unlink(temp);
    }
    return e->code;
}
