/*
 * What a campaign has found so far, and its pages in the database. Entries come in trial
 * order; transactions are short while there is something to show, longer while there isn't.
 */
#ifndef FUZZ_CAMP_LEDGER_H
#define FUZZ_CAMP_LEDGER_H

#include "fuzz/camp/camp.h"

struct ledger {
    struct store *s;
    struct store_campaign about;
    const char *fault;
    struct arena *a; /* bugs and their texts */
    struct finding *bug;
    int n_bug, cap_bug;
    struct store_cause *known; /* before this campaign */
    int n_known;
    struct {
        const char *cause;
        int n;
    } * tried; /* causes of compilers that are not ours: trials minimized for each */
    int n_tried, cap_tried;
    bool pending; /* a transaction is open */
    int64_t began;
};

/* One failing trial. */
struct entry {
    uint64_t number, key;
    const char *original;    /* its text, NULL = not known */
    const struct finding *f; /* minimized if its cause is new */
    bool minimized;
};

int ledger_open(struct ledger *l, const struct camp_opts *o, struct arena *a, struct err *e);
void ledger_close(struct ledger *l);

/* Is it a bug that this campaign or the database has: need it not be minimized? */
bool ledger_knows(const struct ledger *l, const char *cause);

/*
 * Is this trial to be minimized? One of a new cause is; and of a compiler that is not ours,
 * where a cause may be several bugs, the first few.
 */
bool ledger_wants(struct ledger *l, const struct finding *f);

/*
 * Writes a failing trial down. *bug is set, and the transaction committed, if the bug is
 * seen first in this campaign; *known = the database had it before.
 */
int ledger_enter(struct ledger *l, const struct entry *x, const struct finding **bug,
                 bool *known, struct err *e);
/* A trial that a backend refused. */
int ledger_refused(struct ledger *l, uint64_t number, uint64_t key, struct err *e);

/* Commits what is older than a second, or everything. */
int ledger_flush(struct ledger *l, bool all, struct err *e);
int ledger_end(struct ledger *l, const char *counters, bool finished, struct err *e);

#endif
