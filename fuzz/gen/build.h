/*
 * The generator's own workbench: a program under construction, what is known of every
 * node's values, and the verbs that the gen_*.c families share. Every constructor infers
 * the new node at once, so a program is legal at any moment.
 *
 * A draw that can't go on (no room left in the knobs, an op that was excluded) is given up
 * by gen_give_up: control returns to gen.c, which draws again from the same stream.
 */
#ifndef FUZZ_GEN_BUILD_H
#define FUZZ_GEN_BUILD_H

#include <setjmp.h>

#include "base/rng.h"
#include "fuzz/gen/gen.h"

/* What is known of a node's values in ieee, whatever the data are. It keeps exp from
 * overflowing and 1/x from meeting 0, so that the bound can judge nearly every element. */
struct hint {
    double lo, hi; /* every value lies between; bool: 0 and 1 */
    bool varies;   /* depends on an input; an output that doesn't catches no null kernel */
    bool exact;    /* no f32 rounding has happened: casts and == are no jumps */
};

/* How extents are drawn in one trial. */
enum size_group { SZ_EQUAL, SZ_PRIMES, SZ_EDGE };

/* The kinds of node that gen_make may put on top of a tensor of wanted shape. */
enum make_kind {
    MK_PERMUTE,
    MK_RESHAPE,
    MK_EXPAND,
    MK_SLICE,
    MK_PAD,
    MK_ROUND, /* roll or repeat */
    MK_UNARY,
    MK_BINARY,
    MK_WHERE,
    MK_CAST,
    MK_COPY,
    MK_REDUCE,
    MK_MATMUL,
    MK_IOTA,
    MK_COUNT
};

struct gen {
    struct rng rng; /* substream "graph" */
    const struct gen_opts *o;
    struct arena *a;
    struct trial *t;
    struct prog *p;
    struct hint *hint;
    int cap_hint;
    int n_line;    /* nodes as the tool counts them */
    int64_t work;  /* element operations so far */
    int64_t madds; /* terms of reductions so far */
    int64_t want;  /* multiply-adds that this trial aims at */
    enum size_group group;
    enum dtype flt; /* float dtype of this trial .. */
    bool mixed;     /* .. or several, with casts */
    int64_t base;   /* SZ_EQUAL: the extent */
    int primes;     /* SZ_PRIMES: number handed out */
    bool zero_due;  /* one extent of this trial is to be 0 */
    int mix[MK_COUNT];
    bool gpu;    /* this trial gets steps for GPUs */
    bool assign; /* .. and an assign in the end */
    int depth;   /* of gen_make's recursion */
    int attempt; /* at this trial */
    jmp_buf again;
};

_Noreturn void gen_give_up(struct gen *g);

/* build.c: constructors; they return the new node */
#define NODE(x) ((struct arg){ (x), 0 })
#define LIT(v)  ((struct arg){ -1, (v) })
static inline const struct node *gen_at(const struct gen *g, int x)
{
    return &g->p->node[x];
}
/* What every constructor does first and last. */
struct node *gen_begin(struct gen *g, enum op op);
struct node *gen_begin_on(struct gen *g, enum op op, int x); /* x is operand 0 */
void gen_draw_acc(struct gen *g, struct node *n);
int gen_finish(struct gen *g, struct node *n);
bool gen_may(const struct gen *g, enum op op); /* not excluded on the command line */
bool gen_room(const struct gen *g, int nodes); /* may that many nodes still be added */
int gen_input(struct gen *g, enum dtype dt, const struct shape *sh);
int gen_const(struct gen *g, enum dtype dt, double value);
int gen_iota(struct gen *g, enum dtype dt, const struct shape *sh, int axis);
int gen_unary(struct gen *g, enum op op, int x); /* unary ops and copy */
int gen_binary(struct gen *g, enum op op, struct arg x, struct arg y);
int gen_where(struct gen *g, int cond, struct arg x, struct arg y);
int gen_cast(struct gen *g, int x, enum dtype dt);
int gen_permute(struct gen *g, int x, const int *perm);
int gen_reshape(struct gen *g, int x, const struct shape *sh);
int gen_expand(struct gen *g, int x, const struct shape *sh);
int gen_with_axis(struct gen *g, int x); /* rank 0 becomes [1] */
int gen_slice(struct gen *g, int x, const int64_t *lo, const int64_t *hi, const int64_t *by);
int gen_pad(struct gen *g, int x, const int64_t *before, const int64_t *after, double value);
int gen_roll(struct gen *g, int x, const int64_t *shift);
int gen_repeat(struct gen *g, int x, const int64_t *times);
int gen_reduce(struct gen *g, enum op op, int x, uint32_t axes, bool keep);
int gen_matmul(struct gen *g, int x, int y);
int gen_matmul_scaled(struct gen *g, int x, int y, int c, double alpha, double beta);
void gen_output(struct gen *g, int x);
int gen_readers(const struct gen *g, int x); /* operands and outputs that name x */

