/* Construction of loop IR: everything is appended, nothing is freed. */
#include "lower/loop.h"

#include <stdio.h>

#include "base/bug.h"

int lprog_buffer(struct lprog *l, struct buffer b)
{
    *arena_push(l->arena, l->buffer, l->n_buffer, l->cap_buffer) = b;
    return l->n_buffer - 1;
}

int lprog_kernel(struct lprog *l, const char *name, int node)
{
    *arena_push(l->arena, l->kernel, l->n_kernel, l->cap_kernel) =
        (struct kernel){ .name = name, .node = node };
    return l->n_kernel - 1;
}

int lprog_var(struct lprog *l, int node, const char *name, int64_t extent, bool reduce)
{
    struct lvar *v = arena_push(l->arena, l->var, l->n_var, l->cap_var);

    *v = (struct lvar){ .node = node, .extent = extent, .reduce = reduce };
    snprintf(v->name, sizeof v->name, "%s", name);
    return l->n_var - 1;
}

int lprog_acc(struct lprog *l, struct acc a)
{
    *arena_push(l->arena, l->acc, l->n_acc, l->cap_acc) = a;
    return l->n_acc - 1;
}

int lprog_access(struct lprog *l, struct access a)
{
    *arena_push(l->arena, l->access, l->n_access, l->cap_access) = a;
    return l->n_access - 1;
}

int lprog_place(struct lprog *l, int buffer, int index)
{
    return lprog_access(l, (struct access){ .src = SRC_BUFFER,
                                            .dt = l->buffer[buffer].dt,
                                            .buffer = buffer,
                                            .composed = true,
                                            .index = index });
}

int lprog_value(struct lprog *l, struct value v)
{
    *arena_push(l->arena, l->value, l->n_value, l->cap_value) = v;
    return l->n_value - 1;
}

int lprog_lit(struct lprog *l, enum dtype dt, double lit)
{
    return lprog_value(l, (struct value){ .kind = V_LIT, .dt = dt, .lit = lit });
}

int lprog_load(struct lprog *l, int access)
{
    enum dtype dt = l->access[access].dt;

    return lprog_value(l,
                       (struct value){ .kind = V_LOAD, .dt = dt, .arg = { access, -1, -1 } });
}

int lprog_acc_load(struct lprog *l, int acc, int at)
{
    enum dtype dt = l->acc[acc].dt;

    return lprog_value(l, (struct value){ .kind = V_ACC, .dt = dt, .arg = { acc, at, -1 } });
}

int lprog_index(struct lprog *l, enum dtype dt, int e)
{
    return lprog_value(l, (struct value){ .kind = V_INDEX, .dt = dt, .arg = { e, -1, -1 } });
}

int lprog_op1(struct lprog *l, enum op op, enum dtype dt, int a)
{
    return lprog_value(
        l, (struct value){ .kind = V_OP, .dt = dt, .op = op, .arg = { a, -1, -1 } });
}

int lprog_op2(struct lprog *l, enum op op, enum dtype dt, int a, int b)
{
    return lprog_value(l,
                       (struct value){ .kind = V_OP, .dt = dt, .op = op, .arg = { a, b, -1 } });
}

struct stmt *kernel_push(struct lprog *l, struct kernel *k, struct stmt s)
{
    struct stmt *p = arena_push(l->arena, k->st, k->n, k->cap);

    *p = s;
    if (!p->by)
        p->by = l->n_log;
    return p;
}

bool stmt_has_access(const struct stmt *s)
{
    return s->kind == ST_STORE || s->kind == ST_ASYNC || s->kind == ST_ATOMIC ||
           s->kind == ST_ACQUIRE || s->kind == ST_RELEASE;
}

bool stmt_has_value(const struct stmt *s)
{
    return s->kind == ST_UPDATE || s->kind == ST_SET || stmt_has_access(s);
}

bool stmt_writes(const struct stmt *s)
{
    return stmt_has_access(s) && s->kind != ST_ACQUIRE;
}

int stmt_end(const struct kernel *k, int at)
{
    int depth = 0;

    for (int i = at; i < k->n; i++) {
        if (k->st[i].kind == ST_LOOP || k->st[i].kind == ST_IF)
            depth++;
        else if (k->st[i].kind == ST_END && --depth == 0)
            return i;
    }
    BUG("kernel %s: statement %d has no end", k->name, at);
}

bool lprog_rewrite(struct lprog *l, const char *rule, int step, int kernel)
{
    int number = l->n_log + 1;

    if (number > l->stop_after) {
        l->stopped = true;
        return false;
    }
    *arena_push(l->arena, l->log, l->n_log, l->cap_log) =
        (struct rewrite){ number, l->pass, rule, step, kernel };
    return true;
}

const int64_t *lprog_extents(struct lprog *l)
{
    int64_t *e = arena_array(l->arena, int64_t, l->n_var + 1);

    for (int i = 0; i < l->n_var; i++)
        e[i] = l->var[i].extent;
    return e;
}
