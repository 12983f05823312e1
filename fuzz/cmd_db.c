/*
 * tilefuzz db: look into the database of findings, and tend it. One row of `actions` each.
 */
#include "fuzz/cmd.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bug.h"
#include "fuzz/cmd_db.h"

static const struct argp_option options[] = {
    { "output", 'o', "DIR", 0, "export: one .trial file for each bug into DIR", 0 },
    { "note", 'n', "TEXT", 0, "tag: why", 0 },
    { 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct db_opts *o = state->input;

    switch (key) {
    case 'o':
        o->dir = arg;
        return 0;
    case 'n':
        o->note = arg;
        return 0;
    case ARGP_KEY_ARG:
        if (o->n_arg == DB_MAX_ARGS)
            cmd_usage(state, "more than %d arguments", DB_MAX_ARGS);
        o->arg[o->n_arg++] = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    options,
    parse,
    "ls\nshow ID\nsql TEXT\nmerge FILE...\njoin ID ID\nsplit ID\ntag ID STATE\nexport "
    "[ID...]\nimport FILE...",
    "Look into the database of findings, and tend it.\v"
    "  ls            one line for each bug\n"
    "  show ID       all about one bug\n"
    "  sql TEXT      one reading SQL statement (first: SELECT text FROM readme)\n"
    "  merge FILE..  everything of other databases into this one\n"
    "  join ID ID    the second is the same bug as the first\n"
    "  split ID      undo that\n"
    "  tag ID STATE  set the state: " STORE_STATES "\n"
    "  export        bugs as JSON lines, or with -o as .trial files\n"
    "  import FILE   JSON lines that were exported (- is standard input)\n"
    "\n"
    "Examples:\n"
    "  tilefuzz db ls\n"
    "  tilefuzz db show 1 --json\n"
    "  tilefuzz db sql 'SELECT pass, count(*) FROM bugs GROUP BY pass'\n"
    "  tilefuzz db tag 3 wontfix --note 'documented limit'\n"
    "  tilefuzz db merge night1.db night2.db --db reports/all.db",
};

/* How many arguments follow the word, and how the database is opened. */
static const struct action {
    const char *name;
    int low, high;
    enum store_mode mode;
    int (*run)(struct db_opts *o, struct store *s, struct err *e);
} actions[] = {
    { "ls", 0, 0, STORE_READ, db_ls },
    { "show", 1, 1, STORE_READ, db_show },
    { "sql", 1, 1, STORE_READ, db_sql },
    { "merge", 1, DB_MAX_ARGS, STORE_CREATE, db_merge },
    { "join", 2, 2, STORE_WRITE, db_join },
    { "split", 1, 1, STORE_WRITE, db_split },
    { "tag", 2, 2, STORE_WRITE, db_tag },
    { "export", 0, DB_MAX_ARGS, STORE_READ, db_export },
    { "import", 1, DB_MAX_ARGS, STORE_CREATE, db_import },
};

static const struct action *action_find(const struct db_opts *o)
{
    for (size_t i = 0; o->n_arg && i < ARRAY_LEN(actions); i++)
        if (strcmp(o->arg[0], actions[i].name) == 0)
            return &actions[i];
    return NULL;
}

/* Wrong words are told before a file is touched. */
static bool usage_wrong(const struct db_opts *o, const struct action *a, struct err *e)
{
    int n = o->n_arg - 1;

    if (!a)
        err_set(e, ERR_USAGE,
                "db: %s%s%s; ls, show, sql, merge, join, split, tag, export or import expected",
                n < 0 ? "no action" : "no action '", n < 0 ? "" : o->arg[0], n < 0 ? "" : "'");
    else if (n < a->low)
        err_set(e, ERR_USAGE, "db %s: an argument is missing; see tilefuzz db --help", a->name);
    else if (n > a->high)
        err_set(e, ERR_USAGE, "db %s: unexpected argument '%s'", a->name, o->arg[a->high + 1]);
    else if (a->run == db_show || a->run == db_tag || a->run == db_split)
        db_id(o->arg[1], e);
    if (!e->code && a->run == db_tag && !store_state_valid(o->arg[2]))
        err_set(e, ERR_USAGE, "db tag: no state '%s'; states are " STORE_STATES, o->arg[2]);
    return e->code != ERR_NONE;
}

int64_t db_id(const char *arg, struct err *e)
{
    int64_t id;

    if (cmd_is_id(arg, &id))
        return id;
    err_set(e, ERR_USAGE, "db: '%s' is no bug id; a number as tilefuzz db ls shows it expected",
            arg);
    return -1;
}

int cmd_db(int argc, char **argv)
{
    struct db_opts o = { .common = CMD_COMMON_DEFAULT };
    struct err e = { .code = ERR_NONE };
    struct store *s;

    o.arg = o.words;
    cmd_parse(&argp, argc, argv, CMD_DB | CMD_JSON, &o.common, &o);
    const struct action *action = action_find(&o);
    if (usage_wrong(&o, action, &e))
        return cmd_fail(&e);
    o.arg++, o.n_arg--;
    bool is_new = access(o.common.db, F_OK) != 0;
    if (store_open(o.common.db, action->mode, &s, &e))
        return cmd_fail(&e);
    arena_init(&o.arena);
    int rc = action->run(&o, s, &e) ? cmd_fail(&e) : CMD_CLEAN;
    arena_release(&o.arena);
    store_close(s);
    if (e.code && is_new)
        unlink(o.common.db); /* a merge or import that failed leaves no file behind */
    return rc;
}
