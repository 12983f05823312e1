/*
 * tilefuzz bench WHAT: measures the tool itself. What there is, is a table; each is a file of
 * fuzz/bench.
 */
#include <string.h>

#include "base/bug.h"
#include "fuzz/args.h"
#include "fuzz/bench/bench.h"
#include "fuzz/cmd.h"
#include "fuzz/gen/args.h"

static const struct row {
    const char *name;
    int (*run)(const struct bench_opts *o, struct err *e);
    uint64_t seeds, trials; /* by default */
} rows[] = {
    { "speed", bench_speed, 1, 5000 },
    { "judge", bench_judge, 1, 6000 },
    { "faults", bench_faults, 5, 6000 },
};

struct bench_args {
    struct cmd_common common;
    struct bench_opts o;
    const struct row *row;
};

enum { KEY_SEED = 1, KEY_SEEDS, KEY_TRIALS };

static const struct argp_option options[] = {
    { "seed", KEY_SEED, "N", 0, "of the trials (default 1)", 0 },
    { "seeds", KEY_SEEDS, "N", 0, "how many, from --seed on (judge 1, faults 5)", 0 },
    { "trials", KEY_TRIALS, "N", 0, "of each seed (speed 5000, judge 6000, faults 6000)", 0 },
    ARGS_BACKENDS,
    { 0 },
};

static void set_row(struct bench_args *b, const char *arg, struct argp_state *state)
{
    for (size_t i = 0; i < ARRAY_LEN(rows) && !b->row; i++)
        if (!strcmp(arg, rows[i].name))
            b->row = &rows[i];
    if (!b->row || strcmp(arg, b->row->name) != 0)
        cmd_usage(state, "bench %s: there are bench speed, judge and faults", arg);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct bench_args *b = state->input;

    switch (key) {
    case KEY_SEED:
        b->o.seed = cmd_u64(state, "--seed", arg);
        return 0;
    case KEY_SEEDS:
        b->o.seeds = (uint64_t)cmd_int(state, "--seeds", arg, 1, 1000);
        return 0;
    case KEY_TRIALS:
        b->o.trials = (uint64_t)cmd_int(state, "--trials", arg, 1, 10000000);
        return 0;
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &b->o.gen;
        return 0;
    case ARGP_KEY_ARG:
        set_row(b, arg, state);
        return 0;
    case ARGP_KEY_END:
        if (!b->row)
            cmd_usage(state, "bench what? there are bench speed, judge and faults");
        return 0;
    default:
        return args_check(key, arg, state, &b->o.check);
    }
}

static const struct argp_child children[] = { { &gen_argp, 0, "What is drawn:", 3 }, { 0 } };

static const struct argp argp = {
    options,
    parse,
    "speed|judge|faults",
    "Measure. speed: trials per CPU-second in one process, the share of each phase, the bare "
    "libtcc compilation of the same texts, and what the trials look like. judge: the same "
    "trials and faults judged by us and by the rules of others (tilefuzz list judges), in the "
    "interpreter. faults: how soon each fault is found, and how well it is minimized and "
    "attributed; false alarms on as many clean trials. --fault ID: this one alone.\v"
    "Examples:\n"
    "  tilefuzz bench speed\n"
    "  tilefuzz bench speed --preset mha --trials 1000 --json\n"
    "  tilefuzz bench judge --trials 500\n"
    "  tilefuzz bench faults --seeds 1 --fault liveness_ignores_loops",
    children,
    NULL,
    NULL
};

int cmd_bench(int argc, char **argv)
{
    static struct bench_args b = { .common = CMD_COMMON_DEFAULT, .o.seed = 1 };
    struct err e = { 0 };
    int findings;

    gen_opts_default(&b.o.gen);
    check_opts_default(&b.o.check);
    b.o.check.isolate = false;
    cmd_parse(&argp, argc, argv, CMD_JSON | CMD_FAULT, &b.common, &b);
    b.o.check.fault = b.common.fault;
    b.o.json = b.common.json;
    if (!b.o.seeds)
        b.o.seeds = b.row->seeds;
    if (!b.o.trials)
        b.o.trials = b.row->trials;
    findings = b.row->run(&b.o, &e);
    return e.code ? cmd_fail(&e) : findings ? CMD_FINDINGS : CMD_CLEAN;
}
