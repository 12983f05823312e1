/*
 * litmus [--build]: asks a device for the rules of litmus.def, one JSON line each on stdout.
 * Exit 0 = as the SIMT machine has it, 1 = not, 77 = no device or no NVRTC. --build compiles
 * the kernels for the kinds of device that we build for, which needs none.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "run/cuda/driver.h"
#include "run/cuda/nvrtc.h"

enum { LAUNCHES = 20, WORDS = 1 << 17, SKIPPED = 77 };
enum want { NEVER, ALWAYS, MAYBE };
static const char *const want_name[] = { "never", "always", "maybe" };

static const struct litmus {
    const char *name, *rule, *body;
    enum want want;
    unsigned blocks, threads;
} litmus[] = {
#define LITMUS(name, want, blocks, threads, rule, ...)                                         \
    { #name, rule, #__VA_ARGS__, want, blocks, threads },
#include "tests/gpu/litmus.def"
#undef LITMUS
};

static const char words[] =
    "#define ROUNDS 1000u\n"
    "#define D static __device__ __forceinline__\n"
    "D void store(unsigned *p, unsigned v) { *(volatile unsigned *)p = v; }\n"
    "D unsigned load(unsigned *p) { return *(volatile unsigned *)p; }\n"
    "D void store_release(unsigned *p, unsigned v)\n"
    "{ asm volatile(\"st.release.gpu.global.u32 [%0], %1;\" :: \"l\"(p), \"r\"(v) : "
    "\"memory\"); }\n"
    "D void store_relaxed(unsigned *p, unsigned v)\n"
    "{ asm volatile(\"st.relaxed.gpu.global.u32 [%0], %1;\" :: \"l\"(p), \"r\"(v)); }\n"
    "D unsigned load_acquire(unsigned *p)\n"
    "{ unsigned v; asm volatile(\"ld.acquire.gpu.global.u32 %0, [%1];\" : \"=r\"(v) : "
    "\"l\"(p) : \"memory\"); return v; }\n"
    "D unsigned load_relaxed(unsigned *p)\n"
    "{ unsigned v; asm volatile(\"ld.relaxed.gpu.global.u32 %0, [%1];\" : \"=r\"(v) : "
    "\"l\"(p)); return v; }\n"
    "D void wait_acquire(unsigned *m, unsigned *p, unsigned v)\n"
    "{ for (unsigned n = 0; load_acquire(p) != v; n++) if (n > 1u << 24) "
    "{ atomicAdd(m + 2, 1); return; } }\n"
    "D void wait_relaxed(unsigned *m, unsigned *p, unsigned v)\n"
    "{ for (unsigned n = 0; load_relaxed(p) != v; n++) if (n > 1u << 24) "
    "{ atomicAdd(m + 2, 1); return; } }\n"
    "D void look(unsigned *m, bool seen)\n"
    "{ if (seen) atomicAdd(m, 1); atomicAdd(m + 1, 1); }\n"
    "D unsigned at(unsigned *p) { return (unsigned)__cvta_generic_to_shared(p); }\n"
    "D void copy4(unsigned *to, unsigned *from, unsigned n)\n"
    "{ asm volatile(\"cp.async.ca.shared.global [%0], [%1], 4, %2;\" :: \"r\"(at(to)), "
    "\"l\"(from), \"r\"(n) : \"memory\"); }\n"
    "D void copy16(unsigned *to, unsigned *from, unsigned n)\n"
    "{ asm volatile(\"cp.async.cg.shared.global [%0], [%1], 16, %2;\" :: \"r\"(at(to)), "
    "\"l\"(from), \"r\"(n) : \"memory\"); }\n"
    "D void commit() { asm volatile(\"cp.async.commit_group;\" ::: \"memory\"); }\n"
    "#define WAIT(n) asm volatile(\"cp.async.wait_group %0;\" :: \"n\"(n) : \"memory\")\n"
    "D unsigned f16(float v)\n"
    "{ unsigned short h; asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(h) : \"f\"(v)); return h; }\n"
    "D unsigned bf16(float v) { return __float_as_uint(v) >> 16; }\n"
    "#define MMA(type) asm volatile(\"mma.sync.aligned.m16n8k16.row.col.f32.\" type \".\" "
    "type \".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\" : \"+f\"(c[0]), "
    "\"+f\"(c[1]), \"+f\"(c[2]), \"+f\"(c[3]) : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), "
    "\"r\"(a[3]), \"r\"(b[0]), \"r\"(b[1]))\n"
    "D void mma_f16(float *c, const unsigned *a, const unsigned *b) { MMA(\"f16\"); }\n"
    "D void mma_bf16(float *c, const unsigned *a, const unsigned *b) { MMA(\"bf16\"); }\n"
    /* small integers: exact in every type and order */
    "D float A(unsigned i, unsigned k) { return (float)((i * 5 + k * 3) % 11) - 5; }\n"
    "D float B(unsigned k, unsigned j) { return (float)((k * 7 + j * 2) % 13) - 6; }\n"
    "D float C(unsigned i, unsigned j)\n"
    "{ float s = 0; for (unsigned k = 0; k < 16; k++) s += A(i, k) * B(k, j); return s; }\n";

