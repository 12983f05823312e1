/*
 * The tracer: walks statements and values as they are written, for the accesses that they
 * make. No number is computed: none of them decides about an address, a guard or a loop.
 */
#include "base/bug.h"
#include "run/interp.h"
#include "run/interp_code.h"

struct tracer {
    const struct lprog *l;
    struct arena *a;
    struct xtab x;
    struct place *place; /* by access */
    int64_t *var;        /* by variable */
    int64_t *x_val;      /* by index expression, valid where x_of = serial */
    int *x_of, *val_of;  /* val_of: by value, likewise: it has been walked */
    int serial;          /* of the statement being executed */
    int64_t steps;
    struct outcome *ended;
    int open[MAX_LOOPS], n_open; /* loop variables */
    int kernel, stmt, leaf;
    struct loops loops; /* round the statement, at[] a copy; n < 0 = not made yet */
    /* what is wanted: records of a kernel, or the last store to one element */
    int want_kernel, want_buffer;
    int64_t want_element;
    struct trace *out;
    struct loops *where; /* its memory: */
    int *where_var;
    int64_t *where_at;
    bool found;
};

static int64_t index_of(struct tracer *t, int e)
{
    const struct x *x = &t->x.x[e];
    int64_t a = 0, b = 0, r = 0;

    if (t->x_of[e] == t->serial)
        return t->x_val[e];
    if (x->op > X_VAR)
        a = index_of(t, x->a);
    if (x->op == X_ADD || x->op == X_MUL || x->op == X_LT || x->op == X_AND || x->op == X_IN ||
        x->op == X_XOR)
        b = index_of(t, x->b);
    switch (x->op) {
    case X_CONST:
        r = x->c;
        break;
    case X_VAR:
        r = t->var[x->c];
        break;
    case X_ADD:
        r = wrap_add(a, b);
        break;
    case X_ADDC:
        r = wrap_add(a, x->c);
        break;
    case X_MUL:
        r = wrap_mul(a, b);
        break;
    case X_MULC:
        r = wrap_mul(a, x->c);
        break;
    case X_DIV:
        r = floor_div(a, x->c);
        break;
    case X_MOD:
        r = floor_mod(a, x->c);
        break;
    case X_LT:
        r = a < b;
        break;
    case X_LTC:
        r = a < x->c;
        break;
    case X_GTC:
        r = a > x->c;
        break;
    case X_IN:
        r = a >= x->c && a < wrap_add(x->c, b);
        break;
    case X_AND:
        r = a & b;
        break;
    case X_XOR:
        r = a ^ b;
        break;
    }
    t->x_of[e] = t->serial;
    return t->x_val[e] = r;
}

static struct loops loops_into(const struct tracer *t, int *var, int64_t *at)
{
    for (int i = 0; i < t->n_open; i++) {
        var[i] = t->open[i];
        at[i] = t->var[t->open[i]];
    }
    return (struct loops){ t->n_open, var, at };
}

static struct loops loops_now(struct tracer *t)
{
    if (t->loops.n < 0)
        t->loops = loops_into(t, arena_array(t->a, int, t->n_open + 1),
                              arena_array(t->a, int64_t, t->n_open + 1));
    return t->loops;
}

static void record(struct tracer *t, int access, bool store, bool guarded, int64_t index)
{
    const struct access *ac = &t->l->access[access];
    struct trace *out = t->out;

    if (!out || t->kernel != t->want_kernel)
        return;
    if (out->n == TRACE_MAX) {
        out->truncated = true;
        return;
    }
    *arena_push(t->a, out->rec, out->n, out->cap) =
        (struct trace_rec){ .store = store,
                            .guarded = guarded,
                            .stmt = t->stmt,
                            .leaf = store ? -1 : t->leaf++,
                            .access = access,
                            .buffer = ac->src == SRC_BUFFER ? ac->buffer : -1,
                            .index = index,
                            .loops = loops_now(t) };
}

