/*
 * Products of matrices: for one real type, part of blas_type.h. No include guard: that's meant.
 */
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
    bool packed = NAME(blas).strided_gemm && walk_around(1); /* blis-001: A as it lies */
    bool whole = c->node->n_arg == 2 && (float)c->node->alpha == 1;

    if (NAME(blas).sum && (float)c->node->alpha == 0 && walk_around(4))
        return NULL;
    for (int i = 0; i < r - 2; i++)
        if (c->arg[0].stride[i] < 0 || c->arg[1].stride[i] < 0 || c->out.stride[i] < 0)
            return NULL;
    if (NAME(blas).strided_gemm && !packed && c->pick >> 12 & 1 && as[0] > 0 && as[1] > 0 &&
        bs[0] > 0 && bs[1] > 0 && cs[0] > 0 && cs[1] > 0)
        return "strided_gemm";
    for (int turn = 0; turn < 2; turn++, order = ROW_MAJOR + COL_MAJOR - order) {
        struct blas_matrix out = blas_matrix(order, m, n, cs[0], cs[1], 1);
        bool a = blas_matrix(order, m, k, as[0], as[1], c->pick >> 4).ok;
        bool b = blas_matrix(order, k, n, bs[0], bs[1], c->pick >> 5).ok;

        if (!out.ok || out.transpose != PLAIN)
            continue;
        if (whole && m > 0 && n > 0 && k > 0 && c->pick >> 8 & 1) {
            if (m == 1 && n == 1 && as[1] && bs[0])
                return "dot";
            if (n == 1 && a && bs[0] && cs[0])
                return "gemv";
            if (k == 1 && as[0] && bs[1])
                return "ger";
        }
        if (whole && k > 0 && a && bs[0] && cs[0] && n < 20 && (c->pick >> 9) % 5 == 0)
            return "gemv";
        if (whole && as[1] && bs[0] && m * n < 200 && (c->pick >> 9) % 9 == 1)
            return "dot";
        if (a && b && packed)
            return whole ? "complex_gemm" : NULL;
        if (a && b)
            return whole && (c->pick >> 9) % 4 == 2 ? "complex_gemm" : "gemm";
    }
    return NULL;
}

static void NAME(complex_product)(int order, int ta, int tb, const struct NAME(product) * p,
                                  const REAL *a, const REAL *b, REAL *c)
{
    int64_t m = p->m, n = p->n, k = p->k;
    REAL *x = NAME(room)(2 * m * k), *y = NAME(room)(2 * k * n), *z = NAME(room)(2 * m * n);
    REAL one[2] = { 1, 0 }, zero[2] = { 0, 0 };
    bool rows = order == ROW_MAJOR, row_a = rows == (ta == PLAIN),
         row_b = rows == (tb == PLAIN);
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
    NAME(blas).complex_gemm(order, ta, tb, (int)m, (int)n, (int)k, one, x,
                            ld_a > 1 ? (int)ld_a : 1, y, ld_b > 1 ? (int)ld_b : 1, zero, z,
                            ld_c > 1 ? (int)ld_c : 1);
    for (int64_t i = 0; i < m * n; i++)
        c[i / n * p->cs[0] + i % n * p->cs[1]] = z[2 * (rows ? i : i / n + i % n * m)];
    free(x);
    free(y);
    free(z);
}

static void NAME(product)(const struct blas_call *call, const struct NAME(product) * p,
                          const REAL *a, const REAL *b, REAL *c)
{
    int order = call->pick >> 3 & 1 ? ROW_MAJOR : COL_MAJOR;
    int m = (int)p->m, n = (int)p->n, k = (int)p->k;
    int a1 = (int)p->as[1], b0 = (int)p->bs[0], b1 = (int)p->bs[1];
    struct blas_matrix x, y, z = blas_matrix(order, m, n, p->cs[0], p->cs[1], 1);

    if (!strcmp(call->way, "strided_gemm")) {
        NAME(blas).strided_gemm(0, 0, m, n, k, &p->alpha, a, p->as[0], p->as[1], b, b0, b1,
                                &p->beta, c, p->cs[0], p->cs[1]);
        return;
    }
    if (!z.ok || z.transpose != PLAIN ||
        (strcmp(call->way, "gemv") && strcmp(call->way, "dot") && strcmp(call->way, "ger") &&
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
                            NAME(from)(b + j * p->bs[1], k, b0), b0, 0, c + j * p->cs[1],
                            (int)p->cs[0]);
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
        o->shape[r - 2],   o->shape[r - 1],   a->shape[r - 1],         a->stride + r - 2,
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
