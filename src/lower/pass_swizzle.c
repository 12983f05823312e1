/*
 * swizzle: "swizzle NODE.X" permutes the columns of a staged operand by row, against bank
 * conflicts: granules of 16 bytes (of a copy, if that is more) change places.
 * needs: an operand that is staged, in rows of 2^n elements, two granules at least.
 * keeps: rows and granules whole, so that wide copies stay wide. gives: swizzle.columns, the
 * same permutation at every access:
 *   row, col -> row, col ^ (row % (length / granule) * granule)
 */
#include "lower/passes.h"
#include "lower/stage.h"

struct swizzle {
    struct lprog *l;
    int buffer;
    int64_t row, granule;
};

static int permute(const struct swizzle *z, int index)
{
    struct ixs *s = &z->l->ix;
    int row = ix_div(s, index, z->row), col = ix_mod(s, index, z->row);
    int by = ix_scale(s, ix_mod(s, row, z->row / z->granule), z->granule);

    return ix_add(s, ix_scale(s, row, z->row), ix_xor(s, col, by));
}

static int permuted(void *ctx, int access)
{
    const struct swizzle *z = ctx;
    struct access a = z->l->access[access];

    if (a.src != SRC_BUFFER || a.buffer != z->buffer)
        return access;
    a.index = permute(z, a.index);
    return lprog_access(z->l, a);
}

static void swizzle_kernel(struct swizzle *z, struct kernel *k)
{
    struct kernel list = list_new(k);

    for (int i = 0; i < k->n; i++) {
        struct stmt s = k->st[i];

        if (stmt_has_access(&s))
            s.access = permuted(z, s.access);
        if (stmt_has_value(&s) && !FAULT(z->l, swizzle_one_side))
            s.val = value_map(z->l, s.val, permuted, z);
        kernel_push(z->l, &list, s);
    }
    list_take(k, &list);
}

static bool same_operand(const struct step *a, const struct step *b)
{
    return a->node[0] == b->node[0] && part_equal(a->part[0], b->part[0]) &&
           a->operand == b->operand;
}

static int swizzle_step(struct lprog *l, int step, struct err *e)
{
    const struct step *st = &l->trial->step[step];
    struct swizzle z = { .l = l, .buffer = -1 };
    struct staged s = { .kernel = -1 };
    const struct buffer *b;

    for (int i = 0; i < step && z.buffer < 0; i++) {
        if (l->trial->step[i].kind == STEP_SWIZZLE && same_operand(&l->trial->step[i], st))
            return step_error(st, e, "operand %c is swizzled already", st->operand);
        if (l->trial->step[i].kind == STEP_STAGE && same_operand(&l->trial->step[i], st) &&
            staged_find(l, i, &s))
            z.buffer = s.buffer;
    }
    if (z.buffer < 0)
        return step_error(st, e, "operand %c of %s is not staged", st->operand,
                          l->prog->node[st->node[0]].name);
    b = &l->buffer[z.buffer];
    z.row = b->sh.dim[b->sh.rank - 1];
    z.granule = WIDEST / dtype_info(b->dt)->bytes;
    if (staged_lanes(l, &s) > z.granule)
        z.granule = staged_lanes(l, &s);
    if ((z.row & (z.row - 1)) || z.row < 2 * z.granule)
        return step_error(st, e, "rows of %s are %lld long; it takes 2^n, and at least %lld",
                          b->name, (long long)z.row, (long long)(2 * z.granule));
    if (lprog_rewrite(l, "swizzle.columns", step, s.kernel))
        swizzle_kernel(&z, &l->kernel[s.kernel]);
    return 0;
}

int pass_swizzle(struct lprog *l, struct err *e)
{
    return steps_each(l, STEP_SWIZZLE, swizzle_step, e);
}
