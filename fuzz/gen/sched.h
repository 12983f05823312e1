/*
 * What the schedule drawing keeps in mind of the kernels, so that few steps are proposed
 * that lowering would refuse. An estimate only: the real passes decide (gen_sched.c).
 */
#ifndef FUZZ_GEN_SCHED_H
#define FUZZ_GEN_SCHED_H

#include "fuzz/gen/build.h"

enum { MAX_LOOPS = 16 };

struct sloop {
    struct axis ax;
    int64_t extent;
    bool reduce;
    bool ragged; /* the inner half of a split that does not divide: a guard stands in it */
};

struct skern {
    bool alive;
    int n_acc;     /* accumulators; with more than one the loops are no single nest */
    int reduction; /* the node whose reduction loops it runs, -1 = none */
    bool mixed;    /* stores a sum of two dtypes */
    bool picks;    /* part of an argmax: looks for an equal element of its operand */
    bool moved;    /* reordered across the reduction */
    double evals;  /* iterations of its innermost body */
    double cost;   /* operations of one */
    struct sloop loop[MAX_LOOPS]; /* outermost first, as far as is known */
    int n_loop;
};

struct sched {
    struct rng *r;
    const struct gen_opts *o;
    struct trial *t;
    const struct prog *p; /* composites written out */
    struct arena *a;      /* of the trial */
    int n;
    struct skern *k; /* one per node; views and sources are never alive */
    bool *reads;     /* reads[c * n + p]: kernel c reads the buffer of p */
    int budget;      /* steps still wanted */
    bool gpu;        /* steps for GPUs too */
    struct arena *scratch;
};

struct step *sched_step(struct sched *s, enum step_kind kind);
bool sched_may(const struct sched *s, enum step_kind kind);
/* a random kernel that is alive and has loops, reductions and large ones likelier; -1 */
int sched_kernel(struct sched *s);

/* gen_algo.c */
void sched_algo(struct sched *s);
/* Sets p, which lives in scratch; false if the program can't be written out. */
bool sched_expand(struct sched *s, struct arena *scratch);
/* The trial's node that a node of p is or is a part of; *part = "mx" .., or NULL. */
int sched_original(const struct sched *s, int node, const char **part);
/* Steps that name nodes of p name nodes of the trial and their parts from here on. */
void sched_name_parts(struct sched *s);
void sched_name_step(struct sched *s, struct step *st); /* one that is not the trial's yet */

/* gen_sched.c */
void sched_kernels(struct sched *s);
/* Drops what the passes refuse; false if they refuse the trial without steps. */
bool sched_settle(struct sched *s);

void sched_fuse(struct sched *s);
void sched_split(struct sched *s);
void sched_reorder(struct sched *s);
void sched_splitk(struct sched *s);
void sched_unroll(struct sched *s);
void sched_vectorize(struct sched *s);
void sched_plan(struct sched *s);

#endif
