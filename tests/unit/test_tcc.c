/* Backend tcc: every word of the vocabulary, in both algebras, against values written here. */
#include "testing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ring_words.h"

#include "emit/emit.h"
#include "ir/data.h"
#include "ir/text.h"
#include "lower/lower.h"
#include "run/run.h"

struct fix {
    struct run_env env;
    struct arena a;
    struct trial *t;
    struct lprog *l;
    struct str text;
    struct prepared p;
    struct outcome o;
};

static const struct backend *tcc;

static int setup(void **state)
{
    static struct fix f;

    tcc = backend_find("tcc");
    arena_init(&f.a);
    *state = &f;
    return run_env_open(&f.env) ? 0 : 1;
}

static int teardown(void **state)
{
    struct fix *f = *state;

    run_env_close(&f->env);
    arena_release(&f->a);
    str_release(&f->text);
    return 0;
}

static void build(struct fix *f, const char *text)
{
    struct lower_opts lo = LOWER_OPTS_DEFAULT;
    struct err e = { 0 };

    arena_reset(&f->a);
    run_begin(&f->env);
    if (trial_parse(text, strlen(text), &f->a, &f->t, &e) || trial_check(f->t, &e) ||
        lower(f->t, &lo, &f->a, &f->l, &e))
        fail_msg("%s\n%s", e.msg, e.excerpt);
    str_clear(&f->text);
    emit_c(f->l, &f->text);
    if (tcc->prepare(&f->env, f->l, str_get(&f->text), &f->p, &f->o))
        fail_msg("%s\n%s", f->o.detail, str_get(&f->text));
}

/* Runs in one algebra; the first output's storage. */
static const void *run(struct fix *f, enum algebra al)
{
    tcc->run(&f->env, &f->p, al, &f->o);
    assert_int_equal(f->o.status, OUT_RAN);
    assert_false(f->o.input_changed);
    assert_false(f->o.margin_broken);
    return f->o.out[0];
}

/* out = LINE of inputs a and b of four elements each */
static void build_op(struct fix *f, const char *line, const char *dt, const char *a,
                     const char *b)
{
    char text[600];

    snprintf(text, sizeof text,
             "tilefuzz 1\ninput a %s [4]\ninput b %s [4]\nout = %s\noutput out\nschedule\n"
             "data seed=1 recipe=normal\nvalues a [%s]\nvalues b [%s]\n",
             dt, dt, line, a, b);
    build(f, text);
}

static void f32_in_ieee(void **state)
{
    static const struct {
        const char *line, *a, *b;
        float want[4];
    } row[] = {
        { "add a b", "1.5,inf,-inf,nan", "2,1,inf,1", { 3.5f, INFINITY, NAN, NAN } },
        { "sub a b", "1.5,inf,16777216,0", "2,inf,1,nan", { -0.5f, NAN, 16777215, NAN } },
        { "mul a b", "1.5,0,3e38,0.1", "-2,inf,10,0.1", { -3, NAN, INFINITY, 0.1f * 0.1f } },
        { "div a b", "1,-1,0,1", "0,0,0,3", { INFINITY, -INFINITY, NAN, 1.0f / 3 } },
        { "maximum a b", "nan,1,-1,-inf", "1,nan,-2,3", { NAN, NAN, -1, 3 } },
        { "minimum a b", "nan,1,-1,-inf", "1,nan,-2,3", { NAN, NAN, -2, -INFINITY } },
        { "neg a", "3,-inf,nan,0", "0,0,0,0", { -3, INFINITY, NAN, -0.0f } },
        { "abs a", "-3,-inf,nan,2", "0,0,0,0", { 3, INFINITY, NAN, 2 } },
        { "exp a", "0,-inf,inf,nan", "0,0,0,0", { 1, 0, INFINITY, NAN } },
        { "recip a", "-4,0,inf,nan", "0,0,0,0", { -0.25f, INFINITY, 0, NAN } },
        { "sqrt a", "2.25,-1,inf,0", "0,0,0,0", { 1.5f, NAN, INFINITY, 0 } },
        { "add a 0.1", "0,1,2,-0.1", "0,0,0,0", { 0.1f, 1.1f, 2.1f, 0 } },
        { "mul a 1e-45", "1,2,3,4", "0,0,0,0", { 0x1p-149f, 0x2p-149f, 0x3p-149f, 0x4p-149f } },
        { "maximum a -inf", "1,-inf,nan,-3e38", "0,0,0,0", { 1, -INFINITY, NAN, -3e38f } },
        { "minimum a inf", "1,inf,nan,2", "0,0,0,0", { 1, INFINITY, NAN, 2 } },
        { "add a nan", "1,2,3,4", "0,0,0,0", { NAN, NAN, NAN, NAN } },
        { "sub 3.4028235e38 a",
          "0,1,2,inf",
          "0,0,0,0",
          { 3.4028235e38f, 3.4028235e38f, 3.4028235e38f, -INFINITY } },
    };

    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const float *got;

        build_op(*state, row[i].line, "f32", row[i].a, row[i].b);
        got = run(*state, AL_IEEE);
        for (int k = 0; k < 4; k++)
            if (isnan(row[i].want[k]) ? !isnan(got[k]) : memcmp(&got[k], &row[i].want[k], 4))
                fail_msg("%s, element %d: got %.9g", row[i].line, k, (double)got[k]);
        tcc->release(&((struct fix *)*state)->p);
    }
}

