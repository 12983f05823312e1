/*
 * Building the primitive nodes that a composite is rewritten to. Part nodes are called
 * "z.mx"; the node added with part "" takes the composite's own name and stands for it.
 * A size that does not fit (MAX_ELEMENTS) is remembered in x->failed; the node numbers
 * given after that mean nothing, and the pass refuses the trial.
 */
#ifndef LOWER_EXPAND_H
#define LOWER_EXPAND_H

#include "lower/nest.h"

struct expand {
    struct lprog *l;
    const struct trial *from; /* as written */
    struct trial *to;         /* primitive nodes only */
    int *map;                 /* node of from -> node of to */

    const struct node *n; /* the composite at work */
    enum algo algo;       /* asked for by its algo step */
    int64_t block;
    enum dtype dt; /* that it computes in */
    int block_at;  /* >= 0: its number stands behind the names of parts */
    bool failed;
    struct err e;
};

/* The operand's node in x->to, cast to the dtype that the composite computes in. */
int expand_operand(struct expand *x, int arg, const char *part);
const struct shape *expand_shape(const struct expand *x, int node);

int expand_unary(struct expand *x, const char *part, enum op op, int a);
int expand_binary(struct expand *x, const char *part, enum op op, int a, int b);
int expand_literal(struct expand *x, const char *part, enum op op, int a, double lit);
int expand_where(struct expand *x, const char *part, int cond, int a, int b);
/* where cond lit b */
int expand_unless(struct expand *x, const char *part, int cond, double lit, int b);
/* where cond a lit */
int expand_select(struct expand *x, const char *part, int cond, int a, double lit);
int expand_cast(struct expand *x, const char *part, int a, enum dtype dt);
int expand_reduce(struct expand *x, const char *part, enum op op, int a, uint32_t axes,
                  bool keep);
/* A sum in the accumulator of the composite; its dtype is a's. */
int expand_sum(struct expand *x, const char *part, int a, uint32_t axes);
int expand_matmul(struct expand *x, const char *part, int a, int b);
int expand_iota(struct expand *x, const char *part, const struct shape *sh, int axis);
int expand_to(struct expand *x, const char *part, int a, const struct shape *sh);
int expand_reshape(struct expand *x, const char *part, int a, const struct shape *sh);
int expand_permute(struct expand *x, const char *part, int a, const int *perm);
int expand_slice(struct expand *x, const char *part, int a, int axis, int64_t start, int64_t n);
int expand_pad(struct expand *x, const char *part, int a, int axis, int64_t before,
               int64_t after);
/* a slice with these ranges for all axes, a pad with these amounts, 0 the fill */
int expand_ranges(struct expand *x, const char *part, int a, const int64_t *lo,
                  const int64_t *hi, const int64_t *by);
int expand_pads(struct expand *x, const char *part, int a, const int64_t *before,
                const int64_t *after);
/* the const 1 of that dtype */
int expand_one(struct expand *x, const char *part, enum dtype dt);
/* op a b (b < 0: op a) as the last node, cast to the composite's own dtype if need be */
void expand_final(struct expand *x, enum op op, int a, int b);

void expand_softmax(struct expand *x);
void expand_logsoftmax(struct expand *x);
void expand_cumsum(struct expand *x);
void expand_attention(struct expand *x);
void expand_layernorm(struct expand *x);
void expand_rmsnorm(struct expand *x);
void expand_argmax(struct expand *x);
void expand_gather(struct expand *x);
void expand_concat(struct expand *x);
void expand_assign(struct expand *x);

/* The name of the last node before a cast to the composite's own dtype: "" if there is none. */
const char *expand_last(const struct expand *x);
/* The cast, where one is due. */
void expand_narrow(struct expand *x, int a);

/* How many blocks the algorithm works in; 1 for decomposed. */
int expand_blocks(struct expand *x, int64_t keys);

/*
 * The running maximum, sum and result of a softmax over blocks of keys. The shift of a block
 * is its maximum, or the lowest finite number where nothing is visible, so that no
 * -inf - -inf is formed; the last step rescales to the plain maximum, which every algorithm
 * must reach for the ring to agree.
 */
struct running {
    int max, shift; /* [.., 1]; max is the plain one */
    int sum, out;   /* sum [.., 1]; out = -1 for softmax itself */
};
/* One block behind `before` (NULL = alone). visible and values may be -1. */
struct running expand_block(struct expand *x, const struct running *before, int scores,
                            int visible, int values);
/* Two sets of blocks that were computed apart. */
struct running expand_merge(struct expand *x, const struct running *a, const struct running *b);
/* sum and out rescaled to max */
struct running expand_settle(struct expand *x, const struct running *r);

#endif
