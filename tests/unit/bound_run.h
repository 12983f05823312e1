/* Runs hand-built bound kernels, written out, in everything that there is. */
#ifndef TESTS_BOUND_RUN_H
#define TESTS_BOUND_RUN_H

#include "bound.h"

#include "emit/emit.h"
#include "lower/serial.h"

static inline int64_t stored(struct fix *f, enum algebra al, const void *out, int i)
{
    uint32_t word = ((const uint32_t *)out)[i];

    (void)f;
    return al == AL_RING ? (int32_t)word : (int64_t)number(DT_F32, word);
}

static inline void compare(struct fix *f, const char *who, enum algebra al, const void *out,
                           int64_t (*want)(int i))
{
    for (int i = 0; i < N; i++)
        if (stored(f, al, out, i) != want(i))
            fail_msg("%s: z[%d] is %lld, should be %lld", who, i,
                     (long long)stored(f, al, out, i), (long long)want(i));
}

static inline void checked(struct fix *f)
{
    struct err e = { 0 };

    if (loop_check(&f->l, &e))
        fail_msg("%s", e.msg);
}

static inline void compiled(struct fix *f, int64_t (*want)(int i))
{
    const struct backend *tcc = backend_find("tcc");
    struct str text = { 0 };
    struct prepared p;

    emit_c(&f->l, &text);
    if (tcc->prepare(&f->env, &f->l, str_get(&text), &p, &f->o))
        fail_msg("%s\n%s", f->o.detail, str_get(&text));
    for (enum algebra al = 0; al < AL_COUNT; al++) {
        tcc->run(&f->env, &p, al, &f->o);
        assert_int_equal(f->o.status, OUT_RAN);
        compare(f, "tcc", al, f->o.out[0], want);
    }
    tcc->release(&p);
    str_release(&text);
}

/* Writes the bound kernels out; z must hold these numbers whoever runs them, in either algebra.
 */
static inline void gives(struct fix *f, int64_t (*want)(int i))
{
    checked(f);
    lower_serial(&f->l);
    checked(f);
    for (enum algebra al = 0; al < AL_COUNT; al++) {
        struct trace t;

        interp_run(&f->env, &f->l, al, &f->o);
        if (f->o.status == OUT_OUT_OF_BOUNDS)
            fail_msg("%s[%lld] at %s", f->o.site.buffer, (long long)f->o.site.index,
                     f->o.site.loops);
        assert_int_equal(f->o.status, OUT_RAN);
        compare(f, "interp", al, f->o.out[0], want);
        interp_trace(&f->l, 0, &t, &f->a);
        assert_int_equal(t.ended.status, OUT_RAN);
    }
    compiled(f, want);
}

#endif
