/*
 * One run of kernels, one after the other, under one of several timings: a race that never
 * shows under one may under another. The times are the device's own.
 */
#ifndef RUN_CUDA_TIMING_H
#define RUN_CUDA_TIMING_H

#include <stdint.h>

#include "run/cuda/box.h"
#include "run/cuda/driver.h"

struct timing {
    const struct cuda_api *x;
    int processors;
    void *stream, *beside; /* beside: for what disturbs */
    void *from, *to;       /* events */
    void *spin, *load;     /* kernels that disturb */
    uint64_t scratch;      /* memory for them */
    /* the graph of the run in work */
    void *graph, *executable;
};

struct timed {
    const struct box_kernel *kernel;
    void *const *function;
    int count;
    uint64_t *at; /* BOX_POINTERS parameters, passed as one struct */
};

/* All give a result of the driver's. */
int timing_open(struct timing *t, const struct cuda_api *x, int device);
int timing_load(struct timing *t, void *module);
int timing_run(struct timing *t, const struct timed *w, enum box_timing how, float *ms,
               const char **what);
void timing_forget(struct timing *t);
void timing_close(struct timing *t);

#endif
