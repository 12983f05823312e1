/*
 * What a process and its device process share: questions, answers, and the memory of a run
 * as an image that is copied to the device and back as one piece, margins included.
 */
#ifndef RUN_CUDA_BOX_H
#define RUN_CUDA_BOX_H

#include <stddef.h>
#include <stdint.h>

enum {
    BOX_KERNELS = 128,
    BOX_POINTERS = 257, /* parameters of a kernel: one per buffer, and the planned temps */
    BOX_NAME = 128
};

enum box_question {
    BOX_PROBE, /* is there a device: answer.text says which */
    BOX_LOAD,  /* image: code of kernels; forgets what was loaded before */
    BOX_RUN    /* image: memory; runs kernels first .. first + count - 1 */
};

enum box_status {
    BOX_FINE,
    BOX_CANNOT,  /* no driver, no device, no memory; the device is as it was */
    BOX_REFUSED, /* the code can't be loaded or launched */
    BOX_CRASHED  /* a kernel broke the context: this device process is of no more use */
};

/* How a run is timed against everything else on the device. */
enum box_timing {
    TIMING_GRAPH,  /* all kernels as one graph, nothing beside */
    TIMING_STREAM, /* one after the other */
    TIMING_SPIN,   /* a part of the multiprocessors are kept busy */
    TIMING_LOAD,   /* memory is read and written beside */
    TIMING_COUNT
};

struct box_kernel {
    char name[BOX_NAME];
    unsigned blocks, threads, shared_bytes;
};

struct box {
    enum box_question question;
    /* LOAD */
    struct box_kernel kernel[BOX_KERNELS];
    int n_kernel;
    /* LOAD and RUN: bytes in use of the image */
    size_t bytes;
    /* RUN */
    int first, count;
    enum box_timing timing;
    size_t at[BOX_POINTERS]; /* parameter i points there in the image */
    int n_at;

    struct {
        enum box_status status;
        char text[360];
        float ms; /* RUN: by the device's events */
    } answer;

    size_t room; /* of image */
    unsigned char image[] __attribute__((aligned(256)));
};

/* The device process, in a process of its own until `questions` is shut; device.c. A byte is
 * read for every question in the box, and one written for its answer. */
_Noreturn void device_main(struct box *b, int questions, int answers);

#endif
