#include "fuzz/foreign.h"
#include "fuzz/describe.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fuzz/json.h"
#include "run/foreign.h"

/* Why an op is taken with no dtype; NULL = it is taken, or was not tried. */
static const char *refusal(const struct caps *c, int op)
{
    const char *why = NULL;

    for (int dt = 0; dt < DT_COUNT; dt++) {
        if (c->dtype[dt] && c->op[op][dt] == CAP_YES)
            return NULL;
        if (!why && (c->op[op][dt] == CAP_TRIED || c->op[op][dt] == CAP_LIE))
            why = c->why[op][dt];
    }
    return why;
}

/* Refused as what the adapter does not have, not for a reason of its own. */
static bool is_absent(const char *why, const char *name)
{
    return !strncmp(why, "no op ", 6) && !strcmp(why + 6, name);
}

/* Those that are not there in a few lines, the others one by one, with the reason. */
static void say_refused(const struct backend *b)
{
    int column = 0;

    for (int op = 0; op < OP_COUNT; op++) {
        const char *why = refusal(b->caps, op), *name = op_info((enum op)op)->name;

        if (!why || !is_absent(why, name))
            continue;
        if (column == 0 || column + (int)strlen(name) > 90) {
            fputs(column ? "\n" : "", stderr);
            column = fprintf(stderr, "tilefuzz:   not there:");
        }
        column += fprintf(stderr, " %s", name);
    }
    fputs(column ? "\n" : "", stderr);
    for (int op = 0; op < OP_COUNT; op++) {
        const char *why = refusal(b->caps, op), *name = op_info((enum op)op)->name;

        if (why && !is_absent(why, name))
            fprintf(stderr, "tilefuzz:   no %s: %.200s\n", name, why);
    }
}

static bool takes(const struct caps *c, enum op op)
{
    for (int dt = 0; dt < DT_COUNT; dt++)
        if (c->dtype[dt] && c->op[op][dt] != CAP_NO && c->op[op][dt] != CAP_TRIED)
            return true;
    return false;
}

/* The knobs of all, as --set takes them. */
static int add_knobs(const struct caps *c, char *set, size_t n, struct err *e)
{
    const char *knob = c->knobs;

    while (*knob) {
        size_t size = strcspn(knob, ","), at = strlen(set);
        int wrote =
            snprintf(set + at, n - at, "%s%s.%.*s", at ? "," : "", c->name, (int)size, knob);

        if ((size_t)wrote >= n - at)
            return err_set(e, ERR_USAGE, "too many knobs of adapters; --set names some");
        knob += size + (knob[size] == ',');
    }
    return 0;
}

int foreign_narrow(struct check_opts *o, struct gen_opts *g, struct err *e)
{
    bool any = false, wide = false, op[OP_COUNT] = { false }, given = *g->set;
    int n = 0;

    for (int i = 0; i < o->n_backend; i++) {
        const struct caps *c = o->backend[i]->caps;
        struct tried t;

        if (!c)
            continue;
        t = exec_try(o->backend[i], g->op);
        if (t.of)
            fprintf(stderr, "tilefuzz: %s takes %d of %d pairs of op and dtype\n",
                    backend_label(o->backend[i]->name).s, t.taken, t.of);
        if (t.of)
            say_refused(o->backend[i]);
        any = true;
        if (!given && g->step[STEP_SET] && add_knobs(c, g->set, sizeof g->set, e))
            return e->code;
        wide |= c->dtype[DT_F64] || c->dtype[DT_F16] || c->dtype[DT_BF16];
        if (c->max_nodes && c->max_nodes < g->max_nodes)
            g->max_nodes = c->max_nodes;
        for (int k = 0; k < OP_COUNT; k++)
            op[k] |= g->op[k] && takes(c, (enum op)k);
    }
    if (!any)
        return 0;
    memcpy(g->op, op, sizeof op);
    for (int k = 0; k < OP_COUNT; k++)
        n += k != OP_INPUT && g->op[k];
    if (!n)
        return err_set(e, ERR_USAGE, "no op that is drawn is taken by what is tested");
    if (!wide)
        g->f32_percent = 100;
    if (!check_has_ours(o)) {
        bool set = g->step[STEP_SET] && *g->set;

        memset(g->step, 0, sizeof g->step);
        g->step[STEP_SET] = set;
        o->algebra[AL_RING] = false;
    }
    return 0;
}

void foreign_close(const struct check_opts *o)
{
    for (int i = 0; i < o->n_backend; i++)
        if (o->backend[i]->own_process)
            exec_close(o->backend[i]);
}

void foreign_print(const struct check_opts *o)
{
    for (int i = 0; i < o->n_backend; i++) {
        const struct backend *b = o->backend[i];
        struct exec_cost c;

        if (!b->own_process)
            continue;
        c = exec_cost(b);
        printf(
            "%s: %" PRId64 " runs in %" PRId64 " processes, %.2f s of CPU to start them, then "
            "%.2f s, of which the framework's own %.2f s",
            backend_label(b->name).s, c.runs, c.starts, c.start_s, c.process_s, c.framework_s);
        if (c.framework_s > 0)
            printf(" (the rest is %.0f%% of that)",
                   100 * (c.process_s - c.framework_s) / c.framework_s);
        printf("\n");
        if (c.lost_s > 0)
            printf("%s: %.1f s of CPU over requests that got no answer\n",
                   backend_label(b->name).s, c.lost_s);
        if (c.stale)
            printf("%s: %" PRId64 " failures in used processes were none in fresh ones\n",
                   backend_label(b->name).s, c.stale);
    }
}

json_t *foreign_json(const struct check_opts *o)
{
    json_t *list = json_array();

    for (int i = 0; i < o->n_backend; i++) {
        const struct backend *b = o->backend[i];
        json_t *j;
        struct exec_cost c;

        if (!b->caps)
            continue;
        j = json_object();
        json_put(j, "backend", json_text(b->name));
        json_put(j, "version", json_text(b->caps->version));
        if (b->own_process) {
            c = exec_cost(b);
            json_put(j, "runs", json_integer(c.runs));
            json_put(j, "starts", json_integer(c.starts));
            json_put(j, "stale", json_integer(c.stale));
            json_put(j, "start_s", json_real(c.start_s));
            json_put(j, "process_s", json_real(c.process_s));
            json_put(j, "framework_s", json_real(c.framework_s));
            json_put(j, "lost_s", json_real(c.lost_s));
        }
        json_array_append_new(list, j);
    }
    return list;
}
