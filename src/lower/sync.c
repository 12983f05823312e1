#include "lower/sync.h"

#include <string.h>

#include "lower/reduce.h"
#include "lower/sync_site.h"

enum { MAX_DEPTH = 64, MAX_STEPS_WALKED = 20000, MANY_ITERATIONS = 64, SOME = 8, PERIOD = 60 };

/* What happened when: the statement at each level of the walk, and the iteration of the loop
 * round it. */
struct moment {
    int depth;
    struct {
        int turn, stmt;
    } level[MAX_DEPTH];
};

/* One thread, or several: thread -1. epoch 0 = nobody yet. */
struct mark {
    int epoch, thread, step;
};

struct cell {
    struct mark written, read[2]; /* by two different threads, if two there were */
};

struct copy { /* under way */
    int64_t cell;
    int n, thread, group;
};

struct sync {
    struct lprog *l;
    int kernel;
    const struct kernel *k;
    struct sites sites;
    struct cell *cell;
    int64_t n_cell;
    struct moment *step;
    int n_step, cap_step;
    struct copy *copy;
    int n_copy, cap_copy;

    /* of one walk */
    const bool *before;
    int epoch, group;
    struct moment now;
    bool found;
    struct conflict best; /* with the latest earlier access */
    int best_step;
    const struct site *site; /* at work */
};

struct sync *sync_open(struct lprog *l, int kernel)
{
    struct sync *s = arena_new(l->arena, struct sync);

    *s = (struct sync){ .l = l, .kernel = kernel, .k = &l->kernel[kernel] };
    sites_find(&s->sites, l, kernel);
    s->n_cell = s->sites.pool / s->sites.grain + 1;
    s->cell = arena_array(l->arena, struct cell, s->n_cell);
    return s;
}

/* Between two moments: in front of the statement of the later one at the level where they
 * part, or at the end of the loop that they are two iterations of. -1 = within one unit. */
static int place_between(const struct sync *s, const struct moment *x, const struct moment *y)
{
    for (int d = 0; d < x->depth && d < y->depth; d++) {
        if (x->level[d].turn != y->level[d].turn)
            return stmt_end(s->k, y->level[d - 1].stmt);
        if (x->level[d].stmt != y->level[d].stmt)
            return y->level[d].stmt;
    }
    return -1;
}

static void clash(struct sync *s, const struct mark *m, enum hazard hazard)
{
    int at;

    if (FAULT(s->l, reduce_scratch_reuse_race) && hazard == HAZARD_WAR &&
        s->site->buffer == reduce_scratch(s->l, s->kernel))
        return;
    if (s->found && m->step <= s->best_step)
        return;
    at = place_between(s, &s->step[m->step], &s->now);
    if (at < 0)
        return;
    s->found = true;
    s->best_step = m->step;
    s->best = (struct conflict){ at, hazard, s->site->buffer };
}

static bool others(const struct sync *s, const struct mark *m, int thread)
{
    return m->epoch == s->epoch && (m->thread < 0 || m->thread != thread);
}

static void note_read(struct sync *s, struct cell *c, int thread)
{
    struct mark m = { s->epoch, thread, s->n_step - 1 };
    int at = c->read[0].epoch == s->epoch && c->read[0].thread != thread;

    if (others(s, &c->written, thread))
        clash(s, &c->written, HAZARD_RAW);
    c->read[at] = m;
}

static void note_write(struct sync *s, struct cell *c, int thread)
{
    if (others(s, &c->written, thread))
        clash(s, &c->written, HAZARD_WAW);
    for (int i = 0; i < 2; i++)
        if (others(s, &c->read[i], thread))
            clash(s, &c->read[i], HAZARD_WAR);
    c->written = (struct mark){ s->epoch, thread, s->n_step - 1 };
}

static void touch(void *ctx, int64_t byte, int thread)
{
    struct sync *s = ctx;
    int64_t from = byte / s->sites.grain, n = s->site->bytes / s->sites.grain;

    if (byte < 0 || from + n > s->n_cell)
        return;
    for (int64_t i = from; i < from + n; i++) {
        if (s->site->write)
            note_write(s, &s->cell[i], thread);
        else
            note_read(s, &s->cell[i], thread);
    }
    if (s->site->async)
        *arena_push(s->l->arena, s->copy, s->n_copy, s->cap_copy) =
            (struct copy){ from, (int)n, thread, s->group };
}

/* What was waited for is written now, by the thread that waited. */
static void wait_for(struct sync *s, int64_t left)
{
    int kept = 0;

    for (int i = 0; i < s->n_copy; i++) {
        const struct copy *c = &s->copy[i];

        if (c->group >= s->group - left) {
            s->copy[kept++] = *c;
            continue;
        }
        for (int64_t j = c->cell; j < c->cell + c->n; j++)
            s->cell[j].written = (struct mark){ s->epoch, c->thread, s->n_step - 1 };
    }
    s->n_copy = kept;
}

static void begin_step(struct sync *s)
{
    *arena_push(s->l->arena, s->step, s->n_step, s->cap_step) = s->now;
}

static bool at_end(const struct sync *s)
{
    return s->found || s->n_step >= MAX_STEPS_WALKED;
}

static void walk(struct sync *s, int from, int to, int turn);

/* Slots of a ring come round: many iterations are represented by the first ones and the
 * last ones, in step with each other for all depths of rings. */
static void walk_loop(struct sync *s, int at, int end)
{
    int var = s->k->st[at].var;
    int64_t extent = s->l->var[var].extent;

    s->sites.uniform[var] = true;
    for (int64_t i = 0; i < extent && !at_end(s); i++) {
        if (extent > MANY_ITERATIONS && i == SOME)
            i += (extent - 2 * SOME) / PERIOD * PERIOD;
        s->sites.at[var] = i;
        walk(s, at + 1, end, (int)i);
        s->epoch += s->before[end];
    }
    s->sites.at[var] = 0;
    s->sites.uniform[var] = false;
}

static void visit(struct sync *s, int at)
{
    const struct stmt *st = &s->k->st[at];

    begin_step(s);
    s->epoch += st->kind == ST_SYNC;
    s->group += st->kind == ST_COMMIT;
    if (st->kind == ST_WAIT)
        wait_for(s, st->n);
    for (int i = 0; i < s->sites.n; i++)
        if (s->sites.site[i].unit == at) {
            s->site = &s->sites.site[i];
            site_touch(&s->sites, i, touch, s);
        }
}

static void walk(struct sync *s, int from, int to, int turn)
{
    int level = s->now.depth++;

    for (int i = from; i < to && !at_end(s); i++) {
        const struct stmt *st = &s->k->st[i];
        bool block = st->kind == ST_LOOP || st->kind == ST_IF;

        s->epoch += s->before[i];
        s->now.level[level].turn = turn;
        s->now.level[level].stmt = i;
        if (s->sites.walked[i])
            walk_loop(s, i, stmt_end(s->k, i));
        else
            visit(s, i);
        if (block)
            i = stmt_end(s->k, i);
    }
    s->now.depth--;
}

bool sync_conflict(struct sync *s, const bool *before, struct conflict *c)
{
    int body = kernel_body(s->k);

    s->before = before;
    s->epoch = 1;
    s->group = s->n_step = s->n_copy = 0;
    s->found = false;
    s->now.depth = 0;
    memset(s->cell, 0, (size_t)s->n_cell * sizeof *s->cell);
    walk(s, body, s->k->n - body, 0);
    *c = s->best;
    return s->found;
}
