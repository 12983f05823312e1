/* tilefuzz db ls, show, sql: looking, for people and as JSON. */
#include "fuzz/cmd_db.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "fuzz/describe.h"
#include "fuzz/json.h"

static const char *or_dash(const char *s)
{
    return s && *s ? s : "-";
}

static void json_finding_line(const struct finding *f, bool history, struct store *s);

int db_ls(struct db_opts *o, struct store *s, struct err *e)
{
    struct finding *f;
    int n, wide = 8;

    if (store_bug_list(s, &o->arena, &f, &n, e))
        return e->code;
    for (int i = 0; o->common.json && i < n; i++)
        json_finding_line(&f[i], false, s);
    if (o->common.json)
        return 0;
    for (int i = 0; i < n; i++) {
        int k = (int)strlen(backend_label(f[i].backend).s);

        wide = wide < k ? k : wide;
    }
    if (n)
        printf("%5s  %-8s %-16s %-10s %-28s %-*s %5s %5s %6s  %s\n", "id", "state", "kind",
               "pass", "rewrite", wide, "backend", "nodes", "steps", "count", "fault");
    else
        fprintf(stderr, "%s: no bugs\n", store_path(s));
    for (int i = 0; i < n; i++)
        printf("%5" PRId64 "  %-8s %-16s %-10s %-28s %-*s %5d %5d %6" PRId64 "  %s\n", f[i].id,
               f[i].state, f[i].kind, or_dash(f[i].pass), or_dash(f[i].rewrite), wide,
               backend_label(f[i].backend).s, f[i].nodes, f[i].steps, f[i].count, f[i].fault);
    return 0;
}

static void json_finding_line(const struct finding *f, bool history, struct store *s)
{
    json_t *o = json_object_schema();

    json_object_update_new(o, json_finding(f));
    if (history) {
        json_put(o, "original", json_text(f->original));
        json_put(o, "db", json_text(store_path(s)));
    }
    json_print_line(o);
}

static void show_for_people(const struct finding *f)
{
    printf("bug %" PRId64 ": %s, %s\n", f->id, f->kind, f->state);
    printf("  signature  %s\n", or_dash(f->signature));
    printf("  cause      %s\n", or_dash(f->cause));
    printf("  class      %s\n", or_dash(f->class));
    printf("  pass       %s, rewrite %s\n", or_dash(f->pass), or_dash(f->rewrite));
    printf("  step       %s\n", or_dash(f->step));
    printf("  backend    %s, %s\n", or_dash(f->backend), or_dash(f->algebra));
    printf("  tier       %s\n", or_dash(f->tier));
    printf("  size       %d nodes, %d steps, max_size %" PRId64 "\n", f->nodes, f->steps,
           f->max_size);
    printf("  seen       %" PRId64 " times", f->count);
    if (f->first_trial >= 0)
        printf(", first in trial %" PRId64 " of seed %" PRIu64, f->first_trial, f->seed);
    printf("\n  fault      %s\n", f->fault);
    if (f->detail)
        printf("  detail     %s\n", f->detail);
    printf("\n%s", f->text);
    if (f->repro)
        printf("\n%s\n", f->repro);
}

int db_show(struct db_opts *o, struct store *s, struct err *e)
{
    struct finding f;
    int64_t id = db_id(o->arg[0], e);

    if (id < 0 || store_bug_get(s, id, &o->arena, &f, e))
        return e->code;
    if (o->common.json)
        json_finding_line(&f, true, s);
    else
        show_for_people(&f);
    return 0;
}

static int print_json_row(void *ctx, const struct store_cell *cell, int n)
{
    json_t *row = json_object_schema();

    (void)ctx;
    for (int i = 0; i < n; i++) {
        const char *text = cell[i].text;
        json_t *v = cell[i].type == STORE_INT    ? json_integer(strtoll(text, NULL, 10))
                    : cell[i].type == STORE_REAL ? json_number_of(strtod(text, NULL))
                                                 : json_text(text);

        json_put(row, cell[i].name, v);
    }
    json_print_line(row);
    return 0;
}

/* Tab-separated, the names first. */
static int print_row(void *ctx, const struct store_cell *cell, int n)
{
    bool *first = ctx;
    struct str line = { 0 };

    for (int i = 0; *first && i < n; i++)
        str_add(&line, "%s%s", cell[i].name, i + 1 < n ? "\t" : "\n");
    *first = false;
    for (int i = 0; i < n; i++)
        str_add(&line, "%s%s", cell[i].text ? cell[i].text : "", i + 1 < n ? "\t" : "\n");
    fputs(str_get(&line), stdout);
    str_release(&line);
    return 0;
}

int db_sql(struct db_opts *o, struct store *s, struct err *e)
{
    bool first = true;

    return store_sql(s, o->arg[0], o->common.json ? print_json_row : print_row, &first, e);
}
