/* Bugs: inserted or counted, read, updated. */
#include "fuzz/store/inner.h"

#include <inttypes.h>
#include <string.h>

/* The id of the bug that f is, 0 = none is known. What nobody could explain is the same bug
 * only if it is the same trial. */
static int bug_find(struct store *s, const struct finding *f, int64_t *id, struct err *e)
{
    const char *by = f->signature ? f->signature : f->cause ? f->cause : f->text;
    enum statement how = f->signature ? Q_BUG_BY_SIGN
                         : f->cause   ? Q_BUG_BY_CAUSE
                                      : Q_BUG_BY_TEXT;
    sqlite3_stmt *q = store_stmt(s, how, e);

    *id = 0;
    if (!q)
        return e->code;
    bind_text(q, 1, by);
    bind_text(q, 2, f->fault ? f->fault : "none");
    int rc = store_step(s, q, e);
    if (rc > 0)
        *id = sqlite3_column_int64(q, 0);
    sqlite3_reset(q);
    return rc < 0 ? e->code : 0;
}

/* Parameters 1 to 17, the same in BUG_INSERT and BUG_UPDATE. */
static void bind_finding(sqlite3_stmt *q, const struct finding *f)
{
    bind_text(q, 1, f->signature);
    bind_text(q, 2, f->kind);
    bind_text(q, 3, f->class);
    bind_text(q, 4, f->stage);
    bind_text(q, 5, f->pass);
    bind_text(q, 6, f->rewrite);
    bind_text(q, 7, f->step);
    bind_text(q, 8, f->cause);
    bind_text(q, 9, f->backend);
    bind_text(q, 10, f->algebra);
    bind_text(q, 11, f->tier);
    sqlite3_bind_int(q, 12, f->nodes);
    sqlite3_bind_int(q, 13, f->steps);
    sqlite3_bind_int64(q, 14, f->max_size);
    bind_text(q, 15, f->detail);
    bind_text(q, 16, f->text);
    bind_text(q, 17, f->repro);
}

static int bug_insert(struct store *s, struct finding *f, struct err *e)
{
    sqlite3_stmt *q = store_stmt(s, Q_BUG_INSERT, e);

    if (!q)
        return e->code;
    bind_finding(q, f);
    bind_text(q, 18, f->fault ? f->fault : "none");
    bind_text(q, 19, f->state ? f->state : "open");
    bind_text(q, 20, f->original);
    if (store_done(s, q, e))
        return e->code;
    f->id = sqlite3_last_insert_rowid(s->db);
    return 0;
}

int store_bug_adopt(struct store *s, struct finding *f, bool *known, struct err *e)
{
    int64_t id;

    e->code = ERR_NONE;
    if (bug_find(s, f, &id, e))
        return e->code;
    *known = id != 0;
    f->id = id;
    return *known ? 0 : bug_insert(s, f, e);
}

static int observe(struct store *s, int64_t bug, const struct store_seen *seen, struct err *e)
{
    sqlite3_stmt *q = store_stmt(s, Q_OBSERVE, e);

    if (!q)
        return e->code;
    sqlite3_bind_int64(q, 1, bug);
    if (seen->campaign)
        sqlite3_bind_int64(q, 2, seen->campaign);
    if (seen->number >= 0)
        sqlite3_bind_int64(q, 3, seen->number);
    bind_key(q, 4, seen->key);
    bind_text(q, 5, seen->subject_version);
    return store_done(s, q, e);
}

/* Takes id, count, state and first sight of a bug as they are now stored; of the one that it
 * was joined to if it was. */
static int take_history(struct store *s, struct finding *f, struct err *e)
{
    if (store_bug_head(s, &f->id, e))
        return e->code;
    struct arena a;
    struct finding now;

    arena_init(&a);
    if (!store_bug_get(s, f->id, &a, &now, e)) {
        f->count = now.count;
        f->seed = now.seed;
        f->first_trial = now.first_trial;
        f->state = store_state_text(now.state);
    }
    arena_release(&a);
    return e->code;
}

int store_finding(struct store *s, struct finding *f, const struct store_seen *seen,
                  bool *known, struct err *e)
{
    bool alone = sqlite3_get_autocommit(s->db); /* one transaction, the caller's or our own */

    if (alone && store_begin(s, e))
        return e->code;
    if (store_bug_adopt(s, f, known, e))
        goto fail;
    if (observe(s, f->id, seen, e) || take_history(s, f, e))
        goto fail;
    if (*known && strcmp(f->state, "fixed") == 0) {
        if (store_tag(s, f->id, "back", "seen again", e))
            goto fail;
        f->state = store_state_text("back");
    }
    if (alone && store_commit(s, e))
        goto fail;
    return 0;
fail:
    if (alone)
        store_rollback(s);
    return e->code;
}

