/* tilefuzz explain: guilty pass, rewrite and step, first wrong element, right and wrong index.
 */
#include <stdio.h>

#include "fuzz/args.h"
#include "fuzz/cmd.h"
#include "fuzz/describe.h"
#include "fuzz/explain/explain.h"
#include "fuzz/json.h"

struct cmd_explain_opts {
    struct cmd_common common;
    const char *arg;
    struct check_opts check;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct cmd_explain_opts *o = state->input;

    if (args_check(key, arg, state, &o->check) == 0)
        return 0;
    return cmd_subject_arg(key, arg, state, &o->arg);
}

static const struct argp_option options[] = {
    ARGS_BACKENDS,
    ARGS_JUDGE,
    { 0 },
};
static const struct argp argp = {
    options,
    parse,
    "FILE|ID",
    "Say why a trial fails: the guilty pass, rewrite and schedule step, the first wrong "
    "element, the index expression that was used and the right one.\v"
    "Examples:\n"
    "  tilefuzz explain 3\n"
    "  tilefuzz explain corpus/public/02-composed-attention.trial \\\n"
    "      --fault copy_copy_fusion_drops_view",
};

static void head(const struct subject *sub, const struct verdict *v, struct str *s)
{
    str_add(s, "%s: %s (%s, %s): ", sub->name, verdict_name(v->kind),
            backend_label(v->backend).s, algebra_name(v->algebra));
    verdict_print(v, &sub->trial->prog, s);
    str_puts(s, "\n");
}

static json_t *json_sites(const struct explanation *x)
{
    json_t *list = json_array();

    for (int i = 0; i < x->n_site; i++) {
        const struct explain_site *e = &x->site[i];
        json_t *o = json_object();

        json_put(o, "what", json_text(e->what));
        json_put(o, "kernel", json_text(e->kernel));
        json_put(o, "buffer", json_text(e->buffer));
        json_put(o, "index", json_integer(e->index));
        json_put(o, "size", json_integer(e->size));
        json_put(o, "loops", json_text(e->loops));
        json_array_append_new(list, o);
    }
    return list;
}

/* null: no race, or no schedule that was tried makes it wrong */
static json_t *json_value_of(const struct explain_value *v)
{
    json_t *o;

    if (!v->schedule)
        return json_null();
    o = json_object();
    json_put(o, "schedule", json_integer(v->schedule));
    json_put(o, "element", json_text(v->element));
    json_put(o, "want", json_number_of(v->want));
    json_put(o, "got", json_number_of(v->got));
    json_put(o, "again", json_boolean(v->again));
    return o;
}

/* x = NULL: the trial passes, and there is nothing to say. */
static json_t *json_explanation(const struct subject *sub, const struct explanation *x,
                                const char *text)
{
    json_t *o = json_object_schema();
    const struct cause *c = x ? &x->cause : NULL;

    json_put(o, "id", sub->id ? json_integer(sub->id) : json_null());
    json_put(o, "kind", json_text(x ? verdict_name(x->verdict.kind) : NULL));
    json_put(o, "class", json_text(c ? c->class : NULL));
    json_put(o, "stage", json_text(c ? c->pass : NULL));
    json_put(o, "pass", json_text(c ? c->pass : NULL));
    json_put(o, "rewrite", json_text(c && *c->rule ? c->rule : NULL));
    json_put(o, "number", c && c->number > 0 ? json_integer(c->number) : json_null());
    json_put(o, "step", json_text(x ? x->step : NULL));
    json_put(o, "kernel", json_text(x ? x->kernel : NULL));
    json_put(o, "element", json_text(x ? x->element : NULL));
    json_put(o, "loops", json_text(x ? x->loops : NULL));
    json_put(o, "index_want", json_text(x ? x->index_want : NULL));
    json_put(o, "index_got", json_text(x ? x->index_got : NULL));
    json_put(o, "note", json_text(x ? x->note : NULL));
    json_put(o, "value", x ? json_value_of(&x->value) : json_null());
    json_put(o, "sites", x ? json_sites(x) : json_array());
    json_put(o, "text", json_text(text));
    return o;
}

static void print(const struct cmd_explain_opts *o, const struct subject *sub,
                  const struct explanation *x, const struct str *s)
{
    if (o->common.json)
        json_print_line(json_explanation(sub, x, str_get(s)));
    else
        fputs(str_get(s), stdout);
}

static int explain(const struct cmd_explain_opts *o, const struct subject *sub, struct arena *a,
                   struct checker *ck, struct err *e)
{
    struct check_opts co = o->check;
    struct check c;
    struct cause cause;
    struct explanation x;
    struct str s = { 0 };

    co.fault = sub->fault;
    args_gpu(&co, sub->trial);
    if (args_finding(&co, &sub->finding, e) || check_trial(ck, sub->trial, &co, &c, e))
        return e->code;
    if (!verdict_is_finding(c.kind)) {
        str_add(&s, "%s: %s: there is nothing to explain%s\n", sub->name, verdict_name(c.kind),
                subject_hint(sub, &co.judge));
        print(o, sub, NULL, &s);
    } else {
        const struct verdict v = c.verdict[c.first];

        if (cause_find(ck, sub->trial, &co, &c, &cause, e) == 0 &&
            explain_find(ck, sub->trial, &co, &v, &cause, a, &x, e) == 0) {
            head(sub, &v, &s);
            explain_print(&x, &s);
            print(o, sub, &x, &s);
        }
    }
    str_release(&s);
    return e->code;
}

int cmd_explain(int argc, char **argv)
{
    struct cmd_explain_opts o = { .common = CMD_COMMON_DEFAULT };
    struct subject sub;
    struct checker ck;
    struct arena a;
    struct err e = { 0 };

    check_opts_default(&o.check);
    cmd_parse(&argp, argc, argv, CMD_DB | CMD_JSON | CMD_FAULT, &o.common, &o);
    arena_init(&a);
    if (cmd_open(o.arg, &o.common, &a, &sub, &e) == 0 && checker_open(&ck, &e) == 0) {
        if (explain(&o, &sub, &a, &ck, &e) == ERR_ILLEGAL)
            snprintf(e.file, sizeof e.file, "%s", sub.name);
        checker_close(&ck);
    }
    arena_release(&a);
    return e.code ? cmd_fail(&e) : CMD_CLEAN;
}
