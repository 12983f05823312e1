/* The table of backends. Adding one is a file and a row. */
#include <string.h>

#include "base/bug.h"
#include "run/foreign.h"

extern const struct backend be_interp, be_tcc, be_simt, be_nvrtc, be_cuda;
#define CC(id, name, compiler, level, contraction) extern const struct backend be_cc_##id;
#include "run/cc.def"
#undef CC

const struct backend *const backends[] = {
    &be_interp, &be_tcc,
#define CC(id, name, compiler, level, contraction) &be_cc_##id,
#include "run/cc.def"
#undef CC
    &be_simt,   &be_nvrtc, &be_cuda,
};
const int n_backends = ARRAY_LEN(backends);

enum { MAX_OPENED = 16 };
static const struct backend *opened[MAX_OPENED];
static int n_opened;

const struct backend *backend_find(const char *name)
{
    for (int i = 0; i < n_backends; i++)
        if (!strcmp(backends[i]->name, name))
            return backends[i];
    for (int i = 0; i < n_opened; i++)
        if (!strcmp(opened[i]->name, name))
            return opened[i];
    return NULL;
}

const struct backend *backend_open(const char *name, struct err *e)
{
    static const char plugin[] = "plugin:", exec[] = "exec:";
    const struct backend *b = backend_find(name);

    if (b)
        return b;
    if (n_opened == MAX_OPENED) {
        err_set(e, ERR_MISSING, "more than %d backends that are not ours", MAX_OPENED);
        return NULL;
    }
    if (!strncmp(name, plugin, sizeof plugin - 1))
        b = plugin_open(name, name + sizeof plugin - 1, e);
    else if (!strncmp(name, exec, sizeof exec - 1))
        b = exec_open(name, name + sizeof exec - 1, e);
    else
        err_set(e, ERR_USAGE, "no backend '%s'; see tilefuzz list backends", name);
    if (b)
        opened[n_opened++] = b;
    return b;
}

const char *backend_version(const struct backend *b)
{
    return b->caps ? b->caps->version : b->version();
}

bool backend_available(const struct backend *b, struct err *why)
{
    return !b->available || b->available(why);
}

bool backend_named(const struct backend *b, const char *name)
{
    size_t n = strlen(name);

    return n && !strncmp(b->name, name, n) && strchr(":-", b->name[n]);
}
