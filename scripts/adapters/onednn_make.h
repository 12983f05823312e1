/*
 * Nodes as primitive descriptors of oneDNN: part of onednn.c.
 */
#ifndef ADAPTERS_ONEDNN_MAKE_H
#define ADAPTERS_ONEDNN_MAKE_H

#include <oneapi/dnnl/dnnl.h>

#include "walk.h"

/* What is being put together. */
struct build {
    const struct tf_node *node;
    const struct walk_view *arg, *out;
    dnnl_memory_desc_t x[TF_MAX_ARGS], y;
    dnnl_primitive_attr_t attr;
    dnnl_primitive_desc_t pd;
    dnnl_status_t status;
    const char *refused;
};

static dnnl_engine_t engine;

static dnnl_data_type_t type_of(DLDataType t)
{
    return t.code == kDLBfloat ? dnnl_bf16
           : t.code == kDLInt  ? dnnl_s32
           : t.bits == 8       ? dnnl_u8
                               : dnnl_f32;
}

/* fold: axes of stride 0 become size 1, for operands that are broadcast. */
static dnnl_status_t describe(dnnl_memory_desc_t *d, const struct walk_view *v, bool fold)
{
    dnnl_dims_t dims = { 1 }, strides = { 1 };

    for (int i = 0; i < v->rank; i++) {
        bool once = fold && v->stride[i] == 0 && v->shape[i] > 1;

        dims[i] = once ? 1 : v->shape[i];
        strides[i] = once || v->stride[i] == 0 ? 1 : v->stride[i];
        if (!fold && v->stride[i] == 0 && v->shape[i] > 1)
            return dnnl_unimplemented;
    }
    for (int i = v->rank - 1; (walk_around(1) || walk_around(2)) && i >= 0; i--)
        if (dims[i] == 1) /* strides of single elements */
            strides[i] = i + 1 < v->rank ? strides[i + 1] * (dims[i + 1] ? dims[i + 1] : 1) : 1;
    return dnnl_memory_desc_init_by_strides(d, v->rank > 0 ? v->rank : 1, dims,
                                            type_of(v->dtype), strides);
}

static bool is(const struct tf_node *n, const char *op)
{
    return !strcmp(n->op, op);
}

static void create(struct build *b, const void *desc)
{
    b->status = dnnl_primitive_desc_create(&b->pd, desc, b->attr, engine, NULL);
}

static const struct {
    const char *op;
    dnnl_alg_kind_t kind;
    float alpha, beta;
} eltwise[] = {
    { "neg", dnnl_eltwise_linear, -1, 0 }, { "abs", dnnl_eltwise_abs, 0, 0 },
    { "exp", dnnl_eltwise_exp, 0, 0 },     { "log", dnnl_eltwise_log, 0, 0 },
    { "tanh", dnnl_eltwise_tanh, 0, 0 },   { "sqrt", dnnl_eltwise_sqrt, 0, 0 },
    { "recip", dnnl_eltwise_pow, 1, -1 },  { "rsqrt", dnnl_eltwise_pow, 1, -0.5f },
};

static const struct {
    const char *op;
    dnnl_alg_kind_t kind;
} binary[] = {
    { "add", dnnl_binary_add },     { "sub", dnnl_binary_sub },     { "mul", dnnl_binary_mul },
    { "div", dnnl_binary_div },     { "maximum", dnnl_binary_max }, { "minimum", dnnl_binary_min },
    { "lt", dnnl_binary_lt },       { "le", dnnl_binary_le },       { "eq", dnnl_binary_eq },
    { "and", dnnl_binary_mul },     { "or", dnnl_binary_max },
}, reduction[] = {
    { "sum", dnnl_reduction_sum }, { "prod", dnnl_reduction_mul }, { "mean", dnnl_reduction_mean },
    { "max", dnnl_reduction_max }, { "min", dnnl_reduction_min },
};

/* A whole of all axes of size 1 beside axes that are reduced. */
static dnnl_status_t describe_kept(struct build *b)
{
    const struct tf_node *n = b->node;
    struct walk_view v = *b->out;

    v.rank = b->arg[0].rank;
    for (int i = 0, from = 0; i < v.rank; i++) {
        bool reduced = false;

        for (int k = 0; k < n->n_axes; k++)
            reduced = reduced || n->axes[k] == i;
        if (reduced && !n->keep) {
            v.shape[i] = 1;
            v.stride[i] = 1;
        } else {
            v.shape[i] = b->out->shape[from];
            v.stride[i] = b->out->stride[from++];
        }
    }
    return describe(&b->y, &v, false);
}

