/*
 * nvrtc: the emitted CUDA C through NVIDIA's compiler, to PTX and to the code of two kinds of
 * device, on any machine. Nothing runs, so nothing is judged: a text that is refused is the
 * finding.
 *
 * A compilation takes 50 to 300 ms, so a hunt draws few trials for it, and no text is compiled
 * twice by a process.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/bug.h"
#include "base/hash.h"
#include "run/cuda/nvrtc.h"
#include "run/cuda/unit.h"
#include "run/run.h"

/* the kinds: Ampere is where asynchronous copies came, Hopper the one after */
static const char *const kinds[] = { "sm_80", "sm_90" };

/* Keys of texts that compiled, in a table with free places (0). */
static struct {
    uint64_t *key;
    size_t n, cap;
} known;

static uint64_t *place(uint64_t key)
{
    size_t at = (size_t)key & (known.cap - 1);

    while (known.key[at] && known.key[at] != key)
        at = (at + 1) & (known.cap - 1);
    return &known.key[at];
}

static void remember(uint64_t key)
{
    uint64_t *old = known.key;
    size_t n = known.cap;

    if (2 * (known.n + 1) > known.cap) {
        known.cap = n ? 2 * n : 1024;
        known.key = must(calloc(known.cap, sizeof *known.key));
        for (size_t i = 0; i < n; i++)
            if (old[i])
                *place(old[i]) = old[i];
        free(old);
    }
    *place(key) = key;
    known.n++;
}

static uint64_t key_of(const struct str *unit)
{
    uint64_t key = hash64(unit->s, unit->n, 0);

    return key ? key : 1;
}

static bool build(const char *unit, const char *kind, struct outcome *o)
{
    struct nvrtc_image image;
    struct str log = { 0 };
    enum nvrtc_result r = nvrtc_build(unit, kind, &image, &log);

    if (r != NVRTC_BUILT) {
        int n;

        *o = (struct outcome){ .status =
                                   r == NVRTC_CANNOT ? OUT_UNSUPPORTED : OUT_BUILD_FAILED };
        n = snprintf(o->detail, sizeof o->detail, "%s: ", kind);
        nvrtc_log_line(str_get(&log), o->detail + n, sizeof o->detail - (size_t)n);
    }
    str_release(&log);
    nvrtc_image_release(&image);
    return r == NVRTC_BUILT;
}

static int prepare(struct run_env *env, const struct lprog *l, const char *text,
                   struct prepared *p, struct outcome *o)
{
    struct str unit = { 0 };
    uint64_t key;
    bool ok;

    cuda_unit(l, text, &unit);
    key = key_of(&unit);
    ok = known.cap && *place(key) == key;
    if (!ok) {
        ok = true;
        for (size_t i = 0; ok && i < ARRAY_LEN(kinds); i++) {
            if (env->tick)
                ++*env->tick;
            ok = build(str_get(&unit), kinds[i], o);
        }
        if (ok)
            remember(key);
    }
    str_release(&unit);
    *p = (struct prepared){ l, text, NULL };
    return !ok;
}

/* Never called by who knows builds_only. */
static void run(struct run_env *env, struct prepared *p, enum algebra al, struct outcome *o)
{
    (void)env, (void)p;
    *o = (struct outcome){ .algebra = al };
    outcome_say(o, OUT_UNSUPPORTED, "nvrtc compiles and runs nothing");
}

static void release(struct prepared *p)
{
    p->state = NULL;
}

static const char *command(void)
{
    return NVRTC_COMMAND " -arch=sm_80";
}

const struct backend be_nvrtc = {
    .name = "nvrtc",
    .help = "compiles the emitted CUDA for sm_80 and sm_90 with NVRTC; runs nothing",
    .group = "nvrtc",
    .runs = 1,
    .version = nvrtc_version,
    .available = nvrtc_available,
    .prepare = prepare,
    .run = run,
    .release = release,
    .command = command,
    .gpu = true,
    .builds_only = true,
};
