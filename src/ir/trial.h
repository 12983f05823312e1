/*
 * A trial: program, schedule, data recipe. One text form (ir/text.h), one struct.
 */
#ifndef IR_TRIAL_H
#define IR_TRIAL_H

#include "ir/prog.h"

enum step_kind {
#define STEP(id, name, form, pass, help) STEP_##id,
#include "ir/steps.def"
#undef STEP
    STEP_COUNT
};

struct step_info {
    const char *name, *form, *pass, *help;
};

/* NODE.i0 (output axis 0), NODE.r1 (second reduction axis), after splits NODE.i0.1 ...
 * matmul aliases: b (or b0, b1 ..), m, n, k. The text keeps the spelling that was used. */
enum { MAX_SPLITS = 6, MAX_STEP_AXES = 24, MAX_STEPS = 4096 };

/* A part of a composite is named by two or more lower-case letters and perhaps digits. */
enum { MAX_PART = 8 };

struct axis {
    int node;
    const char *part; /* NULL = the node itself; which parts there are only lowering knows */
    char role;        /* 'i' 'r' or a matmul alias 'b' 'm' 'n' 'k' */
    int num;          /* -1 = none was written (m n k, and b alone) */
    int depth;        /* number of .0/.1 that follow */
    unsigned char path[MAX_SPLITS];
};

/* A knob as a text names it, the point and the adapter's name in it; and its value. */
enum { MAX_KNOB = 63, MAX_KNOB_VALUE = 23 };

enum plan_policy { PLAN_OFF, PLAN_LINEAR, PLAN_BEST };

/* How a composite is computed: op by op; in one pass over blocks of keys that carries the
 * running maximum, sum and result; every block alone, then all combined; flash is online as
 * one looping kernel (and with splits > 1 one more that combines). */
enum algo { ALGO_DECOMPOSED, ALGO_ONLINE, ALGO_SPLIT, ALGO_FLASH, ALGO_COUNT };

/* How the slices of split-K come together: through a workspace that a second kernel adds
 * up; one after the other under a semaphore; by atomic addition. NONE: not a slice. */
enum splitk_mode { SPLITK_NONE, SPLITK_WORKSPACE, SPLITK_SERIAL, SPLITK_ATOMIC };

/* Where the results of a tiled kernel pass through: shared memory of their own, or over the
 * stages, or a temporary in global memory. */
enum exchange { EXCHANGE_OWN, EXCHANGE_ALIAS, EXCHANGE_GLOBAL, EXCHANGE_COUNT };

struct step {
    enum step_kind kind;
    int node[2];         /* fuse: P, C; algo, reorder, splitk: [0] */
    const char *part[2]; /* of node[], NULL = the node itself */
    struct axis axis[MAX_STEP_AXES];
    int n_axis;
    int64_t n;               /* split, splitk, vectorize; algo with blocks: the block */
    enum algo algo;          /* algo */
    enum plan_policy policy; /* plan */
    bool on;                 /* inplace */
    enum exchange exchange;  /* epilogue */
    int64_t splits;          /* algo flash: slices of the keys, 1 = none */
    enum splitk_mode mode;   /* splitk: never NONE */
    int n_tile;              /* tile: 2 or 3 */
    int64_t tile[3];         /* tile: M N, and K if n_tile is 3 */
    int64_t threads;         /* tile: of a block */
    bool mma;                /* tile */
    bool to_thread;          /* bind: thread, else block */
    char operand;            /* stage, swizzle: 'a' .. = number of the load in the kernel */
    int64_t depth;           /* stage: 1 = one buffer, 2..5 = a ring of so many */
    bool async;              /* stage */
    int64_t vec;             /* stage: bytes of one access, 0 = one element */
    const char *knob;        /* set: "tinygrad.NOOPT" */
    const char *value;       /* set: a word or a number, as it is written */
    int line;
};

enum recipe {
    RECIPE_NORMAL,
    RECIPE_UNIFORM,
    RECIPE_POSITIVE,
    RECIPE_INTS,
    RECIPE_SPECIAL,
    RECIPE_MAGNITUDE,
    RECIPE_EXACT, /* not drawn: every input has a values line, or there is an error */
    RECIPE_COUNT
};

struct values { /* overrides the recipe for one input: row-major over its shape */
    int node;
    int64_t n;
    double *v;
    int line;
};

struct trial {
    struct prog prog;
    struct step *step;
    int n_step, cap_step;
    uint64_t seed; /* of the data */
    enum recipe recipe;
    struct values *values;
    int n_values, cap_values;
};

const struct step_info *step_info(enum step_kind kind);
/* Is that NAME.KNOB; a value? Letters, digits and _, and not too many. */
bool knob_spelt(const char *s, size_t n);
bool knob_value_spelt(const char *s, size_t n);
bool step_parse(const char *s, size_t n, enum step_kind *kind);
const char *recipe_name(enum recipe r);
const char *recipe_help(enum recipe r);
bool recipe_parse(const char *s, size_t n, enum recipe *r);
const char *algo_name(enum algo a);               /* "decomposed" "online" "split" "flash" */
const char *splitk_mode_name(enum splitk_mode m); /* "workspace" "serial" "atomic" */
const char *exchange_name(enum exchange x);       /* "own" "alias" "global" */
bool algo_takes(enum algo a, enum op op);         /* may a composite op be computed so */

/* matmul aliases resolved: role is 'i' or 'r', num >= 0. False if the axis does not exist
 * (before any split): wrong number, or an alias on a node that is no matmul. Parts and the
 * reductions of a composite come into being by lowering: false. */
bool axis_resolve(const struct prog *p, const struct axis *ax, struct axis *out);
bool part_equal(const char *a, const char *b);               /* NULL is none */
bool axis_equal(const struct axis *a, const struct axis *b); /* of resolved ones */
/* extent before any split; ax is resolved */
int64_t axis_extent(const struct prog *p, const struct axis *ax);
/* "s.r0.1" or "z.sc.r0", the spelling kept; writes at most n bytes */
void axis_print(const struct prog *p, const struct axis *ax, char *buf, size_t n);

/* Of the kinds that make blocks, threads or shared memory. */
bool step_is_gpu(const struct step *s);

struct step *trial_add_step(struct trial *t, struct arena *a); /* zeroed, nodes -1 */
void trial_drop_step(struct trial *t, int step);
struct trial *trial_clone(const struct trial *t, struct arena *a);

/* prog_check, and all of a schedule and values that needs no lowering: nodes and axes exist,
 * steps stand in pass order, plan and inplace occur at most once and algo once a node, counts
 * of values fit. */
int trial_check(const struct trial *t, struct err *e);

/* Drops the nodes not in keep (see prog_compact) and every step and values line that
 * names one of them. */
void trial_compact(struct trial *t, const bool *keep);

/* The content key of a trial: hash64 of its printed text. */
uint64_t trial_key(const struct trial *t);

#endif
