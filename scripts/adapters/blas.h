/*
 * What the plug-ins for BLAS libraries share: products, sums, scalings, copies as calls of the
 * C interface (CBLAS), with any transposes, leading dimensions and increments that the strides
 * of the operands allow. Where several calls give the same thing one is drawn: a product may be
 * gemm, gemv, ger, dot or a complex gemm, a sum may be dot, asum, or the complex asum of a
 * vector of even length.
 *
 * The library is loaded here, after its environment has been set: so it runs one thread.
 */
#ifndef ADAPTERS_BLAS_H
#define ADAPTERS_BLAS_H

#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>

#include "walk.h"

enum { ROW_MAJOR = 101, COL_MAJOR = 102, PLAIN = 111, TRANSPOSED = 112 };

static void *blas_handle;

static void *blas_symbol(const char *format, const char *type)
{
    char name[64];

    snprintf(name, sizeof name, format, type);
    return dlsym(blas_handle, name);
}

struct blas_call {
    const struct tf_node *node;
    struct walk_view arg[TF_MAX_ARGS], out;
    uint64_t pick;
    const char *way; /* which call it is */
    char name[48];
};

/* A matrix as BLAS sees one in the given order. */
struct blas_matrix {
    bool ok;
    int transpose, ld;
};

/* rows x cols with these strides. least: the leading dimension that is large enough. */
static struct blas_matrix blas_matrix(int order, int64_t rows, int64_t cols, int64_t rs,
                                      int64_t cs, uint64_t pick)
{
    struct blas_matrix m = { .ok = true };
    int64_t in_row = order == ROW_MAJOR ? cols : rows,
            rows_of = order == ROW_MAJOR ? rows : cols;
    int64_t step = order == ROW_MAJOR ? cs : rs, ld = order == ROW_MAJOR ? rs : cs;
    int64_t least = in_row > 1 ? in_row : 1, least_t = rows_of > 1 ? rows_of : 1;
    bool plain = (in_row <= 1 || step == 1) && (rows_of <= 1 || ld >= least);
    bool turned = (rows_of <= 1 || ld == 1) && (in_row <= 1 || step >= least_t);

    if (plain && (!turned || pick % 2)) {
        m.transpose = PLAIN;
        m.ld = (int)(rows_of <= 1 || ld < least ? least : ld);
    } else if (turned) {
        m.transpose = TRANSPOSED;
        m.ld = (int)(in_row <= 1 || step < least_t ? least_t : step);
    } else {
        m.ok = false;
    }
    return m;
}

/* Axes of operands and result, merged where all of them allow it: loops round one vector. */
struct blas_loop {
    int rank, n;
    int64_t size[TF_MAX_RANK], step[TF_MAX_ARGS + 1][TF_MAX_RANK];
};

static struct blas_loop blas_loop(const struct walk_view *const *v, int n)
{
    struct blas_loop l = { .n = n };

    for (int i = 0; i < v[0]->rank; i++) {
        bool merge = l.rank > 0;

        if (v[0]->shape[i] == 1)
            continue;
        for (int k = 0; k < n && merge; k++)
            merge = l.step[k][l.rank - 1] == v[k]->stride[i] * v[0]->shape[i];
        if (!merge)
            l.size[l.rank++] = 1;
        l.size[l.rank - 1] *= v[0]->shape[i];
        for (int k = 0; k < n; k++)
            l.step[k][l.rank - 1] = v[k]->stride[i];
    }
    if (l.rank == 0) {
        l.rank = 1;
        l.size[0] = 1;
        for (int k = 0; k < n; k++)
            l.step[k][0] = 1;
    }
    return l;
}

/* Moves at[] on by one vector; false at the end. */
static bool blas_next(const struct blas_loop *l, int64_t *index, int64_t *at)
{
    for (int i = l->rank - 2; i >= 0; i--) {
        for (int k = 0; k < l->n; k++)
            at[k] += l->step[k][i];
        if (++index[i] < l->size[i])
            return true;
        for (int k = 0; k < l->n; k++)
            at[k] -= index[i] * l->step[k][i];
        index[i] = 0;
    }
    return false;
}

