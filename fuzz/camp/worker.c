#include "fuzz/camp/worker.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/bug.h"
#include "emit/emit.h"
#include "fuzz/camp/answer.h"
#include "fuzz/describe.h"
#include "fuzz/min/min.h"
#include "ir/text.h"
#include "run/cc.h"

struct worker {
    const struct worker_opts *o;
    struct progress *progress;
    int sock;
    struct checker ck;
    struct arena trial, scratch;
    struct arena ahead; /* of a lowering whose text is built ahead */
    struct check check; /* of the last trial; too large for a stack of ours */
};

static const struct trial *draw(struct worker *w, uint64_t number)
{
    int64_t clock = checker_now();
    const struct trial *t;

    w->progress->trial = number;
    w->progress->tick++;
    snprintf(bug_context, sizeof bug_context, "%" PRIu64 " of seed %" PRIu64, number,
             w->o->seed);
    arena_reset(&w->trial);
    t = gen_trial(w->o->seed, number, &w->o->gen, &w->trial, &w->scratch);
    checker_phase(&w->ck, PH_GENERATE, &clock);
    return t;
}

static void check(struct worker *w, const struct trial *t, const struct check_opts *o)
{
    struct err e = { 0 };

    if (check_trial(&w->ck, t, o, &w->check, &e))
        BUG("a generated trial is illegal: line %d: %s", e.line, e.msg);
}

static struct trial_rec record(const struct worker *w, const struct trial *t)
{
    const struct check *c = &w->check;
    struct trial_rec r;

    memset(&r, 0, sizeof r); /* its padding goes over the wire too */
    r.kind = (uint8_t)c->kind;
    r.judged = (uint8_t)c->n;
    r.elements = (uint32_t)c->n_judged;
    r.unsure = (uint32_t)c->n_unsure;
    r.exact = (uint8_t)c->n_exact;
    r.exact_na = (uint8_t)c->n_exact_na;
    for (int i = 0; i < c->n; i++) {
        int at = sample_index(&w->o->sample, c->verdict[i].backend);

        if (at >= 0) {
            r.sample = (uint8_t)at;
            r.sampled++;
        }
    }
    if (verdict_is_finding(c->kind) || c->kind == VK_UNSUPPORTED)
        r.key = trial_key(t);
    return r;
}

/* Compiled code that wrote outside its buffers may have written into us. */
static bool tainted(const struct worker *w)
{
    const struct check *c = &w->check;

    return c->first >= 0 && c->kind == VK_OUT_OF_BOUNDS &&
           strcmp(c->verdict[c->first].backend, "interp") != 0;
}

/* What a trial is checked with: what all are, and the backend that it is drawn for. */
static struct check_opts opts_of(const struct worker *w, const struct job *j, uint64_t number)
{
    const struct backend *b = sample_draw(&w->o->sample, w->o->seed, number, j->step);
    struct check_opts o = w->o->check;

    if (b && o.n_backend < CHECK_MAX_BACKENDS)
        o.backend[o.n_backend++] = b;
    return o;
}

static void add_ahead(struct worker *w, const struct trial *t, struct cc_batch *b)
{
    struct lower_opts lo = LOWER_OPTS_DEFAULT;
    struct str text = { 0 };
    struct lprog *l;
    struct err e = { 0 };

    lo.fault = w->o->check.fault;
    arena_reset(&w->ahead);
    if (lower(t, &lo, &w->ahead, &l, &e))
        return; /* the check will say it */
    emit_c(l, &text);
    cc_batch_add(b, l, str_get(&text));
    str_release(&text);
}

/* Compiles all trials of the job that are drawn for cc, in one run per configuration. */
static void build_ahead(struct worker *w, const struct job *j)
{
    struct cc_batch *batch[CC_CONFIGS] = { 0 };
    int64_t clock = checker_now();

    for (int i = 0; i < j->count; i++) {
        uint64_t number = j->first + (uint64_t)i * j->step;
        const struct backend *b = sample_draw(&w->o->sample, w->o->seed, number, j->step);
        enum cc_config c;

        if (!b || !cc_of(b, &c))
            continue;
        if (!batch[c])
            batch[c] = cc_batch_open(c);
        if (!cc_batch_full(batch[c]))
            add_ahead(w, draw(w, number), batch[c]);
    }
    for (int c = 0; c < CC_CONFIGS; c++)
        if (batch[c])
            cc_batch_file(&w->ck.env, batch[c]);
    checker_phase(&w->ck, PH_BUILD, &clock);
}

static void do_batch(struct worker *w, const struct job *j)
{
    struct str s = { 0 };

    if (!j->isolate)
        build_ahead(w, j);
    for (int i = 0; i < j->count; i++) {
        uint64_t number = j->first + (uint64_t)i * j->step;
        struct check_opts o = opts_of(w, j, number);
        const struct trial *t = draw(w, number);
        struct trial_rec r;

        o.isolate = j->isolate;
        check(w, t, &o);
        r = record(w, t);
        wire_put(&s, &r, sizeof r);
        if (!j->isolate && tainted(w))
            break;
    }
    cc_batches_drop(&w->ck.env);
    wire_send(w->sock, ANSWER_BATCH, &s);
    str_release(&s);
}

