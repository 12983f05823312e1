/* .trial text: parse and print are inverse, and print is canonical. */
#include "ir/text.h"

#include "testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bug.h"

#define HEAD "tilefuzz 1\n"
#define TAIL "output y\ndata seed=0 recipe=normal\n"

/* Canonical texts: printing gives them back byte for byte. Every op, step, key and recipe
 * occurs. */
static const char *const canonical[] = {
    HEAD "input y f32 []\n" TAIL,
    HEAD "input y i32 [0,3]\n" TAIL,
    HEAD "input y bool [1,1,1,1,1,1,1,1]\n" TAIL,
    HEAD "const y f32 -inf\n" TAIL,
    HEAD "const y f32 nan\n" TAIL,
    HEAD "const y f32 -0\n" TAIL,
    HEAD "const y i32 -2147483648\n" TAIL,
    HEAD "const y i32 1073741824\n" TAIL,
    HEAD "const y bool 1\n" TAIL,
    HEAD "y = iota f32 [4,5] axis=1\n" TAIL,
    HEAD "input x f32 [4,6] strides=[10,1] offset=3\ny = copy x\n"
         "output y strides=[1,4] offset=7\noutput x\ndata seed=0 recipe=normal\n",
    HEAD "input x i32 [2,3,4]\na = permute x [2,0,1]\nb = reshape a [8,3]\n"
         "c = expand b [5,8,3]\nd = slice c [0:5:2,7:-1:-1,2:2:1]\n"
         "y = pad d [0:1,2:0,1:1] value=-7\n" TAIL,
    HEAD "input x f32 [7]\na = neg x\nb = abs a\nc = exp b\nd = recip c\ny = sqrt d\n" TAIL,
    HEAD "input x f32 [7]\na = add x 0.1\nb = sub 1e-05 a\nc = mul b x\nd = div c 3\n"
         "e = maximum d -inf\ny = minimum inf e\n" TAIL,
    HEAD
    "input x i32 [7]\na = lt x 3\nb = le 16777217 x\nc = eq x x\nd = and a b\n"
    "e = or c 1\nf = not e\ng = where f x -9\nh = where d 2147483647 g\ny = cast h f32\n" TAIL,
    HEAD "input x f32 [2,3,4]\na = sum x axes=[0,2]\nb = max x axes=[0,2] keep=1\n"
         "c = min x axes=[1]\nd = mean x axes=[0,1,2]\ny = cast d bool\n" TAIL,
    HEAD "input x f32 [2,3,4,5]\ninput w f32 [2,3,5,6]\ny = matmul x w\noutput y\nschedule\n"
         "split y.m 2\nsplit y.i2.1 2\nsplit y.b1 3\n"
         "reorder y y.i2.0 y.b y.i2.1.0 y.i2.1.1 y.i1.0 y.i1.1 y.n y.k\nsplitk y 3\n"
         "unroll y.m.1.1\nvectorize y.n 4\nplan linear\ninplace off\n"
         "data seed=18446744073709551615 recipe=uniform\n",
    HEAD "input x f32 [4,5]\na = exp x\ny = sum a axes=[1]\noutput y\nschedule\nfuse a y\n"
         "split y.r0 4\nplan off\ninplace on\nset jax.jit_2 on\nset tinygrad.NOOPT 1\ndata "
         "seed=1 recipe=positive\n",
    HEAD "input x f32 [5]\ninput i i32 [2]\ninput b bool [2]\ny = neg x\noutput y\n"
         "schedule\nplan best\ndata seed=1 recipe=ints\nvalues x [0.1,-inf,nan,1e+20,-0]\n"
         "values i [-2147483648,1073741824]\nvalues b [0,1]\n",
    HEAD "input x f16 [7]\na = exp2 x\nb = log a\nc = tanh b\nd = erf c\ny = rsqrt d\n" TAIL,
    HEAD "input x bf16 [2,1]\na = prod x axes=[0] acc=bf16\nb = sum x axes=[0] keep=1 acc=f64\n"
         "c = mean x axes=[1] acc=bf16\nd = matmul b b\ny = cast a f64\n" TAIL,
    HEAD "input x f32 [2,3]\na = permute x [1,0]\ny = matmul x a acc=f64\n" TAIL,
    HEAD "const y f64 0.1\n" TAIL,
    HEAD "const y f64 0.10000000149011612\n" TAIL, /* (double)0.1f */
    HEAD "const y f64 5e-324\n" TAIL,
    HEAD "const y f64 1.7976931348623157e+308\n" TAIL,
    HEAD "const y f64 -0\n" TAIL,
    HEAD "const y f16 0.1\n" TAIL,
    HEAD "const y f16 6.55e+04\n" TAIL, /* 65504 */
    HEAD "const y f16 6e-08\n" TAIL,
    HEAD "const y f16 nan\n" TAIL,
    HEAD "const y bf16 0.1\n" TAIL,
    HEAD "const y bf16 3.39e+38\n" TAIL,
    HEAD "input x f16 [3]\ny = pad x [1:1] value=0.1\noutput y\ndata seed=0 recipe=special\n"
         "values x [0.1,-inf,2048]\n",
    HEAD
    "input x f32 [2,3]\ninput g f32 [3]\na = softmax x axis=0\n"
    "b = layernorm a g g eps=1e-05\nc = rmsnorm b g eps=0\nd = concat c x axis=1\n"
    "e = argmax d axis=1\ny = gather x e axis=0\noutput y\nschedule\nalgo a online block=2\n"
    "algo b decomposed\nfuse a.mx a.sm0\nfuse a.ex a\nsplit a.mx.r0 4\nsplit a.i0 2\n"
    "split a.mx.r0.1.0 2\nreorder a.mx a.mx.r0.0 a.mx.i0\nsplitk a.sm1 2\nunroll e.r0\n"
    "vectorize b.mn.i0.1 4\ndata seed=0 recipe=magnitude\n",
    HEAD "input scale f32 [1,2,3]\ny = attention scale scale scale scale=0.57735026\n" TAIL,
    HEAD "input q f32 [4,3,8]\ninput k f32 [2,5,8]\ninput m f32 [3,5]\n"
         "y = attention q k k m scale=0.35355338 mask=add\noutput y\nschedule\n"
         "algo y split block=2\ndata seed=0 recipe=normal\n",
    HEAD "input q bf16 [4,3,8]\ny = attention q q q scale=1 mask=causal_br empty=zero\n" TAIL,
    HEAD "input x f16 [2,5,7]\ninput w f16 [2,7,6]\ny = matmul x w\noutput y\nschedule\n"
         "splitk y 3 serial\ntile y 16x8x4 threads=32\nunroll y.k.1\nunroll y.m.1.1\n"
         "vectorize y.n.1.1 4\nbind y.b block\nbind y.i2.1.0 thread\n"
         "stage y.a y.r0.0 depth=3 async vec=4\nstage y.b y.k.0 depth=3 async\n"
         "epilogue y alias\nswizzle y.b\ndata seed=0 recipe=normal\n",
    HEAD "input x bf16 [9,7]\ninput w bf16 [7,9]\ny = matmul x w\noutput y\nschedule\n"
         "splitk y 2 atomic\ntile y 32x8x16 threads=64 mma\nunroll y.i0.1.1.0\n"
         "stage y.a y.r0.0 async\nstage y.b y.r0.0 vec=16\nepilogue y own\n"
         "data seed=0 recipe=normal\n",
    HEAD "input x f32 [9,7]\ny = copy x\noutput y\nschedule\nsplit y.i0 4\n"
         "tile y 256x1 threads=1024\nbind y.i0.1.0 thread\nstage y.z y.i0.0 depth=5\n"
         "data seed=0 recipe=normal\n",
    HEAD "input q f32 [4,3,8]\ny = attention q q q scale=1\noutput y\nschedule\n"
         "algo y flash block=2\nsplitk y.sc 2\ntile y.sc 2x4 threads=8\n"
         "bind y.sc.i0 block\nstage y.sc.a y.sc.r0.0\nepilogue y.pv global\nswizzle y.a\n"
         "data seed=0 recipe=normal\n",
    HEAD "input q f32 [4,3,8]\ny = attention q q q scale=1\noutput y\nschedule\n"
         "algo y flash block=2 splits=64\ndata seed=0 recipe=normal\n",
    HEAD "input x i32 [2,3]\na = roll x shift=[-1,5]\ny = repeat a times=[2,1]\n" TAIL,
    HEAD "input x f16 [2,3]\na = slice x [0:2:1,1:3:1]\nb = assign x a [1:-1:-1,0:2:1]\n"
         "y = assign b 0.1 [0:0:1,0:3:2]\n" TAIL,
    HEAD "input x f16 [2,3]\ninput w f16 [3,2]\ninput c f16 [2,2]\na = matmul x w c\n"
         "b = matmul x w a alpha=0.1 beta=-2 acc=f64\nd = matmul x w alpha=0\n"
         "y = matmul x w b alpha=1 beta=0\n" TAIL,
    HEAD "input x bf16 [2,3]\na = logsoftmax x axis=0\ny = cumsum a axis=1 acc=bf16\n" TAIL,
    HEAD "input x f32 [2]\ninput i i32 [1]\ny = copy x\noutput y\ndata seed=3 recipe=exact\n"
         "values i [3]\nvalues x [1,2]\n",
    HEAD "input y f32 [0]\noutput y\ndata seed=0 recipe=normal\nvalues y []\n",
};

