/* Inside of the reference's text: what emit_ref.c and emit_ref_reduce.c share. */
#ifndef EMIT_REFGEN_H
#define EMIT_REFGEN_H

#include "base/str.h"
#include "ir/trial.h"

struct refgen {
    const struct prog *p;
    enum algebra al;
    struct str *s;
    int depth; /* of loops that are open */
    const struct trial *t;
    enum dtype as; /* ieee: the dtype that r_as speaks of */
};

/* A coordinate of an operand: by * VAR + add, where VAR is role and number ("i0", "r1"), and
 * of that the remainder by mod, if there is one (then it is not negative). */
struct coord {
    char role;
    int num;
    int64_t by, add, mod;
};

static inline struct coord coord_var(char role, int num)
{
    return (struct coord){ role, num, 1, 0, 0 };
}

/* Element at[] of node `node`, stored densely: "w_q[8*i0 + r0]". */
void ref_put_node(struct refgen *g, int node, const struct coord *at);
void ref_put_literal(struct refgen *g, enum dtype dt, double v);
void ref_line(struct refgen *g); /* ends the line, indents the next one */
void ref_open_loop(struct refgen *g, char role, int num, int64_t extent);
/* One loop an axis of the result; its element is then at i0, i1, .. */
void ref_open_result(struct refgen *g, const struct node *n, struct coord *at);
void ref_assign(struct refgen *g, int node, const struct coord *at); /* "w_y[..] = " */
/* The function r_.. of an op of floats, or of i32 and bool; NULL = none. */
const char *ref_function(enum op op, enum dtype dt);
/* From here on kernels compute in dt: a line of text if that is news, with a new line before
 * the next one. */
void ref_compute_in(struct refgen *g, enum dtype dt);
/* "r_to_f16(": what a float becomes when it is stored as dt; "" = as it is */
const char *ref_to(const struct refgen *g, enum dtype from, enum dtype dt);

void ref_reduction(struct refgen *g, int node);
void ref_matmul(struct refgen *g, int node);
void ref_composite(struct refgen *g, int node); /* emit_ref_composite.c */

#endif
