/*
 * BLIS as a plug-in. Built and hunted with:
 *
 *     tilefuzz fuzz --backends "$(scripts/adapters/setup blis)" --for 60s
 *
 * BLIS_ARCH_TYPE=N, set before tilefuzz starts, chooses other kernels where the build has them:
 * a backend of its own, told apart by its version.
 */
#include "blas.h"

/* BLIS_ARCH_TYPE: number, and the CPU flag that its kernels need; what isn't here needs SSE3.
 */
static const struct {
    int arch;
    const char *flag;
} needs[] = {
    { 0, "avx512vl" }, { 1, "avx512er" }, { 3, "avx2" },  { 4, "avx" },
    { 6, "avx2" },     { 7, "avx2" },     { 8, "avx2" },  { 9, "fma4" },
    { 10, "fma4" },    { 11, "fma4" },    { 12, "fma4" },
};

const struct tf_plugin *tf_plugin_open(uint32_t abi)
{
    static const char *const dtypes[] = { "f32", "f64", NULL };
    // clang-format off
    static const char *const ops[] = {
        "permute", "reshape", "expand", "slice", "pad", "iota", "copy f32 f64", "neg f32 f64",
        "add f32 f64", "sub f32 f64", "mul f32 f64", "sum f32 f64", "mean f32 f64",
        "matmul f32 f64", NULL
    };
    // clang-format on
    static struct tf_plugin self = {
        WALK_PLUGIN,
        .name = "blis",
        .ops = ops,
        .dtypes = dtypes,
        .contract = TF_MAY_CONTRACT | TF_OPEN_NAN_MAX | TF_OPEN_SPECIAL | TF_OPEN_EMPTY,
        .prepare = blas_prepare,
    };
    static char version[64];
    const char *(*number)(void), *(*arch)(int);
    const char *want = getenv("BLIS_ARCH_TYPE");
    void (*init)(void);
    int (*id)(void);

    if (abi != TF_ABI)
        return NULL;
    for (size_t i = 0; want && i < sizeof needs / sizeof *needs; i++)
        if (atoi(want) == needs[i].arch && !cpu_has(needs[i].flag)) {
            fprintf(stderr, "BLIS_ARCH_TYPE=%s needs %s\n", want, needs[i].flag);
            return NULL;
        }
    setenv("BLIS_NUM_THREADS", "1", 1);
    setenv("OMP_NUM_THREADS", "1", 1);
    if (!blas_load("libblis.so.4")) {
        fprintf(stderr, "%s\n", dlerror());
        return NULL;
    }
    *(void **)&number = dlsym(blas_handle, "bli_info_get_version_str");
    *(void **)&arch = dlsym(blas_handle, "bli_arch_string");
    *(void **)&id = dlsym(blas_handle, "bli_arch_query_id");
    *(void **)&init = dlsym(blas_handle, "bli_init");
    if (!number || !arch || !id || !init)
        return NULL;
    init();
    snprintf(version, sizeof version, "%s %s", number(), arch(id()));
    self.version = version;
    return &self;
}
