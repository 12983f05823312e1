/* tilefuzz fuzz: hunt. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/args.h"
#include "fuzz/camp/camp.h"
#include "fuzz/cmd.h"
#include "fuzz/describe.h"
#include "fuzz/foreign.h"
#include "fuzz/gen/args.h"
#include "fuzz/json.h"

enum { TRIALS_DEFAULT = 1000, BUDGET_DEFAULT = 2000 };

struct cmd_fuzz_opts {
    struct cmd_common common;
    struct camp_opts camp;
    bool trials_given, seed_given;
    struct str gen_options, check_options; /* for pasteable lines */
};

enum {
    KEY_SEED = 1,
    KEY_TRIALS,
    KEY_FOR,
    KEY_SHARD,
    KEY_STOP_AT,
    KEY_SUBJECT,
    KEY_DEADLINE,
    KEY_BUDGET,
    KEY_CC_EVERY,
    KEY_QUIET = 'q',
    KEY_JOBS = 'j'
};

static const struct argp_option options[] = {
    { "seed", KEY_SEED, "N", 0, "of the campaign (default 1)", 0 },
    { "trials", KEY_TRIALS, "N", 0, "trials 0 to N - 1 (default 1000; no end with --for)", 0 },
    { "for", KEY_FOR, "TIME", 0, "hunt so long: 60s, 15m, 8h", 0 },
    { "jobs", KEY_JOBS, "N", 0, "workers (default: one per core)", 0 },
    { "shard", KEY_SHARD, "I/N", 0, "only the trials that are I modulo N", 0 },
    { "stop-at", KEY_STOP_AT, "N", 0, "stop at the trial that shows the N-th bug", 0 },
    { "subject-version", KEY_SUBJECT, "TEXT", 0, "version of the compiler under test", 0 },
    { "budget", KEY_BUDGET, "N", 0, "evaluations of the minimizer per bug (default 2000)", 0 },
    { "deadline", KEY_DEADLINE, "S", 0, "seconds before code is taken for hung (default 20)",
      0 },
    { "cc-every", KEY_CC_EVERY, "N", 0,
      "one trial in N through gcc or clang too, 0 = none (default 600; 1 if nothing else is "
      "in --backends)",
      0 },
    { "quiet", KEY_QUIET, 0, 0, "no status line", 0 },
    ARGS_BACKENDS,
    ARGS_JUDGE,
    { 0 },
};

static void parse_shard(struct camp_opts *c, const char *arg, const struct argp_state *state)
{
    char end;

    if (sscanf(arg, "%" SCNu64 "/%" SCNu64 "%c", &c->shard, &c->shards, &end) != 2 ||
        c->shard >= c->shards || c->shards > 1000000)
        cmd_usage(state, "--shard: I/N with I below N expected, not '%s'", arg);
    c->about.shard = arg;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct cmd_fuzz_opts *o = state->input;
    struct camp_opts *c = &o->camp;

    switch (key) {
    case KEY_SEED:
        c->work.seed = cmd_u64(state, "--seed", arg);
        o->seed_given = true;
        return 0;
    case KEY_TRIALS:
        c->trials = (uint64_t)cmd_int(state, "--trials", arg, 0, INT64_MAX);
        o->trials_given = true;
        return 0;
    case KEY_FOR:
        c->seconds = cmd_duration(state, "--for", arg);
        return 0;
    case KEY_JOBS:
        c->jobs = (int)cmd_int(state, "--jobs", arg, 1, ZYGOTE_MAX_SLOTS);
        return 0;
    case KEY_SHARD:
        parse_shard(c, arg, state);
        return 0;
    case KEY_STOP_AT:
        c->stop_at = (int)cmd_int(state, "--stop-at", arg, 1, INT32_MAX);
        return 0;
    case KEY_SUBJECT:
        c->about.subject_version = arg;
        return 0;
    case KEY_DEADLINE:
        c->deadline_s = (int)cmd_int(state, "--deadline", arg, 1, 3600);
        return 0;
    case KEY_BUDGET:
        c->work.budget = (int)cmd_int(state, "--budget", arg, 0, 1000000);
        return 0;
    case KEY_CC_EVERY:
        c->work.sample.every = (int)cmd_int(state, "--cc-every", arg, 0, SAMPLE_EVERY_MAX);
        return 0;
    case KEY_QUIET:
        c->quiet = true;
        return 0;
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &c->work.gen;
        return 0;
    case ARGP_KEY_END:
        if (!o->trials_given)
            c->trials = c->seconds > 0 ? UINT64_MAX : TRIALS_DEFAULT;
        return 0;
    default:
        return args_check(key, arg, state, &c->work.check);
    }
}

static const struct argp_child children[] = { { &gen_argp, 0, "What is drawn:", 3 }, { 0 } };

