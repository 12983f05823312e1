/* What workers answer, and what is done when one dies instead. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/bug.h"
#include "fuzz/camp/hunt.h"

enum { MAX_DEATHS = 2, MAX_EXITS = 3 };

static void note(struct hunt *h, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void note(struct hunt *h, const char *fmt, ...)
{
    va_list ap;

    status_wipe(&h->status);
    fputs("tilefuzz: ", stderr);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
}

static void batch_done(struct hunt *h, struct slot *s, const struct msg *m)
{
    struct piece *p = s->owner;
    int n = (int)(m->bytes / sizeof(struct trial_rec));

    pool_done(s);
    for (int i = 0; i < n && p->from + i < p->to; i++) {
        struct trial_rec r;

        memcpy(&r, m->p + (size_t)i * sizeof r, sizeof r);
        board_record(&h->board, p, p->from + i, &r);
    }
    if (p->from + n < p->to) {
        pool_retire(s);
        board_queue(&h->board, p->batch, p->from + n, p->to, p->isolate);
    }
    free(p);
}

static void text_came(struct found *f, const struct msg *m)
{
    struct wire_in in = { m->p, m->p + m->bytes, false };

    wire_get(&in, &f->key, sizeof f->key);
    f->text = wire_get_text(&in, &f->a);
}

/*
 * Failed in a batch, and not once alone. The trial counts as it did alone; what ran before
 * it in the same worker is looked at again, each trial's compiled code in its own process.
 */
static void not_confirmed(struct hunt *h, struct found *f, const struct trial_rec *r)
{
    struct batch *t = f->batch;
    bool isolated = f->isolated;
    int from = t->index == h->board.commit ? h->board.commit_at : 0;
    int at = f->at;

    note(h, "trial %" PRIu64 " failed in a batch, but not alone", f->number);
    h->n.unconfirmed++;
    t->rec[at] = *r;
    board_drop(&h->board, f);
    if (isolated)
        return;
    for (int i = from; i < at; i++)
        if (!board_at(&h->board, board_number(&h->board, t->index, i)))
            board_queue(&h->board, t, i, i + 1, true);
}

static void confirmed(struct hunt *h, struct slot *s, const struct msg *m)
{
    struct found *f = s->owner;
    struct confirmation c;

    pool_done(s);
    if (!wire_get_confirmation(m, &f->a, &c))
        BUG("a worker's confirmation is cut short");
    if (!c.failed) {
        not_confirmed(h, f, &c.rec);
        return;
    }
    f->f = c.f;
    f->flaky = c.failed < CONFIRM_RUNS;
    f->deaths = 0;
    f->batch->rec[f->at] = c.rec;
    f->state = FOUND_CONFIRMED;
}

static void minimized(struct slot *s, const struct msg *m)
{
    struct found *f = s->owner;
    const char *cause = f->f.cause;
    struct minimized r;

    pool_done(s);
    if (!wire_get_minimized(m, &f->a, &r))
        BUG("a worker's minimized trial is cut short");
    if (r.ok)
        f->f = r.f;
    f->minimized = r.ok;
    f->f.cause = cause;
    f->state = FOUND_READY;
}

static const char *death_name(const struct pool_event *ev, char *buf, size_t n)
{
    if (ev->hung)
        snprintf(buf, n, "did not end");
    else if (WIFSIGNALED(ev->status))
        snprintf(buf, n, "died by signal %d (%s)", WTERMSIG(ev->status),
                 strsignal(WTERMSIG(ev->status)));
    else
        snprintf(buf, n, "ended with exit %d", WEXITSTATUS(ev->status));
    return buf;
}

/* The trial at work is known from shared memory; the rest of the piece goes on elsewhere. */
static void batch_died(struct hunt *h, struct piece *p, const struct pool_event *ev)
{
    struct batch *t = p->batch;
    int at = p->from;

    while (at < p->to && board_number(&h->board, t->index, at) != ev->trial)
        at++;
    if (at == p->to && !p->isolate) {
        board_queue(&h->board, t, p->from, p->to, true);
        free(p);
        return;
    }
    if (at == p->to)
        at = p->from;
    board_queue(&h->board, t, p->from, at, p->isolate);
    board_found(&h->board, t, at, p->isolate);
    board_queue(&h->board, t, at + 1, p->to, p->isolate);
    free(p);
}

/* "src/lower/fuse.c:12" out of "tilefuzz: BUG at src/lower/fuse.c:12: what" */
static const char *bug_place(struct found *f, const char *log)
{
    const char *at = strstr(log, "BUG at ");

    if (!at)
        return "";
    at += strlen("BUG at ");
    return arena_strndup(&f->a, at, strcspn(at, " ") - (at[strcspn(at, " ") - 1] == ':'));
}

/* A worker that died over one trial, with compiled code in a child: we did it ourselves. */
static void against_ourselves(struct hunt *h, struct found *f, const struct pool_event *ev)
{
    char how[100];
    const char *line = strstr(ev->log, "tilefuzz: BUG at ");
    const char *place = bug_place(f, ev->log);

    death_name(ev, how, sizeof how);
    f->f = (struct finding){ .kind = "BUG", .backend = "tilefuzz" };
    f->f.cause = f->f.signature = arena_printf(&f->a, "bug %s", *place ? place : how);
    f->f.detail = line ? arena_strndup(&f->a, line, strcspn(line, "\n"))
                       : arena_printf(&f->a, "tilefuzz itself %s", how);
    f->f.text = f->text;
    f->batch->rec[f->at] = (struct trial_rec){ .key = f->key, .kind = VK_CRASH, .judged = 1 };
    f->ours = true;
    f->state = FOUND_CONFIRMED;
    note(h, "trial %" PRIu64 ": %s", f->number, f->f.detail);
}

static void found_died(struct hunt *h, struct found *f, const struct pool_event *ev)
{
    f->deaths++;
    if (f->state == FOUND_MINIMIZING) {
        /* tried again with compiled code in a child, then left as large as it is */
        f->state = f->deaths < MAX_DEATHS ? FOUND_WANTED : FOUND_READY;
    } else if (f->deaths < MAX_DEATHS) {
        f->state = FOUND_NEW;
    } else {
        against_ourselves(h, f, ev);
        f->deaths = 0;
    }
}

static void died(struct hunt *h, const struct pool_event *ev)
{
    h->exits =
        WIFEXITED(ev->status) && WEXITSTATUS(ev->status) == WORKER_CANNOT ? h->exits + 1 : 0;
    if (h->exits >= MAX_EXITS && !h->e->code)
        err_set(h->e, ERR_MISSING, "workers end by themselves (exit %d): %s",
                WEXITSTATUS(ev->status), ev->log);
    if (ev->slot->job.kind == JOB_BATCH)
        batch_died(h, ev->slot->owner, ev);
    else
        found_died(h, ev->slot->owner, ev);
}

void hunt_answer(void *ctx, const struct pool_event *ev)
{
    struct hunt *h = ctx;

    if (ev->kind == POOL_DIED) {
        died(h, ev);
        return;
    }
    h->exits = 0;
    switch (ev->msg.kind) {
    case ANSWER_BATCH:
        batch_done(h, ev->slot, &ev->msg);
        break;
    case ANSWER_TEXT:
        text_came(ev->slot->owner, &ev->msg);
        break;
    case ANSWER_CONFIRM:
        confirmed(h, ev->slot, &ev->msg);
        break;
    case ANSWER_MINIMIZE:
        minimized(ev->slot, &ev->msg);
        break;
    }
}