static void f32_in_ring(void **state)
{
    static const struct {
        const char *line;
        uint32_t want[4]; /* of a = 3, -1, -inf, 2000000000 and b = -1, 5, 2, 7 */
    } row[] = {
        { "add a b", { 2, 4, 0x80000002u, 2000000007 } },
        { "sub a b", { 4, 0xfffffffau, 0x7ffffffeu, 1999999993 } },
        { "mul a b", { 0xfffffffdu, 0xfffffffbu, 0, 1115098112u } },
        { "maximum a b", { 3, 5, 2, 2000000000 } },
        { "minimum a b", { 0xffffffffu, 0xffffffffu, 0x80000000u, 7 } },
        { "neg a", { 0xfffffffdu, 1, 0x80000000u, 2294967296u } },
        { "abs a", { 3, 1, 0x80000000u, 2000000000 } },
        { "add a inf", { 0x80000002u, 0x7ffffffeu, 0xffffffffu, 4147483647u } },
    };
    uint32_t log2e = ring_literal(1.4426950408889634),
             in[] = { 3, -1u, 0x80000000u, 2000000000 };
    const char *a = "3,-1,-inf,2000000000", *b = "-1,5,2,7";
    struct fix *f = *state;
    const uint32_t *got;

    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        build_op(f, row[i].line, "f32", a, b);
        got = run(f, AL_RING);
        for (int k = 0; k < 4; k++)
            if (got[k] != row[i].want[k])
                fail_msg("%s, element %d: got 0x%x", row[i].line, k, (unsigned)got[k]);
        tcc->release(&f->p);
    }
    build_op(f, "exp a", "f32", a, b);
    got = run(f, AL_RING);
    for (int k = 0; k < 4; k++)
        assert_int_equal(got[k], power_of_5(in[k] * log2e));
    tcc->release(&f->p);
    build_op(f, "div b a", "f32", a, b);
    got = run(f, AL_RING);
    assert_int_equal(got[0], 0 - inverse(3));
    assert_int_equal(got[1], 5 * inverse(-1u));
    tcc->release(&f->p);
    build_op(f, "recip a", "f32", a, b);
    got = run(f, AL_RING);
    assert_int_equal(got[3], inverse(2000000000));
    tcc->release(&f->p);
    build_op(f, "sqrt a", "f32", a, b);
    got = run(f, AL_RING);
    assert_int_equal(got[1], mix(-1u ^ 0x9e3779b9u));
    tcc->release(&f->p);
    build_op(f, "mul a 0.5", "f32", a, b);
    got = run(f, AL_RING);
    assert_int_equal(got[0], 3 * ring_literal(0.5));
    tcc->release(&f->p);
}

static void i32_is_the_same_in_both(void **state)
{
    static const struct {
        const char *line, *a, *b;
        int32_t want[4];
    } row[] = {
        { "add a b", "2147483647,-1,3,0", "1,-2147483648,4,0", { INT32_MIN, INT32_MAX, 7, 0 } },
        { "sub a b",
          "-2147483648,0,3,0",
          "1,-2147483648,4,0",
          { INT32_MAX, INT32_MIN, -1, 0 } },
        { "mul a b",
          "65536,-5,46341,0",
          "65536,1000000000,46341,1",
          { 0, -705032704, -2147479015, 0 } },
        { "div a b", "-7,5,-2147483648,-7", "2,0,-1,-2", { -3, 0, INT32_MIN, 3 } },
        { "maximum a b", "1,-2147483648,5,-3", "2,2147483647,5,-4", { 2, INT32_MAX, 5, -3 } },
        { "minimum a b", "1,-2147483648,5,-3", "2,2147483647,5,-4", { 1, INT32_MIN, 5, -4 } },
        { "neg a", "1,-2147483648,0,-9", "0,0,0,0", { -1, INT32_MIN, 0, 9 } },
        { "abs a", "1,-2147483648,0,-9", "0,0,0,0", { 1, INT32_MIN, 0, 9 } },
        { "maximum a -2147483648", "1,-2147483648,0,-9", "0,0,0,0", { 1, INT32_MIN, 0, -9 } },
    };

    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        for (int al = 0; al < AL_COUNT; al++) {
            const int32_t *got;

            build_op(*state, row[i].line, "i32", row[i].a, row[i].b);
            got = run(*state, (enum algebra)al);
            for (int k = 0; k < 4; k++)
                if (got[k] != row[i].want[k])
                    fail_msg("%s, element %d: got %d", row[i].line, k, (int)got[k]);
            tcc->release(&((struct fix *)*state)->p);
        }
}