/* Is it inside? Else that is how the program ended. */
static bool inside(struct tracer *t, const char *name, int64_t index, int64_t size, bool store)
{
    struct site *s = &t->ended->site;
    size_t used = 0;

    if (index >= 0 && index < size)
        return true;
    t->ended->status = OUT_OUT_OF_BOUNDS;
    snprintf(s->kernel, sizeof s->kernel, "%s", t->l->kernel[t->kernel].name);
    snprintf(s->buffer, sizeof s->buffer, "%s", name);
    s->index = index;
    s->size = size;
    s->store = store;
    for (int i = 0; i < t->n_open && used < sizeof s->loops; i++)
        used +=
            (size_t)snprintf(s->loops + used, sizeof s->loops - used, "%s%s=%lld", i ? " " : "",
                             t->l->var[t->open[i]].name, (long long)t->var[t->open[i]]);
    return false;
}

static bool inside_buffer(struct tracer *t, int buffer, int64_t index, bool store)
{
    return inside(t, t->l->buffer[buffer].name, index, code_elems(t->l, buffer), store);
}

static bool inside_acc(struct tracer *t, int acc, int at, bool store)
{
    const struct acc *a = &t->l->acc[acc];

    return inside(t, a->name, at < 0 ? 0 : index_of(t, x_import(&t->x, at)), a->elems, store);
}

static bool walk(struct tracer *t, int val);

static bool load(struct tracer *t, int access)
{
    const struct access *ac = &t->l->access[access];
    const struct place *p = &t->place[access];
    int64_t index = p->index >= 0 ? index_of(t, p->index) : 0;
    bool guarded = false;

    if (ac->src == SRC_BODY && !walk(t, ac->body))
        return false;
    for (int i = 0; i < p->n_guard && !guarded; i++)
        guarded = !index_of(t, p->guard[i].cond);
    if (!guarded && ac->src == SRC_BUFFER && !inside_buffer(t, ac->buffer, index, false))
        return false;
    record(t, access, false, guarded, index);
    return true;
}

static bool walk_new(struct tracer *t, const struct value *v)
{
    int n = op_is_reduce(v->op) ? 2 : op_info(v->op)->n_arg;

    if (v->kind == V_LOAD)
        return load(t, v->arg[0]);
    if (v->kind == V_ACC)
        return inside_acc(t, v->arg[0], v->arg[1], false);
    if (v->kind == V_SHFL)
        BUG("kernel %s is bound: it was not written out", t->l->kernel[t->kernel].name);
    for (int i = 0; v->kind == V_OP && i < n; i++)
        if (!walk(t, v->arg[i]))
            return false;
    return true;
}

/* Every value once in a statement. */
static bool walk(struct tracer *t, int val)
{
    if (t->val_of[val] == t->serial)
        return true;
    if (!walk_new(t, &t->l->value[val]))
        return false;
    t->val_of[val] = t->serial;
    return true;
}

static bool store(struct tracer *t, const struct stmt *s)
{
    int buffer = t->l->access[s->access].buffer;
    int64_t index = index_of(t, t->place[s->access].index);

    if (!inside_buffer(t, buffer, index, true))
        return false;
    record(t, s->access, true, false, index);
    if (t->where && buffer == t->want_buffer && index == t->want_element) {
        *t->where = loops_into(t, t->where_var, t->where_at);
        t->found = true;
    }
    return true;
}

/* A new statement, or the same one at other values of the loops. */
static void begin(struct tracer *t, int stmt)
{
    t->serial++;
    t->stmt = stmt;
    t->leaf = 0;
    t->loops.n = -1;
}

static bool write_to(struct tracer *t, const struct stmt *s)
{
    return s->kind == ST_STORE ? store(t, s) : inside_acc(t, s->acc, s->acc_at, true);
}

static bool step(struct tracer *t)
{
    if (--t->steps >= 0)
        return true;
    t->ended->status = OUT_HANG;
    return false;
}

static bool lanes(struct tracer *t, int var, int at, const struct stmt *s)
{
    int64_t n = t->l->var[var].extent;

    for (int64_t i = 0; i < n; i++) {
        t->var[var] = i;
        begin(t, at);
        if (!step(t) || !walk(t, s->val))
            return false;
    }
    for (int64_t i = 0; i < n; i++) {
        t->var[var] = i;
        begin(t, at);
        if (!write_to(t, s))
            return false;
    }
    return true;
}

