/*
 * oneDNN (2.6 and its relatives) as a plug-in: each op is a primitive, and layouts go to it as
 * the strides of its memory descriptors. Build and hunt:
 *
 *     scripts/adapters/setup onednn build/adapters
 *     tilefuzz fuzz --backends plugin:build/adapters/onednn.so --for 60s
 *
 * ONEDNN_MAX_CPU_ISA=SSE41 and the like, set before tilefuzz starts, choose other code: a
 * backend of its own, told apart by its version. Scratchpads are the user's: filled with 0xff.
 */
#include <omp.h>
#include <oneapi/dnnl/dnnl.h>

#include "walk.h"

struct call {
    dnnl_primitive_t primitive;
    int n_arg;
    int index[TF_MAX_ARGS + 2]; /* DNNL_ARG_x of the operands, of the result, of the scratchpad */
    dnnl_memory_t memory[TF_MAX_ARGS + 2];
    int operand[TF_MAX_ARGS]; /* which one is the k-th */
    void *scratch;
    size_t scratch_bytes;
    int64_t beta_count; /* > 0: the result starts as the last operand */
    char name[64];
};

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
static dnnl_stream_t stream;

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
    if (b->node->n_arg == 3) {
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

    b->status = dnnl_layer_normalization_forward_desc_init(
        &d, dnnl_forward_inference, &b->x[0], NULL, (float)b->node->eps, flags);
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
    dnnl_softmax_desc_t d;

    dnnl_softmax_forward_desc_init(&d, dnnl_forward_inference, &b->x[0], b->node->axis);
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
    else if (is(n, "softmax"))
        make_softmax(b);
    else if (is(n, "copy") || is(n, "cast"))
        make_reorder(b);
    else if (is(n, "concat"))
        b->status = dnnl_concat_primitive_desc_create(&b->pd, &b->y, 2, n->axis, b->x, b->attr,
                                                      engine);
}

/* Which argument of the primitive operand j is. */
static int argument(const struct tf_node *n, int j)
{
    static const int matmul[] = { DNNL_ARG_SRC, DNNL_ARG_WEIGHTS },
                     norm[] = { DNNL_ARG_SRC, DNNL_ARG_SCALE, DNNL_ARG_SHIFT },
                     parts[] = { DNNL_ARG_MULTIPLE_SRC, DNNL_ARG_MULTIPLE_SRC + 1 },
                     plain[] = { DNNL_ARG_SRC_0, DNNL_ARG_SRC_1 };

    return is(n, "matmul")      ? matmul[j]
           : is(n, "layernorm") ? norm[j]
           : is(n, "concat")    ? parts[j]
                                : plain[j];
}

static void drop(void *state)
{
    struct call *c = state;

    for (int i = 0; i < c->n_arg; i++)
        dnnl_memory_destroy(c->memory[i]);
    if (c->primitive)
        dnnl_primitive_destroy(c->primitive);
    free(c->scratch);
    free(c);
}

static void add_argument(struct call *c, int index, const dnnl_memory_desc_t *d, int operand)
{
    c->index[c->n_arg] = index;
    if (c->n_arg < TF_MAX_ARGS)
        c->operand[c->n_arg] = operand;
    if (dnnl_memory_create(&c->memory[c->n_arg], d, engine, DNNL_MEMORY_NONE) == dnnl_success)
        c->n_arg++;
}

enum { RESULT = -1, SCRATCH = -2 };

/* Memory for what the primitive takes: operands, result, scratchpad. */
static struct call *bind_memory(const struct build *b)
{
    struct call *c = calloc(1, sizeof *c);
    const char *name = "";
    const dnnl_memory_desc_t *scratch =
        dnnl_primitive_desc_query_md(b->pd, dnnl_query_scratchpad_md, 0);

    for (int j = 0; j < b->node->n_arg && j < (is(b->node, "matmul") ? 2 : 3); j++)
        add_argument(c, argument(b->node, j), &b->x[j], j);
    add_argument(c, DNNL_ARG_DST, &b->y, RESULT);
    c->scratch_bytes = scratch ? dnnl_memory_desc_get_size(scratch) : 0;
    if (c->scratch_bytes) {
        c->scratch = malloc(c->scratch_bytes);
        add_argument(c, DNNL_ARG_SCRATCHPAD, scratch, SCRATCH);
    }
    dnnl_primitive_desc_query(b->pd, dnnl_query_impl_info_str, 0, &name);
    snprintf(c->name, sizeof c->name, "%s:%s", b->node->op, name);
    return c;
}

static int refuse(const struct build *b, char *why, size_t size)
{
    snprintf(why, size, "no %s like this (%s)", b->node->op,
             b->refused                           ? b->refused
             : b->status == dnnl_unimplemented     ? "unimplemented"
             : b->status == dnnl_invalid_arguments ? "invalid arguments"
                                                   : "failed");
    return TF_REFUSED;
}

