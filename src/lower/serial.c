/* Statements of bound kernels as ordinary loops. */
#include "lower/serial.h"

#include <stdio.h>

#include "base/bug.h"
#include "lower/nest.h"
#include "lower/serial_inner.h"

enum { WARP = 32, ALIGN = 16 };

static void push(struct writer *w, struct stmt s)
{
    kernel_push(w->l, &w->list, s)->by = s.by;
}

/* A thread's own part of an array is set to the identity again. */
static void write_reset(struct writer *w, const struct stmt *s)
{
    struct lprog *l = w->l;
    struct acc a = l->acc[s->acc];
    struct stmt set = { .kind = ST_SET, .acc = s->acc, .acc_at = -1, .by = s->by };
    int j = -1;

    set.val = lprog_lit(l, a.dt, reduce_identity(a.identity, a.dt));
    if (a.elems != 1) {
        char name[MAX_LABEL];

        snprintf(name, sizeof name, "%.*s.j", MAX_LABEL - 3, w->k->name);
        j = lprog_var(l, -1, name, a.elems, false);
        push(w, (struct stmt){ .kind = ST_LOOP, .var = j, .by = s->by });
        set.acc_at = ix_var(&l->ix, j);
    }
    push(w, serial_acc(w, set));
    if (j >= 0)
        push(w, (struct stmt){ .kind = ST_END, .by = s->by });
}

static void write_stmt(struct writer *w, struct stmt s)
{
    struct lprog *l = w->l;

    switch (s.kind) {
    case ST_LOOP:
        if (s.loop != LOOP_LANES)
            s.loop = LOOP_SERIAL;
        push(w, s);
        return;
    case ST_IF:
    case ST_END:
        push(w, s);
        return;
    case ST_DECL:
        if (!w->own[s.acc].apart)
            push(w, s);
        else if (!w->own[s.acc].stays)
            write_reset(w, &s);
        return;
    case ST_UPDATE:
    case ST_SET:
        s.val = serial_value(w, s.val);
        push(w, serial_acc(w, s));
        return;
    case ST_ASYNC:
    case ST_STORE:
        s.kind = ST_STORE;
        s.val = serial_value(w, s.val);
        push(w, s);
        return;
    case ST_ATOMIC:
        s.kind = ST_STORE;
        s.val = lprog_op2(l, OP_ADD, l->access[s.access].dt, lprog_load(l, s.access),
                          serial_value(w, s.val));
        push(w, s);
        return;
    case ST_SYNC:
    case ST_COMMIT:
    case ST_WAIT:
    case ST_ACQUIRE:
    case ST_RELEASE:
        return;
    }
}

/* Loops over the threads, and what of IFs and lanes is open round the present place. */
static int open_threads(struct writer *w)
{
    int n = 0;

    for (int i = 0; i < kernel_body(w->k); i++) {
        struct stmt s = w->k->st[i];

        if (s.loop != LOOP_THREAD)
            continue;
        s.loop = LOOP_SERIAL;
        push(w, s);
        n++;
    }
    for (int i = 0; i < w->n_cond; i++)
        push(w, w->k->st[w->cond[i]]);
    if (w->lanes >= 0)
        push(w, w->k->st[w->lanes]);
    return n + w->n_cond + (w->lanes >= 0);
}

static void close_loops(struct writer *w, int n)
{
    while (n-- > 0)
        push(w, (struct stmt){ .kind = ST_END });
}

static void write_decl(struct writer *w, int acc, int by)
{
    push(w, (struct stmt){ .kind = ST_DECL, .acc = acc, .acc_at = -1, .by = by });
}

static bool is_kept_decl(const struct writer *w, const struct stmt *s)
{
    return s->kind == ST_DECL && w->own[s->acc].apart && w->own[s->acc].stays;
}

/* A piece, from .. to-1: the DECLs that do for all threads first, they stand before any use. */
static void write_piece(struct writer *w, int from, int to)
{
    bool any = false;
    int n;

    for (int i = from; i < to; i++) {
        const struct stmt *s = &w->k->st[i];

        if (is_kept_decl(w, s))
            write_decl(w, w->own[s->acc].to, s->by);
        else
            any |= !region_silent(s) && s->kind != ST_LOOP && s->kind != ST_IF &&
                   s->kind != ST_END;
    }
    if (!any)
        return;
    n = open_threads(w);
    for (int i = from; i < to; i++)
        write_stmt(w, w->k->st[i]);
    close_loops(w, n);
}

