/*
 * A set of exact data while it is drawn: first integers for every input, then what softmax
 * and attention need in theirs (ORACLE.md 6: E4, E5).
 */
#ifndef JUDGE_EXACT_PICK_H
#define JUDGE_EXACT_PICK_H

#include "judge/exact_eval.h"

struct draft {
    const struct prog *prog;
    struct arena *arena;
    int set;
    uint64_t key, base; /* of this set; of all sets */
    const bool *live;
    double **v;          /* by node: the values of an input */
    struct exacts paths; /* scratch: addresses carried through views */
};

static inline uint64_t exact_mix(uint64_t x)
{
    x ^= x >> 31;
    x *= 0x7fb5d329728ea185u;
    x ^= x >> 27;
    x *= 0x81dadef4bc2dd44du;
    return x ^ x >> 33;
}

static inline uint64_t exact_hash(uint64_t key, int64_t at)
{
    return exact_mix(key + 0x9e3779b97f4a7c15u * ((uint64_t)at + 1));
}

/* A node's elements as elements of what it is a view of, perhaps scaled. */
struct trace {
    int node;          /* where it ends: no view, no copy, no multiple of something */
    const int64_t *at; /* by element of the start: the element of the end, or -1 */
    double scale;      /* start = scale * end */
};
struct trace exact_trace(struct draft *d, int start);

/* A softmax, spelled or not, and what its logits are made of. */
enum logits { LOGITS_VALUES, LOGITS_MATMUL, LOGITS_SUM, LOGITS_ATTENTION };

struct mask {
    int node; /* an input, -1 = none */
    const int64_t *at;
    bool added; /* a number that is added; else bool */
};

struct scores {
    enum logits form;
    int node; /* what ends the way up from the logits; of form VALUES an input */
    int64_t n_row, n_key, n_c;
    const int64_t *row, *key; /* logit (r,j) is element row[r] + key[j]; */
    const int64_t *pos;       /* by logit: the element of node that it comes from, or -1 */
    int64_t last;             /* rows are counted modulo this along the queries */
    double scale;             /* from node to logit */
    double cut;
    bool hidden;   /* some mask is there that we don't choose; taken for a causal one */
    int64_t shift; /* query i sees key i + shift */
    struct mask mask;
    struct trace q, k; /* operands; which one is the key's is found out */
    bool turned;       /* the first operand is the key's */
    enum dtype core;
};

/* Finds the softmax that node i ends (exp, softmax, attention). */
bool exact_site(struct draft *d, int i, struct scores *s);
/* The elements of q's and k's start that meet in term c of logit (r,j); -1 = none */
void exact_term(const struct draft *d, const struct scores *s, int64_t r, int64_t j, int64_t c,
                int64_t *q, int64_t *k);

/* Overwrites the values of inputs that reach a softmax. How many were served? */
int exact_pick(struct draft *d);

#endif