/* Texts that mean the same as a canonical one. */
static const struct {
    const char *text, *want;
} loose[] = {
    { "# above\n\n  tilefuzz\t1 # here\r\n input  y  f32[ 2 , +3 ]#x\n\noutput y",
      HEAD "input y f32 [2,3]\n" TAIL },
    { HEAD
      "input x f32 [4] offset=2\ny = slice x [0:2]\noutput y\nschedule\ndata recipe=normal",
      HEAD "input x f32 [4] strides=[1] offset=2\ny = slice x [0:2:1]\n" TAIL },
    { HEAD "input x f32 [4]\ny = sum x keep=0 axes=[0]\noutput y\ndata",
      HEAD "input x f32 [4]\ny = sum x axes=[0]\n" TAIL },
    { HEAD "input x f32 [1]\ny = pad x [1:1]\noutput y\n",
      HEAD "input x f32 [1]\ny = pad x [1:1] value=0\n" TAIL },
    { HEAD "input x f32 [1]\ny = mul x 0.353553390593273762\noutput y\n",
      HEAD "input x f32 [1]\ny = mul x 0.35355338\n" TAIL },
    { HEAD "input x f16 [1]\ny = mul x 0.0999755859375\noutput y\n",
      HEAD "input x f16 [1]\ny = mul x 0.1\n" TAIL },
    { HEAD "input x f64 [1]\ny = mul x 0.35355339059327379\noutput y\n",
      HEAD "input x f64 [1]\ny = mul x 0.3535533905932738\n" TAIL },
    { HEAD "input x bf16 [1,1]\ny = sum x acc=f32 axes=[0]\noutput y\n",
      HEAD "input x bf16 [1,1]\ny = sum x axes=[0]\n" TAIL },
    { HEAD "input x f32 [1,1,1]\ny = attention x x x empty=nan mask=none scale=1.0\noutput y\n",
      HEAD "input x f32 [1,1,1]\ny = attention x x x scale=1\n" TAIL },
    { HEAD "input x bool [1]\ny = or x 1.0\noutput y\n",
      HEAD "input x bool [1]\ny = or x 1\n" TAIL },
    { HEAD "input x f32 [2,2]\ny = matmul x x\noutput y\nschedule\nsplitk y 2 workspace\n"
           "tile y 016x4 threads=+2\nstage y.a y.k vec=8 async depth = 1\n",
      HEAD "input x f32 [2,2]\ny = matmul x x\noutput y\nschedule\nsplitk y 2\n"
           "tile y 16x4 threads=2\nstage y.a y.k async vec=8\ndata seed=0 recipe=normal\n" },
    { HEAD "input x f32 [1,1,1]\ny = attention x x x scale=1\noutput y\nschedule\n"
           "algo y flash block=2 splits=1\n",
      HEAD "input x f32 [1,1,1]\ny = attention x x x scale=1\noutput y\nschedule\n"
           "algo y flash block=2\ndata seed=0 recipe=normal\n" },
    { HEAD "input x f32 [2,2]\ny = max x axes=[1,0]\noutput y\nvalues x [1e0,2.50,3,4]\n"
           "data seed=3\n",
      HEAD "input x f32 [2,2]\ny = max x axes=[0,1]\noutput y\ndata seed=3 recipe=normal\n"
           "values x [1,2.5,3,4]\n" },
};

