/* tilefuzz db tag, join, split, merge, export, import: what changes or leaves the database. */
#include "fuzz/cmd_db.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/str.h"
#include "fuzz/json.h"
#include "ir/text.h"

int db_tag(struct db_opts *o, struct store *s, struct err *e)
{
    int64_t id = db_id(o->arg[0], e);

    if (id < 0 || store_begin(s, e) || store_tag(s, id, o->arg[1], o->note, e) ||
        store_commit(s, e))
        return e->code;
    if (o->common.json) {
        json_t *v = json_object_schema();

        json_put(v, "id", json_integer(id));
        json_put(v, "state", json_text(o->arg[1]));
        json_print_line(v);
    } else {
        printf("bug %" PRId64 " is %s\n", id, o->arg[1]);
    }
    return 0;
}

int db_join(struct db_opts *o, struct store *s, struct err *e)
{
    int64_t bug = db_id(o->arg[0], e), other = bug < 0 ? -1 : db_id(o->arg[1], e);

    if (other < 0 || store_begin(s, e) || store_join(s, bug, other, e) || store_commit(s, e))
        return e->code;
    if (o->common.json) {
        json_t *v = json_object_schema();

        json_put(v, "id", json_integer(bug));
        json_put(v, "joined", json_integer(other));
        json_print_line(v);
    } else {
        printf("bug %" PRId64 " is the same as bug %" PRId64 "\n", other, bug);
    }
    return 0;
}

int db_split(struct db_opts *o, struct store *s, struct err *e)
{
    int64_t id = db_id(o->arg[0], e);

    if (id < 0 || store_begin(s, e) || store_split(s, id, e) || store_commit(s, e))
        return e->code;
    if (o->common.json) {
        json_t *v = json_object_schema();

        json_put(v, "id", json_integer(id));
        json_print_line(v);
    } else {
        printf("bug %" PRId64 " is on its own\n", id);
    }
    return 0;
}

int db_merge(struct db_opts *o, struct store *s, struct err *e)
{
    for (int i = 0; i < o->n_arg; i++) {
        struct store_merged m;

        if (store_merge(s, o->arg[i], &m, e))
            return e->code;
        if (o->common.json) {
            json_t *v = json_object_schema();

            json_put(v, "file", json_text(o->arg[i]));
            json_put(v, "campaigns", json_integer(m.campaigns));
            json_put(v, "bugs", json_integer(m.bugs));
            json_put(v, "observations", json_integer(m.observations));
            json_print_line(v);
        } else {
            printf("%s: %" PRId64 " campaigns, %" PRId64 " bugs, %" PRId64
                   " observations were new\n",
                   o->arg[i], m.campaigns, m.bugs, m.observations);
        }
    }
    return 0;
}

/* A file for corpus/regress: the trial with comments below its first line that say what it was.
 */
static int export_file(const char *dir, const struct finding *f, struct err *e)
{
    struct str path = { 0 }, text = { 0 };
    int first = (int)strcspn(f->text, "\n");

    str_add(&path, "%s/%04" PRId64 "-%s.trial", dir, f->id, f->pass ? f->pass : "unknown");
    str_add(&text, "%.*s\n# %s\n# fault %s%s", first, f->text,
            f->signature ? f->signature : f->kind, f->fault, f->text + first);
    FILE *out = fopen(path.s, "w");
    if (!out || (fputs(text.s, out) < 0) | (fclose(out) != 0))
        err_set(e, ERR_IO, "%s: %s", path.s, strerror(errno));
    else
        puts(path.s);
    str_release(&text);
    str_release(&path);
    return e->code;
}

static int export_one(struct db_opts *o, const struct finding *f, struct err *e)
{
    if (o->dir)
        return export_file(o->dir, f, e);
    json_t *v = json_object_schema();
    json_object_update_new(v, json_finding(f));
    json_put(v, "original", json_text(f->original));
    json_print_line(v);
    return 0;
}

