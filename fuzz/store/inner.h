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

/* A parameter of a statement. */
struct param {
    enum { PARAM_NULL, PARAM_INT, PARAM_TEXT, PARAM_KEY } kind;
    int64_t n;
    const char *text;
};
#define INT(v)  ((struct param){ PARAM_INT, .n = (int64_t)(v) })
#define TEXT(v) ((struct param){ PARAM_TEXT, .text = (v) })      /* NULL is NULL */
#define KEY(v)  ((struct param){ PARAM_KEY, .n = (int64_t)(v) }) /* 16 hex digits */
#define NOTHING ((struct param){ PARAM_NULL })
#define PARAMS(...)                                                                            \
    (const struct param[]){ __VA_ARGS__ },                                                     \
        (int)(sizeof((const struct param[]){ __VA_ARGS__ }) / sizeof(struct param))
/* store_stmt, and its parameters in order: ASK(s, BUG_GET, e, INT(id)). Texts must outlive it.
 */
#define ASK(s, id, e, ...) store_ask((s), Q_##id, PARAMS(__VA_ARGS__), (e))
sqlite3_stmt *store_ask(struct store *s, enum statement q, const struct param *p, int n,
                        struct err *e);
/* The same, run: it gives no rows. 0 or e->code. */
#define RUN(s, id, e, ...) store_run((s), Q_##id, PARAMS(__VA_ARGS__), (e))
int store_run(struct store *s, enum statement q, const struct param *p, int n, struct err *e);
/* Says that there is no such bug; returns e->code. */
int store_no_bug(const struct store *s, int64_t bug, struct err *e);
/* One step of a statement: 1 a row, 0 done (and reset), -1 an error (and reset). */
int store_step(struct store *s, sqlite3_stmt *q, struct err *e);
/* Steps a statement that gives no rows; 0 or e->code. */
int store_done(struct store *s, sqlite3_stmt *q, struct err *e);

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
