/*
 * Backend cuda against a driver that plays a device (tests/mock): what a run copies and
 * launches, margins and inputs, each call of the driver failing in turn, a device that is
 * lost, hangs or was never there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bug.h"
#include "ir/data.h"
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

static float *storage(void *const *p, enum buffer_kind kind)
{
    for (int i = 0; i < fix.l->n_buffer; i++)
        if (fix.l->buffer[i].kind == kind)
            return p[i];
    abort();
}

static void mock_add(const char *name, void **parameter, unsigned blocks, unsigned threads)
{
    void *const *p = parameter[0];
    const float *x = storage(p, BUF_INPUT);
    float *y = storage(p, BUF_OUTPUT);

    (void)blocks, (void)threads;
    for (int i = 0; i < 5 && !strcmp(name, "tf_ieee_y"); i++)
        y[i] = x[i] + x[i];
}

static void mock_beyond(const char *name, void **parameter, unsigned blocks, unsigned threads)
{
    mock_add(name, parameter, blocks, threads);
    storage(parameter[0], BUF_OUTPUT)[5] = 1.0f;
}

static void mock_before(const char *name, void **parameter, unsigned blocks, unsigned threads)
{
    mock_add(name, parameter, blocks, threads);
    storage(parameter[0], BUF_INPUT)[-1] = 1.0f;
}

static void mock_into_input(const char *name, void **parameter, unsigned blocks,
                            unsigned threads)
{
    mock_add(name, parameter, blocks, threads);
    storage(parameter[0], BUF_INPUT)[2] += 1.0f;
}

static int setup(void **state)
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

static int teardown(void **state)
{
    (void)state;
    cuda_close();
    run_env_close(&fix.env);
    arena_release(&fix.a);
    return 0;
}

static void calm(void)
{
    mock->fail[0] = mock->hang[0] = mock->die[0] = '\0';
    mock->skip = 0;
    mock->times = -1;
    mock->kernel = mock_add;
    mock->nvrtc_log = NULL;
}

static void let_fail(const char *call, int rc, int times)
{
    snprintf(mock->fail, sizeof mock->fail, "%s", call);
    mock->rc = rc;
    mock->times = times;
}

static int each(void **state)
{
    (void)state;
    cuda_close();
    calm();
    return 0;
}

static bool prepare(void)
{
    run_begin(&fix.env);
    return be_cuda.prepare(&fix.env, fix.l, kernel_text, &fix.p, &fix.o) == 0;
}

/* Prepares, runs once in ieee, releases; o says. */
static void once(void)
{
    if (!prepare())
        return;
    be_cuda.run(&fix.env, &fix.p, AL_IEEE, &fix.o);
    be_cuda.release(&fix.p);
}

static void expect_right(void)
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

static void expect_nothing_held(void)
{
    cuda_close();
    assert_int_equal(mock->contexts, 0);
    assert_int_equal(mock->modules, 0);
    assert_int_equal(mock->allocations, 0);
    assert_int_equal(mock->streams, 0);
    assert_int_equal(mock->events, 0);
    assert_int_equal(mock->graphs, 0);
}

static void the_device_is_named(void **state)
{
    struct err why = { 0 };

    (void)state;
    assert_true(be_cuda.available(&why));
    assert_string_equal(be_cuda.version(), "Mock, sm_90, driver 13.0");
    assert_string_equal(be_cuda.command(), "nvcc -std=c++17 -fmad=false -cubin -arch=sm_90");
}

/* Every run of a trial is right, timed in its own way, and nothing is kept. */
static void runs_are_right(void **state)
{
    (void)state;
    mock->launches = mock->graph_launches = mock->noises = 0;
    assert_true(prepare());
    for (int i = 0; i < be_cuda.runs; i++) {
        be_cuda.run(&fix.env, &fix.p, AL_IEEE, &fix.o);
        assert_int_equal(fix.o.status, OUT_RAN);
        assert_true(cuda_ms(&fix.p) == 0.25f);
    }
    be_cuda.release(&fix.p);
    assert_int_equal(mock->launches, be_cuda.runs);
    assert_int_equal(mock->graph_launches, 1);
    assert_int_equal(mock->noises, 2);
    expect_right();
    expect_nothing_held();
}

static void margins_and_inputs(void **state)
{
    (void)state;
    mock->kernel = mock_beyond;
    once();
    assert_int_equal(fix.o.status, OUT_RAN);
    assert_true(fix.o.margin_broken);
    assert_string_equal(fix.o.where, "y");
    cuda_close();
    mock->kernel = mock_before;
    once();
    assert_true(fix.o.margin_broken);
    cuda_close();
    mock->kernel = mock_into_input;
    once();
    assert_true(fix.o.input_changed);
    assert_false(fix.o.margin_broken);
    assert_string_equal(fix.o.where, "x");
    cuda_close();
    mock->kernel = mock_add;
    expect_right();
    expect_nothing_held();
}

