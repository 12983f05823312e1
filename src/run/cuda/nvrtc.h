/*
 * NVRTC, NVIDIA's compiler as a library: from CUDA C to PTX and to the code of a device, on
 * machines without a device, a driver or a compiler of CUDA. Loaded when it is first asked
 * for, from the first of these that has it:
 *
 *   $TILEFUZZ_NVRTC                 a file, or a folder that holds one; nothing else is tried
 *   libnvrtc.so.N                   wherever the loader looks
 *   /usr/local/cuda/lib64           a system toolkit
 *   ~/.cache/tilefuzz/nvrtc         what `scripts/setup nvrtc` laid there
 */
#ifndef RUN_CUDA_NVRTC_H
#define RUN_CUDA_NVRTC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

/* What a compilation leaves: PTX is text, code is for the one kind of device asked for. */
struct nvrtc_image {
    char *ptx;
    size_t ptx_bytes;
    void *code;
    size_t code_bytes;
};

enum nvrtc_result {
    NVRTC_BUILT,
    NVRTC_REJECTED, /* the text is at fault: log says */
    NVRTC_CANNOT    /* no memory, or a kind of device that this version doesn't know */
};

bool nvrtc_available(struct err *why);
const char *nvrtc_version(void); /* "13.0 of /usr/local/cuda/lib64/libnvrtc.so.13" */

/* Compiles for a kind of device, "sm_80". The log is NVRTC's own, or says what else went
 * wrong. */
enum nvrtc_result nvrtc_build(const char *text, const char *arch, struct nvrtc_image *out,
                              struct str *log);
void nvrtc_image_release(struct nvrtc_image *i);

/* The log from its first error on, in one line, as a verdict shows it. */
void nvrtc_log_line(const char *log, char *buf, size_t n);

/* How to do the same by hand. */
#define NVRTC_COMMAND "nvcc -std=c++17 -fmad=false -cubin"

#endif