static const struct argp argp = {
    options,
    parse,
    NULL,
    "Hunt: draw trials, run them on every backend, judge, minimize and keep what fails. "
    "Exit 0 = clean, 1 = findings, 130 = interrupted.\v"
    "Examples:\n"
    "  tilefuzz fuzz --preset all --for 60s\n"
    "  tilefuzz fuzz --seed 7 --trials 20000 --jobs 8 --db night.db\n"
    "  tilefuzz fuzz --fault liveness_ignores_loops --stop-at 1\n"
    "  tilefuzz fuzz --preset views --no-ops pad --steps split,reorder",
    children,
    NULL,
    NULL
};

/* The first line of a campaign can be pasted to run it again. */
static void print_first_line(const struct cmd_fuzz_opts *o, int argc, char **argv)
{
    struct str s = { 0 };

    str_add(&s, "%s fuzz", cmd_program);
    for (int i = 1; i < argc; i++)
        args_word(&s, argv[i]);
    if (!o->seed_given)
        str_add(&s, " --seed %" PRIu64, o->camp.work.seed);
    fprintf(o->common.json ? stderr : stdout, "%s\n", str_get(&s));
    fflush(stdout);
    str_release(&s);
}

static void print_indented(const char *text)
{
    while (text && *text) {
        size_t n = strcspn(text, "\n");

        printf("    %.*s\n", (int)n, text);
        text += n + (text[n] == '\n');
    }
}

static void print_bug(void *ctx, const struct finding *f, bool known)
{
    const struct cmd_fuzz_opts *o = ctx;

    if (o->common.json) {
        json_t *j = json_object_schema();

        json_put(j, "finding", json_finding(f));
        json_print_line(j);
        fflush(stdout);
        return;
    }
    printf("bug %" PRId64 "%s: %s on %s", f->id, known ? " (known)" : "", f->kind,
           backend_label(f->backend).s);
    if (f->pass)
        printf(", pass %s%s%s", f->pass, f->rewrite ? ", rewrite " : "",
               f->rewrite ? f->rewrite : "");
    if (f->step)
        printf(", step `%s`", f->step);
    printf("\n  trial %" PRId64 " of seed %" PRIu64 ": %s\n", f->first_trial, f->seed,
           f->detail ? f->detail : "");
    print_indented(f->text);
    printf("  from: %s\n", f->repro);
    printf("%s %s %" PRId64, cmd_program, strcmp(f->kind, "BUG") ? "explain" : "db show",
           f->id);
    if (strcmp(o->common.db, CMD_DB_DEFAULT) != 0)
        printf(" --db %s", o->common.db);
    if (strcmp(f->kind, "BUG") != 0) {
        const struct backend *b = backend_find(f->backend);

        fputs(str_get(&o->check_options), stdout);
        /* the bug remembers where it was seen, but is told by --backends where to look */
        if (b && b->command && o->camp.work.check.chosen)
            printf(" --backends %s", b->name);
    }
    putchar('\n');
    fflush(stdout);
}

