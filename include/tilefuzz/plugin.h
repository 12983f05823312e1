/* clang-format off */
/*
 * The plug-in interface of tilefuzz, version 1: how a tensor compiler or library is tested in
 * process. It needs dlpack.h (Debian: libdlpack-dev) and nothing else of ours. Build a shared
 * object that exports tf_plugin_open, and hunt:
 *
 *     cc -O2 -shared -fPIC -o mine.so mine.c
 *     tilefuzz fuzz --backends plugin:./mine.so --for 60s
 *
 * A whole plug-in, for a library that takes absolute values and changes signs:
 *
 *     #include <math.h>
 *     #include <tilefuzz/plugin.h>
 *     static int prepare(const struct tf_program *p, void **state, char *why, size_t n)
 *     {
 *         *state = (void *)p; // stays as it is until release
 *         return p->n_output == 1 && p->node[p->output[0]].input < 0
 *                    ? TF_OK : tf_say(TF_REFUSED, why, n, "one output, and that no input");
 *     }
 *     static int run(void *state, const DLTensor *in, const DLTensor *out, char *why, size_t n)
 *     {
 *         const struct tf_program *p = state;
 *         const struct tf_node *x = &p->node[p->output[0]];
 *         const float *from = in[p->node[x->arg[0]].input].data;
 *         for (int64_t i = 0; i < x->count; i++)
 *             ((float *)out->data)[i] = x->op[0] == 'n' ? -from[i] : fabsf(from[i]);
 *         return TF_OK;
 *     }
 *     static const char *const ops[] = { "neg", "abs", NULL }, *const dtypes[] = { "f32", NULL };
 *     static const struct tf_plugin self = { .abi = TF_ABI, .name = "signs", .version = "1.0",
 *         .ops = ops, .dtypes = dtypes, .max_nodes = 1, .prepare = prepare, .run = run };
 *     const struct tf_plugin *tf_plugin_open(uint32_t abi)
 *     {
 *         return abi == TF_ABI ? &self : NULL;
 *     }
 *
 * What is called when: tf_plugin_open once in each process that uses the plug-in; then for
 * every trial prepare, run as often as wanted with other memory and other data, release. One
 * thread calls. A process may be a fork of one that never opened the plug-in, so nothing is
 * shared between processes. A crash, a hang, a write beside an output, a changed input and a
 * wrong element are verdicts; the hunt goes on. stdout and stderr are kept as the log.
 */
/* clang-format on */
#ifndef TILEFUZZ_PLUGIN_H
#define TILEFUZZ_PLUGIN_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <dlpack/dlpack.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TF_ABI 1u
enum { TF_MAX_RANK = 8, TF_MAX_ARGS = 4 };

/*
 * dtypes by name, as DLPack says them: f32 f64 f16 {kDLFloat, 32 64 16}, bf16 {kDLBfloat, 16},
 * i32 {kDLInt, 32}, bool {TF_DL_BOOL, 8}: one byte, 0 or 1. lanes is 1.
 */
enum { TF_DL_BOOL = 6 }; /* kDLBool of newer DLPack headers */

/*
 * One line of a program. What ops mean is said in corpus/README.md; `tilefuzz list ops` lists
 * them. Operands are earlier nodes of equal shapes and dtypes; only literals broadcast.
 *
 *   op          attributes
 *   input       input: number of the tensor handed to run
 *   const       value; rank 0
 *   iota        axis
 *   permute     perm: axis i of the result is axis perm[i] of the operand
 *   reshape expand copy cast   dtype and shape of the result say it all
 *   slice       lo hi by: start, stop (exclusive; -1 = past element 0), step (may be < 0)
 *   pad         lo hi: elements before and after; value: the fill
 *   roll        lo: the shift, of either sign: element i is element i - lo, round and round
 *   repeat      by: how often: element i is element i mod n
 *   sum prod max min mean      n_axes, axes (ascending), keep; acc
 *   matmul      acc, alpha, beta: alpha * a b, and + beta * c if there is a third operand;
 *               what is times 0 is not read: a NaN in it does not matter
 *   softmax logsoftmax argmax gather concat   axis
 *   assign      lo hi by as slice: operand 0 with these elements of it set to operand 1, which
 *               has their shape or is a literal, and is often a view of operand 0
 *   cumsum      axis, acc
 *   layernorm rmsnorm          eps; operands x, gain (, bias)
 *   attention   scale, mask, empty; operands q, k, v (, mask)
 */
struct tf_node {
    const char *name, *op;
    DLDataType dtype; /* of the result */
    int32_t rank;
    int64_t shape[TF_MAX_RANK];
    int64_t count; /* elements: product of shape */
    int32_t input; /* number among the inputs; -1 = not an input */
    int32_t n_arg;
    int32_t arg[TF_MAX_ARGS];    /* number of an earlier node; -1 = a literal */
    double literal[TF_MAX_ARGS]; /* then this, rounded to the dtype of the other operands */
    DLDataType acc;              /* dtype that reductions and composites compute in */
    int32_t axis;
    int32_t n_axes, axes[TF_MAX_RANK];
    int32_t keep; /* reduced axes stay, with size 1 */
    int32_t perm[TF_MAX_RANK];
    int64_t lo[TF_MAX_RANK], hi[TF_MAX_RANK], by[TF_MAX_RANK];
    double value, eps, scale, alpha, beta;
    const char *mask;  /* "none" "causal" "causal_br" "bool" "add" */
    const char *empty; /* a query without keys gives: "nan" "zero" */
};

