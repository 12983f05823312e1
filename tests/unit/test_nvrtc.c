/*
 * NVRTC without a device: texts that it takes and refuses, for the kinds of device that we
 * build for; what a log looks like in one line; where it is looked for. Skipped where there
 * is none.
 */
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bug.h"
#include "run/cuda/cuda.h"
#include "run/cuda/nvrtc.h"
#include "run/cuda/unit.h"

static const char *const kinds[] = { "sm_80", "sm_90" };

/* Copies in flight, a barrier, a shuffle, an mma: what the kernels of GPU steps are made of. */
static const char whole[] =
    "extern \"C\" __global__ void __launch_bounds__(32) k(const float *x, float *y)\n"
    "{\n"
    "    __shared__ float s[64];\n"
    "    unsigned to = (unsigned)__cvta_generic_to_shared(s + threadIdx.x);\n"
    "    asm volatile(\"cp.async.ca.shared.global [%0], [%1], 4, %2;\" ::\"r\"(to),\n"
    "                 \"l\"(x + threadIdx.x), \"r\"(4) : \"memory\");\n"
    "    asm volatile(\"cp.async.commit_group;\" ::: \"memory\");\n"
    "    asm volatile(\"cp.async.wait_group 0;\" ::: \"memory\");\n"
    "    __syncthreads();\n"
    "    float c[4] = { 0, 0, 0, 0 };\n"
    "    unsigned a = (unsigned)threadIdx.x;\n"
    "    asm(\"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, \"\n"
    "        \"{%4,%4,%4,%4}, {%4,%4}, {%0,%1,%2,%3};\"\n"
    "        : \"+f\"(c[0]), \"+f\"(c[1]), \"+f\"(c[2]), \"+f\"(c[3]) : \"r\"(a));\n"
    "    y[threadIdx.x] = s[threadIdx.x] + c[0] + __shfl_xor_sync(~0u, c[1], 4);\n"
    "}\n";

static enum nvrtc_result build(const char *text, const char *kind, struct str *log)
{
    struct nvrtc_image image;
    enum nvrtc_result r;

    str_clear(log);
    r = nvrtc_build(text, kind, &image, log);
    if (r == NVRTC_BUILT) {
        /* code is an ELF file; PTX says for what it is */
        assert_true(image.code_bytes > 4);
        assert_memory_equal(image.code, "\177ELF", 4);
        assert_non_null(strstr(image.ptx, kind));
    }
    nvrtc_image_release(&image);
    return r;
}

static void takes_what_gpu_steps_need(void **state)
{
    struct str log = { 0 };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (build(whole, kinds[i], &log) != NVRTC_BUILT)
            fail_msg("%s: %s", kinds[i], str_get(&log));
        if (build(cuda_noise_text, kinds[i], &log) != NVRTC_BUILT)
            fail_msg("%s: %s", kinds[i], str_get(&log));
    }
    str_release(&log);
}

/* The log names the line, in the front end and behind it. */
static void refuses_with_log_and_line(void **state)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        { "extern \"C\" __global__ void k(float *x)\n{\n    x[0] = z;\n}\n",
          "kernels.cu(3): error: identifier \"z\" is undefined; x[0] = z;" },
        { "extern \"C\" __global__ void k(float *x)\n{\n    asm(\"no.such;\");\n}\n", "error" },
        { "extern \"C\" __global__ void k(float *x)\n{\n"
          "    __shared__ float s[20000];\n    s[threadIdx.x] = x[0];\n"
          "    __syncthreads();\n    x[1] = s[threadIdx.x ^ 1];\n}\n",
          "too much shared data" },
        { "int k(void) { return ({ 1; })", "error" },
    };
    struct str log = { 0 };
    char line[400];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        assert_int_equal(build(bad[i].text, "sm_80", &log), NVRTC_REJECTED);
        nvrtc_log_line(str_get(&log), line, sizeof line);
        if (!strstr(line, bad[i].says))
            fail_msg("'%s' lacks '%s'", line, bad[i].says);
        assert_null(strchr(line, '\n'));
    }
    assert_int_equal(build(whole, "sm_1", &log), NVRTC_CANNOT);
    assert_true(log.n > 0);
    str_release(&log);
}

static void logs_fit_their_line(void **state)
{
    char line[12];

    (void)state;
    nvrtc_log_line("warning\na: error: long\n  x\n\n", line, sizeof line);
    assert_string_equal(line, "a: error:");
    nvrtc_log_line("", line, sizeof line);
    assert_string_equal(line, "");
    nvrtc_log_line("no\tword\n", line, sizeof line);
    assert_string_equal(line, "no word");
}

/* What a fresh process says that looks elsewhere. */
static void look(const char *where, char *said, size_t n)
{
    char *shared = mmap(NULL, 480, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child;

    assert_ptr_not_equal(shared, MAP_FAILED);
    child = fork();
    if (child == 0) {
        struct err why = { 0 };

        setenv("TILEFUZZ_NVRTC", where, 1);
        snprintf(shared, 480, "%s", nvrtc_available(&why) ? "available" : why.msg);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    snprintf(said, n, "%s", shared);
    munmap(shared, 480);
}

static void says_where_it_looked(void **state)
{
    char said[480];

    (void)state;
    look("/nonexistent/nvrtc.so", said, sizeof said);
    assert_string_equal(said, "TILEFUZZ_NVRTC is /nonexistent/nvrtc.so: no NVRTC there");
    look("/", said, sizeof said);
    assert_string_equal(said, "TILEFUZZ_NVRTC is /: no NVRTC there");
    look("libm.so.6", said, sizeof said);
    assert_string_equal(said, "NVRTC can't be loaded: libm.so.6 lacks nvrtcVersion");
    look("/dev/null", said, sizeof said);
    assert_non_null(strstr(said, "NVRTC can't be loaded: /dev/null"));
}

int main(void)
{
    const struct CMUnitTest before[] = {
        cmocka_unit_test(says_where_it_looked),
        cmocka_unit_test(logs_fit_their_line),
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_what_gpu_steps_need),
        cmocka_unit_test(refuses_with_log_and_line),
    };
    struct err why = { 0 };
    int failed = cmocka_run_group_tests(before, NULL, NULL);

    if (!failed && !nvrtc_available(&why)) {
        printf("the rest is skipped: %s\n", why.msg);
        return 77;
    }
    return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