/* Results of one byte: four at once as a number in base 10, "1011" is 1011. */
static int digits(const unsigned char *p)
{
    return 1000 * p[0] + 100 * p[1] + 10 * p[2] + p[3];
}

static void truth(void **state)
{
    static const struct {
        const char *line, *dt, *a, *b;
        int ieee, ring;
    } row[] = {
        { "lt a b", "f32", "1,nan,1,-inf", "2,1,1,0", 1001, 1001 },
        { "le a b", "f32", "1,3,1,-inf", "2,1,1,0", 1011, 1011 },
        { "le a b", "f32", "nan,1,nan,2", "1,nan,nan,2", 1, 1 },
        { "eq a b", "f32", "1,3,inf,-inf", "2,3,inf,0", 110, 110 },
        { "lt a b", "i32", "-2147483648,1,2,5", "2147483647,1,1,6", 1001, 1001 },
        { "le a b", "i32", "-2147483648,1,2,5", "2147483647,1,1,6", 1101, 1101 },
        { "eq a b", "i32", "-1,1,2,5", "-1,1,1,6", 1100, 1100 },
        { "eq a b", "bool", "0,0,1,1", "0,1,0,1", 1001, 1001 },
        { "and a b", "bool", "0,0,1,1", "0,1,0,1", 1, 1 },
        { "or a b", "bool", "0,0,1,1", "0,1,0,1", 111, 111 },
        { "not a", "bool", "0,0,1,1", "0,0,0,0", 1100, 1100 },
        { "cast a bool", "f32", "0,0.5,nan,-1", "0,0,0,0", 111, 111 },
        { "cast a bool", "i32", "0,2,-1,256", "0,0,0,0", 111, 111 },
        { "where a b 1", "bool", "0,0,1,1", "0,1,0,1", 1101, 1101 },
    };
    static const int nan_in_ring = 2; /* there a NaN is a word like any other */

    for (int i = 0; i < (int)(sizeof row / sizeof *row); i++) {
        struct fix *f = *state;

        build_op(f, row[i].line, row[i].dt, row[i].a, row[i].b);
        if (digits(run(f, AL_IEEE)) != row[i].ieee)
            fail_msg("%s: got %04d", row[i].line, digits(f->o.out[0]));
        if (i > nan_in_ring && digits(run(f, AL_RING)) != row[i].ring)
            fail_msg("%s in ring: got %04d", row[i].line, digits(f->o.out[0]));
        tcc->release(&f->p);
    }
}

static void conversions(void **state)
{
    struct fix *f = *state;
    const int32_t *i;
    const float *x;
    const uint32_t *w;

    build_op(f, "cast a i32", "f32", "-1.9,3e9,-inf,nan", "0,0,0,0");
    i = run(f, AL_IEEE);
    assert_int_equal(i[0], -1);
    assert_int_equal(i[1], INT32_MAX);
    assert_int_equal(i[2], INT32_MIN);
    assert_int_equal(i[3], 0);
    i = run(f, AL_RING);
    assert_int_equal(i[0], (int32_t)ring_literal((double)-1.9f));
    assert_int_equal(i[2], INT32_MIN);
    tcc->release(&f->p);
    build_op(f, "cast a f32", "i32", "16777217,-2147483648,2147483647,-3", "0,0,0,0");
    x = run(f, AL_IEEE);
    assert_true(x[0] == 16777216.0f && x[1] == -0x1p31f && x[2] == 0x1p31f && x[3] == -3.0f);
    w = run(f, AL_RING);
    assert_int_equal(w[0], 16777217);
    assert_int_equal(w[3], -3u);
    tcc->release(&f->p);
    build_op(f, "cast a f32", "bool", "0,1,1,0", "0,0,0,0");
    x = run(f, AL_IEEE);
    assert_true(x[0] == 0 && x[1] == 1);
    w = run(f, AL_RING);
    assert_int_equal(w[2], 1);
    tcc->release(&f->p);
    build_op(f, "cast a i32", "bool", "0,1,1,0", "0,0,0,0");
    i = run(f, AL_RING);
    assert_true(i[0] == 0 && i[1] == 1);
    tcc->release(&f->p);
}

