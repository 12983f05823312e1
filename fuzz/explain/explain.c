/*
 * Puts an explanation together: the loops on both sides of the guilty rewrite, the indices
 * that differ, or the buffers that share memory.
 */
#include "fuzz/explain/explain.h"

#include <inttypes.h>
#include <string.h>

#include "base/bug.h"
#include "fuzz/describe.h"
#include "fuzz/explain/access.h"
#include "fuzz/explain/alias.h"
#include "fuzz/explain/blackbox.h"
#include "fuzz/explain/differ.h"
#include "fuzz/explain/probe.h"
#include "fuzz/explain/race.h"
#include "fuzz/explain/reads.h"
#include "ir/text.h"
#include "run/interp.h"

/* The two lowerings live in a. */
static bool lower_both(const struct probe *p, int number, struct arena *a,
                       struct lprog **before, struct lprog **after)
{
    struct lower_opts lo = LOWER_OPTS_DEFAULT;
    struct err e = { 0 };

    lo.fault = p->o->fault;
    lo.target = p->target;
    lo.stop_after = number;
    if (lower(p->t, &lo, a, after, &e))
        return false;
    lo.stop_after = number - 1;
    return lower(p->t, &lo, a, before, &e) == 0;
}

/* The same loops for a reader: bound kernels as they are bound, not written out. */
static const struct lprog *readable(const struct probe *p, int number, struct arena *a,
                                    const struct lprog *else_this)
{
    struct lower_opts lo = LOWER_OPTS_DEFAULT;
    struct lprog *l;
    struct err e = { 0 };

    lo.fault = p->o->fault;
    lo.target = p->target == TARGET_GPU_SERIAL ? TARGET_GPU : p->target;
    lo.bound = true;
    lo.stop_after = number;
    return lower(p->t, &lo, a, &l, &e) ? else_this : l;
}

bool explain_index_changed(struct probe *p, const struct cause *cause)
{
    struct lprog *before, *after;
    struct index_diff d = { 0 };
    struct arena a;

    arena_init(&a);
    if (lower_both(p, cause->number, &a, &before, &after))
        index_differ(before, after, cause->kernel, &a, &d);
    arena_release(&a);
    return d.changed;
}

static const char *kernel_text(const struct lprog *l, int kernel, struct arena *a)
{
    struct str s = { 0 };

    loop_print_kernel(l, kernel, &s);
    return str_keep(&s, a);
}

/* The kernel that the rewrite changed, as it was: of the same name, else the first that the
 * rewrite did not leave as it is. */
static int kernel_before(const struct lprog *before, const struct lprog *after,
                         const char *name, struct arena *a)
{
    int k = kernel_named(before, name);

    for (int i = 0; i < before->n_kernel && k < 0; i++) {
        int there = kernel_named(after, before->kernel[i].name);

        if (!before->kernel[i].dead &&
            (there < 0 || strcmp(kernel_text(before, i, a), kernel_text(after, there, a))))
            k = i;
    }
    return k;
}

static void element_text(const struct trial *t, const struct verdict *v, struct arena *a,
                         struct explanation *x)
{
    struct str s = { 0 };

    if ((v->kind == VK_OUT_OF_BOUNDS || race_is(v->kind)) && v->site.buffer[0]) {
        str_add(&s, "%s[%" PRId64 "] of %" PRId64, v->site.buffer, v->site.index, v->site.size);
        x->element = str_keep(&s, a);
    } else if (verdict_element(v, &t->prog, &s)) {
        x->element = str_keep(&s, a);
    }
}

/* Storage address of the first wrong element in the output's buffer. */
static int64_t element_address(const struct buffer *b, const struct verdict *v)
{
    int64_t at = b->layout.offset;

    for (int i = 0; i < b->sh.rank; i++)
        at += v->at[i] * b->layout.stride[i];
    return at;
}

static void element_loops(const struct lprog *l, struct arena *a, struct explanation *x)
{
    const struct verdict *v = &x->verdict;
    struct loops loops;

    if (v->kind == VK_OUT_OF_BOUNDS && v->site.loops[0])
        x->loops = arena_strdup(a, v->site.loops);
    if (x->loops || v->kind != VK_MISMATCH || v->out < 0)
        return;
    for (int b = 0; b < l->n_buffer; b++)
        if (l->buffer[b].kind == BUF_OUTPUT && l->buffer[b].slot == v->out &&
            interp_where(l, b, element_address(&l->buffer[b], v), &loops, a)) {
            int k = buffer_writer(l, b);

            x->loops = loops_text(l, &loops, a);
            if (!x->kernel && k >= 0) {
                x->kernel = arena_strdup(a, l->kernel[k].name);
                x->after = kernel_text(l, k, a);
            }
        }
}

