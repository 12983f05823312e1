/*
 * One trial, lowered as far as we like, run by the interpreter and judged: the question that
 * attribution asks again and again. What the judge wants is computed once per trial.
 */
#ifndef FUZZ_EXPLAIN_PROBE_H
#define FUZZ_EXPLAIN_PROBE_H

#include "fuzz/explain/cause.h"

struct probe {
    struct checker *ck;
    const struct check_opts *o;
    const struct trial *t;
    enum algebra al;
    enum target target; /* set before probe_trial: what the failing backend takes */
    int exact;          /* set before probe_trial: verdict.exact, whose data are run */
    struct want *want;
    struct judge_opts judge; /* o's, complete */
    struct lprog *l;         /* of the last probe_run or probe_lower */
    struct verdict v;        /* of the last probe_run */
    struct arena keep;       /* want; until the next probe_trial */
    struct arena ir;         /* l; until the next probe_run or probe_lower */
};

void probe_open(struct probe *p, struct checker *ck, const struct check_opts *o);
void probe_close(struct probe *p);
/* t has been checked; al is the algebra that failed. */
void probe_trial(struct probe *p, const struct trial *t, enum algebra al);

/* Lowers up to rewrite stop_after, or to the end of pass last_pass. */
int probe_lower(struct probe *p, int stop_after, int last_pass, struct err *e);
/* Lowers likewise, runs and judges: p->v, p->l. Buffers stay in ck->env for a look. */
int probe_run(struct probe *p, int stop_after, int last_pass, struct err *e);
bool probe_wrong(const struct probe *p); /* was the last run a finding */

/*
 * The cause as the interpreter sees it: pass "" if it is right after the last rewrite.
 * Leaves class NULL. Needs probe_trial; kind, groups and backend are set.
 */
int probe_cause(struct probe *p, struct cause *out, struct err *e);
/* Does one of schedules 1 .. n of the SIMT machine give wrong values? Overwrites l. */
bool probe_value(struct probe *p, int schedules);
/* The live kernel of that name, -1 = none. */
int kernel_named(const struct lprog *l, const char *name);
const char *kind_group(enum verdict_kind k);
/* cause_find without the class "index", for one verdict; p is set to t and v's algebra. */
int cause_locate(struct probe *p, const struct trial *t, const struct verdict *v,
                 struct cause *out, struct err *e);

#endif
