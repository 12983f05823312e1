/*
 * Backend cc: the emitted C through the optimising compilers of the machine, each of them in
 * several configurations (cc.def), each configuration a backend of its own ("cc:gcc-O3").
 *
 * Starting a compiler costs 10 to 30 ms and a trial's text another 10 to 100, so a hunt draws
 * few trials for it, and builds several of one configuration in one run: a batch. A batch in
 * run_env is nothing but a store of objects that were built ahead: a trial whose text is in
 * it runs from there, any other one is compiled alone. So no verdict depends on batches, and
 * where one fails to build, the guilty trial is found by itself.
 */
#ifndef RUN_CC_H
#define RUN_CC_H

#include "run/run.h"

enum cc_config {
#define CC(id, name, compiler, level, contraction) CC_##id,
#include "run/cc.def"
#undef CC
    CC_CONFIGS
};

enum { CC_BATCH = 32 }; /* texts in one batch at most */

/* What a compiler made, loaded from a memory file. That stays open while it is, or another
 * object could be given the same path and be taken for this one. */
struct cc_object {
    void *loaded; /* NULL = nothing yet */
    int fd;       /* -1 = none */
};
#define CC_OBJECT_NONE ((struct cc_object){ .fd = -1 })

struct cc_part {
    char *text;
    struct str entry[AL_COUNT];
    void (*run[AL_COUNT])(void *const *p); /* NULL until built */
};

struct cc_batch {
    enum cc_config config;
    struct cc_part part[CC_BATCH];
    int n;
    struct cc_object object;
    struct cc_batch *next;
};

/* An object for several trials: open, add their texts (which needn't live on), then file it:
 * that builds it and, if that went well, lays it into run_env, until all are dropped. */
struct cc_batch *cc_batch_open(enum cc_config c);
void cc_batch_add(struct cc_batch *b, const struct lprog *l, const char *text);
bool cc_batch_full(const struct cc_batch *b);
void cc_batch_file(struct run_env *env, struct cc_batch *b);
void cc_batches_drop(struct run_env *env);

/* The configuration behind a row of backends[], or false: it is no cc. */
bool cc_of(const struct backend *b, enum cc_config *c);

/* cc_build.c: how a batch becomes an object */
enum cc_result {
    CC_BUILT,
    CC_REJECTED, /* the compiler refused the text, crashed or did not end: log says */
    CC_CANNOT,   /* nothing was compiled: out of processes, no such program */
};
enum cc_result cc_batch_build(struct cc_batch *b, volatile uint64_t *tick, struct str *log);
void cc_batch_close(struct cc_batch *b);

/* cc_object.c: argv compiles text, from stdin to stdout, and ld makes it one that is loaded.
 * Closed whatever came of it. */
enum cc_result cc_object_build(struct cc_object *o, const char *const *argv,
                               const struct str *text, volatile uint64_t *tick,
                               struct str *log);
void *cc_object_symbol(const struct cc_object *o, const char *name); /* NULL = it has none */
void cc_object_close(struct cc_object *o);

/* cc_child.c: runs a program to its end, its stderr appended to log. 0 = it said that all is
 * well. `tick` is moved on while it is waited for. */
struct cc_child {
    const char *const *argv;
    int in, out;             /* its stdin and stdout, -1 = nothing */
    int seconds;             /* of CPU time; three times that on the clock */
    volatile uint64_t *tick; /* may be NULL */
};
enum cc_result cc_child_run(const struct cc_child *c, struct str *log);

#endif
