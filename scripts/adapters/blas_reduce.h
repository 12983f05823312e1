/*
 * Sums, means and largest elements: for one real type, part of blas_type.h. No include guard:
 * that's meant.
 */
/* The sum of one vector, in the way that is asked for. */
static REAL NAME(sum_vector)(const char *way, int n, const REAL *x, int step)
{
    bool is_complex = !strcmp(way, "complex_asum");
    REAL part[2] = { 0, 0 };

    if (!strcmp(way, "sum"))
        return NAME(blas).sum(n, NAME(from)(x, n, step), step);
    if (!strcmp(way, "complex_sum"))
        return NAME(blas).complex_sum(n / 2, x, 1);
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

            y[(int64_t)i * to] = sign == !!signbit(v) || v != v ? v : 0;
        }
        part[sign] =
            is_complex ? NAME(blas).complex_asum(n / 2, y, 1) : NAME(blas).asum(n, y, to);
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
    bool even = inner % 2 == 0 && step == 1, sum = NAME(blas).sum && step > 0;
    const char *const ways[] = {
        "dot",
        "asum",
        even && !(NAME(blas).sum && walk_around(1)) ? "complex_asum" : "asum",
        sum && !walk_around(2) ? "sum" : "dot",
        sum && even && !walk_around(3) ? "complex_sum" : "dot",
    };

    if (inner > 1 && step == 0)
        return NULL;
    if (NAME(is_extreme)(n)) {
        if (!NAME(blas).imax || step < 1 || inner == 0)
            return NULL;
        return blas_is(n, "argmax") ? n->n_axes ? NULL : "imax"
               : n->n_axes == 1     ? blas_is(n, "max") ? "imax" : "imin"
                                    : NULL;
    }
    return ways[(c->pick >> 6) % 5];
}
