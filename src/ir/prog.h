/*
 * A tensor program: a flat array of nodes, each referring to earlier ones only, and a list
 * of outputs. Inputs, consts and iotas are nodes too. Nothing here knows strides of views
 * or loops: a view node is its definition. Clone = copy the arrays; delete = mark and
 * compact (prog_compact).
 */
#ifndef IR_PROG_H
#define IR_PROG_H

#include "base/arena.h"
#include "base/err.h"
#include "ir/dtype.h"

enum { MAX_RANK = 8, MAX_ARGS = 4, MAX_NODES = 4096, MAX_NAME = 40 };

/* Sizes refused at the door, before any memory is asked for. */
#define MAX_ELEMENTS ((int64_t)1 << 24) /* of one tensor, storage included */
#define MAX_WORK     ((int64_t)1 << 30) /* element operations of one trial */

enum op {
#define OP(id, name, class, args, in, out, help) OP_##id,
#include "ir/ops.def"
#undef OP
    OP_COUNT
};

enum op_class {
    OPC_SOURCE,
    OPC_VIEW,
    OPC_UNARY,
    OPC_BINARY,
    OPC_COMPARE,
    OPC_WHERE,
    OPC_CAST,
    OPC_COPY,
    OPC_REDUCE,
    OPC_MATMUL,
    OPC_COMPOSITE /* the meaning is fixed, the algorithm is the schedule's choice */
};

struct op_info {
    const char *name;
    enum op_class class;
    int n_arg;       /* attention: one more with a mask operand */
    const char *in;  /* allowed operand dtypes: letters F I B D H T */
    const char *out; /* "=" as the operand, "B" bool, "I" i32, "?" named on the line */
    const char *help;
};

/* Which keys an attention's queries see: all; key j <= query i, counted from the first
 * (causal) or from the last of both (causal_br: j <= i + t - s); as operand 3 says, a bool
 * (true = visible) or a number that is added to the scores and hides nothing. */
enum mask_kind { MASK_NONE, MASK_CAUSAL, MASK_CAUSAL_BR, MASK_BOOL, MASK_ADD, MASK_COUNT };
/* What a query gives that sees no key. */
enum empty_row { EMPTY_NAN, EMPTY_ZERO, EMPTY_COUNT };

struct shape {
    int rank; /* 0..MAX_RANK */
    int64_t dim[MAX_RANK];
};

/* Where element (i0,i1,..) of an input or output lies: offset + sum i*stride, in elements.
 * Not given = dense row-major. Strides are >= 0; outputs don't overlap themselves. */
struct layout {
    bool given;
    int64_t offset, stride[MAX_RANK];
};

/* An operand: an earlier node, or (node < 0) a literal that takes the dtype and shape of
 * the other operands. A literal of a float op is already rounded to its dtype. */
struct arg {
    int node;
    double lit;
};

struct node {
    enum op op;
    enum dtype dt;   /* of the result */
    struct shape sh; /* of the result */
    const char *name;
    int line; /* in the text it came from, 0 = none */
    int n_arg;
    struct arg arg[MAX_ARGS];

    /* Reductions, matmul, composites: the dtype they add up in (max, min: compare in; a
     * composite computes in it throughout). node_infer fills it in: f32 for f16 and bf16,
     * else the operand's dtype, unless acc_given (see op_takes_acc). It makes
     * acc_given false where the default was given. Elsewhere acc is dt. */
    bool acc_given;
    enum dtype acc;

    /* Matmul: alpha a b, and + beta c if there is a third operand. Not given: 1. node_infer
     * fills them in, and makes scaled false where both are what they are without. */
    bool scaled;
    double alpha, beta; /* rounded to acc */

    int axis;             /* iota softmax logsoftmax cumsum argmax gather concat */
    double value;         /* const: the value; pad: the fill */
    double eps;           /* layernorm rmsnorm; rounded to acc */
    double scale;         /* attention; rounded to acc */
    enum mask_kind mask;  /* attention; bool and add have operand 3 */
    enum empty_row empty; /* attention */
    uint32_t axes;        /* reductions: bit a = axis a of the operand is reduced */
    bool keep;            /* reductions: reduced axes stay with size 1 */
    int perm[MAX_RANK];   /* permute: result axis i is operand axis perm[i] */
    /* slice, and assign: what is written to; start, stop (exclusive; -1 = past element 0) and
     * step, not 0. pad: lo before, hi after. roll: lo, shift of either sign. repeat: by, times
     */
    int64_t lo[MAX_RANK], hi[MAX_RANK], by[MAX_RANK];
    struct layout layout; /* input */
};

