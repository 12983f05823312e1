/* Form of loop IR, checked after every pass. Bounds and aliasing are the judge's business:
 * what a compiler bug breaks must reach it. */
#include "lower/loop.h"

struct checker {
    const struct lprog *l;
    const struct kernel *k;
    int kernel;
    bool bound;
    bool *open;        /* loop variables in scope */
    bool *declared;    /* accumulators */
    enum loop_kind in; /* innermost loop that is not an ordinary one */
    const char *wrong;
};

/* What the smallest GPU that we emit for lets a block have. */
enum { MAX_THREADS = 1024, MAX_SMEM = 48 << 10, WARP = 32 };

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
    if (a->src == SRC_BUFFER && c->l->buffer[a->buffer].kind == BUF_SHARED &&
        (!c->bound || c->l->buffer[a->buffer].kernel != c->kernel))
        return bad(c, "another kernel's shared buffer");
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

static bool check_value_alone(struct checker *c, int val, bool shuffle);

static bool check_value(struct checker *c, int val)
{
    return check_value_alone(c, val, false);
}

/* shuffle: the value may be one */
static bool check_value_alone(struct checker *c, int val, bool shuffle)
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
    case V_SHFL:
        if (v->kind == V_SHFL && (!shuffle || !c->bound || c->in != LOOP_SERIAL ||
                                  v->arg[2] <= 0 || v->arg[2] >= WARP))
            return bad(c, "a shuffle where none may be");
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

/* What only bound kernels store by. */
static bool check_write(struct checker *c, const struct stmt *s)
{
    const struct access *to = &c->l->access[s->access], *from;
    const struct value *v = &c->l->value[s->val];
    bool shared = to->src == SRC_BUFFER && c->l->buffer[to->buffer].kind == BUF_SHARED;

    if (!c->bound)
        return bad(c, "a statement of bound kernels without threads");
    if (s->kind == ST_ASYNC) {
        from = v->kind == V_LOAD ? &c->l->access[v->arg[0]] : NULL;
        if (!shared || !from || from->src != SRC_BUFFER || !from->composed ||
            (c->in != LOOP_SERIAL && c->in != LOOP_WIDE))
            return bad(c, "an asynchronous copy that does more than copy");
        for (int g = 0; g < from->n_guard; g++)
            if (from->guard[g].fill != 0)
                return bad(c, "an asynchronous copy that fills with something else than 0");
        return true;
    }
    if (shared || c->in != LOOP_SERIAL)
        return bad(c, "an atomic access to what only one block has, or in lanes");
    if (to->dt == DT_I32 || (s->kind == ST_ATOMIC && to->dt == DT_F32))
        return true;
    return bad(c, "an atomic access of a dtype that has none");
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
    case ST_SYNC:
    case ST_COMMIT:
    case ST_WAIT:
        return (c->bound && c->in == LOOP_SERIAL) ||
               bad(c, "synchronisation where threads can't wait");
    case ST_SET:
    case ST_UPDATE:
        if (!c->declared[s->acc] || c->l->acc[s->acc].dt != c->l->value[s->val].dt)
            return bad(c, "an update without its declaration, or of another dtype");
        return (s->acc_at < 0 || check_index(c, s->acc_at)) &&
               check_value_alone(c, s->val, true);
    case ST_ASYNC:
    case ST_ATOMIC:
    case ST_ACQUIRE:
    case ST_RELEASE:
        if (!check_write(c, s))
            return false;
        /* fallthrough */
    case ST_STORE:
        if (c->l->access[s->access].src != SRC_BUFFER ||
            c->l->access[s->access].dt != c->l->value[s->val].dt)
            return bad(c, "a store that is no buffer's, or of another dtype");
        return check_access(c, s->access) && check_value(c, s->val);
    }
    return bad(c, "a statement of no kind");
}

/* The body of a loop that is one access: a STORE of a load, or an ASYNC. */
static bool check_wide(struct checker *c, int at)
{
    const struct stmt *s = &c->k->st[at + 1];

    return (at + 2 < c->k->n && s[1].kind == ST_END &&
            (s->kind == ST_ASYNC ||
             (s->kind == ST_STORE && c->l->value[s->val].kind == V_LOAD))) ||
           bad(c, "a wide loop that is more than one access");
}

static bool is_half(const struct lprog *l, int val)
{
    const struct value *v = &l->value[val], *from;

    if (v->kind != V_OP || v->op != OP_CAST || v->dt != DT_F32)
        return false;
    from = &l->value[v->arg[0]];
    return from->kind == V_LOAD && (from->dt == DT_F16 || from->dt == DT_BF16);
}

