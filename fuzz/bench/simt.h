/* Inside of bench speed: the SIMT machine. */
#ifndef FUZZ_BENCH_SIMT_H
#define FUZZ_BENCH_SIMT_H

#include "fuzz/bench/bench.h"

struct simt_rate {
    double ops_per_cpu_s; /* accesses and multiply-adds of all threads, all checks on */
    double ms;            /* of CPU, for the matmul under one schedule */
};

struct simt_speed {
    struct simt_rate tcc, gcc; /* gcc: 0 where there is no gcc */
    double trials_per_cpu_s;   /* with steps for GPUs, judged on simt alone */
    int findings;              /* in those */
};

/* Non-zero: e says why. */
int bench_simt(const struct bench_opts *o, struct checker *c, struct simt_speed *out,
               struct err *e);

#endif
