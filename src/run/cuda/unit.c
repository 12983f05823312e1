#include "run/cuda/unit.h"

#include <stdio.h>

#include "base/str.h"
#include "emit/cgen.h"
#include "emit/emit.h"

const char cuda_noise_text[] =
    "extern \"C\" __global__ void tf_noise_spin(long long cycles)\n"
    "{\n"
    "    long long from = clock64();\n"
    "    while (clock64() - from < cycles)\n"
    "        ;\n"
    "}\n"
    "extern \"C\" __global__ void tf_noise_load(unsigned *words, unsigned n, unsigned rounds)\n"
    "{\n"
    "    unsigned step = gridDim.x * blockDim.x;\n"
    "    for (unsigned r = 0; r < rounds; r++)\n"
    "        for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)\n"
    "            words[i] = words[i] * 5u + r;\n"
    "}\n";

/* How many threads a kernel starts with, so that the compiler gives it no more registers than
 * that many can have. */
static void put_threads(const struct lprog *l, struct str *s)
{
    for (int k = 0; k < l->n_kernel; k++)
        if (!l->kernel[k].dead)
            str_add(s, "#define TF_THREADS_%s %lld\n", cgen_kernel_name(l, k),
                    (long long)kernel_threads(l, &l->kernel[k]));
}

void cuda_unit(const struct lprog *l, const char *text, struct str *s)
{
    put_threads(l, s);
    for (int al = 0; al < AL_COUNT; al++) {
        if (al)
            emit_cuda_prelude_end(CUDA_DEVICE, text, s);
        emit_cuda_prelude((enum algebra)al, CUDA_DEVICE, text, s);
        str_add(s,
                "#undef TF_KERNEL\n"
                "#define TF_KERNEL(name) extern \"C\" __global__ void "
                "__launch_bounds__(TF_THREADS_##name) tf_%s_##name\n",
                algebra_name((enum algebra)al));
        str_puts(s, text);
    }
    str_puts(s, cuda_noise_text);
}

void cuda_kernel_name(const struct lprog *l, int k, enum algebra al, char buf[CUDA_NAME])
{
    snprintf(buf, CUDA_NAME, "tf_%s_%s", algebra_name(al), cgen_kernel_name(l, k));
}
