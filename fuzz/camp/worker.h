/*
 * A worker: draws and checks batches of trials, and looks closer at single ones when told.
 * It knows nothing of databases, other workers or the order of things.
 */
#ifndef FUZZ_CAMP_WORKER_H
#define FUZZ_CAMP_WORKER_H

#include "fuzz/camp/sample.h"
#include "fuzz/camp/wire.h"
#include "fuzz/camp/zygote.h"
#include "fuzz/check/check.h"
#include "fuzz/gen/gen.h"

enum { CONFIRM_RUNS = 5 };

struct worker_opts {
    uint64_t seed;
    struct gen_opts gen;
    struct check_opts check;
    struct sample sample; /* beside what is in check */
    int budget;           /* of the minimizer, evaluations */
};

/* A worker_fn; ctx is a const struct worker_opts. */
void worker_run(void *ctx, struct progress *p, int sock);

/*
 * Answers: ANSWER_BATCH has a record per trial, fewer than asked for = replace me;
 * ANSWER_TEXT, key and text of the trial, goes ahead of a confirmation; for the rest see
 * answer.h.
 */

#endif
