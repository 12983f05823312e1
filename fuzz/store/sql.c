/* The user's own questions: one statement, under an authorizer that lets it only read. */
#include "fuzz/store/inner.h"

#include <string.h>
#include <strings.h>

#include "base/arena.h"

/* Pragmas that tell and don't set; with an argument only where that is a table's name. */
static bool pragma_reads(const char *name, const char *arg)
{
    static const char *const with_table[] = { "table_info",       "table_xinfo", "index_list",
                                              "foreign_key_list", "index_info",  "table_list" };
    static const char *const plain[] = {
        "user_version",  "application_id", "schema_version",   "integrity_check",
        "quick_check",   "journal_mode",   "page_count",       "page_size",
        "database_list", "table_list",     "foreign_key_check"
    };

    for (size_t i = 0; arg && i < sizeof with_table / sizeof *with_table; i++)
        if (strcasecmp(name, with_table[i]) == 0)
            return true;
    for (size_t i = 0; !arg && i < sizeof plain / sizeof *plain; i++)
        if (strcasecmp(name, plain[i]) == 0)
            return true;
    return false;
}

static int authorize(void *ctx, int action, const char *a, const char *b, const char *db,
                     const char *trigger)
{
    (void)ctx, (void)db, (void)trigger;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_FUNCTION:
        return b && strcasecmp(b, "load_extension") == 0 ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_PRAGMA:
        return a && pragma_reads(a, b) ? SQLITE_OK : SQLITE_DENY;
    default:
        return SQLITE_DENY;
    }
}

static enum store_type cell_type(int type)
{
    return type == SQLITE_INTEGER ? STORE_INT
           : type == SQLITE_FLOAT ? STORE_REAL
           : type == SQLITE_NULL  ? STORE_NULL
                                  : STORE_TEXT;
}

static int walk(struct store *s, sqlite3_stmt *q, struct store_cell *cell, int n,
                store_row_fn *row, void *ctx, struct err *e)
{
    int rc;

    while ((rc = sqlite3_step(q)) == SQLITE_ROW) {
        for (int i = 0; i < n; i++)
            cell[i] = (struct store_cell){ sqlite3_column_name(q, i),
                                           cell_type(sqlite3_column_type(q, i)),
                                           (const char *)sqlite3_column_text(q, i) };
        if (row(ctx, cell, n))
            return 0;
    }
    return rc == SQLITE_DONE ? 0 : store_fail(s, rc, e);
}

int store_sql(struct store *s, const char *text, store_row_fn *row, void *ctx, struct err *e)
{
    sqlite3_stmt *q = NULL;
    struct arena a;
    const char *tail;

    e->code = ERR_NONE;
    arena_init(&a);
    sqlite3_set_authorizer(s->db, authorize, NULL);
    int rc = sqlite3_prepare_v2(s->db, text, -1, &q, &tail);
    if (rc == SQLITE_AUTH)
        err_set(e, ERR_USAGE, "sql: only reading is allowed (%s)", sqlite3_errmsg(s->db));
    else if (rc == SQLITE_CORRUPT || rc == SQLITE_NOTADB || rc == SQLITE_BUSY)
        store_fail(s, rc, e);
    else if (rc != SQLITE_OK)
        err_set(e, ERR_USAGE, "sql: %s", sqlite3_errmsg(s->db));
    else if (!q)
        err_set(e, ERR_USAGE, "sql: no statement");
    else if (tail[strspn(tail, " \t\r\n;")])
        err_set(e, ERR_USAGE, "sql: one statement expected; there is more: %.60s", tail);
    else if (!sqlite3_stmt_readonly(q))
        err_set(e, ERR_USAGE, "sql: only reading is allowed");
    else {
        int n = sqlite3_column_count(q);

        walk(s, q, arena_array(&a, struct store_cell, n + 1), n, row, ctx, e);
    }
    sqlite3_finalize(q);
    sqlite3_set_authorizer(s->db, NULL, NULL);
    arena_release(&a);
    return e->code;
}
