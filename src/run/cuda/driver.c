#include "run/cuda/driver.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static struct cuda_api api;
static struct err missing;

static bool resolve(void *so, const char *path)
{
    void *sym;

#define CALL(field, name, params)                                                              \
    sym = dlsym(so, name);                                                                     \
    memcpy(&api.field, &sym, sizeof sym);                                                      \
    if (!sym)                                                                                  \
        return err_set(&missing, ERR_MISSING, "the CUDA driver %.200s lacks %s: too old",      \
                       path, name) == 0;
    CUDA_CALLS(CALL)
#undef CALL
    return true;
}

const struct cuda_api *cuda_load(struct err *why)
{
    static bool looked;
    const char *told = getenv("TILEFUZZ_CUDA_DRIVER");
    const char *path = told && *told ? told : "libcuda.so.1";
    void *so;

    if (!looked) {
        looked = true;
        so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!so && path == told)
            err_set(&missing, ERR_MISSING, "TILEFUZZ_CUDA_DRIVER: %.300s", dlerror());
        else if (!so)
            err_set(&missing, ERR_MISSING, "no CUDA driver on this machine (%s)", path);
        else if (!resolve(so, path))
            dlclose(so);
    }
    if (missing.code) {
        *why = missing;
        return NULL;
    }
    return &api;
}
