/* Loops of the interpreter's tests that are built by hand, statement by statement. */
#ifndef TESTS_INTERP_HAND_H
#define TESTS_INTERP_HAND_H

#include "interp_fix.h"

static inline int direct(struct fix *f, int buffer, int index)
{
    return lprog_place(&f->l, buffer, index);
}

static inline int load(struct fix *f, int buffer, int index)
{
    return lprog_load(&f->l, direct(f, buffer, index));
}

static inline void push_loop_of(struct fix *f, struct kernel *k, int var, enum loop_kind kind)
{
    kernel_push(&f->l, k, (struct stmt){ .kind = ST_LOOP, .loop = kind, .var = var });
}

static inline void push_store_of(struct fix *f, struct kernel *k, int buffer, int index,
                                 int val)
{
    kernel_push(
        &f->l, k,
        (struct stmt){ .kind = ST_STORE, .access = direct(f, buffer, index), .val = val });
}

static inline void push_end_of(struct fix *f, struct kernel *k)
{
    kernel_push(&f->l, k, (struct stmt){ .kind = ST_END });
}

#endif
