/*
 * The judge. Evaluates the program node by node from the definition of each op, in double
 * (f64 nodes: in __float128) with a proven error bound per element (ieee) or in ring words
 * (ring), materialising every view. Shares no arithmetic, view algebra or loop IR with the
 * compiler under test: this room includes base and ir only.
 *
 * What it takes for right, beyond the definition of each op:
 *   halves      computed in f32, rounded once to the grid at every node
 *   acc=        terms widened first, all sums (and mean's division) in acc, rounded once
 *   composites  computed in node.acc throughout, rounded once; any order of summation;
 *               rescaled as often as the step `algo` of the node has blocks (without one:
 *               not at all)
 *   softmax     exp(x - max) / sum of these: a logit of -inf gives 0; NaN, +inf, or nothing
 *               but -inf make the row NaN
 *   logsoftmax  x - max - log(sum of exp(x - max)): of -inf it is -inf; NaN where softmax is
 *   cumsum      each prefix a sum of its own
 *   matmul      alpha = 0 does not look at a and b, beta = 0 not at c
 *   attention   s = scale * q.k + mask; w = exp(s - max over the visible) and 0 where hidden,
 *               selected after exp; o = (sum w v) / sum w
 *   layernorm   d = x - mean, two passes: d / sqrt(mean of d d + eps) * g + b
 *   rmsnorm     x / sqrt(mean of x x + eps) * g
 *   gather      0 (false) where the index is outside
 * In ring, with all intermediate values 32-bit words, truncated to 16 bits only at the
 * result of a half node:
 *   mean m = sum * pinv(n), n the integer word; 1 / sqrt(v) = pinv(sqrt(v))
 *   softmax     exp(x - max) * pinv(sum);  attention  (sum w v) * pinv(sum w), max over
 *               the visible (bottom if none), scale the word ring_literal(scale)
 *   logsoftmax  x - max - log(sum of exp(x - max))
 *   layernorm   d * pinv(sqrt(sum(d d) * pinv(n) + eps)) * g + b
 *   rmsnorm     x * pinv(sqrt(sum(x x) * pinv(n) + eps)) * g
 *   argmax      the signed order; the first wins
 */
#ifndef JUDGE_JUDGE_H
#define JUDGE_JUDGE_H

#include "ir/outcome.h"
#include "ir/trial.h"
#include "ir/verdict.h"

/* ieee: |got - v| <= e is right. e < 0 marks an element that the bound can't judge: it is
 * downstream of a jump (ORACLE.md 4, HOUSE.md 11 "Jumps") or may be non-finite. */
struct val {
    double v, e;
};
struct wide { /* the same of an f64 */
    __float128 v;
    double e;
};

struct want_node { /* all elements of one node, row-major; empty if no output needs it */
    int64_t n;
    struct val *ieee;      /* algebra ieee, f32 f16 bf16 nodes */
    struct wide *wide;     /* algebra ieee, f64 nodes */
    uint32_t *word;        /* ring words; i32 and bool nodes in both algebras (as uint32_t) */
    unsigned char *unsure; /* i32 and bool nodes in ieee: element is downstream of a jump;
                              NULL = none */
};

struct want {
    const struct trial *trial;
    enum algebra algebra;
    struct want_node *node; /* one per program node */
    int64_t opened;         /* elements of nodes that a contract leaves open; 0 without one */
};

struct judge_rule;

struct judge_opts {
    bool
        tolerance; /* use |got - v| <= atol + rtol * |v| instead of the bound (--rtol/--atol) */
    double rtol, atol;
    const struct judge_rule *peer; /* somebody else's rule instead (rules.h); NULL = none */
    const void *const *twin;       /* outputs of its twin, if it needs one */
};

/* Lives in a; costs 16 bytes an element of every node (ieee; f64: 32). */
struct want *judge_want(const struct trial *t, enum algebra al, struct arena *a);

/*
 * In ieee, for code whose compiler may contract a*b+c to one operation: a value that a fused
 * kernel computes twice may then be two, each within the bound of the value, so that the
 * errors of both don't cancel. Other code computes the same bits again.
 */
struct want *judge_want_apart(const struct trial *t, struct arena *a);

/*
 * In ieee, for a compiler that is not ours: the schedule means nothing to it, and it keeps to
 * its own contract (ir/contract.h).
 */
struct want *judge_want_by(const struct trial *t, unsigned contract, struct arena *a);

/* Element k of a float node in ieee, rounded to double for those who print it. */
struct val judge_value(const struct want_node *w, int64_t k);

/* Is element k of a node right, or not judged, as it is stored at got? The rule by which
 * outputs are judged, for those who look at the nodes in between. */
bool judge_right(const struct want *w, int node, int64_t k, const void *got);

/* Compares the outputs of one run (status OUT_RAN), storage gaps of laid-out outputs
 * included (they must still hold POISON_BYTE), inputs unchanged and margins whole.
 * Fills everything but v->backend. Also turns the other statuses into their kinds. */
void judge_compare(const struct want *w, const struct outcome *o, const struct judge_opts *jo,
                   struct verdict *v);

/* Do two runs of the same backend agree bit for bit? a and b are copies of output storage,
 * bytes each. */
bool judge_same(const void *a, const void *b, size_t bytes);
/* The same for elements of dt in an algebra: in ieee a NaN is a NaN, as which of two operands
 * gives it its sign and payload may go by where memory lies. The first byte of the first
 * element that differs; -1 = none. */
int64_t judge_differs(enum dtype dt, enum algebra al, const void *a, const void *b,
                      size_t bytes);

/* UNTRUSTED: would a null kernel pass in every one of the given wants (ring and ieee)?
 * Null kernels: zeros, ones, untouched (poison) memory, and each input's bytes copied.
 * *which names the null kernel that would pass. */
bool judge_untrusted(const struct want *const *w, int n_want, const char **which);

#endif