/* All threads' values before any is combined. */
static void write_shuffle(struct writer *w, struct stmt s)
{
    struct lprog *l = w->l;
    struct value v = l->value[s.val];
    int tmp = w->tmp[v.dt] - 1, n = open_threads(w);

    push(w, (struct stmt){ .kind = ST_SET,
                           .acc = tmp,
                           .acc_at = w->tid,
                           .val = serial_value(w, lprog_acc_load(l, v.arg[0], v.arg[1])),
                           .by = s.by });
    close_loops(w, n);
    n = open_threads(w);
    s.val = lprog_acc_load(l, tmp, ix_xor(&l->ix, w->tid, ix_const(&l->ix, v.arg[2])));
    push(w, serial_acc(w, s));
    close_loops(w, n);
}

static void write_nest(struct writer *w, int at, int end);

static void write_apart(struct writer *w, int from, int to)
{
    for (int i = from, end; i < to; i = end) {
        const struct stmt *s = &w->k->st[i];

        end = i + 1;
        if (w->r.of[i] == REGION_SHUFFLE) {
            write_shuffle(w, *s);
        } else if (w->r.of[i] != REGION_APART) {
            while (end < to && w->r.of[end] == w->r.of[i])
                end++;
            write_piece(w, i, end);
        } else {
            end = stmt_end(w->k, i) + 1;
            write_nest(w, i, end);
        }
    }
}

/* Loops come out; IFs and lanes go into each of the pieces within. */
static void write_nest(struct writer *w, int at, int end)
{
    const struct stmt *s = &w->k->st[at];

    if (s->kind == ST_IF) {
        if (w->n_cond == SERIAL_DEPTH)
            BUG("kernel %s is nested deeper than %d", w->k->name, SERIAL_DEPTH);
        w->cond[w->n_cond++] = at;
        write_apart(w, at + 1, end - 1);
        w->n_cond--;
    } else if (s->loop == LOOP_LANES) {
        w->lanes = at;
        write_apart(w, at + 1, end - 1);
        w->lanes = -1;
    } else {
        write_stmt(w, *s);
        write_apart(w, at + 1, end - 1);
        write_stmt(w, w->k->st[end - 1]);
    }
}

/* Arrays that must be there for all of a block: those for shuffles, and those of accumulators
 * whose DECLs are done thread by thread. */
static void write_arrays(struct writer *w)
{
    struct lprog *l = w->l;

    for (int i = kernel_body(w->k); i < w->k->n; i++) {
        const struct value *v;

        if (w->r.of[i] != REGION_SHUFFLE)
            continue;
        v = &l->value[w->k->st[i].val];
        if (w->tmp[v->dt])
            continue;
        w->tmp[v->dt] =
            serial_array(w, v->arg[0], (w->threads + WARP - 1) / WARP * WARP, ".shfl") + 1;
        write_decl(w, w->tmp[v->dt] - 1, w->k->st[i].by);
    }
    for (int i = 0; i < w->n_own; i++)
        if (w->own[i].apart && !w->own[i].stays)
            write_decl(w, w->own[i].to, w->k->st[w->own[i].decl].by);
}

static void write_kernel(struct lprog *l, int kernel)
{
    struct kernel *k = &l->kernel[kernel];
    struct writer w = { .l = l, .k = k, .list = list_new(k), .lanes = -1 };
    int body = kernel_body(k), n_block = 0;

    w.r = region_find(l, kernel);
    w.threads = kernel_threads(l, k);
    w.tid = kernel_thread_index(l, k);
    serial_owners(&w);
    w.n_memo = l->n_value;
    w.memo = arena_array(l->arena, int, w.n_memo + 1);
    for (int i = 0; i < body; i++) {
        struct stmt s = k->st[i];

        if (s.loop != LOOP_BLOCK)
            continue;
        s.loop = LOOP_SERIAL;
        push(&w, s);
        n_block++;
    }
    write_arrays(&w);
    write_apart(&w, body, k->n - body);
    close_loops(&w, n_block);
    list_take(k, &w.list);
}

/* The pools of all kernels lie at one place, behind the temps that are planned. */
static void place_shared(struct lprog *l)
{
    int64_t base = (l->arena_bytes + ALIGN - 1) / ALIGN * ALIGN, end = l->arena_bytes;

    for (int i = 0; i < l->n_buffer; i++) {
        struct buffer *b = &l->buffer[i];
        int64_t bytes = buffer_bytes(b);

        if (b->kind != BUF_SHARED)
            continue;
        b->kind = BUF_TEMP;
        b->arena_at = b->smem_at < 0 ? -1 : base + b->smem_at;
        b->smem_at = -1;
        if (b->arena_at >= 0 && end < b->arena_at + bytes)
            end = b->arena_at + bytes;
    }
    l->arena_bytes = end;
}

void lower_serial(struct lprog *l)
{
    for (int k = 0; k < l->n_kernel; k++)
        if (!l->kernel[k].dead && kernel_bound(&l->kernel[k]))
            write_kernel(l, k);
    place_shared(l);
}
