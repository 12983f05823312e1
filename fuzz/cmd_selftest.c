/*
 * tilefuzz selftest: does this very program, on this machine, catch what it must catch and
 * leave alone what is right?
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "fuzz/check/fake.h"
#include "fuzz/cmd.h"
#include "fuzz/gen/gen.h"
#include "fuzz/json.h"
#include "fuzz/min/min.h"
#include "ir/text.h"

enum {
    NULL_TRIALS = 5000,
    CLEAN_TRIALS = 300,
    FLIP_TRIALS = 300,
    FAULT_TRIALS = 5000,
    SEED = 1
};

struct selftest {
    struct checker ck;
    struct check c;
    struct gen_opts gen;
    struct arena a, scratch;
    int64_t op[OP_COUNT], step[STEP_COUNT];
    char why[300]; /* of the test that runs: empty = it passed */
};

static struct trial *draw(struct selftest *s, uint64_t number)
{
    arena_reset(&s->a);
    return gen_trial(SEED, number, &s->gen, &s->a, &s->scratch);
}

static bool check(struct selftest *s, uint64_t number, const struct trial *t,
                  const struct check_opts *o)
{
    struct err e = { 0 };

    if (!check_trial(&s->ck, t, o, &s->c, &e))
        return true;
    snprintf(s->why, sizeof s->why, "trial %" PRIu64 " is illegal: %.200s", number, e.msg);
    return false;
}

static void count_rows(struct selftest *s, const struct trial *t)
{
    for (int i = 0; i < t->prog.n; i++)
        s->op[t->prog.node[i].op]++;
    for (int i = 0; i < t->n_step; i++)
        s->step[t->step[i].kind]++;
}

/* A tester that passes a kernel that computes nothing tests nothing. */
static void null_kernels_never_pass(struct selftest *s)
{
    struct check_opts o;

    check_opts_default(&o);
    o.isolate = false;
    o.n_backend = n_null_backends;
    for (int i = 0; i < n_null_backends; i++)
        o.backend[i] = null_backends[i];
    for (uint64_t i = 0; i < NULL_TRIALS && !s->why[0]; i++) {
        const struct trial *t = draw(s, i);

        count_rows(s, t);
        if (!check(s, i, t, &o) || s->c.untrusted_by)
            continue;
        for (int b = 0; b < n_null_backends; b++) {
            bool caught = false;

            for (int v = 0; v < s->c.n; v++)
                caught |= s->c.verdict[v].backend == null_backends[b]->name &&
                          s->c.verdict[v].kind != VK_PASS;
            if (!caught)
                snprintf(s->why, sizeof s->why, "trial %" PRIu64 " passes kernel '%s'", i,
                         null_backends[b]->name);
        }
    }
}

/* Runs after the one above, on its counts. */
static void every_op_and_step_is_drawn(struct selftest *s)
{
    for (int i = 0; i < OP_COUNT; i++)
        if (gen_draws_op((enum op)i) && !s->op[i])
            snprintf(s->why, sizeof s->why, "op %s never", op_info((enum op)i)->name);
    for (int i = 0; i < STEP_COUNT; i++)
        if (gen_draws_step((enum step_kind)i) && !s->step[i])
            snprintf(s->why, sizeof s->why, "step %s never",
                     step_info((enum step_kind)i)->name);
}

static void right_kernels_pass(struct selftest *s)
{
    struct check_opts o;

    check_opts_default(&o);
    o.isolate = false;
    for (uint64_t i = 0; i < CLEAN_TRIALS && !s->why[0]; i++)
        if (check(s, i, draw(s, i), &o) && verdict_is_finding(s->c.kind))
            snprintf(s->why, sizeof s->why, "trial %" PRIu64 ": %s on %s", i,
                     verdict_name(s->c.kind), s->c.verdict[s->c.first].backend);
}

static bool has_output(const struct trial *t)
{
    for (int i = 0; i < t->prog.n_out; i++)
        if (shape_count(&t->prog.node[t->prog.out[i].node].sh))
            return true;
    return false;
}

static void one_wrong_bit_is_seen(struct selftest *s)
{
    struct check_opts o;

    check_opts_default(&o);
    o.n_backend = 1;
    o.backend[0] = &be_flip;
    o.algebra[AL_IEEE] = false;
    for (uint64_t i = 0; i < FLIP_TRIALS && !s->why[0]; i++) {
        const struct trial *t = draw(s, i);

        if (has_output(t) && check(s, i, t, &o) && s->c.kind != VK_MISMATCH)
            snprintf(s->why, sizeof s->why, "trial %" PRIu64 ": %s", i,
                     verdict_name(s->c.kind));
    }
}

