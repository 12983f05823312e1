/*
 * oneDNN (2.6 and its relatives) as a plug-in: each op is a primitive, and layouts go to it as
 * the strides of its memory descriptors. Built and hunted with:
 *
 *     tilefuzz fuzz --backends "$(scripts/adapters/setup onednn)" --for 60s
 *
 * ONEDNN_MAX_CPU_ISA=SSE41 and the like, set before tilefuzz starts, choose other code: a
 * backend of its own, told apart by its version. Scratchpads are the user's: filled with 0xff.
 */
#include <omp.h>

#include "onednn_make.h"

struct call {
    dnnl_primitive_t primitive;
    int n_arg;
    int index[TF_MAX_ARGS + 2]; /* DNNL_ARG_x: the operands, the result, the scratchpad */
    dnnl_memory_t memory[TF_MAX_ARGS + 2];
    int operand[TF_MAX_ARGS]; /* which one is the k-th */
    void *scratch;
    size_t scratch_bytes;
    bool adds; /* the result starts as the third operand */
    struct walk_view c, y;
    char name[64];
};

static dnnl_stream_t stream;

/* One descriptor stands for operand and result. */
static int like(const struct tf_node *n)
{
    for (size_t i = 0; i < sizeof eltwise / sizeof *eltwise; i++)
        if (is(n, eltwise[i].op))
            return 0;
    return is(n, "softmax") || is(n, "logsoftmax") || is(n, "layernorm") ? 0 : -1;
}

static bool same_strides(const struct walk_view *a, const struct walk_view *b)
{
    for (int i = 0; i < a->rank; i++)
        if (a->shape[i] > 1 && a->stride[i] != b->stride[i])
            return false;
    return true;
}

/* Is it what reports/found/ has, and to be avoided? */
static bool known(const struct build *b)
{
    const struct tf_node *n = b->node;
    const struct walk_view *x = &b->arg[0];

    if (is(n, "matmul") && (walk_count(x) == 0 || walk_count(&b->arg[1]) == 0))
        return walk_around(walk_count(b->out) == 0 ? 7 : 8) || walk_around(7);
    if (is(n, "layernorm") && !walk_is_dense(x))
        return walk_around(3);
    if (is(n, "layernorm") && dnnl_get_effective_cpu_isa() < dnnl_cpu_isa_avx2)
        return walk_around(12);
    if (like(n) == 0 && x->rank < 2 && !walk_is_dense(x))
        return walk_around(4);
    if (like(n) == 0 && x->rank > 5 && !walk_is_dense(x))
        return walk_around(11);
    if ((is(n, "copy") || is(n, "cast") || is(n, "concat")) &&
        (walk_count(x) == 0 || walk_count(&b->arg[n->n_arg - 1]) == 0))
        return walk_around(5);
    if ((is(n, "copy") || is(n, "cast")) && x->rank > 3 && !walk_is_dense(x) &&
        !walk_is_dense(b->out))
        return walk_around(13);
    if (b->out->dtype.bits == 8 && n->n_arg == 2 && !same_strides(b->out, x))
        return walk_around(6);
    if (n->n_arg == 2 && x->dtype.code != b->arg[1].dtype.code)
        return walk_around(9);
    return false;
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
    if (is(b->node, "matmul") && b->node->n_arg == 3 && b->node->beta != 0) {
        c->adds = true;
        c->c = b->arg[2];
        c->y = *b->out;
    }
    dnnl_primitive_desc_query(b->pd, dnnl_query_impl_info_str, 0, &name);
    snprintf(c->name, sizeof c->name, "%s:%s", b->node->op, name);
    return c;
}

static int refuse(const struct build *b, char *why, size_t size)
{
    snprintf(why, size, "no %s like this (%s)", b->node->op,
             b->refused                            ? b->refused
             : b->status == dnnl_unimplemented     ? "unimplemented"
             : b->status == dnnl_invalid_arguments ? "invalid arguments"
                                                   : "failed");
    return TF_REFUSED;
}

