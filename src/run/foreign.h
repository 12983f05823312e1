/*
 * Backends that are not ours: `plugin:FILE.so`, a shared object with the interface of
 * tilefuzz/plugin.h, and `exec:COMMAND`, a program that speaks docs/exec-protocol.md. They are
 * rows that come into being when the user names them, and take a program as it is: without
 * schedule, in ieee only.
 */
#ifndef RUN_FOREIGN_H
#define RUN_FOREIGN_H

#include "base/arena.h"
#include "run/caps.h"
#include "run/run.h"

/* Also the rows of backends that are not ours; asks what it can do, in a process of its own. */
const struct backend *plugin_open(const char *name, const char *path, struct err *e);
const struct backend *exec_open(const char *name, const char *command, struct err *e);

/* Tries each op and dtype that is not yet known and that `op` holds. Returns how many are
 * taken of how many. */
struct tried {
    int taken, of;
};
struct tried exec_try(const struct backend *b, const bool op[OP_COUNT]);

/* Has its process run other trials since it was started? Then ends it. */
bool exec_refresh(const struct backend *b);
/* One failed in a used process and not in a fresh one: counts it. */
void exec_stale(const struct backend *b);

/* No more of its processes are needed: ends the one that others are forked from, if there is
 * one, so that what they took counts as that of our children. */
void exec_close(const struct backend *b);

/* What all its processes and their children cost: CPU time of their starts, of all requests
 * that were answered, and in that by their own account of the framework; of requests that got
 * no answer, of which there is no such account. */
struct exec_cost {
    double start_s, process_s, framework_s, lost_s;
    int64_t runs, starts, stale;
};
struct exec_cost exec_cost(const struct backend *b);

/* Loops of no kernel, with the inputs and outputs of t as they are: memory for a run. */
struct lprog *foreign_lprog(const struct trial *t, struct arena *a);
/* NaN in the elements of float outputs, after run_place. */
void foreign_poison(struct run_env *env, const struct lprog *l);
/* Refuses as the caps say: fills o and returns true. */
bool foreign_refuses(const struct caps *c, const struct trial *t, struct outcome *o);
#endif
