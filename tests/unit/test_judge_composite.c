/*
 * Softmax, attention and norms under the bound: plain, online, split and combined, in any
 * order of summation, of f32, f64 and halves, are never wrong; a dropped key, a wrong index, a
 * missing rescale are seen about as often as ORACLE.md 10.2 says of proven bounds.
 */
#include <math.h>

#include "judging.h"

/* Kernels are written once, in long double variables rounded to the accumulator's dtype. */
static enum dtype acc;

static double rounded(double v)
{
    return grid_round(acc, v);
}

static double exp_of(double x, int variant)
{
    if (acc == DT_F64)
        return variant & 1 ? exp2(x * 1.4426950408889634) : exp(x);
    return variant & 1 ? (double)exp2f((float)x * 1.44269504f) : (double)expf((float)x);
}

enum algo_tried { PLAIN, LATE, ONLINE, SPLIT, ALGOS };
enum wrong { RIGHT, DROPPED, WRONG_KEY, NO_RESCALE, CLAMPED, WRONGS };

/* One query's weighted mean: s[n] scores (-inf: no weight), v[n][e] or NULL (then out[n] are
 * the weights themselves). */
struct row {
    const double *s, *v;
    int n, e, block, variant;
    enum algo_tried algo;
    enum wrong wrong;
};

static double value(const struct row *r, int j, int c)
{
    if (!r->v)
        return j == c;
    if (r->wrong == WRONG_KEY && j == r->n / 2)
        j = j + 1 < r->n ? j + 1 : j - 1;
    return r->v[j * r->e + c];
}

/* Unnormalised sums over keys [from, to): maximum m, sum l, o[e] */
static void part(const struct row *r, int from, int to, double *m, double *l, double *o)
{
    int n = to - from;

    *m = -HUGE_VAL;
    *l = 0;
    for (int c = 0; c < r->e; c++)
        o[c] = 0;
    for (int j = from; j < to; j++)
        *m = r->s[j] > *m ? r->s[j] : *m;
    for (int i = 0; i < n; i++) {
        int j = r->variant & 2 ? to - 1 - i : from + i;
        double w = isinf(r->s[j]) ? 0 : exp_of(rounded(r->s[j] - *m), r->variant);

        if (r->wrong == DROPPED && j == r->n / 2)
            continue;
        *l = rounded(*l + w);
        for (int c = 0; c < r->e; c++)
            o[c] = r->variant & 4 && acc == DT_F32
                       ? (double)fmaf((float)w, (float)value(r, j, c), (float)o[c])
                       : rounded(o[c] + rounded(w * value(r, j, c)));
    }
}

static void weighted(const struct row *r, double *out)
{
    double m, l, o[64], pm, pl, po[64];
    int block = r->algo >= ONLINE ? r->block : r->n;

    part(r, 0, block < r->n ? block : r->n, &m, &l, o);
    for (int from = block; from < r->n; from += block) {
        double top, a, b;

        part(r, from, from + block < r->n ? from + block : r->n, &pm, &pl, po);
        top = pm > m ? pm : m;
        a = isinf(m) ? 0 : exp_of(rounded(m - top), r->variant);
        b = isinf(pm) ? 0 : exp_of(rounded(pm - top), r->variant);
        if (r->wrong == NO_RESCALE)
            a = 1;
        l = rounded(rounded(l * a) + rounded(pl * b));
        for (int c = 0; c < r->e; c++)
            o[c] = rounded(rounded(o[c] * a) + rounded(po[c] * b));
        m = top;
    }
    for (int c = 0; c < r->e; c++)
        out[c] = r->variant & 1 ? rounded(o[c] * rounded(1 / l)) : rounded(o[c] / l);
    if (r->algo != PLAIN)
        return;
    for (int c = 0; c < r->e; c++) { /* normalised before the sum */
        double s = 0;

        for (int j = 0; j < r->n && r->wrong != DROPPED; j++) {
            double w = isinf(r->s[j]) ? 0 : exp_of(rounded(r->s[j] - m), r->variant);

            s = rounded(s + rounded(rounded(w / l) * value(r, j, c)));
        }
        out[c] = r->wrong == DROPPED ? out[c] : s;
    }
}

