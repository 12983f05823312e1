/*
 * The workers as the campaign sees them: slots that take one job at a time and answer with
 * messages, or die. Starting, deadlines and post-mortems are done here.
 */
#ifndef FUZZ_CAMP_POOL_H
#define FUZZ_CAMP_POOL_H

#include "fuzz/camp/wire.h"
#include "fuzz/camp/zygote.h"

struct slot {
    bool up, busy, used; /* used = it has had a job since it was started */
    uint32_t life;
    int sock, log;
    struct job job; /* the present or last one */
    int trials;     /* checked since it was started */
    struct str in;  /* read, not yet handled */
    uint64_t tick;  /* last seen .. */
    int64_t since;  /* .. and first seen then, in ns */
    bool hung;      /* we ended it */
    void *owner;    /* the campaign's own mark on the job */
};

struct pool {
    struct zygote z;
    int n;
    int deadline_s;
    struct slot slot[ZYGOTE_MAX_SLOTS];
};

enum pool_event_kind { POOL_MSG, POOL_DIED };

struct pool_event {
    enum pool_event_kind kind;
    struct slot *slot; /* not busy any more when it died */
    struct msg msg;
    int status;      /* DIED: of waitpid */
    bool hung;       /* DIED: by our deadline */
    uint64_t trial;  /* DIED: the trial it was at */
    const char *log; /* DIED: the tail of what it said on stderr */
};
typedef void pool_event_fn(void *ctx, const struct pool_event *ev);

int pool_open(struct pool *p, int jobs, int deadline_s, worker_fn *worker, void *ctx,
              struct err *e);
void pool_close(struct pool *p);

struct slot *pool_idle(struct pool *p); /* NULL = all are busy */
/* fresh = in a worker that has done nothing else. False = the system is out of something. */
bool pool_start(struct pool *p, struct slot *s, const struct job *j, bool fresh);
/* The job is done: the slot is idle again. */
void pool_done(struct slot *s);
/* The worker is not to be trusted any more; the slot gets another with its next job. */
void pool_retire(struct slot *s);

/* Waits for something to happen, at most timeout_ms. False = the zygote is gone. */
bool pool_wait(struct pool *p, int timeout_ms, pool_event_fn *fn, void *ctx);

#endif
