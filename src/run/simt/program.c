#include "run/simt/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "emit/cgen.h"

const char *simt_work_entry(enum algebra al)
{
    return al == AL_RING ? "tf_ring_call" : "tf_ieee_call";
}

/* The prelude calls a kernel by its algebra's name and its own. */
static void put_entry(const struct simt_work *w, enum algebra al, struct str *s)
{
    str_add(s, "void %s(int kernel)\n{\n    switch (kernel) {\n", simt_work_entry(al));
    for (int i = 0; i < w->n_kernel; i++)
        str_add(s, "    case %d:\n        %s_%s();\n        break;\n", i, algebra_name(al),
                cgen_kernel_name(w->l, w->kernel[i]));
    str_puts(s, "    }\n}\n");
}

static void put_text(struct simt_work *w, const char *text)
{
    for (int al = 0; al < AL_COUNT; al++) {
        if (al)
            emit_cuda_prelude_end(CUDA_SIMT, text, &w->text);
        emit_cuda_prelude((enum algebra)al, CUDA_SIMT, text, &w->text);
        str_puts(&w->text, text);
        put_entry(w, (enum algebra)al, &w->text);
    }
}

static void *array_of(int n, size_t size)
{
    return must(calloc((size_t)n + 1, size));
}

static bool stores(enum site_kind k)
{
    return k == SITE_STORE || k == SITE_ASYNC || k == SITE_ATOMIC || k == SITE_RELEASE;
}

static int number_of(const struct simt_work *w, int kernel)
{
    for (int i = 0; i < w->n_kernel; i++)
        if (w->kernel[i] == kernel)
            return i;
    return -1;
}

void simt_work_make(struct simt_work *w, const struct lprog *l, const char *text,
                    const struct emit_sites *sites)
{
    struct str own = { 0 };

    *w = (struct simt_work){ .l = l };
    if (text && sites)
        w->sites = *sites;
    else
        emit_cuda(l, &own, &w->sites);
    w->kernel = array_of(l->n_kernel, sizeof *w->kernel);
    w->shape = array_of(l->n_kernel, sizeof *w->shape);
    w->array = array_of(l->n_buffer, sizeof *w->array);
    w->site = array_of(w->sites.n, sizeof *w->site);
    for (int k = 0; k < l->n_kernel; k++) {
        if (l->kernel[k].dead)
            continue;
        w->shape[w->n_kernel] =
            (struct simt_kernel){ kernel_blocks(l, &l->kernel[k]),
                                  kernel_threads(l, &l->kernel[k]), kernel_smem(l, k) };
        w->kernel[w->n_kernel++] = k;
    }
    for (int i = 0; i < w->sites.n; i++) {
        const struct emit_site *s = &w->sites.row[i];

        w->site[i] = (struct simt_site){ s->buffer, number_of(w, s->kernel), stores(s->kind) };
    }
    put_text(w, text ? text : str_get(&own));
    str_release(&own);
}

void simt_work_free(struct simt_work *w)
{
    free(w->kernel);
    free(w->shape);
    free(w->array);
    free(w->site);
    str_release(&w->text);
    *w = (struct simt_work){ 0 };
}

struct simt_program simt_work_program(struct simt_work *w, const struct run_env *env,
                                      void (*call)(int kernel))
{
    const struct lprog *l = w->l;

    for (int i = 0; i < l->n_buffer; i++) {
        const struct buffer *b = &l->buffer[i];
        struct simt_array *a = &w->array[i];
        bool planned = buffer_planned(b);

        *a = (struct simt_array){ .elems = b->elems, .size = dtype_info(b->dt)->bytes };
        if (b->kind == BUF_SHARED) {
            a->shared = true;
            a->memory = number_of(w, b->kernel);
            a->at = b->smem_at < 0 ? 0 : b->smem_at;
            continue;
        }
        a->memory = planned ? 0 : i + 1; /* 0 is the arena */
        a->at = planned ? b->arena_at : 0;
        a->base = env->buf[i].p + a->at;
        a->input = b->kind == BUF_INPUT;
    }
    return (struct simt_program){ w->array, l->n_buffer, w->site, w->sites.n,
                                  w->shape, w->n_kernel, call };
}

