/*
 * From a text to a loaded object. The compiler reads the text from a memory file and writes
 * the object into another one, which ld turns into a third that dlopen takes: nothing ever
 * has a name on a disk, so nothing is left there whoever is killed when.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "run/cc.h"

enum { COMPILE_SECONDS = 20, LINK_SECONDS = 20 };

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

static enum cc_result load(struct cc_object *o, struct str *log)
{
    char path[40];

    snprintf(path, sizeof path, "/proc/self/fd/%d", o->fd);
    o->loaded = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!o->loaded)
        str_puts(log, dlerror());
    return o->loaded ? CC_BUILT : CC_REJECTED;
}

/* text -> object -> shared object -> our memory */
static enum cc_result build(struct cc_object *o, const char *const *argv, int source,
                            int object, volatile uint64_t *tick, struct str *log)
{
    /* ld alone: the compiler's driver would look for libraries, which we have loaded */
    static const char *const ld[] = {
        "ld", "-shared", "-o", "/proc/self/fd/1", "/proc/self/fd/0", NULL
    };
    const struct cc_child compile = { argv, source, object, COMPILE_SECONDS, tick };
    const struct cc_child link = { ld, object, o->fd, LINK_SECONDS, tick };
    enum cc_result r = cc_child_run(&compile, log);

    if (r == CC_BUILT) {
        str_clear(log);
        r = cc_child_run(&link, log);
    }
    return r == CC_BUILT ? load(o, log) : r;
}

enum cc_result cc_object_build(struct cc_object *o, const char *const *argv,
                               const struct str *text, volatile uint64_t *tick, struct str *log)
{
    enum cc_result r = CC_CANNOT;
    int source = memory_file("source.c"), object = memory_file("object.o");

    o->fd = memory_file("kernels.so");
    if (source < 0 || object < 0 || o->fd < 0 || !write_all(source, text))
        str_add(log, "no memory file: %s", strerror(errno));
    else
        r = build(o, argv, source, object, tick, log);
    if (source >= 0)
        close(source);
    if (object >= 0)
        close(object);
    return r;
}

void *cc_object_symbol(const struct cc_object *o, const char *name)
{
    return dlsym(o->loaded, name);
}

void cc_object_close(struct cc_object *o)
{
    if (o->loaded)
        dlclose(o->loaded);
    if (o->fd >= 0)
        close(o->fd);
}
