/* The interpreter: arithmetic of every op in both algebras, and what views mean. */
#include "interp_fix.h"

#include <math.h>
#include <stdio.h>

#include "ir/data.h"

#include "ring_words.h"

/* --- arithmetic --- */

static uint32_t bits(double v)
{
    float x = (float)v;
    uint32_t u;

    memcpy(&u, &x, 4);
    return u;
}

/* y = the op of the inputs a, b given as numbers */
static uint32_t compute(struct fix *f, enum algebra al, const char *op, const char *dt,
                        const char *a, const char *b)
{
    char text[400];
    uint32_t w = 0;

    snprintf(text, sizeof text,
             "tilefuzz 1\ninput a %s [1]\ninput b %s [1]\nout = %s\noutput out\n"
             "schedule\ndata seed=1 recipe=normal\nvalues a [%s]\nvalues b [%s]\n",
             dt, dt, op, a, b);
    build(f, text);
    memcpy(&w, run(f, al),
           (size_t)dtype_info(f->l.buffer[f->l.node_buffer[f->l.prog->out[0].node]].dt)->bytes);
    return w;
}

static void ieee_operations(void **state)
{
    static const struct {
        const char *op, *a, *b;
        double want;
    } row[] = {
        { "add a b", "1.5", "2", 3.5 },     { "sub a b", "1.5", "2", -0.5 },
        { "mul a b", "1.5", "-2", -3 },     { "div a b", "1", "0", INFINITY },
        { "maximum a b", "nan", "1", NAN }, { "maximum a b", "1", "nan", NAN },
        { "maximum a b", "-1", "-2", -1 },  { "minimum a b", "nan", "1", NAN },
        { "minimum a b", "1", "nan", NAN }, { "minimum a b", "-inf", "2", -INFINITY },
        { "neg a", "3", "0", -3 },          { "abs a", "-3", "0", 3 },
        { "exp a", "0", "0", 1 },           { "exp a", "-inf", "0", 0 },
        { "recip a", "-4", "0", -0.25 },    { "sqrt a", "2.25", "0", 1.5 },
        { "sqrt a", "-1", "0", NAN },       { "max a axes=[0]", "nan", "0", NAN },
        { "mean a axes=[0]", "7", "0", 7 }, { "copy a", "0.1", "0", 0.1 },
    };

    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        uint32_t got = compute(*state, AL_IEEE, row[i].op, "f32", row[i].a, row[i].b);
        float x;

        memcpy(&x, &got, 4);
        if (isnan(row[i].want) ? !isnan(x) : got != bits(row[i].want))
            fail_msg("%s of %s, %s: got %g", row[i].op, row[i].a, row[i].b, (double)x);
    }
    assert_int_equal(compute(*state, AL_IEEE, "lt a b", "f32", "nan", "1"), 0);
    assert_int_equal(compute(*state, AL_IEEE, "le a b", "f32", "1", "1"), 1);
    assert_int_equal(compute(*state, AL_IEEE, "eq a b", "f32", "nan", "nan"), 0);
    assert_int_equal(compute(*state, AL_IEEE, "cast a bool", "f32", "nan", "0"), 1);
    assert_int_equal(compute(*state, AL_IEEE, "cast a bool", "f32", "-0", "0"), 0);
    assert_int_equal(compute(*state, AL_IEEE, "cast a i32", "f32", "nan", "0"), 0);
    assert_int_equal(compute(*state, AL_IEEE, "cast a i32", "f32", "-2.9", "0"), (uint32_t)-2);
    assert_int_equal(compute(*state, AL_IEEE, "cast a i32", "f32", "3e9", "0"), INT32_MAX);
    assert_int_equal(compute(*state, AL_IEEE, "cast a i32", "f32", "-inf", "0"), 0x80000000u);
}

