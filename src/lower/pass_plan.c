/*
 * plan: puts temporaries and workspaces into one arena.
 * needs: final kernels. keeps: caller's buffers where they are. gives: arena_at of every
 * temp that is used; one rewrite each:
 *   plan.inplace  the output of a kernel takes the storage of an operand that dies there
 *   plan.place    a free range of the arena (best fit), or fresh bytes (linear)
 * Steps "plan off|linear|best" and "inplace on|off"; the default is best, on.
 */
#include "lower/plan.h"

#include "lower/nest.h"
#include "lower/passes.h"

enum { ALIGN = 16 };

/* A range of the arena that is taken until statement `end`. */
struct block {
    int64_t at, bytes;
    int end;
};

struct planner {
    struct lprog *l;
    const struct interval *live;
    struct block *block;
    int n_block;
    int plan_step, inplace_step;
    enum plan_policy policy;
    bool inplace;
};

static void read_steps(struct planner *p)
{
    const struct trial *t = p->l->trial;

    p->plan_step = p->inplace_step = -1;
    p->policy = PLAN_BEST;
    p->inplace = true;
    for (int i = 0; i < t->n_step; i++) {
        if (t->step[i].kind == STEP_PLAN) {
            p->plan_step = i;
            p->policy = t->step[i].policy;
        } else if (t->step[i].kind == STEP_INPLACE) {
            p->inplace_step = i;
            p->inplace = t->step[i].on;
        }
    }
}

/* Lowest address of the smallest gap between blocks alive at `start` that holds `bytes`;
 * the end of the arena if there is none. */
static int64_t best_fit(const struct planner *p, int64_t bytes, int start)
{
    int64_t best = -1, best_gap = INT64_MAX, top = 0;

    for (int i = -1; i < p->n_block; i++) {
        int64_t from = i < 0 ? 0 : p->block[i].at + p->block[i].bytes, to = INT64_MAX;
        bool free = i < 0 || p->block[i].end > start;

        for (int j = 0; j < p->n_block && free; j++) {
            const struct block *b = &p->block[j];

            if (b->end <= start)
                continue;
            if (b->at <= from && from < b->at + b->bytes)
                free = false;
            else if (b->at >= from && b->at < to)
                to = b->at;
        }
        if (i >= 0 && p->block[i].end > start && from > top)
            top = from;
        if (free && to != INT64_MAX && to - from >= bytes && to - from < best_gap) {
            best = from;
            best_gap = to - from;
        }
    }
    return best >= 0 ? best : top;
}

static void take(struct planner *p, int buffer, int64_t at)
{
    struct lprog *l = p->l;
    int64_t bytes = (buffer_bytes(&l->buffer[buffer]) + ALIGN - 1) / ALIGN * ALIGN;

    l->buffer[buffer].arena_at = at;
    if (at + bytes > l->arena_bytes)
        l->arena_bytes = at + bytes;
    if (bytes > 0)
        p->block[p->n_block++] = (struct block){ at, bytes, p->live[buffer].end };
}

/* The donor's block now lives as long as the one that took it over. */
static void extend(struct planner *p, int64_t at, int end)
{
    for (int i = 0; i < p->n_block; i++)
        if (p->block[i].at == at && p->block[i].end < end)
            p->block[i].end = end;
}

static bool place_inplace(struct planner *p, int buffer)
{
    struct lprog *l = p->l;

    for (int d = 0; d < l->n_buffer && p->inplace && p->policy == PLAN_BEST; d++) {
        const struct buffer *donor = &l->buffer[d];

        if (d == buffer || donor->kind != BUF_TEMP || donor->arena_at < 0 ||
            donor->elems != l->buffer[buffer].elems || donor->elems == 0 ||
            dtype_info(donor->dt)->bytes != dtype_info(l->buffer[buffer].dt)->bytes ||
            p->live[d].last_kernel != p->live[buffer].first_kernel ||
            !plan_inplace_ok(l, p->live[buffer].first_kernel, buffer, d) ||
            plan_shared(p->live, l->n_buffer, l->buffer, d, p->live[buffer].start))
            continue;
        if (!lprog_rewrite(l, "plan.inplace", p->inplace_step, p->live[buffer].first_kernel))
            return true;
        l->buffer[buffer].arena_at = donor->arena_at;
        extend(p, donor->arena_at, p->live[buffer].end);
        return true;
    }
    return false;
}

static void place(struct planner *p, int buffer)
{
    struct lprog *l = p->l;

    if (place_inplace(p, buffer))
        return;
    if (!lprog_rewrite(l, "plan.place", p->plan_step, p->live[buffer].first_kernel))
        return;
    take(p, buffer,
         p->policy == PLAN_LINEAR
             ? l->arena_bytes
             : best_fit(p, buffer_bytes(&l->buffer[buffer]), p->live[buffer].start));
}

int pass_plan(struct lprog *l, struct err *e)
{
    struct planner p = { .l = l, .live = plan_liveness(l) };
    int *order = arena_array(l->arena, int, l->n_buffer + 1), n = 0;

    (void)e;
    read_steps(&p);
    if (p.policy == PLAN_OFF)
        return 0;
    p.block = arena_array(l->arena, struct block, l->n_buffer + 1);
    for (int b = 0; b < l->n_buffer; b++) {
        int i = n;

        if (l->buffer[b].kind != BUF_TEMP || p.live[b].start < 0)
            continue;
        for (; i > 0 && p.live[order[i - 1]].start > p.live[b].start; i--)
            order[i] = order[i - 1];
        order[i] = b;
        n++;
    }
    for (int i = 0; i < n && !l->stopped; i++)
        place(&p, order[i]);
    return 0;
}
