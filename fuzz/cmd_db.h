/* What the files of `tilefuzz db` share: cmd_db.c (words), cmd_db_look.c and
 * cmd_db_move.c (actions). */
#ifndef FUZZ_CMD_DB_H
#define FUZZ_CMD_DB_H

#include "fuzz/cmd.h"
#include "fuzz/store/store.h"

enum { DB_MAX_ARGS = 1000 };

struct db_opts {
    struct cmd_common common;
    const char *words[DB_MAX_ARGS]; /* the action and what follows */
    const char **arg;               /* what follows, once the action is known */
    int n_arg;
    const char *dir, *note;
    struct arena arena;
};

int64_t db_id(const char *arg, struct err *e); /* -1 and *e = not a bug id */

int db_ls(struct db_opts *o, struct store *s, struct err *e);
int db_show(struct db_opts *o, struct store *s, struct err *e);
int db_sql(struct db_opts *o, struct store *s, struct err *e);
int db_join(struct db_opts *o, struct store *s, struct err *e);
int db_split(struct db_opts *o, struct store *s, struct err *e);
int db_tag(struct db_opts *o, struct store *s, struct err *e);
int db_merge(struct db_opts *o, struct store *s, struct err *e);
int db_export(struct db_opts *o, struct store *s, struct err *e);
int db_import(struct db_opts *o, struct store *s, struct err *e);

#endif
