/* What all commands share: option parsing with our manners, checked numbers, exit codes. */
#include "fuzz/cmd.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"

const char *cmd_program = "tilefuzz";

/* Long-only options of the shared parsers start far from letters and commands' own keys. */
enum { KEY_DB = 0x5000, KEY_JSON, KEY_FAULT };

static const struct argp_option db_option[] = {
    { "db", KEY_DB, "FILE", 0, "the database (default " CMD_DB_DEFAULT ")", 8 },
    { 0 },
};
static const struct argp_option json_option[] = {
    { "json", KEY_JSON, 0, 0, "one JSON object, or one per line", 8 },
    { 0 },
};
static const struct argp_option fault_option[] = {
    { "fault", KEY_FAULT, "ID", 0, "switch a compiler bug on (tilefuzz list faults), or none",
      8 },
    { 0 },
};

static error_t parse_common(int key, char *arg, struct argp_state *state)
{
    struct cmd_common *c = state->input;

    switch (key) {
    case KEY_DB:
        if (!*arg)
            cmd_usage(state, "--db: no file name");
        c->db = arg;
        return 0;
    case KEY_JSON:
        c->json = true;
        return 0;
    case KEY_FAULT:
        if (!fault_parse(arg, &c->fault))
            cmd_usage(state, "--fault: no fault '%s'; see tilefuzz list faults", arg);
        c->fault_given = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp db_argp = {
    db_option,
    parse_common,
    NULL,
    NULL,
};
static const struct argp json_argp = {
    json_option,
    parse_common,
    NULL,
    NULL,
};
static const struct argp fault_argp = {
    fault_option,
    parse_common,
    NULL,
    NULL,
};

struct outer {
    int n_child;
    void *input[4];
};

/* argp's own messages are two lines long: its stream is shut, and we write ours. */
static error_t parse_outer(int key, char *arg, struct argp_state *state)
{
    struct outer *o = state->input;

    (void)arg;
    if (key != ARGP_KEY_INIT)
        return ARGP_ERR_UNKNOWN;
    state->err_stream = NULL;
    for (int i = 0; i < o->n_child; i++)
        state->child_inputs[i] = o->input[i];
    return 0;
}

void cmd_parse(const struct argp *argp, int argc, char **argv, int which,
               struct cmd_common *common, void *input)
{
    struct argp_child child[5] = { { argp, 0, NULL, 0 } };
    struct outer outer = { 1, { input, common, common, common } };
    int left = argc;

    if (which & CMD_DB)
        child[outer.n_child++].argp = &db_argp;
    if (which & CMD_JSON)
        child[outer.n_child++].argp = &json_argp;
    if (which & CMD_FAULT)
        child[outer.n_child++].argp = &fault_argp;
    const struct argp all = { NULL, parse_outer, NULL, NULL, child, NULL, NULL };

    argp_err_exit_status = CMD_USAGE;
    /* getopt has told what is wrong with an option, in one line */
    if (argp_parse(&all, argc, argv, 0, &left, &outer))
        exit(CMD_USAGE);
    if (left < argc) {
        fprintf(stderr, "%s: unexpected argument '%s'; see %s --help\n", argv[0], argv[left],
                argv[0]);
        exit(CMD_USAGE);
    }
}

void cmd_usage(const struct argp_state *state, const char *fmt, ...)
{
    char msg[600];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(msg, sizeof msg, fmt, ap);
    va_end(ap);
    fflush(stdout);
    fprintf(stderr, "%s: %s\n", state ? state->name : "tilefuzz", msg);
    exit(CMD_USAGE);
}

error_t cmd_subject_arg(int key, char *arg, const struct argp_state *state, const char **out)
{
    switch (key) {
    case ARGP_KEY_ARG:
        if (*out)
            cmd_usage(state, "one FILE|ID at a time; '%s' is one too many", arg);
        *out = arg;
        return 0;
    case ARGP_KEY_END:
        if (!*out)
            cmd_usage(state, "which trial? give a FILE or the ID of a bug");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int64_t cmd_int(const struct argp_state *state, const char *what, const char *arg, int64_t low,
                int64_t high)
{
    char *end;

    errno = 0;
    int64_t v = strtoll(arg, &end, 10);
    if (end == arg || *end || errno || isspace((unsigned char)*arg))
        cmd_usage(state, "%s: '%s' is no integer", what, arg);
    if (v < low || v > high)
        cmd_usage(state, "%s: %s is out of range; %" PRId64 " to %" PRId64 " expected", what,
                  arg, low, high);
    return v;
}

uint64_t cmd_u64(const struct argp_state *state, const char *what, const char *arg)
{
    char *end;

    errno = 0;
    uint64_t v = strtoull(arg, &end, 10);
    /* SQLite and JSON readers hold signed integers */
    if (end == arg || *end || errno || v > INT64_MAX || !isdigit((unsigned char)*arg))
        cmd_usage(state, "%s: '%s' is no integer from 0 to 2^63 - 1", what, arg);
    return v;
}

double cmd_real(const struct argp_state *state, const char *what, const char *arg)
{
    char *end;
    double v = strtod(arg, &end);

    if (end == arg || *end || !isfinite(v))
        cmd_usage(state, "%s: '%s' is no number", what, arg);
    return v;
}

double cmd_duration(const struct argp_state *state, const char *what, const char *arg)
{
    static const struct {
        const char *name;
        double s;
    } units[] = { { "", 1 }, { "s", 1 }, { "m", 60 }, { "h", 3600 }, { "d", 86400 } };
    char *end;
    double v = strtod(arg, &end);

    if (end != arg && isdigit((unsigned char)*arg) && isfinite(v))
        for (size_t i = 0; i < ARRAY_LEN(units); i++)
            if (strcmp(end, units[i].name) == 0 && v * units[i].s > 0 && v * units[i].s < 1e9)
                return v * units[i].s;
    cmd_usage(state, "%s: '%s' is no duration; write it like 90s, 15m, 8h", what, arg);
}

int cmd_fail(const struct err *e)
{
    fflush(stdout);
    err_print(e);
    return err_exit_code(e);
}
