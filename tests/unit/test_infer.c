/* What node_infer gives for every op: shape, dtype, accumulator, numbers on its grid. */
#include "progs.h"

static const struct {
    const char *line, *shape, *dtype;
} infers[] = {
    { "input y i32 [4]", "[4]", "i32" },
    { "const y bool 1", "[]", "bool" },
    { "y = iota i32 [2,0] axis=1", "[2,0]", "i32" },
    { "y = permute p [2,0,1]", "[3,7,2]", "f32" },
    { "y = permute s []", "[]", "f32" },
    { "y = reshape x [3,1,2]", "[3,1,2]", "f32" },
    { "y = reshape s [1,1]", "[1,1]", "f32" },
    { "y = reshape z [5,0,9]", "[5,0,9]", "f32" },
    { "y = expand s [2,3]", "[2,3]", "f32" },
    { "y = expand b [5,2,3]", "[5,2,3]", "bool" },
    { "y = slice x [0:2:2,2:-1:-2]", "[1,2]", "f32" },
    { "y = slice x [2:2:1,0:1:9]", "[0,1]", "f32" },
    { "y = slice x [1:0:1,0:3:2]", "[0,2]", "f32" },
    { "y = slice z [0:0:-1,4:0:-3]", "[0,2]", "f32" },
    { "y = pad i [1:0,2:3] value=-1", "[3,8]", "i32" },
    { "y = pad z [1:1,0:0]", "[2,5]", "f32" },
    { "y = roll p shift=[1,-1,7]", "[7,2,3]", "f32" },
    { "y = assign p 1 [6:-1:-2,0:2,0:0]", "[7,2,3]", "f32" },
    { "y = repeat b times=[3,1]", "[6,3]", "bool" },
    { "y = repeat z times=[4,0]", "[0,0]", "f32" },
    { "y = neg i", "[2,3]", "i32" },
    { "y = abs x", "[2,3]", "f32" },
    { "y = exp s", "[]", "f32" },
    { "y = recip x", "[2,3]", "f32" },
    { "y = sqrt z", "[0,5]", "f32" },
    { "y = not b", "[2,3]", "bool" },
    { "y = add x 1", "[2,3]", "f32" },
    { "y = sub 1 i", "[2,3]", "i32" },
    { "y = mul x x", "[2,3]", "f32" },
    { "y = div i 0", "[2,3]", "i32" },
    { "y = maximum x -inf", "[2,3]", "f32" },
    { "y = minimum x nan", "[2,3]", "f32" },
    { "y = and b 1", "[2,3]", "bool" },
    { "y = or b b", "[2,3]", "bool" },
    { "y = lt x 0.5", "[2,3]", "bool" },
    { "y = le i i", "[2,3]", "bool" },
    { "y = eq b 0", "[2,3]", "bool" },
    { "y = where b x 0", "[2,3]", "f32" },
    { "y = where b 1 i", "[2,3]", "i32" },
    { "y = where b b b", "[2,3]", "bool" },
    { "y = cast b f32", "[2,3]", "f32" },
    { "y = copy b", "[2,3]", "bool" },
    { "y = sum p axes=[0,2]", "[2]", "f32" },
    { "y = max p axes=[1] keep=1", "[7,1,3]", "f32" },
    { "y = min i axes=[0,1]", "[]", "i32" },
    { "y = mean z axes=[0]", "[5]", "f32" },
    { "y = matmul p q", "[7,2,4]", "f32" },
    { "input c f32 [7,2,4]\ny = matmul p q c alpha=2 beta=0", "[7,2,4]", "f32" },
    { "y = exp2 x", "[2,3]", "f32" },
    { "y = log d", "[2,3]", "f64" },
    { "y = tanh h", "[2,3]", "f16" },
    { "y = erf t", "[2,3]", "bf16" },
    { "y = rsqrt x", "[2,3]", "f32" },
    { "y = prod p axes=[1] keep=1", "[7,1,3]", "f32" },
    { "y = softmax p axis=1", "[7,2,3]", "f32" },
    { "y = softmax z axis=0", "[0,5]", "f32" },
    { "y = logsoftmax p axis=2", "[7,2,3]", "f32" },
    { "y = cumsum i axis=1", "[2,3]", "i32" },
    { "y = cumsum z axis=0", "[0,5]", "f32" },
    { "y = layernorm x g g eps=1e-05", "[2,3]", "f32" },
    { "y = rmsnorm p g eps=0", "[7,2,3]", "f32" },
    { "y = argmax p axis=1", "[7,3]", "i32" },
    { "y = argmax z axis=1", "[0]", "i32" },
    { "y = argmax i axis=0", "[3]", "i32" },
    { "y = gather p n axis=1", "[7,4,3]", "f32" },
    { "y = gather z n axis=0", "[4,5]", "f32" },
    { "y = gather b n axis=0", "[4,3]", "bool" },
    { "y = concat x x axis=1", "[2,6]", "f32" },
    { "input w f32 [4,5]\ny = concat z w axis=0", "[4,5]", "f32" },
    { "y = attention u k v scale=1", "[2,4,5,6]", "f32" },
    { "input m bool [5,7]\ny = attention u k v m scale=1 mask=bool", "[2,4,5,6]", "f32" },
    { "input m f32 [2,4,5,7]\ny = attention u k v m scale=1 mask=add", "[2,4,5,6]", "f32" },
    { "y = attention p p p scale=1 mask=causal_br empty=zero", "[7,2,3]", "f32" },
    { "y = add h 1", "[2,3]", "f16" },
    { "y = lt d 1", "[2,3]", "bool" },
    { "y = where b t 0", "[2,3]", "bf16" },
    { "y = cast d f16", "[2,3]", "f16" },
    { "y = iota bf16 [3] axis=0", "[3]", "bf16" },
    { "y = mean h axes=[1]", "[2]", "f16" },
};

