#include "lower/plan.h"

#include <stdio.h>
#include <string.h>

#include "lower/nest.h"

enum { MAX_DEPTH = 128 };

struct walk {
    struct lprog *l;
    struct interval *live;
    int loop_end[MAX_DEPTH], loop_start[MAX_DEPTH]; /* of the loops that are open */
    int depth;
    int now, kernel;
};

/* A use at this statement: alive until the outermost loop round it that does not hold the
 * definition has ended. */
static void touch(struct walk *w, int buffer)
{
    struct interval *v = &w->live[buffer];
    int end = w->now;

    for (int d = w->depth - 1; d >= 0 && !FAULT(w->l, liveness_ignores_loops); d--)
        if (w->loop_start[d] > v->start)
            end = w->loop_end[d];
    if (end > v->end)
        v->end = end;
    v->last_kernel = w->kernel;
}

static void use(void *ctx, int access)
{
    struct walk *w = ctx;
    const struct access *a = &w->l->access[access];

    if (a->src == SRC_BUFFER)
        touch(w, a->buffer);
}

static void define(struct walk *w, int buffer)
{
    struct interval *v = &w->live[buffer];

    if (v->start < 0) {
        v->start = w->now;
        v->first_kernel = w->kernel;
    }
    touch(w, buffer);
    if (w->depth > 0 && w->loop_end[0] > v->end && !FAULT(w->l, liveness_ignores_loops))
        v->end = w->loop_end[0]; /* stores go on until the nest is done */
}

static void walk_kernel(struct walk *w, const struct kernel *k)
{
    int first = w->now;

    w->depth = 0;
    for (int i = 0; i < k->n; i++, w->now++) {
        const struct stmt *s = &k->st[i];

        if (s->kind == ST_LOOP || s->kind == ST_IF) {
            /* IFs keep a place too, so that every END closes one; they prolong nothing */
            bool loop = s->kind == ST_LOOP;

            w->loop_start[w->depth] = loop ? w->now : -1;
            w->loop_end[w->depth++] = loop ? first + stmt_end(k, i) : w->now;
        } else if (s->kind == ST_END) {
            w->depth--;
        }
        stmt_loads(w->l, s, use, w);
        if (s->kind == ST_ATOMIC || s->kind == ST_ACQUIRE)
            touch(w, w->l->access[s->access].buffer);
        if (stmt_writes(s))
            define(w, w->l->access[s->access].buffer);
    }
}

const struct interval *plan_liveness(struct lprog *l)
{
    struct walk w = { .l = l };

    w.live = arena_array(l->arena, struct interval, l->n_buffer + 1);
    for (int b = 0; b < l->n_buffer; b++)
        w.live[b] = (struct interval){ -1, -1, -1, -1 };
    for (w.kernel = 0; w.kernel < l->n_kernel; w.kernel++)
        if (!l->kernel[w.kernel].dead)
            walk_kernel(&w, &l->kernel[w.kernel]);
    return w.live;
}

struct donor {
    const struct lprog *l;
    int donor, out;
    int index;  /* of the store this statement makes, -1 = not a store to out */
    bool blind; /* other indices are not seen: only faults are that */
    bool ok;
};

static void donor_read(void *ctx, int access)
{
    struct donor *d = ctx;
    const struct access *a = &d->l->access[access];

    if (a->src != SRC_BUFFER)
        return;
    if (a->buffer == d->out)
        d->ok = false;
    if (a->buffer == d->donor && a->index != d->index && !d->blind)
        d->ok = false;
}

/* Does every block and thread have elements of its own at the access? Where a loop over them
 * has no part in the index, several store the same element, one of them perhaps before
 * another one reads. */
static bool own_elements(const struct lprog *l, const struct kernel *k, int access)
{
    for (int i = 0; i < kernel_body(k); i++)
        if (l->var[k->st[i].var].extent > 1 &&
            !ix_uses(&l->ix, l->access[access].index, k->st[i].var))
            return false;
    return true;
}

/* Is that node what an assign was written out to? Only a fault asks. */
static bool assigns(const struct prog *p, int node)
{
    char name[2 * MAX_NAME];

    if (node < 0)
        return false;
    snprintf(name, sizeof name, "%s.true", p->node[node].name);
    return prog_find(p, name, strlen(name)) >= 0;
}

bool plan_inplace_ok(const struct lprog *l, int k, int out, int donor)
{
    struct donor d = { .l = l, .donor = donor, .out = out, .ok = true };
    const struct kernel *kn = &l->kernel[k];

    if (!kernel_reads(l, kn, donor))
        return false;
    d.blind = FAULT(l, matmul_reads_own_output) ||
              (FAULT(l, inplace_overlapping_shift) && assigns(l->prog, kn->node));
    for (int i = 0; i < kn->n; i++) {
        const struct stmt *s = &kn->st[i];
        bool to_out = stmt_has_access(s) && l->access[s->access].buffer == out;

        d.index = to_out && s->kind == ST_STORE ? l->access[s->access].index : -1;
        stmt_loads(l, s, donor_read, &d);
        /* what others add to, or wait for, is not this thread's own */
        if (to_out && (s->kind != ST_STORE || !own_elements(l, kn, s->access)))
            d.ok = false;
        if (stmt_has_access(s) && s->kind != ST_STORE && l->access[s->access].buffer == donor)
            d.ok = false;
    }
    return d.ok;
}

bool plan_shared(const struct interval *live, int n, const struct buffer *buffer, int donor,
                 int start)
{
    for (int b = 0; b < n; b++)
        if (b != donor && buffer[b].kind == BUF_TEMP && buffer[b].arena_at >= 0 &&
            buffer[b].arena_at == buffer[donor].arena_at && live[b].end > start)
            return true;
    return false;
}
