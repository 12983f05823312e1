/*
 * A finding on a GPU as one CUDA file that needs nothing of ours: the kernels as they were
 * emitted, inputs, the reference of repro.c, and a main that runs them again and again while
 * other work disturbs them, as what is wrong may be wrong once in a hundred runs.
 */
#include <inttypes.h>
#include <string.h>

#include "base/bug.h"
#include "emit/cgen.h"
#include "emit/repro.h"

/* clang-format off */
static const char frame[] =
    "#define CHECK(call) check(call, #call)\n"
    "\n"
    "static void check(cudaError_t e, const char *call)\n"
    "{\n"
    "    if (e == cudaSuccess)\n"
    "        return;\n"
    "    printf(\"%s: %s\\n\", call, cudaGetErrorString(e));\n"
    "    exit(e == cudaErrorIllegalAddress || e == cudaErrorMisalignedAddress ||\n"
    "                 e == cudaErrorLaunchFailure\n"
    "             ? 1\n"
    "             : 2);\n"
    "}\n"
    "\n"
    "/* at: what it holds here, start: where it lies on the device */\n"
    "static void make(struct r_memory *m)\n"
    "{\n"
    "    m->at = (unsigned char *)malloc(m->bytes + 1);\n"
    "    if (!m->at)\n"
    "        exit(2);\n"
    "    CHECK(cudaMalloc((void **)&m->start, m->bytes + 16));\n"
    "}\n"
    "\n"
    "/* as before every run: inputs filled, all else poisoned */\n"
    "static void fill(const struct r_memory *m)\n"
    "{\n"
    "    if (m->bytes == 0)\n"
    "        return;\n"
    "    CHECK(cudaMemset(m->start, POISON, m->bytes));\n"
    "    if (m->from)\n"
    "        CHECK(cudaMemcpy(m->start, m->from, m->bytes, cudaMemcpyHostToDevice));\n"
    "}\n"
    "\n"
    "/* is output o right? If not and tell is set, the first wrong element is printed */\n"
    "static int right(const struct r_output *o, const struct r_memory *m, int tell)\n"
    "{\n"
    "    long at[9] = { 0 }, n = 1, size = r_size(o->type);\n"
    "\n"
    "    CHECK(cudaMemcpy(m->at, m->start, m->bytes, cudaMemcpyDeviceToHost));\n"
    "    for (int a = 0; a < o->rank; a++)\n"
    "        n *= o->dim[a];\n"
    "    for (long k = 0; k < n; k++) {\n"
    "        long place = o->offset;\n"
    "        double got;\n"
    "\n"
    "        for (int a = 0; a < o->rank; a++)\n"
    "            place += at[a] * o->stride[a];\n"
    "        got = r_number(o->type, m->at + place * size);\n"
    "        if (!r_right(o, k, got)) {\n"
    "            if (!tell)\n"
    "                return 0;\n"
    "            printf(\"output %s[\", o->name);\n"
    "            for (int a = 0; a < o->rank; a++)\n"
    "                printf(a ? \",%ld\" : \"%ld\", at[a]);\n"
    "            printf(\"]: \");\n"
    "            r_tell(o, k, got);\n"
    "            return 0;\n"
    "        }\n"
    "        for (int a = o->rank - 1; a >= 0 && ++at[a] == o->dim[a]; a--)\n"
    "            at[a] = 0;\n"
    "    }\n"
    "    return 1;\n"
    "}\n"
    "\n"
    "/* keeps multiprocessors and the memory busy beside the kernels, for so many clocks */\n"
    "__global__ void disturb(unsigned *at, unsigned n, long long clocks)\n"
    "{\n"
    "    long long start = clock64();\n"
    "    unsigned k = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "\n"
    "    while (clock64() - start < clocks) {\n"
    "        k = k * 1664525u + 1013904223u;\n"
    "        at[k % n] += k;\n"
    "    }\n"
    "}\n"
    "\n";
/* clang-format on */

