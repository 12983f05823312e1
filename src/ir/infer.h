/*
 * What the files that infer nodes share. Private to src/ir.
 */
#ifndef IR_INFER_H
#define IR_INFER_H

#include "ir/check.h"

struct infer {
    const struct prog *p;
    struct node *n;
    int part; /* an enum part, or one plus a number */
    struct err *e;
};

struct shown infer_shown(const struct shape *s); /* for messages */

int infer_fault(struct infer *f, int part, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Ranks and sizes. Zeros are counted as ones, so that strides can't overflow either. */
int infer_check_shape(struct infer *f, const struct shape *s, int part);

const struct node *infer_operand(const struct infer *f, int k);
int infer_check_taken(struct infer *f, int k); /* the op takes the dtype of operand k */
int infer_check_same(struct infer *f, int k);  /* operand k has the dtype of operand 0 */
int infer_acc(struct infer *f, enum dtype dt); /* acc, given operands of dt */

/* The ranges of a slice of x, or of what an assign writes to: lo, hi, by; and their shape. */
int infer_ranges(struct infer *f, const struct shape *x, struct shape *taken);

int infer_view(struct infer *f);
int infer_reduce(struct infer *f);
int infer_matmul(struct infer *f);
int infer_composite(struct infer *f);

#endif
