/*
 * The regression database: what was hunted, what was found, what became of it. SQLite in WAL
 * mode, one writer; all SQL of the tool is in this folder (schema.sql is the schema). Killing
 * the writer at any moment leaves a database that passes integrity_check and holds every
 * transaction that was committed.
 *
 * Strings of an answer live in the arena given. Functions return 0 or fill *e (ERR_DB).
 */
#ifndef FUZZ_STORE_STORE_H
#define FUZZ_STORE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "fuzz/finding.h"

struct store;

enum store_mode {
    STORE_READ,   /* the file exists and stays as it is */
    STORE_WRITE,  /* the file exists; an older schema is migrated */
    STORE_CREATE, /* like write, but a missing file is made */
};

int store_open(const char *path, enum store_mode mode, struct store **out, struct err *e);
void store_close(struct store *s); /* NULL is fine; an open transaction is rolled back */
const char *store_path(const struct store *s);

/* Writes outside a transaction are their own. begin may not be nested. */
int store_begin(struct store *s, struct err *e);
int store_commit(struct store *s, struct err *e);
void store_rollback(struct store *s);

/* One hunt. Text fields may be NULL. */
struct store_campaign {
    int64_t id;
    uint64_t seed;
    const char *preset, *knobs; /* knobs: "name = value" lines */
    int gen_version;
    const char *backends; /* "interp 1; tcc 0.9.27" */
    const char *fault, *subject_version, *shard;
};
int store_campaign_begin(struct store *s, struct store_campaign *c, struct err *e);
/* counters: the last JSON object of the campaign; finished = false after an interrupt */
int store_campaign_end(struct store *s, int64_t campaign, const char *counters, bool finished,
                       struct err *e);

/* A trial that is worth keeping (a finding, a refusal); text may be NULL. Storing the same
 * number again replaces it. */
struct store_trial {
    int64_t campaign, number;
    uint64_t key;     /* trial_key */
    const char *kind; /* verdict_name */
    const char *text;
};
int store_trial(struct store *s, const struct store_trial *t, struct err *e);

/* Where a finding was seen. */
struct store_seen {
    int64_t campaign; /* 0 = no campaign: a file given by hand */
    int64_t number;   /* of the trial, -1 = a file */
    uint64_t key;
    const char *subject_version;
};

/*
 * Inserts a finding, or counts it when it is known: same fault and same signature, or (when
 * f->signature is NULL) same fault and same cause. Fills f->id, f->count, f->state, f->seed and
 * f->first_trial. A bug that was tagged fixed and is seen again becomes "back".
 */
int store_finding(struct store *s, struct finding *f, const struct store_seen *seen,
                  bool *known, struct err *e);

/* What need not be minimized again: the causes stored under one fault. */
struct store_cause {
    int64_t bug;
    const char *cause;
};
int store_known_causes(struct store *s, const char *fault, struct arena *a,
                       struct store_cause **out, int *n, struct err *e);

int store_bug_get(struct store *s, int64_t id, struct arena *a, struct finding *out,
                  struct err *e);
int store_bug_list(struct store *s, struct arena *a, struct finding **out, int *n,
                   struct err *e);
/* Writes back what the minimizer or explain learned: signature .. detail and text of f->id. */
int store_bug_update(struct store *s, const struct finding *f, struct err *e);

/* A replay of a stored bug; cause may be NULL (it passed). */
int store_replay(struct store *s, int64_t bug, const char *kind, const char *cause,
                 const char *subject_version, struct err *e);

/* Sets the state of a bug and remembers when and why. States: open fixed back wontfix. */
int store_tag(struct store *s, int64_t bug, const char *state, const char *note, struct err *e);
bool store_state_valid(const char *state);
#define STORE_STATES "open, fixed, back, wontfix"

/* `other` is the same bug as `bug`: it is listed no more, and what is seen of it counts for
 * `bug`. split undoes it, for one that was joined or for all that were joined to it. */
int store_join(struct store *s, int64_t bug, int64_t other, struct err *e);
int store_split(struct store *s, int64_t bug, struct err *e);

/* Everything of another database into this one; campaigns that are here already (same uid)
 * are skipped, so merging twice changes nothing. Counts what was new. */
struct store_merged {
    int64_t campaigns, bugs, observations;
};
int store_merge(struct store *s, const char *from, struct store_merged *m, struct err *e);

/*
 * One statement that can only read, on a store opened with STORE_READ: no attaching, no
 * extensions, no pragma that changes anything. Bad SQL is ERR_USAGE. Each row goes to `row`,
 * which returns 0 or non-zero to stop.
 */
enum store_type { STORE_INT, STORE_REAL, STORE_TEXT, STORE_NULL };
struct store_cell {
    const char *name; /* of the column */
    enum store_type type;
    const char *text; /* NULL for STORE_NULL */
};
typedef int store_row_fn(void *ctx, const struct store_cell *cell, int n);
int store_sql(struct store *s, const char *text, store_row_fn *row, void *ctx, struct err *e);

/* A bug that was exported elsewhere: inserted with one observation unless it is known. */
int store_import(struct store *s, struct finding *f, uint64_t key, bool *known, struct err *e);

/* The SQLite library's version, for doctor. */
const char *store_library_version(void);

#endif
