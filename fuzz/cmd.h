/*
 * How a command is written. One file fuzz/cmd_NAME.c with `int cmd_NAME(int argc, char **argv)`
 * and one row in fuzz/commands.def; main.c does the rest. Results go to stdout, talk to
 * stderr; the value returned is the exit code.
 *
 *     struct show_opts {
 *         struct cmd_common common;
 *         const char *as;
 *     };
 *
 *     static const struct argp_option options[] = {
 *         { "as", 'a', "FORM", 0, "what to print: trial, loops, c" },
 *         { 0 },
 *     };
 *
 *     static error_t parse(int key, char *arg, struct argp_state *state)
 *     {
 *         struct show_opts *o = state->input;
 *         ...
 *         cmd_usage(state, "--as: no form '%s'; forms are trial, loops, c", arg);  // exits 2
 *     }
 *
 *     static const struct argp argp = { options, parse, "FILE|ID", "Print a trial.\v"
 *                                       "Examples:\n  tilefuzz show 3 --as c" };
 *
 *     int cmd_show(int argc, char **argv)
 *     {
 *         struct show_opts o = { .common = CMD_COMMON_DEFAULT };
 *
 *         cmd_parse(&argp, argc, argv, CMD_DB | CMD_JSON | CMD_FAULT, &o.common, &o);
 *         ...
 *         if (cmd_open(o.arg, &o.common, &arena, &subject, &e))
 *             return cmd_fail(&e);
 *         return CMD_CLEAN;
 *     }
 */
#ifndef FUZZ_CMD_H
#define FUZZ_CMD_H

#include <argp.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "fuzz/finding.h"
#include "ir/trial.h"
#include "lower/fault.h"

/* Exit codes: a contract with scripts. */
enum {
    CMD_CLEAN = 0,
    CMD_FINDINGS = 1, /* findings; for replay: something came back or newly fails */
    CMD_USAGE = 2,
    CMD_CANNOT = 3, /* bad file, no database, nothing to run on */
    CMD_INTERRUPTED = 130,
};

/* In every --json object. */
enum { CMD_SCHEMA = 1 };

#define CMD_DB_DEFAULT "reports/tilefuzz.db"

/* argv[0] as the user typed it: lines that are meant to be pasted begin with it. */
extern const char *cmd_program;

/* The options that most commands share; a command embeds the struct in its own. */
struct cmd_common {
    const char *db;   /* --db F */
    bool json;        /* --json */
    bool fault_given; /* --fault ID|none */
    enum fault fault;
};
#define CMD_COMMON_DEFAULT                                                                     \
    {                                                                                          \
        .db = CMD_DB_DEFAULT                                                                   \
    }
enum { CMD_DB = 1, CMD_JSON = 2, CMD_FAULT = 4 }; /* which of them a command takes */

/*
 * argp_parse with our manners: an error is one line on stderr and exit 2; arguments that the
 * parser does not take (ARGP_ERR_UNKNOWN) are refused. `input` becomes state->input.
 */
void cmd_parse(const struct argp *argp, int argc, char **argv, int which,
               struct cmd_common *common, void *input);

/* "tilefuzz show: MESSAGE" on stderr, exit 2. In place of argp_error. state may be NULL. */
_Noreturn void cmd_usage(const struct argp_state *state, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Numbers of options and arguments, checked: exit 2 with the range when they are no good. */
int64_t cmd_int(const struct argp_state *state, const char *what, const char *arg, int64_t low,
                int64_t high);
/* 0 .. 2^63 - 1: seeds and trial numbers */
uint64_t cmd_u64(const struct argp_state *state, const char *what, const char *arg);
double cmd_real(const struct argp_state *state, const char *what, const char *arg);
/* "90", "90s", "15m", "8h", "1d" in seconds */
double cmd_duration(const struct argp_state *state, const char *what, const char *arg);

/* Prints e to stderr and returns its exit code: `return cmd_fail(&e);` */
int cmd_fail(const struct err *e);

/*
 * A FILE|ID argument: a decimal number is a bug in the database, anything else a path ("-"
 * is standard input). The fault is --fault if given, else the finding's own, else none.
 */
struct subject {
    const char *name;       /* the argument */
    int64_t id;             /* of the bug, 0 = a file */
    struct finding finding; /* of the bug */
    struct trial *trial;
    enum fault fault;
};
bool cmd_is_id(const char *arg, int64_t *id);
int cmd_open(const char *arg, const struct cmd_common *c, struct arena *a, struct subject *out,
             struct err *e);
/* For the parser of a command that takes just one of them: 0 or ARGP_ERR_UNKNOWN. */
error_t cmd_subject_arg(int key, char *arg, const struct argp_state *state, const char **out);
/* What to add where a trial passes: "", or that it was found by a judge that must be given. */
struct judge_opts;
const char *subject_hint(const struct subject *sub, const struct judge_opts *judge);
/* ": give --judge NAME" where another judge than this found it, as f.tier tells; else NULL */
const char *judge_hint(const char *tier, const struct judge_opts *judge);

/* The commands, one row each in commands.def. */
struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *args, *help;
};
#define COMMAND(id, args, help) int cmd_##id(int argc, char **argv);
#include "fuzz/commands.def"
#undef COMMAND

#endif
