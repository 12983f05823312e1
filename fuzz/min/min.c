/*
 * The driver: offers every reducer's hints, coarse to fine, in halving chunks where a row
 * allows it, and keeps each candidate that still fails for the same cause; round after round
 * until nothing gets smaller. Deterministic: no clock, no addresses, a budget in evaluations.
 */
#include "fuzz/min/min.h"

#include <string.h>

#include "base/bug.h"
#include "fuzz/explain/blackbox.h"
#include "fuzz/explain/probe.h"
#include "fuzz/explain/race.h"
#include "fuzz/min/reduce.h"

/* Of a compiler that is not ours. */
enum { HANG_SECONDS = 4 };

enum { SCHEDULES = 32 }; /* to look for a wrong value under */

struct min {
    struct checker *ck;
    const struct cause *cause;
    struct check_opts check; /* narrowed to what failed */
    bool algebra[AL_COUNT];  /* in which the trial was given to us */
    bool trusted;            /* no null kernel would pass it, and it stays so */
    int budget, evaluations;
    bool valued;            /* a race that gives wrong values too, and it stays so */
    enum verdict_kind kind; /* of the smallest so far */
    struct probe probe;
    struct trial *t;       /* the smallest so far; lives in arena[at] */
    struct arena arena[2]; /* of t and of the candidate, in turn */
    int at;
    struct arena scratch; /* until the next use */
    struct arena memory;  /* of tried[] */
    uint64_t *tried;      /* keys of candidates, open addressing, 0 = free */
    int n_tried, n_slot;
};

static void tried_put(struct min *m, uint64_t key)
{
    int at = (int)(key % (uint64_t)m->n_slot);

    while (m->tried[at])
        at = (at + 1) % m->n_slot;
    m->tried[at] = key;
    m->n_tried++;
}

/* Remembers the key; false if it was there. Equal candidates are common: several reducers
 * lead to the same trial. */
static bool tried_new(struct min *m, uint64_t key)
{
    key += key == 0;
    for (int at = (int)(key % (uint64_t)m->n_slot); m->tried[at]; at = (at + 1) % m->n_slot)
        if (m->tried[at] == key)
            return false;
    if (m->n_tried * 2 > m->n_slot) {
        uint64_t *old = m->tried;
        int n = m->n_slot;

        m->n_slot *= 2;
        m->tried = arena_array(&m->memory, uint64_t, m->n_slot);
        m->n_tried = 0;
        for (int i = 0; i < n; i++)
            if (old[i])
                tried_put(m, old[i]);
    }
    tried_put(m, key);
    return true;
}

/* Drops the steps that the passes refuse. False = no legal trial at all. */
static bool steps_settle(struct min *m, struct trial *t)
{
    for (;;) {
        struct lower_opts lo = LOWER_OPTS_DEFAULT;
        struct lprog *l;
        struct err e = { 0 };
        int blamed;

        lo.fault = m->check.fault;
        arena_reset(&m->scratch);
        if (lower(t, &lo, &m->scratch, &l, &e) == 0)
            return true;
        blamed = settle_blamed(t, &e);
        if (blamed < 0)
            return false;
        trial_drop_step(t, blamed);
        if (!trial_settle(t, &m->scratch))
            return false;
    }
}

/* A finding of the interpreter needs the interpreter alone; compiled code runs in a child. */
static bool find_cause(struct min *m, const struct trial *t, struct cause *c)
{
    struct err e = { 0 };
    struct check k;

    if (!strcmp(m->cause->backend_group, "interp")) {
        probe_trial(&m->probe, t, m->probe.al);
        return probe_cause(&m->probe, c, &e) == 0;
    }
    if (check_trial(m->ck, t, &m->check, &k, &e) || !verdict_is_finding(k.kind))
        return false;
    return cause_locate(&m->probe, t, &k.verdict[k.first], c, &e) == 0;
}

/* Would the judge see through null kernels, once the bug is gone? A trial that they pass is no
 * good as a regression test. */
