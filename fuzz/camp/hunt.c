#include "fuzz/camp/hunt.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/bug.h"
#include "fuzz/foreign.h"
#include "fuzz/json.h"

static volatile sig_atomic_t interrupts;

static void on_interrupt(int sig)
{
    (void)sig;
    interrupts++;
}

/* poll must return when the user is impatient: no SA_RESTART. */
static void catch_interrupts(void)
{
    struct sigaction sa = { .sa_handler = on_interrupt };

    interrupts = 0;
    sigaction(SIGINT, &sa, NULL);
    sigaction(SIGTERM, &sa, NULL);
    signal(SIGPIPE, SIG_IGN);
}

static double elapsed(const struct hunt *h)
{
    return (double)(checker_now() - h->status.start) * 1e-9;
}

static bool start(struct hunt *h, struct slot *s, struct job *j, void *owner, bool fresh)
{
    s->owner = owner;
    if (pool_start(&h->pool, s, j, fresh))
        return true;
    err_set(h->e, ERR_MISSING, "no worker can be started: out of processes or files");
    return false;
}

/* Code that died or hung, or that wrote where it should not, is minimized in children; so is
 * what takes a compiler's run each time, where a child costs nothing. */
static bool wants_child(const struct found *f)
{
    const struct backend *b = backend_find(f->f.backend);

    return f->deaths || (b && b->command) ||
           (strcmp(f->f.kind, "MISMATCH") && strcmp(f->f.backend, "interp"));
}

/* What holds up the writing down first, then new trials. False = nothing to give out. */
static bool give_work(struct hunt *h, struct slot *s)
{
    struct board *b = &h->board;
    struct found *f;
    struct piece *p;
    struct job j = { .step = b->shards, .count = 1, .isolate = true };

    if ((f = board_first(b, FOUND_WANTED))) {
        j.kind = JOB_MINIMIZE;
        j.first = f->number;
        j.isolate = wants_child(f);
        f->state = FOUND_MINIMIZING;
        return start(h, s, &j, f, true);
    }
    if ((f = board_first(b, FOUND_NEW))) {
        j.kind = JOB_CONFIRM;
        j.first = f->number;
        f->state = FOUND_CONFIRMING;
        return start(h, s, &j, f, true);
    }
    p = board_take_piece(b);
    if (!p && !h->closing && board_more(b) && board_has_room(b))
        p = board_open_batch(b);
    if (!p)
        return false;
    j = (struct job){ JOB_BATCH, board_number(b, p->batch->index, p->from), b->shards,
                      p->to - p->from, p->isolate };
    return start(h, s, &j, p, false);
}

static void count(struct camp_totals *n, const struct trial_rec *r)
{
    enum verdict_kind k = (enum verdict_kind)r->kind;

    n->trials++;
    n->judged += r->judged;
    n->elements += r->elements;
    n->unsure += r->unsure;
    n->exact += r->exact;
    n->exact_na += r->exact_na;
    if (k == VK_UNSUPPORTED)
        n->unsupported++;
    else if (k == VK_UNTRUSTED)
        n->untrusted++;
    else
        n->verified++;
    n->suspect += k == VK_SUSPECT;
    n->findings += verdict_is_finding(k);
    if (r->sampled) {
        n->sample[r->sample].trials++;
        n->sample[r->sample].verdicts += r->sampled;
    }
}

/* " --backends cc:gcc-O3" where a trial would not go there by itself */
static const char *backend_option(struct found *f)
{
    const struct backend *b = backend_find(f->f.backend);

    return b && b->command ? arena_printf(&f->a, " --backends %s", b->name) : "";
}

static void enter(struct hunt *h, struct found *f)
{
    struct entry x = { f->number, f->key, f->text, &f->f, f->minimized };
    const struct finding *bug;
    bool known;

    f->f.repro =
        arena_printf(&f->a, "%s gen --seed %" PRIu64 " --trial %" PRIu64 "%s | %s run -%s%s",
                     h->o->program, h->o->work.seed, f->number, h->o->gen_options,
                     h->o->program, h->o->run_options, backend_option(f));
    if (ledger_enter(&h->ledger, &x, &bug, &known, h->e) || !bug)
        return;
    status_wipe(&h->status);
    h->fn(h->ctx, bug, known);
    h->stopped |= h->o->stop_at && h->ledger.n_bug >= h->o->stop_at;
}

/* Writes down, in trial order, what is known by now. */
static void write_down(struct hunt *h)
{
    struct batch *t;
    struct found *f;
    int at;

    while (!h->stopped && !h->e->code && board_ready(&h->board, &t, &at, &f)) {
        const struct trial_rec r = t->rec[at];

        if (f && f->state == FOUND_CONFIRMED) {
            bool minimize = !f->ours && !f->flaky && ledger_wants(&h->ledger, &f->f);

            f->state = minimize ? FOUND_WANTED : FOUND_READY;
        }
        if (f && f->state != FOUND_READY)
            return;
        if (f)
            enter(h, f);
        else if (r.kind == VK_UNSUPPORTED)
            ledger_refused(&h->ledger, board_number(&h->board, t->index, at), r.key, h->e);
        if (h->e->code)
            return;
        count(&h->n, &r);
        if (f)
            board_drop(&h->board, f);
        board_advance(&h->board);
    }
}

