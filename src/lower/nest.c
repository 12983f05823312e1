#include "lower/nest.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/bug.h"

int step_error(const struct step *st, struct err *e, const char *fmt, ...)
{
    char msg[300];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(msg, sizeof msg, fmt, ap);
    va_end(ap);
    return err_at(e, ERR_ILLEGAL, st->line, 1, "%s: %s", step_info(st->kind)->name, msg);
}

/* A composite that is one kernel has reduction loops that only lowering knows. */
static bool flash_axis(const struct lprog *l, const struct axis *ax)
{
    return ax->role == 'r' && ax->num >= 0 && !ax->part && ax->node >= 0 &&
           op_is_composite(l->prog->node[ax->node].op);
}

bool axis_name(const struct lprog *l, const struct step *st, const struct axis *ax,
               char name[MAX_LABEL], struct err *e)
{
    struct axis r;
    int n;

    if (!axis_resolve(l->prog, ax, &r) && flash_axis(l, ax)) {
        r = *ax;
    } else if (!axis_resolve(l->prog, ax, &r)) {
        axis_print(l->prog, ax, name, MAX_LABEL);
        step_error(st, e, "%s is no axis of that node", name);
        return false;
    }
    n = snprintf(name, MAX_LABEL, "%s.%c%d", l->prog->node[r.node].name, r.role, r.num);
    for (int i = 0; i < r.depth && n < MAX_LABEL - 4; i++)
        n += snprintf(name + n, MAX_LABEL - (size_t)n, ".%d", r.path[i]);
    return true;
}

int steps_each(struct lprog *l, enum step_kind kind,
               int (*one)(struct lprog *l, int step, struct err *e), struct err *e)
{
    int err = 0;

    for (int i = 0; i < l->trial->n_step && !l->stopped && !err; i++)
        if (l->trial->step[i].kind == kind)
            err = one(l, i, e);
    return err;
}

int kernel_loop(const struct kernel *k, int var)
{
    for (int i = 0; i < k->n; i++)
        if (k->st[i].kind == ST_LOOP && k->st[i].var == var)
            return i;
    return -1;
}

bool kernel_has_var(const struct kernel *k, int var)
{
    return kernel_loop(k, var) >= 0;
}

int kernel_axis(const struct lprog *l, int kernel, const char *name)
{
    const struct kernel *k = &l->kernel[kernel];

    if (k->dead)
        return -1;
    for (int i = 0; i < k->n; i++)
        if (k->st[i].kind == ST_LOOP && strcmp(l->var[k->st[i].var].name, name) == 0)
            return k->st[i].var;
    for (int i = 0; i < l->n_alias; i++) {
        const struct alias *a = &l->alias[i];

        if (a->kernel == kernel && strcmp(a->name, name) == 0 && kernel_has_var(k, a->var))
            return a->var;
    }
    return -1;
}

int reduction_kernel(const struct lprog *l, int node, bool tiled)
{
    for (int k = 0; k < l->n_kernel; k++) {
        const struct kernel *kn = &l->kernel[k];

        for (int i = 0; i < kn->n && !kn->dead && (kn->tiled || !tiled); i++)
            if (kn->st[i].kind == ST_LOOP && l->var[kn->st[i].var].reduce &&
                l->var[kn->st[i].var].node == node)
                return k;
    }
    return -1;
}

int node_kernel(const struct lprog *l, int node)
{
    for (int i = 0; i < l->n_kernel; i++)
        if (l->kernel[i].node == node && !l->kernel[i].dead)
            return i;
    return -1;
}

int main_kernel(const struct lprog *l, int node)
{
    int k = reduction_kernel(l, node, false);

    return k >= 0 ? k : node_kernel(l, node);
}

struct find {
    const struct lprog *l;
    int buffer;
    bool found;
};

static void find_load(void *ctx, int access)
{
    struct find *f = ctx;
    const struct access *a = &f->l->access[access];

    f->found |= a->src == SRC_BUFFER && a->buffer == f->buffer;
}

