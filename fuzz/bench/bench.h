/*
 * What the tool measures of itself: how fast it is, what it finds of the faults that can be
 * switched on, and what other judges would find of them. One file and one row of the table in
 * cmd_bench.c each.
 */
#ifndef FUZZ_BENCH_BENCH_H
#define FUZZ_BENCH_BENCH_H

#include "base/clock.h"
#include "fuzz/check/check.h"
#include "fuzz/gen/gen.h"

struct bench_opts {
    struct gen_opts gen;
    struct check_opts check; /* its fault: look at this one alone, FAULT_none = at all */
    uint64_t seed, seeds;    /* seeds seed .. seed + seeds - 1 */
    uint64_t trials;         /* of each */
    bool json;
};

/* Each prints its results and returns the number of findings where there is no fault. */
int bench_speed(const struct bench_opts *o, struct err *e);
int bench_judge(const struct bench_opts *o, struct err *e);
int bench_faults(const struct bench_opts *o, struct err *e);

/* What to draw and what to run it on, so that the pass that fault f sits in is reached: changes
 * the defaults and returns true if that is a pass for GPUs. */
bool bench_hunt_for(enum fault f, struct gen_opts *gen, struct check_opts *check);

/* Is fault f asked for? */
static inline bool bench_wants(const struct bench_opts *o, enum fault f)
{
    return o->check.fault == FAULT_none || o->check.fault == f;
}

#endif