/* The text goes ahead of the check: if we die in it, the parent has the trial. */
static void send_text(struct worker *w, const struct trial *t)
{
    uint64_t key = trial_key(t);
    struct str text = { 0 }, s = { 0 };

    trial_print(t, &text);
    wire_put(&s, &key, sizeof key);
    wire_put_text(&s, str_get(&text));
    wire_send(w->sock, ANSWER_TEXT, &s);
    str_release(&s);
    str_release(&text);
}

/* A finding that comes and goes has no pass to blame. */
static void describe_flaky(const struct check *c, int failed, struct finding *f,
                           struct arena *a)
{
    const struct verdict *v = &c->verdict[c->first];

    *f = (struct finding){ .kind = verdict_name(VK_NONDETERMINISTIC),
                           .backend = v->backend,
                           .algebra = algebra_name(v->algebra) };
    f->cause = f->signature = arena_printf(a, "flaky %s", v->backend);
    f->detail = arena_printf(a, "%d of %d runs failed, one as %s", failed, CONFIRM_RUNS,
                             verdict_name(c->kind));
}

static void attribute(struct worker *w, const struct trial *t, const struct check_opts *o,
                      struct finding *f)
{
    struct verdict v = w->check.verdict[w->check.first]; /* cause_find overwrites the check */
    struct cause cause = { 0 };
    struct err e = { 0 };

    *f = (struct finding){ 0 };
    if (cause_find(&w->ck, t, o, &w->check, &cause, &e))
        finding_unattributed(f, t, &v, &w->trial);
    else
        finding_describe(f, t, &v, &cause, &w->trial);
}

static void do_confirm(struct worker *w, const struct job *j)
{
    const struct trial *t = draw(w, j->first);
    struct check_opts o = opts_of(w, j, j->first);
    struct confirmation c = { 0 };
    struct str s = { 0 };

    send_text(w, t);
    o.isolate = true;
    o.hasty = true; /* the worker is fresh, and so is what it starts */
    for (int i = 0; i < CONFIRM_RUNS; i++) {
        check(w, t, &o);
        if (!verdict_is_finding(w->check.kind))
            continue;
        c.failed++;
        c.rec = record(w, t);
        describe_flaky(&w->check, c.failed, &c.f, &w->trial);
    }
    if (c.failed == CONFIRM_RUNS)
        attribute(w, t, &o, &c.f);
    if (c.failed == 0)
        c.rec = record(w, t);
    else if (c.failed < CONFIRM_RUNS)
        c.rec.kind = VK_NONDETERMINISTIC;
    wire_put_confirmation(&s, &c);
    wire_send(w->sock, ANSWER_CONFIRM, &s);
    str_release(&s);
}

static void do_minimize(struct worker *w, const struct job *j)
{
    const struct trial *t = draw(w, j->first);
    struct min_opts mo = { .check = opts_of(w, j, j->first), .budget = w->o->budget };
    struct min_result r = { 0 };
    struct minimized m = { 0 };
    struct cause cause = { 0 };
    struct err e = { 0 };
    struct str s = { 0 };

    mo.check.isolate = j->isolate;
    check(w, t, &mo.check);
    if (verdict_is_finding(w->check.kind) &&
        !cause_find(&w->ck, t, &mo.check, &w->check, &cause, &e) &&
        !minimize(&w->ck, t, &cause, &mo, &w->trial, &r, &e) &&
        !check_trial(&w->ck, r.trial, &mo.check, &w->check, &e) &&
        verdict_is_finding(w->check.kind)) {
        m.ok = true;
        m.evaluations = r.evaluations;
        finding_describe(&m.f, r.trial, &w->check.verdict[w->check.first], &r.cause, &w->trial);
    }
    wire_put_minimized(&s, &m);
    wire_send(w->sock, ANSWER_MINIMIZE, &s);
    str_release(&s);
}

static bool next_job(const struct worker *w, struct job *j)
{
    ssize_t n;

    do
        n = recv(w->sock, j, sizeof *j, MSG_WAITALL);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof *j;
}

void worker_run(void *ctx, struct progress *p, int sock)
{
    static struct worker w;
    struct err e = { 0 };
    struct job j;

    w = (struct worker){ .o = ctx, .progress = p, .sock = sock };
    check_default_signals();
    signal(SIGPIPE, SIG_IGN);
    if (checker_open(&w.ck, &e)) {
        fprintf(stderr, "tilefuzz: a worker got no memory\n");
        _exit(WORKER_CANNOT);
    }
    w.ck.tick = w.ck.env.tick = &p->tick;
    arena_init(&w.trial);
    arena_init(&w.scratch);
    arena_init(&w.ahead);
    while (next_job(&w, &j)) {
        switch (j.kind) {
        case JOB_BATCH:
            do_batch(&w, &j);
            break;
        case JOB_CONFIRM:
            do_confirm(&w, &j);
            break;
        case JOB_MINIMIZE:
            do_minimize(&w, &j);
            break;
        }
    }
}
