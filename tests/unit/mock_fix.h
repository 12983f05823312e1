/* Backend cuda with a driver that plays a device (tests/mock), and one trial for it. */
#ifndef TESTS_MOCK_FIX_H
#define TESTS_MOCK_FIX_H

#include "testing.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bug.h"
#include "ir/text.h"
#include "lower/lower.h"
#include "run/cuda/client.h"
#include "run/cuda/cuda.h"
#include "run/cuda/driver.h"
#include "tests/mock/mock_cuda.h"

/* y = x + x; the text is no more than a key here: mock_add is what runs */
static const char trial_text[] = "tilefuzz 1\n"
                                 "input x f32 [5]\n"
                                 "y = add x x\n"
                                 "output y\n";
static const char kernel_text[] = "TF_KERNEL(y)(float *x)\n{\n    x[0] = 1.0f;\n}\n";

struct fix {
    struct run_env env;
    struct arena a;
    struct trial *t;
    struct lprog *l;
    struct prepared p;
    struct outcome o;
};

static struct fix fix;
static struct mock *mock;

static inline float *storage(void *const *p, enum buffer_kind kind)
{
    for (int i = 0; i < fix.l->n_buffer; i++)
        if (fix.l->buffer[i].kind == kind)
            return p[i];
    abort();
}

static inline void mock_add(const char *name, void **parameter, unsigned blocks,
                            unsigned threads)
{
    void *const *p = parameter[0];
    const float *x = storage(p, BUF_INPUT);
    float *y = storage(p, BUF_OUTPUT);

    (void)blocks, (void)threads;
    for (int i = 0; i < 5 && !strcmp(name, "tf_ieee_y"); i++)
        y[i] = x[i] + x[i];
}

static inline int setup(void **state)
{
    struct lower_opts lo = LOWER_OPTS_DEFAULT;
    struct err e = { 0 };

    (void)state;
    lo.target = TARGET_GPU;
    arena_init(&fix.a);
    if (!run_env_open(&fix.env) ||
        trial_parse(trial_text, strlen(trial_text), &fix.a, &fix.t, &e) ||
        trial_check(fix.t, &e) || lower(fix.t, &lo, &fix.a, &fix.l, &e))
        return 1;
    return 0;
}

static inline int teardown(void **state)
{
    (void)state;
    cuda_close();
    run_env_close(&fix.env);
    arena_release(&fix.a);
    return 0;
}

static inline void calm(void)
{
    mock->fail[0] = mock->hang[0] = mock->die[0] = '\0';
    mock->skip = 0;
    mock->times = -1;
    mock->kernel = mock_add;
    mock->nvrtc_log = NULL;
}

static inline void let_fail(const char *call, int rc, int times)
{
    snprintf(mock->fail, sizeof mock->fail, "%s", call);
    mock->rc = rc;
    mock->times = times;
}

static inline int each(void **state)
{
    (void)state;
    cuda_close();
    calm();
    return 0;
}

static inline bool prepare(void)
{
    run_begin(&fix.env);
    return be_cuda.prepare(&fix.env, fix.l, kernel_text, &fix.p, &fix.o) == 0;
}

/* Prepares, runs once in ieee, releases; o says. */
static inline void once(void)
{
    if (!prepare())
        return;
    be_cuda.run(&fix.env, &fix.p, AL_IEEE, &fix.o);
    be_cuda.release(&fix.p);
}

static inline void expect_right(void)
{
    const float *y, *x;

    once();
    if (fix.o.status != OUT_RAN)
        fail_msg("%s", fix.o.detail);
    assert_false(fix.o.input_changed);
    assert_false(fix.o.margin_broken);
    assert_int_equal(fix.o.n_out, 1);
    y = fix.o.out[0];
    x = (const float *)(const void *)fix.env.pristine.data[AL_IEEE];
    for (int i = 0; i < 5; i++)
        assert_true(y[i] == x[i] + x[i]);
}

static inline void expect_nothing_held(void)
{
    cuda_close();
    assert_int_equal(mock->contexts, 0);
    assert_int_equal(mock->modules, 0);
    assert_int_equal(mock->allocations, 0);
    assert_int_equal(mock->streams, 0);
    assert_int_equal(mock->events, 0);
    assert_int_equal(mock->graphs, 0);
}

/* Finds the mock in the shared object that the arguments name; not 0 if there is none. */
static inline int mock_open(int argc, char **argv)
{
    struct mock *(*state)(void);
    void *so, *sym;

    if (argc < 2) {
        fprintf(stderr, "usage: %s MOCK-DRIVER.so\n", argv[0]);
        return 2;
    }
    setenv("TILEFUZZ_CUDA_DRIVER", argv[1], 1);
    setenv("TILEFUZZ_NVRTC", argv[1], 1);
    so = dlopen(argv[1], RTLD_NOW);
    sym = so ? dlsym(so, "mock_state") : NULL;
    if (!sym) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    memcpy(&state, &sym, sizeof sym);
    mock = state();
    return 0;
}

#endif
