/*
 * Inside the store: the connection, its prepared statements, and short ways to bind, step
 * and read. Only files of this folder include it; nobody else meets SQLite.
 */
#ifndef FUZZ_STORE_INNER_H
#define FUZZ_STORE_INNER_H

#include <sqlite3.h>

#include "fuzz/store/store.h"

/* Every statement of the tool, prepared at its first use and kept until the store closes. */
enum statement {
#define STATEMENT(id, text) Q_##id,
#include "fuzz/store/statements.def"
#undef STATEMENT
    Q_COUNT
};

struct store {
    sqlite3 *db;
    enum store_mode mode;
    char *path;
    sqlite3_stmt *stmt[Q_COUNT];
};

/* Says what SQLite's last error on this file means to the user; returns e->code. */
int store_fail(const struct store *s, int rc, struct err *e);

/* Runs text without an answer. */
int store_exec(struct store *s, const char *text, struct err *e);
/* Answer of a pragma or another query of one integer. */
int store_number(struct store *s, const char *text, int64_t *out, struct err *e);

/* NULL and *e if it can't be prepared. The statement is reset and its parameters are NULL. */
sqlite3_stmt *store_stmt(struct store *s, enum statement q, struct err *e);
/* One step of a statement: 1 a row, 0 done (and reset), -1 an error (and reset). */
int store_step(struct store *s, sqlite3_stmt *q, struct err *e);
/* Steps a statement that gives no rows; 0 or e->code. */
int store_done(struct store *s, sqlite3_stmt *q, struct err *e);

void bind_text(sqlite3_stmt *q, int at, const char *text); /* NULL is NULL; must outlive q */
void bind_key(sqlite3_stmt *q, int at, uint64_t key);      /* 16 hex digits */
const char *column_text(sqlite3_stmt *q, int at, struct arena *a); /* NULL for NULL */

/* The row of the bug that f is (signature or cause, and fault), inserted if it is not known;
 * a row that was joined to another bug is itself. */
int store_bug_adopt(struct store *s, struct finding *f, bool *known, struct err *e);
/* All rows of a statement with the columns of a bug. */
int store_bug_rows(struct store *s, enum statement which, struct arena *a, struct finding **out,
                   int *n, struct err *e);

/* The one that a joined bug was joined to, else the bug itself. */
int store_bug_head(struct store *s, int64_t *bug, struct err *e);
/* The state as a constant of ours, NULL = there is no such state. */
const char *store_state_text(const char *state);

/* Brings the schema to STORE_VERSION (creates it in an empty file). */
enum { STORE_VERSION = 1, STORE_APPLICATION = 0x7466757a /* "tfuz" */ };
int store_migrate(struct store *s, struct err *e);

#endif
