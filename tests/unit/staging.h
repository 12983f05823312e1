/* What the tests of stages share: loops run by the interpreter against the naive kernels. */
#ifndef TESTS_STAGING_H
#define TESTS_STAGING_H

#include "reading.h"

#include <stdio.h>
#include <string.h>

#include "lower/lower.h"
#include "run/interp.h"

static struct run_env env;
static struct arena arena;

static inline struct trial *parse(const char *body)
{
    return read_good(arena_printf(&arena, "tilefuzz 1\n%s", body), &arena);
}

static inline struct lprog *lowered(const struct trial *t, enum fault fault, int stop)
{
    struct lower_opts o = LOWER_OPTS_DEFAULT;
    struct lprog *l;
    struct err e = { 0 };

    o.fault = fault;
    o.stop_after = stop;
    if (lower(t, &o, &arena, &l, &e))
        fail_msg("line %d: %s", e.line, e.msg);
    return l;
}

static inline size_t out_bytes(const struct lprog *l)
{
    for (int i = 0; i < l->n_buffer; i++)
        if (l->buffer[i].kind == BUF_OUTPUT && l->buffer[i].slot == 0)
            return (size_t)(l->buffer[i].elems * dtype_info(l->buffer[i].dt)->bytes);
    fail_msg("no output");
    return 0;
}

/* What the naive kernels of the trial give in ring. */
static inline void *reference(const struct trial *t, size_t *bytes)
{
    struct lprog *l = lowered(t, FAULT_none, 0);
    struct outcome o;
    void *want;

    run_begin(&env);
    interp_run(&env, l, AL_RING, &o);
    assert_int_equal(o.status, OUT_RAN);
    *bytes = out_bytes(l);
    want = arena_alloc(&arena, *bytes, 16);
    memcpy(want, o.out[0], *bytes);
    return want;
}

static inline bool right(const struct lprog *l, const void *want, size_t bytes)
{
    struct outcome o;

    run_begin(&env);
    env.step_limit = (int64_t)1 << 26;
    interp_run(&env, l, AL_RING, &o);
    return o.status == OUT_RAN && memcmp(o.out[0], want, bytes) == 0;
}

static inline bool has_rule(const struct lprog *l, const char *rule)
{
    for (int i = 0; i < l->n_log; i++)
        if (strcmp(l->log[i].rule, rule) == 0)
            return true;
    return false;
}

static inline int setup(void **state)
{
    (void)state;
    arena_init(&arena);
    return run_env_open(&env) ? 0 : 1;
}

static inline int teardown(void **state)
{
    (void)state;
    arena_release(&arena);
    run_env_close(&env);
    return 0;
}

#define MM(m, n, k)                                                                            \
    "input x f32 [" #m "," #k "]\ninput y f32 [" #k "," #n "]\nm = matmul x y\noutput m\n"     \
    "schedule\n"
#define MH(m, n, k)                                                                            \
    "input x f16 [" #m "," #k "]\ninput y f16 [" #k "," #n "]\nm = matmul x y\noutput m\n"     \
    "schedule\n"
#define BOTH(how) "stage m.a m.r0.0" how "\nstage m.b m.r0.0" how "\n"

#endif
