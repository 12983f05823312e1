/* What became of bugs: replays, states, and which of them the user calls the same. */
#include "fuzz/store/inner.h"

#include <inttypes.h>
#include <string.h>

#include "base/bug.h"

const char *store_state_text(const char *state)
{
    static const char *const states[] = { "open", "fixed", "back", "wontfix" };

    for (size_t i = 0; state && i < ARRAY_LEN(states); i++)
        if (strcmp(state, states[i]) == 0)
            return states[i];
    return NULL;
}

int store_replay(struct store *s, int64_t bug, const char *kind, const char *cause,
                 const char *subject_version, struct err *e)
{
    sqlite3_stmt *q = store_stmt(s, Q_REPLAY, e);

    if (!q)
        return e->code;
    sqlite3_bind_int64(q, 1, bug);
    bind_text(q, 2, kind);
    bind_text(q, 3, cause);
    bind_text(q, 4, subject_version);
    return store_done(s, q, e);
}

bool store_state_valid(const char *state)
{
    return store_state_text(state) != NULL;
}

int store_tag(struct store *s, int64_t bug, const char *state, const char *note, struct err *e)
{
    sqlite3_stmt *q = store_stmt(s, Q_STATE_SET, e);

    if (!q)
        return e->code;
    sqlite3_bind_int64(q, 1, bug);
    bind_text(q, 2, state);
    if (store_done(s, q, e))
        return e->code;
    if (sqlite3_changes(s->db) == 0)
        return err_set(e, ERR_DB, "%s: no bug %" PRId64 "; tilefuzz db ls shows what there is",
                       s->path, bug);
    if (!(q = store_stmt(s, Q_STATE_NOTE, e)))
        return e->code;
    sqlite3_bind_int64(q, 1, bug);
    bind_text(q, 2, state);
    bind_text(q, 3, note);
    return store_done(s, q, e);
}

int store_bug_head(struct store *s, int64_t *bug, struct err *e)
{
    sqlite3_stmt *q = store_stmt(s, Q_BUG_HEAD, e);

    if (!q)
        return e->code;
    sqlite3_bind_int64(q, 1, *bug);
    int rc = store_step(s, q, e);
    if (rc == 0)
        err_set(e, ERR_DB, "%s: no bug %" PRId64 "; tilefuzz db ls shows what there is",
                s->path, *bug);
    if (rc <= 0)
        return e->code;
    *bug = sqlite3_column_int64(q, 0);
    sqlite3_reset(q);
    return e->code = ERR_NONE;
}

int store_join(struct store *s, int64_t bug, int64_t other, struct err *e)
{
    int64_t exists = other;

    if (store_bug_head(s, &bug, e) || store_bug_head(s, &exists, e))
        return e->code;
    if (bug == other)
        return err_set(e, ERR_DB, "%s: bug %" PRId64 " can't be joined to itself", s->path,
                       bug);
    sqlite3_stmt *q = store_stmt(s, Q_BUG_JOIN, e);
    if (!q)
        return e->code;
    sqlite3_bind_int64(q, 1, bug);
    sqlite3_bind_int64(q, 2, other);
    return store_done(s, q, e);
}

int store_split(struct store *s, int64_t bug, struct err *e)
{
    int64_t head = bug;

    if (store_bug_head(s, &head, e))
        return e->code;
    sqlite3_stmt *q = store_stmt(s, Q_BUG_SPLIT, e);
    if (!q)
        return e->code;
    sqlite3_bind_int64(q, 1, bug);
    return store_done(s, q, e);
}