static void describe_rewrite(struct probe *p, struct arena *a, struct explanation *x)
{
    struct lprog *before, *after;
    const struct lprog *was_read, *read;
    struct index_diff d;
    int k = x->cause.kernel, was;

    if (!lower_both(p, x->cause.number, a, &before, &after))
        return;
    read = readable(p, x->cause.number, a, after);
    was_read = readable(p, x->cause.number - 1, a, before);
    if (k >= 0) {
        x->kernel = arena_strdup(a, read->kernel[k].name);
        x->after = kernel_text(read, k, a);
        was = kernel_before(was_read, read, x->kernel, a);
        if (was >= 0)
            x->before = kernel_text(was_read, was, a);
    }
    if (!strcmp(x->cause.pass, "plan")) {
        alias_explain(before, after, a, x);
        return;
    }
    index_differ(before, after, k, a, &d);
    if (!d.changed) {
        x->note = "the rewrite changes no address and no guard: what is computed differs";
        return;
    }
    x->index_want = d.want;
    x->index_got = d.got;
    x->loops = d.loops;
    x->note = d.note;
}

/* The program in primitive nodes, as pass expand wrote it. */
static const char *expanded_text(const struct lprog *l, struct arena *a)
{
    struct str s = { 0 };

    for (int i = 0; i < l->prog->n; i++) {
        str_puts(&s, "  ");
        node_print(l->prog, i, &s);
        str_puts(&s, "\n");
    }
    return str_keep(&s, a);
}

/* No rewrite to blame: the kernel as the guilty room left it. */
static void describe_whole(struct probe *p, struct arena *a, struct explanation *x)
{
    struct lower_opts lo = LOWER_OPTS_DEFAULT;
    struct lprog *l;
    struct err e = { 0 };

    lo.fault = p->o->fault;
    lo.target = p->target;
    if (!strcmp(x->cause.pass, "build"))
        lo.last_pass = pass_find("build");
    if (lower(p->t, &lo, a, &l, &e))
        return;
    if (x->cause.kernel >= 0 && x->cause.kernel < l->n_kernel) {
        x->kernel = arena_strdup(a, l->kernel[x->cause.kernel].name);
        x->after = kernel_text(l, x->cause.kernel, a);
    }
    if (!strcmp(x->cause.pass, "expand")) {
        x->after = expanded_text(l, a);
        x->note = "the judge, asked about the primitive nodes that the composite was written "
                  "out in, wants other values than for the composite itself";
    }
    element_loops(l, a, x);
    if (!strcmp(x->cause.pass, "emit"))
        x->note = "the interpreter is right after the last rewrite: the emitted text, or the "
                  "compiler that built it, is wrong";
}

static void add_site(const struct site *s, struct arena *a, struct explanation *x)
{
    if (!s->kernel[0] || x->n_site == (int)ARRAY_LEN(x->site))
        return;
    x->site[x->n_site++] = (struct explain_site){
        .kernel = arena_strdup(a, s->kernel),
        .buffer = arena_strdup(a, s->buffer),
        .loops = arena_strdup(a, s->loops),
        .index = s->index,
        .size = s->size,
        .block = s->block,
        .thread = s->thread,
        .what = s->store ? "store" : "load",
    };
}

/* Two sites that nothing orders: the kernel as the machine ran it, and what is missing. */
static void describe_race(struct probe *p, struct arena *a, struct explanation *x)
{
    const struct lprog *l = readable(p, INT32_MAX, a, NULL);
    const struct verdict *v = &x->verdict;
    struct cause again = x->cause;

    add_site(&v->site, a, x);
    add_site(&v->other, a, x);
    if (!l || !race_cause(l, v, &again, a, &x->note))
        return;
    x->kernel = arena_strdup(a, l->kernel[again.kernel].name);
    x->after = kernel_text(l, again.kernel, a);
    if (v->site.loops[0])
        x->loops = arena_strdup(a, v->site.loops);
}

int explain_find(struct checker *ck, const struct trial *t, const struct check_opts *o,
                 const struct verdict *v, const struct cause *cause, struct arena *a,
                 struct explanation *x, struct err *e)
{
    struct probe p;
    struct lprog *l;
    struct lower_opts lo = LOWER_OPTS_DEFAULT;
    struct str s = { 0 };

    *x = (struct explanation){ .cause = *cause, .verdict = *v };
    if (blackbox_find(v->backend)) {
        element_text(t, v, a, x);
        blackbox_explain(cause, t, a, x);
        return 0;
    }
    lo.fault = o->fault;
    lo.target = cause_target(v->backend);
    if (lower(t, &lo, a, &l, e))
        return e->code;
    probe_open(&p, ck, o);
    p.exact = v->exact;
    p.target = lo.target;
    probe_trial(&p, t, v->algebra);
    run_begin(&ck->env);
    if (cause->step >= 0 && cause->step < t->n_step) {
        step_print(&t->prog, &t->step[cause->step], &s);
        x->step = str_keep(&s, a);
    }
    element_text(t, v, a, x);
    if (race_is(v->kind) && cause->number == 0)
        describe_race(&p, a, x);
    else if (cause->number > 0)
        describe_rewrite(&p, a, x);
    else
        describe_whole(&p, a, x);
    if (v->kind == VK_OUT_OF_BOUNDS && x->n_site == 0 && v->site.buffer[0])
        add_site(&v->site, a, x);
    element_loops(l, a, x);
    explain_value(&p, a, x);
    probe_close(&p);
    return 0;
}
