/*
 * The zygote: a small process, forked before the parent opens its database, that forks all
 * workers. A fork costs what the forking process weighs, and no worker may hold a mapping
 * of the database. It does nothing else: start, kill, reap, tell. It dies with the parent,
 * and the workers die with it.
 */
#ifndef FUZZ_CAMP_ZYGOTE_H
#define FUZZ_CAMP_ZYGOTE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

enum { ZYGOTE_MAX_SLOTS = 256 };

/* In memory shared by parent and worker, one per slot: what a dead worker was doing. */
struct progress {
    volatile uint64_t trial; /* number of the trial at work */
    volatile uint64_t tick;  /* moves on while the worker is alive and well */
};

/* How a worker ends that can't begin; code under test has its own ways to exit. */
enum { WORKER_CANNOT = 3 };

struct zygote {
    pid_t pid;
    int ctl;
    struct progress *progress; /* ZYGOTE_MAX_SLOTS of them */
};

/* A worker's whole life: jobs come and answers go through sock; returns when it is shut. */
typedef void worker_fn(void *ctx, struct progress *p, int sock);

int zygote_open(struct zygote *z, worker_fn *worker, void *ctx, struct err *e);
/* Ends all workers and the zygote, and waits for them. */
void zygote_close(struct zygote *z);

/* life numbers the workers of one slot. The worker gets its own copies of sock and of log
 * (its standard error). */
bool zygote_spawn(struct zygote *z, int slot, uint32_t life, int sock, int log);
bool zygote_kill(struct zygote *z, int slot, uint32_t life);

struct zygote_death {
    int slot;
    uint32_t life;
    int status; /* as waitpid gives it */
};
/* 1 = *d is filled, 0 = nothing to tell now, -1 = the zygote is gone. */
int zygote_poll(struct zygote *z, struct zygote_death *d);

#endif
