/*
 * OpenBLAS as a plug-in. Built and hunted with:
 *
 *     tilefuzz fuzz --backends "$(scripts/adapters/setup openblas)" --for 60s
 *
 * OPENBLAS_CORETYPE=SkylakeX and the like, set before tilefuzz starts, choose other kernels: a
 * backend of its own, told apart by its version. What this CPU can't run is refused here.
 */
#include "blas.h"

/* Which CPU flag each core type needs beyond SSE3; a name that isn't here needs none. */
static const struct {
    const char *core, *flag;
} needs[] = {
    { "Sandybridge", "avx" },
    { "Bulldozer", "fma4" },
    { "Piledriver", "fma4" },
    { "Steamroller", "fma4" },
    { "Excavator", "fma4" },
    { "Haswell", "avx2" },
    { "Zen", "avx2" },
    { "SkylakeX", "avx512vl" },
    { "Cooperlake", "avx512_bf16" },
    { "Sapphirerapids", "amx_bf16" },
};

const struct tf_plugin *tf_plugin_open(uint32_t abi)
{
    static const char *const dtypes[] = { "f32", "f64", "i32", NULL };
    // clang-format off
    static const char *const ops[] = {
        "permute", "reshape", "expand", "slice", "pad", "iota", "copy f32 f64", "neg f32 f64",
        "add f32 f64", "sub f32 f64", "mul f32 f64", "sum f32 f64", "mean f32 f64",
        "max f32 f64", "min f32 f64", "argmax f32 f64", "matmul f32 f64", NULL
    };
    // clang-format on
    static struct tf_plugin self = {
        WALK_PLUGIN,
        .name = "openblas",
        .ops = ops,
        .dtypes = dtypes,
        .contract = TF_MAY_CONTRACT | TF_MAY_VARY | TF_OPEN_NAN_MAX | TF_OPEN_SPECIAL |
                    TF_OPEN_EMPTY |
                    TF_OPEN_TIES, /* vary: kernels of older cores begin at an aligned address */
        .prepare = blas_prepare,
    };
    static char version[128];
    const char *want = getenv("OPENBLAS_CORETYPE");
    char *(*core)(void), *(*config)(void);

    if (abi != TF_ABI)
        return NULL;
    for (size_t i = 0; want && i < sizeof needs / sizeof *needs; i++)
        if (!strcasecmp(want, needs[i].core) && !cpu_has(needs[i].flag)) {
            fprintf(stderr, "OPENBLAS_CORETYPE=%s needs %s\n", want, needs[i].flag);
            return NULL;
        }
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    if (!blas_load("libopenblas.so.0")) {
        fprintf(stderr, "%s\n", dlerror());
        return NULL;
    }
    *(void **)&core = dlsym(blas_handle, "openblas_get_corename");
    *(void **)&config = dlsym(blas_handle, "openblas_get_config");
    snprintf(version, sizeof version, "%.*s %s", config ? (int)strcspn(config() + 9, " ") : 0,
             config ? config() + 9 : "", core ? core() : "");
    if (want && core && strcasecmp(want, core())) {
        fprintf(stderr, "OPENBLAS_CORETYPE=%s gives %s\n", want, core());
        return NULL;
    }
    self.version = version;
    return &self;
}