static double percent(int64_t part, int64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* "cc: 40 trials, 80 verdicts: gcc-O0 8, gcc-O2 8, .." */
static void print_sample(const struct sample *s, const struct camp_totals *n)
{
    int64_t trials = 0, verdicts = 0;

    for (int i = 0; i < s->n; i++) {
        trials += n->sample[i].trials;
        verdicts += n->sample[i].verdicts;
    }
    if (!s->n)
        return;
    printf("cc: %" PRId64 " trials, %" PRId64 " verdicts", trials, verdicts);
    for (int i = 0; i < s->n; i++)
        printf("%s %s %" PRId64, i ? "," : ":", sample_label(s->backend[i]),
               n->sample[i].trials);
    putchar('\n');
}

static void print_summary(const struct cmd_fuzz_opts *o, const struct camp_result *r)
{
    const struct camp_totals *n = &r->n;

    if (o->common.json) {
        json_print_line(camp_json(&o->camp, r));
        return;
    }
    printf("%s%" PRId64 " trials: %" PRId64 " verified (%" PRId64 " verdicts, %" PRId64
           " elements), UNSUPPORTED %" PRId64 " (%.1f%%), UNTRUSTED %" PRId64 " (%.1f%%)\n",
           r->interrupted ? "interrupted: " : "", n->trials, n->verified, n->judged,
           n->elements, n->unsupported, percent(n->unsupported, n->trials), n->untrusted,
           percent(n->untrusted, n->trials));
    print_sample(&o->camp.work.sample, n);
    foreign_print(&o->camp.work.check);
    if (n->exact + n->exact_na)
        printf("%" PRId64 " sets of exact data; not applicable %" PRId64 " (%.1f%%)\n",
               n->exact, n->exact_na, percent(n->exact_na, n->exact + n->exact_na));
    if (n->unconfirmed)
        printf("%" PRId64 " failures were not seen again alone\n", n->unconfirmed);
    printf("%" PRId64 " findings, %d bugs; %.1f s, %.1f s of CPU, %.0f trials per CPU-second; "
           "%s\n",
           n->findings, r->n_bug, r->wall_s, r->cpu_s,
           r->cpu_s > 0 ? (double)n->trials / r->cpu_s : 0, o->camp.db);
}

/* "interp 1; tcc 0.9.27; cc:gcc-O0 gcc 12.2.0": neighbours of one version are named once. */
static void print_versions(const struct camp_opts *c, struct str *s)
{
    const char *last = "";

    for (int i = 0; i < c->work.check.n_backend + c->work.sample.n; i++) {
        int at = i - c->work.check.n_backend;
        const struct backend *b =
            at < 0 ? c->work.check.backend[i] : c->work.sample.backend[at];
        const char *version = backend_version(b);

        if (at > 0 && !strcmp(version, last))
            str_add(s, ", %s", backend_label(b->name).s);
        else
            str_add(s, "%s%s %s", i ? "; " : "", backend_label(b->name).s, version);
        last = version;
    }
}

/* What the database keeps of the campaign. */
static void describe_campaign(struct cmd_fuzz_opts *o, struct arena *a)
{
    struct camp_opts *c = &o->camp;
    struct str s = { 0 };

    gen_opts_print(&c->work.gen, &o->gen_options);
    args_check_print(&c->work.check, &o->check_options);
    c->about.seed = c->work.seed;
    c->about.preset = preset_name(c->work.gen.preset);
    c->about.gen_version = GEN_VERSION;
    c->about.fault = fault_info(c->work.check.fault)->id;
#define KNOB(name, type, dflt, low, high, help)                                                \
    str_add(&s, "%s = %" PRId64 "\n", #name, (int64_t)c->work.gen.name);
#include "fuzz/gen/knobs.def"
#undef KNOB
    str_add(&s, "cc_every = %d\n", c->work.sample.n ? c->work.sample.every : 0);
    if (o->gen_options.n)
        str_add(&s, "options =%s\n", str_get(&o->gen_options));
    if (o->check_options.n)
        str_add(&s, "check =%s\n", str_get(&o->check_options));
    c->about.knobs = str_keep(&s, a);
    print_versions(c, &s);
    c->about.backends = str_keep(&s, a);
    c->program = cmd_program;
    c->gen_options = str_get(&o->gen_options);
    c->run_options = arena_printf(a, "%s%s%s", str_get(&o->check_options),
                                  c->work.check.fault ? " --fault " : "",
                                  c->work.check.fault ? c->about.fault : "");
}

enum { NOT_GIVEN = -1 };

/* A hunt that asks for a backend of GPUs draws steps for them, if no option says how often. */
static void draw_for_gpus(struct camp_opts *c)
{
    int *percent = &c->work.gen.gpu_percent;
    bool gpu = false;

    for (int i = 0; i < c->work.check.n_backend; i++)
        gpu |= c->work.check.backend[i]->gpu;
    if (*percent == NOT_GIVEN)
        *percent = gpu && c->work.check.chosen ? 100 : 0;
}

int cmd_fuzz(int argc, char **argv)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    struct cmd_fuzz_opts o = {
        .common = CMD_COMMON_DEFAULT,
        .camp = { .work = { .seed = 1, .budget = BUDGET_DEFAULT, .sample.every = SAMPLE_EVERY },
                  .shards = 1,
                  .jobs = cores > 0 ? (int)cores : 1,
                  .deadline_s = CHECK_DEADLINE }
    };
    struct camp_result r = { 0 };
    struct err e = { 0 };
    struct arena a;
    int rc;

    gen_opts_default(&o.camp.work.gen);
    o.camp.work.gen.gpu_percent = NOT_GIVEN;
    check_opts_default(&o.camp.work.check);
    o.camp.work.check.isolate = false;
    cmd_parse(&argp, argc, argv, CMD_DB | CMD_JSON | CMD_FAULT, &o.common, &o);
    draw_for_gpus(&o.camp);
    if (foreign_narrow(&o.camp.work.check, &o.camp.work.gen, &e))
        return cmd_fail(&e);
    arena_init(&a);
    if (o.camp.jobs > ZYGOTE_MAX_SLOTS)
        o.camp.jobs = ZYGOTE_MAX_SLOTS;
    sample_take(&o.camp.work.sample, &o.camp.work.check);
    o.camp.work.check.fault = o.common.fault;
    o.camp.work.check.deadline_s = o.camp.deadline_s;
    o.camp.db = o.common.db;
    describe_campaign(&o, &a);
    print_first_line(&o, argc, argv);
    if (camp_run(&o.camp, print_bug, &o, &a, &r, &e))
        rc = cmd_fail(&e);
    else {
        print_summary(&o, &r);
        rc = r.interrupted ? CMD_INTERRUPTED : r.n.findings ? CMD_FINDINGS : CMD_CLEAN;
    }
    str_release(&o.gen_options);
    str_release(&o.check_options);
    arena_release(&a);
    return rc;
}
