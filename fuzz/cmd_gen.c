/* tilefuzz gen: print the trials that a hunt would draw, or what they look like together. */
#include <inttypes.h>
#include <stdio.h>

#include "fuzz/cmd.h"
#include "fuzz/gen/args.h"
#include "fuzz/gen/stats.h"
#include "fuzz/json.h"
#include "ir/text.h"

struct gen_cmd {
    struct cmd_common common;
    struct gen_opts gen;
    uint64_t seed, trial;
    int64_t n;
    bool stats;
};

static const struct argp_option options[] = {
    { "seed", 's', "N", 0, "seed of the campaign (default 1)", 0 },
    { "trial", 't', "I", 0, "number of the first trial (default 0)", 0 },
    { "count", 'n', "K", 0, "how many trials (default 1)", 0 },
    { "stats", 'S', 0, 0, "instead of the trials, histograms over them", 0 },
    { 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct gen_cmd *o = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        gen_opts_default(&o->gen);
        state->child_inputs[0] = &o->gen;
        return 0;
    case 's':
        o->seed = cmd_u64(state, "--seed", arg);
        return 0;
    case 't':
        o->trial = cmd_u64(state, "--trial", arg);
        return 0;
    case 'n':
        o->n = cmd_int(state, "-n", arg, 1, 100000000);
        return 0;
    case 'S':
        o->stats = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    { &gen_argp, 0, "What is drawn:", 3 },
    { 0 },
};

static const struct argp argp = {
    options,
    parse,
    NULL,
    "Print the trials that a hunt draws: trial I of seed N is the same everywhere.\v"
    "Trials are separated by blank lines. With --json one object per trial\n"
    "(schema seed trial preset key text).\n"
    "\n"
    "Examples:\n"
    "  tilefuzz gen --seed 7 --trial 12\n"
    "  tilefuzz gen -n 5 --preset mha\n"
    "  tilefuzz gen -n 1 --no-ops exp,div --steps fuse,split > t.trial\n"
    "  tilefuzz gen -n 20000 --stats",
    children,
    NULL,
    NULL,
};

static void print_trial(const struct gen_cmd *o, uint64_t number, const struct trial *t)
{
    struct str s = { 0 };

    trial_print(t, &s);
    if (o->common.json) {
        json_t *v = json_object_schema();
        char key[20];

        snprintf(key, sizeof key, "%016" PRIx64, trial_key(t));
        json_put(v, "seed", json_integer((json_int_t)o->seed));
        json_put(v, "trial", json_integer((json_int_t)number));
        json_put(v, "preset", json_text(preset_name(o->gen.preset)));
        json_put(v, "key", json_text(key));
        json_put(v, "text", json_text(str_get(&s)));
        json_print_line(v);
    } else {
        printf("%s%s", number > o->trial ? "\n" : "", str_get(&s));
    }
    str_release(&s);
}

static void print_stats(const struct gen_cmd *o, struct gen_stats *st)
{
    struct str s = { 0 };

    if (o->common.json) {
        json_t *v = json_object_schema();

        json_put(v, "seed", json_integer((json_int_t)o->seed));
        json_put(v, "preset", json_text(preset_name(o->gen.preset)));
        json_put(v, "stats", gen_stats_json(st));
        json_print_line(v);
        return;
    }
    gen_stats_print(st, &s);
    fputs(str_get(&s), stdout);
    str_release(&s);
}

int cmd_gen(int argc, char **argv)
{
    struct gen_cmd o = { .common = CMD_COMMON_DEFAULT, .seed = 1, .n = 1 };
    struct arena a, scratch;
    struct gen_stats *stats;

    cmd_parse(&argp, argc, argv, CMD_JSON, &o.common, &o);
    arena_init(&a);
    arena_init(&scratch);
    stats = gen_stats_new();
    for (int64_t i = 0; i < o.n; i++) {
        uint64_t number = o.trial + (uint64_t)i;
        const struct trial *t;

        arena_reset(&a);
        t = gen_trial(o.seed, number, &o.gen, &a, &scratch);
        if (o.stats)
            gen_stats_add(stats, t);
        else
            print_trial(&o, number, t);
    }
    if (o.stats)
        print_stats(&o, stats);
    gen_stats_free(stats);
    arena_release(&scratch);
    arena_release(&a);
    return CMD_CLEAN;
}