static bool is_trusted(struct min *m, const struct trial *t)
{
    const struct want *want[AL_COUNT];
    const char *which;
    int n = 0;

    arena_reset(&m->scratch);
    for (int al = 0; al < AL_COUNT; al++)
        if (m->algebra[al])
            want[n++] = judge_want(t, (enum algebra)al, &m->scratch);
    return !judge_untrusted(want, n, &which);
}

/* A silent wrong value stays one: a smaller trial that leaves its arrays instead would show
 * less of the bug, and in a repro it could go either way. So does a race that shows as a value
 * under some schedule: it is easy to be left with one that nobody would ever notice. */
static bool same_cause(struct min *m, const struct trial *t)
{
    struct cause c;

    if (!find_cause(m, t, &c) || !cause_same(&c, m->cause) ||
        (m->kind == VK_MISMATCH && c.kind != VK_MISMATCH) ||
        (m->trusted && !is_trusted(m, t)) || (m->valued && !probe_value(&m->probe, SCHEDULES)))
        return false;
    m->kind = c.kind;
    return true;
}

/* Operands that are staged have letters: with a node that was read before them gone, the one
 * that is meant has the letter before. False = there is none. */
static bool letters_move(struct trial *t)
{
    bool any = false;

    for (int i = 0; i < t->n_step; i++) {
        if (t->step[i].kind != STEP_STAGE && t->step[i].kind != STEP_SWIZZLE)
            continue;
        if (t->step[i].operand == 'a')
            return false;
        t->step[i].operand--;
        any = true;
    }
    return any;
}

static bool attempt(struct min *m, const struct reducer *r, int from, int to, bool move)
{
    struct arena *a = &m->arena[!m->at];
    struct trial *t;

    arena_reset(a);
    t = trial_clone(m->t, a);
    if (!r->apply(t, from, to, a) || !trial_settle(t, a) || (move && !letters_move(t)) ||
        !steps_settle(m, t) || (move && t->prog.n >= m->t->prog.n))
        return false;
    if (!tried_new(m, trial_key(t)))
        return false;
    m->evaluations++;
    if (!same_cause(m, t))
        return false;
    m->t = t;
    m->at = !m->at;
    return true;
}

static int count_hints(struct min *m, const struct reducer *r)
{
    arena_reset(&m->scratch);
    return r->count(m->t, &m->scratch);
}

static bool reduce(struct min *m, const struct reducer *r)
{
    int n = count_hints(m, r);
    bool any = false;

    for (int chunk = r->chunks ? n : 1; chunk > 0; chunk /= 2)
        for (int at = 0; at < n && m->evaluations < m->budget;) {
            int to = at + chunk < n ? at + chunk : n;

            if (attempt(m, r, at, to, false) || attempt(m, r, at, to, true)) {
                any = true;
                n = count_hints(m, r);
            } else {
                at += chunk;
            }
        }
    return any;
}

/*
 * What a set of exact data found may be found in the same data as the trial's own, which is
 * more to go by: they get smaller with the trial, and other tiers look at them as well.
 */
static const struct trial *with_exact_data(struct min *m, const struct trial *t)
{
    struct check_opts own = m->check;
    struct arena *a = &m->arena[!m->at];
    struct exact *x;
    struct cause c;
    struct check k;
    struct err e = { 0 };
    const char *why;
    int set;

    if (check_trial(m->ck, t, &m->check, &k, &e) || !verdict_is_finding(k.kind))
        return t;
    set = k.verdict[k.first].exact - 1;
    x = set >= 0 ? exact_make(t, set, a, &why) : NULL;
    if (!x)
        return t;
    x->t->recipe = t->recipe;
    own.exact_sets = 0;
    if (check_trial(m->ck, x->t, &own, &k, &e) || !verdict_is_finding(k.kind) ||
        cause_find(m->ck, x->t, &own, &k, &c, &e) || !cause_same(&c, m->cause))
        return t;
    return x->t;
}

/* It is asked often: no fresh process for each look, and no long wait for a hang. Ring says
 * nothing about it. */
