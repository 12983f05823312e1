/* tilefuzz replay: run again what is known, and say what is fixed and what is back. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz/args.h"
#include "fuzz/cmd.h"
#include "fuzz/describe.h"
#include "fuzz/json.h"
#include "fuzz/store/store.h"
#include "ir/text.h"

enum { FLAKY_RUNS = 5 };

/* How one known trial did. */
enum outcome_of { PASSED, FAILED, BACK, FIXED, SKIPPED, OUTCOMES };

static const char *const outcome_name[OUTCOMES] = { "passed", "failed", "back", "fixed",
                                                    "skipped" };

struct item {
    const char *file; /* or NULL: */
    struct finding f; /* a bug of the database */
    enum outcome_of outcome;
    const char *kind, *cause, *why;
};

struct job {
    struct cmd_common common;
    struct check_opts check;
    const char *subject_version;
    char **arg;
    int n_arg;

    struct arena a;
    struct checker ck;
    struct check c;
    struct item *item;
    int n, cap;
    int count[OUTCOMES];
    bool bad; /* something came back, or a file newly fails */
};

enum { KEY_SUBJECT = 1 };

static const struct argp_option options[] = {
    { "subject-version", KEY_SUBJECT, "TEXT", 0, "version of the compiler under test", 0 },
    ARGS_BACKENDS,
    ARGS_JUDGE,
    { 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct job *j = state->input;

    switch (key) {
    case KEY_SUBJECT:
        j->subject_version = arg;
        return 0;
    case ARGP_KEY_ARGS:
        j->arg = state->argv + state->next;
        j->n_arg = state->argc - state->next;
        return 0;
    default:
        return args_check(key, arg, state, &j->check);
    }
}

static const struct argp argp = {
    options,
    parse,
    "[DIR|FILE...]",
    "Run known trials again: the .trial files named or in a folder, which must pass, or "
    "without arguments every bug of the database, whose states are brought up to date. "
    "Exit 1 = something came back or newly fails.\v"
    "Examples:\n"
    "  tilefuzz replay corpus\n"
    "  tilefuzz replay --db reports/tilefuzz.db\n"
    "  tilefuzz replay --fault none              as if no fault had ever been switched on",
};

static void add_file(struct job *j, const char *path)
{
    *arena_push(&j->a, j->item, j->n, j->cap) = (struct item){ .file = path };
}

static int add_folder(struct job *j, const char *dir, struct err *e);

static int add_entry(struct job *j, const char *dir, const char *name, struct err *e)
{
    char *path = arena_printf(&j->a, "%s/%s", dir, name);
    size_t n = strlen(name);
    struct stat st;

    if (name[0] == '.' || stat(path, &st))
        return 0;
    if (S_ISDIR(st.st_mode))
        return add_folder(j, path, e);
    if (n > 6 && !strcmp(name + n - 6, ".trial"))
        add_file(j, path);
    return 0;
}

static int add_folder(struct job *j, const char *dir, struct err *e)
{
    struct dirent **list;
    int n = scandir(dir, &list, NULL, alphasort);

    if (n < 0)
        return err_set(e, ERR_IO, "%s: %s", dir, strerror(errno));
    for (int i = 0; i < n; i++) {
        if (!e->code)
            add_entry(j, dir, list[i]->d_name, e);
        free(list[i]);
    }
    free(list);
    return e->code;
}

static int add_arguments(struct job *j, struct err *e)
{
    for (int i = 0; i < j->n_arg && !e->code; i++) {
        struct stat st;

        if (stat(j->arg[i], &st))
            err_set(e, ERR_IO, "%s: %s; a folder or a .trial file is expected", j->arg[i],
                    strerror(errno));
        else if (S_ISDIR(st.st_mode))
            add_folder(j, j->arg[i], e);
        else
            add_file(j, j->arg[i]);
    }
    return e->code;
}

/* Everything is read before anything runs: no foreign code while the database is open. */
static int add_bugs(struct job *j, struct err *e)
{
    struct finding *f = NULL;
    struct store *s;
    int n = 0;

    if (store_open(j->common.db, STORE_READ, &s, e))
        return e->code;
    store_bug_list(s, &j->a, &f, &n, e);
    for (int i = 0; i < n && !e->code; i++) {
        struct item *it = arena_push(&j->a, j->item, j->n, j->cap);

        *it = (struct item){ 0 };
        store_bug_get(s, f[i].id, &j->a, &it->f, e);
    }
    store_close(s);
    return e->code;
}

static void skip(struct item *it, const char *why)
{
    it->outcome = SKIPPED;
    it->why = why;
}

/* Checks the trial; several times where it is known to fail now and then only. */
static bool check_item(struct job *j, struct item *it, const struct trial *t,
                       const struct check_opts *o)
{
    bool flaky = it->f.cause && !strncmp(it->f.cause, "flaky ", 6);
    struct cause cause = { 0 };
    struct err e = { 0 };
    char buf[256];

    for (int i = 0; i < (flaky ? FLAKY_RUNS : 1); i++) {
        if (check_trial(&j->ck, t, o, &j->c, &e)) {
            it->why = arena_printf(&j->a, "line %d: %s", e.line, e.msg);
            return false;
        }
        if (verdict_is_finding(j->c.kind))
            break;
    }
    it->kind = verdict_name(j->c.kind);
    if (verdict_is_finding(j->c.kind)) {
        struct str s = { 0 };

        verdict_print(&j->c.verdict[j->c.first], &t->prog, &s);
        it->why = str_keep(&s, &j->a);
        if (!flaky && !cause_find(&j->ck, t, o, &j->c, &cause, &e)) {
            cause_print(&cause, buf, sizeof buf);
            it->cause = arena_strdup(&j->a, buf);
        }
    }
    return true;
}

static int replay_file(struct job *j, struct item *it, struct err *e)
{
    struct check_opts o = j->check;
    struct trial *t;
    enum verdict_kind kind;

    o.fault = j->common.fault;
    it->outcome = FAILED;
    if (trial_read(it->file, &j->a, &t, e))
        return e->code;
    if (!check_item(j, it, t, &o) || !verdict_parse(it->kind, &kind))
        return 0;
    if (kind == VK_UNSUPPORTED || kind == VK_UNTRUSTED)
        skip(it, it->kind);
    else if (!verdict_is_finding(kind))
        it->outcome = PASSED;
    return 0;
}

static void replay_bug(struct job *j, struct item *it)
{
    struct check_opts o = j->check;
    bool was_fixed = it->f.state && !strcmp(it->f.state, "fixed");
    struct trial *t;
    struct err e = { 0 };
    enum verdict_kind kind;

    if (it->f.state && !strcmp(it->f.state, "wontfix")) {
        skip(it, "wontfix");
        return;
    }
    if (!strcmp(it->f.kind, "BUG")) {
        skip(it, "a bug of our own: see db show");
        return;
    }
    if (judge_hint(it->f.tier, &o.judge)) {
        skip(it, judge_hint(it->f.tier, &o.judge));
        return;
    }
    if (j->common.fault_given)
        o.fault = j->common.fault;
    else if (!fault_parse(it->f.fault ? it->f.fault : "none", &o.fault)) {
        skip(it, "its fault is unknown here");
        return;
    }
    if (args_finding(&o, &it->f, &e)) {
        skip(it, arena_strdup(&j->a, e.msg));
        return;
    }
    if (trial_parse(it->f.text, strlen(it->f.text), &j->a, &t, &e) == 0)
        args_gpu(&o, t);
    if (e.code || !check_item(j, it, t, &o) || !verdict_parse(it->kind, &kind)) {
        skip(it, "its trial is not legal any more");
        return;
    }
    if (kind == VK_UNSUPPORTED)
        skip(it, it->kind);
    else if (verdict_is_finding(kind))
        it->outcome = was_fixed ? BACK : FAILED;
    else
        it->outcome = was_fixed ? PASSED : FIXED;
}

static int write_states(struct job *j, struct err *e)
{
    struct store *s;

    if (!j->n || store_open(j->common.db, STORE_WRITE, &s, e))
        return e->code;
    if (!store_begin(s, e)) {
        for (int i = 0; i < j->n && !e->code; i++) {
            const struct item *it = &j->item[i];

            if (it->outcome == SKIPPED)
                continue;
            store_replay(s, it->f.id, it->kind, it->cause, j->subject_version, e);
            if (!e->code && (it->outcome == BACK || it->outcome == FIXED))
                store_tag(s, it->f.id, outcome_name[it->outcome], "replay", e);
        }
        if (!e->code)
            store_commit(s, e);
    }
    store_close(s);
    return e->code;
}

static void print_items(const struct job *j)
{
    for (int i = 0; i < j->n; i++) {
        const struct item *it = &j->item[i];
        bool open = !it->file && it->outcome == FAILED;

        if (it->file)
            printf("%s: ", it->file);
        else
            printf("bug %" PRId64 ": ", it->f.id);
        printf("%s%s", open ? "still open" : outcome_name[it->outcome], it->why ? ": " : "\n");
        if (it->why)
            printf("%s%s%s\n", it->kind && it->outcome != SKIPPED ? it->kind : "",
                   it->kind && it->outcome != SKIPPED ? " " : "", it->why);
    }
    printf("%d known trials: %d passed, %d failed, %d back, %d fixed, %d skipped\n", j->n,
           j->count[PASSED], j->count[FAILED], j->count[BACK], j->count[FIXED],
           j->count[SKIPPED]);
}

static void print_json(const struct job *j)
{
    json_t *o = json_object_schema(), *items = json_array();

    json_put(o, "total", json_integer(j->n));
    for (int k = 0; k < OUTCOMES; k++)
        json_put(o, outcome_name[k], json_integer(j->count[k]));
    for (int i = 0; i < j->n; i++) {
        const struct item *it = &j->item[i];
        json_t *x = json_object();

        json_put(x, "file", json_text(it->file));
        json_put(x, "id", it->file ? json_null() : json_integer(it->f.id));
        json_put(x, "outcome", json_text(outcome_name[it->outcome]));
        json_put(x, "kind", json_text(it->kind));
        json_put(x, "cause", json_text(it->cause));
        json_array_append_new(items, x);
    }
    json_put(o, "items", items);
    json_print_line(o);
}

static int replay(struct job *j, struct err *e)
{
    if (j->n_arg ? add_arguments(j, e) : add_bugs(j, e))
        return e->code;
    for (int i = 0; i < j->n; i++) {
        struct item *it = &j->item[i];

        if (!it->file)
            replay_bug(j, it);
        else if (replay_file(j, it, e))
            return e->code;
        j->count[it->outcome]++;
        j->bad |= it->outcome == BACK || (it->file && it->outcome == FAILED);
    }
    return 0;
}

int cmd_replay(int argc, char **argv)
{
    static struct job j = { .common = CMD_COMMON_DEFAULT };
    struct err e = { 0 };

    check_opts_default(&j.check);
    cmd_parse(&argp, argc, argv, CMD_DB | CMD_JSON | CMD_FAULT, &j.common, &j);
    if (checker_open(&j.ck, &e))
        return cmd_fail(&e);
    arena_init(&j.a);
    if (!replay(&j, &e)) {
        if (j.common.json)
            print_json(&j);
        else
            print_items(&j);
        /* a database that can't be written takes nothing from the report */
        if (!j.n_arg)
            write_states(&j, &e);
    }
    arena_release(&j.a);
    checker_close(&j.ck);
    if (e.code)
        return cmd_fail(&e);
    return j.bad ? CMD_FINDINGS : CMD_CLEAN;
}