static const char *const dtype_names[] = { "f32", "f16", "bf16", "f64" };

/* How often a fault that changes a bit was seen. */
struct tally {
    int seen, tried;
};

static void count(struct tally *t, const struct want *w, const double *right,
                  const double *wrong, int n)
{
    enum dtype dt = w->trial->prog.node[w->trial->prog.out[0].node].dt;
    bool active = false;

    for (int k = 0; k < n; k++)
        active |= grid_round(dt, right[k]) != grid_round(dt, wrong[k]);
    t->tried += active;
    t->seen += active && verdict_on_numbers(w, wrong).kind == VK_MISMATCH;
}

static int percent(struct tally t)
{
    return t.tried ? 100 * t.seen / t.tried : 100;
}

static const char *step_of(enum algo_tried algo, int block)
{
    if (algo < ONLINE)
        return "";
    return arena_printf(&arena, "schedule\nalgo z %s block=%d\n",
                        algo == SPLIT ? "split" : "online", block);
}

/* Softmax along the rows of [3,n], with logits of several sizes. */
static void softmax_by_any_algorithm(void **state)
{
    static const int least[] = { 70, 70, 70, 70 };

    (void)state;
    for (int d = 0; d < 4; d++) {
        struct tally tally[WRONGS] = { 0 };

        acc = d == 3 ? DT_F64 : DT_F32;
        for (int seed = 0; seed < 240; seed++) {
            int n = 2 + seed * 7 % 60, block = 1 + seed % 17,
                size = seed % 3 ? seed % 3 * 4 : 1;
            enum algo_tried algo = (enum algo_tried)(seed % 3);
            struct trial *t =
                trial_of("input x %s [3,%d]\ny = mul x %d\n"
                         "z = softmax y axis=1\noutput z\n%sdata seed=%d recipe=normal\n",
                         dtype_names[d], n, size, step_of(algo, block), seed);
            const struct want *w = ieee(t);
            double *x = numbers_of(t, "x"), z[3 * 64], bad[3 * 64];
            struct verdict v;

            for (int k = 0; k < 3 * n; k++)
                x[k] = grid_round(t->prog.node[0].dt, x[k] * size);
            for (int variant = 0; variant < 8; variant++) {
                for (int i = 0; i < 3; i++)
                    weighted(
                        &(struct row){ x + i * n, NULL, n, n, block, variant, algo, RIGHT },
                        z + i * n);
                v = verdict_on_numbers(w, z);
                assert_int_equal(v.kind, VK_PASS);
                assert_int_equal(v.n_judged, 3 * n);
            }
            for (int wrong = DROPPED; wrong <= NO_RESCALE; wrong++) {
                for (int i = 0; i < 3; i++)
                    weighted(&(struct row){ x + i * n, NULL, n, n, block, 7, algo,
                                            (enum wrong)wrong },
                             bad + i * n);
                if (wrong == WRONG_KEY)
                    memcpy(bad, z, sizeof bad), bad[0] = z[1], bad[1] = z[0];
                count(&tally[wrong], w, z, bad, 3 * n);
            }
        }
        print_message("softmax %s: dropped %d%% of %d, swapped %d%%, no rescale %d%% of %d\n",
                      dtype_names[d], percent(tally[DROPPED]), tally[DROPPED].tried,
                      percent(tally[WRONG_KEY]), percent(tally[NO_RESCALE]),
                      tally[NO_RESCALE].tried);
        assert_true(percent(tally[DROPPED]) >= least[d]);
        assert_true(percent(tally[WRONG_KEY]) >= 95);
        assert_true(percent(tally[NO_RESCALE]) >= 95);
    }
}

enum { HEADS = 4, QUERIES = 5, DIM = 8, WIDE = 6 };

struct attention {
    const char *mask;
    bool operand, add;
};

static const struct attention masks[] = {
    { "none", false, false }, { "causal", false, false }, { "causal_br", false, false },
    { "bool", true, false },  { "add", true, true },
};

static bool visible(const char *mask, const unsigned char *see, int i, int j, int t)
{
    if (see)
        return see[i * t + j];
    if (!strcmp(mask, "causal"))
        return j <= i;
    return strcmp(mask, "causal_br") || j <= i + t - QUERIES;
}