bool kernel_reads(const struct lprog *l, const struct kernel *k, int buffer)
{
    struct find f = { l, buffer, false };

    for (int i = 0; i < k->n; i++)
        stmt_loads(l, &k->st[i], find_load, &f);
    return f.found;
}

bool kernel_writes(const struct lprog *l, const struct kernel *k, int buffer)
{
    for (int i = 0; i < k->n; i++)
        if (stmt_writes(&k->st[i]) && l->access[k->st[i].access].buffer == buffer)
            return true;
    return false;
}

struct stmt stmt_subst(struct lprog *l, const struct stmt *s, const int *to, int n_to)
{
    struct stmt t = *s;

    if (t.kind == ST_IF)
        t.cond = ix_subst(&l->ix, t.cond, to, n_to);
    if (stmt_has_value(&t))
        t.val = value_subst(l, t.val, to, n_to);
    if ((t.kind == ST_UPDATE || t.kind == ST_SET) && t.acc_at >= 0)
        t.acc_at = ix_subst(&l->ix, t.acc_at, to, n_to);
    if (stmt_has_access(&t))
        t.access = access_subst(l, t.access, to, n_to);
    return t;
}

int *subst_table(struct lprog *l)
{
    int *to = arena_array(l->arena, int, l->n_var + 1);

    for (int i = 0; i < l->n_var; i++)
        to[i] = -1;
    return to;
}

struct kernel list_new(const struct kernel *like)
{
    struct kernel k = *like;

    k.st = NULL;
    k.n = k.cap = 0;
    return k;
}

void list_take(struct kernel *k, const struct kernel *list)
{
    k->st = list->st;
    k->n = list->n;
    k->cap = list->cap;
}

void push_loop(struct lprog *l, struct kernel *k, int var, enum loop_kind kind)
{
    kernel_push(l, k, (struct stmt){ .kind = ST_LOOP, .var = var, .loop = kind });
}

void push_if(struct lprog *l, struct kernel *k, int cond)
{
    kernel_push(l, k, (struct stmt){ .kind = ST_IF, .cond = cond });
}

void push_end(struct lprog *l, struct kernel *k, int n)
{
    while (n-- > 0)
        kernel_push(l, k, (struct stmt){ .kind = ST_END });
}

bool kernel_reduction(const struct kernel *k, struct reduction *r)
{
    *r = (struct reduction){ -1, -1, -1 };
    for (int i = 0; i < k->n; i++) {
        int *slot = k->st[i].kind == ST_DECL     ? &r->decl
                    : k->st[i].kind == ST_UPDATE ? &r->update
                    : k->st[i].kind == ST_STORE  ? &r->store
                                                 : NULL;

        if (slot && *slot >= 0)
            return false;
        if (slot)
            *slot = i;
    }
    return r->decl >= 0 && r->update >= 0 && r->store >= 0;
}

int enclosing(const struct kernel *k, int at, int *out, int max)
{
    int n = 0;

    for (int i = 0; i < at; i++) {
        if (k->st[i].kind == ST_LOOP || k->st[i].kind == ST_IF) {
            if (n == max)
                BUG("kernel %s is nested deeper than %d", k->name, max);
            out[n++] = i;
        } else if (k->st[i].kind == ST_END) {
            n--;
        }
    }
    return n;
}

enum op reduce_combine(enum op op)
{
    return op == OP_MAX ? OP_MAX2 : op == OP_MIN ? OP_MIN2 : op == OP_PROD ? OP_MUL : OP_ADD;
}

double reduce_identity(enum op op, enum dtype dt)
{
    bool is_int = dt == DT_I32;

    if (op == OP_MAX)
        return is_int ? (double)INT32_MIN : -(double)INFINITY;
    if (op == OP_MIN)
        return is_int ? (double)INT32_MAX : (double)INFINITY;
    return op == OP_PROD ? 1 : 0;
}
