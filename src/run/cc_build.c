/*
 * From texts to a loaded object. The compiler reads the text from a memory file and writes
 * the object into another one, which ld turns into a third that dlopen takes: nothing ever
 * has a name on a disk, so nothing is left there whoever is killed when.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bug.h"
#include "emit/emit.h"
#include "run/cc.h"
#include "run/cc_config.h"

enum { COMPILE_SECONDS = 20, LINK_SECONDS = 20 };

struct cc_batch *cc_batch_open(enum cc_config c)
{
    struct cc_batch *b = calloc(1, sizeof *b);

    if (!b)
        BUG("out of memory");
    b->config = c;
    b->fd = -1;
    return b;
}

bool cc_batch_full(const struct cc_batch *b)
{
    return b->n == CC_BATCH;
}

static void entry_name(int part, int al, char *buf, size_t n)
{
    snprintf(buf, n, "tf_%s_entry_%d", algebra_name((enum algebra)al), part);
}

void cc_batch_add(struct cc_batch *b, const struct lprog *l, const char *text)
{
    struct cc_part *p = &b->part[b->n];
    char name[40];

    if (cc_batch_full(b))
        BUG("a batch has room for %d texts", CC_BATCH);
    p->text = strdup(text);
    if (!p->text)
        BUG("out of memory");
    for (int al = 0; al < AL_COUNT; al++) {
        entry_name(b->n, al, name, sizeof name);
        emit_entry(l, name, &p->entry[al]);
    }
    b->n++;
}

void cc_batch_close(struct cc_batch *b)
{
    for (int i = 0; i < b->n; i++) {
        free(b->part[i].text);
        for (int al = 0; al < AL_COUNT; al++)
            str_release(&b->part[i].entry[al]);
    }
    if (b->object)
        dlclose(b->object);
    if (b->fd >= 0)
        close(b->fd);
    free(b);
}

/* One prelude serves all texts; their kernels are told apart by the trial's number. */
static void put_source(const struct cc_batch *b, struct str *s)
{
    struct str all = { 0 };

    for (int i = 0; i < b->n; i++)
        str_puts(&all, b->part[i].text);
    for (int al = 0; al < AL_COUNT; al++) {
        if (al)
            emit_prelude_end(str_get(&all), s);
        emit_prelude((enum algebra)al, str_get(&all), s);
        for (int i = 0; i < b->n; i++) {
            str_add(s, "#undef TF_KERNEL\n#define TF_KERNEL(name) t%d_%s_##name\n", i,
                    algebra_name((enum algebra)al));
            str_puts(s, b->part[i].text);
            str_puts(s, str_get(&b->part[i].entry[al]));
        }
    }
    str_release(&all);
}

static int memory_file(const char *name)
{
    return memfd_create(name, MFD_CLOEXEC);
}

static bool write_all(int fd, const struct str *s)
{
    for (size_t at = 0; at < s->n;) {
        ssize_t n = write(fd, s->s + at, s->n - at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += (size_t)n;
    }
    return lseek(fd, 0, SEEK_SET) == 0;
}

static enum cc_result load(struct cc_batch *b, struct str *log)
{
    char path[40], name[40];

    /* the descriptor stays open while the object is loaded, or another object could be
     * given the same path and be taken for this one */
    snprintf(path, sizeof path, "/proc/self/fd/%d", b->fd);
    b->object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!b->object) {
        str_puts(log, dlerror());
        return CC_REJECTED;
    }
    for (int i = 0; i < b->n; i++)
        for (int al = 0; al < AL_COUNT; al++) {
            void *sym;

            entry_name(i, al, name, sizeof name);
            sym = dlsym(b->object, name);
            memcpy(&b->part[i].run[al], &sym, sizeof sym);
            if (!sym)
                BUG("an object without its %s", name);
        }
    return CC_BUILT;
}

/* text -> object -> shared object -> our memory */
static enum cc_result build(struct cc_batch *b, int source, int object, volatile uint64_t *tick,
                            struct str *log)
{
    /* ld alone: the compiler's driver would look for libraries, which we have loaded */
    static const char *const ld[] = {
        "ld", "-shared", "-o", "/proc/self/fd/1", "/proc/self/fd/0", NULL
    };
    const struct cc_child compile = { cc_argv(b->config), source, object, COMPILE_SECONDS,
                                      tick };
    const struct cc_child link = { ld, object, b->fd, LINK_SECONDS, tick };
    enum cc_result r = cc_child_run(&compile, log);

    if (r == CC_BUILT) {
        str_clear(log);
        r = cc_child_run(&link, log);
    }
    return r == CC_BUILT ? load(b, log) : r;
}

enum cc_result cc_batch_build(struct cc_batch *b, volatile uint64_t *tick, struct str *log)
{
    enum cc_result r = CC_CANNOT;
    int source = memory_file("source.c"), object = memory_file("object.o");
    struct str text = { 0 };

    b->fd = memory_file("kernels.so");
    put_source(b, &text);
    if (source < 0 || object < 0 || b->fd < 0 || !write_all(source, &text))
        str_add(log, "no memory file: %s", strerror(errno));
    else
        r = build(b, source, object, tick, log);
    str_release(&text);
    if (source >= 0)
        close(source);
    if (object >= 0)
        close(object);
    return r;
}
