/*
 * smem: places shared buffers in the pool of their block.
 * needs: final statements, all but barriers. keeps: which buffers there are.
 * gives: smem_at of every shared buffer, a multiple of 16; one rewrite each:
 *   smem.place    behind the ones before
 *   smem.overlay  over others that are dead: only where a step asked for it
 * Liveness counts the statements of the body: a buffer that is alive in a loop is alive in all
 * of it; what asynchronous copies write is alive until they are waited for.
 */
#include "lower/nest.h"
#include "lower/passes.h"

enum { ALIGN = 16, MAX_POOL = 48 * 1024 };

struct life {
    int start, end; /* statements of the body's top level; start -1 = never used */
    bool async;     /* written by asynchronous copies, the last of them at `last` */
    int last;
};

struct lives {
    const struct lprog *l;
    struct life *life; /* by buffer */
    int at;
};

static void touch(void *ctx, int access)
{
    struct lives *w = ctx;
    const struct access *a = &w->l->access[access];
    struct life *v;

    if (a->src != SRC_BUFFER)
        return;
    v = &w->life[a->buffer];
    if (v->start < 0)
        v->start = w->at;
    v->end = w->at;
}

/* Copies under way are waited for by the first WAIT for all behind the last of them. */
static void drained(struct lives *w, int at)
{
    for (int b = 0; b < w->l->n_buffer; b++) {
        struct life *v = &w->life[b];

        if (v->async && v->end < at && v->last < at) {
            v->end = at;
            v->async = false;
        }
    }
}

static struct life *lives_of(struct lprog *l, const struct kernel *k)
{
    struct lives w = { .l = l };
    int body = kernel_body(k), depth = 0;

    w.life = arena_array(l->arena, struct life, l->n_buffer + 1);
    for (int b = 0; b < l->n_buffer; b++)
        w.life[b] = (struct life){ .start = -1, .end = -1 };
    for (int i = body; i < k->n - body; i++) {
        const struct stmt *s = &k->st[i];

        if (depth == 0)
            w.at = i;
        stmt_loads(l, s, touch, &w);
        if (stmt_has_access(s))
            touch(&w, s->access);
        if (s->kind == ST_ASYNC) {
            w.life[l->access[s->access].buffer].async = true;
            w.life[l->access[s->access].buffer].last = w.at;
        }
        if (s->kind == ST_WAIT && s->n == 0 && depth == 0)
            drained(&w, i);
        depth += s->kind == ST_LOOP || s->kind == ST_IF;
        depth -= s->kind == ST_END;
    }
    return w.life;
}

static int64_t round_up(const struct lprog *l, int64_t n)
{
    return FAULT(l, smem_offset_unaligned_overlap) ? n / ALIGN * ALIGN
                                                   : (n + ALIGN - 1) / ALIGN * ALIGN;
}

static int64_t end_of(const struct lprog *l, const struct buffer *b)
{
    return round_up(l, b->smem_at + buffer_bytes(b));
}

/* Would buffer b at `at` lie over a buffer that is alive together with it? */
static bool clashes(const struct lprog *l, const struct life *life, int b, int64_t at)
{
    int64_t bytes = buffer_bytes(&l->buffer[b]);

    for (int i = 0; i < l->n_buffer; i++) {
        const struct buffer *x = &l->buffer[i];

        if (i == b || x->kind != BUF_SHARED || x->kernel != l->buffer[b].kernel ||
            x->smem_at < 0 || at >= end_of(l, x) || x->smem_at >= at + bytes)
            continue;
        if (life[i].start <= life[b].end && life[b].start <= life[i].end)
            return true;
    }
    return false;
}

/* The lowest place for an overlay: the start of the pool, or behind some buffer. */
static int64_t lowest(const struct lprog *l, const struct life *life, int b)
{
    int64_t best = clashes(l, life, b, 0) ? -1 : 0;

    for (int i = 0; i < l->n_buffer; i++) {
        const struct buffer *x = &l->buffer[i];

        if (x->kind != BUF_SHARED || x->kernel != l->buffer[b].kernel || x->smem_at < 0)
            continue;
        if ((best < 0 || end_of(l, x) < best) && !clashes(l, life, b, end_of(l, x)))
            best = end_of(l, x);
    }
    return best;
}

static int64_t pool_end(const struct lprog *l, int kernel)
{
    int64_t end = 0;

    for (int i = 0; i < l->n_buffer; i++) {
        const struct buffer *b = &l->buffer[i];

        if (b->kind == BUF_SHARED && b->kernel == kernel && b->smem_at >= 0 &&
            end_of(l, b) > end)
            end = end_of(l, b);
    }
    return end;
}

static int place(struct lprog *l, const struct life *life, int b, struct err *e)
{
    struct buffer *x = &l->buffer[b];
    int step = x->by > 0 ? l->log[x->by - 1].step : -1;
    int64_t at = x->overlay ? lowest(l, life, b) : pool_end(l, x->kernel);
    int64_t bytes = buffer_bytes(x);
    const char *name = l->kernel[x->kernel].name;

    if (at + bytes > MAX_POOL && step >= 0)
        return step_error(&l->trial->step[step], e,
                          "%s takes kernel %s to %lld bytes of shared memory; a block has %d",
                          x->name, name, (long long)(at + bytes), MAX_POOL);
    if (at + bytes > MAX_POOL)
        return err_set(e, ERR_ILLEGAL, "kernel %s: %lld bytes of shared memory; a block has %d",
                       name, (long long)(at + bytes), MAX_POOL);
    if (lprog_rewrite(l, x->overlay ? "smem.overlay" : "smem.place", step, x->kernel))
        x->smem_at = at;
    return 0;
}

static int place_kernel(struct lprog *l, int kernel, struct err *e)
{
    const struct life *life = lives_of(l, &l->kernel[kernel]);

    for (int overlay = 0; overlay < 2; overlay++)
        for (int b = 0; b < l->n_buffer && !l->stopped; b++) {
            const struct buffer *x = &l->buffer[b];

            if (x->kind != BUF_SHARED || x->kernel != kernel || x->overlay != overlay ||
                life[b].start < 0)
                continue;
            if (place(l, life, b, e))
                return e->code;
        }
    return 0;
}

int pass_smem(struct lprog *l, struct err *e)
{
    for (int i = 0; i < l->n_kernel && !l->stopped; i++)
        if (!l->kernel[i].dead && kernel_bound(&l->kernel[i]) && place_kernel(l, i, e))
            return e->code;
    return 0;
}
