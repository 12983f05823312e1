/*
 * Reducers. Each offers numbered hints on a trial ("drop step 3", "axis x.1 becomes 2") and
 * applies one, or a run of neighbouring ones, to a copy. They only edit: settling the copy
 * (shapes, dead nodes, steps that lost their meaning), legality and the question whether it
 * still fails for the same cause are the driver's (min.c). A reducer is one row in
 * reducers.def and two functions red_ID_count, red_ID_apply.
 */
#ifndef FUZZ_MIN_REDUCE_H
#define FUZZ_MIN_REDUCE_H

#include "ir/trial.h"

struct reducer {
    const char *id;
    bool chunks, data; /* see reducers.def */
    /* how many hints the trial offers; scratch may be used freely */
    int (*count)(const struct trial *t, struct arena *scratch);
    /* edits t by hints from .. to-1; false = nothing to do or impossible */
    bool (*apply)(struct trial *t, int from, int to, struct arena *a);
    const char *help;
};

extern const struct reducer reducers[];
extern const int n_reducers;

#define RED(id, chunks, data, help)                                                            \
    int red_##id##_count(const struct trial *t, struct arena *scratch);                        \
    bool red_##id##_apply(struct trial *t, int from, int to, struct arena *a);
#include "fuzz/min/reducers.def"
#undef RED

/* A reducer that has so many hints for each node, or for each step. */
#define RED_PER_NODE(id, hints)                                                                \
    int red_##id##_count(const struct trial *t, struct arena *scratch)                         \
    {                                                                                          \
        (void)scratch;                                                                         \
        return t->prog.n * (hints);                                                            \
    }
#define RED_PER_STEP(id, hints)                                                                \
    int red_##id##_count(const struct trial *t, struct arena *scratch)                         \
    {                                                                                          \
        (void)scratch;                                                                         \
        return t->n_step * (hints);                                                            \
    }

/*
 * Puts an edited trial in order: infers every shape again, drops what no output needs, and
 * drops steps one by one until trial_check is content. False = the edit made no program.
 * Steps get their number in the schedule as line (settle_step_line), which tells us which
 * one an error of the lowering speaks of.
 */
bool trial_settle(struct trial *t, struct arena *a);
enum { SETTLE_LINE = 1000000 };
/* The step that an error of trial_check or lower blames, -1 = none. */
int settle_blamed(const struct trial *t, const struct err *e);

/* shared by reducers */
struct values *trial_values(struct trial *t, int node); /* NULL = drawn */
void steps_rename(struct trial *t, int from, int to);   /* what a step says of one node */

#endif
