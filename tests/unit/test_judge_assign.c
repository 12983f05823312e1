/*
 * assign: the judge against plain loops, its second opinion on exact data, and what pass expand
 * makes of it. Ranges of every kind, of x itself, turned round and with steps; of every dtype.
 */
#include <math.h>

#include "judge/exact_eval.h"
#include "judging.h"
#include "lower/lower.h"

static const char *const dtypes[] = { "f32", "f64", "f16", "bf16", "i32", "bool" };

static uint32_t draw(uint32_t *s, uint32_t n)
{
    *s = *s * 1664525u + 1013904223u;
    return (*s >> 8) % n;
}

struct range {
    int lo, hi, by, n;
};

/* n elements of an axis of d, at a step that they can have. */
static struct range draw_range(uint32_t *s, int d, int n)
{
    int step = n > 1 ? 1 + (int)draw(s, (uint32_t)((d - 1) / (n - 1))) : 1 + (int)draw(s, 3);
    int span = n > 1 ? (n - 1) * step : 0, first = (int)draw(s, (uint32_t)(d - span));

    if (n == 0)
        return (struct range){ first, first, 1, 0 };
    if (draw(s, 2))
        return (struct range){ first, first + span + 1, step, n };
    return (struct range){ first + span, first - 1, -step, n };
}

/* What numpy.org says of x[to] = x[from].copy(), written by hand for two axes. */
static void by_hand(const int *dim, const struct range *from, const struct range *to,
                    const double *x, double *y)
{
    memcpy(y, x, (size_t)(dim[0] * dim[1]) * sizeof *y);
    for (int i = 0; i < to[0].n; i++)
        for (int j = 0; j < to[1].n; j++)
            y[(to[0].lo + i * to[0].by) * dim[1] + to[1].lo + j * to[1].by] =
                x[(from[0].lo + i * from[0].by) * dim[1] + from[1].lo + j * from[1].by];
}

static double element(const struct want_node *w, enum dtype dt, int64_t k)
{
    if (w->word)
        return dt == DT_BOOL ? (double)w->word[k] : (double)(int32_t)w->word[k];
    assert_true(judge_value(w, k).e == 0);
    return judge_value(w, k).v;
}

static struct trial *draw_trial(uint32_t *s, int *dim, double *x, double *y)
{
    struct range from[2], to[2];
    const char *dt = dtypes[draw(s, 6)];
    char values[2000];
    int at = 0;

    for (int a = 0; a < 2; a++) {
        int n;

        dim[a] = 1 + (int)draw(s, a ? 13 : 4);
        n = (int)draw(s, (uint32_t)dim[a] + 1);
        from[a] = draw_range(s, dim[a], n);
        to[a] = draw_range(s, dim[a], n);
    }
    for (int k = 0; k < dim[0] * dim[1]; k++) {
        x[k] = strcmp(dt, "bool") ? (double)draw(s, 200) - 100 : (double)draw(s, 2);
        at += snprintf(values + at, sizeof values - (size_t)at, "%s%.0f", k ? "," : "", x[k]);
    }
    by_hand(dim, from, to, x, y);
    return trial_of("input x %s [%d,%d]\nv = slice x [%d:%d:%d,%d:%d:%d]\n"
                    "y = assign x v [%d:%d:%d,%d:%d:%d]\noutput y\nvalues x [%s]\n",
                    dt, dim[0], dim[1], from[0].lo, from[0].hi, from[0].by, from[1].lo,
                    from[1].hi, from[1].by, to[0].lo, to[0].hi, to[0].by, to[1].lo, to[1].hi,
                    to[1].by, values);
}

static void drawn_ranges_are_assigned(void **state)
{
    uint32_t s = 1;

    (void)state;
    for (int t = 0; t < 3000; t++) {
        double x[4 * 13], y[4 * 13];
        struct lower_opts o = LOWER_OPTS_DEFAULT;
        int dim[2], node;
        const struct trial *trial = draw_trial(&s, dim, x, y);
        const struct want *w = ieee(trial), *r = ring(trial), *written;
        const struct exacts *e = exact_eval(trial, &arena);
        struct lprog *l;
        struct err err;

        node = node_of(trial, "y");
        if (lower(trial, &o, &arena, &l, &err))
            fail_msg("%s", err.msg);
        written = judge_want(l->trial, AL_RING, &arena);
        for (int k = 0; k < dim[0] * dim[1]; k++) {
            enum dtype dt = trial->prog.node[node].dt;

            if (element(&w->node[node], dt, k) != y[k] || e->node[node].p[k].v != y[k] ||
                e->node[node].p[k].e != 0)
                fail_msg("trial %d, element %d: want %g", t, k, y[k]);
            assert_int_equal(r->node[node].word[k],
                             wanted(written, "y")->word[k]); /* written out: no other bit */
        }
        arena_reset(&arena);
    }
}

static void numbers_ranks_and_nothing(void **state)
{
    const struct trial *t =
        trial_of("input x f16 [3,4]\ninput s f64 []\na = assign x 0.1 [0:3:2,3:0:-2]\n"
                 "b = assign a 7 [1:1,0:4]\nc = assign s 2.5 []\nd = assign c s []\n"
                 "output b\noutput c\noutput d\nvalues x [0,1,2,3,4,5,6,7,8,9,10,11]\nvalues s "
                 "[-0.1]\n");
    const struct want *w = ieee(t);
    const struct want_node *b = wanted(w, "b");

    (void)state;
    for (int k = 0; k < 12; k++) {
        bool hit = k / 4 != 1 && k % 2 == 1;

        assert_true(b->ieee[k].e == 0 && b->ieee[k].v == (hit ? 0.0999755859375 : k));
    }
    assert_true((double)wanted(w, "c")->wide[0].v == 2.5);
    assert_true((double)wanted(w, "d")->wide[0].v == -0.1);
}

/* What is unsure in x is sure where something sure is written over it, and the other way. */
static void doubt_goes_with_the_elements(void **state)
{
    const struct trial *t =
        trial_of("input x f32 [2]\nz = sub x x\nm = mul x 0.1\nk = mul m 10\ne = eq k x\n"
                 "o = eq z z\nov = slice o [0:1]\nev = slice e [0:1]\na = assign e ov [1:2]\n"
                 "b = assign o ev [1:2]\noutput a\noutput b\nvalues x [3,3]\n");
    const struct want_node *a = wanted(ieee(t), "a"), *b = wanted(ieee(t), "b");

    (void)state;
    assert_true(a->unsure && a->unsure[0] && !a->unsure[1]);
    assert_true(b->unsure && !b->unsure[0] && b->unsure[1]);
}

/* A kernel that reads what it has just written: smeared. */
static void an_overlapping_copy_is_caught(void **state)
{
    struct trial *t = trial_of("input x f32 [9]\nv = slice x [0:8]\n"
                               "y = assign x v [1:9]\noutput y\ndata seed=3 recipe=ints\n");
    const double *x = numbers_of(t, "x");
    double y[9];

    (void)state;
    y[0] = x[0];
    for (int k = 1; k < 9; k++)
        y[k] = x[k - 1];
    assert_int_equal(verdict_on_numbers(ieee(t), y).kind, VK_PASS);
    for (int k = 1; k < 9; k++)
        y[k] = y[k - 1];
    assert_int_equal(verdict_on_numbers(ieee(t), y).kind, VK_MISMATCH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drawn_ranges_are_assigned),
        cmocka_unit_test(numbers_ranks_and_nothing),
        cmocka_unit_test(doubt_goes_with_the_elements),
        cmocka_unit_test(an_overlapping_copy_is_caught),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