/* composite.c */
struct attend {
    int q, k, v, mask; /* mask -1 = no operand */
    double scale;
    enum mask_kind kind;
    enum empty_row empty;
};
int gen_along(struct gen *g, enum op op, int x, int axis); /* softmax logsoftmax argmax */
int gen_two_along(struct gen *g, enum op op, int x, int y, int axis); /* gather concat */
int gen_cumsum(struct gen *g, int x, int axis);
int gen_layernorm(struct gen *g, int x, int gain, int bias, double eps);
int gen_rmsnorm(struct gen *g, int x, int gain, double eps);
int gen_attention(struct gen *g, const struct attend *at);
/* what prog_work will say of the program that it is written out in */
int64_t composite_work(const struct gen *g, const struct node *n);

/* gen_dtype.c */
void dtype_begin(struct gen *g);     /* draws the float dtypes of a trial */
enum dtype gen_float(struct gen *g); /* one of them */
enum dtype gen_dtype(struct gen *g); /* the same, or i32 */
/* another dtype, for a cast */
enum dtype gen_other(struct gen *g, enum dtype dt);
/* magnitudes that stay far from overflow */
double dtype_limit(enum dtype dt);

/* gen_hint.c */
struct hint hint_of(const struct gen *g, const struct node *n);
struct hint hint_input(enum dtype dt, enum recipe recipe);

/* gen_size.c */
void size_begin(struct gen *g); /* draws group and aim of a trial */
int64_t size_draw(struct gen *g);
int64_t size_small(struct gen *g, int64_t hi); /* 1 .. hi, small ones likelier */
int64_t size_near(int64_t d);                  /* the next extent worth having, >= d */
/* n extents whose product lies in lo .. hi, or as near as possible */
void size_product(struct gen *g, int n, int64_t lo, int64_t hi, int64_t *dim);
void size_shape(struct gen *g, int rank, int64_t lo, int64_t hi, struct shape *sh);
/* a shape of the given rank and exactly that many elements */
void size_recut(struct gen *g, int64_t count, int rank, struct shape *sh);

/* gen_view.c: one view node (or a short idiom) on top of x */
int view_permute(struct gen *g, int x);
int view_reshape(struct gen *g, int x);
int view_expand(struct gen *g, int x, int64_t cap); /* cap: elements of the result */
int view_slice(struct gen *g, int x);
int view_pad(struct gen *g, int x, int64_t cap);
int view_roll(struct gen *g, int x);
int view_repeat(struct gen *g, int x, int64_t cap);
int view_any(struct gen *g, int x, int64_t cap);
int view_chain(struct gen *g, int x, int n, int64_t cap);
void view_draw_perm(struct gen *g, int rank, int *perm);
double view_fill(struct gen *g, enum dtype dt, bool nonzero);
void view_slice_axis(struct gen *g, int64_t d, int64_t *lo, int64_t *hi, int64_t *by);
int view_broadcast(struct gen *g, int r, uint32_t axes, const struct shape *sh);

/* gen_act.c: formulas of elementwise ops, on top of a float x */
int act_any(struct gen *g, int x);   /* gelu, silu, sigmoid */
int act_idiom(struct gen *g, int x); /* exp far below 0; casts that people write */

/* gen_comp.c: composites but attention, on top of x */
int comp_softmax(struct gen *g, int x);
int comp_logsoftmax(struct gen *g, int x);
int comp_cumsum(struct gen *g, int x);
int comp_norm(struct gen *g, int x);
int comp_argmax(struct gen *g, int x);
int comp_gather(struct gen *g, int x);
int comp_concat(struct gen *g, int x);
int comp_any(struct gen *g, int x);

/* gen_assign.c: one assign more, drawn from r */
void assign_append(struct gen *g, struct rng *r);

