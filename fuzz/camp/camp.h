/*
 * A campaign: hunt over the trials of a seed with several workers, confirm and minimize what
 * fails, keep it. Everything that a campaign says is said in trial order, whatever the
 * number of workers.
 */
#ifndef FUZZ_CAMP_CAMP_H
#define FUZZ_CAMP_CAMP_H

#include <jansson.h>

#include "fuzz/camp/worker.h"
#include "fuzz/finding.h"
#include "fuzz/store/store.h"

struct camp_opts {
    struct worker_opts work;
    uint64_t trials;        /* numbers 0 .. trials - 1; UINT64_MAX = no end */
    uint64_t shard, shards; /* of those, the ones that are `shard` modulo `shards` */
    double seconds;         /* then no trial is begun any more; 0 = no limit */
    int stop_at;            /* stop at the trial that shows the so-manieth bug; 0 = never */
    int jobs;
    int deadline_s;
    bool quiet; /* no status line */
    const char *db;
    /* of pasteable lines: "tilefuzz", " --preset views", " --rtol 1e-05 --fault ID" */
    const char *program, *gen_options, *run_options;
    struct store_campaign about; /* what the database keeps of the campaign, seed apart */
};

struct camp_totals {
    int64_t trials, verified, unsupported, untrusted, suspect, findings; /* trials */
    int64_t judged;           /* verdicts: trials x backends x algebras */
    int64_t elements, unsure; /* of outputs: judged; not judged, being downstream of a jump */
    int64_t exact, exact_na;  /* sets of exact data: run; not applicable to their trial */
    int64_t unconfirmed;      /* failed in a batch, never again alone */
    struct {
        int64_t trials, verdicts;
    } sample[CHECK_MAX_BACKENDS]; /* by each backend of work.sample */
};

struct camp_result {
    struct camp_totals n;
    struct finding *bug; /* in the order in which they were seen */
    int n_bug;
    bool interrupted;
    double cpu_s, wall_s;
};

/* Called for each bug when it is seen first in this campaign, after it was committed;
 * known = the database had it. */
typedef void camp_bug_fn(void *ctx, const struct finding *f, bool known);

int camp_run(const struct camp_opts *o, camp_bug_fn *fn, void *ctx, struct arena *a,
             struct camp_result *r, struct err *e);

/* The last object of `fuzz --json`. */
json_t *camp_json(const struct camp_opts *o, const struct camp_result *r);

#endif