static int make(const struct tf_node *n, const struct walk_view *arg, const struct walk_view *out,
                uint64_t pick, void **state, char *why, size_t size)
{
    struct build b = { .node = n, .arg = arg, .out = out };
    struct call *c;
    bool reduces = n->n_axes > 0 || is(n, "matmul");

    (void)pick;
    if (reduces && n->acc.bits && n->acc.bits != 32)
        return tf_say(TF_REFUSED, why, size, "adds up in f32 only");
    for (int j = 0; j < n->n_arg && j < 3 && b.status == dnnl_success; j++)
        b.status = describe(&b.x[j], &arg[j], j == 1 && out->rank > 0 && !is(n, "matmul"));
    if (b.status == dnnl_success)
        b.status = describe(&b.y, out, false);
    if (b.status != dnnl_success)
        return refuse(&b, why, size);
    dnnl_primitive_attr_create(&b.attr);
    dnnl_primitive_attr_set_scratchpad_mode(b.attr, dnnl_scratchpad_mode_user);
    make_primitive(&b);
    dnnl_primitive_attr_destroy(b.attr);
    if (b.status != dnnl_success || b.refused)
        return refuse(&b, why, size);
    c = bind_memory(&b);
    b.status = dnnl_primitive_create(&c->primitive, b.pd);
    dnnl_primitive_desc_destroy(b.pd);
    if (b.status != dnnl_success) {
        drop(c);
        return refuse(&b, why, size);
    }
    *state = c;
    return TF_OK;
}

static int call(void *state, void *const *arg, void *out, char *why, size_t size)
{
    struct call *c = state;
    dnnl_exec_arg_t list[TF_MAX_ARGS + 2];
    dnnl_status_t status;

    if (c->scratch)
        memset(c->scratch, 0xff, c->scratch_bytes);
    for (int i = 0; i < c->n_arg; i++) {
        void *at = i < TF_MAX_ARGS && c->operand[i] >= 0 ? arg[c->operand[i]] : out;

        if (c->index[i] == DNNL_ARG_SCRATCHPAD)
            at = c->scratch;
        dnnl_memory_set_data_handle(c->memory[i], at);
        list[i] = (dnnl_exec_arg_t){ c->index[i], c->memory[i] };
    }
    status = dnnl_primitive_execute(c->primitive, stream, c->n_arg, list);
    if (status == dnnl_success)
        status = dnnl_stream_wait(stream);
    if (status == dnnl_success)
        return TF_OK;
    snprintf(why, size, "%s: execute gives status %d", c->name, (int)status);
    return TF_FAILED;
}

static const char *ran(void *state)
{
    return ((struct call *)state)->name;
}

/* One descriptor stands for operand and result. */
static int like(const struct tf_node *n)
{
    for (size_t i = 0; i < sizeof eltwise / sizeof *eltwise; i++)
        if (is(n, eltwise[i].op))
            return 0;
    return is(n, "softmax") || is(n, "layernorm") ? 0 : -1;
}

static const struct walk_library library = { make, call, drop, ran, like, false };

static int prepare(const struct tf_program *p, void **state, char *why, size_t n)
{
    return walk_prepare(&library, p, state, why, n);
}

static const char *isa_name(void)
{
    switch ((int)dnnl_get_effective_cpu_isa()) {
    case dnnl_cpu_isa_sse41: return "sse41";
    case dnnl_cpu_isa_avx: return "avx";
    case dnnl_cpu_isa_avx2: return "avx2";
    case dnnl_cpu_isa_avx2_vnni: return "avx2_vnni";
    case dnnl_cpu_isa_avx512_core: return "avx512_core";
    case dnnl_cpu_isa_avx512_core_vnni: return "avx512_core_vnni";
    case dnnl_cpu_isa_avx512_core_bf16: return "avx512_core_bf16";
    default: return "other";
    }
}

const struct tf_plugin *tf_plugin_open(uint32_t abi)
{
    static const char *const dtypes[] = { "f32", "i32", "bool", "bf16", NULL };
    static const char *const ops[] = {
        "permute", "reshape", "expand", "slice", "pad", "iota",
        "copy f32 i32 bool bf16", "cast f32 i32 bool bf16", "concat f32 i32 bool bf16",
        "neg f32 bf16", "abs f32 bf16", "exp f32 bf16", "log f32 bf16", "tanh f32 bf16",
        "sqrt f32 bf16", "recip f32 bf16", "rsqrt f32 bf16", "and bool", "or bool",
        "add f32 bf16", "sub f32 bf16", "mul f32 bf16", "div f32 bf16", "maximum f32 bf16",
        "minimum f32 bf16", "lt f32 bf16", "le f32 bf16", "eq f32 bf16 bool", "sum f32 bf16",
        "prod f32 bf16", "mean f32 bf16", "max f32 bf16", "min f32 bf16", "matmul f32 bf16",
        "softmax f32 bf16", "layernorm f32", NULL
    };
    static struct tf_plugin self = {
        .abi = TF_ABI, .name = "onednn", .ops = ops, .dtypes = dtypes,
        .layouts = TF_INPUT_STRIDES | TF_OUTPUT_STRIDES,
        .contract = TF_MAY_CONTRACT | TF_MAY_FLUSH | TF_OPEN_NAN_MAX | TF_OPEN_SPECIAL |
                    TF_OPEN_EMPTY,
        .prepare = prepare, .run = walk_run, .release = walk_release, .ran = walk_ran,
    };
    static char version[64];
    const dnnl_version_t *v = dnnl_version();

    if (abi != TF_ABI)
        return NULL;
    omp_set_num_threads(1);
    if (dnnl_engine_create(&engine, dnnl_cpu, 0) != dnnl_success ||
        dnnl_stream_create(&stream, engine, dnnl_stream_default_flags) != dnnl_success)
        return NULL;
    snprintf(version, sizeof version, "%d.%d.%d %s", v->major, v->minor, v->patch, isa_name());
    self.version = version;
    return &self;
}
