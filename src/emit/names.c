/*
 * Names of one kernel: buffers are called like their nodes, loops of the kernel's own node
 * i0, r0, i0_1, other nodes' loops P_r0. A name that is taken, or that C or the vocabulary
 * reserves, gets underscores until it is free.
 */
#include "emit/cgen.h"

#include <ctype.h>
#include <string.h>

#include "base/bug.h"

/* C's keywords, what gnu modes predefine, and the functions that the preludes call. */
/* clang-format off */
static const char *const reserved[] = {
    "alignas", "alignof", "asm", "auto", "bool", "break", "case", "char", "const", "constexpr",
    "continue", "default", "do", "double", "else", "enum", "erf", "erff", "exp", "exp2",
    "exp2f", "expf", "extern", "false", "float", "for", "goto", "i386", "if", "inline", "int",
    "linux", "log", "logf", "long", "main", "nullptr", "p", "register", "restrict", "return",
    "short", "signed", "sizeof", "sqrt", "sqrtf", "static", "static_assert", "struct", "switch",
    "tanh", "tanhf", "true", "typedef", "typeof", "union", "unix", "unsigned", "void",
    "volatile", "while", "thread_local", "typeof_unqual",
};
/* Beside these for a GPU, where nvcc reads C++ behind the headers of the CUDA runtime. */
static const char *const reserved_cuda[] = {
    "and", "and_eq", "assert", "atomicAdd", "bitand", "bitor", "blockDim", "blockIdx", "catch",
    "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return", "co_yield", "compl",
    "concept", "const_cast", "consteval", "constinit", "decltype", "delete", "dynamic_cast",
    "errno", "explicit", "export", "friend", "gridDim", "mutable", "namespace", "new", "noexcept",
    "not", "not_eq", "operator", "or", "or_eq", "private", "protected", "public",
    "reinterpret_cast", "requires", "static_cast", "stderr", "stdin", "stdout", "template",
    "this", "threadIdx", "throw", "try", "typeid", "typename", "using", "virtual", "warpSize",
    "wchar_t", "xor", "xor_eq",
};
/* clang-format on */

static bool listed(const char *const *list, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(name, list[i]))
            return true;
    return false;
}

/* INT_MAX and the like: macros of headers have no small letters. */
static bool like_macro(const char *name)
{
    return strlen(name) > 2 && !strpbrk(name, "abcdefghijklmnopqrstuvwxyz");
}

static bool taken(const struct cgen *g, const char *name)
{
    if (!strncmp(name, "tf_", 3) || !strncmp(name, "TF_", 3))
        return true;
    if (listed(reserved, ARRAY_LEN(reserved), name))
        return true;
    if (g->sites && listed(reserved_cuda, ARRAY_LEN(reserved_cuda), name))
        return true;
    for (int i = 0; i < g->n_used; i++)
        if (!strcmp(name, g->used[i]))
            return true;
    return false;
}

static const char *identifier(struct arena *a, const char *name)
{
    char *s = arena_strdup(a, name);

    for (char *c = s; *c; c++)
        if (*c == '.')
            *c = '_';
    return s;
}

const char *cgen_unique(struct cgen *g, const char *want)
{
    struct arena *a = g->l->arena;
    const char *name = identifier(a, want);

    /* tf_x would stay reserved with any number of underscores behind it */
    if (!strncmp(name, "tf_", 3) || !strncmp(name, "TF_", 3))
        name = arena_printf(a, "x_%s", name);
    if (g->sites && like_macro(name))
        name = arena_printf(a, "x_%s", name);
    while (taken(g, name))
        name = arena_printf(a, "%s_", name);
    *arena_push(a, g->used, g->n_used, g->cap_used) = name;
    return name;
}

/* "s.i0" without "s." in a kernel of node s */
static const char *without_node(const struct cgen *g, const char *name)
{
    const char *own = g->k->node >= 0 ? g->l->prog->node[g->k->node].name : g->k->name;
    size_t n = strlen(own);

    return !strncmp(name, own, n) && name[n] == '.' ? name + n + 1 : name;
}

static void name_buffer(struct cgen *g, int b)
{
    if (!g->buf[b])
        g->buf[b] = cgen_unique(g, g->l->buffer[b].name);
}

static void name_value(struct cgen *g, int val);