/* Three loops of 2, 2 and 16 round one product of halves. */
static bool check_mma(struct checker *c, int at)
{
    static const int64_t extent[3] = { 2, 2, 16 };
    const struct stmt *s = &c->k->st[at];
    const struct value *v;
    bool ok = at + 6 < c->k->n;

    for (int i = 0; i < 3 && ok; i++)
        ok = s[i].kind == ST_LOOP && c->l->var[s[i].var].extent == extent[i] &&
             (i == 0 || s[i].loop == LOOP_SERIAL) && s[4 + i].kind == ST_END;
    if (!ok || s[3].kind != ST_UPDATE || c->l->acc[s[3].acc].op != OP_SUM)
        return bad(c, "a loop of tensor cores that is not 2 x 2 x 16");
    v = &c->l->value[s[3].val];
    return (v->kind == V_OP && v->op == OP_MUL && v->dt == DT_F32 && is_half(c->l, v->arg[0]) &&
            is_half(c->l, v->arg[1])) ||
           bad(c, "a loop of tensor cores that is no product of halves");
}

static bool check_loop(struct checker *c, int at)
{
    enum loop_kind kind = c->k->st[at].loop;

    switch (kind) {
    case LOOP_SERIAL:
        return c->in == LOOP_SERIAL || c->in == LOOP_MMA || bad(c, "a loop in lanes");
    case LOOP_BLOCK:
    case LOOP_THREAD:
        return at < kernel_body(c->k) || bad(c, "a loop over blocks or threads inside");
    case LOOP_LANES:
        for (int i = at + 1; i < c->k->n && c->k->st[i].kind != ST_END; i++)
            if (c->k->st[i].kind != ST_UPDATE && c->k->st[i].kind != ST_STORE &&
                c->k->st[i].kind != ST_SET)
                return bad(c, "a statement that can't be done in lanes");
        return true;
    case LOOP_WIDE:
        return c->bound ? check_wide(c, at) : bad(c, "a wide loop without threads");
    case LOOP_MMA:
        return c->bound ? check_mma(c, at) : bad(c, "tensor cores without threads");
    }
    return bad(c, "a loop of no kind");
}

/* Blocks, then threads, then one body; what a block may have. */
static bool check_bound(struct checker *c)
{
    int body = kernel_body(c->k);

    for (int i = 0; i < body; i++) {
        if (i > 0 && c->k->st[i].loop == LOOP_BLOCK && c->k->st[i - 1].loop == LOOP_THREAD)
            return bad(c, "blocks in threads");
        if (stmt_end(c->k, i) != c->k->n - 1 - i)
            return bad(c, "something beside its loop over blocks or threads");
    }
    if (kernel_threads(c->l, c->k) > MAX_THREADS)
        return bad(c, "more threads than a block may have");
    return kernel_smem(c->l, c->kernel) <= MAX_SMEM ||
           bad(c, "more shared memory than a block may have");
}

static bool check_kernel(struct checker *c)
{
    int open[256], depth = 0;
    enum loop_kind in[256];

    c->in = LOOP_SERIAL;
    for (int i = 0; i < c->k->n; i++) {
        const struct stmt *s = &c->k->st[i];

        if (!check_stmt(c, s) || (s->kind == ST_LOOP && !check_loop(c, i)))
            return false;
        if (s->kind == ST_LOOP || s->kind == ST_IF) {
            if (depth == 256)
                return bad(c, "nests deeper than 256");
            in[depth] = c->in;
            open[depth++] = s->kind == ST_LOOP ? s->var : -1;
            if (s->kind == ST_LOOP && i >= kernel_body(c->k) && s->loop != LOOP_SERIAL)
                c->in = s->loop;
        } else if (s->kind == ST_END) {
            if (depth == 0)
                return bad(c, "an END too many");
            c->in = in[--depth];
            if (open[depth] >= 0)
                c->open[open[depth]] = false;
        }
    }
    return depth == 0 || bad(c, "an END too few");
}

int loop_check(const struct lprog *l, struct err *e)
{
    struct checker c = { .l = l };

    c.open = arena_array(l->arena, bool, l->n_var + 1);
    for (c.kernel = 0; c.kernel < l->n_kernel; c.kernel++) {
        c.k = &l->kernel[c.kernel];
        if (c.k->dead)
            continue;
        c.bound = kernel_bound(c.k);
        c.declared = arena_array(l->arena, bool, l->n_acc + 1);
        if (!check_kernel(&c) || (c.bound && !check_bound(&c)))
            return err_set(e, ERR_INPUT, "kernel %s has %s", c.k->name, c.wrong);
    }
    return 0;
}
