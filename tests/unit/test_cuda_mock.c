/*
 * Backend cuda against a driver that plays a device: what a run copies and launches, margins
 * and inputs, children of ours, and what is said where there is no device.
 */
#include "mock_fix.h"

#include <sys/mman.h>

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
        cmocka_unit_test_setup(children_start_their_own, each),
    };
    int rc = mock_open(argc, argv);

    return rc ? rc : cmocka_run_group_tests(tests, setup, teardown);
}
