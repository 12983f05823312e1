/*
 * Loop IR: what the passes rewrite, the interpreter runs after every rewrite, and the
 * emitters print. Flat arrays that live in one arena; elements refer to each other by number.
 *
 *   lprog    buffers, kernels, loop variables, accumulators, accesses, values, index exprs
 *   kernel   a flat list of statements; LOOP and IF are closed by END
 *   access   a place that is read or written: a buffer (or iota, const, body) seen through
 *            a stack of view nodes (until pass compose) or by an index and guards (after it)
 *   value    an arithmetic expression over loads and accumulators. Values are total: every
 *            load carries its own guards, so all operands may be computed eagerly.
 *
 * A reduction is DECL acc = identity / UPDATE acc op= value / read acc; loops between DECL
 * and UPDATE may be reordered.
 *
 * A kernel for a GPU is bound: its statements are BLOCK loops, in them THREAD loops (perfect
 * nests, none but these), and in those one body that every thread runs. Every block loop
 * and every thread loop is one digit of a linear number, the first the slowest: what blockIdx
 * and threadIdx are, the printer says. Accumulators are each thread's own; BUF_SHARED buffers
 * are each block's own. The meaning of a bound kernel is statement by statement, each for all
 * threads of a block before the next, blocks in order: loops have constant extents, so all
 * threads agree on every LOOP; an IF holds for some of them. Then SYNC, COMMIT, WAIT, ACQUIRE
 * and RELEASE mean nothing, ASYNC is a STORE and ATOMIC is load, combine, store. lower_serial
 * (serial.h) writes exactly that meaning out as ordinary loops, for the interpreter and for
 * CPUs; on a GPU it holds only if synchronisation makes it hold, which is what we test.
 */
#ifndef LOWER_LOOP_H
#define LOWER_LOOP_H

#include "ir/trial.h"
#include "lower/fault.h"
#include "view/view.h"

/* Room for the name of a loop: a node, a part of it, an axis and its splits. */
enum { MAX_LABEL = 80 };

/* SHARED: of one kernel, one copy per block, never of a bound kernel's caller. */
enum buffer_kind { BUF_INPUT, BUF_OUTPUT, BUF_TEMP, BUF_SHARED };

struct buffer {
    const char *name; /* of its node; workspaces "NAME.ws" */
    enum buffer_kind kind;
    int slot; /* input: number among inputs; output: number among outputs */
    enum dtype dt;
    struct shape sh;
    struct layout layout; /* always given */
    int64_t elems;        /* of storage */
    int64_t arena_at;     /* temp: byte offset in the arena once planned, else -1 */
    int node;             /* program node, -1 for a workspace */
    int kernel;           /* shared: its kernel, else -1 or 0 */
    int64_t smem_at;      /* shared: byte offset in the block's pool once planned, else -1 */
    bool overlay;         /* shared: may lie over others that are dead (epilogue NODE alias) */
    int by;               /* number of the rewrite that made it, 0 = pass build */
};

struct lvar {
    int node;             /* the program node whose axis it is; -1 for slices of split-K */
    char name[MAX_LABEL]; /* "s.i0", "s.r0.1", "s.slice" */
    int64_t extent;
    bool reduce; /* runs over a reduction axis */
};

/* A name that another variable took over: matched axes of a fused producer, axes that were
 * split away name nothing any more. */
struct alias {
    char name[MAX_LABEL];
    int kernel, var;
};

struct acc {
    enum dtype dt;
    enum op op;           /* OP_SUM, OP_MAX, OP_MIN: combines and gives the identity */
    enum op identity;     /* whose identity DECL stores: = op unless a fault says otherwise */
    int64_t elems;        /* 1 = scalar, else a small array */
    char name[MAX_LABEL]; /* of the node */
};

enum source { SRC_BUFFER, SRC_IOTA, SRC_CONST, SRC_BODY };

struct access {
    enum source src;
    enum dtype dt; /* of the value read; guards' fills are of it too */
    int buffer;    /* SRC_BUFFER */
    int axis;      /* SRC_IOTA: the axis counted; before compose the index at the end of the
                      stack, after it `index` is the value itself */
    double lit;    /* SRC_CONST */
    int body;      /* SRC_BODY: a value, replaced by the fill where a guard fails */

    bool composed;
    /* before: idx[] are the indices of the outermost view's result, view[] the stack of
     * program view nodes, the reader's first */
    int n_idx, idx[MAX_RANK];
    int n_view;
    int *view;
    /* after: */
    int index; /* -1 for SRC_CONST and SRC_BODY */
    int n_guard;
    struct guard *guard;
};

