/*
 * The accesses of a bound kernel by which the threads of a block may meet: to shared memory,
 * and to temporaries in global memory by which they exchange what they have computed. Which
 * bytes which thread touches.
 */
#ifndef LOWER_SYNC_SITE_H
#define LOWER_SYNC_SITE_H

#include "lower/nest.h"

enum { MAX_CONDS = 24 };

/* An element that a thread touches; thread -1 = several do. */
struct element {
    int64_t index;
    int thread;
};

/* Elements of a site under conditions that may fail; loops that are walked stand in none. */
struct variant {
    int rest; /* index but for the base */
    int cond[MAX_CONDS], n_cond;
    struct element *element; /* each index but once */
    int n;
};

struct site {
    int unit;   /* statement that it is seen as a part of */
    int access; /* composed */
    int buffer, bytes;
    bool write, async;
    int cond[MAX_CONDS], n_cond; /* IFs within the unit, guards */
    int base, rest;              /* index = base, of walked loops only, + rest */
    struct variant *variant;     /* those that came up so far */
    int n_variant, cap_variant;
};

struct sites {
    struct lprog *l;
    const struct kernel *k;
    struct site *site;
    int n, cap;
    bool *walked;  /* by statement: a loop that is walked */
    bool *uniform; /* by variable: of a walked loop round what is looked at */
    int thread;    /* linear number of a thread */
    int64_t *at;   /* by variable: where the walk stands; others 0 */
    int64_t *last; /* the same in the last block */
    int *to;       /* by variable: its value as an expression where it is walked */
    const int64_t *extent;
    bool *meets;    /* by buffer: threads of a block may meet there */
    int64_t *place; /* by buffer: byte offset in the pool; global ones lie behind it */
    int64_t pool;   /* bytes */
    int grain;      /* bytes that are told apart */
};

/* meets[b] for every buffer: that of shared memory, and temporaries which the kernel loads
 * from other places than it stores to. */
void sites_meet(struct lprog *l, int kernel, bool *meets);

/* Bytes of a global buffer that the first block touches: its indices go no further. */
int64_t site_reach(struct sites *s, int buffer);

void sites_find(struct sites *s, struct lprog *l, int kernel);

/* Calls f for every (byte, thread) of a site, loops as s->at says. */
void site_touch(struct sites *s, int site, void (*f)(void *ctx, int64_t byte, int thread),
                void *ctx);

#endif
