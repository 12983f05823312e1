/*
 * The tracer: walks statements and values as they are written, no code, no speed. Memory
 * cells and accumulators carry tags beside their words.
 */
#include "run/interp_trace.h"
#include "base/bug.h"

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

void trace_record(struct tracer *t, int access, bool store, bool guarded, int64_t index,
                  enum dtype dt, struct val v)
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
                            .tag = v.tag,
                            .value = word_number(dt, t->al, v.w),
                            .loops = loops_now(t) };
}

bool trace_outside(struct tracer *t, const char *name, int64_t index, int64_t size, bool store)
{
    struct site *s = &t->ended->site;
    size_t used = 0;

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

unsigned char *trace_cell(const struct tracer *t, int buffer, int64_t index)
{
    const struct buffer *b = &t->l->buffer[buffer];
    unsigned char *p =
        code_planned(t->l, buffer) ? t->env->temps.p + b->arena_at : t->env->buf[buffer].p;

    return p + index * dtype_info(b->dt)->bytes;
}

struct tag *trace_tag(const struct tracer *t, int buffer, int64_t index)
{
    const struct buffer *b = &t->l->buffer[buffer];

    if (!code_planned(t->l, buffer))
        return &t->tags[buffer][index];
    return &t->arena_tag[b->arena_at + index * dtype_info(b->dt)->bytes];
}

static bool store(struct tracer *t, const struct stmt *s, struct val v)
{
    const struct access *ac = &t->l->access[s->access];
    const struct buffer *b = &t->l->buffer[ac->buffer];
    int64_t index = trace_index(t, t->place[s->access].index);
    int bytes = dtype_info(b->dt)->bytes;

    if (index < 0 || index >= code_elems(t->l, ac->buffer))
        return trace_outside(t, b->name, index, code_elems(t->l, ac->buffer), true);
    trace_write(t, b->dt, trace_cell(t, ac->buffer, index), v.w);
    if (v.tag.buffer == TAG_COMPUTED)
        v.tag = (struct tag){ ac->buffer, index };
    for (int i = 1; code_planned(t->l, ac->buffer) && i < bytes; i++)
        trace_tag(t, ac->buffer, index)[i] = (struct tag){ TAG_NONE, 0 };
    *trace_tag(t, ac->buffer, index) = v.tag;
    trace_record(t, s->access, true, false, index, b->dt, v);
    if (t->where && ac->buffer == t->want_buffer && index == t->want_element &&
        (t->want_kernel < 0 || t->want_kernel == t->kernel)) {
        *t->where = loops_into(t, t->where_var, t->where_at);
        t->found = true;
    }
    return true;
}

static bool update(struct tracer *t, const struct stmt *s, struct val v)
{
    const struct acc *a = &t->l->acc[s->acc];
    struct val *to = trace_acc(t, s->acc, s->acc_at, true);

    if (!to)
        return false;
    to->w = trace_apply(t, ins_of(a->op, a->dt, a->dt), a->dt, (struct val[3]){ *to, v, v });
    to->tag = (struct tag){ TAG_COMPUTED, 0 };
    return true;
}

static bool set(struct tracer *t, const struct stmt *s, struct val v)
{
    struct val *to = trace_acc(t, s->acc, s->acc_at, true);

    return to ? (*to = v, true) : false;
}

/* A new statement, or the same one at other values of the loops. */
static void begin(struct tracer *t, int stmt)
{
    t->serial++;
    t->stmt = stmt;
    t->leaf = 0;
    t->loops.n = -1;
}

static bool write_to(struct tracer *t, const struct stmt *s, struct val v)
{
    return s->kind == ST_STORE ? store(t, s, v)
           : s->kind == ST_SET ? set(t, s, v)
                               : update(t, s, v);
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
    struct val *v = t->lane;

    for (int64_t i = 0; i < n; i++) {
        t->var[var] = i;
        begin(t, at);
        if (!step(t) || !trace_value(t, s->val, &v[i]))
            return false;
    }
    for (int64_t i = 0; i < n; i++) {
        t->var[var] = i;
        begin(t, at);
        if (!write_to(t, s, v[i]))
            return false;
    }
    return true;
}

static void declare(struct tracer *t, int acc)
{
    const struct acc *a = &t->l->acc[acc];
    union word w = word_literal(a->dt, t->al, acc_identity(a));

    for (int64_t i = 0; i < a->elems; i++)
        t->acc[acc][i] = (struct val){ w, { TAG_NONE, 0 } };
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
        struct val v;
        bool ok = true;

        begin(t, i);
        switch (s->kind) {
        case ST_LOOP:
            ok = loop(t, k, i, stmt_end(k, i));
            i = stmt_end(k, i);
            break;
        case ST_IF:
            if (!trace_index(t, x_import(&t->x, s->cond)))
                i = stmt_end(k, i);
            break;
        case ST_END: /* of an IF that was entered */
            break;
        case ST_DECL:
            declare(t, s->acc);
            break;
        case ST_UPDATE:
        case ST_SET:
        case ST_STORE:
            ok = trace_value(t, s->val, &v) && write_to(t, s, v);
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

static void tags_init(struct tracer *t)
{
    const struct lprog *l = t->l;
    t->tags = arena_array(t->a, struct tag *, l->n_buffer + 1);
    for (int i = 0; i < l->n_buffer; i++) {
        const struct buffer *b = &l->buffer[i];

        if (code_planned(l, i))
            continue;
        t->tags[i] = arena_array(t->a, struct tag, b->elems);
        for (int64_t e = 0; e < b->elems; e++)
            t->tags[i][e] = (struct tag){ b->kind == BUF_INPUT ? i : TAG_NONE, e };
    }
    t->arena_tag = arena_array(t->a, struct tag, l->arena_bytes);
    for (int64_t i = 0; i < l->arena_bytes; i++)
        t->arena_tag[i] = (struct tag){ TAG_NONE, 0 };
}

static int64_t most_lanes(const struct lprog *l)
{
    int64_t most = 0;

    for (int k = 0; k < l->n_kernel; k++) {
        for (int i = 0; i < l->kernel[k].n; i++) {
            const struct stmt *s = &l->kernel[k].st[i];

            if (s->kind == ST_LOOP && s->loop == LOOP_LANES && l->var[s->var].extent > most)
                most = l->var[s->var].extent;
        }
    }
    return most;
}

static void tracer_init(struct tracer *t)
{
    const struct lprog *l = t->l;

    interp_math_init();
    xtab_init(&t->x, l, t->a);
    for (int i = 0; i < l->ix.n; i++)
        x_import(&t->x, i);
    t->place = arena_array(t->a, struct place, l->n_access + 1);
    for (int i = 0; i < l->n_access; i++)
        x_place(&t->x, &l->access[i], &t->place[i]);
    t->x_val = arena_array(t->a, int64_t, t->x.n + 1);
    t->x_of = arena_array(t->a, int, t->x.n + 1);
    t->val = arena_array(t->a, struct val, l->n_value + 1);
    t->val_of = arena_array(t->a, int, l->n_value + 1);
    t->var = arena_array(t->a, int64_t, l->n_var + 1);
    t->acc = arena_array(t->a, struct val *, l->n_acc + 1);
    for (int i = 0; i < l->n_acc; i++)
        t->acc[i] = arena_array(t->a, struct val, l->acc[i].elems);
    t->lane = arena_array(t->a, struct val, most_lanes(l) + 1);
    t->steps = t->env->step_limit < TRACE_STEPS ? t->env->step_limit : TRACE_STEPS;
    tags_init(t);
}

static int trace_all(struct tracer *t, struct err *e)
{
    if (run_place(t->env, t->l, t->al, e))
        return e->code;
    tracer_init(t);
    *t->ended = (struct outcome){ .status = OUT_RAN, .algebra = t->al };
    for (int i = 0; i < t->l->n_kernel; i++) {
        t->kernel = i;
        t->n_open = 0;
        if (!t->l->kernel[i].dead && !block(t, &t->l->kernel[i], 0, t->l->kernel[i].n))
            break;
    }
    return 0;
}

int interp_trace(struct run_env *env, const struct lprog *l, enum algebra al, int kernel,
                 struct trace *out, struct arena *a, struct err *e)
{
    struct tracer t = {
        .l = l, .env = env, .a = a, .al = al, .want_kernel = kernel, .out = out
    };

    *out = (struct trace){ 0 };
    t.ended = &out->ended;
    return trace_all(&t, e);
}

bool interp_where(struct run_env *env, const struct lprog *l, enum algebra al, int kernel,
                  int buffer, int64_t element, struct loops *out, struct arena *a)
{
    struct tracer t = { .l = l,
                        .env = env,
                        .a = a,
                        .al = al,
                        .want_kernel = kernel,
                        .want_buffer = buffer,
                        .want_element = element,
                        .where = out };
    struct outcome ended;
    struct err e = { 0 };

    t.where_var = arena_array(a, int, MAX_LOOPS);
    t.where_at = arena_array(a, int64_t, MAX_LOOPS);
    t.ended = &ended;
    return trace_all(&t, &e) == 0 && t.found;
}
