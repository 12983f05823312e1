#include "fuzz/check/fake.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"

static const char *fake_version(void)
{
    return "0";
}

static int fake_prepare(struct run_env *env, const struct lprog *l, const char *text,
                        struct prepared *p, struct outcome *o)
{
    (void)env;
    (void)o;
    *p = (struct prepared){ .l = l, .text = text };
    return 0;
}

static void fake_release(struct prepared *p)
{
    (void)p;
}

/* Calls fill on every element of every output, in the place where it is stored. */
static void fill_outputs(struct run_env *env, const struct prepared *p, enum algebra al,
                         struct outcome *o,
                         void (*fill)(enum dtype dt, enum algebra al, unsigned char *dst))
{
    const struct prog *g = p->l->prog;
    struct err e = { 0 };

    *o = (struct outcome){ .algebra = al };
    if (run_place(env, p->l, al, &e))
        BUG("no room for a trial: %s", e.msg);
    run_collect(env, p->l, al, o);
    for (int k = 0; k < g->n_out && fill; k++) {
        const struct node *n = &g->node[g->out[k].node];
        struct layout l = layout_of(&g->out[k].layout, &n->sh);
        int64_t count = shape_count(&n->sh);
        int bytes = dtype_info(n->dt)->bytes;

        for (int64_t i = 0; i < count; i++)
            fill(n->dt, al, (unsigned char *)o->out[k] + layout_at(&l, &n->sh, i) * bytes);
    }
}

static void fill_zero(enum dtype dt, enum algebra al, unsigned char *dst)
{
    (void)al;
    memset(dst, 0, (size_t)dtype_info(dt)->bytes);
}

static void fill_one(enum dtype dt, enum algebra al, unsigned char *dst)
{
    const double wide = 1;
    const float one = 1;
    const uint64_t word = 1; /* little-endian: any shorter integer is its start */
    const uint16_t half = dt == DT_F16 ? 0x3c00 : 0x3f80;
    const void *from = &word;

    if (al == AL_IEEE && dtype_info(dt)->class == DTC_FLOAT)
        from = dt == DT_F64 ? &wide : dt == DT_F32 ? (const void *)&one : &half;
    memcpy(dst, from, (size_t)dtype_info(dt)->bytes);
}

static void zeros_run(struct run_env *env, struct prepared *p, enum algebra al,
                      struct outcome *o)
{
    fill_outputs(env, p, al, o, fill_zero);
}

static void ones_run(struct run_env *env, struct prepared *p, enum algebra al,
                     struct outcome *o)
{
    fill_outputs(env, p, al, o, fill_one);
}

static void untouched_run(struct run_env *env, struct prepared *p, enum algebra al,
                          struct outcome *o)
{
    fill_outputs(env, p, al, o, NULL);
}

/* What copy and stale read from: bytes, repeated as often as needed. */
static struct {
    unsigned char *p;
    size_t n, at;
} source;

static void fill_source(enum dtype dt, enum algebra al, unsigned char *dst)
{
    int bytes = dtype_info(dt)->bytes;

    (void)al;
    for (int i = 0; i < bytes; i++)
        dst[i] = source.n ? source.p[source.at++ % source.n] : 0;
    if (dt == DT_BOOL)
        *dst &= 1;
}

static const struct slab_buf *first_input(const struct run_env *env, const struct lprog *l)
{
    for (int i = 0; i < l->n_buffer; i++)
        if (l->buffer[i].kind == BUF_INPUT && env->buf[i].bytes)
            return &env->buf[i];
    return NULL;
}

static void copy_run(struct run_env *env, struct prepared *p, enum algebra al,
                     struct outcome *o)
{
    const struct slab_buf *in;

    fill_outputs(env, p, al, o, NULL);
    in = first_input(env, p->l);
    source.n = source.at = 0;
    if (in) {
        source.p = must(realloc(source.p, in->bytes));
        memcpy(source.p, in->p, in->bytes);
        source.n = in->bytes;
    }
    fill_outputs(env, p, al, o, fill_source);
}

static void stale_run(struct run_env *env, struct prepared *p, enum algebra al,
                      struct outcome *o)
{
    static unsigned char *last;
    static size_t n_last;
    const struct slab_buf *in;

    source.p = must(realloc(source.p, n_last + 1));
    if (n_last)
        memcpy(source.p, last, n_last);
    source.n = n_last;
    source.at = 0;
    fill_outputs(env, p, al, o, fill_source);
    in = first_input(env, p->l);
    if (!in)
        return;
    n_last = in->bytes;
    last = must(realloc(last, n_last + 1));
    memcpy(last, in->p, n_last);
}

static void flip_run(struct run_env *env, struct prepared *p, enum algebra al,
                     struct outcome *o)
{
    const struct prog *g = p->l->prog;

    backend_find("interp")->run(env, p, al, o);
    for (int k = 0; k < g->n_out && o->status == OUT_RAN; k++) {
        const struct node *n = &g->node[g->out[k].node];
        struct layout l = layout_of(&g->out[k].layout, &n->sh);

        if (!shape_count(&n->sh))
            continue;
        ((unsigned char *)o->out[k])[l.offset * dtype_info(n->dt)->bytes] ^= 1;
        return;
    }
}

static int flip_prepare(struct run_env *env, const struct lprog *l, const char *text,
                        struct prepared *p, struct outcome *o)
{
    return backend_find("interp")->prepare(env, l, text, p, o);
}

#define NULL_BACKEND(id)                                                                       \
    static const struct backend be_##id = {                                                    \
        .name = #id,                                                                           \
        .help = "wrong on purpose",                                                            \
        .group = "compiled",                                                                   \
        .runs = 1,                                                                             \
        .version = fake_version,                                                               \
        .prepare = fake_prepare,                                                               \
        .run = id##_run,                                                                       \
        .release = fake_release,                                                               \
    }

NULL_BACKEND(zeros);
NULL_BACKEND(ones);
NULL_BACKEND(copy);
NULL_BACKEND(untouched);
NULL_BACKEND(stale);

const struct backend *const null_backends[] = { &be_zeros, &be_ones, &be_copy, &be_untouched,
                                                &be_stale };
const int n_null_backends = ARRAY_LEN(null_backends);

const struct backend be_flip = {
    .name = "flip",
    .help = "one bit wrong",
    .group = "interp",
    .runs = 1,
    .version = fake_version,
    .prepare = flip_prepare,
    .run = flip_run,
    .release = fake_release,
};
