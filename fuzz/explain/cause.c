/*
 * Attribution: what the interpreter says after each rewrite decides. It never asks which
 * fault is switched on.
 */
#include "fuzz/explain/cause.h"

#include <stdio.h>
#include <string.h>

#include "fuzz/explain/blackbox.h"
#include "fuzz/explain/explain.h"
#include "fuzz/explain/probe.h"
#include "fuzz/explain/race.h"

enum target cause_target(const char *backend)
{
    const struct backend *b = backend_find(backend);

    return b && b->gpu ? TARGET_GPU_SERIAL : TARGET_CPU;
}

/* Right in the interpreter to the end: the emitter, or the compiler under test. */
static void cause_compiled(const struct verdict *v, struct cause *out)
{
    const struct backend *b = backend_find(v->backend);

    *out = (struct cause){ .kind = v->kind,
                           .kind_group = kind_group(v->kind),
                           .backend = v->backend,
                           .backend_group = b ? b->group : "compiled",
                           .pass = "emit",
                           .rule = "",
                           .class = "emit",
                           .step = -1,
                           .kernel = -1 };
}

/* What only the SIMT machine can see, told by the loops of the whole lowering. */
static int cause_race(struct probe *p, const struct verdict *v, struct cause *out,
                      struct err *e)
{
    int rc;

    p->target = TARGET_GPU;
    rc = probe_lower(p, INT32_MAX, INT32_MAX, e);
    p->target = cause_target(v->backend);
    if (rc)
        return rc;
    cause_compiled(v, out);
    out->target = p->target;
    race_cause(p->l, v, out, &p->keep, NULL);
    return 0;
}

int cause_locate(struct probe *p, const struct trial *t, const struct verdict *v,
                 struct cause *out, struct err *e)
{
    int rc;

    if (blackbox_find(v->backend))
        return blackbox_cause(p->ck, t, p->o, v, out, e);
    p->exact = v->exact;
    p->target = cause_target(v->backend);
    probe_trial(p, t, v->algebra);
    rc = probe_cause(p, out, e);
    if (rc)
        return rc;
    out->target = p->target;
    if (!*out->pass && race_is(v->kind))
        return cause_race(p, v, out, e);
    if (!*out->pass) {
        cause_compiled(v, out);
        out->target = p->target;
    } else if (!strcmp(out->pass, "plan") || !strcmp(out->pass, "smem")) {
        out->class = "alias";
    }
    return 0;
}

int cause_find(struct checker *ck, const struct trial *t, const struct check_opts *o,
               struct check *c, struct cause *out, struct err *e)
{
    struct probe p;
    struct verdict v;
    int rc;

    if (c->first < 0 || !verdict_is_finding(c->kind))
        return err_set(e, ERR_USAGE, "the trial passes: there is no cause to find");
    v = c->verdict[c->first];
    probe_open(&p, ck, o);
    rc = cause_locate(&p, t, &v, out, e);
    if (rc == 0 && !out->class && out->number > 0 && explain_index_changed(&p, out))
        out->class = "index";
    probe_close(&p);
    return rc;
}

bool cause_same(const struct cause *a, const struct cause *b)
{
    return !strcmp(a->kind_group, b->kind_group) &&
           !strcmp(a->backend_group, b->backend_group) && !strcmp(a->pass, b->pass) &&
           !strcmp(a->rule, b->rule);
}

void cause_print(const struct cause *c, char *buf, size_t n)
{
    snprintf(buf, n, "%s %s %s %s", c->kind_group, c->backend_group, c->pass,
             *c->rule ? c->rule : "-");
}

void cause_signature(const struct cause *c, const struct trial *t, char *buf, size_t n)
{
    char text[200], tags[40] = "";

    cause_print(c, text, sizeof text);
    if (blackbox_find(c->backend))
        blackbox_tags(c, t, tags, sizeof tags);
    snprintf(buf, n, "%s %s %s%s%s", text, c->class ? c->class : "-",
             c->step >= 0 && c->step < t->n_step ? step_info(t->step[c->step].kind)->name : "-",
             *tags ? " " : "", tags);
}
