/*
 * What the tests of barriers share: lowering for a GPU, and an oracle that runs every thread
 * by itself and compares who touched which byte between two barriers.
 */
#ifndef TESTS_BARRIERS_H
#define TESTS_BARRIERS_H

#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/text.h"
#include "lower/lower.h"
#include "lower/nest.h"

/* One arena per test program. */
static struct arena arena;

static inline int lower_with(const char *text, enum fault fault, struct lprog **l,
                             struct err *e)
{
    struct lower_opts o = LOWER_OPTS_DEFAULT;
    struct trial *t;

    if (trial_parse(text, strlen(text), &arena, &t, e) || trial_check(t, e))
        return e->code;
    o.fault = fault;
    o.target = TARGET_GPU;
    return lower(t, &o, &arena, l, e);
}

static inline struct lprog *lowered(const char *text, enum fault fault)
{
    struct lprog *l;
    struct err e = { 0 };

    if (lower_with(text, fault, &l, &e))
        fail_msg("%d:%d: %s in\n%s", e.line, e.col, e.msg, text);
    return l;
}

/*
 * The oracle: one thread after the other runs the body of block 0 by itself and notes what it
 * touches, with the number of barriers that it has passed.
 */
struct access_rec {
    int phase, thread;
    int64_t byte;
    bool write;
};

struct pending {
    int from, group;
    int64_t byte;
};

struct oracle {
    struct lprog *l;
    const struct kernel *k;
    int64_t *at; /* by variable */
    int thread, phase, group, left_out;
    struct access_rec *rec;
    int n, cap;
    struct pending *pend;
    int n_pend, cap_pend;
};

static inline void note(struct oracle *o, int phase, int64_t byte, bool write)
{
    *arena_push(o->l->arena, o->rec, o->n, o->cap) =
        (struct access_rec){ phase, o->thread, byte, write };
}

/* Where a buffer begins: in the pool; of a global one that others may read, far away. -1 = it
 * is nobody's business. */
static inline int64_t begin_of(const struct oracle *o, int buffer)
{
    const struct buffer *b = &o->l->buffer[buffer];

    if (b->kind == BUF_SHARED)
        return b->smem_at;
    if (b->kind == BUF_TEMP && kernel_reads(o->l, o->k, buffer) &&
        kernel_writes(o->l, o->k, buffer))
        return (int64_t)(buffer + 1) << 40;
    return -1;
}

static inline void bytes_of(struct oracle *o, int access, bool write, bool async)
{
    const struct access *a = &o->l->access[access];
    int bytes = dtype_info(a->dt)->bytes;
    int64_t from = a->src == SRC_BUFFER ? begin_of(o, a->buffer) : -1;

    if (from < 0)
        return;
    for (int g = 0; g < a->n_guard; g++)
        if (!ix_eval(&o->l->ix, a->guard[g].cond, o->at))
            return;
    for (int i = 0; i < bytes; i++) {
        int64_t byte = from + ix_eval(&o->l->ix, a->index, o->at) * bytes + i;

        note(o, o->phase, byte, write);
        if (async)
            *arena_push(o->l->arena, o->pend, o->n_pend, o->cap_pend) =
                (struct pending){ o->phase, o->group, byte };
    }
}

static inline void load(void *ctx, int access)
{
    bytes_of(ctx, access, false, false);
}

/* Copies may land at any time up to the wait. */
static inline void land(struct oracle *o, int64_t left)
{
    int kept = 0;

    for (int i = 0; i < o->n_pend; i++) {
        if (o->pend[i].group >= o->group - left) {
            o->pend[kept++] = o->pend[i];
            continue;
        }
        for (int p = o->pend[i].from; p <= o->phase; p++)
            note(o, p, o->pend[i].byte, true);
    }
    o->n_pend = kept;
}

