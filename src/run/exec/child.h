/*
 * An adapter as a child process: lines and bytes to its stdin and from its stdout, a deadline
 * for each answer, its stderr kept. It leads a process group of its own, so that what it
 * starts ends with it, and it ends with us.
 */
#ifndef RUN_EXEC_CHILD_H
#define RUN_EXEC_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/str.h"

/* How it ended is told by itself, if it has ended: it is given this time to. */
enum { EXEC_LINE_MAX = 1 << 20, EXEC_END_MS = 200 };

enum exec_io { IO_FINE, IO_ENDED, IO_LATE, IO_LONG };

struct exec_child {
    pid_t pid;   /* 0 = none runs */
    pid_t owner; /* the process that started it; a fork of that leaves it alone */
    int in, out, log;
    bool copy; /* the child of a server (server.h), not ours; the next two are for it */
    int lease, pidfd;
    struct str got; /* read, and not yet taken */
    size_t taken;
    int cases;           /* programs that it was handed */
    int64_t cpu_ns;      /* that were counted already */
    int64_t children_ns; /* of its ended children, when we last looked */
};

/* Pipes and a log of one that is to be started, and its own ends. False: why says why. */
bool exec_child_open(struct exec_child *c, int theirs[2], struct str *why);
/* Our side of it, whatever becomes of the process. */
void exec_child_close(struct exec_child *c);
/* argv[0] is looked for in PATH; one that is not there ends by itself. serves: the socket of
 * one that may become a server, or -1. */
bool exec_child_start(struct exec_child *c, char *const *argv, int serves, struct str *why);
bool exec_child_runs(const struct exec_child *c); /* ours, and not ended by exec_child_end */
/* Kills it if it has not ended. Returns what waitpid says. */
int exec_child_end(struct exec_child *c);
int exec_own_end(const struct exec_child *c); /* its part for a child of ours; see server.h */
/* CPU time since the last call, in ns; children: of those that have ended, too (else with the
 * next call that looks). */
int64_t exec_child_cpu(struct exec_child *c, bool children);

/* until: in ns of CLOCK_MONOTONIC. tick is moved on while we wait; it may be NULL. */
enum exec_io exec_child_wait(int fd, short what, int64_t until, volatile uint64_t *tick);
/* v is used up. */
enum exec_io exec_child_write(struct exec_child *c, struct iovec *v, int n, int64_t until,
                              volatile uint64_t *tick);
/* One line without its end; valid until the next read. */
enum exec_io exec_child_line(struct exec_child *c, const char **line, int64_t until,
                             volatile uint64_t *tick);
/* *have tells how many came, if not all. */
enum exec_io exec_child_bytes(struct exec_child *c, void *to, size_t n, size_t *have,
                              int64_t until, volatile uint64_t *tick);
/* Has it said more than was asked for? */
bool exec_child_left_over(struct exec_child *c);
void exec_child_forget_log(struct exec_child *c);
/* The end of its stderr, in one line. */
void exec_child_log(const struct exec_child *c, char *buf, size_t n);
int64_t exec_now(void);

#endif
