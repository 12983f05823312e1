#include "fuzz/camp/ledger.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz/explain/blackbox.h"

/* How many trials of one cause are minimized, where the cause says little; each step of one
 * that dies or hangs starts a process anew, and says less. */
enum { TRIES = 8, TRIES_DEAD = 2 };

/* Makes the folder that the database is to lie in. */
static int make_folder(const char *path, struct err *e)
{
    char dir[4096];
    char *slash;

    if (snprintf(dir, sizeof dir, "%s", path) >= (int)sizeof dir)
        return err_set(e, ERR_IO, "%s: the name is too long", path);
    slash = strrchr(dir, '/');
    if (!slash || slash == dir)
        return 0;
    *slash = '\0';
    for (char *p = dir + 1;; p++) {
        char c = *p;

        if (c != '/' && c != '\0')
            continue;
        *p = '\0';
        if (mkdir(dir, 0777) && errno != EEXIST)
            return err_set(e, ERR_IO, "%s: %s; a folder for the database is needed", dir,
                           strerror(errno));
        *p = c;
        if (!c)
            return 0;
    }
}

int ledger_open(struct ledger *l, const struct camp_opts *o, struct arena *a, struct err *e)
{
    *l = (struct ledger){ .a = a, .about = o->about, .fault = o->about.fault };
    if (make_folder(o->db, e) || store_open(o->db, STORE_CREATE, &l->s, e))
        return e->code;
    if (store_campaign_begin(l->s, &l->about, e) ||
        store_known_causes(l->s, l->fault, a, &l->known, &l->n_known, e)) {
        store_close(l->s);
        return e->code;
    }
    return 0;
}

void ledger_close(struct ledger *l)
{
    store_close(l->s);
}

static struct finding *seen_before(const struct ledger *l, const char *cause)
{
    for (int i = 0; i < l->n_bug; i++)
        if (!strcmp(l->bug[i].cause, cause))
            return &l->bug[i];
    return NULL;
}

static int64_t known_id(const struct ledger *l, const char *cause)
{
    for (int i = 0; i < l->n_known; i++)
        if (l->known[i].cause && !strcmp(l->known[i].cause, cause))
            return l->known[i].bug;
    return 0;
}

bool ledger_knows(const struct ledger *l, const char *cause)
{
    return seen_before(l, cause) || known_id(l, cause);
}

bool ledger_wants(struct ledger *l, const struct finding *f)
{
    int i = 0;

    if (!blackbox_find(f->backend))
        return !ledger_knows(l, f->cause);
    while (i < l->n_tried && strcmp(l->tried[i].cause, f->cause) != 0)
        i++;
    if (i == l->n_tried) {
        arena_push(l->a, l->tried, l->n_tried, l->cap_tried)->n = 0;
        l->tried[i].cause = arena_strdup(l->a, f->cause);
    }
    return l->tried[i].n++ < (strncmp(f->cause, "value ", 6) ? TRIES_DEAD : TRIES);
}

/* Of a compiler that is not ours, minimized: then the whole signature counts. */
static struct finding *seen_signature(const struct ledger *l, const struct finding *f)
{
    for (int i = 0; i < l->n_bug; i++)
        if (!strcmp(l->bug[i].cause, f->cause) && l->bug[i].signature && f->signature &&
            !strcmp(l->bug[i].signature, f->signature))
            return &l->bug[i];
    return NULL;
}

static int begin(struct ledger *l, struct err *e)
{
    if (l->pending)
        return 0;
    l->pending = true;
    l->began = checker_now();
    return store_begin(l->s, e);
}

int ledger_flush(struct ledger *l, bool all, struct err *e)
{
    if (!l->pending || (!all && checker_now() - l->began < 1000000000))
        return 0;
    l->pending = false;
    return store_commit(l->s, e);
}

static int write_trial(struct ledger *l, const struct entry *x, bool with_text, struct err *e)
{
    const struct store_trial t = { .campaign = l->about.id,
                                   .number = (int64_t)x->number,
                                   .key = x->key,
                                   .kind = x->f->kind,
                                   .text = with_text ? x->original : NULL };

    return store_trial(l->s, &t, e);
}

static const char *keep(struct arena *a, const char *s)
{
    return s ? arena_strdup(a, s) : NULL;
}

static void keep_texts(struct arena *a, struct finding *f)
{
    const char **text[] = { &f->signature, &f->kind,  &f->class, &f->stage,   &f->pass,
                            &f->rewrite,   &f->step,  &f->cause, &f->backend, &f->algebra,
                            &f->tier,      &f->fault, &f->state, &f->text,    &f->original,
                            &f->detail,    &f->repro };

    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        *text[i] = keep(a, *text[i]);
}

/* The first sight of a bug in this campaign: as the database has it, or as we just found it. */
static int first_sight(struct ledger *l, const struct entry *x, struct finding *f, bool *known,
                       struct err *e)
{
    const struct store_seen seen = { .campaign = l->about.id,
                                     .number = (int64_t)x->number,
                                     .key = x->key,
                                     .subject_version = l->about.subject_version };
    bool fresh = x->minimized && blackbox_find(x->f->backend);
    int64_t id = fresh ? 0 : known_id(l, x->f->cause);

    *f = *x->f;
    if (id) {
        if (store_bug_get(l->s, id, l->a, f, e))
            return e->code;
        f->signature = NULL; /* counted by its cause; the minimized trial is not at hand */
    }
    f->fault = l->fault;
    f->original = x->original;
    if (!id && !f->text)
        f->text = x->original ? x->original : "";
    if (store_finding(l->s, f, &seen, known, e))
        return e->code;
    return *known ? store_bug_get(l->s, f->id, l->a, f, e) : 0;
}

int ledger_enter(struct ledger *l, const struct entry *x, const struct finding **bug,
                 bool *known, struct err *e)
{
    struct finding *old = x->minimized && blackbox_find(x->f->backend)
                              ? seen_signature(l, x->f)
                              : seen_before(l, x->f->cause);
    struct finding f;

    *bug = NULL;
    if (begin(l, e) || write_trial(l, x, !old, e))
        return e->code;
    if (old) {
        const struct store_seen seen = { l->about.id, (int64_t)x->number, x->key,
                                         l->about.subject_version };
        bool again;

        f = *old;
        f.signature = NULL;
        if (store_finding(l->s, &f, &seen, &again, e))
            return e->code;
        old->count++;
        return 0;
    }
    if (first_sight(l, x, &f, known, e) || ledger_flush(l, true, e))
        return e->code;
    /* the campaign's own view of it: what it saw itself, and under its own cause */
    f.cause = x->f->cause;
    f.count = 1;
    f.seed = l->about.seed;
    f.first_trial = (int64_t)x->number;
    if (!f.repro)
        f.repro = x->f->repro;
    keep_texts(l->a, &f);
    *bug = arena_push(l->a, l->bug, l->n_bug, l->cap_bug);
    l->bug[l->n_bug - 1] = f;
    return 0;
}

int ledger_refused(struct ledger *l, uint64_t number, uint64_t key, struct err *e)
{
    const struct store_trial t = { .campaign = l->about.id,
                                   .number = (int64_t)number,
                                   .key = key,
                                   .kind = verdict_name(VK_UNSUPPORTED) };

    if (begin(l, e))
        return e->code;
    return store_trial(l->s, &t, e);
}

int ledger_end(struct ledger *l, const char *counters, bool finished, struct err *e)
{
    if (ledger_flush(l, true, e))
        return e->code;
    return store_campaign_end(l->s, l->about.id, counters, finished, e);
}
