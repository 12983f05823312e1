/*
 * The evaluation behind exact data: every node from its definition, each element a double
 * with what is proven of it. No arithmetic of it rounds unnoticed, so e = 0 is a proof that
 * the compiler's arithmetic need not round either, in whatever order it goes.
 *
 *   e = 0   exactly v, which the node's dtype holds
 *   e > 0   every legal algorithm ends within e of v
 *   e < 0   open: nothing is known
 *
 * i32 and bool elements are doubles too. Shares nothing with ref_*.c: it is a second opinion.
 */
#ifndef JUDGE_EXACT_EVAL_H
#define JUDGE_EXACT_EVAL_H

#include <math.h>

#include "judge/judge.h"

struct xval {
    double v, e;
};

struct xnode {
    struct xval *p; /* row-major; NULL = not evaluated */
    int64_t n;
    bool sound; /* every e is 0 */
    double top; /* of a sound node: the largest magnitude */
    int grid;   /* of a sound node: every v is a multiple of 2^grid */
};

struct exacts {
    const struct trial *t;
    const struct prog *prog;
    struct arena *arena;
    struct xnode *node;
    bool by_function, subnormal, unfolded, running, by_inverse; /* see struct exact */
};

/* All nodes that an output needs; every input has a values line. */
struct exacts *exact_eval(const struct trial *t, struct arena *a);

/* Each evaluates node i of its class. */
void exact_view(struct exacts *x, int i);
void exact_each(struct exacts *x, int i); /* elementwise, casts */
void exact_reduce(struct exacts *x, int i);
void exact_matmul(struct exacts *x, int i);
void exact_composite(struct exacts *x, int i);
void exact_attention(struct exacts *x, int i);
void exact_norm(struct exacts *x, int i);

/* Of n scores `step` apart: how many are the largest, *top; 0 if one is neither that nor so
 * far below (cut) that its weight is 0 in any arithmetic. A masked one is -inf. */
int64_t exact_winners(const struct xval *s, int64_t n, int64_t step, double cut, double *top);

/* How a float dtype rounds. */
struct xfloat {
    int bits;
    double u, eta, most; /* unit roundoff, smallest subnormal, largest number */
    double cut, cut2;    /* e to the -cut, 2 to the -cut2 and less are 0 in any arithmetic */
};
const struct xfloat *xfloat(enum dtype dt);

/* What dt is computed in: f32 for the halves. */
static inline enum dtype exact_core(enum dtype dt)
{
    return dt == DT_F16 || dt == DT_BF16 ? DT_F32 : dt;
}

#define VAL_OPEN ((struct xval){ (double)NAN, -1 })

/* The nearest number of dt; not finite where it overflows. */
double exact_round(enum dtype dt, double v);
/* All bits of v on the grid 2^result; v is not 0 */
int exact_grid(double v);
/* The largest magnitude of sums of multiples of 2^grid that `core` adds without rounding */
static inline double exact_room(enum dtype core, int grid)
{
    return ldexp(1, xfloat(core)->bits + grid);
}

/* Does `core` hold numbers as fine as 2^grid, or do they fall below its subnormal ones? */
static inline bool exact_grid_held(enum dtype core, int grid)
{
    return ldexp(1, grid) >= xfloat(core)->eta;
}

/*
 * A real number within e of v that was computed in `core` and is stored as dt. Exact ones
 * round once if core can't hold them (how often is the algorithm's choice: an interval); the
 * step from core to dt is one rounding in every algorithm, so that it leaves nothing open.
 */
struct xval exact_finish(enum dtype core, enum dtype dt, struct xval x);

/* What an accumulator holds, stored as dt: one rounding. */
struct xval exact_store(enum dtype acc, enum dtype dt, struct xval x);

/* A sum that is watched: does it fit an accumulator in any order? */
struct adder {
    double s, t, e;   /* sum, sum of magnitudes, sum of bounds */
    int64_t n, terms; /* that are not 0; all */
    int grid;         /* of those that are not 0 */
    bool open;
};
void adder_put(struct adder *a, struct xval x);
void adder_put_product(struct adder *a, struct xval x, struct xval y);
bool adder_fits(const struct adder *a, enum dtype acc);
struct xval adder_sum(const struct adder *a, enum dtype acc);

/* fills in sound, top, grid */
void exact_sum_up(struct xnode *n);

static inline bool is_pow2(double x)
{
    int e;

    return x != 0 && isfinite(x) && fabs(frexp(x, &e)) == 0.5;
}

static inline double wrap_i32(int64_t v)
{
    return (double)(int32_t)(uint32_t)(uint64_t)v;
}

#endif