static void name_access(struct cgen *g, int access)
{
    const struct access *x = &g->l->access[access];

    if (!x->composed)
        BUG("kernel %s: emitting an access whose views are not composed", g->k->name);
    if (x->src == SRC_BUFFER)
        name_buffer(g, x->buffer);
    if (x->src == SRC_BODY)
        name_value(g, x->body);
}

static void name_value(struct cgen *g, int val)
{
    const struct value *v = &g->l->value[val];

    if (g->value[val].stamp == g->stamp)
        return;
    g->value[val].stamp = g->stamp;
    switch (v->kind) {
    case V_LIT:
    case V_INDEX:
        return;
    case V_LOAD:
        name_access(g, v->arg[0]);
        return;
    case V_ACC:
    case V_SHFL:
        g->acc_read[v->arg[0]] = true;
        return;
    case V_OP:
        for (int i = 0; i < op_info(v->op)->n_arg; i++)
            name_value(g, v->arg[i]);
        return;
    }
}

static void name_statement(struct cgen *g, const struct stmt *st)
{
    if (st->kind == ST_LOOP && !g->var[st->var])
        g->var[st->var] = cgen_unique(g, without_node(g, g->l->var[st->var].name));
    if (st->kind == ST_DECL && !g->acc[st->acc]) {
        const char *own = g->k->node >= 0 ? g->l->prog->node[g->k->node].name : "";
        const char *name = g->l->acc[st->acc].name;

        g->acc[st->acc] = cgen_unique(
            g, strcmp(name, own) ? arena_printf(g->l->arena, "%s_acc", name) : "acc");
    }
    if (stmt_has_value(st))
        name_value(g, st->val);
    if (stmt_has_access(st)) {
        name_access(g, st->access);
        g->stored[g->l->access[st->access].buffer] = true;
    }
}

/* "v", or "vv" .. when something is called v1 */
static void name_locals(struct cgen *g)
{
    g->local = "v";
    for (int i = 0; i < g->n_used; i++) {
        size_t n = strlen(g->local);

        if (!strncmp(g->used[i], g->local, n) && isdigit((unsigned char)g->used[i][n])) {
            g->local = arena_printf(g->l->arena, "%sv", g->local);
            i = -1;
        }
    }
}

void cgen_names(struct cgen *g, int kernel)
{
    const struct lprog *l = g->l;
    struct arena *a = l->arena;

    g->kernel = kernel;
    g->k = &l->kernel[kernel];
    g->lane_var = -1;
    g->buf = arena_array(a, const char *, l->n_buffer + 1);
    g->var = arena_array(a, const char *, l->n_var + 1);
    g->acc = arena_array(a, const char *, l->n_acc + 1);
    g->stored = arena_array(a, bool, l->n_buffer + 1);
    g->acc_read = arena_array(a, bool, l->n_acc + 1);
    g->acc_depth = arena_array(a, int, l->n_acc + 1);
    for (int i = 0; i < l->n_acc; i++)
        g->acc_depth[i] = -1;
    if (!g->value)
        g->value = arena_array(a, struct cvalue, l->n_value + 1);
    if (!g->extent) {
        g->extent = arena_array(a, int64_t, l->n_var + 1);
        for (int i = 0; i < l->n_var; i++)
            g->extent[i] = l->var[i].extent;
    }
    g->n_used = g->n_local = 0;
    g->stamp++;
    /* buffers first: they keep their nodes' names */
    for (int i = 0; i < g->k->n; i++)
        if (stmt_has_value(&g->k->st[i]))
            name_statement(g, &g->k->st[i]);
    for (int i = 0; i < g->k->n; i++)
        if (g->k->st[i].kind == ST_LOOP || g->k->st[i].kind == ST_DECL)
            name_statement(g, &g->k->st[i]);
    name_locals(g);
}

/* Kernels of nodes come first: a part "s.part" gives way to a node called s_part. */
static bool kernel_name_taken(const struct lprog *l, int k, const char *name)
{
    for (int i = 0; i < l->n_kernel; i++)
        if (i != k && (i < k || !strchr(l->kernel[i].name, '.')) &&
            !strcmp(identifier(l->arena, l->kernel[i].name), name))
            return true;
    return false;
}

const char *cgen_kernel_name(const struct lprog *l, int k)
{
    const char *name = identifier(l->arena, l->kernel[k].name);

    while (strchr(l->kernel[k].name, '.') && kernel_name_taken(l, k, name))
        name = arena_printf(l->arena, "%s_", name);
    return name;
}
