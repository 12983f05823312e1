/* Opening and closing, statements, transactions, and what SQLite's errors mean to a user. */
#include "fuzz/store/inner.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bug.h"

static const char *const statement_text[Q_COUNT] = {
#define STATEMENT(id, text) [Q_##id] = text,
#include "fuzz/store/statements.def"
#undef STATEMENT
};

int store_fail(const struct store *s, int rc, struct err *e)
{
    const char *path = s->path;

    switch (rc & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return err_set(e, ERR_DB, "%s: locked by another process; try again later", path);
    case SQLITE_READONLY:
        return err_set(e, ERR_DB, "%s: read-only", path);
    case SQLITE_NOTADB:
        return err_set(e, ERR_DB, "%s: not a tilefuzz database", path);
    case SQLITE_CORRUPT:
        return err_set(e, ERR_DB, "%s: corrupt database (%s)", path, sqlite3_errmsg(s->db));
    case SQLITE_FULL:
        return err_set(e, ERR_DB, "%s: no space left on the disk", path);
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_IOERR:
        return err_set(e, ERR_DB, "%s: cannot be read or written (%s)", path,
                       sqlite3_errmsg(s->db));
    default:
        return err_set(e, ERR_DB, "%s: %s", path, sqlite3_errmsg(s->db));
    }
}

int store_exec(struct store *s, const char *text, struct err *e)
{
    int rc = sqlite3_exec(s->db, text, NULL, NULL, NULL);

    return rc == SQLITE_OK ? 0 : store_fail(s, rc, e);
}

int store_number(struct store *s, const char *text, int64_t *out, struct err *e)
{
    sqlite3_stmt *q;
    int rc = sqlite3_prepare_v2(s->db, text, -1, &q, NULL);

    if (rc != SQLITE_OK)
        return store_fail(s, rc, e);
    rc = sqlite3_step(q);
    if (rc == SQLITE_ROW)
        *out = sqlite3_column_int64(q, 0);
    else
        store_fail(s, rc, e);
    sqlite3_finalize(q);
    return rc == SQLITE_ROW ? 0 : e->code;
}

sqlite3_stmt *store_stmt(struct store *s, enum statement q, struct err *e)
{
    if (!s->stmt[q]) {
        int rc = sqlite3_prepare_v3(s->db, statement_text[q], -1, SQLITE_PREPARE_PERSISTENT,
                                    &s->stmt[q], NULL);

        if (rc != SQLITE_OK) {
            store_fail(s, rc, e);
            return NULL;
        }
    }
    sqlite3_reset(s->stmt[q]);
    sqlite3_clear_bindings(s->stmt[q]);
    return s->stmt[q];
}

int store_step(struct store *s, sqlite3_stmt *q, struct err *e)
{
    int rc = sqlite3_step(q);

    if (rc == SQLITE_ROW)
        return 1;
    if (rc != SQLITE_DONE)
        store_fail(s, rc, e);
    sqlite3_reset(q);
    return rc == SQLITE_DONE ? 0 : -1;
}

int store_done(struct store *s, sqlite3_stmt *q, struct err *e)
{
    int rc = store_step(s, q, e);

    if (rc > 0)
        BUG("a statement without an answer gave a row: %s", sqlite3_sql(q));
    return rc ? e->code : 0;
}

sqlite3_stmt *store_ask(struct store *s, enum statement id, const struct param *p, int n,
                        struct err *e)
{
    sqlite3_stmt *q = store_stmt(s, id, e);

    for (int i = 0; q && i < n; i++) {
        char hex[20];

        if (p[i].kind == PARAM_INT)
            sqlite3_bind_int64(q, i + 1, p[i].n);
        if (p[i].kind == PARAM_TEXT)
            sqlite3_bind_text(q, i + 1, p[i].text, -1, SQLITE_STATIC);
        if (p[i].kind == PARAM_KEY) {
            snprintf(hex, sizeof hex, "%016" PRIx64, (uint64_t)p[i].n);
            sqlite3_bind_text(q, i + 1, hex, -1, SQLITE_TRANSIENT);
        }
    }
    return q;
}

int store_run(struct store *s, enum statement id, const struct param *p, int n, struct err *e)
{
    sqlite3_stmt *q = store_ask(s, id, p, n, e);

    if (!q)
        return e->code;
    return store_done(s, q, e);
}

int store_no_bug(const struct store *s, int64_t bug, struct err *e)
{
    return err_set(e, ERR_DB, "%s: no bug %" PRId64 "; tilefuzz db ls shows what there is",
                   s->path, bug);
}

const char *column_text(sqlite3_stmt *q, int at, struct arena *a)
{
    const char *text = (const char *)sqlite3_column_text(q, at);

    return text ? arena_strdup(a, text) : NULL;
}

int store_begin(struct store *s, struct err *e)
{
    return store_run(s, Q_BEGIN, NULL, 0, e);
}

int store_commit(struct store *s, struct err *e)
{
    return store_run(s, Q_COMMIT, NULL, 0, e);
}

void store_rollback(struct store *s)
{
    struct err ignored;

    if (!sqlite3_get_autocommit(s->db))
        store_run(s, Q_ROLLBACK, NULL, 0, &ignored);
}

void store_close(struct store *s)
{
    if (!s)
        return;
    for (int i = 0; i < Q_COUNT; i++)
        sqlite3_finalize(s->stmt[i]);
    sqlite3_close(s->db); /* an open transaction rolls back */
    free(s->path);
    free(s);
}

const char *store_path(const struct store *s)
{
    return s->path;
}

const char *store_library_version(void)
{
    return sqlite3_libversion();
}
