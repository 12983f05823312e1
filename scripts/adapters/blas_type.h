/*
 * The calls for one real type: included by blas.h for float and for double, as REAL, with NAME
 * and the letters of the type. No include guard: that's meant.
 */
static struct {
    void (*gemm)(int, int, int, int, int, int, REAL, const REAL *, int, const REAL *, int, REAL,
                 REAL *, int);
    void (*gemv)(int, int, int, int, REAL, const REAL *, int, const REAL *, int, REAL, REAL *,
                 int);
    void (*ger)(int, int, int, REAL, const REAL *, int, const REAL *, int, REAL *, int);
    REAL (*dot)(int, const REAL *, int, const REAL *, int);
    void (*axpy)(int, REAL, const REAL *, int, REAL *, int);
    void (*scal)(int, REAL, REAL *, int);
    void (*copy)(int, const REAL *, int, REAL *, int);
    REAL (*asum)(int, const REAL *, int);
    void (*sbmv)(int, int, int, int, REAL, const REAL *, int, const REAL *, int, REAL, REAL *,
                 int);
    /* a real vector of even length as a complex one */
    REAL (*complex_asum)(int, const void *, int);
    void (*complex_scal)(int, REAL, void *, int);
    void (*complex_axpy)(int, const void *, const void *, int, void *, int);
    void (*complex_copy)(int, const void *, int, void *, int);
    void (*complex_dot)(int, const void *, int, const void *, int, void *);
    void (*complex_gemm)(int, int, int, int, int, int, const void *, const void *, int,
                         const void *, int, const void *, void *, int);
    /* extensions: NULL where the library has none */
    REAL (*sum)(int, const REAL *, int);
    REAL (*complex_sum)(int, const void *, int);
    size_t (*imax)(int, const REAL *, int);
    size_t (*imin)(int, const REAL *, int);
    void (*axpby)(int, REAL, const REAL *, int, REAL, REAL *, int);
    void (*omatcopy)(int, int, int, int, REAL, const REAL *, int, REAL *, int);
    /* BLIS's own: rows and columns may both have strides */
    void (*strided_gemm)(int, int, int64_t, int64_t, int64_t, const REAL *, const REAL *,
                         int64_t, int64_t, const REAL *, int64_t, int64_t, const REAL *, REAL *,
                         int64_t, int64_t);
} NAME(blas);

static void NAME(load)(void)
{
    static const struct {
        void *to;
        const char *format, *type;
    } rows[] = {
        { &NAME(blas).gemm, "cblas_%sgemm", T },
        { &NAME(blas).gemv, "cblas_%sgemv", T },
        { &NAME(blas).ger, "cblas_%sger", T },
        { &NAME(blas).dot, "cblas_%sdot", T },
        { &NAME(blas).axpy, "cblas_%saxpy", T },
        { &NAME(blas).scal, "cblas_%sscal", T },
        { &NAME(blas).copy, "cblas_%scopy", T },
        { &NAME(blas).asum, "cblas_%sasum", T },
        { &NAME(blas).sbmv, "cblas_%ssbmv", T },
        { &NAME(blas).complex_asum, "cblas_%sasum", CT_REAL },
        { &NAME(blas).complex_scal, "cblas_%sscal", CT_SCALE },
        { &NAME(blas).complex_axpy, "cblas_%saxpy", CT },
        { &NAME(blas).complex_copy, "cblas_%scopy", CT },
        { &NAME(blas).complex_dot, "cblas_%sdotc_sub", CT },
        { &NAME(blas).complex_gemm, "cblas_%sgemm", CT },
        { &NAME(blas).sum, "cblas_%ssum", T },
        { &NAME(blas).complex_sum, "cblas_%ssum", CT_REAL },
        { &NAME(blas).imax, "cblas_i%smax", T },
        { &NAME(blas).imin, "cblas_i%smin", T },
        { &NAME(blas).axpby, "cblas_%saxpby", T },
        { &NAME(blas).omatcopy, "cblas_%somatcopy", T },
        { &NAME(blas).strided_gemm, "bli_%sgemm", T },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        *(void **)rows[i].to = blas_symbol(rows[i].format, rows[i].type);
}

/* Where BLAS wants a vector of n to begin whose first element is at p. */
static const REAL *NAME(from)(const REAL *p, int64_t n, int64_t step)
{
    return step < 0 && n > 0 ? p + (n - 1) * step : p;
}

static REAL *NAME(to)(REAL *p, int64_t n, int64_t step)
{
    return step < 0 && n > 0 ? p + (n - 1) * step : p;
}

/* Room for n elements with NaN behind them. */
static REAL *NAME(room)(int64_t n)
{
    size_t bytes = (size_t)(n + 16) * sizeof(REAL);
    REAL *p = malloc(bytes);

    memset(p, 0xff, bytes);
    return p;
}

#include "blas_product.h"
#include "blas_reduce.h"
#include "blas_vector.h"

static const char *NAME(choose)(const struct blas_call *c)
{
    if (blas_is(c->node, "matmul"))
        return NAME(product_way)(c);
    return c->node->n_axes || blas_is(c->node, "argmax") ? NAME(reduce_way)(c)
                                                         : NAME(vector_way)(c);
}

static void NAME(do)(const struct blas_call *c, void *const *arg, void *out)
{
    if (blas_is(c->node, "matmul"))
        NAME(products)(c, arg, out);
    else if (c->node->n_axes || blas_is(c->node, "argmax"))
        NAME(reduce)(c, arg[0], out);
    else if (!strcmp(c->way, "omatcopy"))
        NAME(transpose)(c, arg[0], out);
    else
        NAME(vectors)(c, arg, out);
}
