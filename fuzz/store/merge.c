/*
 * Merging: campaigns that this database has not seen yet (by uid), with their trials and
 * observations; bugs are matched by signature and fault, so one bug found on ten machines
 * becomes one row with ten observations. Who joined which bugs is not taken over. All in one
 * transaction.
 */
#include "fuzz/store/inner.h"

/* Which row of this database a row of the other one became; 0 = it is left out. */
struct id_map {
    struct pair {
        int64_t from, to;
    } * pair;
    int n, cap;
};

struct merge {
    struct store *to, *from;
    struct arena arena;
    struct id_map campaigns, bugs;
    struct store_merged count;
};

static void map_add(struct merge *m, struct id_map *map, int64_t from, int64_t to)
{
    *arena_push(&m->arena, map->pair, map->n, map->cap) = (struct pair){ from, to };
}

static int64_t map_get(const struct id_map *map, int64_t from)
{
    for (int i = 0; i < map->n; i++)
        if (map->pair[i].from == from)
            return map->pair[i].to;
    return 0;
}

/* Columns first .. of a row become the parameters of the same numbers plus one. */
static void bind_columns(sqlite3_stmt *to, sqlite3_stmt *row, int first)
{
    for (int i = first; i < sqlite3_column_count(row); i++)
        sqlite3_bind_value(to, i + 1, sqlite3_column_value(row, i));
}

static int merge_campaigns(struct merge *m, struct err *e)
{
    sqlite3_stmt *all = store_stmt(m->from, Q_MERGE_CAMPAIGNS, e), *add;
    int rc;

    if (!all)
        return e->code;
    while ((rc = store_step(m->from, all, e)) > 0) {
        int64_t id = sqlite3_column_int64(all, 0), to = 0;

        if (!(add = store_stmt(m->to, Q_MERGE_CAMPAIGN, e)))
            return e->code;
        bind_columns(add, all, 1);
        if (store_done(m->to, add, e))
            return e->code;
        if (sqlite3_changes(m->to->db)) {
            to = sqlite3_last_insert_rowid(m->to->db);
            m->count.campaigns++;
        }
        map_add(m, &m->campaigns, id, to);
    }
    return rc < 0 ? e->code : 0;
}

static int merge_bugs(struct merge *m, struct err *e)
{
    struct finding *f;
    int n;

    if (store_bug_rows(m->from, Q_MERGE_BUGS, &m->arena, &f, &n, e))
        return e->code;
    for (int i = 0; i < n; i++) {
        int64_t from = f[i].id;
        bool known;

        if (store_bug_adopt(m->to, &f[i], &known, e))
            return e->code;
        m->count.bugs += !known;
        map_add(m, &m->bugs, from, f[i].id);
    }
    return 0;
}

/* Rows that begin with a bug, or a campaign, or both, which are mapped. A row of a campaign
 * that was here before is left out. */
static int merge_rows(struct merge *m, enum statement read, enum statement write, bool bug,
                      bool campaign, int64_t *count, struct err *e)
{
    sqlite3_stmt *all = store_stmt(m->from, read, e), *add;
    int rc;

    if (!all)
        return e->code;
    while ((rc = store_step(m->from, all, e)) > 0) {
        int at = 0;

        if (!(add = store_stmt(m->to, write, e)))
            return e->code;
        bind_columns(add, all, 0);
        if (bug) {
            int64_t to = map_get(&m->bugs, sqlite3_column_int64(all, at));

            sqlite3_bind_int64(add, ++at, to);
        }
        if (campaign && sqlite3_column_type(all, at) != SQLITE_NULL) {
            int64_t to = map_get(&m->campaigns, sqlite3_column_int64(all, at));

            if (!to)
                continue;
            sqlite3_bind_int64(add, ++at, to);
        }
        if (store_done(m->to, add, e))
            return e->code;
        *count += sqlite3_changes(m->to->db);
    }
    return rc < 0 ? e->code : 0;
}

int store_merge(struct store *s, const char *from, struct store_merged *out, struct err *e)
{
    struct merge m = { .to = s };
    int64_t uncounted = 0;

    arena_init(&m.arena);
    if (store_open(from, STORE_READ, &m.from, e) || store_begin(s, e))
        goto end;
    if (!merge_campaigns(&m, e) && !merge_bugs(&m, e) &&
        !merge_rows(&m, Q_MERGE_TRIALS, Q_TRIAL, false, true, &uncounted, e) &&
        !merge_rows(&m, Q_MERGE_OBSERVATIONS, Q_MERGE_OBSERVATION, true, true,
                    &m.count.observations, e) &&
        !merge_rows(&m, Q_MERGE_REPLAYS, Q_MERGE_REPLAY, true, false, &uncounted, e) &&
        !merge_rows(&m, Q_MERGE_STATES, Q_MERGE_STATE, true, false, &uncounted, e))
        store_commit(s, e);
    if (e->code)
        store_rollback(s);
end:
    store_close(m.from);
    arena_release(&m.arena);
    *out = m.count;
    return e->code;
}
