/* One compilation by NVRTC. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "run/cuda/nvrtc.h"
#include "run/cuda/nvrtc_api.h"

/* The name in its messages. */
#define TEXT_NAME "kernels.cu"

static void add_log(const struct nvrtc_api *x, void *program, struct str *log)
{
    size_t n = 0;
    char *text;

    if (x->log_size(program, &n) || n <= 1)
        return;
    text = must(malloc(n));
    if (x->log(program, text) == 0)
        str_write(log, text, strnlen(text, n));
    free(text);
}

static bool take(const struct nvrtc_api *x, void *program, struct nvrtc_image *out)
{
    size_t ptx = 0, code = 0;

    if (x->ptx_size(program, &ptx) || x->code_size(program, &code) || !ptx || !code)
        return false;
    *out = (struct nvrtc_image){ must(malloc(ptx)), ptx, must(malloc(code)), code };
    return x->ptx(program, out->ptx) == 0 && x->code(program, out->code) == 0;
}

static enum nvrtc_result compile(const struct nvrtc_api *x, void *program, const char *arch,
                                 struct nvrtc_image *out, struct str *log)
{
    char which[40];
    /* no contraction: what is one operation is printed as one */
    const char *const option[] = { which, "--std=c++17", "--fmad=false", "-default-device" };
    int rc;

    snprintf(which, sizeof which, "--gpu-architecture=%s", arch);
    rc = x->compile(program, (int)ARRAY_LEN(option), option);
    add_log(x, program, log);
    if (rc) {
        if (!log->n)
            str_add(log, "NVRTC failed with code %d for %s", rc, arch);
        return rc == NVRTC_INVALID_OPTION || rc == NVRTC_OUT_OF_MEMORY ? NVRTC_CANNOT
                                                                       : NVRTC_REJECTED;
    }
    if (take(x, program, out))
        return NVRTC_BUILT;
    nvrtc_image_release(out);
    str_add(log, "NVRTC compiled for %s, but has no code to give", arch);
    return NVRTC_CANNOT;
}

enum nvrtc_result nvrtc_build(const char *text, const char *arch, struct nvrtc_image *out,
                              struct str *log)
{
    struct err why = { 0 };
    const struct nvrtc_api *x = nvrtc_load(&why);
    enum nvrtc_result r;
    void *program = NULL;

    *out = (struct nvrtc_image){ 0 };
    if (!x) {
        str_puts(log, why.msg);
        return NVRTC_CANNOT;
    }
    if (x->create(&program, text, TEXT_NAME, 0, NULL, NULL)) {
        str_puts(log, "NVRTC takes no further text");
        return NVRTC_CANNOT;
    }
    r = compile(x, program, arch, out, log);
    x->destroy(&program);
    return r;
}

void nvrtc_image_release(struct nvrtc_image *i)
{
    free(i->ptx);
    free(i->code);
    *i = (struct nvrtc_image){ 0 };
}

void nvrtc_log_line(const char *log, char *buf, size_t n)
{
    const char *error = strstr(log, "error");
    bool space = true; /* leave spaces out */
    size_t at = 0;

    while (error && error > log && error[-1] != '\n')
        error--;
    for (const char *c = error ? error : log; *c && at + 3 < n; c++) {
        if (*c == '\n') {
            if (at && c[strspn(c, " \n\t")]) {
                buf[at++] = ';';
                buf[at++] = ' ';
            }
            space = true;
        } else if (*c != ' ' && *c != '\t') {
            buf[at++] = *c;
            space = false;
        } else if (!space) {
            buf[at++] = ' ';
            space = true;
        }
    }
    if (n)
        buf[at] = '\0';
}
