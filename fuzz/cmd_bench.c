/*
 * tilefuzz bench speed: verified trials per CPU-second, where the time goes, and how long
 * libtcc alone takes over the same texts: what no tuning of ours can beat.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/bug.h"
#include "fuzz/args.h"
#include "fuzz/cmd.h"
#include "fuzz/gen/args.h"
#include "fuzz/gen/stats.h"
#include "fuzz/json.h"
#include "run/tcc.h"

enum { TRIALS_DEFAULT = 5000 };

struct bench {
    struct cmd_common common;
    struct gen_opts gen;
    struct check_opts check;
    uint64_t seed, trials;
    const char *what;

    struct checker ck;
    struct check c;
    struct arena a, scratch;
    struct gen_stats *stats;
    struct str *text; /* what libtcc was given, per trial */
    int64_t verified, unsupported, untrusted, findings;
    double cpu_s, floor_s;
    int64_t floor_n;
};

enum { KEY_SEED = 1, KEY_TRIALS };

static const struct argp_option options[] = {
    { "seed", KEY_SEED, "N", 0, "of the trials (default 1)", 0 },
    { "trials", KEY_TRIALS, "N", 0, "how many (default 5000)", 0 },
    ARGS_BACKENDS,
    { 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct bench *b = state->input;

    switch (key) {
    case KEY_SEED:
        b->seed = cmd_u64(state, "--seed", arg);
        return 0;
    case KEY_TRIALS:
        b->trials = (uint64_t)cmd_int(state, "--trials", arg, 1, 10000000);
        return 0;
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &b->gen;
        return 0;
    case ARGP_KEY_ARG:
        if (b->what || strcmp(arg, "speed") != 0)
            cmd_usage(state, "bench %s: there is bench speed", arg);
        b->what = arg;
        return 0;
    case ARGP_KEY_END:
        if (!b->what)
            cmd_usage(state, "bench what? there is bench speed");
        return 0;
    default:
        return args_check(key, arg, state, &b->check);
    }
}

static const struct argp_child children[] = { { &gen_argp, 0, "What is drawn:", 3 }, { 0 } };

static const struct argp argp = {
    options,
    parse,
    "speed",
    "Measure: trials per CPU-second in one process, the share of each phase, the bare libtcc "
    "compilation of the same texts, and what the trials look like.\v"
    "Examples:\n"
    "  tilefuzz bench speed\n"
    "  tilefuzz bench speed --preset mha --trials 1000 --json",
    children,
    NULL,
    NULL
};

static double cpu_now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void count(struct bench *b)
{
    enum verdict_kind k = b->c.kind;

    if (k == VK_UNSUPPORTED)
        b->unsupported++;
    else if (k == VK_UNTRUSTED)
        b->untrusted++;
    else
        b->verified++;
    b->findings += verdict_is_finding(k);
}

/* The hunt's own loop, and beside the clock what is needed afterwards. */
static int hunt(struct bench *b, struct err *e)
{
    for (uint64_t i = 0; i < b->trials; i++) {
        double start = cpu_now();
        int64_t clock = checker_now();
        const struct trial *t;

        snprintf(bug_context, sizeof bug_context, "%" PRIu64 " of seed %" PRIu64, i, b->seed);
        arena_reset(&b->a);
        t = gen_trial(b->seed, i, &b->gen, &b->a, &b->scratch);
        checker_phase(&b->ck, PH_GENERATE, &clock);
        if (check_trial(&b->ck, t, &b->check, &b->c, e))
            return e->code;
        b->cpu_s += cpu_now() - start;
        count(b);
        gen_stats_add(b->stats, t);
        if (b->c.text)
            tcc_text(b->c.l, b->c.text, &b->text[i]);
    }
    return 0;
}

static void compile_only(struct bench *b)
{
    double start = cpu_now();

    for (uint64_t i = 0; i < b->trials; i++)
        if (b->text[i].n)
            b->floor_n += tcc_compile_only(str_get(&b->text[i]));
    b->floor_s = cpu_now() - start;
}

static double rate(double n, double s)
{
    return s > 0 ? n / s : 0;
}

static double share(const struct bench *b, int phase)
{
    int64_t all = 0;

    for (int i = 0; i < PH_COUNT; i++)
        all += b->ck.phase_ns[i];
    return all ? (double)b->ck.phase_ns[phase] / (double)all : 0;
}

static double phase_us(const struct bench *b, int phase)
{
    return (double)b->ck.phase_ns[phase] * 1e-3 / (double)b->trials;
}

static void print_json(struct bench *b)
{
    json_t *j = json_object_schema(), *phases = json_array();

    json_put(j, "preset", json_text(preset_name(b->gen.preset)));
    json_put(j, "trials", json_integer((json_int_t)b->trials));
    json_put(j, "verified_per_cpu_s", json_real(rate((double)b->verified, b->cpu_s)));
    json_put(j, "tcc_floor_per_cpu_s", json_real(rate((double)b->floor_n, b->floor_s)));
    for (int i = 0; i < PH_COUNT; i++) {
        json_t *p = json_object();

        json_put(p, "id", json_text(check_phase_name[i]));
        json_put(p, "share", json_real(share(b, i)));
        json_put(p, "us_per_trial", json_real(phase_us(b, i)));
        json_array_append_new(phases, p);
    }
    json_put(j, "phases", phases);
    json_put(j, "simt_ops_per_cpu_s", json_null());
    json_put(j, "verified", json_integer(b->verified));
    json_put(j, "unsupported", json_integer(b->unsupported));
    json_put(j, "untrusted", json_integer(b->untrusted));
    json_put(j, "findings", json_integer(b->findings));
    json_put(j, "cpu_s", json_real(b->cpu_s));
    json_put(j, "drawn", gen_stats_json(b->stats));
    json_print_line(j);
}

static void print_text(struct bench *b)
{
    struct str s = { 0 };

    str_add(&s, "preset %s, %" PRIu64 " trials in %.2f s of CPU\n", preset_name(b->gen.preset),
            b->trials, b->cpu_s);
    str_add(&s,
            "%.0f verified trials per CPU-second (%" PRId64 " verified, UNTRUSTED %" PRId64
            ", UNSUPPORTED %" PRId64 ", %" PRId64 " findings)\n",
            rate((double)b->verified, b->cpu_s), b->verified, b->untrusted, b->unsupported,
            b->findings);
    str_add(&s,
            "%.0f per CPU-second: bare libtcc over the same texts\n\nphase      share   us\n",
            rate((double)b->floor_n, b->floor_s));
    for (int i = 0; i < PH_COUNT; i++)
        str_add(&s, "%-9s %5.1f%% %6.1f\n", check_phase_name[i], 100 * share(b, i),
                phase_us(b, i));
    str_puts(&s, "\n");
    gen_stats_print(b->stats, &s);
    fputs(str_get(&s), stdout);
    str_release(&s);
}

int cmd_bench(int argc, char **argv)
{
    static struct bench b = { .common = CMD_COMMON_DEFAULT,
                              .seed = 1,
                              .trials = TRIALS_DEFAULT };
    struct err e = { 0 };

    gen_opts_default(&b.gen);
    check_opts_default(&b.check);
    b.check.isolate = false;
    cmd_parse(&argp, argc, argv, CMD_JSON, &b.common, &b);
    b.text = calloc(b.trials, sizeof *b.text);
    if (!b.text || !checker_open(&b.ck)) {
        err_set(&e, ERR_MISSING, "no memory to run in");
        return cmd_fail(&e);
    }
    arena_init(&b.a);
    arena_init(&b.scratch);
    b.stats = gen_stats_new();
    if (!hunt(&b, &e)) {
        compile_only(&b);
        if (b.common.json)
            print_json(&b);
        else
            print_text(&b);
    }
    for (uint64_t i = 0; i < b.trials; i++)
        str_release(&b.text[i]);
    free(b.text);
    gen_stats_free(b.stats);
    arena_release(&b.a);
    arena_release(&b.scratch);
    checker_close(&b.ck);
    return e.code ? cmd_fail(&e) : b.findings ? CMD_FINDINGS : CMD_CLEAN;
}
