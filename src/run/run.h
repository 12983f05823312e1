/*
 * Running loop IR: the table of backends, and the memory that they share.
 *
 * A trial is prepared once per backend (both algebras in one text) and run as often as
 * wanted. Every run gets fresh inputs, poisoned outputs, temps and margins.
 */
#ifndef RUN_RUN_H
#define RUN_RUN_H

#include "ir/outcome.h"
#include "lower/loop.h"
#include "run/slab.h"

enum { RUN_MAX_BUFFERS = 256 };

/* The inputs of a trial as they should be: filled once per algebra, then copied for every
 * run and compared after it. */
struct pristine {
    const struct trial *trial;
    bool filled[AL_COUNT];
    unsigned char *data[AL_COUNT]; /* all inputs one after the other */
    size_t cap[AL_COUNT];
};

struct cc_batch;
struct caps;
struct emit_sites;

struct run_env {
    struct slab slab;
    struct pristine pristine;
    struct arena arena; /* reset by run_begin */
    int64_t step_limit; /* loop steps of interp before OUT_HANG */
    uint64_t schedule;  /* of the SIMT machine: this one alone, for values; 0 = several, for
                           reports */
    int turn;           /* run of this trial; buffers lie right and left by turns */
    /* buffers of the present run, one per lprog buffer (temps in the arena share one) */
    struct slab_buf buf[RUN_MAX_BUFFERS];
    struct slab_buf temps; /* the planned arena */
    const void *out[RUN_MAX_BUFFERS];
    struct cc_batch *cc;     /* objects of backend cc that were built ahead (cc.h) */
    volatile uint64_t *tick; /* moved on while a compiler is waited for; NULL = unwanted */
    int deadline_s;          /* of other processes, in seconds; 0 = the default */
};

bool run_env_open(struct run_env *env); /* false = no memory */
void run_env_close(struct run_env *env);
void run_begin(struct run_env *env); /* a new trial: forgets what was prepared */

/* Places and fills all buffers of l. ERR_UNSUPPORTED if they don't fit. */
int run_place(struct run_env *env, const struct lprog *l, enum algebra al, struct err *e);
/* The same at the beginning of a run, whose outcome is empty so far; false: it says why not. */
bool run_placed(struct run_env *env, const struct lprog *l, enum algebra al, struct outcome *o);
/* A text of any length is cut. */
void outcome_say(struct outcome *o, enum outcome_status status, const char *text);
/* After a run: outputs, inputs changed, margins broken. */
void run_collect(struct run_env *env, const struct lprog *l, enum algebra al,
                 struct outcome *o);

/* The same with a compiled entry between them: places, runs, collects. */
void run_compiled(struct run_env *env, const struct lprog *l, void (*entry)(void *const *p),
                  enum algebra al, struct outcome *o);

struct prepared {
    const struct lprog *l;
    const char *text;        /* emitted C, for a GPU emitted CUDA C; NULL for interp */
    void *state;             /* the backend's own */
    const struct backend *b; /* set before prepare */
    /* of a GPU's text, set before prepare as well; NULL = who needs them emits it again */
    const struct emit_sites *sites;
};

struct backend {
    const char *name, *help;
    const char *group; /* "interp", "compiled": part of a cause */
    int runs;          /* fixed re-run count: interp once, compiled twice */
    const char *(*version)(void);
    bool (*available)(struct err *why); /* NULL = always */
    /* 0, or fills o (UNSUPPORTED, BUILD_FAILED) and returns non-zero */
    int (*prepare)(struct run_env *env, const struct lprog *l, const char *text,
                   struct prepared *p, struct outcome *o);
    void (*run)(struct run_env *env, struct prepared *p, enum algebra al, struct outcome *o);
    void (*release)(struct prepared *p);
    /* How to compile by hand what it runs, "gcc -O3": for a repro. A backend that starts
     * programs is too slow for every trial: a hunt draws some for it. NULL = it is not. */
    const char *(*command)(void);
    bool gpu;         /* takes bound kernels (TARGET_GPU) and CUDA text */
    bool contracts;   /* a*b+c may be one operation with one rounding */
    bool builds_only; /* prepare is all of it: run is never called, nothing is judged */
    /* A compiler that is not ours (foreign.h): takes l->trial as it is, in ieee. */
    const struct caps *caps; /* NULL = it is ours */
    bool own_process;        /* it runs in one by itself: its death is an outcome */
};

extern const struct backend *const backends[];
extern const int n_backends;
/* Rows, and the backends that were opened. */
const struct backend *backend_find(const char *name);
/* The same, or opens it: "plugin:FILE.so", "exec:COMMAND". Runs foreign code, so the name must
 * come from the user's own command line. NULL: e says why; code ERR_USAGE = no such name. */
const struct backend *backend_open(const char *name, struct err *e);
const char *backend_version(const struct backend *b);
bool backend_available(const struct backend *b, struct err *why);
/* Is b called `name`, or of the group: "cc" and "cc:gcc" are "cc:gcc-O3" too? */
bool backend_named(const struct backend *b, const char *name);

#endif
