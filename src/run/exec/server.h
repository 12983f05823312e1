/*
 * An adapter that starts once and then hands out copies of itself: "Starting fast" in
 * docs/exec-protocol.md. All processes that are forked from the one that opened it hold our end
 * of its socket, and any of them may ask for a copy; when the last one is gone, the server
 * ends. The server alone is the parent of its copies and kills them, when we let go of their
 * lease: so no process number is used after it has come to mean somebody else.
 */
#ifndef RUN_EXEC_SERVER_H
#define RUN_EXEC_SERVER_H

#include "run/exec/child.h"

/* How a copy has ended, if the server is gone that would know. */
enum { EXEC_STATUS_LOST = -1 };

struct exec_server {
    int ctl;            /* -1 = there is none */
    int theirs;         /* the end for the process that is to become one; -1 when it has it */
    pid_t pid;          /* of that, to be waited for by the process of ours that started it */
    _Atomic bool *lost; /* shared by all who ask: it has died, or hangs */
};

/* Makes the socket; without one there will be no server, and that is all. */
void exec_server_open(struct exec_server *s, _Atomic bool *lost);
void exec_server_close(struct exec_server *s);
/* The process pid has its end, and listens. */
void exec_server_begun(struct exec_server *s, pid_t pid);
/* Closes it where it was opened, and waits: then what it and its copies took is known. */
void exec_server_end(struct exec_server *s);
/* A copy as c. False: none is to be had, now or later. *spent_ns: what making it took the
 * server. */
bool exec_server_copy(struct exec_server *s, struct exec_child *c, int64_t until,
                      volatile uint64_t *tick, int64_t *spent_ns);
/* As exec_child_end, which calls it; stdin is closed. */
int exec_copy_end(struct exec_child *c);

#endif
