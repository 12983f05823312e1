/*
 * The tracer's own: interp_trace.c walks statements, interp_trace_value.c computes values.
 */
#ifndef RUN_INTERP_TRACE_H
#define RUN_INTERP_TRACE_H

#include "run/interp.h"
#include "run/interp_code.h"

struct val {
    union word w;
    struct tag tag;
};

struct tracer {
    const struct lprog *l;
    struct run_env *env;
    struct arena *a;
    enum algebra al;
    struct xtab x;
    struct place *place; /* by access */
    int64_t *var;        /* by variable */
    int64_t *x_val;      /* by index expression, valid where x_of = serial */
    int *x_of;
    struct val *val; /* by value, likewise */
    int *val_of;
    int serial; /* of the statement being executed */
    struct val **acc;
    struct val *lane;      /* as many as any loop has steps in lanes */
    struct tag **tags;     /* by buffer: of each element, NULL if in the arena */
    struct tag *arena_tag; /* by byte of the arena */
    int64_t steps;
    struct outcome *ended;
    int open[MAX_LOOPS], n_open; /* loop variables */
    int kernel, stmt, leaf;
    struct loops loops; /* round the statement, at[] a copy; n < 0 = not made yet */
    /* what is wanted: records of a kernel, or the last store to one element */
    int want_kernel, want_buffer;
    int64_t want_element;
    struct trace *out;
    struct loops *where; /* its memory: */
    int *where_var;
    int64_t *where_at;
    bool found;
};

/* All of these return false when the program went wrong; ended says how. */
int64_t trace_index(struct tracer *t, int e);
bool trace_value(struct tracer *t, int val, struct val *out);
struct val *trace_acc(struct tracer *t, int acc, int at, bool store); /* NULL = outside */
/* What operation op gives, rounded to dt, of words of the arguments. */
union word trace_apply(const struct tracer *t, enum ins_op op, enum dtype dt,
                       const struct val arg[3]);
void trace_write(const struct tracer *t, enum dtype dt, unsigned char *p, union word w);
bool trace_outside(struct tracer *t, const char *name, int64_t index, int64_t size, bool store);
void trace_record(struct tracer *t, int access, bool store, bool guarded, int64_t index,
                  enum dtype dt, struct val v);
unsigned char *trace_cell(const struct tracer *t, int buffer, int64_t index);
struct tag *trace_tag(const struct tracer *t, int buffer, int64_t index);

#endif
