#include "fuzz/explain/differ_inner.h"

#include <inttypes.h>
#include <string.h>

#include "fuzz/explain/access.h"
#include "fuzz/explain/fit.h"

static bool same_leaf(const struct leaf *x, const struct leaf *y)
{
    if (x->guarded || y->guarded)
        return x->guarded == y->guarded;
    return x->index == y->index && !strcmp(buffer_text(x->buf), buffer_text(y->buf));
}

static bool has(const struct leaves *l, const struct leaf *x)
{
    for (int i = 0; i < l->n; i++)
        if (same_leaf(&l->v[i], x))
            return true;
    return x->guarded;
}

/* The first load of x that y lacks; guards that only add a fill don't count. */
static const struct leaf *lacking(const struct leaves *x, const struct leaves *y)
{
    for (int i = 0; i < x->n; i++)
        if (!has(y, &x->v[i]))
            return &x->v[i];
    return NULL;
}

const struct leaf *differ_keep(struct differ *d, const struct leaf *f)
{
    struct leaf *k;

    if (!f)
        return NULL;
    k = arena_new(d->a, struct leaf);
    *k = *f;
    return k;
}

static void element_leaves(struct differ *d, int64_t e)
{
    side_leaves(&d->after, d->ka, e, &d->la);
    side_leaves(&d->before, d->kb, e, &d->lb);
}

/* Do the loads behind element e differ, as sets? Then notes the first that do. */
static bool loads_differ(struct differ *d, int64_t e)
{
    const struct leaf *extra, *missing;

    element_leaves(d, e);
    extra = lacking(&d->la, &d->lb);
    missing = lacking(&d->lb, &d->la);
    if (!extra && !missing)
        return false;
    d->element = e;
    if (d->la.n == d->lb.n) {
        int i = 0;

        while (i + 1 < d->la.n && same_leaf(&d->la.v[i], &d->lb.v[i]))
            i++;
        extra = &d->la.v[i];
        missing = &d->lb.v[i];
    }
    d->fa = differ_keep(d, extra);
    d->fb = differ_keep(d, missing);
    return true;
}

/* --- the expression used and the one wanted, fitted --- */

static void point_add(struct differ *d, struct points *p, const struct leaf *a,
                      const struct leaf *b)
{
    const struct loops *l = &a->rec->loops;

    if (p->n == 0) {
        p->m = l->n < VARS_MAX ? l->n : VARS_MAX;
        for (int j = 0; j < p->m; j++)
            p->name[j] = d->after.l->var[l->var[j]].name;
        p->wanted_buf = buffer_text(b->buf);
    }
    if (p->n == POINTS_MAX || l->n != p->m)
        return;
    for (int j = 0; j < p->m; j++)
        p->x[(int64_t)p->n * p->m + j] = l->at[j];
    p->used[p->n] = a->index;
    p->wanted[p->n++] = b->index;
    p->mixed |= strcmp(p->wanted_buf, buffer_text(b->buf)) != 0;
}

/* Every iteration of the load that differs first, with what it should have read. */
static void points_gather(struct differ *d, struct points *p)
{
    const struct ktrace *k = side_kernel(&d->after, d->ka);
    int64_t elems = d->after.l->buffer[k->buffer].elems;

    *p = (struct points){ 0 };
    p->x = arena_array(d->a, int64_t, (int64_t)POINTS_MAX * d->fa->rec->loops.n + 1);
    p->used = arena_array(d->a, int64_t, POINTS_MAX);
    p->wanted = arena_array(d->a, int64_t, POINTS_MAX);
    for (int64_t e = 0; e < elems; e++) {
        if (k->first[e] < 0)
            continue;
        element_leaves(d, e);
        for (int i = 0; i < d->la.n && d->la.n == d->lb.n; i++) {
            const struct leaf *a = &d->la.v[i], *b = &d->lb.v[i];

            if (a->kernel == d->fa->kernel && a->rec->stmt == d->fa->rec->stmt &&
                a->rec->leaf == d->fa->rec->leaf && !a->guarded && !b->guarded)
                point_add(d, p, a, b);
        }
    }
}

const char *differ_fitted(struct differ *d, const struct points *p, const char *buf,
                          const int64_t *y)
{
    int64_t c[VARS_MAX + 1];
    struct str s = { 0 };

    if (!fit_affine(p->m, p->n, p->x, y, c))
        return NULL;
    str_add(&s, "%s[", buf);
    fit_print(p->m, c, p->name, &s);
    str_puts(&s, "]");
    return str_keep(&s, d->a);
}

const char *differ_number(struct differ *d, const struct leaf *f)
{
    if (f->guarded)
        return "the fill of a pad";
    return arena_printf(d->a, "%s[%" PRId64 "]", buffer_text(f->buf), f->index);
}

