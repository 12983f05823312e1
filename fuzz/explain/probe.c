#include "fuzz/explain/probe.h"

#include <math.h>
#include <string.h>

#include "base/bug.h"
#include "fuzz/check/twin.h"
#include "judge/element.h"

void probe_open(struct probe *p, struct checker *ck, const struct check_opts *o)
{
    *p = (struct probe){ .ck = ck, .o = o };
    arena_init(&p->keep);
    arena_init(&p->ir);
}

void probe_close(struct probe *p)
{
    arena_release(&p->keep);
    arena_release(&p->ir);
}

void probe_trial(struct probe *p, const struct trial *t, enum algebra al)
{
    struct exact *x = NULL;
    const char *why;

    arena_reset(&p->keep);
    if (p->exact)
        x = exact_make(t, p->exact - 1, &p->keep, &why);
    p->t = x ? x->t : t;
    p->al = al;
    p->want = x ? x->want : judge_want(t, al, &p->keep);
    p->judge = twin_judge(p->ck, p->t, p->o, &p->keep);
    p->l = NULL;
}

int probe_lower(struct probe *p, int stop_after, int last_pass, struct err *e)
{
    struct lower_opts lo = LOWER_OPTS_DEFAULT;

    lo.fault = p->o->fault;
    lo.target = p->target;
    lo.stop_after = stop_after;
    lo.last_pass = last_pass;
    p->l = NULL;
    arena_reset(&p->ir);
    return lower(p->t, &lo, &p->ir, &p->l, e);
}

int probe_run(struct probe *p, int stop_after, int last_pass, struct err *e)
{
    const struct backend *interp = backend_find("interp");
    struct prepared prep = { 0 };
    struct outcome o = { .algebra = p->al };
    int rc = probe_lower(p, stop_after, last_pass, e);

    if (rc)
        return rc;
    run_begin(&p->ck->env);
    if (interp->prepare(&p->ck->env, p->l, NULL, &prep, &o) == 0) {
        interp->run(&p->ck->env, &prep, p->al, &o);
        if (interp->release)
            interp->release(&prep);
    }
    p->v = (struct verdict){ 0 };
    judge_compare(p->want, &o, &p->judge, &p->v);
    p->v.backend = interp->name;
    return 0;
}

bool probe_wrong(const struct probe *p)
{
    return verdict_is_finding(p->v.kind);
}

const char *kind_group(enum verdict_kind k)
{
    switch (k) {
    case VK_CRASH:
        return "crash";
    case VK_HANG:
        return "hang";
    case VK_BUILD_FAILED:
        return "build";
    case VK_PASS:
    case VK_UNSUPPORTED:
    case VK_UNTRUSTED:
    case VK_SUSPECT:
        return "none";
    case VK_MISMATCH:
    case VK_RACE:
    case VK_OUT_OF_BOUNDS:
    case VK_UNINITIALISED:
    case VK_STALE_ALIAS:
    case VK_DIVERGENCE:
    case VK_DEADLOCK:
    case VK_NONDETERMINISTIC:
        break;
    case VK_COUNT:
        BUG("verdict %d", (int)k);
    }
    return "value";
}

/* After build every computed node has a buffer of its own: does it hold what the judge wants
 * of `node`, a node of the program that want is of? */
static bool buffer_right(const struct probe *p, const struct want *want, int node, int buffer)
{
    const struct buffer *b = &p->l->buffer[buffer];
    const struct slab_buf *s = &p->ck->env.buf[buffer];
    const struct judge_opts bound = { 0 };
    /* what others say of outputs, they don't say of nodes in between */
    struct rule rule = rule_of(want, node, p->judge.peer ? &bound : &p->judge);

    for (int64_t i = 0; i < want->node[node].n; i++) {
        int64_t at = layout_at(&b->layout, &b->sh, i);

        if ((size_t)((at + 1) * rule.bytes) > s->bytes)
            return false;
        if (judge_element(&rule, i, s->p + at * rule.bytes) == IS_WRONG)
            return false;
    }
    return true;
}

static int first_wrong_kernel(const struct probe *p, const struct want *want)
{
    const struct lprog *l = p->l;

    for (int k = 0; k < l->n_kernel; k++) {
        if (l->kernel[k].dead)
            continue;
        for (int b = 0; b < l->n_buffer; b++) {
            if (l->buffer[b].node != l->kernel[k].node || l->buffer[b].kind == BUF_INPUT)
                continue;
            if (!buffer_right(p, want, l->buffer[b].node, b))
                return k;
        }
    }
    return -1;
}

int kernel_named(const struct lprog *l, const char *name)
{
    for (int k = 0; k < l->n_kernel; k++)
        if (!l->kernel[k].dead && strcmp(l->kernel[k].name, name) == 0)
            return k;
    return -1;
}

/* Could one number be right for both? Where either is not judged, yes. */
static bool val_agrees(struct val a, struct val b)
{
    if (a.e < 0 || b.e < 0)
        return true;
    if (isnan(a.v) || isnan(b.v))
        return isnan(a.v) && isnan(b.v);
    return a.v == b.v || fabs(a.v - b.v) <= a.e + b.e;
}

