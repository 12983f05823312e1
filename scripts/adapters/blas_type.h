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
    size_t (*imax)(int, const REAL *, int);
    size_t (*imin)(int, const REAL *, int);
    void (*axpby)(int, REAL, const REAL *, int, REAL, REAL *, int);
    void (*omatcopy)(int, int, int, int, REAL, const REAL *, int, REAL *, int);
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
        { &NAME(blas).imax, "cblas_i%smax", T },
        { &NAME(blas).imin, "cblas_i%smin", T },
        { &NAME(blas).axpby, "cblas_%saxpby", T },
        { &NAME(blas).omatcopy, "cblas_%somatcopy", T },
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

/* One product, not of several batches. */
struct NAME(product) {
    int64_t m, n, k;
    const int64_t *as, *bs, *cs; /* two strides each */
    REAL alpha, beta;
};

static const char *NAME(product_way)(const struct blas_call *c)
{
    int r = c->out.rank;
    const int64_t *cs = c->out.stride + r - 2, *as = c->arg[0].stride + r - 2,
                  *bs = c->arg[1].stride + r - 2;
    int64_t m = c->out.shape[r - 2], n = c->out.shape[r - 1], k = c->arg[0].shape[r - 1];
    int order = c->pick >> 3 & 1 ? ROW_MAJOR : COL_MAJOR;
    bool whole = c->node->n_arg == 2 && (float)c->node->alpha == 1;

    for (int i = 0; i < r - 2; i++)
        if (c->arg[0].stride[i] < 0 || c->arg[1].stride[i] < 0 || c->out.stride[i] < 0)
            return NULL;
    for (int turn = 0; turn < 2; turn++, order = ROW_MAJOR + COL_MAJOR - order) {
        struct blas_matrix out = blas_matrix(order, m, n, cs[0], cs[1], 1);
        bool a = blas_matrix(order, m, k, as[0], as[1], c->pick >> 4).ok;
        bool b = blas_matrix(order, k, n, bs[0], bs[1], c->pick >> 5).ok;

        if (!out.ok || out.transpose != PLAIN)
            continue;
        if (whole && m > 0 && n > 0 && c->pick >> 8 & 1) {
            if (m == 1 && n == 1 && as[1] && bs[0])
                return "dot";
            if (n == 1 && a && bs[0] && cs[0])
                return "gemv";
            if (k == 1 && as[0] && bs[1])
                return "ger";
        }
        if (whole && a && bs[0] && cs[0] && n < 20 && (c->pick >> 9) % 5 == 0)
            return "gemv";
        if (whole && as[1] && bs[0] && m * n < 200 && (c->pick >> 9) % 9 == 1)
            return "dot";
        if (a && b)
            return whole && (c->pick >> 9) % 4 == 2 ? "complex_gemm" : "gemm";
    }
    return NULL;
}

static void NAME(complex_product)(int order, int ta, int tb, const struct NAME(product) *p,
                                  const REAL *a, const REAL *b, REAL *c)
{
    int64_t m = p->m, n = p->n, k = p->k;
    REAL *x = NAME(room)(2 * m * k), *y = NAME(room)(2 * k * n), *z = NAME(room)(2 * m * n);
    REAL one[2] = { 1, 0 }, zero[2] = { 0, 0 };
    bool rows = order == ROW_MAJOR, row_a = rows == (ta == PLAIN), row_b = rows == (tb == PLAIN);
    int64_t ld_a = row_a ? k : m, ld_b = row_b ? n : k, ld_c = rows ? n : m;

    for (int64_t i = 0; i < m * k; i++) {
        int64_t at = row_a ? i : i / k + i % k * m;

        x[2 * at] = a[i / k * p->as[0] + i % k * p->as[1]];
        x[2 * at + 1] = 0;
    }
    for (int64_t i = 0; i < k * n; i++) {
        int64_t at = row_b ? i : i / n + i % n * k;

        y[2 * at] = b[i / n * p->bs[0] + i % n * p->bs[1]];
        y[2 * at + 1] = 0;
    }
    NAME(blas).complex_gemm(order, ta, tb, (int)m, (int)n, (int)k, one, x, ld_a > 1 ? (int)ld_a : 1,
                            y, ld_b > 1 ? (int)ld_b : 1, zero, z, ld_c > 1 ? (int)ld_c : 1);
    for (int64_t i = 0; i < m * n; i++)
        c[i / n * p->cs[0] + i % n * p->cs[1]] = z[2 * (rows ? i : i / n + i % n * m)];
    free(x);
    free(y);
    free(z);
}