int store_import(struct store *s, struct finding *f, uint64_t key, bool *known, struct err *e)
{
    const struct store_seen seen = { .number = -1, .key = key };
    int64_t id;

    e->code = ERR_NONE;
    if (bug_find(s, f, &id, e))
        return e->code;
    *known = id != 0;
    f->id = id;
    return *known ? 0 : store_finding(s, f, &seen, known, e);
}

static void read_finding(sqlite3_stmt *q, struct arena *a, struct finding *f)
{
    const char **text[] = { &f->signature, &f->kind,  &f->class, &f->stage,   &f->pass,
                            &f->rewrite,   &f->step,  &f->cause, &f->backend, &f->algebra,
                            &f->tier,      &f->fault, &f->state };
    int at = 1;

    *f = (struct finding){ .id = sqlite3_column_int64(q, 0) };
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        *text[i] = column_text(q, at++, a);
    f->nodes = sqlite3_column_int(q, at++);
    f->steps = sqlite3_column_int(q, at++);
    f->max_size = sqlite3_column_int64(q, at++);
    f->text = column_text(q, at++, a);
    f->original = column_text(q, at++, a);
    f->detail = column_text(q, at++, a);
    f->repro = column_text(q, at++, a);
    f->count = sqlite3_column_int64(q, at++);
    f->seed = (uint64_t)sqlite3_column_int64(q, at++);
    f->first_trial =
        sqlite3_column_type(q, at) == SQLITE_NULL ? -1 : sqlite3_column_int64(q, at);
}

int store_bug_get(struct store *s, int64_t id, struct arena *a, struct finding *out,
                  struct err *e)
{
    sqlite3_stmt *q = store_stmt(s, Q_BUG_GET, e);

    if (!q)
        return e->code;
    sqlite3_bind_int64(q, 1, id);
    int rc = store_step(s, q, e);
    if (rc == 0)
        err_set(e, ERR_DB, "%s: no bug %" PRId64 "; tilefuzz db ls shows what there is",
                s->path, id);
    if (rc <= 0)
        return e->code;
    read_finding(q, a, out);
    sqlite3_reset(q);
    return e->code = ERR_NONE;
}

int store_bug_rows(struct store *s, enum statement which, struct arena *a, struct finding **out,
                   int *n, struct err *e)
{
    sqlite3_stmt *q = store_stmt(s, which, e);
    int rc, cap = 0;

    *out = NULL;
    *n = 0;
    if (!q)
        return e->code;
    while ((rc = store_step(s, q, e)) > 0)
        read_finding(q, a, arena_push(a, *out, *n, cap));
    return rc < 0 ? e->code : 0;
}

int store_bug_list(struct store *s, struct arena *a, struct finding **out, int *n,
                   struct err *e)
{
    return store_bug_rows(s, Q_BUG_LIST, a, out, n, e);
}

int store_bug_update(struct store *s, const struct finding *f, struct err *e)
{
    e->code = ERR_NONE;
    sqlite3_stmt *q = store_stmt(s, Q_BUG_UPDATE, e);

    if (!q)
        return e->code;
    bind_finding(q, f);
    sqlite3_bind_int64(q, 18, f->id);
    if (store_done(s, q, e) && sqlite3_extended_errcode(s->db) == SQLITE_CONSTRAINT_UNIQUE)
        err_set(e, ERR_DB, "%s: bug %" PRId64 " is another bug of this database: both are %s",
                s->path, f->id, f->signature);
    return e->code;
}

int store_known_causes(struct store *s, const char *fault, struct arena *a,
                       struct store_cause **out, int *n, struct err *e)
{
    sqlite3_stmt *q = store_stmt(s, Q_CAUSES, e);
    int rc, cap = 0;

    *out = NULL;
    *n = 0;
    if (!q)
        return e->code;
    bind_text(q, 1, fault);
    while ((rc = store_step(s, q, e)) > 0) {
        struct store_cause *c = arena_push(a, *out, *n, cap);

        c->bug = sqlite3_column_int64(q, 0);
        c->cause = column_text(q, 1, a);
    }
    return rc < 0 ? e->code : 0;
}