static bool want_agrees(const struct want *a, int i, const struct want *b, int j)
{
    const struct want_node *x = &a->node[i], *y = &b->node[j];

    for (int64_t k = 0; k < x->n && k < y->n; k++) {
        if (x->ieee && y->ieee
                ? !val_agrees(x->ieee[k], y->ieee[k])
                : x->word && y->word && x->word[k] != y->word[k] &&
                      !(x->unsure && x->unsure[k]) && !(y->unsure && y->unsure[k]))
            return false;
    }
    return true;
}

/* An access that left its array says itself which kernel made it. */
static int build_kernel(const struct probe *p, const struct want *want)
{
    if (p->v.kind == VK_OUT_OF_BOUNDS && p->v.site.kernel[0])
        return kernel_named(p->l, p->v.site.kernel);
    return first_wrong_kernel(p, want);
}

/* Numbers of the last rewrites of each pass, from the log of the whole lowering. */
struct log_copy {
    int n, *pass;
};

static int last_of_pass(const struct log_copy *log, int from)
{
    int n = from;

    while (n < log->n && log->pass[n] == log->pass[from - 1])
        n++;
    return n;
}

/* Number of the first wrong rewrite among from..to; they are tried one by one. */
static int first_wrong(struct probe *p, int from, int to, int *number, struct err *e)
{
    for (int n = from; n <= to; n++) {
        int rc = probe_run(p, n, INT32_MAX, e);

        if (rc)
            return rc;
        if (probe_wrong(p)) {
            *number = n;
            return 0;
        }
    }
    *number = to;
    return 0;
}

static void cause_from_log(struct probe *p, int number, struct cause *out)
{
    const struct rewrite *r = &p->l->log[number - 1];

    out->number = number;
    out->pass = passes[r->pass].name;
    out->rule = r->rule;
    out->step = r->step;
    out->kernel = r->kernel;
    if (out->kernel < 0 && p->v.kind == VK_OUT_OF_BOUNDS)
        out->kernel = kernel_named(p->l, p->v.site.kernel);
}

static int n_build(const struct log_copy *log)
{
    int build = pass_find("build"), n = 0;

    while (n < log->n && log->pass[n] <= build)
        n++;
    return n;
}

/* The nth composite that is wrong, *nth counts them; -1 = none. Asks either the judge, about
 * the primitive program that it was written out in, or what the interpreter stored. */
static int wrong_composite(const struct probe *p, const struct want *written, int *nth)
{
    const struct prog *prog = &p->t->prog;

    *nth = 0;
    for (int i = 0; i < prog->n; i++) {
        const char *name = prog->node[i].name;
        int to, buffer;

        if (!op_is_composite(prog->node[i].op))
            continue;
        to = prog_find(p->l->prog, name, strlen(name));
        buffer = to >= 0 ? p->l->node_buffer[to] : -1;
        if (to >= 0 && written && !want_agrees(p->want, i, written, to))
            return i;
        if (buffer >= 0 && !written && !buffer_right(p, p->want, i, buffer))
            return i;
        ++*nth;
    }
    return -1;
}

/*
 * Wrong before the first rewrite that can be withheld. A composite was written out wrongly if
 * the judge, asked about the primitive program, disagrees with itself about the one that was
 * given; or if every kernel does what the primitive program says, as far as the judge can
 * tell, and the composite is wrong all the same.
 */
static void cause_in_build(struct probe *p, struct cause *out)
{
    const struct want *want = p->want;
    int composite = -1, nth = 0;

    if (p->l->trial != p->t) {
        want = judge_want(p->l->trial, p->al, &p->keep);
        composite = wrong_composite(p, want, &nth);
    }
    if (composite < 0) {
        out->kernel = build_kernel(p, want);
        if (out->kernel < 0 && p->l->trial != p->t)
            composite = wrong_composite(p, NULL, &nth);
    }
    out->pass = "build";
    if (composite >= 0) {
        out->pass = "expand";
        out->rule = p->l->log[nth].rule;
        out->step = p->l->log[nth].step;
    }
}

int probe_cause(struct probe *p, struct cause *out, struct err *e)
{
    struct log_copy log;
    int rc, number, first;

    rc = probe_run(p, INT32_MAX, INT32_MAX, e);
    if (rc)
        return rc;
    *out = (struct cause){ .kind = p->v.kind,
                           .kind_group = kind_group(p->v.kind),
                           .backend = "interp",
                           .backend_group = "interp",
                           .pass = "",
                           .rule = "",
                           .step = -1,
                           .kernel = -1 };
    if (!probe_wrong(p))
        return 0;
    log.n = p->l->n_log;
    log.pass = arena_array(&p->keep, int, log.n + 1);
    for (int i = 0; i < log.n; i++)
        log.pass[i] = p->l->log[i].pass;
    first = n_build(&log);
    rc = probe_run(p, first, pass_find("build"), e);
    if (rc)
        return rc;
    if (probe_wrong(p)) {
        cause_in_build(p, out);
        return 0;
    }
    for (number = first; number < log.n;) {
        int to = last_of_pass(&log, number + 1);

        rc = probe_run(p, to, INT32_MAX, e);
        if (rc)
            return rc;
        if (probe_wrong(p) || to == log.n) {
            rc = first_wrong(p, number + 1, to, &number, e);
            if (rc)
                return rc;
            cause_from_log(p, number, out);
            return 0;
        }
        number = to;
    }
    return 0;
}
