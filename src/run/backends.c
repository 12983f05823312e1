/* The table of backends. Adding one is a file and a row. */
#include <string.h>

#include "base/bug.h"
#include "run/run.h"

extern const struct backend be_interp, be_tcc;

const struct backend *const backends[] = { &be_interp, &be_tcc };
const int n_backends = ARRAY_LEN(backends);

const struct backend *backend_find(const char *name)
{
    for (int i = 0; i < n_backends; i++)
        if (!strcmp(backends[i]->name, name))
            return backends[i];
    return NULL;
}