static bool block(struct tracer *t, const struct kernel *k, int from, int to);

static bool loop(struct tracer *t, const struct kernel *k, int at, int end)
{
    const struct stmt *s = &k->st[at];
    bool ok = true;

    if (t->n_open == MAX_LOOPS)
        BUG("kernel %s: more than %d loops are nested", k->name, MAX_LOOPS);
    t->open[t->n_open++] = s->var;
    if (s->loop == LOOP_LANES) {
        for (int i = at + 1; ok && i < end; i++)
            ok = lanes(t, s->var, i, &k->st[i]);
    } else {
        for (int64_t i = 0; ok && i < t->l->var[s->var].extent; i++) {
            t->var[s->var] = i;
            ok = step(t) && block(t, k, at + 1, end);
        }
    }
    t->n_open--;
    return ok;
}

static bool block(struct tracer *t, const struct kernel *k, int from, int to)
{
    for (int i = from; i < to; i++) {
        const struct stmt *s = &k->st[i];
        bool ok = true;

        begin(t, i);
        switch (s->kind) {
        case ST_LOOP:
            ok = loop(t, k, i, stmt_end(k, i));
            i = stmt_end(k, i);
            break;
        case ST_IF:
            if (!index_of(t, x_import(&t->x, s->cond)))
                i = stmt_end(k, i);
            break;
        case ST_END: /* of an IF that was entered */
        case ST_DECL:
            break;
        case ST_UPDATE:
        case ST_SET:
        case ST_STORE:
            ok = walk(t, s->val) && write_to(t, s);
            break;
        case ST_SYNC:
        case ST_ASYNC:
        case ST_COMMIT:
        case ST_WAIT:
        case ST_ATOMIC:
        case ST_ACQUIRE:
        case ST_RELEASE:
            BUG("kernel %s is bound: it was not written out", k->name);
        }
        if (!ok)
            return false;
    }
    return true;
}

static void tracer_init(struct tracer *t)
{
    const struct lprog *l = t->l;

    xtab_init(&t->x, l, t->a);
    for (int i = 0; i < l->ix.n; i++)
        x_import(&t->x, i);
    t->place = arena_array(t->a, struct place, l->n_access + 1);
    for (int i = 0; i < l->n_access; i++)
        x_place(&t->x, &l->access[i], &t->place[i]);
    t->x_val = arena_array(t->a, int64_t, t->x.n + 1);
    t->x_of = arena_array(t->a, int, t->x.n + 1);
    t->val_of = arena_array(t->a, int, l->n_value + 1);
    t->var = arena_array(t->a, int64_t, l->n_var + 1);
    t->steps = TRACE_STEPS;
}

static void trace_all(struct tracer *t)
{
    tracer_init(t);
    *t->ended = (struct outcome){ .status = OUT_RAN };
    for (int i = 0; i < t->l->n_kernel; i++) {
        t->kernel = i;
        t->n_open = 0;
        if (!t->l->kernel[i].dead && !block(t, &t->l->kernel[i], 0, t->l->kernel[i].n))
            break;
    }
}

void interp_trace(const struct lprog *l, int kernel, struct trace *out, struct arena *a)
{
    struct tracer t = { .l = l, .a = a, .want_kernel = kernel, .out = out };

    *out = (struct trace){ 0 };
    t.ended = &out->ended;
    trace_all(&t);
}

bool interp_where(const struct lprog *l, int buffer, int64_t element, struct loops *out,
                  struct arena *a)
{
    struct outcome ended;
    struct tracer t = { .l = l,
                        .a = a,
                        .ended = &ended,
                        .want_buffer = buffer,
                        .want_element = element,
                        .where = out,
                        .where_var = arena_array(a, int, MAX_LOOPS),
                        .where_at = arena_array(a, int64_t, MAX_LOOPS) };

    trace_all(&t);
    return t.found;
}
