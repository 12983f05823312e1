/*
 * The functions of the CUDA driver that we call, by their names in libcuda.so.1: all have
 * been there since CUDA 11.4. Results are 0 for success. $TILEFUZZ_CUDA_DRIVER names another
 * library to use in its place: a test's, that plays a device.
 *
 * A process that has asked the driver for a device must not fork children that do so as
 * well, and an error of a kernel spoils the process that ran it for good. So none but the
 * device process (client.h) goes beyond loading.
 */
#ifndef RUN_CUDA_DRIVER_H
#define RUN_CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* results that we tell apart */
enum {
    CUDA_OUT_OF_MEMORY = 2,
    CUDA_NO_DEVICE = 100,
    CUDA_NO_BINARY = 209,
    CUDA_PTX_TOO_NEW = 222,
    CUDA_NO_RESOURCES = 701,
    /* these leave the process without a device */
    CUDA_BAD_MEMORY = 214,
    CUDA_CONTAINED = 226,
    CUDA_ILLEGAL_ADDRESS = 700,
    CUDA_TIMEOUT = 702,
    CUDA_ASSERT = 710,
    CUDA_HARDWARE_FROM = 714,
    CUDA_HARDWARE_TO = 719
};

enum {
    CUDA_ATTR_PROCESSORS = 16,
    CUDA_ATTR_MAJOR = 75,
    CUDA_ATTR_MINOR = 76,
    CUDA_STREAM_NON_BLOCKING = 1,
    CUDA_CAPTURE_RELAXED = 2
};

/* field, name, parameters. Contexts, modules, functions, streams, events and graphs are
 * pointers of the driver's own; memory of the device is a number. */
#define CUDA_CALLS(CALL)                                                                       \
    CALL(init, "cuInit", (unsigned flags))                                                     \
    CALL(driver_version, "cuDriverGetVersion", (int *version))                                 \
    CALL(error_name, "cuGetErrorName", (int rc, const char **name))                            \
    CALL(error_string, "cuGetErrorString", (int rc, const char **text))                        \
    CALL(device_count, "cuDeviceGetCount", (int *n))                                           \
    CALL(device_get, "cuDeviceGet", (int *device, int number))                                 \
    CALL(device_name, "cuDeviceGetName", (char *name, int n, int device))                      \
    CALL(device_attribute, "cuDeviceGetAttribute", (int *value, int attribute, int device))    \
    CALL(context_retain, "cuDevicePrimaryCtxRetain", (void **context, int device))             \
    CALL(context_release, "cuDevicePrimaryCtxRelease_v2", (int device))                        \
    CALL(context_use, "cuCtxSetCurrent", (void *context))                                      \
    CALL(module_load, "cuModuleLoadData", (void **module, const void *image))                  \
    CALL(module_unload, "cuModuleUnload", (void *module))                                      \
    CALL(function, "cuModuleGetFunction", (void **function, void *module, const char *name))   \
    CALL(alloc, "cuMemAlloc_v2", (uint64_t * at, size_t bytes))                                \
    CALL(free, "cuMemFree_v2", (uint64_t at))                                                  \
    CALL(to_device, "cuMemcpyHtoD_v2", (uint64_t to, const void *from, size_t bytes))          \
    CALL(from_device, "cuMemcpyDtoH_v2", (void *to, uint64_t from, size_t bytes))              \
    CALL(stream_create, "cuStreamCreate", (void **stream, unsigned flags))                     \
    CALL(stream_destroy, "cuStreamDestroy_v2", (void *stream))                                 \
    CALL(stream_wait, "cuStreamSynchronize", (void *stream))                                   \
    CALL(launch, "cuLaunchKernel",                                                             \
         (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, \
          unsigned block_y, unsigned block_z, unsigned shared_bytes, void *stream,             \
          void **parameter, void **extra))                                                     \
    CALL(capture_begin, "cuStreamBeginCapture_v2", (void *stream, int mode))                   \
    CALL(capture_end, "cuStreamEndCapture", (void *stream, void **graph))                      \
    CALL(graph_make, "cuGraphInstantiateWithFlags",                                            \
         (void **executable, void *graph, unsigned long long flags))                           \
    CALL(graph_launch, "cuGraphLaunch", (void *executable, void *stream))                      \
    CALL(graph_drop, "cuGraphExecDestroy", (void *executable))                                 \
    CALL(graph_destroy, "cuGraphDestroy", (void *graph))                                       \
    CALL(event_create, "cuEventCreate", (void **event, unsigned flags))                        \
    CALL(event_destroy, "cuEventDestroy_v2", (void *event))                                    \
    CALL(event_record, "cuEventRecord", (void *event, void *stream))                           \
    CALL(event_ms, "cuEventElapsedTime", (float *ms, void *from, void *to))

struct cuda_api {
#define CALL(field, name, params) int(*field) params;
    CUDA_CALLS(CALL)
#undef CALL
};

/* NULL: it isn't here, and why. Only loads it. */
const struct cuda_api *cuda_load(struct err *why);

#endif
