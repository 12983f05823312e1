#include "lower/flash.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

/* Arrays of one element are scalars. */
static int at_of(const struct flash *f, int acc, int at)
{
    return f->l->acc[acc].elems > 1 ? at : -1;
}

int flash_acc(struct flash *f, int acc, int at)
{
    return lprog_acc_load(f->l, acc, at_of(f, acc, at));
}

int flash_op1(struct flash *f, enum op op, int a)
{
    return lprog_op1(f->l, op, f->dt, a);
}

int flash_op2(struct flash *f, enum op op, int a, int b)
{
    return lprog_op2(f->l, op, f->dt, a, b);
}

int flash_lit(struct flash *f, double v)
{
    return lprog_lit(f->l, f->dt, v);
}

/* where cond a b */
int flash_pick(struct flash *f, int cond, int a, int b)
{
    return lprog_value(
        f->l,
        (struct value){ .kind = V_OP, .dt = f->dt, .op = OP_WHERE, .arg = { cond, a, b } });
}

int flash_decl(struct flash *f, struct kernel *k, const char *part, enum op op, int64_t elems)
{
    struct acc a = { .dt = f->dt, .op = op, .identity = op, .elems = elems > 0 ? elems : 1 };
    int acc;

    snprintf(a.name, sizeof a.name, "%s.%s", f->n->name, part);
    acc = lprog_acc(f->l, a);
    kernel_push(f->l, k, (struct stmt){ .kind = ST_DECL, .acc = acc, .acc_at = -1 });
    return acc;
}

void flash_set(struct flash *f, struct kernel *k, int acc, int at, int val)
{
    at = at_of(f, acc, at);
    kernel_push(f->l, k, (struct stmt){ .kind = ST_SET, .acc = acc, .acc_at = at, .val = val });
}

void flash_update(struct flash *f, struct kernel *k, int acc, int at, int val)
{
    at = at_of(f, acc, at);
    kernel_push(f->l, k,
                (struct stmt){ .kind = ST_UPDATE, .acc = acc, .acc_at = at, .val = val });
}

/* An accumulator that is only set. */
int flash_holder(struct flash *f, struct kernel *k, const char *part, int val)
{
    int acc = flash_decl(f, k, part, OP_SUM, 1);

    flash_set(f, k, acc, -1, val);
    return acc;
}

int flash_loop(struct flash *f, struct kernel *k, int var)
{
    push_loop(f->l, k, var, LOOP_SERIAL);
    return ix_var(&f->l->ix, var);
}

/* What is subtracted from scores whose maximum is val. */
int flash_shift_of(struct flash *f, int val)
{
    double lowest = f->dt == DT_F64 ? -DBL_MAX : -(double)FLT_MAX;
    int none = lprog_op2(f->l, OP_EQ, DT_BOOL, val, flash_lit(f, -(double)INFINITY));

    return flash_pick(f, none, flash_lit(f, lowest), val);
}

void flash_declare(struct flash *f, struct kernel *k)
{
    f->m = flash_decl(f, k, "m", OP_MAX, 1);
    f->sum = flash_decl(f, k, "l", OP_SUM, 1);
    f->out = flash_decl(f, k, "o", OP_SUM, f->l->var[f->e].extent);
}