enum value_kind { V_LIT, V_LOAD, V_ACC, V_INDEX, V_OP, V_SHFL };

struct value {
    enum value_kind kind;
    enum dtype dt;
    enum op op; /* V_OP: unary, binary, compare, where, cast (from arg's dt to dt) */
    int arg[3]; /* V_OP: values; V_LOAD: arg[0] = access; V_ACC: arg[0] = acc,
                   arg[1] = index expression or -1; V_INDEX: arg[0] = index expression;
                   V_SHFL: as V_ACC, of thread (number ^ arg[2]) of the same warp: in a bound
                   kernel, alone as the value of an UPDATE or SET, with all threads there */
    double lit; /* V_LIT */
};

enum stmt_kind {
    ST_LOOP,
    ST_IF,
    ST_END,
    ST_DECL,
    ST_UPDATE,
    ST_STORE,
    ST_SET, /* acc[acc_at] = val */
    /* of bound kernels only: */
    ST_SYNC,    /* barrier of the block; every thread comes here */
    ST_ASYNC,   /* as STORE of a V_LOAD to a shared buffer, but it may land any time until a
                   WAIT of this thread; a guard of the load that fails writes 0, late too */
    ST_COMMIT,  /* closes this thread's group of asynchronous copies */
    ST_WAIT,    /* until at most n of this thread's groups are under way */
    ST_ATOMIC,  /* access = access + val, by everybody at once (f32, i32) */
    ST_ACQUIRE, /* thread 0 waits until the i32 at access is val, acquires; others go on */
    ST_RELEASE  /* thread 0 stores val to the i32 at access with release */
};
enum loop_kind {
    LOOP_SERIAL,
    LOOP_LANES,
    LOOP_BLOCK,
    LOOP_THREAD,
    LOOP_WIDE, /* body is one STORE of a load, or one ASYNC: consecutive elements on both
                  sides, aligned, all or none guarded away: one access of extent elements */
    LOOP_MMA   /* outermost of three: half of 2, pair of 2, 16 of the reduction, around one
                  UPDATE acc[..] += cast(a) * cast(b): one m16n8k16 of a warp (pass mma) */
};

struct stmt {
    enum stmt_kind kind;
    enum loop_kind loop; /* LOOP; in LANES every statement reads all lanes, then writes all */
    int var;             /* LOOP */
    int cond;            /* IF: index expression */
    int acc, acc_at;     /* DECL, UPDATE, SET: accumulator, index expression or -1 */
    int val;             /* UPDATE, STORE, SET, ASYNC, ATOMIC, ACQUIRE, RELEASE: value */
    int access;          /* STORE, ASYNC, ATOMIC, ACQUIRE, RELEASE: no views, no guards */
    int64_t n;           /* WAIT */
    int by;              /* number of the rewrite that made it, 0 = pass build */
};

struct kernel {
    const char *name; /* of its node; "NAME.part" for split-K slices */
    int node;
    struct stmt *st;
    int n, cap;
    int splitk; /* enum splitk_mode of the slices that it computes, SPLITK_NONE = it is whole */
    bool tiled; /* by step tile: its accumulators stay registers */
    bool dead;  /* dropped by a rewrite (everyone who read it was fused) */
};

struct rewrite {
    int number;       /* 1.. */
    int pass;         /* index in passes[] */
    const char *rule; /* static: "fuse.inline" */
    int step;         /* index of the schedule step that asked for it, -1 = none */
    int kernel;       /* the kernel it changed, -1 = none or several */
};

/* Who is to run it. CPU: only kernels that a step binds are bound, and all are written out
 * as serial loops in the end. GPU: every kernel is bound. GPU_SERIAL: the same, written out:
 * what the interpreter runs to say which rewrite of a GPU lowering is guilty. */
enum target { TARGET_CPU, TARGET_GPU, TARGET_GPU_SERIAL };

struct lprog {
    struct arena *arena;
    enum target target;
    const struct trial *trial;
    const struct prog *prog;
    struct ixs ix;
    struct buffer *buffer;
    int n_buffer, cap_buffer;
    struct kernel *kernel; /* in the order in which they run */
    int n_kernel, cap_kernel;
    struct lvar *var;
    int n_var, cap_var;
    struct alias *alias;
    int n_alias, cap_alias;
    struct acc *acc;
    int n_acc, cap_acc;
    struct access *access;
    int n_access, cap_access;
    struct value *value;
    int n_value, cap_value;
    int64_t arena_bytes; /* of planned temps */
    bool unordered;      /* floats are added atomically: two runs may differ in rounding */
    int *node_buffer;    /* program node -> buffer that holds it, -1 = none */