struct tf_program {
    int32_t n_node, n_input, n_output;
    const struct tf_node *node;
    const int32_t *input;  /* node numbers */
    const int32_t *output; /* node numbers; an input may be an output too */
    /* how the tensors will lie: as in run, but data is NULL */
    const DLTensor *in, *out;
    const char *text; /* the trial in words, for messages and for debugging */
};

enum tf_status {
    TF_OK,
    TF_REFUSED, /* not supported, and why says what: counted, no finding */
    TF_FAILED   /* should have worked: a finding, and why is its log */
};

/* Layouts beyond dense row-major that tensors may have. */
enum {
    TF_INPUT_STRIDES = 1, /* any strides >= 0, zero among them */
    TF_OUTPUT_STRIDES = 2 /* any strides without overlap; gaps must be left alone */
};

/*
 * The contract: what the judge may not hold against you. TF_MAY_x widens what is right by
 * exactly that; what is TF_OPEN_x is not judged, and counted. Any order of summation, and the
 * choice between -0 and 0, are free in any case.
 */
enum {
    TF_MAY_CONTRACT = 1,       /* a*b+c with one rounding */
    TF_MAY_FLUSH = 2,          /* subnormals, operands or results, become 0 */
    TF_MAY_RESCALE = 4,        /* softmax, attention in one pass with a running maximum */
    TF_MAY_RECIPROCAL = 8,     /* x/y as x * (1/y), in mean softmax layernorm rmsnorm too */
    TF_MAY_VARY = 0x10,        /* two runs with the same data may differ, both within what is
                                  right: the order of sums goes by where memory lies, say */
    TF_MAY_EXCESS = 0x20,      /* a result of dtype f16 or bf16 may reach the ops that read it
                                  before it is rounded; what a cast gives is rounded */
    TF_MAY_UNCAST = 0x40,      /* what a cast to f16 or bf16 gives need not be rounded either */
    TF_MAY_APPROXIMATE = 0x80, /* exp exp2 log tanh erf by short polynomials: off by 2^-15 of
                                the result, log tanh erf by 2^-20 besides; of halves by 8
                                units of the half as well, exp by 2 |x| more; not exp(0),
                                log(1), tanh(0), erf(0). The exp and log inside of softmax
                                logsoftmax attention: by 2^-15 and 2^-20 */
    TF_OPEN_NAN_MAX = 0x100,   /* whether NaN wins in max min maximum minimum argmax */
    TF_OPEN_SPECIAL = 0x200,   /* anything about NaN and infinities */
    TF_OPEN_DOMAIN = 0x400,    /* i32 x/0 and MIN/-1, float to i32 out of range,
                                  gather outside (but neither may crash) */
    TF_OPEN_EMPTY = 0x800,     /* max min mean of nothing */
    TF_OPEN_TIES = 0x1000,     /* argmax: which of several */
    TF_OPEN_HALF_SUMS = 0x2000, /* f16 bf16 may be added up in less than f32 */
    TF_OPEN_FUNCTIONS = 0x4000, /* accuracy of exp exp2 log tanh erf, and of what uses them */
    TF_OPEN_OVERFLOW = 0x8000   /* sum prod cumsum matmul of i32 whose true value is no i32 */
};

struct tf_plugin {
    uint32_t abi;              /* TF_ABI */
    const char *name;          /* of the library: "openblas" */
    const char *version;       /* and what is loaded, with its core: "0.3.21 SkylakeX" */
    const char *const *ops;    /* ends with NULL. "matmul", or with its dtypes "matmul f32 f64";
                                  NULL = all. input and const need not be named */
    const char *const *dtypes; /* ends with NULL; NULL = all */
    int32_t max_rank;          /* 0 = TF_MAX_RANK */
    int32_t max_nodes;         /* of a program, input and const not counted; 0 = any */
    uint32_t layouts;          /* TF_INPUT_STRIDES | .. */
    uint32_t contract;         /* TF_MAY_x | TF_OPEN_x */
    /* p and all in it live until release. why has room for n bytes. */
    int (*prepare)(const struct tf_program *p, void **state, char *why, size_t n);
    /*
     * in and out in the order of p->input and p->output. data points to element 0 (byte_offset
     * is 0) and is aligned to the element, no more; strides are always given, in elements. On
     * either side of a tensor are poison and a guard page; float outputs hold NaN (bytes 0xff).
     */
    int (*run)(void *state, const DLTensor *in, const DLTensor *out, char *why, size_t n);
    void (*release)(void *state); /* NULL = nothing to do */
    /* What really ran, after prepare or run: "jit:avx512_core". Part of a bug's identity, so
     * the same for the same code. NULL = nothing to tell. */
    void (*ran)(void *state, char *buf, size_t n);
};

/* The one symbol. NULL = this version is not spoken. What it points to stays. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const struct tf_plugin *
tf_plugin_open(uint32_t abi);

/* Sets why and returns status. */
static inline int tf_say(int status, char *why, size_t n, const char *text)
{
    snprintf(why, n, "%s", text);
    return status;
}

#ifdef __cplusplus
}
#endif
#endif