static void text_and_trial_are_inverse(struct selftest *s)
{
    struct str one = { 0 }, two = { 0 };

    for (uint64_t i = 0; i < CLEAN_TRIALS && !s->why[0]; i++) {
        struct trial *back;
        struct err e = { 0 };

        str_clear(&one);
        str_clear(&two);
        trial_print(draw(s, i), &one);
        if (!trial_parse(str_get(&one), one.n, &s->a, &back, &e))
            trial_print(back, &two);
        if (strcmp(str_get(&one), str_get(&two)) != 0)
            snprintf(s->why, sizeof s->why, "trial %" PRIu64 ": line %d: %.200s", i, e.line,
                     e.msg);
    }
    str_release(&one);
    str_release(&two);
}

/* Found, blamed on the right pass, and brought down to a few lines. */
static void a_known_bug_is_found(struct selftest *s)
{
    const enum fault fault = FAULT_copy_copy_fusion_drops_view;
    struct min_opts mo = { .budget = 2000 };
    struct min_result r = { 0 };
    struct cause cause = { 0 };
    struct err e = { 0 };
    const struct trial *t = NULL;
    uint64_t i = 0;

    check_opts_default(&mo.check);
    mo.check.fault = fault;
    for (; i < FAULT_TRIALS; i++) {
        t = draw(s, i);
        if (!check(s, i, t, &mo.check))
            return;
        if (verdict_is_finding(s->c.kind))
            break;
    }
    if (i == FAULT_TRIALS) {
        snprintf(s->why, sizeof s->why, "%s is not found in %d trials", fault_info(fault)->id,
                 FAULT_TRIALS);
        return;
    }
    if (cause_find(&s->ck, t, &mo.check, &s->c, &cause, &e) ||
        minimize(&s->ck, t, &cause, &mo, &s->a, &r, &e))
        snprintf(s->why, sizeof s->why, "trial %" PRIu64 ": %.200s", i, e.msg);
    else if (strcmp(r.cause.pass, fault_info(fault)->stage) != 0)
        snprintf(s->why, sizeof s->why, "pass %s is blamed, not %s", r.cause.pass,
                 fault_info(fault)->stage);
    else if (prog_count_nodes(&r.trial->prog) > 4 || prog_max_size(&r.trial->prog) > 8)
        snprintf(s->why, sizeof s->why, "minimized to %d nodes and size %" PRId64 " only",
                 prog_count_nodes(&r.trial->prog), prog_max_size(&r.trial->prog));
}

static const struct {
    const char *name;
    void (*run)(struct selftest *s);
} tests[] = {
    { "null kernels never pass", null_kernels_never_pass },
    { "every op and step is drawn", every_op_and_step_is_drawn },
    { "right kernels pass", right_kernels_pass },
    { "one wrong bit is seen", one_wrong_bit_is_seen },
    { "text and trial are inverse", text_and_trial_are_inverse },
    { "a known bug is found", a_known_bug_is_found },
};

static const struct argp argp = {
    NULL,
    NULL,
    NULL,
    "Test the tester: null kernels, a wrong bit, right kernels, "
    "a known bug. Exit 1 = something failed.\v"
    "Examples:\n  tilefuzz selftest",
};

static void report(const struct selftest *s, const char *name, bool json, json_t *list)
{
    if (json) {
        json_t *j = json_object();

        json_put(j, "id", json_text(name));
        json_put(j, "ok", json_boolean(!s->why[0]));
        json_put(j, "why", json_text(s->why[0] ? s->why : NULL));
        json_array_append_new(list, j);
        return;
    }
    printf("%s %s%s%s\n", s->why[0] ? "FAIL" : "ok  ", name, s->why[0] ? ": " : "", s->why);
    fflush(stdout);
}

int cmd_selftest(int argc, char **argv)
{
    static struct selftest s;
    struct cmd_common common = CMD_COMMON_DEFAULT;
    json_t *list = json_array();
    struct err e = { 0 };
    int failed = 0;

    cmd_parse(&argp, argc, argv, CMD_JSON, &common, NULL);
    if (checker_open(&s.ck, &e))
        return cmd_fail(&e);
    gen_opts_default(&s.gen);
    arena_init(&s.a);
    arena_init(&s.scratch);
    for (size_t i = 0; i < ARRAY_LEN(tests); i++) {
        s.why[0] = '\0';
        tests[i].run(&s);
        failed += s.why[0] != '\0';
        report(&s, tests[i].name, common.json, list);
    }
    if (common.json) {
        json_t *j = json_object_schema();

        json_put(j, "passed", json_integer((int)ARRAY_LEN(tests) - failed));
        json_put(j, "failed", json_integer(failed));
        json_put(j, "checks", list);
        json_print_line(j);
    } else {
        json_decref(list);
        printf("%d passed, %d failed\n", (int)ARRAY_LEN(tests) - failed, failed);
    }
    arena_release(&s.a);
    arena_release(&s.scratch);
    checker_close(&s.ck);
    return failed ? CMD_FINDINGS : CMD_CLEAN;
}
