/*
 * The functions of NVRTC that we call, by their names in the library: stable since CUDA 11.
 * Results are 0 for success.
 */
#ifndef RUN_CUDA_NVRTC_API_H
#define RUN_CUDA_NVRTC_API_H

#include <stddef.h>

#include "base/err.h"

enum { NVRTC_OUT_OF_MEMORY = 1, NVRTC_INVALID_OPTION = 5, NVRTC_COMPILATION = 6 };

/* field, name, parameters; `program` is a pointer of the library's own */
#define NVRTC_CALLS(CALL)                                                                      \
    CALL(version, "nvrtcVersion", (int *major, int *minor))                                    \
    CALL(create, "nvrtcCreateProgram",                                                         \
         (void **program, const char *text, const char *name, int n_header,                    \
          const char *const *header, const char *const *header_name))                          \
    CALL(destroy, "nvrtcDestroyProgram", (void **program))                                     \
    CALL(compile, "nvrtcCompileProgram",                                                       \
         (void *program, int n_option, const char *const *option))                             \
    CALL(ptx_size, "nvrtcGetPTXSize", (void *program, size_t *n))                              \
    CALL(ptx, "nvrtcGetPTX", (void *program, char *text))                                      \
    CALL(code_size, "nvrtcGetCUBINSize", (void *program, size_t *n))                           \
    CALL(code, "nvrtcGetCUBIN", (void *program, char *code))                                   \
    CALL(log_size, "nvrtcGetProgramLogSize", (void *program, size_t *n))                       \
    CALL(log, "nvrtcGetProgramLog", (void *program, char *text))

struct nvrtc_api {
#define CALL(field, name, params) int(*field) params;
    NVRTC_CALLS(CALL)
#undef CALL
};

/* NULL: it isn't here, and why. */
const struct nvrtc_api *nvrtc_load(struct err *why);

#endif