static inline void run_body(struct oracle *o, int from, int to)
{
    for (int i = from; i < to; i++) {
        const struct stmt *s = &o->k->st[i];

        if (s->kind == ST_LOOP) {
            for (int64_t v = 0; v < o->l->var[s->var].extent; v++) {
                o->at[s->var] = v;
                run_body(o, i + 1, stmt_end(o->k, i));
            }
            o->at[s->var] = 0;
            i = stmt_end(o->k, i);
            continue;
        }
        if (s->kind == ST_IF && !ix_eval(&o->l->ix, s->cond, o->at)) {
            i = stmt_end(o->k, i);
            continue;
        }
        if (stmt_has_value(s))
            value_accesses(o->l, s->val, load, o);
        if (stmt_writes(s))
            bytes_of(o, s->access, true, s->kind == ST_ASYNC);
        o->phase += s->kind == ST_SYNC && i != o->left_out;
        o->group += s->kind == ST_COMMIT;
        if (s->kind == ST_WAIT)
            land(o, s->n);
    }
}

static inline int compare(const void *x, const void *y)
{
    const struct access_rec *a = x, *b = y;

    if (a->phase != b->phase)
        return a->phase < b->phase ? -1 : 1;
    return a->byte < b->byte ? -1 : a->byte > b->byte;
}

/* Do two threads touch the same byte between the same barriers, one of them to write? One
 * SYNC may be left out. */
static inline bool races(struct lprog *l, int kernel, int left_out)
{
    struct oracle o = { .l = l, .k = &l->kernel[kernel], .left_out = left_out };
    int body = kernel_body(o.k), first = 0;
    int64_t threads = kernel_threads(l, o.k);

    o.at = arena_array(l->arena, int64_t, l->n_var + 1);
    for (int64_t t = 0; t < threads; t++) {
        int64_t rest = t;

        for (int i = body - 1; i >= 0; i--)
            if (o.k->st[i].loop == LOOP_THREAD) {
                o.at[o.k->st[i].var] = rest % l->var[o.k->st[i].var].extent;
                rest /= l->var[o.k->st[i].var].extent;
            }
        o.thread = (int)t;
        o.phase = o.group = o.n_pend = 0;
        run_body(&o, body, o.k->n - body);
        if (o.n_pend > 0)
            return true; /* still under way at the end */
    }
    if (o.n > 0)
        qsort(o.rec, (size_t)o.n, sizeof *o.rec, compare);
    for (int i = 0; i < o.n; i++) {
        if (compare(&o.rec[first], &o.rec[i]) != 0)
            first = i;
        for (int j = first; j < i; j++)
            if (o.rec[j].thread != o.rec[i].thread && (o.rec[j].write || o.rec[i].write))
                return true;
            else if (j == first && i - first > 64 && !o.rec[i].write)
                break; /* many readers: the first of them speaks for all */
    }
    return false;
}

static inline int syncs(const struct kernel *k)
{
    int n = 0;

    for (int i = 0; i < k->n; i++)
        n += k->st[i].kind == ST_SYNC;
    return n;
}

/* SYNCs in the loop called so, at any depth. */
static inline int syncs_in(const struct lprog *l, int kernel, const char *loop)
{
    const struct kernel *k = &l->kernel[kernel];

    for (int i = 0; i < k->n; i++)
        if (k->st[i].kind == ST_LOOP && strcmp(l->var[k->st[i].var].name, loop) == 0) {
            int n = 0;

            for (int j = i; j < stmt_end(k, i); j++)
                n += k->st[j].kind == ST_SYNC;
            return n;
        }
    fail_msg("no loop %s", loop);
    return 0;
}

static inline void print(const struct lprog *l)
{
    struct str s = { 0 };

    loop_print(l, &s);
    print_message("%s", str_get(&s));
    str_release(&s);
}

/* No races, and one as soon as any barrier is missing. */
static inline void check_barriers(struct lprog *l)
{
    for (int k = 0; k < l->n_kernel; k++) {
        if (l->kernel[k].dead)
            continue;
        if (races(l, k, -1)) {
            print(l);
            fail_msg("kernel %s has a race", l->kernel[k].name);
        }
        for (int i = 0; i < l->kernel[k].n; i++)
            if (l->kernel[k].st[i].kind == ST_SYNC && !races(l, k, i)) {
                print(l);
                fail_msg("kernel %s does not need the barrier at %d", l->kernel[k].name, i);
            }
    }
}

#endif
