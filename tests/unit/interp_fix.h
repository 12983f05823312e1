/* What the tests of the interpreter share: a run environment and one program. */
#ifndef TESTS_INTERP_FIX_H
#define TESTS_INTERP_FIX_H

#include "reading.h"

#include <string.h>

#include "lower/passes.h"
#include "run/interp.h"
#include "run/interp_half.h"

struct fix {
    struct run_env env;
    struct arena a;
    struct trial *t;
    struct lprog l;
    struct outcome o;
};

static inline int setup(void **state)
{
    static struct fix f;

    if (!run_env_open(&f.env))
        return 1;
    arena_init(&f.a);
    *state = &f;
    return 0;
}

static inline int teardown(void **state)
{
    struct fix *f = *state;

    run_env_close(&f->env);
    arena_release(&f->a);
    return 0;
}

static inline void start(struct fix *f, struct trial *t)
{
    run_begin(&f->env);
    f->env.step_limit = 1 << 22;
    f->t = t;
    f->l =
        (struct lprog){ .arena = &f->a, .trial = t, .prog = &t->prog, .stop_after = INT32_MAX };
    ixs_init(&f->l.ix, &f->a);
}

/* A trial of text, lowered by pass build alone. */
static inline void build(struct fix *f, const char *text)
{
    struct err e = { 0 };

    arena_reset(&f->a);
    start(f, read_good(text, &f->a));
    assert_int_equal(pass_build(&f->l, &e), 0);
}

static inline const uint32_t *run(struct fix *f, enum algebra al)
{
    interp_run(&f->env, &f->l, al, &f->o);
    assert_int_equal(f->o.status, OUT_RAN);
    return f->o.out[0];
}

/* An ieee element as a number. */
static inline double number(enum dtype dt, uint64_t bits)
{
    float x;
    double d;

    if (dt == DT_F16)
        return (double)f16_value((uint16_t)bits);
    if (dt == DT_BF16)
        return (double)bf16_value((uint16_t)bits);
    if (dt == DT_I32)
        return (int32_t)bits;
    if (dt == DT_BOOL)
        return (double)bits;
    if (dt == DT_F32) {
        memcpy(&x, &bits, 4);
        return (double)x;
    }
    memcpy(&d, &bits, 8);
    return d;
}

#endif
