/*
 * Backend cuda against a driver that fails: each call in turn, memory that runs out, a device
 * that is lost, hangs or dies.
 */
#include "mock_fix.h"

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

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(each_call_fails_in_turn, each),
        cmocka_unit_test_setup(memory_runs_out, each),
        cmocka_unit_test_setup(a_lost_context_is_renewed, each),
        cmocka_unit_test_setup(a_refused_launch_is_a_refusal, each),
        cmocka_unit_test_setup(nvrtc_refuses, each),
        cmocka_unit_test_setup(the_device_process_dies, each),
        cmocka_unit_test_setup(no_answer_in_time, each),
    };
    int rc = mock_open(argc, argv);

    return rc ? rc : cmocka_run_group_tests(tests, setup, teardown);
}
