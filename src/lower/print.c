/* Loop IR as text: `show --as loops`, golden tests, explain. */

#include "ir/text.h"
#include "lower/loop.h"

static const char *var_name(void *ctx, int var)
{
    const struct lprog *l = ctx;

    return l->var[var].name;
}

void loop_print_index(const struct lprog *l, int ix, struct str *s)
{
    ix_print(&l->ix, ix, var_name, (void *)l, s);
}

static void print_literal(enum dtype dt, double v, struct str *s)
{
    if (dt == DT_BOOL)
        str_puts(s, v != 0 ? "true" : "false");
    else
        str_float(s, v);
}

static void print_stack(const struct lprog *l, const struct access *a, struct str *s)
{
    str_puts(s, "[");
    for (int d = 0; d < a->n_idx; d++) {
        if (d)
            str_puts(s, ", ");
        loop_print_index(l, a->idx[d], s);
    }
    str_puts(s, "]");
    for (int i = 0; i < a->n_view; i++)
        str_add(s, "%s%s", i ? " " : " via ", l->prog->node[a->view[i]].name);
}

void loop_print_access(const struct lprog *l, int access, struct str *s)
{
    const struct access *a = &l->access[access];

    for (int g = 0; g < a->n_guard && a->composed; g++) {
        str_puts(s, "(");
        loop_print_index(l, a->guard[g].cond, s);
        str_puts(s, " ? ");
    }
    switch (a->src) {
    case SRC_BUFFER:
        str_puts(s, l->buffer[a->buffer].name);
        break;
    case SRC_IOTA:
        str_puts(s, "iota");
        if (!a->composed)
            str_add(s, "(axis %d)", a->axis);
        break;
    case SRC_CONST:
        print_literal(a->dt, a->lit, s);
        break;
    case SRC_BODY:
        str_puts(s, "(");
        loop_print_value(l, a->body, s);
        str_puts(s, ")");
        break;
    }
    if (!a->composed) {
        print_stack(l, a, s);
    } else if (a->index >= 0) {
        str_puts(s, "[");
        loop_print_index(l, a->index, s);
        str_puts(s, "]");
    }
    for (int g = a->n_guard - 1; g >= 0 && a->composed; g--) {
        str_puts(s, " : ");
        print_literal(a->dt, a->guard[g].fill, s);
        str_puts(s, ")");
    }
}

/* "acc3[i0]" */
static void print_acc(const struct lprog *l, const struct value *v, struct str *s)
{
    str_add(s, "acc%d", v->arg[0]);
    if (v->arg[1] < 0)
        return;
    str_puts(s, "[");
    loop_print_index(l, v->arg[1], s);
    str_puts(s, "]");
}

void loop_print_value(const struct lprog *l, int val, struct str *s)
{
    const struct value *v = &l->value[val];

    switch (v->kind) {
    case V_LIT:
        print_literal(v->dt, v->lit, s);
        return;
    case V_LOAD:
        loop_print_access(l, v->arg[0], s);
        return;
    case V_ACC:
        print_acc(l, v, s);
        return;
    case V_INDEX:
        loop_print_index(l, v->arg[0], s);
        return;
    case V_SHFL:
        str_puts(s, "shfl(");
        print_acc(l, v, s);
        str_add(s, ", %d)", v->arg[2]);
        return;
    case V_OP:
        str_puts(s, op_info(v->op)->name);
        if (v->op == OP_CAST)
            str_add(s, ".%s", dtype_info(v->dt)->name);
        for (int i = 0; i < 3 && v->arg[i] >= 0; i++) {
            str_puts(s, i ? ", " : "(");
            loop_print_value(l, v->arg[i], s);
        }
        str_puts(s, ")");
        return;
    }
}

static void print_acc_name(const struct lprog *l, const struct stmt *st, struct str *s)
{
    str_add(s, "acc%d", st->acc);
    if (st->acc_at >= 0) {
        str_puts(s, "[");
        loop_print_index(l, st->acc_at, s);
        str_puts(s, "]");
    }
}

/* "word place = value" */
static void print_write(const struct lprog *l, const struct stmt *st, const char *word,
                        const char *sign, struct str *s)
{
    str_puts(s, word);
    loop_print_access(l, st->access, s);
    str_puts(s, sign);
    loop_print_value(l, st->val, s);
}

