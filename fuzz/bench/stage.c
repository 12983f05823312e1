/*
 * What a hunt for the bugs of one pass draws and runs: a pass that only kernels for GPUs go
 * through needs schedules for GPUs, and the machine that runs them thread by thread.
 */
#include <string.h>

#include "base/bug.h"
#include "fuzz/bench/bench.h"

static const struct {
    const char *what; /* a pass, or a fault that needs something of its own */
    int gpu_percent;
    enum preset preset;
} gpu_stages[] = {
    { "flash_missing_rescale", 100, PRESET_MHA },
    { "reduce_scratch_reuse_race", 100, PRESET_FUSED },
    { "divergent_barrier", 100, PRESET_FUSED },
    { "tile", 100, PRESET_MATMUL },
    { "bind", 100, PRESET_ALL },
    { "stage", 100, PRESET_MATMUL },
    { "ring", 100, PRESET_MATMUL },
    { "mma", 100, PRESET_MATMUL },
    { "reduce", 100, PRESET_FUSED },
    { "epilogue", 100, PRESET_MATMUL },
    { "semaphore", 100, PRESET_MATMUL },
    { "swizzle", 100, PRESET_MATMUL },
    { "wide", 100, PRESET_MATMUL },
    { "smem", 100, PRESET_MATMUL },
    { "sync", 100, PRESET_ALL },
    { "emit", 30, PRESET_ALL },
};

bool bench_hunt_for(enum fault f, struct gen_opts *gen, struct check_opts *check)
{
    static const char *const names[] = { "interp", "tcc", "simt" };
    const struct fault_info *info = fault_info(f);

    for (size_t i = 0; i < ARRAY_LEN(gpu_stages) && f != FAULT_none; i++) {
        if (strcmp(gpu_stages[i].what, info->stage) && strcmp(gpu_stages[i].what, info->id))
            continue;
        gen->preset = gpu_stages[i].preset;
        gen->gpu_percent = gpu_stages[i].gpu_percent;
        check->n_backend = 0;
        for (size_t k = 0; k < ARRAY_LEN(names); k++)
            check->backend[check->n_backend++] = backend_find(names[k]);
        return true;
    }
    return false;
}
