/*
 * What the interpreter executes: one flat list of instructions for a whole program, made
 * once for both algebras (the ring list differs in operation codes alone).
 *
 * Registers are never allocated: r[] holds one int64 per index expression, under the
 * expression's number, and v[] one word per value of the loop IR, then the accumulators,
 * then the literals. An index expression is computed once per iteration of the innermost
 * loop whose variable it uses; those that grow by a constant are incremented instead.
 */
#ifndef RUN_INTERP_CODE_H
#define RUN_INTERP_CODE_H

#include "run/interp_index.h"
#include "run/interp_math.h"
#include "run/run.h"

enum ins_op {
#define VAL(id, ring, member, expr) INS_##id,
#define INT(id, expr)               INS_##id,
#define MEM(id, ring, bytes, member, read, written)                                            \
    INS_LOAD_##id, INS_GLOAD_##id, INS_STORE_##id,
#define DOT(id, ring, load, muladd, member) INS_##id,
#define INS(id, ring)                       INS_##id,
#include "run/interp_ops.def"
    INS_COUNT
};

/* The meaning of the fields stands beside each row of interp_ops.def. */
struct ins {
    int op;
    int d, a, b, c, e;
    int64_t k;
};

struct inc {
    int reg;
    int64_t by;
};

struct lit {
    int reg;
    enum dtype dt;
    double v;
};

struct code {
    const struct lprog *l;
    struct arena *arena;
    struct xtab x;
    struct ins *ins;
    int n, cap;
    int *stmt; /* of each instruction: the statement it belongs to, for sites */
    int n_stmt, cap_stmt;
    int *kernel_at; /* first instruction of each kernel; kernel_at[n_kernel] = HALT */
    struct inc *inc;
    int n_inc, cap_inc;
    struct lit *lit;
    int n_lit, cap_lit;
    int *acc_at; /* first register of each accumulator */
    int n_v, n_lane;
    /* the machine; its memory is shared by both algebras */
    struct ins *ring;
    int64_t *r;
    union word *v, *lane;
    unsigned char **buf;
};

struct code *code_compile(const struct lprog *l, struct arena *a);

enum exec_end { EXEC_DONE, EXEC_BOUNDS, EXEC_STEPS };
/* Runs it all on the buffers of env. pc = the instruction at which it ended. */
enum exec_end code_run(struct code *c, struct run_env *env, enum algebra al, int *pc);

/* The operation that computes op on operands of dtype dt, with a result of dtype `to`. What
 * it gives is to be rounded by ins_round(to), INS_MOVE = not at all. */
enum ins_op ins_of(enum op op, enum dtype dt, enum dtype to);
enum ins_op ins_round(enum dtype to);
/* what reads, and what writes, stored elements */
enum ins_op ins_load(enum dtype dt);
enum ins_op ins_store(enum dtype dt);
/* Elements of a buffer that may be touched: those it claims, as far as run_place made room. */
int64_t code_elems(const struct lprog *l, int buffer);
/* what DECL stores */
double acc_identity(const struct acc *a);
/* the same computation in an algebra */
enum ins_op ins_in(enum ins_op op, enum algebra al);

/* --- the compiler's own --- */

/* A loop that is being compiled; [0] is the kernel as a whole. */
struct open {
    int id;   /* unique among all loops opened */
    int var;  /* register of the variable, -1 for the kernel */
    int head; /* the LOOP instruction */
    int64_t extent;
    int *list; /* expressions to be computed per iteration, operands first */
    int n, cap;
};

struct placed { /* of an index expression */
    int loop;   /* id of the loop in whose list it stands, 0 = none yet */
    int depth;
    bool used, affine; /* used = read by more than the sums that are incremented with it */
    int64_t step;
};

enum { MAX_LOOPS = 64 };

struct gen {
    struct code *c;
    const struct kernel *k;
    int at_stmt;
    struct open open[MAX_LOOPS + 1];
    int n_open, next_id;
    struct placed *placed; /* by expression */
    int cap_placed;
    int *done; /* by value: serial of the statement that computed it last */
    int *reg;  /* and where */
    int serial;
};

struct ins *gen_emit(struct gen *g, enum ins_op op, int d, int a, int b);
/* The register of an index expression, which is kept up to date at the present place. */
int gen_index(struct gen *g, int x);
void gen_open(struct gen *g, int var, int64_t extent); /* var < 0: the kernel */
void gen_close(struct gen *g);
int gen_value(struct gen *g, int val); /* its register */
int gen_literal(struct gen *g, enum dtype dt, double v);
void gen_round(struct gen *g, enum dtype dt, int reg);    /* a result in a register, in place */
bool gen_is_scalar(const struct gen *g, int acc, int at); /* a plain register */
int gen_acc_index(struct gen *g, int at);
void gen_acc_access(struct gen *g, enum ins_op op, int d, int index, int acc);

#endif