/* Whatever call fails: a message that names the error, nothing kept, and the next run works. */
static void each_call_fails_in_turn(void **state)
{
    static const char *const silent[] = { /* whose failure changes nothing */
                                          "cuGetErrorName",
                                          "cuGetErrorString",
                                          "cuDeviceGetName",
                                          "cuDriverGetVersion",
                                          "cuMemFree_v2",
                                          "cuModuleUnload",
                                          "cuStreamDestroy_v2",
                                          "cuEventDestroy_v2",
                                          "cuGraphDestroy",
                                          "cuGraphExecDestroy",
                                          "cuDevicePrimaryCtxRelease_v2"
    };
#define CALL(field, name, params) name,
    static const char *const calls[] = { CUDA_CALLS(CALL) };
#undef CALL
    struct err why = { 0 };

    (void)state;
    assert_true(be_cuda.available(&why));
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        bool quiet = false;

        for (size_t k = 0; k < ARRAY_LEN(silent); k++)
            quiet |= !strcmp(calls[i], silent[k]);
        cuda_close();
        calm();
        let_fail(calls[i], 2, -1);
        once();
        if (quiet) {
            assert_int_equal(fix.o.status, OUT_RAN);
            calm();
            continue;
        }
        if (fix.o.status == OUT_RAN)
            fail_msg("%s failed and nobody noticed", calls[i]);
        if (!strstr(fix.o.detail, "out of memory (CUDA_ERROR_OUT_OF_MEMORY, 2)"))
            fail_msg("%s: '%s'", calls[i], fix.o.detail);
        calm();
        expect_right();
        expect_nothing_held();
    }
}

static void memory_runs_out(void **state)
{
    (void)state;
    let_fail("cuMemAlloc_v2", 2, 1);
    once();
    assert_int_equal(fix.o.status, OUT_UNSUPPORTED);
    assert_non_null(strstr(fix.o.detail, "bytes on the device: out of memory"));
    expect_right();
    expect_nothing_held();
}

/* An error of a kernel spoils its process: the next trial has another one. */
static void a_lost_context_is_renewed(void **state)
{
    pid_t was;

    (void)state;
    expect_right();
    was = mock->pid;
    let_fail("cuStreamSynchronize", 700, 1);
    mock->skip = 1; /* that of the copy */
    once();
    assert_int_equal(fix.o.status, OUT_CRASH);
    assert_string_equal(fix.o.detail, "running the kernels: an illegal memory access was "
                                      "encountered (CUDA_ERROR_ILLEGAL_ADDRESS, 700)");
    expect_right();
    assert_int_not_equal(mock->pid, was);
    expect_nothing_held();
}

static void a_refused_launch_is_a_refusal(void **state)
{
    (void)state;
    let_fail("cuModuleLoadData", 218, 1);
    once();
    assert_int_equal(fix.o.status, OUT_BUILD_FAILED);
    let_fail("cuLaunchKernel", 1, 1);
    once();
    assert_int_equal(fix.o.status, OUT_BUILD_FAILED);
    assert_non_null(strstr(fix.o.detail, "tf_ieee_y: "));
    let_fail("cuLaunchKernel", 701, 1);
    once();
    assert_int_equal(fix.o.status, OUT_UNSUPPORTED);
    expect_right();
}

static void nvrtc_refuses(void **state)
{
    (void)state;
    mock->nvrtc_log = "kernels.cu(7): error: identifier \"z\" is undefined\n      z = 1;\n"
                      "      ^\n";
    assert_false(prepare());
    assert_int_equal(fix.o.status, OUT_BUILD_FAILED);
    assert_string_equal(fix.o.detail,
                        "kernels.cu(7): error: identifier \"z\" is undefined; z = 1;; ^");
}

static void the_device_process_dies(void **state)
{
    (void)state;
    snprintf(mock->die, sizeof mock->die, "cuMemcpyHtoD_v2");
    once();
    assert_int_equal(fix.o.status, OUT_CRASH);
    assert_string_equal(fix.o.detail, "the device process died, by signal 6");
    expect_right();
    assert_true(prepare());
    snprintf(mock->die, sizeof mock->die, "cuMemcpyDtoH_v2");
    be_cuda.run(&fix.env, &fix.p, AL_IEEE, &fix.o);
    assert_int_equal(fix.o.status, OUT_CRASH);
    be_cuda.run(&fix.env, &fix.p, AL_IEEE, &fix.o); /* the code is loaded anew */
    assert_int_equal(fix.o.status, OUT_RAN);
    be_cuda.release(&fix.p);
}

