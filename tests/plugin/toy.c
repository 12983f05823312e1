/*
 * A plug-in written from include/tilefuzz/plugin.h and corpus/README.md: a library that knows
 * f32 and a few ops, goes through a program node by node and takes any strides. With TOY_BUG
 * set, a sum over more than 4 elements leaves the last one out.
 */
#include <stdlib.h>
#include <string.h>
#include <tilefuzz/plugin.h>

struct state {
    const struct tf_program *p;
    float **v; /* all nodes, dense */
};

static int prepare(const struct tf_program *p, void **state, char *why, size_t n)
{
    struct state *s = malloc(sizeof *s);

    for (const struct tf_node *x = p->node; x < p->node + p->n_node; x++)
        if (!strcmp(x->op, "sum") && x->axes[0] + 1 != p->node[x->arg[0]].rank)
            return tf_say(TF_REFUSED, why, n, "sum along the last axis only");
    *s = (struct state){ p, malloc(((size_t)p->n_node + 1) * sizeof *s->v) };
    for (int i = 0; i < p->n_node; i++)
        s->v[i] = malloc((size_t)(p->node[i].count + 1) * sizeof(float));
    *state = s;
    return TF_OK;
}

static void release(void *state)
{
    struct state *s = state;

    for (int i = 0; i < s->p->n_node; i++)
        free(s->v[i]);
    free(s->v);
    free(s);
}

/* Where element k of a tensor lies. */
static float *element(const DLTensor *t, int64_t k)
{
    float *at = t->data;

    for (int a = t->ndim - 1; a >= 0; k /= t->shape[a--])
        at += k % t->shape[a] * t->strides[a];
    return at;
}

static float sum(const float *v, int64_t n)
{
    double acc = 0;

    for (int64_t i = 0; i < n - (getenv("TOY_BUG") && n > 4); i++)
        acc += (double)v[i];
    return (float)acc;
}

static float value(const struct state *s, const struct tf_node *x, int64_t k)
{
    const struct tf_node *from = x->n_arg && x->arg[0] >= 0 ? &s->p->node[x->arg[0]] : NULL;
    float a, b;

    if (!strcmp(x->op, "const"))
        return (float)x->value;
    if (!strcmp(x->op, "sum"))
        return sum(s->v[x->arg[0]] + k * from->count / x->count, from->count / x->count);
    a = from ? s->v[x->arg[0]][k] : (float)x->literal[0];
    b = x->arg[1] >= 0 ? s->v[x->arg[1]][k] : (float)x->literal[1];
    if (!strcmp(x->op, "copy"))
        return a;
    return !strcmp(x->op, "add") ? a + b : !strcmp(x->op, "mul") ? a * b : -a;
}

static int run(void *state, const DLTensor *in, const DLTensor *out, char *why, size_t n)
{
    const struct state *s = state;

    (void)why, (void)n;
    for (int i = 0; i < s->p->n_node; i++)
        for (int64_t k = 0; k < s->p->node[i].count; k++)
            s->v[i][k] = s->p->node[i].input >= 0 ? *element(&in[s->p->node[i].input], k)
                                                  : value(s, &s->p->node[i], k);
    for (int o = 0; o < s->p->n_output; o++)
        for (int64_t k = 0; k < s->p->node[s->p->output[o]].count; k++)
            *element(&out[o], k) = s->v[s->p->output[o]][k];
    return TF_OK;
}

const struct tf_plugin *tf_plugin_open(uint32_t abi)
{
    static const char *const ops[] = { "neg", "add", "mul", "sum", "copy", NULL };
    static const char *const dtypes[] = { "f32", NULL };
    static const struct tf_plugin self = {
        /* in the order of struct tf_plugin */
        TF_ABI, "toy",   "1.0", ops,     dtypes, 0, 0, TF_INPUT_STRIDES | TF_OUTPUT_STRIDES,
        0,      prepare, run,   release, NULL
    };
    return abi == TF_ABI ? &self : NULL;
}