static void text_of(const struct litmus *t, struct str *s)
{
    str_clear(s);
    str_puts(s, words);
    str_add(s,
            "extern \"C\" __global__ void __launch_bounds__(%u) k(unsigned *m)\n"
            "{\n    __shared__ __align__(16) unsigned shared[512];\n"
            "    (void)shared;\n    %s\n}\n",
            t->threads, t->body);
}

static bool build(const struct litmus *t, const char *kind, struct nvrtc_image *out)
{
    struct str text = { 0 }, log = { 0 };
    bool ok;

    text_of(t, &text);
    ok = nvrtc_build(str_get(&text), kind, out, &log) == NVRTC_BUILT;
    if (!ok)
        fprintf(stderr, "litmus: %s for %s: %s\n", t->name, kind, str_get(&log));
    str_release(&text);
    str_release(&log);
    return ok;
}

static int build_all(void)
{
    static const char *const kinds[] = { "sm_80", "sm_90" };
    struct nvrtc_image image;
    int failed = 0;

    for (size_t i = 0; i < ARRAY_LEN(litmus); i++)
        for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
            failed += !build(&litmus[i], kinds[k], &image);
            nvrtc_image_release(&image);
        }
    printf("%zu kernels for %zu kinds of device, %d failed\n", ARRAY_LEN(litmus),
           ARRAY_LEN(kinds), failed);
    return failed ? 1 : 0;
}

static const struct cuda_api *x;

/* Nothing of this program goes on after an error of the driver. */
static void must_do(int rc, const char *what)
{
    const char *name = NULL;

    if (!rc)
        return;
    if (x->error_name(rc, &name) || !name)
        name = "unknown";
    fprintf(stderr, "litmus: %s: %s (%d)\n", what, name, rc);
    exit(rc == CUDA_NO_DEVICE ? SKIPPED : 1);
}

static bool fits(const struct litmus *t, const unsigned *count)
{
    if (!count[1] || count[2])
        return false;
    return t->want == MAYBE || count[0] == (t->want == NEVER ? 0 : count[1]);
}

static bool ask(const struct litmus *t, const char *kind, void *stream, uint64_t memory)
{
    static unsigned zero[WORDS];
    struct nvrtc_image image;
    void *module, *function, *parameter[] = { &memory };
    unsigned total[3] = { 0 }, count[3];
    bool ok;

    if (!build(t, kind, &image))
        return false;
    must_do(x->module_load(&module, image.code), t->name);
    must_do(x->function(&function, module, "k"), t->name);
    for (int i = 0; i < LAUNCHES; i++) {
        must_do(x->to_device(memory, zero, sizeof zero), t->name);
        must_do(x->stream_wait(NULL), t->name); /* ours does not wait for the one that copies */
        must_do(
            x->launch(function, t->blocks, 1, 1, t->threads, 1, 1, 0, stream, parameter, NULL),
            t->name);
        must_do(x->stream_wait(stream), t->name);
        must_do(x->from_device(count, memory, sizeof count), t->name);
        for (int k = 0; k < 3; k++)
            total[k] += count[k];
    }
    ok = fits(t, total);
    printf("{\"schema\":1,\"litmus\":\"%s\",\"rule\":\"%s\",\"want\":\"%s\",\"seen\":%u,"
           "\"of\":%u,\"gave_up\":%u,\"ok\":%s}\n",
           t->name, t->rule, want_name[t->want], total[0], total[1], total[2],
           ok ? "true" : "false");
    fflush(stdout);
    must_do(x->module_unload(module), t->name);
    nvrtc_image_release(&image);
    return ok;
}

static int ask_all(void)
{
    int device, n = 0, major = 0, minor = 0, wrong = 0;
    void *context, *stream;
    uint64_t memory;
    char kind[16];

    must_do(x->init(0), "the driver");
    must_do(x->device_count(&n), "devices");
    must_do(n ? 0 : CUDA_NO_DEVICE, "devices");
    must_do(x->device_get(&device, 0), "device 0");
    must_do(x->device_attribute(&major, CUDA_ATTR_MAJOR, device), "its kind");
    must_do(x->device_attribute(&minor, CUDA_ATTR_MINOR, device), "its kind");
    must_do(x->context_retain(&context, device), "a context");
    must_do(x->context_use(context), "a context");
    must_do(x->stream_create(&stream, CUDA_STREAM_NON_BLOCKING), "a stream");
    must_do(x->alloc(&memory, (size_t)WORDS * sizeof(unsigned)), "memory");
    snprintf(kind, sizeof kind, "sm_%d%d", major, minor);
    for (size_t i = 0; i < ARRAY_LEN(litmus); i++)
        wrong += !ask(&litmus[i], kind, stream, memory);
    x->context_release(device);
    return wrong ? 1 : 0;
}

int main(int argc, char **argv)
{
    struct err why = { 0 };

    if (argc > 2 || (argc == 2 && strcmp(argv[1], "--build") != 0)) {
        fprintf(stderr, "usage: litmus [--build]\n");
        return 2;
    }
    if (!nvrtc_available(&why)) {
        fprintf(stderr, "litmus: %s\n", why.msg);
        return SKIPPED;
    }
    if (argc == 2)
        return build_all();
    x = cuda_load(&why);
    if (!x) {
        fprintf(stderr, "litmus: %s\n", why.msg);
        return SKIPPED;
    }
    return ask_all();
}
