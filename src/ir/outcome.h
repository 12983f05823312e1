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
    OUT_CRASH          /* died by a signal (filled in by the parent) */
};

/* One access, with the loops round it. */
struct site {
    char kernel[48], buffer[48];
    int64_t index, size; /* element addressed, elements of the array */
    bool store;
    char loops[160]; /* "s.i0=1 s.i1=0 s.r0=7" */
};

struct outcome {
    enum outcome_status status;
    enum algebra algebra;
    int n_out;
    const void *const *out; /* storage of each program output: layout_storage() elements,
                               filled with POISON_BYTE before the run */
    bool input_changed;     /* an input's storage is not what it was */
    bool margin_broken;     /* bytes outside a caller's buffer were written */
    char where[48];         /* the input or buffer that those two speak of */
    struct site site;
    char detail[400];
};

#endif
