/* An explanation for a person. */
#include <string.h>

#include "fuzz/explain/blackbox.h"
#include "fuzz/explain/race.h"

static void row(struct str *s, const char *label, const char *text)
{
    if (text && *text)
        str_add(s, "%-14s %s\n", label, text);
}

static void print_guilty(const struct explanation *x, struct str *s)
{
    const struct cause *c = &x->cause;
    int pass = pass_find(c->pass);

    str_add(s, "%-14s %s", "guilty pass", c->pass);
    if (pass >= 0)
        str_add(s, ": %s", passes[pass].help);
    else if (!strcmp(c->pass, "emit"))
        str_puts(s, ": loop IR to text, or the compiler behind it");
    else if (blackbox_find(c->backend))
        str_puts(s, ": of a compiler that is not ours");
    str_puts(s, "\n");
    if (c->number > 0)
        str_add(s, "%-14s %d: %s\n", "rewrite", c->number, c->rule);
    else if (*c->rule)
        row(s, blackbox_find(c->backend) ? "ran" : "rewrite", c->rule);
    if (x->step)
        str_add(s, "%-14s %d: %s\n", "schedule step", c->step + 1, x->step);
    else if (c->number > 0)
        row(s, "schedule step", "none asked for it");
}

static void print_loops(const struct explanation *x, struct str *s)
{
    if (x->before && x->after && !strcmp(x->before, x->after)) {
        str_add(s, "\nloops (the rewrite leaves them as they are):\n%s", x->after);
        return;
    }
    if (x->before)
        str_add(s, "\nbefore the rewrite:\n%s", x->before);
    if (x->after)
        str_add(s, "\n%s:\n%s", x->before ? "after it" : "loops", x->after);
}

/* "store to m.a[7] of 64, block 0 thread 3, m.r0.0=2" */
static void print_sites(const struct explanation *x, struct str *s)
{
    for (int i = 0; i < x->n_site && race_is(x->verdict.kind); i++) {
        const struct explain_site *e = &x->site[i];

        str_add(s, "%-14s %s %s[%lld] of %lld, block %lld thread %lld%s%s\n",
                i ? "and before" : "site", !strcmp(e->what, "store") ? "store to" : "load of",
                e->buffer, (long long)e->index, (long long)e->size, (long long)e->block,
                (long long)e->thread, *e->loops ? ", " : "", e->loops);
    }
}

/* "schedule 7: m[0,1]: want 5, got 0; the same bits when it is run again" */
static void print_value(const struct explanation *x, struct str *s)
{
    const struct explain_value *v = &x->value;

    if (v->schedule)
        str_add(s, "%-14s --schedule %d: %s: want %.17g, got %.17g; %s\n", "wrong value",
                v->schedule, v->element, v->want, v->got,
                v->again ? "the same bits when it is run again"
                         : "other bits when it is run again");
    else if (v->tried)
        str_add(s, "%-14s none under schedules 1 to %d\n", "wrong value", v->tried);
}

void explain_print(const struct explanation *x, struct str *s)
{
    print_guilty(x, s);
    row(s, "class", x->cause.class);
    row(s, "kernel", x->kernel);
    row(s, "first wrong", x->element);
    print_sites(x, s);
    print_value(x, s);
    if (!race_is(x->verdict.kind))
        row(s, "loops", x->loops);
    row(s, "index used", x->index_got);
    row(s, "index wanted", x->index_want);
    row(s, "note", x->note);
    print_loops(x, s);
}
