/*
 * What a backend did with a trial: given to the judge. Memory belongs to the backend's
 * run environment and is valid until its next run.
 */
#ifndef IR_OUTCOME_H
#define IR_OUTCOME_H

#include "ir/dtype.h"

enum outcome_status {
    OUT_RAN,           /* outputs are there */
    OUT_UNSUPPORTED,   /* the backend does not take this trial; detail says why */
    OUT_BUILD_FAILED,  /* the emitted text did not compile; detail has the log */
    OUT_OUT_OF_BOUNDS, /* an access left its logical array (interp); site is set */
    OUT_HANG,          /* a step limit was reached */
    OUT_CRASH,         /* died by a signal (filled in by the parent) */
    OUT_MALFORMED,     /* outputs of another number, shape or dtype; detail says which */
    /* of the SIMT machine; site is set, and other where two accesses are meant */
    OUT_RACE,       /* two unordered accesses, one a write; or an asynchronous copy under way */
    OUT_UNINIT,     /* nobody had written what was read */
    OUT_STALE,      /* written last through another array that lies there too */
    OUT_DIVERGENCE, /* threads of one barrier came to different ones, or a part of them */
    OUT_DEADLOCK    /* nobody could go on */
};

/* One access, with the loops round it. */
struct site {
    char kernel[48], buffer[48];
    int64_t index, size; /* element addressed, elements of the array */
    bool store;
    char loops[160]; /* "s.i0=1 s.i1=0 s.r0=7" */
    /* of the SIMT machine, else 0: */
    int kernel_no, stmt; /* in the lowered program: which statement */
    int64_t block, thread;
};

struct outcome {
    enum outcome_status status;
    enum algebra algebra;
    int n_out;
    const void *const *out;  /* storage of each program output: layout_storage() elements,
                                filled with POISON_BYTE before the run */
    bool input_changed;      /* an input's storage is not what it was */
    bool margin_broken;      /* bytes outside a caller's buffer were written */
    char where[48];          /* the input or buffer that those two speak of */
    struct site site, other; /* other: the earlier access; kernel "" = none */
    char rule[32];           /* SIMT: what was broken, a word: "async" "barrier" "blocks" .. */
    char ran[64];            /* of a compiler that is not ours: what it says that it ran */
    char detail[400];
};

#endif