struct output {
    int node;
    struct layout layout;
    int line;
};

struct prog {
    struct node *node;
    int n, cap;
    struct output *out;
    int n_out, cap_out;
};

const struct op_info *op_info(enum op op);
bool op_parse(const char *s, size_t n, enum op *op);
bool op_takes(enum op op, enum dtype dt); /* may dt be the (first value) operand's dtype */
bool op_is_view(enum op op);
bool op_is_source(enum op op); /* input, const, iota */
bool op_is_reduce(enum op op); /* sum prod max min mean and matmul */
bool op_is_composite(enum op op);
bool op_takes_acc(enum op op); /* may its line say acc=: sum prod mean matmul cumsum */
/* what a value of dt is computed in unless acc= says other: f32 for f16 and bf16, else dt */
enum dtype dtype_acc(enum dtype dt);
const char *mask_name(enum mask_kind m);  /* "none" "causal" "causal_br" "bool" "add" */
const char *empty_name(enum empty_row e); /* "nan" "zero" */

/* product of the dims; never overflows on a checked program */
int64_t shape_count(const struct shape *s);
bool shape_equal(const struct shape *a, const struct shape *b);
void shape_print(const struct shape *s, char *buf, size_t n); /* "[2,3]" */

/* How many elements start, stop and step take. */
int64_t range_count(int64_t lo, int64_t hi, int64_t by);
/* The shape of what the ranges of a slice or an assign take. */
struct shape ranges_shape(const struct node *n);

/* row-major strides of a shape */
void shape_strides(const struct shape *s, int64_t stride[MAX_RANK]);
/* the layout with its default filled in (given = true in the result) */
struct layout layout_of(const struct layout *l, const struct shape *s);
/* elements of storage that the layout spans: 1 + largest address; 0 for an empty shape
 * (offset counts only if there is an element) */
int64_t layout_storage(const struct layout *l, const struct shape *s);
/* where element i, in row-major order, of shape s lies; l is given */
int64_t layout_at(const struct layout *l, const struct shape *s, int64_t i);

/*
 * Fills in sh and dt of node i from its operands and attributes and checks everything that
 * the grammar can't: ranks, dtypes, shapes, ranges, overflow (MAX_ELEMENTS). Operands are
 * already inferred. Errors carry node->line; col 0 (text.c adds the column).
 * For input, const, iota, cast: dt is taken as given; for input, const, iota, reshape,
 * expand: sh is taken as given and checked.
 */
int node_infer(const struct prog *p, struct node *n, struct err *e);

/* All nodes in order, output layouts, duplicate names, forward references, total work.
 * A name may be NAME.PART here (a part of an expanded composite), though no text can. */
int prog_check(const struct prog *p, struct err *e);

int prog_find(const struct prog *p, const char *name, size_t n); /* node index or -1 */
struct node *prog_add(struct prog *p, struct arena *a);          /* zeroed, args -1 */
struct output *prog_add_output(struct prog *p, struct arena *a);
void prog_clone(struct prog *dst, const struct prog *src, struct arena *a);

/* Removes nodes whose keep[i] is false; keep must be closed under operands and outputs.
 * map[i] = new index or -1 (map has p->n entries). */
void prog_compact(struct prog *p, const bool *keep, int *map);
/* keep[i] = an output depends on node i */
void prog_live(const struct prog *p, bool *keep);

/* "nodes" as the tool counts them: lines other than input, const and output (iota counts) */
int prog_count_nodes(const struct prog *p);
int64_t prog_max_size(const struct prog *p); /* largest dim of any tensor */
int64_t prog_work(const struct prog *p);     /* element operations; saturates */
int64_t prog_mul_adds(const struct prog *p); /* terms of all reductions, matmuls, composites */
int64_t node_terms(const struct prog *p, const struct node *n); /* those of one */
/* the dtype of the values that a node's op takes, and of its literals: its first tensor's */
enum dtype node_takes(const struct prog *p, const struct node *n);
/* elements that a composite computes on its way, roughly */
int64_t composite_inner(const struct prog *p, const struct node *n);

#endif