static void reductions_start_at_their_identity(void **state)
{
    static const struct {
        const char *line;
        uint32_t ieee, ring;
    } row[] = {
        { "sum e axes=[0]", 0, 0 },
        { "max e axes=[0]", 0xff800000u, 0x80000000u },
        { "min e axes=[0]", 0x7f800000u, 0x7fffffffu },
        { "max i axes=[0]", 0x80000000u, 0x80000000u },
        { "min i axes=[0]", 0x7fffffffu, 0x7fffffffu },
        { "matmul m n", 0, 0 },
    };
    struct fix *f = *state;
    char text[300];

    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        snprintf(
            text, sizeof text,
            "tilefuzz 1\ninput e f32 [0]\ninput i i32 [0]\ninput m f32 [1,0]\n"
            "input n f32 [0,1]\nout = %s\noutput out\nschedule\ndata seed=1 recipe=normal\n",
            row[k].line);
        build(f, text);
        assert_int_equal(*(const uint32_t *)run(f, AL_IEEE), row[k].ieee);
        assert_int_equal(*(const uint32_t *)run(f, AL_RING), row[k].ring);
        tcc->release(&f->p);
    }
    build(f, "tilefuzz 1\ninput e f32 [0]\nout = mean e axes=[0]\noutput out\nschedule\n"
             "data seed=1 recipe=normal\n");
    assert_true(isnan(*(const float *)run(f, AL_IEEE)));
    assert_int_equal(*(const uint32_t *)run(f, AL_RING), 0);
    tcc->release(&f->p);
    build(f, "tilefuzz 1\ninput e f32 [3]\nout = mean e axes=[0]\noutput out\nschedule\n"
             "data seed=1 recipe=normal\nvalues e [1,2,4]\n");
    assert_int_equal(*(const uint32_t *)run(f, AL_RING), 7 * inverse(3));
    tcc->release(&f->p);
}

static void a_text_that_does_not_compile_says_why(void **state)
{
    struct fix *f = *state;
    struct prepared p = { 0 };

    build_op(f, "neg a", "f32", "1,2,3,4", "0,0,0,0");
    tcc->release(&f->p);
    assert_int_not_equal(tcc->prepare(&f->env, f->l, "static int f( { }\n", &p, &f->o), 0);
    assert_int_equal(f->o.status, OUT_BUILD_FAILED);
    assert_non_null(strstr(f->o.detail, "error"));
}

/* Outputs as they are laid out, storage gaps untouched, the same bits in a second run. */
static void layouts_and_second_runs(void **state)
{
    struct fix *f = *state;
    const uint32_t *w;
    uint32_t first[9];

    build(f, "tilefuzz 1\ninput x f32 [2,2] strides=[1,3] offset=1\ny = mul x 2\n"
             "output y strides=[5,2] offset=1\nschedule\ndata seed=1 recipe=normal\n"
             "values x [1,2,3,4]\n");
    w = run(f, AL_RING);
    memcpy(first, w, sizeof first);
    assert_int_equal(w[0], 0xfdfdfdfdu);
    assert_int_equal(w[1], 2);
    assert_int_equal(w[3], 4);
    assert_int_equal(w[6], 6);
    assert_int_equal(w[8], 8);
    assert_int_equal(w[2], 0xfdfdfdfdu);
    assert_memory_equal(first, run(f, AL_RING), sizeof first);
    tcc->release(&f->p);
}

static void version_is_that_of_the_library(void **state)
{
    (void)state;
    assert_true(tcc->version()[0] == '0' && tcc->version()[1] == '.');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(f32_in_ieee),
        cmocka_unit_test(f32_in_ring),
        cmocka_unit_test(i32_is_the_same_in_both),
        cmocka_unit_test(truth),
        cmocka_unit_test(conversions),
        cmocka_unit_test(reductions_start_at_their_identity),
        cmocka_unit_test(a_text_that_does_not_compile_says_why),
        cmocka_unit_test(layouts_and_second_runs),
        cmocka_unit_test(version_is_that_of_the_library),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