static const char readme_example[] =
    HEAD "# one attention head: softmax(q k' / sqrt(8)) v\n"
         "input q f32 [4,8]\ninput k f32 [4,8] strides=[10,1] offset=3\ninput v f32 [4,8]\n"
         "kt = permute k [1,0]\ns = matmul q kt\nt = mul s 0.35355338\n"
         "mx = max t axes=[1] keep=1\nmb = expand mx [4,4]\nd = sub t mb\ne = exp d\n"
         "z = sum e axes=[1] keep=1\nzb = expand z [4,4]\np = div e zb\ny = matmul p v\n"
         "output y\noutput p strides=[8,1]\nschedule\nfuse s t\nsplit t.i1 2\n"
         "reorder t t.i1.0 t.i0 t.i1.1\nsplitk y 2\nvectorize e.i1 4\nplan best\n"
         "data seed=17 recipe=normal\n"
         "values v [1,0,0,0,0,0,0,0,0,1,0,0,0,0,0,0,0,0,1,0,0,0,0,0,0,0,0,1,0,0,0,0]\n";

static struct trial *parse(const char *text, struct arena *a)
{
    struct err e = { 0 };
    struct trial *t;

    if (trial_parse(text, strlen(text), a, &t, &e)) {
        err_print(&e);
        fail_msg("does not parse: %s", text);
    }
    if (trial_check(t, &e))
        fail_msg("parsed, but trial_check says: %s", e.msg);
    return t;
}

