/*
 * A plug-in that can only negate f32, and misbehaves as BAD says where the tensor is dense and
 * not of one element: strided ones show that a hunt goes on. With BAD=open-... it does so when
 * it is opened.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <tilefuzz/plugin.h>
#include <unistd.h>

static int bad(const char *mode)
{
    const char *is = getenv("BAD");

    return is && !strcmp(is, mode);
}

static int64_t place(const DLTensor *t, int64_t k)
{
    int64_t at = 0;

    for (int a = t->ndim - 1; a >= 0; k /= t->shape[a--])
        at += k % t->shape[a] * t->strides[a];
    return at;
}

static int dense(const DLTensor *t)
{
    int64_t last = 1;

    for (int a = 0; a < t->ndim; a++)
        last *= t->shape[a];
    return last > 0 && place(t, last - 1) == last - 1;
}

static int prepare(const struct tf_program *p, void **state, char *why, size_t n)
{
    if (p->n_output != 1 || p->node[p->output[0]].input >= 0)
        return tf_say(TF_REFUSED, why, n, "one output, and that no input");
    if (bad("fail") && dense(&p->in[0]))
        return tf_say(TF_FAILED, why, n, "out of registers");
    *state = (void *)p;
    return TF_OK;
}

static void misbehave(const DLTensor *in, const DLTensor *out, int64_t count)
{
    float *to = out->data;
    static float call = 1;

    printf("about to misbehave\n");
    if (bad("crash"))
        raise(SIGSEGV);
    if (bad("exit"))
        exit(0);
    while (bad("hang"))
        ;
    if (bad("beside"))
        to[-1] = to[count] = 1;
    if (bad("input"))
        *(float *)in->data += 1;
    if (bad("partial"))
        memset(&to[count - 1], 0xff, sizeof *to);
    if (bad("unstable"))
        to[0] = call++;
    if (to[0] == 0 && (bad("varies") || bad("may-vary"))) /* -0 and 0 are both right */
        to[0] = (int)call++ % 2 ? 0.0f : -0.0f;
}

static int run(void *state, const DLTensor *in, const DLTensor *out, char *why, size_t n)
{
    const struct tf_program *p = state;
    const struct tf_node *x = &p->node[p->output[0]];
    const float *from = in[p->node[x->arg[0]].input].data;

    for (int64_t i = 0; i < x->count; i++)
        ((float *)out->data)[i] = -from[place(&in[0], i)];
    if (bad("run") && dense(&in[0]))
        return tf_say(TF_FAILED, why, n, "lost the device");
    if (x->count > 1 && dense(&in[0]))
        misbehave(in, out, x->count);
    return TF_OK;
}

const struct tf_plugin *tf_plugin_open(uint32_t abi)
{
    static const char *const ops[] = { "neg", NULL }, *const odd[] = { "frobnicate", NULL };
    static const char *const dtypes[] = { "f32", NULL };
    static struct tf_plugin self = { .abi = TF_ABI,
                                     .name = "bad",
                                     .version = "1",
                                     .ops = ops,
                                     .dtypes = dtypes,
                                     .max_nodes = 1,
                                     .layouts = TF_INPUT_STRIDES,
                                     .prepare = prepare,
                                     .run = run };

    (void)abi;
    if (bad("open-crash"))
        raise(SIGSEGV);
    if (bad("open-ops"))
        self.ops = odd;
    if (bad("may-vary"))
        self.contract = TF_MAY_VARY;
    return bad("open-abi") ? NULL : &self;
}
