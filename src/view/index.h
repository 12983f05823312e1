/*
 * Index expressions: int64 arithmetic over loop variables, hash-consed in one table, so that
 * equal expressions have equal numbers. Division and modulo are floored and only by positive
 * constants; conditions are 0 or 1. Building folds constants and the units 0 and 1 only:
 * everything cleverer is the work of pass simplify.
 */
#ifndef VIEW_INDEX_H
#define VIEW_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

enum ix_op { IX_CONST, IX_VAR, IX_ADD, IX_MUL, IX_DIV, IX_MOD, IX_LT, IX_AND, IX_XOR };

struct ix {
    enum ix_op op;
    int a, b;  /* operands: expression numbers; b unused by CONST, VAR */
    int64_t c; /* CONST: the value; VAR: the variable number */
};

struct ixs {
    struct arena *arena;
    struct ix *x;
    int n, cap;
    int *slot; /* open-addressing table of expression numbers + 1 */
    int n_slot;
};

struct ix_range {
    int64_t lo, hi; /* both included; lo > hi = no value (an empty loop) */
};

void ixs_init(struct ixs *s, struct arena *a);
int ix_const(struct ixs *s, int64_t c);
int ix_var(struct ixs *s, int var);
int ix_add(struct ixs *s, int a, int b);
int ix_mul(struct ixs *s, int a, int b);
int ix_scale(struct ixs *s, int a, int64_t c); /* a * c */
int ix_div(struct ixs *s, int a, int64_t c);   /* floor(a / c), c > 0 */
int ix_mod(struct ixs *s, int a, int64_t c);   /* a - c * floor(a / c), c > 0 */
int ix_lt(struct ixs *s, int a, int b);        /* a < b */
int ix_and(struct ixs *s, int a, int b);
int ix_xor(struct ixs *s, int a, int b); /* bit by bit; a and b are >= 0 */

bool ix_is_const(const struct ixs *s, int e, int64_t *c);
bool ix_uses(const struct ixs *s, int e, int var);
/* replaces variable v by expression to[v] (v < n_to and to[v] >= 0) */
int ix_subst(struct ixs *s, int e, const int *to, int n_to);
/* replaces every occurrence of expression `from` in e by `to` */
int ix_replace(struct ixs *s, int e, int from, int to);
/* operations in the tree of e, counted up to `limit` */
int ix_size(const struct ixs *s, int e, int limit);
int64_t ix_eval(const struct ixs *s, int e, const int64_t *var);
/* interval arithmetic; variable v runs over 0 .. extent[v]-1 */
struct ix_range ix_range(const struct ixs *s, int e, const int64_t *extent);
/* C-like text "64*i0 + (i1*8 + r0)/3"; name(ctx, var) names a variable.
 * Floored / and % of a possibly negative operand print as in the text, with / and %. */
void ix_print(const struct ixs *s, int e, const char *(*name)(void *ctx, int var), void *ctx,
              struct str *out);

#endif
