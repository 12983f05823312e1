/*
 * serial.c's own: serial.c writes statements out, serial_acc.c finds every thread's
 * accumulators a place.
 */
#ifndef LOWER_SERIAL_INNER_H
#define LOWER_SERIAL_INNER_H

#include "lower/region.h"

enum { SERIAL_DEPTH = 128 };

/* What a kernel has to do with an accumulator. */
struct own {
    int region;             /* the only piece that has to do with it */
    bool used, apart;       /* several pieces do: every thread's must be kept between them */
    int n_decl, decl, last; /* statements */
    int to;                 /* apart: the array that holds all threads' */
    bool stays;             /* apart: its DECL, at its place, does for all threads */
};

struct writer {
    struct lprog *l;
    const struct kernel *k;
    struct kernel list;
    struct regions r;
    int64_t threads;
    int tid;
    struct own *own; /* by accumulator */
    int n_own;
    int at;    /* statement whose value is walked */
    int *memo; /* by value: what became of it, + 1 */
    int n_memo;
    int cond[SERIAL_DEPTH],
        n_cond;        /* of the IFs that are taken apart round the present place */
    int lanes;         /* statement: the LANES loop that is, -1 = none */
    int tmp[DT_COUNT]; /* arrays for shuffles, by dtype; 0 = none, else number + 1 */
};

/* Which accumulators several pieces share, and arrays for those. */
void serial_owners(struct writer *w);
/* An array named after an accumulator. */
int serial_array(struct writer *w, int like, int64_t elems, const char *tail);
/* A value, and an UPDATE or SET, with those in place of the thread's own. */
int serial_value(struct writer *w, int val);
struct stmt serial_acc(struct writer *w, struct stmt s);

#endif
