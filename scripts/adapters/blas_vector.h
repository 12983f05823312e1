/*
 * Copies, scalings and additions of vectors: for one real type, part of blas_type.h. No include
 * guard: that's meant.
 */
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
    if (two && blas_is(n, "mul") && !number && l.step[1][l.rank - 1] < 0 &&
        l.step[2][l.rank - 1] < 0)
        return NULL; /* one of them is a diagonal with a leading dimension */
    even = even && c->pick >> 7 & 1;
    if (even && blas_is(n, "add") && NAME(blas).sum && walk_around(5))
        even = false;
    if (blas_is(n, "copy"))
        return even ? "complex_copy"
               : NAME(blas).omatcopy && c->pick >> 8 & 1 && c->out.rank == 2 &&
                       blas_matrix(ROW_MAJOR, c->out.shape[0], c->out.shape[1],
                                   c->out.stride[0], c->out.stride[1], 1)
                           .ok &&
                       blas_matrix(ROW_MAJOR, c->out.shape[0], c->out.shape[1],
                                   c->arg[0].stride[0], c->arg[0].stride[1], 1)
                           .ok &&
                       walk_count(&c->out) > 0
                   ? "omatcopy"
                   : "copy";
    if (blas_is(n, "neg") || (blas_is(n, "mul") && number))
        return even ? "complex_scal" : "scal";
    if (blas_is(n, "mul"))
        return "sbmv";
    return even && blas_is(n, "add")              ? "complex_axpy"
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

/* A product with a complex number of no imaginary part makes NaN of infinities: that's how
 * complex products are, and no failure. */
static bool NAME(is_finite)(const REAL *x, int n)
{
    for (int i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return false;
    return true;
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

        bool whole = c->way[0] == 's' || !NAME(is_finite)(y, n);

        if (whole && yi > 0)
            NAME(blas).scal(n, by, y, yi);
        else if (whole)
            for (int i = 0; i < n; i++)
                y[(int64_t)i * yi] *= by;
        else
            NAME(blas).complex_scal(n / 2, by, y, 1);
    } else if (!strcmp(c->way, "complex_axpy") && !NAME(is_finite)(b, n)) {
        NAME(blas).axpy(n, 1, b, 1, to, 1);
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

        NAME(vector)
        (c, (int)l.size[last], x, (int)l.step[1][last], two ? (const REAL *)arg[1] + at[2] : x,
         two ? (int)l.step[2][last] : 1, y + at[0], (int)l.step[0][last]);
    } while (blas_next(&l, index, at));
}