/* q [HEADS,QUERIES,DIM], k v [HEADS/2,t,..] */
static void attend(const struct trial *t, const struct attention *m, int keys, struct row r,
                   const double *q, const double *k, const double *v, const double *add,
                   const unsigned char *see, double *out)
{
    double s[128], scale = grid_round(acc, 0.35355338);

    (void)t;
    for (int h = 0; h < HEADS; h++)
        for (int i = 0; i < QUERIES; i++) {
            int kv = h / 2, n = h * QUERIES + i;

            r.v = v + kv * keys * WIDE;
            r.s = s;
            r.n = keys;
            r.e = WIDE;
            for (int j = 0; j < keys; j++) {
                double dot = 0;

                for (int d = 0; d < DIM; d++) {
                    double a = q[n * DIM + d], b = k[(kv * keys + j) * DIM + d];

                    if (r.variant & 4) /* the scale goes into q */
                        a = rounded(a * scale);
                    dot = rounded(dot + rounded(a * b));
                }
                s[j] = r.variant & 4 ? dot : rounded(dot * scale);
                if (add)
                    s[j] = rounded(s[j] + add[i * keys + j]);
                if (!visible(m->mask, see, i, j, keys))
                    s[j] = -HUGE_VAL;
            }
            weighted(&r, out + n * WIDE);
        }
}

static void attention_by_any_algorithm(void **state)
{
    (void)state;
    for (int d = 0; d < 4; d++) {
        struct tally tally[WRONGS] = { 0 };

        acc = d == 3 ? DT_F64 : DT_F32;
        for (int seed = 0; seed < 80; seed++) {
            const struct attention *m = &masks[seed % 5];
            int keys = QUERIES + seed * 7 % 40, block = 1 + seed % 13;
            enum algo_tried algo = (enum algo_tried)(seed / 5 % ALGOS);
            struct trial *t = trial_of(
                "input q %s [%d,%d,%d]\ninput k %s [%d,%d,%d]\ninput v %s [%d,%d,%d]\n"
                "input m %s [%d,%d]\nz = attention q k v%s scale=0.35355338 mask=%s\noutput z\n"
                "%sdata seed=%d recipe=normal\n",
                dtype_names[d], HEADS, QUERIES, DIM, dtype_names[d], HEADS / 2, keys, DIM,
                dtype_names[d], HEADS / 2, keys, WIDE, m->add ? dtype_names[d] : "bool",
                QUERIES, keys, m->operand ? " m" : "", m->mask, step_of(algo, block), seed);
            const struct want *w = ieee(t);
            double *q = numbers_of(t, "q"), *k = numbers_of(t, "k"), *v = numbers_of(t, "v");
            double *add = m->add ? numbers_of(t, "m") : NULL, out[HEADS * QUERIES * WIDE];
            double bad[HEADS * QUERIES * WIDE];
            unsigned char *see = NULL;
            struct row r = { .block = block, .algo = algo };
            struct verdict verdict;

            if (m->operand && !m->add) {
                see = arena_array(&arena, unsigned char, QUERIES *keys);
                data_dense(t, node_of(t, "m"), AL_IEEE, see);
            }
            for (r.variant = 0; r.variant < 8; r.variant++) {
                attend(t, m, keys, r, q, k, v, add, see, out);
                verdict = verdict_on_numbers(w, out);
                assert_int_equal(verdict.kind, VK_PASS);
                assert_int_equal(verdict.n_judged, HEADS * QUERIES * WIDE);
            }
            r.variant = 7;
            for (int wrong = DROPPED; wrong <= NO_RESCALE; wrong++) {
                r.wrong = (enum wrong)wrong;
                attend(t, m, keys, r, q, k, v, add, see, bad);
                memcpy(bad, out, sizeof bad / 2); /* in half of the heads */
                count(&tally[wrong], w, out, bad, HEADS * QUERIES * WIDE);
            }
        }
        print_message(
            "attention %s: dropped %d%% of %d, wrong key %d%%, no rescale %d%% of %d\n",
            dtype_names[d], percent(tally[DROPPED]), tally[DROPPED].tried,
            percent(tally[WRONG_KEY]), percent(tally[NO_RESCALE]), tally[NO_RESCALE].tried);
        assert_true(percent(tally[DROPPED]) >= 85);
        assert_true(percent(tally[WRONG_KEY]) >= 85);
        assert_true(percent(tally[NO_RESCALE]) >= 90);
    }
}

