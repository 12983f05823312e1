/* An adapter from the inside: its row, and what is said to it. */
#ifndef RUN_EXEC_EXEC_H
#define RUN_EXEC_EXEC_H

#include <jansson.h>

#include "run/exec/server.h"
#include "run/foreign.h"

/* A process is kept for so many programs. */
enum { EXEC_CASES = 60 };

struct exec_row {
    struct backend b; /* the row itself: first, so that a pointer to it leads here */
    struct caps caps;
    char *command;
    char **argv;
    struct exec_server server;
    bool forks; /* its hello says that it can be one */
    struct exec_child child;
    struct exec_count *count; /* shared by all processes of ours */
    uint64_t program;         /* number of the one that the child has */
};

struct exec_count {
    _Atomic int64_t framework_ns, process_ns, start_ns, lost_ns, runs, starts, stale;
    _Atomic bool no_server; /* any more */
};

/* Why there is no answer that could be used. */
enum talk { TALK_FINE, TALK_REFUSED, TALK_FAILED, TALK_DIED, TALK_HUNG };

struct talk_env {
    int deadline_s;
    volatile uint64_t *tick;
};

/* When so many seconds from now are over, 0 = the default. Of a clock on the wall, but longer
 * on a machine where more wants to run than there are cores, by that share, up to ten times: a
 * slow answer of a starved process is no hang. */
int64_t exec_until(int seconds);

/* Starts a child that has said hello, unless one runs. why: for a person, one line. */
enum talk exec_ready(struct exec_row *r, const struct talk_env *t, char *why, size_t n);
/* Ends the child by making it the server of those that come, if it can be one. */
void exec_serve(struct exec_row *r, const struct talk_env *t);
/*
 * One request and its answer; *answer is to be given back where TALK_FINE. After DIED and HUNG
 * there is no child any more.
 */
enum talk exec_talk(struct exec_row *r, const struct talk_env *t, struct iovec *v, int n_v,
                    json_t **answer, char *why, size_t n);
/* The child has failed in some other way: ends it. said = what it did, "" = see how it ended.
 */
enum talk exec_lost(struct exec_row *r, const char *said, bool late, char *why, size_t n);
/* The outcome of a talk that was not fine. */
void exec_outcome(enum talk t, const char *why, struct outcome *o);

/* Hands over the program of l, and runs it. Inputs are storages in the order of the program;
 * out(ctx, k, bytes) is given the dense elements of output k, which are right in number, shape
 * and dtype. */
typedef void exec_out_fn(void *ctx, int k, const unsigned char *bytes);
enum talk exec_prepare(struct exec_row *r, const struct talk_env *t, const struct lprog *l,
                       struct outcome *o);
bool exec_run(struct exec_row *r, const struct talk_env *t, const struct lprog *l,
              const void *const *in, exec_out_fn *out, void *ctx, struct outcome *o);
/* Reads the answer to hello. False: why. */
bool exec_hello(struct exec_row *r, const json_t *answer, char *why, size_t n);

/* The line of a request. */
void exec_say_program(const struct caps *c, const struct lprog *l, struct str *s);
void exec_say_run(const struct lprog *l, struct str *s);
size_t exec_storage(const struct buffer *b); /* bytes */

/* Tries op with dtype dt; sets the cap. */
void exec_try_one(struct exec_row *r, const struct talk_env *t, enum op op, enum dtype dt);
/* The same for all that a program needs and nobody knows. */
void exec_try_program(struct exec_row *r, const struct talk_env *t, const struct prog *p);

#endif