static void ring_operations(void **state)
{
    uint32_t l = ring_literal((double)1.4426950408889634f), m1 = (uint32_t)-1;
    const struct {
        const char *op, *a, *b;
        uint32_t want;
    } row[] = {
        { "add a b", "-1", "3", 2 },
        { "mul a b", "65536", "65537", 65536 },
        { "sub a b", "0", "1", m1 },
        { "neg a", "1", "0", m1 },
        { "abs a", "-5", "0", 5 },
        { "abs a", "-inf", "0", 0x80000000u },
        { "maximum a b", "-1", "1", 1 },
        { "minimum a b", "-1", "inf", m1 },
        { "exp a", "3", "0", power_of_5(3 * l) },
        { "exp a", "-1", "0", power_of_5(0u - l) },
        { "recip a", "9", "0", inverse(9) },
        { "div a b", "6", "3", 6 * inverse(3) },
        { "sqrt a", "9", "0", mix(9 ^ 0x9e3779b9u) },
        { "mean a axes=[0]", "8", "0", 8 * inverse(1) },
        { "add a 0.5", "1", "0", ring_literal(0.5) + 1 },
        { "cast a i32", "-7", "0", (uint32_t)-7 },
        { "max a axes=[0]", "-3", "0", (uint32_t)-3 },
        { "lt a b", "-1", "1", 1 },
        { "cast a bool", "4", "0", 1 },
    };

    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        uint32_t got = compute(*state, AL_RING, row[i].op, "f32", row[i].a, row[i].b);

        if (got != row[i].want)
            fail_msg("%s of %s, %s: got %#x", row[i].op, row[i].a, row[i].b, got);
    }
    assert_int_equal(compute(*state, AL_RING, "cast a f32", "i32", "-7", "0"), (uint32_t)-7);
    assert_int_equal(compute(*state, AL_RING, "cast a f32", "bool", "1", "0"), 1);
}

static void int_and_bool_operations(void **state)
{
    static const struct {
        const char *op, *dt, *a, *b;
        int32_t want;
    } row[] = {
        { "add a b", "i32", "2147483647", "1", INT32_MIN },
        { "div a b", "i32", "-7", "2", -3 },
        { "div a b", "i32", "7", "0", 0 },
        { "div a b", "i32", "-2147483648", "-1", INT32_MIN },
        { "abs a", "i32", "-2147483648", "0", INT32_MIN },
        { "neg a", "i32", "-2147483648", "0", INT32_MIN },
        { "le a b", "i32", "-2", "1", 1 },
        { "cast a bool", "i32", "256", "0", 1 },
        { "not a", "bool", "1", "0", 0 },
        { "and a b", "bool", "1", "0", 0 },
        { "or a b", "bool", "1", "0", 1 },
        { "eq a b", "bool", "0", "0", 1 },
        { "cast a i32", "bool", "1", "0", 1 },
        { "where a a b", "bool", "0", "1", 1 },
    };

    for (enum algebra al = 0; al < AL_COUNT; al++)
        for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
            if ((int32_t)compute(*state, al, row[i].op, row[i].dt, row[i].a, row[i].b) !=
                row[i].want)
                fail_msg("%s of %s, %s", row[i].op, row[i].a, row[i].b);
}

/* --- views --- */

/* Element idx of a node, by the definitions of the views, from the input's own data. */
static double element(const struct trial *t, int node, const int64_t *idx)
{
    const struct node *n = &t->prog.node[node];
    const struct shape *sh = n->n_arg ? &t->prog.node[n->arg[0].node].sh : &n->sh;
    int64_t to[MAX_RANK] = { 0 }, at = 0;

    if (n->op == OP_INPUT) {
        for (int i = 0; i < sh->rank; i++)
            at = at * sh->dim[i] + idx[i];
        return data_number(t, node, at);
    }
    if (n->op == OP_IOTA)
        return (double)idx[n->axis];
    if (n->op == OP_PERMUTE)
        for (int i = 0; i < sh->rank; i++)
            to[n->perm[i]] = idx[i];
    if (n->op == OP_EXPAND)
        for (int i = 0; i < sh->rank; i++)
            to[i] = sh->dim[i] == 1 ? 0 : idx[n->sh.rank - sh->rank + i];
    if (n->op == OP_SLICE)
        for (int i = 0; i < sh->rank; i++)
            to[i] = n->lo[i] + n->by[i] * idx[i];
    if (n->op == OP_RESHAPE) {
        for (int i = 0; i < n->sh.rank; i++)
            at = at * n->sh.dim[i] + idx[i];
        for (int i = sh->rank; i-- > 0; at /= sh->dim[i])
            to[i] = at % sh->dim[i];
    }
    if (n->op == OP_PAD)
        for (int i = 0; i < sh->rank; i++) {
            to[i] = idx[i] - n->lo[i];
            if (to[i] < 0 || to[i] >= sh->dim[i])
                return n->value;
        }
    if (n->op == OP_COPY)
        memcpy(to, idx, sizeof to);
    return element(t, n->arg[0].node, to);
}

