/* Where NVRTC is, and which of its functions we call. */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bug.h"
#include "run/cuda/nvrtc.h"
#include "run/cuda/nvrtc_api.h"

/* Names of the library, the newest first. */
static const char *const names[] = { "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so" };

static struct nvrtc_api api;
static struct err missing;
static char found[PATH_MAX];
static char tried[300]; /* a file that is there and can't be used, and why */

static bool resolve(void *so, const char *path)
{
    char sym_name[64] = "";
    bool all = true;
    void *sym;

#define CALL(field, name, params)                                                              \
    sym = dlsym(so, name);                                                                     \
    memcpy(&api.field, &sym, sizeof sym);                                                      \
    if (!sym && all)                                                                           \
        snprintf(sym_name, sizeof sym_name, "%s", name), all = false;
    NVRTC_CALLS(CALL)
#undef CALL
    if (!all)
        snprintf(tried, sizeof tried, "%.200s lacks %s", path, sym_name);
    return all;
}

static bool try_file(const char *path)
{
    void *so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *at = NULL;
    Dl_info info;

    if (!so) {
        if (strchr(path, '/') && access(path, F_OK) == 0)
            snprintf(tried, sizeof tried, "%.290s", dlerror());
        return false;
    }
    if (!resolve(so, path)) {
        dlclose(so);
        return false;
    }
    memcpy(&at, &api.version, sizeof at);
    snprintf(found, sizeof found, "%s",
             dladdr(at, &info) && info.dli_fname ? info.dli_fname : path);
    return true;
}

static bool try_folder(const char *folder)
{
    char path[PATH_MAX];

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (snprintf(path, sizeof path, "%s/%s", folder, names[i]) < (int)sizeof path &&
            try_file(path))
            return true;
    return false;
}

static bool is_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The folder that scripts/setup unpacks into. */
static bool private_folder(char *buf, size_t n)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

    if (cache && *cache)
        return snprintf(buf, n, "%s/tilefuzz/nvrtc", cache) < (int)n;
    return home && *home && snprintf(buf, n, "%s/.cache/tilefuzz/nvrtc", home) < (int)n;
}

static bool find(void)
{
    const char *told = getenv("TILEFUZZ_NVRTC");
    char folder[PATH_MAX];

    if (told && *told)
        return is_folder(told) ? try_folder(told) : try_file(told);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (try_file(names[i]))
            return true;
    return try_folder("/usr/local/cuda/lib64") ||
           (private_folder(folder, sizeof folder) && try_folder(folder));
}

static void say_missing(void)
{
    const char *told = getenv("TILEFUZZ_NVRTC");

    if (tried[0])
        err_set(&missing, ERR_MISSING, "NVRTC can't be loaded: %s", tried);
    else if (told && *told)
        err_set(&missing, ERR_MISSING, "TILEFUZZ_NVRTC is %.300s: no NVRTC there", told);
    else
        err_set(
            &missing, ERR_MISSING,
            "no libnvrtc.so on this machine; a CUDA toolkit has it, and scripts/setup nvrtc "
            "fetches it");
}

const struct nvrtc_api *nvrtc_load(struct err *why)
{
    static bool looked;

    if (!looked) {
        looked = true;
        if (!find())
            say_missing();
    }
    if (missing.code) {
        *why = missing;
        return NULL;
    }
    return &api;
}

bool nvrtc_available(struct err *why)
{
    return nvrtc_load(why) != NULL;
}

const char *nvrtc_version(void)
{
    static char text[PATH_MAX + 40];
    struct err why = { 0 };
    const struct nvrtc_api *x = nvrtc_load(&why);
    int major = 0, minor = 0;

    if (!x || x->version(&major, &minor))
        return "unknown";
    snprintf(text, sizeof text, "%d.%d of %s", major, minor, found);
    return text;
}
