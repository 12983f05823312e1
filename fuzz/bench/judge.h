/* What the judges made of the same trials and faults: a count for each. */
#ifndef FUZZ_BENCH_JUDGE_H
#define FUZZ_BENCH_JUDGE_H

#include "fuzz/bench/bench.h"
#include "judge/rules.h"

enum { JUDGES_MAX = 16 };

struct tally {
    int64_t activated; /* trials in which the fault changes a bit of an output */
    int64_t ieee;      /* of these: with the trial's own data in ieee */
    int64_t stopped;   /* beside these: it left its arrays, which the interpreter sees */
    int64_t found[JUDGES_MAX], found_ieee[JUDGES_MAX]; /* of activated, of ieee */
};

struct head_to_head {
    const struct judge_rule *judge[JUDGES_MAX];
    int n_judge;
    int64_t clean_trials, false_alarms[JUDGES_MAX];
    struct tally fault[FAULT_COUNT];
    double cpu_s;
};

void head_to_head_print(const struct head_to_head *h, const struct bench_opts *o);
void head_to_head_json(const struct head_to_head *h, const struct bench_opts *o);

#endif