/* The access itself, where its text is true of every iteration: what pass compose would make
 * of a view stack is the view algebra's word, not the interpreter's. Else the number. */
static const char *checked_text(struct differ *d, const struct leaf *f)
{
    if (f->kernel == d->kb && access_true(d->before.l, f->rec->access, &d->before.k[d->kb].tr))
        return access_text(d->before.l, f->rec->access, d->a);
    return differ_number(d, f);
}

/* Both sides load: expressions, or numbers where none fits. */
static void describe_pair(struct differ *d)
{
    struct index_diff *o = d->out;
    struct points p;

    if (d->fa->guarded != d->fb->guarded) {
        o->got = access_text(d->after.l, d->fa->rec->access, d->a);
        o->want = access_text(d->before.l, d->fb->rec->access, d->a);
        o->note = arena_printf(d->a, "the guard differs: %s is read there instead of %s",
                               differ_number(d, d->fa), differ_number(d, d->fb));
        return;
    }
    points_gather(d, &p);
    o->got = differ_fitted(d, &p, buffer_text(d->fa->buf), p.used);
    o->want = p.mixed ? NULL : differ_fitted(d, &p, buffer_text(d->fb->buf), p.wanted);
    if (!o->got)
        o->got = access_text(d->after.l, d->fa->rec->access, d->a);
    if (!o->want)
        o->want = checked_text(d, d->fb);
    o->note = arena_printf(d->a, "it reads %s there, and should read %s",
                           differ_number(d, d->fa), differ_number(d, d->fb));
}

const char *differ_stored(struct differ *d)
{
    const struct ktrace *k = side_kernel(&d->after, d->ka);

    return arena_printf(d->a, "%s[%" PRId64 "]", d->after.l->buffer[k->buffer].name,
                        d->element);
}

static void describe_loads(struct differ *d)
{
    struct index_diff *o = d->out;

    if (d->fa)
        o->loops = loops_text(d->after.l, &d->fa->rec->loops, d->a);
    if (d->fa && d->fb) {
        describe_pair(d);
    } else if (d->fa) {
        o->got = access_text(d->after.l, d->fa->rec->access, d->a);
        o->note = arena_printf(d->a, "for %s it reads %s, which it did not before",
                               differ_stored(d), differ_number(d, d->fa));
    } else {
        o->want = access_text(d->before.l, d->fb->rec->access, d->a);
        o->note = arena_printf(d->a, "for %s it does not read %s any more", differ_stored(d),
                               differ_number(d, d->fb));
    }
}

/* --- which kernels --- */

/* A kernel that fills a workspace is looked at from the kernel that reads it. */
static bool choose_kernels(struct differ *d, int kernel)
{
    const struct lprog *l = d->after.l;
    int buf, there;

    if (kernel < 0 || kernel >= l->n_kernel || l->kernel[kernel].dead)
        return false;
    d->ka = d->kernel = kernel;
    buf = side_kernel(&d->after, d->ka)->buffer;
    if (buf < 0)
        return false;
    there = buffer_find(d->before.l, &l->buffer[buf]);
    if (there < 0) {
        side_note_loads(&d->after, d->ka);
        d->ka = buffer_reader(l, buf);
        if (d->ka < 0)
            return false;
        buf = side_kernel(&d->after, d->ka)->buffer;
        there = buf < 0 ? -1 : buffer_find(d->before.l, &l->buffer[buf]);
    }
    d->kb = there < 0 ? -1 : buffer_writer(d->before.l, there);
    if (d->kb < 0)
        return false;
    side_note_loads(&d->after, d->ka);
    for (int i = 0; i < d->before.l->n_buffer; i++)
        d->before.loads[i] = true;
    d->before.other = &d->after;
    d->after.other = &d->before;
    side_kernel(&d->before, d->kb);
    return true;
}

void index_differ(const struct lprog *before, const struct lprog *after, int kernel,
                  struct arena *a, struct index_diff *out)
{
    struct differ d = { .a = a, .out = out };
    const struct ktrace *k;

    *out = (struct index_diff){ 0 };
    side_init(&d.before, before, a);
    side_init(&d.after, after, a);
    if (!choose_kernels(&d, kernel) || d.before.truncated || d.after.truncated)
        return;
    k = side_kernel(&d.after, d.ka);
    for (int64_t e = 0; e < after->buffer[k->buffer].elems && !out->changed; e++)
        out->changed =
            k->first[e] >= 0 && d.before.k[d.kb].first[e] >= 0 && loads_differ(&d, e);
    if (out->changed)
        describe_loads(&d);
    else
        out->changed = differ_stores(&d) || differ_wild(&d);
}