static void NAME(product)(const struct blas_call *call, const struct NAME(product) *p,
                          const REAL *a, const REAL *b, REAL *c)
{
    int order = call->pick >> 3 & 1 ? ROW_MAJOR : COL_MAJOR;
    int m = (int)p->m, n = (int)p->n, k = (int)p->k;
    int a1 = (int)p->as[1], b0 = (int)p->bs[0], b1 = (int)p->bs[1];
    struct blas_matrix x, y, z = blas_matrix(order, m, n, p->cs[0], p->cs[1], 1);

    if (!z.ok || z.transpose != PLAIN || (strcmp(call->way, "gemv") && strcmp(call->way, "dot") &&
                                          strcmp(call->way, "ger") &&
                                          (!blas_matrix(order, m, k, p->as[0], a1, 0).ok ||
                                           !blas_matrix(order, k, n, b0, b1, 0).ok))) {
        order = ROW_MAJOR + COL_MAJOR - order;
        z = blas_matrix(order, m, n, p->cs[0], p->cs[1], 1);
    }
    x = blas_matrix(order, m, k, p->as[0], a1, call->pick >> 4);
    y = blas_matrix(order, k, n, b0, b1, call->pick >> 5);
    if (!strcmp(call->way, "dot")) {
        for (int i = 0; i < m * n; i++)
            c[i / n * p->cs[0] + i % n * p->cs[1]] =
                NAME(blas).dot(k, NAME(from)(a + i / n * p->as[0], k, a1), a1,
                               NAME(from)(b + i % n * b1, k, b0), b0);
    } else if (!strcmp(call->way, "gemv")) {
        bool flip = x.transpose == TRANSPOSED;

        if (!x.ok) {
            order = ROW_MAJOR + COL_MAJOR - order;
            x = blas_matrix(order, m, k, p->as[0], a1, call->pick >> 4);
            flip = x.transpose == TRANSPOSED;
        }
        for (int j = 0; j < n; j++)
            NAME(blas).gemv(order, x.transpose, flip ? k : m, flip ? m : k, 1, a, x.ld,
                            NAME(from)(b + j * p->bs[1], k, b0), b0, 0,
                            c + j * p->cs[1], (int)p->cs[0]);
    } else if (!strcmp(call->way, "ger")) {
        int a0 = (int)p->as[0];

        for (int i = 0; i < m * n; i++)
            c[i / n * p->cs[0] + i % n * p->cs[1]] = 0;
        NAME(blas).ger(order, m, n, 1, NAME(from)(a, m, a0), a0, NAME(from)(b, n, b1), b1, c,
                       z.ld);
    } else if (!strcmp(call->way, "complex_gemm")) {
        NAME(complex_product)(order, x.transpose, y.transpose, p, a, b, c);
    } else {
        NAME(blas).gemm(order, x.transpose, y.transpose, m, n, k, p->alpha, a, x.ld, b, y.ld,
                        p->beta, c, z.ld);
    }
}

