/* Form of loop IR, checked after every pass. Bounds and aliasing are the judge's business:
 * what a compiler bug breaks must reach it. */
#include "base/bug.h"
#include "lower/loop.h"

struct checker {
    const struct lprog *l;
    const struct kernel *k;
    bool *open;     /* loop variables in scope */
    bool *declared; /* accumulators */
    const char *wrong;
};

static bool bad(struct checker *c, const char *what)
{
    if (!c->wrong)
        c->wrong = what;
    return false;
}

static bool check_index(struct checker *c, int e)
{
    const struct ix *x;

    if (e < 0 || e >= c->l->ix.n)
        return bad(c, "an index expression that does not exist");
    x = &c->l->ix.x[e];
    if (x->op == IX_CONST)
        return true;
    if (x->op == IX_VAR)
        return c->open[x->c] || bad(c, "a loop variable out of its scope");
    return check_index(c, x->a) && check_index(c, x->b);
}

static bool check_value(struct checker *c, int val);

static bool check_access(struct checker *c, int access)
{
    const struct access *a;

    if (access < 0 || access >= c->l->n_access)
        return bad(c, "an access that does not exist");
    a = &c->l->access[access];
    if (a->src == SRC_BUFFER && (a->buffer < 0 || a->buffer >= c->l->n_buffer))
        return bad(c, "a buffer that does not exist");
    if (a->src == SRC_BUFFER && a->dt != c->l->buffer[a->buffer].dt)
        return bad(c, "an access of another dtype than its buffer");
    if (a->src == SRC_BODY && !check_value(c, a->body))
        return false;
    for (int d = 0; d < a->n_idx && !a->composed; d++)
        if (!check_index(c, a->idx[d]))
            return false;
    for (int g = 0; g < a->n_guard && a->composed; g++)
        if (!check_index(c, a->guard[g].cond))
            return false;
    return !a->composed || a->index < 0 || check_index(c, a->index);
}

static bool check_value(struct checker *c, int val)
{
    const struct value *v;

    if (val < 0 || val >= c->l->n_value)
        return bad(c, "a value that does not exist");
    v = &c->l->value[val];
    switch (v->kind) {
    case V_LIT:
        return true;
    case V_LOAD:
        if (v->dt != c->l->access[v->arg[0]].dt)
            return bad(c, "a load of another dtype than its access");
        return check_access(c, v->arg[0]);
    case V_ACC:
        if (v->arg[0] < 0 || !c->declared[v->arg[0]])
            return bad(c, "an accumulator that is not declared");
        if (v->dt != c->l->acc[v->arg[0]].dt)
            return bad(c, "an accumulator read in another dtype");
        return v->arg[1] < 0 || check_index(c, v->arg[1]);
    case V_INDEX:
        return check_index(c, v->arg[0]);
    case V_OP:
        for (int i = 0; i < 3; i++)
            if (v->arg[i] >= 0 && !check_value(c, v->arg[i]))
                return false;
        return true;
    }
    return bad(c, "a value of no kind");
}

static bool check_stmt(struct checker *c, const struct stmt *s)
{
    switch (s->kind) {
    case ST_LOOP:
        if (s->var < 0 || s->var >= c->l->n_var || c->open[s->var])
            return bad(c, "a loop over a variable that is open already");
        return c->open[s->var] = true;
    case ST_IF:
        return check_index(c, s->cond);
    case ST_END:
        return true;
    case ST_DECL:
        return c->declared[s->acc] = true;
    case ST_UPDATE:
        if (!c->declared[s->acc] || c->l->acc[s->acc].dt != c->l->value[s->val].dt)
            return bad(c, "an update without its declaration, or of another dtype");
        return (s->acc_at < 0 || check_index(c, s->acc_at)) && check_value(c, s->val);
    case ST_STORE:
        if (c->l->access[s->access].src != SRC_BUFFER ||
            c->l->access[s->access].dt != c->l->value[s->val].dt)
            return bad(c, "a store that is no buffer's, or of another dtype");
        return check_access(c, s->access) && check_value(c, s->val);
    }
    return bad(c, "a statement of no kind");
}

static bool check_kernel(struct checker *c)
{
    int open[256], depth = 0;

    for (int i = 0; i < c->k->n; i++) {
        const struct stmt *s = &c->k->st[i];

        if (!check_stmt(c, s))
            return false;
        if (s->kind == ST_LOOP || s->kind == ST_IF) {
            if (depth == 256)
                return bad(c, "nests deeper than 256");
            open[depth++] = s->kind == ST_LOOP ? s->var : -1;
        } else if (s->kind == ST_END) {
            if (depth == 0)
                return bad(c, "an END too many");
            if (open[--depth] >= 0)
                c->open[open[depth]] = false;
        }
    }
    return depth == 0 || bad(c, "an END too few");
}

int loop_check(const struct lprog *l, struct err *e)
{
    struct checker c = { .l = l };

    c.open = arena_array(l->arena, bool, l->n_var + 1);
    for (int k = 0; k < l->n_kernel; k++) {
        if (l->kernel[k].dead)
            continue;
        c.k = &l->kernel[k];
        c.declared = arena_array(l->arena, bool, l->n_acc + 1);
        if (!check_kernel(&c))
            return err_set(e, ERR_INPUT, "kernel %s has %s", c.k->name, c.wrong);
    }
    return 0;
}