static bool blas_is(const struct tf_node *n, const char *op)
{
    return !strcmp(n->op, op);
}

/* The axes that stay, as axes of the operand with the strides of the result; the others get
 * stride 0. */
static struct walk_view blas_kept(const struct tf_node *n, const struct walk_view *x,
                                  const struct walk_view *out)
{
    struct walk_view v = *x;

    for (int i = 0, from = 0; i < x->rank; i++) {
        bool reduced = false;

        for (int k = 0; k < n->n_axes; k++)
            reduced = reduced || n->axes[k] == i;
        v.stride[i] = reduced ? 0 : out->stride[from];
        from += !reduced || n->keep;
    }
    return v;
}

#define REAL     float
#define NAME(x)  f32_##x
#define T        "s"
#define CT       "c"
#define CT_REAL  "sc"
#define CT_SCALE "cs"
#include "blas_type.h"
#undef REAL
#undef NAME
#undef T
#undef CT
#undef CT_REAL
#undef CT_SCALE
#define REAL     double
#define NAME(x)  f64_##x
#define T        "d"
#define CT       "z"
#define CT_REAL  "dz"
#define CT_SCALE "zd"
#include "blas_type.h"

static int blas_make(const struct tf_node *n, const struct walk_view *arg,
                     const struct walk_view *out, uint64_t pick, void **state, char *why,
                     size_t size)
{
    struct blas_call *c = calloc(1, sizeof *c);
    bool wide = arg[0].dtype.bits == 64;

    *c = (struct blas_call){ .node = n, .out = *out, .pick = pick };
    memcpy(c->arg, arg, sizeof c->arg);
    if (n->acc.bits && n->acc.bits != arg[0].dtype.bits && n->acc.bits > 0) {
        free(c);
        return tf_say(TF_REFUSED, why, size, "adds up in its own dtype only");
    }
    for (int j = 0; j < n->n_arg; j++)
        if (walk_count(&arg[j]) > INT_MAX)
            c->way = NULL;
    c->way = wide ? f64_choose(c) : f32_choose(c);
    if (!c->way) {
        free(c);
        return tf_say(TF_REFUSED, why, size, "not with these layouts");
    }
    snprintf(c->name, sizeof c->name, "%s:%s%s", n->op, wide ? "d:" : "s:", c->way);
    *state = c;
    return TF_OK;
}

static int blas_call(void *state, void *const *arg, void *out, char *why, size_t size)
{
    struct blas_call *c = state;

    (void)why;
    (void)size;
    if (c->arg[0].dtype.bits == 64)
        f64_do(c, arg, out);
    else
        f32_do(c, arg, out);
    return TF_OK;
}

static void blas_drop(void *state)
{
    free(state);
}

static const char *blas_ran(void *state)
{
    return ((struct blas_call *)state)->name;
}

static const struct walk_library blas_library = { blas_make, blas_call, blas_drop, blas_ran,
                                                  NULL,      NULL,      true };

static int blas_prepare(const struct tf_program *p, void **state, char *why, size_t n)
{
    return walk_prepare(&blas_library, p, state, why, n);
}

/* Does /proc/cpuinfo name the flag? Code of another dispatch target may need it. */
static bool cpu_has(const char *flag)
{
    FILE *f = fopen("/proc/cpuinfo", "r");
    char line[8192];
    bool has = false;

    while (f && !has && fgets(line, sizeof line, f)) {
        if (strncmp(line, "flags", 5))
            continue;
        for (char *save, *word = strtok_r(line, " \t\n", &save); word && !has;
             word = strtok_r(NULL, " \t\n", &save))
            has = !strcmp(word, flag);
        break;
    }
    if (f)
        fclose(f);
    return has;
}

/* Loads it; false = it isn't there. TILEFUZZ_BLAS names another file. */
static bool blas_load(const char *file)
{
    const char *other = getenv("TILEFUZZ_BLAS");

    blas_handle = dlopen(other ? other : file, RTLD_NOW | RTLD_LOCAL);
    if (!blas_handle)
        return false;
    f32_load();
    f64_load();
    return true;
}
#endif