static void NAME(products)(const struct blas_call *call, void *const *arg, REAL *out)
{
    const struct walk_view *o = &call->out, *a = &call->arg[0], *b = &call->arg[1];
    int r = o->rank;
    struct NAME(product) p = {
        o->shape[r - 2],   o->shape[r - 1],   a->shape[r - 1],       a->stride + r - 2,
        b->stride + r - 2, o->stride + r - 2, (REAL)call->node->alpha, 0,
    };
    int64_t at[TF_MAX_RANK] = { 0 }, batches = 1;

    for (int i = 0; i < r - 2; i++)
        batches *= o->shape[i];
    for (; batches > 0; batches--) {
        int64_t x = 0, y = 0, z = 0;

        for (int i = 0; i < r - 2; i++) {
            x += at[i] * a->stride[i];
            y += at[i] * b->stride[i];
            z += at[i] * o->stride[i];
        }
        if (call->node->n_arg == 3) {
            const struct walk_view *c = &call->arg[2];
            const REAL *from = arg[2];

            for (int i = 0; i < r - 2; i++)
                from += at[i] * c->stride[i];
            p.beta = (REAL)call->node->beta;
            for (int64_t i = 0; p.beta != 0 && i < p.m * p.n; i++)
                out[z + i / p.n * p.cs[0] + i % p.n * p.cs[1]] =
                    from[i / p.n * c->stride[r - 2] + i % p.n * c->stride[r - 1]];
        }
        NAME(product)(call, &p, (const REAL *)arg[0] + x, (const REAL *)arg[1] + y, out + z);
        for (int i = r - 3; i >= 0 && ++at[i] == o->shape[i]; i--)
            at[i] = 0;
    }
}

/* The sum of one vector, in the way that is asked for. */
static REAL NAME(sum_vector)(const char *way, int n, const REAL *x, int step)
{
    bool is_complex = !strcmp(way, "complex_asum");
    REAL part[2] = { 0, 0 };

    if (!strcmp(way, "sum"))
        return NAME(blas).sum(n, NAME(from)(x, n, step), step);
    if (!strcmp(way, "dot")) {
        REAL *one = NAME(room)(n), s;

        for (int i = 0; i < n; i++)
            one[i] = 1;
        s = NAME(blas).dot(n, NAME(from)(x, n, step), step, one, 1);
        free(one);
        return s;
    }
    for (int sign = 0; sign < 2; sign++) {
        int to = is_complex || step < 1 ? 1 : step;
        REAL *y = NAME(room)((int64_t)n * to);

        for (int i = 0; i < n; i++) {
            REAL v = x[(int64_t)i * step];

            y[(int64_t)i * to] = sign == signbit(v) || v != v ? v : 0;
        }
        part[sign] = is_complex ? NAME(blas).complex_asum(n / 2, y, 1) : NAME(blas).asum(n, y, to);
        free(y);
    }
    return part[0] - part[1];
}

static bool NAME(is_extreme)(const struct tf_node *n)
{
    return blas_is(n, "max") || blas_is(n, "min") || blas_is(n, "argmax");
}

/* Sums, means, largest elements. The innermost reduced axis is a call, the others are loops. */
static void NAME(reduce)(const struct blas_call *c, const REAL *x, void *out)
{
    const struct tf_node *n = c->node;
    struct walk_view v = c->arg[0], to;
    struct tf_node along = *n;
    int64_t at[TF_MAX_RANK] = { 0 }, inner, count = walk_count(&v), terms = 1, step;
    REAL *y = out;
    int last;

    if (blas_is(n, "argmax")) {
        along.n_axes = 1;
        along.axes[0] = n->axis;
        along.keep = 0;
    }
    to = blas_kept(&along, &v, &c->out);
    last = along.axes[along.n_axes - 1];
    for (int k = 0; k < along.n_axes; k++)
        terms *= v.shape[along.axes[k]];
    inner = v.shape[last];
    step = v.stride[last];
    if (!NAME(is_extreme)(n)) {
        struct walk_view o = c->out;
        int64_t i[TF_MAX_RANK] = { 0 };

        for (int64_t k = walk_count(&o); k > 0; k--) {
            int64_t p = 0;

            for (int a = 0; a < o.rank; a++)
                p += i[a] * o.stride[a];
            y[p] = 0;
            for (int a = o.rank - 1; a >= 0 && ++i[a] == o.shape[a]; a--)
                i[a] = 0;
        }
    }
    v.shape[last] = 1;
    for (int64_t k = inner ? count / inner : 0; k > 0; k--) {
        int64_t a = 0, b = 0;
        const REAL *p;

        for (int i = 0; i < v.rank; i++) {
            a += at[i] * v.stride[i];
            b += at[i] * to.stride[i];
        }
        p = x + a;
        if (blas_is(n, "argmax"))
            ((int32_t *)out)[b] = (int32_t)NAME(blas).imax((int)inner, p, (int)step);
        else if (blas_is(n, "max") || blas_is(n, "min"))
            y[b] = p[step * (int64_t)(blas_is(n, "max") ? NAME(blas).imax : NAME(blas).imin)(
                                (int)inner, p, (int)step)];
        else
            y[b] += NAME(sum_vector)(c->way, (int)inner, p, (int)step);
        for (int i = v.rank - 1; i >= 0 && ++at[i] == v.shape[i]; i--)
            at[i] = 0;
    }
    if (blas_is(n, "mean")) {
        struct walk_view o = c->out;
        int64_t i[TF_MAX_RANK] = { 0 };

        for (int64_t k = walk_count(&o); k > 0; k--) {
            int64_t p = 0;

            for (int a = 0; a < o.rank; a++)
                p += i[a] * o.stride[a];
            y[p] /= (REAL)terms;
            for (int a = o.rank - 1; a >= 0 && ++i[a] == o.shape[a]; a--)
                i[a] = 0;
        }
    }
}

