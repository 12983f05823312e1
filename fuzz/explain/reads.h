/*
 * Which elements a kernel reads for each element that it stores, seen through kernels that
 * the other side of a rewrite does not have any more (or not yet): what makes the loops just
 * before and just after a rewrite comparable.
 */
#ifndef FUZZ_EXPLAIN_READS_H
#define FUZZ_EXPLAIN_READS_H

#include "run/interp.h"

struct leaf {
    const struct buffer *buf; /* NULL = iota: index is the number itself */
    int64_t index;
    bool guarded;                 /* a fill was read, nothing was addressed */
    int kernel;                   /* that did it */
    const struct trace_rec *rec;  /* the load itself */
    const struct trace_rec *root; /* the load of the kernel asked about that led here */
};

struct leaves {
    struct leaf *v;
    int n, cap;
};

struct stmt_pair;

struct ktrace { /* one kernel, traced */
    bool done;
    struct trace tr;
    int buffer;        /* that it stores to, -1 = none */
    bool *loads;       /* by statement: does it load */
    int *first, *next; /* records that store to an element: by element, by record; -1 ends */
    int *from;         /* by record: loads of what the kernel itself stored, which; -1 */
    bool **behind;     /* by store statement, NULL = not asked yet: by statement */
    struct stmt_pair *pair;
    int n_pair, cap_pair;
};

struct side { /* one lowering of the trial */
    const struct lprog *l;
    struct arena *a;
    struct ktrace *k;         /* by kernel */
    const struct side *other; /* buffers that it loads (or has) are not looked through */
    bool *loads;              /* by buffer: side_loads was told so */
    bool truncated;
};

void side_init(struct side *s, const struct lprog *l, struct arena *a);
/* Traced on first use. */
struct ktrace *side_kernel(struct side *s, int kernel);
/* Notes every buffer that the kernel loads from as one not to be looked through. */
void side_note_loads(struct side *s, int kernel);
/* All loads behind the stores to one element of the kernel's buffer, in order. */
void side_leaves(struct side *s, int kernel, int64_t element, struct leaves *out);

/* Notes which store each load of something that the kernel itself has stored got its value
 * from: k->from. */
void flow_stores(struct side *s, struct ktrace *k);
/* The statements whose loads a store gets its value from: itself, and those that fill the
 * accumulators that it reads. */
const bool *flow_behind(struct side *s, int kernel, int store);

/* The buffer of the same name and kind, -1 = none. */
int buffer_find(const struct lprog *l, const struct buffer *b);
/* The live kernel that stores to a buffer, -1 = none; the last one if there are several. */
int buffer_writer(const struct lprog *l, int buffer);
/* The first live kernel that loads from it, -1 = none. */
int buffer_reader(const struct lprog *l, int buffer);
/* An access by which a statement's value loads from it, -1 = it does not. */
int stmt_load_of(const struct lprog *l, const struct stmt *st, int buffer);

#endif
