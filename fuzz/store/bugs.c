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
    sqlite3_stmt *q =
        store_ask(s, how, PARAMS(TEXT(by), TEXT(f->fault ? f->fault : "none")), e);

    *id = 0;
    if (!q)
        return e->code;
    int rc = store_step(s, q, e);
    if (rc > 0)
        *id = sqlite3_column_int64(q, 0);
    sqlite3_reset(q);
    return rc < 0 ? e->code : 0;
}

/* Parameters 1 to 17, the same in BUG_INSERT and BUG_UPDATE. */
#define FINDING(f)                                                                             \
    TEXT((f)->signature), TEXT((f)->kind), TEXT((f)->class), TEXT((f)->stage),                 \
        TEXT((f)->pass), TEXT((f)->rewrite), TEXT((f)->step), TEXT((f)->cause),                \
        TEXT((f)->backend), TEXT((f)->algebra), TEXT((f)->tier), INT((f)->nodes),              \
        INT((f)->steps), INT((f)->max_size), TEXT((f)->detail), TEXT((f)->text),               \
        TEXT((f)->repro)

static int bug_insert(struct store *s, struct finding *f, struct err *e)
{
    if (RUN(s, BUG_INSERT, e, FINDING(f), TEXT(f->fault ? f->fault : "none"),
            TEXT(f->state ? f->state : "open"), TEXT(f->original)))
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
    return RUN(s, OBSERVE, e, INT(bug), seen->campaign ? INT(seen->campaign) : NOTHING,
               seen->number >= 0 ? INT(seen->number) : NOTHING, KEY(seen->key),
               TEXT(seen->subject_version));
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
    sqlite3_stmt *q = ASK(s, BUG_GET, e, INT(id));
    int rc = q ? store_step(s, q, e) : -1;

    if (rc == 0)
        store_no_bug(s, id, e);
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
    if (RUN(s, BUG_UPDATE, e, FINDING(f), INT(f->id)) &&
        sqlite3_extended_errcode(s->db) == SQLITE_CONSTRAINT_UNIQUE)
        err_set(e, ERR_DB, "%s: bug %" PRId64 " is another bug of this database: both are %s",
                s->path, f->id, f->signature);
    return e->code;
}

int store_known_causes(struct store *s, const char *fault, struct arena *a,
                       struct store_cause **out, int *n, struct err *e)
{
    sqlite3_stmt *q = ASK(s, CAUSES, e, TEXT(fault));
    int rc, cap = 0;

    *out = NULL;
    *n = 0;
    if (!q)
        return e->code;
    while ((rc = store_step(s, q, e)) > 0) {
        struct store_cause *c = arena_push(a, *out, *n, cap);

        c->bug = sqlite3_column_int64(q, 0);
        c->cause = column_text(q, 1, a);
    }
    return rc < 0 ? e->code : 0;
}
