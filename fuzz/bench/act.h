/*
 * Is a fault active in a trial: does it change a bit of what the trial puts out, with any of
 * its data? A fault whose line is never reached, or whose harm reaches no output, can't be
 * found by anybody who looks at outputs.
 *
 * The interpreter runs both programs; it runs the same loops that compiled code comes from.
 * Where the loops are the same and only the emitted text differs, libtcc runs both.
 */
#ifndef FUZZ_BENCH_ACT_H
#define FUZZ_BENCH_ACT_H

#include "fuzz/bench/bench.h"
#include "judge/rules.h"

/* ring and ieee with the trial's own data, then the exact sets */
enum { ACT_RING, ACT_IEEE, ACT_EXACT, ACT_DATA = ACT_EXACT + EXACT_SETS };

/* What a lowered trial did with each of its data. */
struct act_runs {
    const struct lprog *l;
    const char *text;           /* as emitted */
    const char *loops;          /* as printed; NULL = not asked for yet */
    bool stopped;               /* it left its arrays, or did not come to an end */
    struct outcome o[ACT_DATA]; /* outputs are copies */
};

struct act {
    struct checker ck;
    struct arena trial, scratch; /* of the drawn one */
    struct arena keep;           /* what is known of it and of the healthy program */
    struct arena fault;          /* of the last faulty one */
    const struct trial *t;
    const struct want *want[AL_COUNT];
    const struct exact *exact[EXACT_SETS]; /* NULL = not applicable */
    const void *const *twin;               /* NULL = none asked for */
    struct act_runs clean, clean_tcc, bad;
    bool ran, ran_tcc;              /* clean, clean_tcc are there */
    const struct act_runs *healthy; /* what bad is to be compared with */
};

int act_open(struct act *a, struct err *e);
void act_close(struct act *a);

/* Draws trial `number` and lowers it. */
void act_draw(struct act *a, const struct bench_opts *o, uint64_t seed, uint64_t number);
/* The healthy program is run, and what is wanted of it computed; false = it doesn't run here.
 */
bool act_run_clean(struct act *a);
/* Lowers with fault f and runs. False = the same program as without it, or the same outputs.
 * True: in ->bad, what it did; if that is stopped, there are no outputs. */
bool act_run_fault(struct act *a, enum fault f);
/* Of a kernel for GPUs: is its text another with fault f? What a barrier that is gone would do
 * to the outputs is a matter of luck. */
bool act_text_differs(struct act *a, enum fault f);
/* Do outputs of run `data` differ between healthy and faulty? */
bool act_differs(const struct act *a, int data);

#endif
