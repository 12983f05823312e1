/*
 * One trial down the corridor: lower, emit, run on every backend in both algebras, judge.
 * The fast loop of the hunt; also what run, min, explain and replay use.
 */
#ifndef FUZZ_CHECK_H
#define FUZZ_CHECK_H

#include "ir/verdict.h"
#include "judge/exact.h"
#include "lower/lower.h"
#include "run/run.h"

enum {
    CHECK_MAX_BACKENDS = 20,
    CHECK_MAX_VERDICTS = CHECK_MAX_BACKENDS * (AL_COUNT + EXACT_SETS + 1)
};

/* Sets of exact data that a trial is run with, beside its own data. */
enum { CHECK_EXACT_SETS = 2 };

/* Seconds of CPU time (and three times that on the clock) before code is taken for hung. */
enum { CHECK_DEADLINE = 20 };

struct check_opts {
    enum fault fault;
    const struct backend *backend[CHECK_MAX_BACKENDS]; /* in the order in which they run */
    int n_backend;
    bool chosen; /* the user named the backends: none is added by itself */
    bool algebra[AL_COUNT];
    struct judge_opts judge;
    int exact_sets; /* 0 .. EXACT_SETS; none where ieee is not asked for or by another judge */
    bool isolate;   /* compiled code runs in a child: its death is a verdict, not ours */
    int deadline_s; /* of that child */
    bool hasty;     /* a process that others have used is believed (check/afresh.c) */
    bool digest;    /* verdicts tell what the outputs hold (check/digest.h) */
};
/* Is a backend of the list ours, so that ring is asked and a schedule means something? */
bool check_has_ours(const struct check_opts *o);
/* interp and tcc, both algebras, no fault, isolated */
void check_opts_default(struct check_opts *o);

enum check_phase {
    PH_GENERATE,
    PH_LOWER,
    PH_EMIT,
    PH_WANT,
    PH_INTERP,
    PH_BUILD,
    PH_RUN,
    PH_COMPARE,
    PH_COUNT
};
extern const char *const check_phase_name[PH_COUNT];

/* Where a child is, in memory that it shares with its parent: outlives the child. */
struct check_stage {
    volatile int algebra;
    volatile int phase; /* enum check_phase */
};

/* What a process needs to check trials; one per worker, reused for every trial. */
struct checker {
    struct run_env env;
    struct arena arena; /* reset at the start of check_trial: results live until the next */
    int64_t phase_ns[PH_COUNT];
    struct check_stage *stage;
    volatile uint64_t *tick; /* a sign of life, moved on at every trial; NULL = none wanted */
};
int checker_open(struct checker *c, struct err *e);
void checker_close(struct checker *c);

/* Adds the time since *since to a phase and moves *since to now. */
void checker_phase(struct checker *c, enum check_phase ph, int64_t *since);
int64_t checker_now(void);

struct check {
    struct verdict
        verdict[CHECK_MAX_VERDICTS]; /* one per backend x algebra, or set, that was reached */
    int n;
    /* the trial as a whole: a finding's kind if any verdict is one; else UNSUPPORTED if a
     * backend refused; else UNTRUSTED; else PASS */
    enum verdict_kind kind;
    int first;                /* the verdict that decides, -1 = none */
    const char *untrusted_by; /* the null kernel that would have passed */
    struct lprog *l;          /* lowered for a CPU */
    const char *text;         /* emitted C; NULL if nobody takes it */
    struct lprog *gpu_l;      /* lowered for a GPU, and its CUDA C; NULL if nobody takes them */
    const char *gpu_text;
    const struct emit_sites *gpu_sites;
    int64_t n_judged, n_unsure;
    int n_exact, n_exact_na; /* sets of exact data: run; not applicable */
    const char *exact_na;    /* why the last of those was not */
};

/*
 * Order: interp first; if it leaves its arrays or is wrong, compiled backends are not run
 * (what they would do with a wild index is not needed to know that the trial fails), unless
 * they are the only ones asked for. ring is judged before ieee, which is left out once the
 * backend did worse than give a wrong number. Every backend runs backend->runs times and
 * the runs are compared. Sets of exact data follow: the same code with other data, once each,
 * and in the interpreter the first set only. Non-zero = the trial is illegal (ERR_ILLEGAL,
 * ERR_INPUT).
 */
int check_trial(struct checker *c, const struct trial *t, const struct check_opts *o,
                struct check *out, struct err *e);

/* Faults end the process, as they do unless somebody has changed it; for workers. */
void check_default_signals(void);

#endif
