/* Attention by flash in slices of the keys: workspaces, and the kernel that combines them. */
#include "lower/flash.h"

static int workspace(struct flash *f, const char *part, int64_t width)
{
    int64_t rows = 1;
    struct buffer b = { .name = arena_printf(f->l->arena, "%s.%s", f->n->name, part),
                        .kind = BUF_TEMP,
                        .dt = f->dt,
                        .arena_at = -1,
                        .node = -1 };

    for (int d = 0; d <= f->row; d++)
        rows *= f->n->sh.dim[d];
    b.sh = (struct shape){ 3, { f->slices, rows, width } };
    b.elems = f->slices * rows * width;
    b.layout = layout_of(&b.layout, &b.sh);
    return lprog_buffer(f->l, b);
}

void flash_workspaces(struct flash *f)
{
    const char *name = arena_printf(f->l->arena, "%s.slice", f->n->name);

    f->slice = lprog_var(f->l, -1, name, f->slices, false);
    f->ws[0] = workspace(f, "wm", 1);
    f->ws[1] = workspace(f, "wl", 1);
    f->ws[2] = workspace(f, "ws", f->n->sh.dim[f->row + 1]);
}

/* The place of this query and slice in workspace `which`. */
static int *ws_index(struct flash *f, int slice, int at, int idx[3])
{
    idx[0] = ix_var(&f->l->ix, slice);
    idx[1] = f->flat;
    idx[2] = at;
    return idx;
}

static int ws_read(struct flash *f, int which, int slice, int at)
{
    struct access a = { .src = SRC_BUFFER, .dt = f->dt, .buffer = f->ws[which], .n_idx = 3 };

    ws_index(f, slice, at, a.idx);
    return lprog_value(f->l, (struct value){ .kind = V_LOAD,
                                             .dt = f->dt,
                                             .arg = { lprog_access(f->l, a), -1, -1 } });
}

void flash_leave(struct flash *f, struct kernel *k)
{
    int zero = ix_const(&f->l->ix, 0), idx[3], e;

    build_store(f->l, k, f->ws[0], ws_index(f, f->slice, zero, idx), flash_acc(f, f->m, -1));
    build_store(f->l, k, f->ws[1], ws_index(f, f->slice, zero, idx), flash_acc(f, f->sum, -1));
    e = flash_loop(f, k, f->e);
    build_store(f->l, k, f->ws[2], ws_index(f, f->slice, e, idx), flash_acc(f, f->out, e));
    push_end(f->l, k, 1);
}

void flash_combine(struct flash *f, struct kernel *k)
{
    int zero = ix_const(&f->l->ix, 0), shift, factor, e;
    int slice = lprog_var(f->l, -1, f->l->var[f->slice].name, f->slices, true);

    flash_declare(f, k);
    flash_loop(f, k, slice);
    flash_update(f, k, f->m, -1, ws_read(f, 0, slice, zero));
    push_end(f->l, k, 1);
    shift = flash_holder(f, k, "h", flash_shift_of(f, flash_acc(f, f->m, -1)));
    flash_loop(f, k, slice);
    factor = flash_holder(
        f, k, "a",
        flash_op1(f, OP_EXP,
                  flash_op2(f, OP_SUB, flash_shift_of(f, ws_read(f, 0, slice, zero)),
                            flash_acc(f, shift, -1))));
    factor = flash_acc(f, factor, -1);
    flash_update(f, k, f->sum, -1, flash_op2(f, OP_MUL, ws_read(f, 1, slice, zero), factor));
    e = flash_loop(f, k, f->e);
    flash_update(f, k, f->out, e, flash_op2(f, OP_MUL, ws_read(f, 2, slice, e), factor));
    push_end(f->l, k, 2);
    flash_finish(f, k);
}
