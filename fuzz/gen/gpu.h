/*
 * Steps for GPUs. Unlike the other steps (sched.h) each is tried on the real passes before the
 * next one is drawn, as what comes next depends on it: a stage that was refused is tried
 * plainer, and only what is staged gets a swizzle.
 */
#ifndef FUZZ_GEN_GPU_H
#define FUZZ_GEN_GPU_H

#include "fuzz/gen/sched.h"

/* What a kernel is to become. DEFAULT: bound by pass bind without a step. */
enum gpu_kind { GPU_DEFAULT, GPU_TILE, GPU_ROWS, GPU_EACH };

struct gpu_plan {
    int kernel; /* node of s->p */
    int node;   /* that steps name: its reduction, or itself */
    enum gpu_kind kind;
    int64_t m, n, k;  /* last two axes of the result; the first one reduced, 0 = none */
    int64_t depth;    /* wanted of stages */
    struct step tile; /* what was taken; n_tile 0 = none */
    struct step stage[2];
    int n_stage;
};

/* Appends the step, which names nodes of s->p, if --steps and the passes let it. */
bool gpu_try(struct sched *s, const struct step *st);
bool gpu_try_pair(struct sched *s, const struct step *one, const struct step *two);
/* The tile for tensor cores becomes a plain one. */
void gpu_drop_mma(struct sched *s);
/* The axis and its splits, "01" = .0.1 */
struct axis gpu_axis(int node, char role, int num, const char *path);

/* gen_tile.c */
void gpu_splitk(struct sched *s, struct gpu_plan *g);
void gpu_tile(struct sched *s, struct gpu_plan *g, bool mma); /* may it be for tensor cores */
void gpu_unroll(struct sched *s, struct gpu_plan *g);

/* gen_stage.c */
void gpu_stage(struct sched *s, struct gpu_plan *g);
void gpu_epilogue(struct sched *s, struct gpu_plan *g);
void gpu_swizzle(struct sched *s, const struct gpu_plan *g);

#endif