static const char *NAME(reduce_way)(const struct blas_call *c)
{
    const struct tf_node *n = c->node;
    int axis = blas_is(n, "argmax") ? n->axis : n->axes[n->n_axes - 1];
    int64_t inner = c->arg[0].shape[axis], step = c->arg[0].stride[axis];
    const char *const ways[] = { "dot", "asum", inner % 2 ? "asum" : "complex_asum",
                                 NAME(blas).sum && step > 0 ? "sum" : "dot" };

    if (inner > 1 && step == 0)
        return NULL;
    if (NAME(is_extreme)(n)) {
        if (!NAME(blas).imax || step < 1 || inner == 0)
            return NULL;
        return blas_is(n, "argmax") ? n->n_axes ? NULL : "imax"
               : n->n_axes == 1     ? blas_is(n, "max") ? "imax" : "imin"
                                    : NULL;
    }
    return ways[(c->pick >> 6) % 4];
}

/* Two vectors to one, one to one: copies, scalings, additions. */
static const char *NAME(vector_way)(const struct blas_call *c)
{
    const struct tf_node *n = c->node;
    const struct walk_view *v[] = { &c->out, &c->arg[0], &c->arg[1] };
    bool two = n->n_arg == 2, number = two && (n->arg[1] < 0 || n->arg[0] < 0);
    struct blas_loop l = blas_loop(v, two && !(number && blas_is(n, "mul")) ? 3 : 2);
    int64_t size = l.size[l.rank - 1];
    bool even = size % 2 == 0;

    if (number && blas_is(n, "mul") && n->arg[0] < 0) {
        v[1] = &c->arg[1];
        l = blas_loop(v, 2);
    }
    for (int k = 0; k < l.n; k++) {
        if (l.step[k][l.rank - 1] == 0)
            return NULL;
        even = even && l.step[k][l.rank - 1] == 1;
    }
    even = even && c->pick >> 7 & 1;
    if (blas_is(n, "copy"))
        return even                                                        ? "complex_copy"
               : NAME(blas).omatcopy && c->pick >> 8 & 1 && c->out.rank == 2 &&
                   blas_matrix(ROW_MAJOR, c->out.shape[0], c->out.shape[1], c->out.stride[0],
                               c->out.stride[1], 1).ok &&
                   blas_matrix(ROW_MAJOR, c->out.shape[0], c->out.shape[1], c->arg[0].stride[0],
                               c->arg[0].stride[1], 1).ok && walk_count(&c->out) > 0
                   ? "omatcopy"
                   : "copy";
    if (blas_is(n, "neg") || (blas_is(n, "mul") && number))
        return even ? "complex_scal" : "scal";
    if (blas_is(n, "mul"))
        return "sbmv";
    return even && blas_is(n, "add")             ? "complex_axpy"
           : NAME(blas).axpby && c->pick >> 8 & 1 ? "axpby"
                                                  : "axpy";
}

