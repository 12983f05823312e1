/*
 * A CUDA driver and an NVRTC that play a device in the memory of the process: what
 * TILEFUZZ_CUDA_DRIVER and TILEFUZZ_NVRTC name in the tests. A launch calls a function of the
 * test; every call can be told to fail. The state is shared with forked children, and what a
 * process holds of the device is gone when another one starts.
 */
#ifndef TESTS_MOCK_CUDA_H
#define TESTS_MOCK_CUDA_H

#include <sys/types.h>

typedef void mock_kernel_fn(const char *name, void **parameter, unsigned blocks,
                            unsigned threads);

struct mock {
    char fail[40];          /* the call with this name .. */
    int rc;                 /* .. gives this .. */
    int skip;               /* .. after it went well so often .. */
    int times;              /* .. this often; -1 = for ever */
    char hang[40], die[40]; /* the call with this name never ends, ends the process */
    int devices;
    mock_kernel_fn *kernel;
    const char *nvrtc_log; /* NVRTC refuses all texts with it */
    /* what happened */
    pid_t pid;
    int contexts, modules, allocations, streams, events, graphs; /* held now */
    int calls, launches, graph_launches, noises, processes;
};

struct mock *mock_state(void);

#endif
