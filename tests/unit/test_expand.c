/* Pass expand against the judge: the primitive program must mean what the composite does. In
 * the ring that is bit for bit, whatever the algorithm. */
#include "reading.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "judge/judge.h"
#include "lower/lower.h"

static struct arena arena;

static struct trial *parse(const char *text)
{
    return read_good(text, &arena);
}

static const struct trial *expanded(const struct trial *t, enum fault fault)
{
    struct lower_opts o = LOWER_OPTS_DEFAULT;
    struct lprog *l;
    struct err e = { 0 };

    o.fault = fault;
    if (lower(t, &o, &arena, &l, &e))
        fail_msg("line %d: %s", e.line, e.msg);
    return l->trial;
}

/* Elements of the first output that differ. */
static int64_t differences(const struct trial *t, const struct trial *x, enum algebra al)
{
    struct want *a = judge_want(t, al, &arena), *b = judge_want(x, al, &arena);
    const struct want_node *m = &a->node[t->prog.out[0].node];
    const struct want_node *n = &b->node[x->prog.out[0].node];
    int64_t wrong = 0;

    assert_int_equal(m->n, n->n);
    for (int64_t i = 0; i < m->n; i++) {
        if (m->word && n->word)
            wrong += m->word[i] != n->word[i];
        else if (m->ieee && n->ieee && m->ieee[i].e >= 0 && n->ieee[i].e >= 0)
            wrong += isnan(m->ieee[i].v) != isnan(n->ieee[i].v) ||
                     fabs(m->ieee[i].v - n->ieee[i].v) > m->ieee[i].e + n->ieee[i].e;
    }
    return wrong;
}

static const char *const programs[] = {
    "z = softmax x axis=2\noutput z\n",
    "z = softmax x axis=0\noutput z\n",
    "z = layernorm x g h eps=0.001\noutput z\n",
    "z = rmsnorm x g eps=0.001\noutput z\n",
    "z = argmax x axis=1\noutput z\n",
    "z = gather x i axis=1\noutput z\n",
    "z = gather x i axis=2\noutput z\n",
    "z = concat x x axis=1\noutput z\n",
    "z = logsoftmax x axis=1\noutput z\n",
    "z = cumsum x axis=0\noutput z\n",
    "z = cumsum x axis=2\noutput z\n",
    "z = assign x 2 [0:3,3:-1:-2,1:5:3]\noutput z\n",
    "v = slice x [0:2,3:-1:-1,0:4]\nz = assign x v [2:0:-1,0:4,4:0:-1]\noutput z\n",
};

static const char *const dtypes[] = { "f32", "f16", "bf16", "f64" };

static void primitives_mean_the_composite(void **state)
{
    (void)state;
    for (size_t d = 0; d < 4; d++)
        for (size_t p = 0; p < sizeof programs / sizeof *programs; p++) {
            struct trial *t = parse(arena_printf(
                &arena,
                "tilefuzz 1\ninput x %s [3,4,5]\ninput g %s [5]\ninput h %s [5]\n"
                "input i i32 [6]\n%sdata seed=7 recipe=normal\nvalues i [0,3,1,9,-1,2]\n",
                dtypes[d], dtypes[d], dtypes[d], programs[p]));

            for (int al = 0; al < AL_COUNT; al++)
                assert_int_equal(differences(t, expanded(t, FAULT_none), (enum algebra)al), 0);
            arena_reset(&arena);
        }
}

/* An attention with 6 queries, 7 keys, 4 heads on 2 key heads. */
static struct trial *attention(const char *dtype, const char *mask, const char *algo)
{
    bool operand = strcmp(mask, "bool") == 0 || strcmp(mask, "add") == 0;

    return parse(arena_printf(
        &arena,
        "tilefuzz 1\ninput q %s [2,4,6,3]\ninput k %s [2,2,7,3]\ninput v %s [2,2,7,5]\n"
        "input m %s [6,7]\nz = attention q k v %s scale=0.5 mask=%s empty=zero\noutput z\n"
        "schedule\nalgo z %s\ndata seed=3 recipe=normal\n",
        dtype, dtype, dtype, strcmp(mask, "bool") == 0 ? "bool" : dtype, operand ? "m" : "",
        mask, algo));
}

static const char *const masks[] = { "none", "causal", "causal_br", "bool", "add" };
static const char *const algos[] = { "decomposed", "online block=3", "online block=7",
                                     "split block=2" };

static void every_algorithm_of_attention_agrees(void **state)
{
    (void)state;
    for (size_t d = 0; d < 4; d++)
        for (size_t m = 0; m < 5; m++)
            for (size_t a = 0; a < 4; a++) {
                struct trial *t = attention(dtypes[d], masks[m], algos[a]);

                for (int al = 0; al < AL_COUNT; al++)
                    assert_int_equal(differences(t, expanded(t, FAULT_none), (enum algebra)al),
                                     0);
                arena_reset(&arena);
            }
}

static void faults_of_expand_change_the_meaning(void **state)
{
    static const struct {
        enum fault fault;
        const char *mask, *algo;
    } rows[] = {
        { FAULT_causal_alignment_offset, "causal_br", "decomposed" },
        { FAULT_finite_mask_sentinel, "causal", "decomposed" },
        { FAULT_grouped_head_modulo, "none", "split block=2" },
        { FAULT_online_rescale_missing, "none", "online block=3" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct trial *t = attention("f32", rows[i].mask, rows[i].algo);

        assert_true(differences(t, expanded(t, rows[i].fault), AL_RING) > 0);
    }
}

/* Rows 0..2 of causal_br with 3 keys more queries than keys see nothing. */
static void empty_rows(void **state)
{
    char q[400];

    (void)state;
    for (int zero = 0; zero < 2; zero++)
        for (size_t a = 0; a < 4; a++) {
            struct trial *t;
            struct want *w;

            snprintf(q, sizeof q,
                     "tilefuzz 1\ninput q f32 [1,1,6,2]\ninput k f32 [1,1,3,2]\n"
                     "input v f32 [1,1,3,2]\nz = attention q k v scale=1 "
                     "mask=causal_br%s\noutput z\nschedule\nalgo z %s\n"
                     "data seed=3 recipe=normal\n",
                     zero ? " empty=zero" : "", algos[a]);
            t = parse(q);
            w = judge_want(expanded(t, FAULT_none), AL_IEEE, &arena);
            for (int i = 0; i < 6; i++) {
                struct val v = w->node[w->trial->prog.out[0].node].ieee[i];

                assert_true(zero ? v.v == 0 : isnan(v.v));
            }
            assert_int_equal(differences(t, expanded(t, FAULT_none), AL_IEEE), 0);
            if (zero)
                assert_true(differences(t, expanded(t, FAULT_masked_row_nan), AL_IEEE) > 0);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(primitives_mean_the_composite),
        cmocka_unit_test(every_algorithm_of_attention_agrees),
        cmocka_unit_test(faults_of_expand_change_the_meaning),
        cmocka_unit_test(empty_rows),
    };
    int failed;

    arena_init(&arena);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_release(&arena);
    return failed;
}
