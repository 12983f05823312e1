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
    return RUN(s, REPLAY, e, INT(bug), TEXT(kind), TEXT(cause), TEXT(subject_version));
}

bool store_state_valid(const char *state)
{
    return store_state_text(state) != NULL;
}

int store_tag(struct store *s, int64_t bug, const char *state, const char *note, struct err *e)
{
    if (RUN(s, STATE_SET, e, INT(bug), TEXT(state)))
        return e->code;
    if (sqlite3_changes(s->db) == 0)
        return store_no_bug(s, bug, e);
    return RUN(s, STATE_NOTE, e, INT(bug), TEXT(state), TEXT(note));
}

int store_bug_head(struct store *s, int64_t *bug, struct err *e)
{
    sqlite3_stmt *q = ASK(s, BUG_HEAD, e, INT(*bug));
    int rc = q ? store_step(s, q, e) : -1;

    if (rc == 0)
        store_no_bug(s, *bug, e);
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
    return RUN(s, BUG_JOIN, e, INT(bug), INT(other));
}

int store_split(struct store *s, int64_t bug, struct err *e)
{
    int64_t head = bug;

    if (store_bug_head(s, &head, e))
        return e->code;
    return RUN(s, BUG_SPLIT, e, INT(bug));
}