/* One row; wrong: DROPPED leaves an element out of the variance, WRONG_KEY takes another g. */
static void norm(const double *x, const double *g, const double *b, int n, double eps,
                 int variant, enum wrong wrong, double *y)
{
    double mean = 0, square = 0, by;

    for (int k = 0; b && k < n; k++)
        mean = rounded(mean + x[variant & 1 ? n - 1 - k : k]);
    mean = variant & 2 ? rounded(mean * rounded(1.0 / n)) : rounded(mean / n);
    for (int k = 0; k < n; k++) {
        double c = rounded(x[k] - mean);

        if (wrong != DROPPED || k != n / 2)
            square = variant & 4 && acc == DT_F32
                         ? (double)fmaf((float)c, (float)c, (float)square)
                         : rounded(square + rounded(c * c));
    }
    square = rounded(rounded(square / n) + rounded(eps));
    by = rounded(1 / rounded(sqrt(square)));
    for (int k = 0; k < n; k++) {
        double c = rounded(x[k] - mean);
        double u = variant & 1 ? rounded(c / rounded(sqrt(square))) : rounded(c * by);

        if (variant & 2)
            u = rounded(c * rounded(by * g[wrong == WRONG_KEY && k == n / 2 ? 0 : k]));
        else
            u = rounded(u * g[wrong == WRONG_KEY && k == n / 2 ? 0 : k]);
        y[k] = b ? rounded(u + b[k]) : u;
    }
}

static void norms_in_any_order(void **state)
{
    (void)state;
    for (int d = 0; d < 4; d++)
        for (int centred = 0; centred < 2; centred++) {
            struct tally tally[WRONGS] = { 0 };

            acc = d == 3 ? DT_F64 : DT_F32;
            for (int seed = 0; seed < 160; seed++) {
                int n = 2 + seed * 13 % 130, far = seed % 4 * 20;
                struct trial *t = trial_of(
                    "input x %s [2,%d]\ninput g %s [%d]\ninput b %s [%d]\nu = add x %d\n"
                    "z = %s u g%s eps=1e-5\noutput z\ndata seed=%d recipe=normal\n",
                    dtype_names[d], n, dtype_names[d], n, dtype_names[d], n, far,
                    centred ? "layernorm" : "rmsnorm", centred ? " b" : "", seed);
                const struct want *w = ieee(t);
                double *x = numbers_of(t, "x"), *g = numbers_of(t, "g"),
                       *b = numbers_of(t, "b");
                double z[300], bad[300];
                struct verdict v;

                for (int k = 0; k < 2 * n; k++)
                    x[k] = grid_round(t->prog.node[0].dt, x[k] + far);
                for (int variant = 0; variant < 8; variant++) {
                    for (int i = 0; i < 2; i++)
                        norm(x + i * n, g, centred ? b : NULL, n, 1e-5, variant, RIGHT,
                             z + i * n);
                    v = verdict_on_numbers(w, z);
                    assert_int_equal(v.kind, VK_PASS);
                    assert_int_equal(v.n_judged, 2 * n);
                }
                for (int wrong = DROPPED; wrong <= WRONG_KEY; wrong++) {
                    memcpy(bad, z, sizeof bad);
                    norm(x + n, g, centred ? b : NULL, n, 1e-5, 7, (enum wrong)wrong, bad + n);
                    count(&tally[wrong], w, z, bad, 2 * n);
                }
            }
            print_message("%s %s: dropped %d%% of %d, wrong g %d%%\n",
                          centred ? "layernorm" : "rmsnorm", dtype_names[d],
                          percent(tally[DROPPED]), tally[DROPPED].tried,
                          percent(tally[WRONG_KEY]));
            assert_true(percent(tally[DROPPED]) >= 65);
            assert_true(percent(tally[WRONG_KEY]) >= 90);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(softmax_by_any_algorithm),
        cmocka_unit_test(attention_by_any_algorithm),
        cmocka_unit_test(norms_in_any_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