static void every_op_infers_its_shape(void **state)
{
    bool seen[OP_COUNT] = { false };
    struct arena a;

    (void)state;
    arena_init(&a);
    for (size_t k = 0; k < ARRAY_LEN(infers); k++) {
        struct trial *t = parse(&a, INPUTS, infers[k].line);
        const struct node *n = &t->prog.node[t->prog.n - 1];
        char buf[64];

        shape_print(&n->sh, buf, sizeof buf);
        assert_string_equal(buf, infers[k].shape);
        assert_string_equal(dtype_info(n->dt)->name, infers[k].dtype);
        seen[n->op] = true;
    }
    for (int op = 0; op < OP_COUNT; op++)
        if (!seen[op])
            fail_msg("%s was not tried", op_info((enum op)op)->name);
    arena_release(&a);
}

/* What a reduction adds up in: named on the line, or by its operand. */
static void accumulators_are_resolved(void **state)
{
    static const struct {
        const char *line;
        enum dtype acc;
        bool given;
    } cases[] = {
        { "y = sum x axes=[0]", DT_F32, false },
        { "y = sum x axes=[0] acc=f32", DT_F32, false },
        { "y = sum x axes=[0] acc=f64", DT_F64, true },
        { "y = sum i axes=[0]", DT_I32, false },
        { "y = prod d axes=[0]", DT_F64, false },
        { "y = mean h axes=[0]", DT_F32, false },
        { "y = mean h axes=[0] acc=f16", DT_F16, true },
        { "y = sum t axes=[0] acc=bf16", DT_BF16, true },
        { "y = sum t axes=[0] acc=f64", DT_F64, true },
        { "y = max h axes=[0]", DT_F32, false },
        { "y = min i axes=[0]", DT_I32, false },
        { "y = matmul p q acc=f64", DT_F64, true },
        { "y = softmax t axis=0", DT_F32, false },
        { "y = softmax d axis=0", DT_F64, false },
        { "y = argmax h axis=0", DT_F32, false },
        { "y = cast x f16", DT_F16, false },
    };
    struct err e = { 0 };
    struct arena a;

    (void)state;
    arena_init(&a);
    for (size_t k = 0; k < ARRAY_LEN(cases); k++) {
        struct trial *t = parse(&a, INPUTS, cases[k].line);
        struct node *n = &t->prog.node[t->prog.n - 1];

        assert_int_equal(n->acc, cases[k].acc);
        assert_int_equal(n->acc_given, cases[k].given);
        n->acc = DT_BOOL;
        assert_int_equal(prog_check(&t->prog, &e), ERR_INPUT);
    }
    arena_release(&a);
}

static void numbers_beside_composites_are_rounded(void **state)
{
    struct arena a;
    struct trial *t;

    (void)state;
    arena_init(&a);
    t = parse(&a, INPUTS, "y = layernorm x g g eps=0.1");
    assert_true(t->prog.node[t->prog.n - 1].eps == (double)0.1f);
    t = parse(&a, "tilefuzz 1\ninput x f16 [1,2,4]\n", "y = attention x x x scale=0.1");
    assert_true(t->prog.node[1].scale == (double)0.1f); /* computed in f32 */
    t = parse(&a, "tilefuzz 1\ninput x f64 [1,2,4]\n", "y = attention x x x scale=0.1");
    assert_true(t->prog.node[1].scale == 0.1);
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_op_infers_its_shape),
        cmocka_unit_test(accumulators_are_resolved),
        cmocka_unit_test(numbers_beside_composites_are_rounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
