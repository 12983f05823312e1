/*
 * Reductions and matmul: shapes, and the dtype in which terms are added up.
 */
#include "ir/infer.h"

#include <math.h>

/* The accumulator of a node whose operands have dtype dt. */
int infer_acc(struct infer *f, enum dtype dt)
{
    struct node *n = f->n;
    enum dtype plain = dtype_acc(dt);
    bool wide = n->acc == DT_F64 || n->acc == DT_F32;

    if (!n->acc_given || !op_takes_acc(n->op) || n->acc == plain) {
        n->acc_given = false;
        n->acc = plain;
        return 0;
    }
    if ((unsigned)n->acc < DT_COUNT && dtype_info(dt)->class == DTC_FLOAT &&
        (n->acc == dt || (wide && dtype_info(n->acc)->bits > dtype_info(dt)->bits)))
        return 0;
    return infer_fault(f, PART_ACC, "acc of %s on operands of %s; expected %s or a wider float",
                       (unsigned)n->acc < DT_COUNT ? dtype_info(n->acc)->name : "no dtype",
                       dtype_info(dt)->name, dtype_info(dt)->name);
}

int infer_reduce(struct infer *f)
{
    struct node *n = f->n;
    const struct node *x = infer_operand(f, 0);
    const struct shape s = x->sh;

    if (infer_check_taken(f, 0))
        return f->e->code;
    for (int a = s.rank; a < 32; a++)
        if (n->axes >> a & 1)
            return infer_fault(f, a < MAX_RANK ? PART_ITEM + a : PART_AXES,
                               "axis %d of shape %s; expected 0 to rank - 1", a,
                               infer_shown(&s).s);
    if (n->axes == 0)
        return infer_fault(f, PART_AXES,
                           "no axes to reduce; expected axes=[..] with at least one");
    n->dt = x->dt;
    n->sh.rank = 0;
    for (int a = 0; a < s.rank; a++) {
        bool reduced = n->axes >> a & 1;

        if (!reduced || n->keep)
            n->sh.dim[n->sh.rank++] = reduced ? 1 : s.dim[a];
    }
    return infer_acc(f, x->dt);
}

/* alpha and beta, once the accumulator is known. */
static int infer_scales(struct infer *f)
{
    struct node *n = f->n;

    if (!n->scaled)
        n->alpha = n->beta = 1;
    if (literal_fault(n->acc, &n->alpha) || !isfinite(n->alpha))
        return infer_fault(f, PART_ALPHA, "alpha out of range; expected a finite %s",
                           dtype_info(n->acc)->name);
    if (literal_fault(n->acc, &n->beta) || !isfinite(n->beta))
        return infer_fault(f, PART_BETA, "beta out of range; expected a finite %s",
                           dtype_info(n->acc)->name);
    if (n->n_arg < 3 && n->beta != 1)
        return infer_fault(f, PART_BETA, "beta= without a third operand; expected one");
    n->scaled = n->alpha != 1 || n->beta != 1;
    return 0;
}

int infer_matmul(struct infer *f)
{
    struct node *n = f->n;
    const struct node *x = infer_operand(f, 0), *y = infer_operand(f, 1);
    int r = x->sh.rank;

    if (infer_check_taken(f, 0) || infer_check_same(f, 1))
        return f->e->code;
    if (r < 2)
        return infer_fault(f, PART_ARG, "matmul of shape %s; expected rank 2 or more",
                           infer_shown(&x->sh).s);
    if (y->sh.rank != r)
        return infer_fault(f, PART_ARG + 1, "matmul of %s and %s; expected equal ranks",
                           infer_shown(&x->sh).s, infer_shown(&y->sh).s);
    for (int a = 0; a < r - 2; a++)
        if (x->sh.dim[a] != y->sh.dim[a])
            return infer_fault(f, PART_ARG + 1,
                               "matmul of %s and %s; expected equal batch axes",
                               infer_shown(&x->sh).s, infer_shown(&y->sh).s);
    if (x->sh.dim[r - 1] != y->sh.dim[r - 2])
        return infer_fault(f, PART_ARG + 1,
                           "matmul of %s and %s; expected [..,m,k] and [..,k,n]",
                           infer_shown(&x->sh).s, infer_shown(&y->sh).s);
    n->dt = x->dt;
    n->sh = x->sh;
    n->sh.dim[r - 1] = y->sh.dim[r - 1];
    if (infer_acc(f, x->dt) || infer_check_shape(f, &n->sh, PART_OP) || infer_scales(f))
        return f->e->code;
    if (n->n_arg < 3)
        return 0;
    if (infer_check_same(f, 2))
        return f->e->code;
    if (!shape_equal(&infer_operand(f, 2)->sh, &n->sh))
        return infer_fault(f, PART_ARG + 2,
                           "c of shape %s; expected %s, the shape of the product",
                           infer_shown(&infer_operand(f, 2)->sh).s, infer_shown(&n->sh).s);
    return 0;
}
