#include "run/cuda/timing.h"

#include <stddef.h>

enum {
    SCRATCH_WORDS = 8 << 20, /* 32 MB: more than most second-level caches */
    SPIN_CYCLES = 400000,    /* some 200 us */
    LOAD_ROUNDS = 4
};

int timing_open(struct timing *t, const struct cuda_api *x, int device)
{
    int rc;

    *t = (struct timing){ .x = x };
    if ((rc = x->device_attribute(&t->processors, CUDA_ATTR_PROCESSORS, device)) ||
        (rc = x->stream_create(&t->stream, CUDA_STREAM_NON_BLOCKING)) ||
        (rc = x->stream_create(&t->beside, CUDA_STREAM_NON_BLOCKING)) ||
        (rc = x->event_create(&t->from, 0)) || (rc = x->event_create(&t->to, 0)))
        timing_close(t);
    return rc;
}

int timing_load(struct timing *t, void *module)
{
    int rc = t->x->function(&t->spin, module, "tf_noise_spin");

    return rc ? rc : t->x->function(&t->load, module, "tf_noise_load");
}

void timing_forget(struct timing *t)
{
    if (t->executable)
        t->x->graph_drop(t->executable);
    if (t->graph)
        t->x->graph_destroy(t->graph);
    t->executable = t->graph = NULL;
}

void timing_close(struct timing *t)
{
    timing_forget(t);
    if (t->scratch)
        t->x->free(t->scratch);
    if (t->from)
        t->x->event_destroy(t->from);
    if (t->to)
        t->x->event_destroy(t->to);
    if (t->stream)
        t->x->stream_destroy(t->stream);
    if (t->beside)
        t->x->stream_destroy(t->beside);
    *t = (struct timing){ 0 };
}

static int spin_beside(struct timing *t)
{
    long long cycles = SPIN_CYCLES;
    void *parameter[] = { &cycles };
    unsigned blocks = (unsigned)(t->processors + 1) / 2;

    return t->x->launch(t->spin, blocks, 1, 1, 1024, 1, 1, 0, t->beside, parameter, NULL);
}

static int load_beside(struct timing *t)
{
    unsigned words = SCRATCH_WORDS, rounds = LOAD_ROUNDS;
    void *parameter[] = { &t->scratch, &words, &rounds };
    unsigned blocks = (unsigned)(t->processors + 1) / 2;
    int rc = t->scratch ? 0 : t->x->alloc(&t->scratch, (size_t)SCRATCH_WORDS * 4);

    return rc ? rc
              : t->x->launch(t->load, blocks, 1, 1, 512, 1, 1, 0, t->beside, parameter, NULL);
}

static int launch_all(struct timing *t, const struct timed *w, enum box_timing how,
                      const char **what)
{
    int rc = 0;

    for (int i = 0; i < w->count && !rc; i++) {
        const struct box_kernel *k = &w->kernel[i];
        void *parameter[] = { w->at };

        /* beside every kernel: they start at the same time more or less */
        *what = "a kernel that disturbs";
        if (how == TIMING_SPIN && (rc = spin_beside(t)))
            return rc;
        if (how == TIMING_LOAD && (rc = load_beside(t)))
            return rc;
        *what = k->name;
        rc = t->x->launch(w->function[i], k->blocks, 1, 1, k->threads, 1, 1, k->shared_bytes,
                          t->stream, parameter, NULL);
    }
    return rc;
}

static int launch_graph(struct timing *t, const struct timed *w, const char **what)
{
    int rc, ended;

    *what = "a graph of kernels";
    rc = t->x->capture_begin(t->stream, CUDA_CAPTURE_RELAXED);
    if (rc)
        return rc;
    rc = launch_all(t, w, TIMING_GRAPH, what);
    ended = t->x->capture_end(t->stream, &t->graph);
    if (rc)
        return rc;
    *what = "a graph of kernels";
    if (ended)
        return ended;
    rc = t->x->graph_make(&t->executable, t->graph, 0);
    return rc ? rc : t->x->graph_launch(t->executable, t->stream);
}

static int wait_all(struct timing *t, float *ms, const char **what)
{
    int rc = t->x->stream_wait(t->stream), beside;

    *what = "running the kernels";
    beside = t->x->stream_wait(t->beside);
    if (rc || beside)
        return rc ? rc : beside;
    *what = "the device's clock";
    return t->x->event_ms(ms, t->from, t->to);
}

int timing_run(struct timing *t, const struct timed *w, enum box_timing how, float *ms,
               const char **what)
{
    int rc;

    *what = "an event";
    if ((rc = t->x->event_record(t->from, t->stream)))
        return rc;
    if (w->count)
        rc = how == TIMING_GRAPH ? launch_graph(t, w, what) : launch_all(t, w, how, what);
    if (!rc) {
        *what = "an event";
        rc = t->x->event_record(t->to, t->stream);
    }
    if (rc)
        t->x->stream_wait(t->stream); /* what did start must end before memory is touched */
    else
        rc = wait_all(t, ms, what);
    timing_forget(t);
    return rc;
}