static void views_mean_their_definition(void **state)
{
    static const char *const views[] = {
        "v = permute x [2,0,1]\noutput v",
        "v = reshape x [6,4]\noutput v",
        "w = permute x [2,0,1]\nv = reshape w [12,2]\noutput v",
        "w = slice x [1:-1:-1,0:3:2,3:-1:-2]\nv = copy w\noutput v",
        "w = reshape x [2,1,3,4]\nu = expand w [2,5,3,4]\nv = copy u\noutput v",
        "w = pad x [1:0,0:2,0:0] value=7\nu = pad w [0:1,1:0,2:1] value=-3\nv = copy u\noutput "
        "v",
        "w = pad x [1:1,0:1,0:0] value=2\nu = reshape w [4,16]\nq = permute u [1,0]\n"
        "p = pad q [1:2,2:0] value=5\nv = slice p [18:-1:-3,0:6:1]\noutput v",
        "i = iota f32 [2,3] axis=1\nw = pad i [0:1,1:0] value=9\nv = permute w [1,0]\noutput v",
        "w = slice x [0:2:1,0:3:1,1:1:1]\nv = pad w [0:0,0:0,1:1] value=4\noutput v",
        "w = slice x [0:1:1,2:3:1,3:4:1]\nv = reshape w []\noutput v",
        "w = slice x [0:2:1,0:0:1,0:4:1]\nv = copy w\noutput v",
    };

    for (size_t c = 0; c < sizeof views / sizeof views[0]; c++) {
        struct fix *f = *state;
        const struct node *n;
        const float *got;
        char text[500];

        snprintf(text, sizeof text,
                 "tilefuzz 1\ninput x f32 [2,3,4] strides=[13,4,1] offset=3\n%s\n"
                 "schedule\ndata seed=5 recipe=ints\n",
                 views[c]);
        build(f, text);
        got = (const float *)run(f, AL_IEEE);
        n = &f->t->prog.node[f->t->prog.out[0].node];
        for (int64_t e = 0; e < shape_count(&n->sh); e++) {
            int64_t idx[MAX_RANK], at = e;

            for (int i = n->sh.rank; i-- > 0; at /= n->sh.dim[i])
                idx[i] = at % n->sh.dim[i];
            if ((double)got[e] != element(f->t, f->t->prog.out[0].node, idx))
                fail_msg("%s: element %d is %g", views[c], (int)e, (double)got[e]);
        }
    }
}

static void reductions_and_layouts(void **state)
{
    struct fix *f = *state;
    const int32_t *got;

    build(f, "tilefuzz 1\ninput x i32 [2,3]\ninput y i32 [3,2]\nm = matmul x y\n"
             "output m strides=[1,3] offset=1\nschedule\ndata seed=1 recipe=ints\n"
             "values x [1,2,3,4,5,6]\nvalues y [1,0,0,1,10,100]\n");
    got = (const int32_t *)run(f, AL_RING);
    assert_int_equal(got[1], 31);
    assert_int_equal(got[4], 302);
    assert_int_equal(got[2], 64);
    assert_int_equal(got[5], 605);
    assert_int_equal((unsigned)got[0], 0xfdfdfdfdu);
    assert_int_equal((unsigned)got[3], 0xfdfdfdfdu);

    build(f, "tilefuzz 1\ninput x i32 [2,3]\ns = slice x [0:2:1,0:0:1]\nm = min s axes=[1]\n"
             "output m\nschedule\ndata seed=1 recipe=ints\n");
    got = (const int32_t *)run(f, AL_IEEE);
    assert_int_equal(got[0], INT32_MAX);
    assert_int_equal(got[1], INT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ieee_operations),
        cmocka_unit_test(ring_operations),
        cmocka_unit_test(int_and_bool_operations),
        cmocka_unit_test(views_mean_their_definition),
        cmocka_unit_test(reductions_and_layouts),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
