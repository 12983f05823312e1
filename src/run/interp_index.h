/*
 * The interpreter's own index expressions: hash-consed int64 arithmetic in a form that suits
 * execution (constant operands and range tests are single nodes). Expressions of the loop IR
 * are imported; view nodes of accesses that are not composed yet are walked here by their
 * definitions, so that what an access means before pass compose does not rest on the view
 * algebra under test.
 *
 * The number of an expression is also its register, see interp_code.h.
 */
#ifndef RUN_INTERP_INDEX_H
#define RUN_INTERP_INDEX_H

#include "lower/loop.h"

enum x_op {
    X_CONST, /* c */
    X_VAR,   /* c: the variable */
    X_ADD,   /* a + b */
    X_ADDC,  /* a + c */
    X_MUL,
    X_MULC,
    X_DIV, /* floor(a / c), c > 0 */
    X_MOD,
    X_LT,  /* a < b */
    X_LTC, /* a < c */
    X_GTC, /* a > c */
    X_IN,  /* c <= a < c + b, b a constant node */
    X_AND,
    X_XOR
};

struct x {
    enum x_op op;
    int a, b;
    int64_t c;
};

struct xtab {
    struct arena *arena;
    const struct lprog *l;
    struct x *x; /* operands stand before their users */
    int n, cap;
    int *slot, n_slot; /* open addressing, number + 1 */
    int *imported;     /* by expression of the loop IR: number + 1 */
};

void xtab_init(struct xtab *t, const struct lprog *l, struct arena *a);
int x_const(struct xtab *t, int64_t c);
int x_var(struct xtab *t, int var);
int x_add(struct xtab *t, int a, int b);
int x_addc(struct xtab *t, int a, int64_t c);
int x_mul(struct xtab *t, int a, int b);
int x_mulc(struct xtab *t, int a, int64_t c);
int x_div(struct xtab *t, int a, int64_t c);
int x_mod(struct xtab *t, int a, int64_t c);
int x_lt(struct xtab *t, int a, int b);
int x_and(struct xtab *t, int a, int b);
int x_xor(struct xtab *t, int a, int b);
int x_import(struct xtab *t, int ix); /* an expression of the loop IR */

/* Where an access leads: guards are tested in order, the first that fails gives its fill;
 * then comes element `index` of the buffer, or index itself (iota), or nothing (-1). */
struct place {
    int index;
    int n_guard;
    struct guard *guard; /* conditions are numbers of ours */
};
void x_place(struct xtab *t, const struct access *ac, struct place *p);

static inline int64_t wrap_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t wrap_mul(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

static inline int64_t floor_div(int64_t a, int64_t c)
{
    if (((uint64_t)a | (uint64_t)c) >> 32 == 0)
        return (uint32_t)a / (uint32_t)c;
    return a / c - (a % c < 0);
}

static inline int64_t floor_mod(int64_t a, int64_t c)
{
    if (((uint64_t)a | (uint64_t)c) >> 32 == 0)
        return (uint32_t)a % (uint32_t)c;
    return a % c + (a % c < 0 ? c : 0);
}

#endif
