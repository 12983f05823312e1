/* The table of backends. Adding one is a file and a row. */
#include <string.h>

#include "base/bug.h"
#include "run/run.h"

extern const struct backend be_interp, be_tcc;
#define CC(id, name, compiler, level, contraction) extern const struct backend be_cc_##id;
#include "run/cc.def"
#undef CC

const struct backend *const backends[] = {
    &be_interp,
    &be_tcc,
#define CC(id, name, compiler, level, contraction) &be_cc_##id,
#include "run/cc.def"
#undef CC
};
const int n_backends = ARRAY_LEN(backends);

const struct backend *backend_find(const char *name)
{
    for (int i = 0; i < n_backends; i++)
        if (!strcmp(backends[i]->name, name))
            return backends[i];
    return NULL;
}

bool backend_named(const struct backend *b, const char *name)
{
    size_t n = strlen(name);

    return n && !strncmp(b->name, name, n) && strchr(":-", b->name[n]);
}