static void assert_prints(const struct trial *t, const char *want)
{
    struct str s = { 0 };

    trial_print(t, &s);
    assert_string_equal(str_get(&s), want);
    str_release(&s);
}

static void canonical_text_comes_back(void **state)
{
    struct arena a;

    (void)state;
    arena_init(&a);
    for (size_t i = 0; i < ARRAY_LEN(canonical); i++) {
        struct trial *t = parse(canonical[i], &a);

        assert_prints(t, canonical[i]);
        assert_prints(trial_clone(t, &a), canonical[i]);
        arena_reset(&a);
    }
    arena_release(&a);
}

static void loose_text_prints_canonically(void **state)
{
    struct arena a;

    (void)state;
    arena_init(&a);
    for (size_t i = 0; i < ARRAY_LEN(loose); i++)
        assert_prints(parse(loose[i].text, &a), loose[i].want);
    arena_release(&a);
}

static void canonical_texts_use_every_op_and_step(void **state)
{
    bool op[OP_COUNT] = { false }, step[STEP_COUNT] = { false };
    struct arena a;

    (void)state;
    arena_init(&a);
    for (size_t i = 0; i < ARRAY_LEN(canonical); i++) {
        struct trial *t = parse(canonical[i], &a);

        for (int k = 0; k < t->prog.n; k++)
            op[t->prog.node[k].op] = true;
        for (int k = 0; k < t->n_step; k++)
            step[t->step[k].kind] = true;
    }
    for (int k = 0; k < OP_COUNT; k++)
        if (!op[k])
            fail_msg("no text uses %s", op_info((enum op)k)->name);
    for (int k = 0; k < STEP_COUNT; k++)
        if (!step[k])
            fail_msg("no text uses %s", step_info((enum step_kind)k)->name);
    arena_release(&a);
}

static void the_example_of_the_readme_parses(void **state)
{
    struct arena a;
    struct trial *t;

    (void)state;
    arena_init(&a);
    t = parse(readme_example, &a);
    assert_int_equal(t->prog.n, 14);
    assert_int_equal(t->prog.n_out, 2);
    assert_int_equal(t->n_step, 6);
    assert_int_equal(t->step[1].line, 21);
    assert_int_equal(t->prog.node[1].layout.offset, 3);
    assert_int_equal(trial_key(t), trial_key(trial_clone(t, &a)));
    arena_release(&a);
}

static void values_are_of_the_dtype(void **state)
{
    struct arena a;
    struct trial *t;

    (void)state;
    arena_init(&a);
    t = parse(HEAD "input x f32 [2]\ny = add x 0.1\noutput y\nvalues x [0.1,-nan]\n", &a);
    assert_true(t->prog.node[1].arg[1].lit == (double)0.1f);
    assert_true(t->values[0].v[0] == (double)0.1f);
    assert_true(isnan(t->values[0].v[1]));
    arena_release(&a);
}

/* A repro.c carries its trial in the opening comment; lines count from the file's top. */
static void a_comment_can_carry_the_trial(void **state)
{
    static const char text[] =
        "/*\nA repro.\ntilefuzz 1\ninput y f32 [2]\noutput y\n*/\nint x;\n";
    static const char bad[] = "/*\nA repro.\ntilefuzz 1\ninput y f32 2\noutput y\n*/\nint x;\n";
    char path[] = "/tmp/tilefuzz-test-XXXXXX";
    int fd = mkstemp(path);
    struct err e = { 0 };
    struct arena a;
    struct trial *t;

    (void)state;
    arena_init(&a);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, sizeof text - 1), sizeof text - 1);
    assert_int_equal(trial_read(path, &a, &t, &e), 0);
    assert_prints(t, HEAD "input y f32 [2]\n" TAIL);
    assert_int_equal(t->prog.node[0].line, 4);
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_int_equal(pwrite(fd, bad, sizeof bad - 1, 0), sizeof bad - 1);
    assert_int_equal(trial_read(path, &a, &t, &e), ERR_INPUT);
    assert_string_equal(e.file, path);
    assert_int_equal(e.line, 4);
    assert_int_equal(e.col, 13);
    close(fd);
    unlink(path);
    assert_int_equal(trial_read(path, &a, &t, &e), ERR_IO);
    assert_int_equal(trial_read("/", &a, &t, &e), ERR_IO);
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(canonical_text_comes_back),
        cmocka_unit_test(loose_text_prints_canonically),
        cmocka_unit_test(canonical_texts_use_every_op_and_step),
        cmocka_unit_test(the_example_of_the_readme_parses),
        cmocka_unit_test(values_are_of_the_dtype),
        cmocka_unit_test(a_comment_can_carry_the_trial),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