static void make_eltwise(struct build *b, int row)
{
    dnnl_eltwise_desc_t d;

    dnnl_eltwise_forward_desc_init(&d, dnnl_forward_inference, eltwise[row].kind, &b->x[0],
                                   eltwise[row].alpha, eltwise[row].beta);
    create(b, &d);
}

static void make_binary(struct build *b, dnnl_alg_kind_t kind)
{
    dnnl_binary_desc_t d;

    b->status = describe(&b->x[1], &b->arg[1], true);
    if (b->status == dnnl_success)
        b->status = dnnl_binary_desc_init(&d, kind, &b->x[0], &b->x[1], &b->y);
    if (b->status == dnnl_success)
        create(b, &d);
}

static void make_reduction(struct build *b, dnnl_alg_kind_t kind)
{
    dnnl_reduction_desc_t d;

    b->status = describe_kept(b);
    if (b->status == dnnl_success)
        b->status = dnnl_reduction_desc_init(&d, kind, &b->x[0], &b->y, 0, 0);
    if (b->status == dnnl_success)
        create(b, &d);
}

static void make_matmul(struct build *b)
{
    dnnl_matmul_desc_t d;
    dnnl_post_ops_t ops = NULL;
    float alpha = (float)b->node->alpha;

    b->status = dnnl_matmul_desc_init(&d, &b->x[0], &b->x[1], NULL, &b->y);
    if (b->status != dnnl_success)
        return;
    if (b->node->n_arg == 3 && b->node->beta != 0) {
        dnnl_post_ops_create(&ops);
        dnnl_post_ops_append_sum(ops, (float)b->node->beta);
        dnnl_primitive_attr_set_post_ops(b->attr, ops);
        dnnl_post_ops_destroy(ops);
    }
    if (alpha != 1)
        dnnl_primitive_attr_set_output_scales(b->attr, 1, 0, &alpha);
    create(b, &d);
}

static void make_layernorm(struct build *b)
{
    dnnl_layer_normalization_desc_t d;
    unsigned flags = (unsigned)dnnl_use_scale | (unsigned)dnnl_use_shift;

    b->status = dnnl_layer_normalization_forward_desc_init(&d, dnnl_forward_inference, &b->x[0],
                                                           NULL, (float)b->node->eps, flags);
    if (b->status == dnnl_success)
        create(b, &d);
}

/* A cast to bool asks whether x is not 0; other casts and copies are reorders. */
static void make_reorder(struct build *b)
{
    DLDataType from = b->arg[0].dtype, to = b->out->dtype;

    if (to.code == kDLInt && from.code != kDLInt && from.bits != 8)
        b->refused = "rounds where the cast truncates";
    else if (to.code == kDLBfloat && from.code == kDLInt)
        b->refused = "rounds twice";
    else if (to.bits == 8 && from.bits != 8)
        b->refused = "no cast to bool";
    else
        b->status = dnnl_reorder_primitive_desc_create(&b->pd, &b->x[0], engine, &b->y, engine,
                                                       b->attr);
}

static void make_softmax(struct build *b)
{
    dnnl_softmax_desc_t d; /* stands for both */

    (is(b->node, "softmax") ? dnnl_softmax_forward_desc_init
                            : dnnl_logsoftmax_forward_desc_init)(&d, dnnl_forward_inference,
                                                                 &b->x[0], b->node->axis);
    create(b, &d);
}

static void make_primitive(struct build *b)
{
    const struct tf_node *n = b->node;

    b->status = dnnl_unimplemented;
    for (size_t i = 0; i < sizeof eltwise / sizeof *eltwise; i++)
        if (is(n, eltwise[i].op))
            make_eltwise(b, (int)i);
    for (size_t i = 0; i < sizeof binary / sizeof *binary; i++)
        if (is(n, binary[i].op))
            make_binary(b, binary[i].kind);
    for (size_t i = 0; i < sizeof reduction / sizeof *reduction; i++)
        if (is(n, reduction[i].op))
            make_reduction(b, reduction[i].kind);
    if (is(n, "matmul"))
        make_matmul(b);
    else if (is(n, "layernorm"))
        make_layernorm(b);
    else if (is(n, "softmax") || is(n, "logsoftmax"))
        make_softmax(b);
    else if (is(n, "copy") || is(n, "cast"))
        make_reorder(b);
    else if (is(n, "concat"))
        b->status =
            dnnl_concat_primitive_desc_create(&b->pd, &b->y, 2, n->axis, b->x, b->attr, engine);
}

#endif