static int make(const struct tf_node *n, const struct walk_view *arg,
                const struct walk_view *out, uint64_t pick, void **state, char *why,
                size_t size)
{
    struct build b = { .node = n, .arg = arg, .out = out };
    struct call *c;
    bool reduces = n->n_axes > 0 || is(n, "matmul");

    (void)pick;
    if (is(n, "matmul") && n->alpha == 0)
        return tf_say(TF_REFUSED, why, size, "a scale of 0 is a factor like others");
    if (reduces && n->acc.bits && n->acc.bits != 32)
        return tf_say(TF_REFUSED, why, size, "adds up in f32 only");
    if (is(n, "layernorm") && !(walk_is_dense(&arg[1]) && walk_is_dense(&arg[2])))
        return tf_say(TF_REFUSED, why, size, "scale and shift are dense");
    for (int j = 0; j < n->n_arg && j < (is(n, "matmul") ? 2 : 3) && b.status == dnnl_success;
         j++)
        b.status = describe(&b.x[j], &arg[j], j == 1 && out->rank > 0 && !is(n, "matmul"));
    if (b.status == dnnl_success)
        b.status = describe(&b.y, out, false);
    if (b.status != dnnl_success)
        return refuse(&b, why, size);
    if (known(&b))
        return tf_say(TF_REFUSED, why, size, "a known failure");
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

    if (c->adds)
        walk_copy(&c->c, arg[2], &c->y, out);
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

/* Arithmetic on operands of different dtypes, as if they were cast to f32 before. */
static bool through(const struct tf_node *n, const struct tf_node *cast, DLDataType from)
{
    if (cast->dtype.code != kDLFloat || (from.code != kDLBfloat && from.bits != 8))
        return false;
    for (size_t i = 0; i < sizeof binary / sizeof *binary; i++)
        if (is(n, binary[i].op))
            return n->count % 4 != 0;
    return is(n, "sum") || is(n, "mean") || is(n, "max") || is(n, "min");
}

static const struct walk_library library = { make, call, drop, ran, like, through, false };

static int prepare(const struct tf_program *p, void **state, char *why, size_t n)
{
    return walk_prepare(&library, p, state, why, n);
}

static const char *isa_name(void)
{
    switch ((int)dnnl_get_effective_cpu_isa()) {
    case dnnl_cpu_isa_sse41:
        return "sse41";
    case dnnl_cpu_isa_avx:
        return "avx";
    case dnnl_cpu_isa_avx2:
        return "avx2";
    case dnnl_cpu_isa_avx2_vnni:
        return "avx2_vnni";
    case dnnl_cpu_isa_avx512_core:
        return "avx512_core";
    case dnnl_cpu_isa_avx512_core_vnni:
        return "avx512_core_vnni";
    case dnnl_cpu_isa_avx512_core_bf16:
        return "avx512_core_bf16";
    default:
        return "other";
    }
}

const struct tf_plugin *tf_plugin_open(uint32_t abi)
{
    static const char *const dtypes[] = { "f32", "i32", "bool", "bf16", NULL };
    /* exp, log and logsoftmax are left out: they are some 1e-6 off, and nothing promises more
     */
    // clang-format off
    static const char *const ops[] = {
        "permute", "reshape", "expand", "slice", "pad", "iota", "copy f32 i32 bool bf16",
        "cast f32 i32 bool bf16", "concat f32 i32 bool bf16", "neg f32 bf16", "abs f32 bf16",
        "tanh f32 bf16", "sqrt f32 bf16", "recip f32 bf16", "rsqrt f32 bf16", "and bool",
        "or bool", "add f32 bf16", "sub f32 bf16", "mul f32 bf16", "div f32 bf16",
        "maximum f32 bf16", "minimum f32 bf16", "lt f32 bf16", "le f32 bf16",
        "eq f32 bf16 bool", "sum f32 bf16", "prod f32 bf16", "mean f32 bf16", "max f32 bf16",
        "min f32 bf16", "matmul f32 bf16", "softmax f32", "layernorm f32", NULL
    };
    // clang-format on
    static struct tf_plugin self = {
        WALK_PLUGIN,
        .name = "onednn",
        .ops = ops,
        .dtypes = dtypes,
        .contract =
            TF_MAY_CONTRACT | TF_MAY_FLUSH | TF_OPEN_NAN_MAX | TF_OPEN_SPECIAL | TF_OPEN_EMPTY,
        .prepare = prepare,
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
