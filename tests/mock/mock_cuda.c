#include "tests/mock/mock_cuda.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* as the driver and NVRTC define them */
enum { OK = 0, INVALID = 1, OUT_OF_MEMORY = 2, NOT_FOUND = 500, MOCK_LAUNCHES = 64 };

struct launch {
    const char *name;
    void *parameter;
    unsigned blocks, threads;
};
static struct launch captured[MOCK_LAUNCHES];
static int n_captured;
static bool capturing;
static struct mock *m;

__attribute__((constructor)) static void make(void)
{
    m = mmap(NULL, sizeof *m, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (m == MAP_FAILED)
        abort();
    m->devices = 1;
}

struct mock *mock_state(void)
{
    return m;
}

/* Of every call: what it is to give instead of doing its work; 0 = work. */
static int begin(const char *name)
{
    if (m->pid != getpid()) {
        m->pid = getpid();
        m->processes++;
        m->contexts = m->modules = m->allocations = m->streams = m->events = m->graphs = 0;
    }
    m->calls++;
    if (!strcmp(m->hang, name))
        for (;;)
            pause();
    if (!strcmp(m->die, name)) {
        m->die[0] = '\0';
        abort();
    }
    if (strcmp(m->fail, name) || !m->times)
        return OK;
    if (m->skip > 0) {
        m->skip--;
        return OK;
    }
    if (m->times > 0)
        m->times--;
    return m->rc;
}
#define BEGIN                                                                                  \
    const int told = begin(__func__);                                                          \
    if (told)                                                                                  \
    return told

#define API __attribute__((visibility("default")))
#define DECLARE(name, params)                                                                  \
    API int name params;                                                                       \
    int name params

/* an object that is counted: its address is the handle */
static int hold(int *count, void **out)
{
    *out = malloc(1);
    ++*count;
    return *out ? OK : OUT_OF_MEMORY;
}

static int let_go(int *count, void *object)
{
    free(object);
    --*count;
    return OK;
}

DECLARE(cuInit, (unsigned flags))
{
    BEGIN;
    return flags ? INVALID : OK;
}

DECLARE(cuDriverGetVersion, (int *version))
{
    BEGIN;
    *version = 13000;
    return OK;
}

DECLARE(cuGetErrorName, (int code, const char **name))
{
    BEGIN;
    *name = code == 700   ? "CUDA_ERROR_ILLEGAL_ADDRESS"
            : code == 100 ? "CUDA_ERROR_NO_DEVICE"
            : code == 2   ? "CUDA_ERROR_OUT_OF_MEMORY"
                          : "CUDA_ERROR_OTHER";
    return OK;
}

DECLARE(cuGetErrorString, (int code, const char **text))
{
    BEGIN;
    *text = code == 700   ? "an illegal memory access was encountered"
            : code == 100 ? "no CUDA-capable device is detected"
            : code == 2   ? "out of memory"
                          : "something else";
    return OK;
}

DECLARE(cuDeviceGetCount, (int *n))
{
    BEGIN;
    *n = m->devices;
    return OK;
}

DECLARE(cuDeviceGet, (int *device, int number))
{
    BEGIN;
    *device = number;
    return number < m->devices ? OK : INVALID;
}

DECLARE(cuDeviceGetName, (char *name, int n, int device))
{
    BEGIN;
    (void)device;
    snprintf(name, (size_t)n, "Mock");
    return OK;
}

DECLARE(cuDeviceGetAttribute, (int *value, int attribute, int device))
{
    BEGIN;
    (void)device;
    *value = attribute == 75 ? 9 : attribute == 76 ? 0 : 4;
    return OK;
}

DECLARE(cuDevicePrimaryCtxRetain, (void **context, int device))
{
    BEGIN;
    (void)device;
    *context = m;
    m->contexts++;
    return OK;
}

DECLARE(cuDevicePrimaryCtxRelease_v2, (int device))
{
    BEGIN;
    (void)device;
    m->contexts--;
    return OK;
}

DECLARE(cuCtxSetCurrent, (void *context))
{
    BEGIN;
    (void)context;
    return OK;
}

DECLARE(cuModuleLoadData, (void **module, const void *image))
{
    BEGIN;
    return memcmp(image, "mock", 4) ? INVALID : hold(&m->modules, module);
}

DECLARE(cuModuleUnload, (void *module))
{
    BEGIN;
    return let_go(&m->modules, module);
}

/* A function's handle is its name, which is never freed: there are few. */
DECLARE(cuModuleGetFunction, (void **function, void *module, const char *name))
{
    static char *names[64];
    int i;

    BEGIN;
    for (i = 0; module && i < 63 && names[i] && strcmp(names[i], name); i++)
        ;
    if (!names[i])
        names[i] = strdup(name);
    *function = names[i];
    return strcmp(name, "absent") ? OK : NOT_FOUND;
}

DECLARE(cuMemAlloc_v2, (uint64_t * at, size_t bytes))
{
    BEGIN;
    void *p = malloc(bytes);

    *at = (uint64_t)(uintptr_t)p;
    m->allocations += p != NULL;
    return p ? OK : OUT_OF_MEMORY;
}

DECLARE(cuMemFree_v2, (uint64_t at))
{
    BEGIN;
    return let_go(&m->allocations, (void *)(uintptr_t)at);
}

DECLARE(cuMemcpyHtoD_v2, (uint64_t to, const void *from, size_t bytes))
{
    BEGIN;
    memcpy((void *)(uintptr_t)to, from, bytes);
    return OK;
}

DECLARE(cuMemcpyDtoH_v2, (void *to, uint64_t from, size_t bytes))
{
    BEGIN;
    memcpy(to, (const void *)(uintptr_t)from, bytes);
    return OK;
}

DECLARE(cuStreamCreate, (void **stream, unsigned flags))
{
    BEGIN;
    (void)flags;
    return hold(&m->streams, stream);
}

DECLARE(cuStreamDestroy_v2, (void *stream))
{
    BEGIN;
    return let_go(&m->streams, stream);
}

DECLARE(cuStreamSynchronize, (void *stream))
{
    BEGIN;
    (void)stream;
    return OK;
}

static void play(const struct launch *l)
{
    void *parameter[] = { l->parameter };

    if (!strncmp(l->name, "tf_noise_", 9)) {
        m->noises++;
        return;
    }
    m->launches++;
    if (m->kernel)
        m->kernel(l->name, parameter, l->blocks, l->threads);
}

DECLARE(cuLaunchKernel,
        (void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
         unsigned bz, unsigned shared_bytes, void *stream, void **parameter, void **extra))
{
    struct launch l = { function, parameter[0], gx, bx };

    BEGIN;
    if (gx < 1 || gy != 1 || gz != 1 || bx < 1 || bx > 1024 || by != 1 || bz != 1 ||
        shared_bytes > 48 << 10 || !stream || extra)
        return INVALID;
    if (!capturing)
        play(&l);
    else if (n_captured < MOCK_LAUNCHES)
        captured[n_captured++] = l;
    return OK;
}

DECLARE(cuStreamBeginCapture_v2, (void *stream, int mode))
{
    BEGIN;
    (void)mode;
    n_captured = 0;
    capturing = stream != NULL;
    return OK;
}

DECLARE(cuStreamEndCapture, (void *stream, void **graph))
{
    (void)stream;
    capturing = false;
    BEGIN;
    return hold(&m->graphs, graph);
}

DECLARE(cuGraphInstantiateWithFlags, (void **executable, void *graph, unsigned long long flags))
{
    BEGIN;
    return flags || !graph ? INVALID : hold(&m->graphs, executable);
}

DECLARE(cuGraphLaunch, (void *executable, void *stream))
{
    BEGIN;
    if (!executable || !stream)
        return INVALID;
    m->graph_launches++;
    for (int i = 0; i < n_captured; i++)
        play(&captured[i]);
    return OK;
}

DECLARE(cuGraphExecDestroy, (void *executable))
{
    BEGIN;
    return let_go(&m->graphs, executable);
}

DECLARE(cuGraphDestroy, (void *graph))
{
    BEGIN;
    return let_go(&m->graphs, graph);
}

DECLARE(cuEventCreate, (void **event, unsigned flags))
{
    BEGIN;
    (void)flags;
    return hold(&m->events, event);
}

DECLARE(cuEventDestroy_v2, (void *event))
{
    BEGIN;
    return let_go(&m->events, event);
}

DECLARE(cuEventRecord, (void *event, void *stream))
{
    BEGIN;
    return event && stream ? OK : INVALID;
}

DECLARE(cuEventElapsedTime, (float *ms, void *from, void *to))
{
    BEGIN;
    *ms = 0.25f;
    return from && to ? OK : INVALID;
}

/* NVRTC: takes every text, unless told otherwise. */
static const char code[] = "mock code";

DECLARE(nvrtcVersion, (int *major, int *minor))
{
    *major = 13;
    *minor = 0;
    return OK;
}

DECLARE(nvrtcCreateProgram, (void **program, const char *text, const char *name, int n_header,
                             const char *const *header, const char *const *header_name))
{
    (void)text, (void)name, (void)n_header, (void)header, (void)header_name;
    *program = m;
    return OK;
}

DECLARE(nvrtcDestroyProgram, (void **program))
{
    *program = NULL;
    return OK;
}

DECLARE(nvrtcCompileProgram, (void *program, int n_option, const char *const *option))
{
    (void)program, (void)n_option, (void)option;
    return m->nvrtc_log ? 6 : OK;
}

DECLARE(nvrtcGetPTXSize, (void *program, size_t *n))
{
    (void)program;
    *n = sizeof code;
    return OK;
}

DECLARE(nvrtcGetPTX, (void *program, char *text))
{
    (void)program;
    memcpy(text, code, sizeof code);
    return OK;
}

DECLARE(nvrtcGetCUBINSize, (void *program, size_t *n))
{
    return nvrtcGetPTXSize(program, n);
}

DECLARE(nvrtcGetCUBIN, (void *program, char *text))
{
    return nvrtcGetPTX(program, text);
}

DECLARE(nvrtcGetProgramLogSize, (void *program, size_t *n))
{
    (void)program;
    *n = m->nvrtc_log ? strlen(m->nvrtc_log) + 1 : 1;
    return OK;
}

DECLARE(nvrtcGetProgramLog, (void *program, char *text))
{
    (void)program;
    strcpy(text, m->nvrtc_log ? m->nvrtc_log : "");
    return OK;
}