static void no_answer_in_time(void **state)
{
    struct client c = { 0 };
    bool fresh;

    (void)state;
    snprintf(mock->hang, sizeof mock->hang, "cuInit");
    assert_true(client_ready(&c, 0, &fresh));
    assert_true(fresh);
    assert_int_equal(client_ask(&c, BOX_PROBE, 1), CLIENT_HUNG);
    mock->hang[0] = '\0';
    assert_true(client_ready(&c, (size_t)65 << 20, &fresh));
    assert_true(fresh);
    assert_true(c.box->room >= (size_t)65 << 20);
    assert_int_equal(client_ask(&c, BOX_PROBE, 10), CLIENT_ANSWERED);
    assert_string_equal(c.box->answer.text, "Mock, sm_90, driver 13.0");
    client_close(&c);
    assert_int_equal(mock->contexts, 0);
}

/* A child of ours has a device process of its own; ours goes on. */
static void children_start_their_own(void **state)
{
    pid_t ours, child;
    int status = 0;

    (void)state;
    assert_true(prepare());
    be_cuda.run(&fix.env, &fix.p, AL_IEEE, &fix.o);
    assert_int_equal(fix.o.status, OUT_RAN);
    ours = mock->pid;
    child = fork();
    if (child == 0) {
        be_cuda.run(&fix.env, &fix.p, AL_IEEE, &fix.o);
        cuda_close();
        _exit(fix.o.status == OUT_RAN && mock->pid != ours ? 0 : 1);
    }
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    be_cuda.run(&fix.env, &fix.p, AL_IEEE, &fix.o);
    assert_int_equal(fix.o.status, OUT_RAN);
    assert_int_equal(mock->pid, ours);
    be_cuda.release(&fix.p);
}

/* What available says with another driver, or a failing one: asked once per process. */
static void why_not(const char *driver, const char *call, int rc, int devices, char *said)
{
    char *shared = mmap(NULL, sizeof(struct err), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child;

    assert_ptr_not_equal(shared, MAP_FAILED);
    child = fork();
    if (child == 0) {
        struct err why = { 0 };

        if (driver)
            setenv("TILEFUZZ_CUDA_DRIVER", driver, 1);
        mock->devices = devices;
        let_fail(call, rc, -1);
        snprintf(shared, 480, "%s", be_cuda.available(&why) ? "available" : why.msg);
        mock->devices = 1;
        _exit(0);
    }
    waitpid(child, NULL, 0);
    snprintf(said, 480, "%s", shared);
    munmap(shared, sizeof(struct err));
}

/* First of all: the answers are kept. */
static void what_is_not_there(void **state)
{
    char said[480];

    (void)state;
    why_not("/nonexistent/libcuda.so.1", "", 0, 1, said);
    assert_non_null(strstr(said, "TILEFUZZ_CUDA_DRIVER: /nonexistent/libcuda.so.1"));
    why_not("libm.so.6", "", 0, 1, said);
    assert_string_equal(said, "the CUDA driver libm.so.6 lacks cuInit: too old");
    why_not(NULL, "", 0, 0, said);
    assert_string_equal(said, "there is a driver: no CUDA-capable device is detected "
                              "(CUDA_ERROR_NO_DEVICE, 100)");
    why_not(NULL, "cuInit", 100, 1, said);
    assert_string_equal(said, "the CUDA driver does not start: no CUDA-capable device is "
                              "detected (CUDA_ERROR_NO_DEVICE, 100)");
    why_not(NULL, "cuDevicePrimaryCtxRetain", 2, 1, said);
    assert_string_equal(said, "a context: out of memory (CUDA_ERROR_OUT_OF_MEMORY, 2)");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(what_is_not_there, each),
        cmocka_unit_test_setup(the_device_is_named, each),
        cmocka_unit_test_setup(runs_are_right, each),
        cmocka_unit_test_setup(margins_and_inputs, each),
        cmocka_unit_test_setup(each_call_fails_in_turn, each),
        cmocka_unit_test_setup(memory_runs_out, each),
        cmocka_unit_test_setup(a_lost_context_is_renewed, each),
        cmocka_unit_test_setup(a_refused_launch_is_a_refusal, each),
        cmocka_unit_test_setup(nvrtc_refuses, each),
        cmocka_unit_test_setup(the_device_process_dies, each),
        cmocka_unit_test_setup(no_answer_in_time, each),
        cmocka_unit_test_setup(children_start_their_own, each),
    };
    struct mock *(*state)(void);
    void *so, *sym;

    if (argc < 2) {
        fprintf(stderr, "usage: test_cuda_mock MOCK-DRIVER.so\n");
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
    return cmocka_run_group_tests(tests, setup, teardown);
}
