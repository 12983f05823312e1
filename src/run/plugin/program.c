/* A program as a plug-in sees it. */
#include <tilefuzz/plugin.h>

#include "ir/text.h"
#include "run/plugin/plugin.h"

static DLDataType dl_type(enum dtype dt)
{
    static const uint8_t code[DT_COUNT] = {
        [DT_F32] = kDLFloat,   [DT_F64] = kDLFloat, [DT_F16] = kDLFloat,
        [DT_BF16] = kDLBfloat, [DT_I32] = kDLInt,   [DT_BOOL] = TF_DL_BOOL,
    };

    return (DLDataType){ code[dt], (uint8_t)(8 * dtype_info(dt)->bytes), 1 };
}

static void reduced(const struct node *n, struct tf_node *x)
{
    for (int a = 0; a < MAX_RANK; a++)
        if (n->axes >> a & 1)
            x->axes[x->n_axes++] = a;
    x->keep = n->keep;
}

static struct tf_node node(const struct prog *p, int i, int n_input)
{
    const struct node *n = &p->node[i];
    struct tf_node x = { .name = n->name,
                         .op = op_info(n->op)->name,
                         .dtype = dl_type(n->dt),
                         .rank = n->sh.rank,
                         .count = shape_count(&n->sh),
                         .input = n->op == OP_INPUT ? n_input : -1,
                         .n_arg = n->n_arg,
                         .acc = dl_type(n->acc),
                         .axis = n->axis,
                         .value = n->value,
                         .eps = n->eps,
                         .scale = n->scale,
                         .alpha = n->alpha,
                         .beta = n->beta,
                         .mask = mask_name(n->mask),
                         .empty = empty_name(n->empty) };

    for (int a = 0; a < n->sh.rank; a++)
        x.shape[a] = n->sh.dim[a];
    for (int j = 0; j < TF_MAX_ARGS; j++) {
        x.arg[j] = j < n->n_arg ? n->arg[j].node : -1;
        x.literal[j] = j < n->n_arg && n->arg[j].node < 0 ? n->arg[j].lit : 0;
    }
    if (op_is_reduce(n->op) && n->op != OP_MATMUL)
        reduced(n, &x);
    for (int a = 0; a < MAX_RANK; a++) {
        x.perm[a] = n->perm[a];
        x.lo[a] = n->lo[a];
        x.hi[a] = n->hi[a];
        x.by[a] = n->by[a];
    }
    return x;
}

static DLTensor tensor(const struct buffer *b, struct arena *a)
{
    DLTensor t = { .device = { kDLCPU, 0 },
                   .ndim = b->sh.rank,
                   .dtype = dl_type(b->dt),
                   .shape = arena_array(a, int64_t, b->sh.rank + 1),
                   .strides = arena_array(a, int64_t, b->sh.rank + 1) };

    for (int i = 0; i < b->sh.rank; i++) {
        t.shape[i] = b->sh.dim[i];
        t.strides[i] = b->layout.stride[i];
    }
    return t;
}

static const char *text_of(const struct trial *t, struct arena *a)
{
    struct str s = { 0 };
    const char *text;

    trial_print(t, &s);
    text = arena_strndup(a, str_get(&s), s.n);
    str_release(&s);
    return text;
}

const struct tf_program *plugin_program(const struct lprog *l, struct arena *a)
{
    const struct prog *p = l->prog;
    struct tf_program *x = arena_new(a, struct tf_program);
    struct tf_node *nodes = arena_array(a, struct tf_node, p->n + 1);
    int32_t *input = arena_array(a, int32_t, p->n + 1);
    int32_t *output = arena_array(a, int32_t, p->n_out + 1);
    DLTensor *in, *out;

    *x = (struct tf_program){ .n_node = p->n,
                              .n_output = p->n_out,
                              .node = nodes,
                              .input = input,
                              .output = output,
                              .text = text_of(l->trial, a) };
    for (int i = 0; i < p->n; i++) {
        nodes[i] = node(p, i, x->n_input);
        if (p->node[i].op == OP_INPUT)
            input[x->n_input++] = i;
    }
    in = arena_array(a, DLTensor, x->n_input + 1);
    out = arena_array(a, DLTensor, p->n_out + 1);
    for (int i = 0; i < l->n_buffer; i++) {
        const struct buffer *b = &l->buffer[i];

        if (b->kind == BUF_OUTPUT)
            output[b->slot] = b->node;
        *(b->kind == BUF_INPUT ? &in[b->slot] : &out[b->slot]) = tensor(b, a);
    }
    x->in = in;
    x->out = out;
    return x;
}