static void narrow_blackbox(struct min *m, const struct verdict *v)
{
    m->check.hasty = true;
    m->algebra[AL_RING] = false;
    if (v->kind == VK_HANG && m->check.deadline_s > HANG_SECONDS)
        m->check.deadline_s = HANG_SECONDS;
}

/* The deciding verdict says which backend and algebra matter from now on. */
static int narrow(struct min *m, const struct trial *t, struct err *e)
{
    bool interp = !strcmp(m->cause->backend_group, "interp");
    struct check k;
    int rc = check_trial(m->ck, t, &m->check, &k, e);
    const struct verdict *v;

    if (rc)
        return rc;
    if (!verdict_is_finding(k.kind))
        return err_set(e, ERR_USAGE, "the trial passes: there is nothing to minimize");
    v = &k.verdict[k.first];
    m->kind = v->kind;
    m->check.n_backend = 1;
    m->check.backend[0] = backend_find(interp ? "interp" : v->backend);
    for (int al = 0; al < AL_COUNT; al++)
        m->check.algebra[al] = al == (int)v->algebra;
    if (!v->exact)
        m->check.exact_sets = 0;
    if (blackbox_find(v->backend))
        narrow_blackbox(m, v);
    m->trusted = is_trusted(m, t);
    probe_open(&m->probe, m->ck, &m->check);
    m->probe.exact = v->exact;
    m->probe.target = cause_target(v->backend);
    probe_trial(&m->probe, t, v->algebra);
    m->valued = race_is(v->kind) && probe_value(&m->probe, SCHEDULES);
    return 0;
}

static void min_open(struct min *m, struct checker *ck, const struct cause *cause,
                     const struct min_opts *o)
{
    *m = (struct min){
        .ck = ck, .cause = cause, .check = o->check, .budget = o->budget, .n_slot = 1024
    };
    memcpy(m->algebra, o->check.algebra, sizeof m->algebra);
    arena_init(&m->arena[0]);
    arena_init(&m->arena[1]);
    arena_init(&m->scratch);
    arena_init(&m->memory);
    m->tried = arena_array(&m->memory, uint64_t, m->n_slot);
}

static void min_close(struct min *m)
{
    probe_close(&m->probe);
    arena_release(&m->arena[0]);
    arena_release(&m->arena[1]);
    arena_release(&m->scratch);
    arena_release(&m->memory);
}

/* The cause of the result as check_trial sees it: what a reader will see. */
static int final_cause(struct min *m, const struct min_opts *o, struct cause *c, struct err *e)
{
    struct check k;
    int rc = check_trial(m->ck, m->t, &o->check, &k, e);

    if (rc)
        return rc;
    if (!verdict_is_finding(k.kind) && blackbox_find(m->check.backend[0]->name))
        return err_set(e, ERR_MISSING, "what was minimized passes in a fresh process");
    if (!verdict_is_finding(k.kind))
        BUG("a minimized trial passes");
    return cause_find(m->ck, m->t, &o->check, &k, c, e);
}

/* Plain data may hide what a wild access found; exact data are made anew for each trial. */
static bool data_matters(const struct min *m)
{
    return m->kind != VK_OUT_OF_BOUNDS && !m->probe.exact;
}

int minimize(struct checker *ck, const struct trial *t, const struct cause *cause,
             const struct min_opts *o, struct arena *a, struct min_result *r, struct err *e)
{
    struct min m;
    int rc;
    bool any = true;

    min_open(&m, ck, cause, o);
    t = with_exact_data(&m, t);
    rc = narrow(&m, t, e);
    if (rc)
        goto out;
    m.t = trial_clone(t, &m.arena[0]);
    while (any && m.evaluations < m.budget) {
        any = false;
        for (int i = 0; i < n_reducers; i++)
            if (!reducers[i].data || data_matters(&m))
                any |= reduce(&m, &reducers[i]);
    }
    rc = final_cause(&m, o, &r->cause, e);
    if (rc == 0) {
        r->trial = trial_clone(m.t, a);
        r->evaluations = m.evaluations;
    }
out:
    min_close(&m);
    return rc;
}
