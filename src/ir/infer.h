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

/* A shape's or a dtype list's text, for messages. */
struct shown {
    char s[MAX_RANK * 21 + 4];
};
struct shown infer_shown(const struct shape *s);

int infer_fault(struct infer *f, int part, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Ranks and sizes. Zeros are counted as ones, so that strides can't overflow either. */
int infer_check_shape(struct infer *f, const struct shape *s, int part);

int infer_view(struct infer *f);

#endif