static double time_left(const struct hunt *h)
{
    double by_time = h->o->seconds > 0 ? h->o->seconds - elapsed(h) : -1;
    double by_count = -1;

    if (h->o->trials != UINT64_MAX && h->n.trials)
        by_count = elapsed(h) / (double)h->n.trials *
                   ((double)(h->o->trials / h->o->shards) - (double)h->n.trials);
    if (by_time < 0 || (by_count >= 0 && by_count < by_time))
        return by_count;
    return by_time;
}

static void loop(struct hunt *h)
{
    while (!h->stopped && !h->e->code && interrupts < 2) {
        struct slot *s;

        if (interrupts || (h->o->seconds > 0 && elapsed(h) >= h->o->seconds))
            h->closing = true;
        while (!h->e->code && (s = pool_idle(&h->pool)) && give_work(h, s))
            ;
        if (board_empty(&h->board) && (h->closing || !board_more(&h->board)))
            break;
        if (!h->e->code && !pool_wait(&h->pool, 100, hunt_answer, h))
            err_set(h->e, ERR_MISSING, "the process that starts workers is gone");
        write_down(h);
        if (!h->e->code)
            ledger_flush(&h->ledger, false, h->e);
        status_show(&h->status, &h->n, h->ledger.n_bug, time_left(h));
    }
}

static double cpu_seconds(void)
{
    static const int who[] = { RUSAGE_SELF, RUSAGE_CHILDREN };
    struct rusage ru;
    double s = 0;

    for (int i = 0; i < 2; i++) {
        getrusage(who[i], &ru);
        s += (double)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) +
             (double)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) * 1e-6;
    }
    return s;
}

static void finish(struct hunt *h, struct camp_result *r, struct err *e)
{
    bool whole = !interrupts && !h->e->code;
    char *counters;

    r->n = h->n;
    r->bug = h->ledger.bug;
    r->n_bug = h->ledger.n_bug;
    r->interrupted = interrupts > 0;
    r->wall_s = elapsed(h);
    r->cpu_s = cpu_seconds();
    counters = json_to_text(camp_json(h->o, r));
    if (!h->e->code)
        ledger_end(&h->ledger, counters, whole, e);
    free(counters);
}

int camp_run(const struct camp_opts *o, camp_bug_fn *fn, void *ctx, struct arena *a,
             struct camp_result *r, struct err *e)
{
    struct hunt *h = must(calloc(1, sizeof *h));

    *e = (struct err){ 0 };
    *h = (struct hunt){ .o = o, .e = e, .fn = fn, .ctx = ctx };
    catch_interrupts();
    status_init(&h->status, o->quiet);
    board_init(&h->board, o->shard, o->shards, o->trials, o->jobs);
    /* the zygote comes before the database: no worker may ever have held it */
    if (!pool_open(&h->pool, o->jobs, o->deadline_s, worker_run, (void *)&o->work, e)) {
        bool open = !ledger_open(&h->ledger, o, a, e);

        if (open)
            loop(h);
        status_wipe(&h->status);
        pool_close(&h->pool);
        foreign_close(&o->work.check);
        if (open) {
            finish(h, r, e);
            ledger_close(&h->ledger);
        }
    }
    board_release(&h->board);
    free(h);
    return e->code;
}

static json_t *json_sample(const struct sample *s, const struct camp_totals *n)
{
    json_t *list = json_array();

    for (int i = 0; i < s->n; i++) {
        json_t *j = json_object();

        json_put(j, "config", json_text(sample_label(s->backend[i])));
        json_put(j, "trials", json_integer(n->sample[i].trials));
        json_put(j, "verdicts", json_integer(n->sample[i].verdicts));
        json_array_append_new(list, j);
    }
    return list;
}

json_t *camp_json(const struct camp_opts *o, const struct camp_result *r)
{
    json_t *j = json_object_schema(), *bugs = json_array();

    json_put(j, "seed", json_integer((json_int_t)o->work.seed));
    json_put(j, "trials", json_integer(r->n.trials));
    json_put(j, "verified", json_integer(r->n.verified));
    json_put(j, "judged", json_integer(r->n.judged));
    json_put(j, "unsupported", json_integer(r->n.unsupported));
    json_put(j, "untrusted", json_integer(r->n.untrusted));
    json_put(j, "suspect", json_integer(r->n.suspect));
    json_put(j, "findings", json_integer(r->n.findings));
    for (int i = 0; i < r->n_bug; i++)
        json_array_append_new(bugs, json_finding(&r->bug[i]));
    json_put(j, "bugs", bugs);
    json_put(j, "elements", json_integer(r->n.elements));
    json_put(j, "unsure", json_integer(r->n.unsure));
    json_put(j, "exact", json_integer(r->n.exact));
    json_put(j, "exact_na", json_integer(r->n.exact_na));
    json_put(j, "unconfirmed", json_integer(r->n.unconfirmed));
    json_put(j, "cc", json_sample(&o->work.sample, &r->n));
    json_put(j, "foreign", foreign_json(&o->work.check));
    json_put(j, "cpu_s", json_real(r->cpu_s));
    json_put(j, "wall_s", json_real(r->wall_s));
    json_put(j, "trials_per_cpu_s",
             json_real(r->cpu_s > 0 ? (double)r->n.trials / r->cpu_s : 0));
    json_put(j, "db", json_text(o->db));
    return j;
}