int db_export(struct db_opts *o, struct store *s, struct err *e)
{
    struct finding *all, one;
    int n;

    if (o->dir && mkdir(o->dir, 0777) && errno != EEXIST)
        return err_set(e, ERR_IO, "%s: %s", o->dir, strerror(errno));
    for (int i = 0; i < o->n_arg; i++) {
        int64_t id = db_id(o->arg[i], e);

        if (id < 0 || store_bug_get(s, id, &o->arena, &one, e) || export_one(o, &one, e))
            return e->code;
    }
    if (o->n_arg)
        return 0;
    if (store_bug_list(s, &o->arena, &all, &n, e))
        return e->code;
    for (int i = 0; i < n; i++)
        if (export_one(o, &all[i], e))
            return e->code;
    return 0;
}

/* A string member, NULL when it is null or missing. */
static const char *member(const json_t *v, const char *key)
{
    return json_string_value(json_object_get(v, key));
}

static int64_t member_number(const json_t *v, const char *key)
{
    return json_integer_value(json_object_get(v, key));
}

/* The inverse of export_one; strings live in v. */
static int finding_from(const json_t *v, struct arena *a, struct finding *f, struct err *e)
{
    struct trial *t;

    *f = (struct finding){
        .signature = member(v, "signature"),
        .kind = member(v, "kind"),
        .class = member(v, "class"),
        .stage = member(v, "stage"),
        .pass = member(v, "pass"),
        .rewrite = member(v, "rewrite"),
        .step = member(v, "step"),
        .cause = member(v, "cause"),
        .backend = member(v, "backend"),
        .algebra = member(v, "algebra"),
        .tier = member(v, "tier"),
        .fault = member(v, "fault"),
        .state = member(v, "state"),
        .text = member(v, "trial"),
        .original = member(v, "original"),
        .detail = member(v, "detail"),
        .repro = member(v, "repro"),
        .nodes = (int)member_number(v, "nodes"),
        .steps = (int)member_number(v, "steps"),
        .max_size = member_number(v, "max_size"),
        .first_trial = -1,
    };
    if (!f->kind || !f->text)
        return err_set(e, ERR_INPUT, "no bug of tilefuzz db export: kind or trial is missing");
    if (f->state && !store_state_valid(f->state))
        return err_set(e, ERR_INPUT, "no state '%s'; states are " STORE_STATES, f->state);
    return trial_parse(f->text, strlen(f->text), a, &t, e);
}

static int import_line(struct db_opts *o, struct store *s, const char *line, bool *known,
                       struct err *e)
{
    json_error_t why;
    struct finding f;
    json_t *v = json_loads(line, 0, &why);

    if (!v)
        return err_set(e, ERR_INPUT, "%s; one JSON object a line expected", why.text);
    if (!finding_from(v, &o->arena, &f, e))
        store_import(s, &f, hash64(f.text, strlen(f.text), 0), known, e);
    json_decref(v);
    return e->code;
}

static int import_file(struct db_opts *o, struct store *s, const char *path, struct err *e)
{
    FILE *in = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    char *line = NULL;
    size_t cap = 0;
    int number = 0, n_new = 0;

    if (!in)
        return err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
    while (!e->code && getline(&line, &cap, in) > 0) {
        bool known = true;

        number++;
        if (line[strspn(line, " \t\r\n")] && import_line(o, s, line, &known, e)) {
            snprintf(e->file, sizeof e->file, "%s", path);
            e->line = number, e->col = 1;
            e->excerpt[0] = '\0';
        }
        n_new += !known;
    }
    free(line);
    if (in != stdin)
        fclose(in);
    if (!e->code)
        fprintf(stderr, "%s: %d bugs were new\n", path, n_new);
    return e->code;
}

int db_import(struct db_opts *o, struct store *s, struct err *e)
{
    if (store_begin(s, e))
        return e->code;
    for (int i = 0; i < o->n_arg; i++)
        if (import_file(o, s, o->arg[i], e)) {
            store_rollback(s);
            return e->code;
        }
    return store_commit(s, e);
}
