/*
 * What the loop passes share: finding loops by name, walking scopes, rewriting statement
 * lists. A statement list is always rebuilt into a new array, never edited in place, so
 * that a pass can read the old one while it writes.
 */
#ifndef LOWER_NEST_H
#define LOWER_NEST_H

#include "lower/loop.h"

/* "s.r0.1": the canonical name of a step's axis, aliases b m n k resolved. False (with e
 * set, naming the step's line) if the node has no such axis. */
bool axis_name(const struct lprog *l, const struct step *st, const struct axis *ax,
               char name[MAX_LABEL], struct err *e);

/* Does each step of a kind, by its number, in order; the first error ends it. */
int steps_each(struct lprog *l, enum step_kind kind,
               int (*one)(struct lprog *l, int step, struct err *e), struct err *e);

/* The loop variable called `name` in a live kernel, through aliases too; -1 = no loop. */
int kernel_axis(const struct lprog *l, int kernel, const char *name);
/* The kernel of a program node that is alive, -1 = none. */
int node_kernel(const struct lprog *l, int node);
/* The first that runs its reduction, or the first tiled one of those; -1 = none. */
int reduction_kernel(const struct lprog *l, int node, bool tiled);
/* The one that runs its reduction, or else its own; -1 = none. */
int main_kernel(const struct lprog *l, int node);
int kernel_loop(const struct kernel *k, int var); /* the statement that is it; -1 = none */
bool kernel_has_var(const struct kernel *k, int var);
/* Does the kernel load from (or store to) the buffer? */
bool kernel_reads(const struct lprog *l, const struct kernel *k, int buffer);
bool kernel_writes(const struct lprog *l, const struct kernel *k, int buffer);

/* Copies statement s with loop variables replaced; loops over replaced variables are the
 * caller's business. */
struct stmt stmt_subst(struct lprog *l, const struct stmt *s, const int *to, int n_to);

/* A replacement table for ix_subst with every entry -1; valid for the variables of now. */
int *subst_table(struct lprog *l);

/* An empty statement list to build a kernel's new body in; take = make it the body. */
struct kernel list_new(const struct kernel *like);
void list_take(struct kernel *k, const struct kernel *list);
void push_loop(struct lprog *l, struct kernel *k, int var, enum loop_kind kind);
void push_if(struct lprog *l, struct kernel *k, int cond);
void push_end(struct lprog *l, struct kernel *k, int n);

/*
 * A kernel with one accumulator and one store, the common shape:
 *   outer loops | DECL | loops .. UPDATE .. | loops .. STORE
 */
struct reduction {
    int decl, update, store; /* statement numbers */
};
bool kernel_reduction(const struct kernel *k, struct reduction *r);

/* Statement numbers of the LOOPs and IFs round statement at, outermost first; returns how
 * many (at most max). */
int enclosing(const struct kernel *k, int at, int *out, int max);

/* val with every read of the accumulator replaced by value `by`. */
int acc_replace(struct lprog *l, int val, int acc, int by);

/* The binary op that a reduction repeats, and its identity as a literal. */
enum op reduce_combine(enum op op);
double reduce_identity(enum op op, enum dtype dt);

int step_error(const struct step *st, struct err *e, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
