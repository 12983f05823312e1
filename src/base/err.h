/*
 * struct err: we could not do what was asked (bad file, missing database, illegal step).
 * The first place that knows writes the message; everyone else returns the code.
 * Functions that can fail return 0 or an err_code (non-zero) and fill *e.
 * Facts about the code under test are verdicts (ir/verdict.h), broken invariants of ours
 * are BUG (base/bug.h); the three are never mixed.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

enum err_code {
    ERR_NONE,
    ERR_USAGE,       /* the command line is wrong: exit 2 */
    ERR_INPUT,       /* a file's content is wrong: exit 3, line and col are set */
    ERR_ILLEGAL,     /* a schedule step is not legal here: exit 3, line is set */
    ERR_IO,          /* a file or directory cannot be read or written: exit 3 */
    ERR_DB,          /* the database is missing, corrupt, newer or locked: exit 3 */
    ERR_MISSING,     /* a library or device is not there: exit 3 */
    ERR_UNSUPPORTED, /* a backend does not take this trial: counted */
};

struct err {
    enum err_code code;
    int line, col;     /* 1-based position in the user's text; 0 = none */
    char msg[480];     /* "what; what was expected", no newline */
    char file[256];    /* the user's file, "" = none */
    char excerpt[240]; /* the source line and a caret line below it, "" = none */
};

int err_set(struct err *e, enum err_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
int err_at(struct err *e, enum err_code code, int line, int col, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

/* "file:line:col: msg" and the excerpt, one call, to stderr. */
void err_print(const struct err *e);
int err_exit_code(const struct err *e); /* 2 or 3, see above */

#endif