    enum fault fault;
    struct rewrite *log; /* every rewrite done */
    int n_log, cap_log;
    int stop_after; /* no rewrite after this number is done; INT32_MAX = all */
    int pass;       /* running */
    bool stopped;   /* a rewrite was withheld */
};

/* a temp that lives in the arena */
static inline bool buffer_planned(const struct buffer *b)
{
    return b->kind == BUF_TEMP && b->arena_at >= 0;
}

/* of its storage */
static inline int64_t buffer_bytes(const struct buffer *b)
{
    return b->elems * dtype_info(b->dt)->bytes;
}

/* construction */
int lprog_buffer(struct lprog *l, struct buffer b);
int lprog_kernel(struct lprog *l, const char *name, int node);
int lprog_var(struct lprog *l, int node, const char *name, int64_t extent, bool reduce);
int lprog_acc(struct lprog *l, struct acc a);
int lprog_access(struct lprog *l, struct access a);
int lprog_place(struct lprog *l, int buffer, int index); /* element `index` of its storage */
int lprog_value(struct lprog *l, struct value v);        /* hash-consing is not promised */
int lprog_lit(struct lprog *l, enum dtype dt, double lit);
int lprog_load(struct lprog *l, int access);            /* what it reads */
int lprog_acc_load(struct lprog *l, int acc, int at);   /* at -1 = a scalar */
int lprog_index(struct lprog *l, enum dtype dt, int e); /* an index as a number */
int lprog_op1(struct lprog *l, enum op op, enum dtype dt, int a);
int lprog_op2(struct lprog *l, enum op op, enum dtype dt, int a, int b);
/* Stamps the statement with the last rewrite's number unless it has one already. */
struct stmt *kernel_push(struct lprog *l, struct kernel *k, struct stmt s);
bool kernel_bound(const struct kernel *k); /* starts with a BLOCK or THREAD loop */
/* How many blocks, threads per block (1 where there are no such loops). */
int64_t kernel_blocks(const struct lprog *l, const struct kernel *k);
int64_t kernel_threads(const struct lprog *l, const struct kernel *k);
/* The linear number of a thread in its block, of a block in its grid, as an index expression
 * over their loops. */
int kernel_thread_index(struct lprog *l, const struct kernel *k);
int kernel_block_index(struct lprog *l, const struct kernel *k);
/* First statement of the body: behind the BLOCK and THREAD loops; their ENDs are the last
 * statements of the kernel. */
int kernel_body(const struct kernel *k);
int64_t kernel_smem(const struct lprog *l, int kernel); /* bytes of the block's pool */
bool stmt_has_value(const struct stmt *s);              /* val means something */
bool stmt_has_access(const struct stmt *s);             /* access does */
bool stmt_writes(const struct stmt *s);                 /* to the buffer at access */
/* statement number of the END that closes statement at (a LOOP or IF) */
int stmt_end(const struct kernel *k, int at);

/*
 * Asks leave for the next rewrite. False = lowering is to stop before it: change nothing.
 * True = it is numbered and logged; do it.
 */
bool lprog_rewrite(struct lprog *l, const char *rule, int step, int kernel);

/* Is this compiler bug switched on? One guarded line at the place where it sits. */
#define FAULT(l, id) ((l)->fault == FAULT_##id)

/* extents of all variables, for ix_range: array of n_var, valid until the next variable */
const int64_t *lprog_extents(struct lprog *l);

/*
 * A value or access rebuilt with loop variable v replaced by to[v] (see ix_subst). Accesses
 * that change are new ones; what does not change is shared.
 */
int value_subst(struct lprog *l, int val, const int *to, int n_to);
int access_subst(struct lprog *l, int access, const int *to, int n_to);
/* Calls f on every access that the value reads, bodies of SRC_BODY included, in order. */
void value_accesses(const struct lprog *l, int val, void (*f)(void *ctx, int access),
                    void *ctx);
/* The same for what a statement reads its value from; nothing if it has none. */
void stmt_loads(const struct lprog *l, const struct stmt *s, void (*f)(void *ctx, int access),
                void *ctx);

/* Form only (never bounds or aliasing): scopes, ENDs, accumulators declared, numbers in
 * range, dtypes of stores. */
int loop_check(const struct lprog *l, struct err *e);

/* Readable text of everything, or of one kernel; the `show --as loops` form. */
void loop_print(const struct lprog *l, struct str *s);
void loop_print_kernel(const struct lprog *l, int kernel, struct str *s);
/* index expression with loop names, and a value as text */
void loop_print_index(const struct lprog *l, int ix, struct str *s);
void loop_print_access(const struct lprog *l, int access, struct str *s);
void loop_print_value(const struct lprog *l, int val, struct str *s);

#endif