/* One launch a kernel: a grid of blocks, a block of threads, both in one row. */
static void put_launches(const struct repro *r, struct str *s)
{
    const struct lprog *l = r->l;

    str_add(s, "static void run(struct tf_%s_params p, cudaStream_t stream)\n{\n",
            algebra_name(r->algebra));
    for (int k = 0; k < l->n_kernel; k++) {
        const struct kernel *x = &l->kernel[k];
        int64_t blocks = kernel_blocks(l, x), threads = kernel_threads(l, x);

        if (x->dead || blocks < 1 || threads < 1)
            continue;
        str_add(s,
                "    %s_%s<<<%" PRId64 ", %" PRId64 ", %" PRId64 ", stream>>>(p);\n"
                "    CHECK(cudaGetLastError());\n",
                algebra_name(r->algebra), cgen_kernel_name(l, k), blocks, threads,
                kernel_smem(l, k));
    }
    str_puts(s, "    (void)p;\n    CHECK(cudaStreamSynchronize(stream));\n}\n\n");
}

static void put_main(const struct repro *r, struct str *s)
{
    int n = r->l->n_buffer + 1, outputs = r->trial->prog.n_out;

    str_add(s,
            "int main(void)\n"
            "{\n"
            "    const int runs = 200;\n"
            "    const unsigned words = 1 << 22;\n"
            "    struct tf_%s_params p;\n"
            "    cudaStream_t stream, other;\n"
            "    unsigned *noise;\n"
            "    int devices = 0, wrong = 0;\n"
            "\n"
            "    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {\n"
            "        puts(\"no device\");\n"
            "        return 77;\n"
            "    }\n"
            "    reference();\n"
            "    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));\n"
            "    CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));\n"
            "    CHECK(cudaMalloc((void **)&noise, words * sizeof *noise));\n"
            "    CHECK(cudaMemset(noise, 0, words * sizeof *noise));\n"
            "    memset(&p, 0, sizeof p);\n"
            "    for (int i = 0; i < %d; i++) {\n"
            "        make(&memory[i]);\n"
            "        p.p[i] = memory[i].start;\n"
            "    }\n",
            algebra_name(r->algebra), n);
    str_add(
        s,
        "    for (int k = 0; k < runs; k++) {\n"
        "        int ok = 1;\n"
        "\n"
        "        for (int i = 0; i < %d; i++)\n"
        "            fill(&memory[i]);\n"
        "        CHECK(cudaDeviceSynchronize());\n"
        "        if (k %% 4)\n"
        "            disturb<<<32 * (k %% 4), 256, 0, other>>>(noise, words, 2000LL * k);\n"
        "        run(p, stream);\n"
        "        CHECK(cudaDeviceSynchronize());\n"
        "        for (int i = 0; i < %d; i++)\n"
        "            ok &= right(&output[i], &memory[output[i].buffer], ok && wrong == 0);\n"
        "        wrong += !ok;\n"
        "    }\n"
        "    if (wrong)\n"
        "        printf(\"wrong in %%d runs of %%d\\n\", wrong, runs);\n"
        "    else\n"
        "        puts(\"right\");\n"
        "    return wrong != 0;\n"
        "}\n",
        n, outputs);
}

static void put_kernels(const struct repro *r, struct str *s)
{
    struct str text = { 0 };
    struct emit_sites sites = { 0 };

    emit_cuda(r->l, &text, &sites);
    str_puts(&text, "\n/* TF_ARGS */\n"); /* its struct is there even if no kernel is */
    emit_cuda_prelude(r->algebra, CUDA_DEVICE, str_get(&text), s);
    str_puts(s, "\n");
    str_write(s, str_get(&text), text.n - strlen("\n/* TF_ARGS */\n"));
    str_puts(s, "\n");
    str_release(&text);
}

void emit_repro_cu(const struct repro *r, struct arena *a, struct str *s)
{
    static const char *const header[] = {
        "float", "limits", "math", "stdio", "stdlib", "string"
    };
    struct str tail = { 0 };

    repro_opening(r, "nvcc -arch=sm_80 repro.cu && ./a.out", s);
    put_kernels(r, s);
    for (size_t i = 0; i < ARRAY_LEN(header); i++)
        str_add(s, "#include <%s.h>\n", header[i]);
    /* where nothing is a float, what they are computed in is set for nobody */
    str_puts(s, "\n#pragma nv_diag_suppress 550\n\n");
    repro_reference(r, &tail);
    str_puts(&tail, frame);
    put_launches(r, &tail);
    put_main(r, &tail);
    repro_end(r, a, &tail, s);
}
