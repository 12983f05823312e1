/* The state of a running campaign; hunt.c gives work out, answers.c takes answers in. */
#ifndef FUZZ_CAMP_HUNT_H
#define FUZZ_CAMP_HUNT_H

#include "fuzz/camp/board.h"
#include "fuzz/camp/camp.h"
#include "fuzz/camp/ledger.h"
#include "fuzz/camp/pool.h"
#include "fuzz/camp/status.h"

struct hunt {
    const struct camp_opts *o;
    struct pool pool;
    struct board board;
    struct ledger ledger;
    struct status status;
    struct camp_totals n;
    struct err *e; /* what ended the campaign before its time */
    int exits;     /* workers in a row that ended without a signal */
    bool closing;  /* no new batch is begun */
    bool stopped;  /* stop_at was reached: nothing more is written down */
    camp_bug_fn *fn;
    void *ctx;
};

/* A pool_event_fn; ctx is a struct hunt. */
void hunt_answer(void *ctx, const struct pool_event *ev);

#endif