/* ---- reports */

static void add_loop(struct site *s, const char *name, int64_t value)
{
    size_t n = strlen(s->loops);

    snprintf(s->loops + n, sizeof s->loops - n, "%s%s=%lld", n ? " " : "", name,
             (long long)value);
}

/* The block's and thread's digits, the first loop the slowest. */
static void add_digits(const struct lprog *l, const struct kernel *k, struct site *s)
{
    int64_t blocks = kernel_blocks(l, k), threads = kernel_threads(l, k);
    int body = kernel_body(k);

    for (int i = 0; i < body; i++) {
        const struct lvar *v = &l->var[k->st[i].var];
        bool block = k->st[i].loop == LOOP_BLOCK;
        int64_t *rest = block ? &blocks : &threads;

        if (v->extent < 1)
            return;
        *rest /= v->extent;
        add_loop(s, v->name, (block ? s->block : s->thread) / *rest % v->extent);
    }
}

/* Those of the loops that stand round the statement. */
static void add_loops(const struct simt_work *w, const struct emit_site *at,
                      const struct simt_loops *loops, struct site *s)
{
    const struct kernel *k = &w->l->kernel[at->kernel];

    for (int i = 0; loops && i < loops->n; i++) {
        const struct emit_site *x = &w->sites.row[loops->v[i].site];

        if (x->kernel == at->kernel && x->var >= 0 && x->stmt <= at->stmt &&
            stmt_end(k, x->stmt) >= at->stmt)
            add_loop(s, w->l->var[x->var].name, loops->v[i].value);
    }
}

static void fill_site(const struct simt_work *w, const struct simt_place *p,
                      const struct simt_loops *loops, struct site *s)
{
    const struct emit_site *at;
    const struct buffer *b;

    if (p->site < 0 || p->site >= w->sites.n)
        return;
    at = &w->sites.row[p->site];
    b = at->buffer >= 0 ? &w->l->buffer[at->buffer] : NULL;
    snprintf(s->kernel, sizeof s->kernel, "%s", w->l->kernel[at->kernel].name);
    if (b)
        snprintf(s->buffer, sizeof s->buffer, "%s", b->name);
    s->index = p->index;
    s->size = b ? b->elems : 0;
    s->store = p->store;
    s->kernel_no = at->kernel;
    s->stmt = at->stmt;
    s->block = p->block;
    s->thread = p->thread;
    if (p->block >= 0 && p->thread >= 0)
        add_digits(w->l, &w->l->kernel[at->kernel], s);
    add_loops(w, at, loops, s);
}

void simt_work_outcome(const struct simt_work *w, const struct simt_result *r,
                       const struct simt_trace *trace, struct outcome *o)
{
    static const enum outcome_status status[SIMT_CLASSES] = {
        [SIMT_NONE] = OUT_RAN,
        [SIMT_RACE] = OUT_RACE,
        [SIMT_UNINIT] = OUT_UNINIT,
        [SIMT_STALE] = OUT_STALE,
        [SIMT_BOUNDS] = OUT_OUT_OF_BOUNDS,
        [SIMT_DIVERGENCE] = OUT_DIVERGENCE,
        [SIMT_DEADLOCK] = OUT_DEADLOCK,
    };
    const struct simt_report *f = &r->first;
    int64_t all = 0;

    if (!f->class)
        return;
    for (int c = 0; c < SIMT_CLASSES; c++)
        all += r->count[c];
    o->status = status[f->class];
    fill_site(w, &f->at, trace ? &trace->at : NULL, &o->site);
    fill_site(w, &f->other, trace ? &trace->other : NULL, &o->other);
    snprintf(o->rule, sizeof o->rule, "%s", f->rule);
    snprintf(o->detail, sizeof o->detail, "%s: %s; %lld reports in all", f->rule, f->detail,
             (long long)all);
}