static void NAME(transpose)(const struct blas_call *c, const REAL *x, REAL *y)
{
    int rows = (int)c->out.shape[0], cols = (int)c->out.shape[1];
    const int64_t *xs = c->arg[0].stride, *ys = c->out.stride;
    struct blas_matrix to = blas_matrix(ROW_MAJOR, rows, cols, ys[0], ys[1], 1);
    int order = to.transpose == PLAIN ? ROW_MAJOR : COL_MAJOR;
    struct blas_matrix from;

    to = blas_matrix(order, rows, cols, ys[0], ys[1], 1);
    from = blas_matrix(order, rows, cols, xs[0], xs[1], c->pick);
    NAME(blas).omatcopy(order, from.transpose, from.transpose == PLAIN ? rows : cols,
                        from.transpose == PLAIN ? cols : rows, 1, x, from.ld, y, to.ld);
}

static void NAME(vector)(const struct blas_call *c, int n, const REAL *x, int xi, const REAL *z,
                         int zi, REAL *y, int yi)
{
    bool neg = blas_is(c->node, "neg"), sub = blas_is(c->node, "sub");
    REAL one[2] = { 1, 0 };
    const REAL *a = NAME(from)(x, n, xi), *b = NAME(from)(z, n, zi);
    REAL *to = NAME(to)(y, n, yi);

    if (!strcmp(c->way, "complex_copy")) {
        NAME(blas).complex_copy(n / 2, a, 1, to, 1);
        return;
    }
    if (!strcmp(c->way, "sbmv")) {
        /* elementwise, as a diagonal matrix; the diagonal has a leading dimension above 0 */
        if (xi > 0)
            NAME(blas).sbmv(COL_MAJOR, 121, n, 0, 1, x, xi, b, zi, 0, to, yi);
        else if (zi > 0)
            NAME(blas).sbmv(COL_MAJOR, 121, n, 0, 1, z, zi, a, xi, 0, to, yi);
        return;
    }
    NAME(blas).copy(n, a, xi, to, yi);
    if (!strcmp(c->way, "scal") || !strcmp(c->way, "complex_scal")) {
        REAL by = neg ? -1 : (REAL)c->node->literal[c->node->arg[0] < 0 ? 0 : 1];

        if (c->way[0] == 's' && yi > 0)
            NAME(blas).scal(n, by, y, yi);
        else if (c->way[0] == 's')
            for (int i = 0; i < n; i++)
                y[(int64_t)i * yi] *= by;
        else
            NAME(blas).complex_scal(n / 2, by, y, 1);
    } else if (!strcmp(c->way, "complex_axpy")) {
        NAME(blas).complex_axpy(n / 2, one, b, 1, to, 1);
    } else if (!strcmp(c->way, "axpby")) {
        NAME(blas).axpby(n, sub ? -1 : 1, b, zi, 1, to, yi);
    } else if (!strcmp(c->way, "axpy")) {
        NAME(blas).axpy(n, sub ? -1 : 1, b, zi, to, yi);
    }
}

static void NAME(vectors)(const struct blas_call *c, void *const *arg, REAL *y)
{
    int first = c->node->arg[0] < 0 && (!strcmp(c->way, "scal") || c->way[0] == 'c') &&
                        blas_is(c->node, "mul")
                    ? 1
                    : 0;
    bool two = c->node->n_arg == 2 && !(blas_is(c->node, "mul") && strcmp(c->way, "sbmv"));
    const struct walk_view *v[] = { &c->out, &c->arg[first], &c->arg[1] };
    struct blas_loop l = blas_loop(v, two ? 3 : 2);
    int64_t index[TF_MAX_RANK] = { 0 }, at[TF_MAX_ARGS + 1] = { 0 };
    int last = l.rank - 1;

    if (walk_count(&c->out) == 0)
        return;
    do {
        const REAL *x = (const REAL *)arg[first] + at[1];

        NAME(vector)(c, (int)l.size[last], x, (int)l.step[1][last],
                     two ? (const REAL *)arg[1] + at[2] : x, two ? (int)l.step[2][last] : 1,
                     y + at[0], (int)l.step[0][last]);
    } while (blas_next(&l, index, at));
}

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