/* gen_attend.c */
void family_attention(struct gen *g);

/* gen_idiom.c: view patterns that compilers get wrong, on top of x */
int idiom_copy_view_copy(struct gen *g, int x);
int idiom_pad_reshape(struct gen *g, int x);
int idiom_shift(struct gen *g, int x);
int idiom_roll(struct gen *g, int x);
int idiom_cut_permuted(struct gen *g, int x);
int idiom_pad_behind_cast(struct gen *g, const struct shape *sh);
int idiom_pad_unsafe(struct gen *g, int x);
int idiom_cycle(struct gen *g, int x);
int idiom_cut_flip(struct gen *g, int x);
int idiom_any(struct gen *g, int x);

/* gen_make.c: a tensor of that dtype and shape, from inputs, with about `budget` nodes */
int gen_make(struct gen *g, enum dtype dt, const struct shape *sh, int budget);
/* an existing node seen as that shape through at most one view; -1 = none fits */
int gen_reuse(struct gen *g, enum dtype dt, const struct shape *sh);
void mix_views(struct gen *g);
void mix_fused(struct gen *g);
void mix_all(struct gen *g);

/* gen_elem.c */
int elem_unary(struct gen *g, int x);         /* same dtype and shape */
int elem_binary(struct gen *g, int x, int y); /* same dtype and shape */
int elem_literal(struct gen *g, int x);       /* with a literal */
int elem_compare(struct gen *g, int x, struct arg y);
int elem_any(struct gen *g, int x);                /* one step onwards, partner as needed */
int elem_tame(struct gen *g, int x, double limit); /* x scaled so that |x| <= limit */
int elem_numeric(struct gen *g, int x);            /* cast if it is bool */
int elem_positive(struct gen *g, int x);           /* made > 0, for recip, sqrt, div */
double elem_lit(struct gen *g, enum dtype dt);

/* gen_reduce.c */
int reduce_any(struct gen *g, int x);
int reduce_op(struct gen *g, int x, uint32_t axes, bool keep);
int reduce_dead(struct gen *g, int x); /* over an axis that only an expand made */
int reduce_two_depths(struct gen *g, int x);
int reduce_outer(struct gen *g, int x, int64_t terms); /* generalised matrix product */
int reduce_softmax(struct gen *g, int x, int axis);
int reduce_norm(struct gen *g, int x);
int reduce_nothing(struct gen *g);            /* over an axis of size 0 */
int reduce_big(struct gen *g, int64_t terms); /* over an input of about that many elements */

/* gen_matmul.c */
int matmul_spelled(struct gen *g, int x, int y, bool copies);
int matmul_on(struct gen *g, int x, int64_t terms); /* x times something */
int matmul_epilogue(struct gen *g, int x);
int matmul_scaled(struct gen *g, int x, int y); /* alpha x y, and perhaps + beta c */
void family_matmul(struct gen *g);

/* gen_mha.c, gen_fused.c: whole trials */
void family_mha(struct gen *g);
void family_spelled(struct gen *g); /* attention of primitive nodes */
void family_fused(struct gen *g);
void family_views(struct gen *g);
void family_mixed(struct gen *g);
/* gen_gpu.c; false = this time the preset's own is wanted */
bool family_gpu(struct gen *g);
/* one more node or two on x, anything goes */
int gen_onwards(struct gen *g, int x);
/* makes up the multiply-adds that the trial aims at */
int gen_amplify(struct gen *g, int x);

/* gen_layout.c */
void layout_draw(struct rng *r, const struct shape *sh, struct layout *l);
void layout_outputs(struct gen *g);

/* gen_data.c */
/* recipe and seed, before the graph */
void data_draw(struct rng *r, const struct gen_opts *o, struct trial *t);
void set_draw(struct rng *r, const struct gen_opts *o, struct trial *t, struct arena *a);
void data_values(struct gen *g, int input);                   /* now and then a values line */
void data_integers(struct gen *g, int input, int lo, int hi); /* one of integers lo .. hi */

/* gen_sched.c: false if the program can't be lowered even without a schedule */
bool sched_draw(struct rng *r, const struct gen_opts *o, struct trial *t, struct arena *a,
                struct arena *scratch);
/* gen_bind.c: the same with steps for GPUs */
bool sched_draw_gpu(struct rng *r, const struct gen_opts *o, struct trial *t, struct arena *a,
                    struct arena *scratch);

#endif