static void print_stmt(const struct lprog *l, const struct stmt *st, struct str *s)
{
    static const char *const loops[] = {
        [LOOP_SERIAL] = "loop",   [LOOP_LANES] = "lanes", [LOOP_BLOCK] = "block",
        [LOOP_THREAD] = "thread", [LOOP_WIDE] = "wide",   [LOOP_MMA] = "mma"
    };
    const struct acc *a;

    switch (st->kind) {
    case ST_LOOP:
        str_add(s, "%s %s %lld\n", loops[st->loop], l->var[st->var].name,
                (long long)l->var[st->var].extent);
        return;
    case ST_IF:
        str_puts(s, "if ");
        loop_print_index(l, st->cond, s);
        break;
    case ST_END:
        return;
    case ST_DECL:
        a = &l->acc[st->acc];
        str_add(s, "decl acc%d %s", st->acc, dtype_info(a->dt)->name);
        if (a->elems != 1)
            str_add(s, "[%lld]", (long long)a->elems);
        str_add(s, " = identity of %s", op_info(a->identity)->name);
        break;
    case ST_UPDATE:
        str_puts(s, "update ");
        print_acc_name(l, st, s);
        str_add(s, " %s= ", op_info(l->acc[st->acc].op)->name);
        loop_print_value(l, st->val, s);
        break;
    case ST_SET:
        str_puts(s, "set ");
        print_acc_name(l, st, s);
        str_puts(s, " = ");
        loop_print_value(l, st->val, s);
        break;
    case ST_STORE:
        print_write(l, st, "store ", " = ", s);
        break;
    case ST_ASYNC:
        print_write(l, st, "async ", " = ", s);
        break;
    case ST_ATOMIC:
        print_write(l, st, "atomic ", " += ", s);
        break;
    case ST_ACQUIRE:
        print_write(l, st, "acquire ", " == ", s);
        break;
    case ST_RELEASE:
        print_write(l, st, "release ", " = ", s);
        break;
    case ST_SYNC:
        str_puts(s, "sync");
        break;
    case ST_COMMIT:
        str_puts(s, "commit");
        break;
    case ST_WAIT:
        str_add(s, "wait %lld", (long long)st->n);
        break;
    }
    str_puts(s, "\n");
}

void loop_print_kernel(const struct lprog *l, int kernel, struct str *s)
{
    const struct kernel *k = &l->kernel[kernel];
    int depth = 1;

    str_add(s, "kernel %s\n", k->name);
    for (int i = 0; i < k->n; i++) {
        if (k->st[i].kind == ST_END) {
            depth--;
            continue;
        }
        str_add(s, "%*s", 2 * depth, "");
        print_stmt(l, &k->st[i], s);
        depth += k->st[i].kind == ST_LOOP || k->st[i].kind == ST_IF;
    }
}

/* Only where the storage is not dense row-major. */
static void print_layout(const struct buffer *b, struct str *s)
{
    int64_t dense[MAX_RANK];
    bool plain = b->layout.offset == 0;

    shape_strides(&b->sh, dense);
    for (int d = 0; d < b->sh.rank; d++)
        plain &= b->layout.stride[d] == dense[d];
    if (plain)
        return;
    str_puts(s, " strides=[");
    for (int d = 0; d < b->sh.rank; d++)
        str_add(s, "%s%lld", d ? "," : "", (long long)b->layout.stride[d]);
    str_add(s, "] offset=%lld", (long long)b->layout.offset);
}

void loop_print(const struct lprog *l, struct str *s)
{
    static const char *const kind[] = { "input", "output", "temp", "shared" };

    for (int i = 0; i < l->n_buffer; i++) {
        const struct buffer *b = &l->buffer[i];
        char sh[128];

        shape_print(&b->sh, sh, sizeof sh);
        str_add(s, "%s %s %s %s", kind[b->kind], b->name, dtype_info(b->dt)->name, sh);
        print_layout(b, s);
        if (b->arena_at >= 0)
            str_add(s, " at byte %lld of the arena", (long long)b->arena_at);
        if (b->kind == BUF_SHARED && b->smem_at >= 0)
            str_add(s, " at byte %lld of the block's pool", (long long)b->smem_at);
        str_puts(s, "\n");
    }
    for (int k = 0; k < l->n_kernel; k++)
        if (!l->kernel[k].dead)
            loop_print_kernel(l, k, s);
    for (int i = 0; i < l->prog->n && l->n_buffer == 0; i++) {
        node_print(l->prog, i, s); /* after expand there is nothing but the program */
        str_puts(s, "\n");
    }
}
