/* Programs as values: checks, layouts, counts, compacting, clones, axes. */
#include "progs.h"

/* Expansion names its nodes z.sc: legal in a program, though no text can say it. */
static void parts_are_names(void **state)
{
    static const struct {
        const char *name;
        bool ok;
    } cases[] = {
        { "z.sc", true },   { "z.mx12", true },      { "z.abcdefg", true }, { "z.s", false },
        { "z.", false },    { "z.i0", false },       { "z.sc.ex", false },  { "z.sC", false },
        { "z.s1c", false }, { "z.abcdefgh", false }, { ".sc", false },
    };
    struct err e = { 0 };
    struct arena a;

    (void)state;
    arena_init(&a);
    for (size_t k = 0; k < ARRAY_LEN(cases); k++) {
        struct trial *t = parse(&a, INPUTS, "y = neg x");

        t->prog.node[t->prog.n - 1].name = cases[k].name;
        if ((prog_check(&t->prog, &e) == 0) != cases[k].ok)
            fail_msg("%s: %s", cases[k].name, cases[k].ok ? e.msg : "no error");
    }
    arena_release(&a);
}

/* The way generators build: add, fill in, infer. */
static struct node *add(struct prog *p, struct arena *a, const char *name, enum op op)
{
    struct node *n = prog_add(p, a);

    n->name = name;
    n->op = op;
    n->n_arg = op_info(op)->n_arg;
    return n;
}

static void build_pair(struct prog *p, struct arena *a, struct err *e)
{
    struct node *n = add(p, a, "x", OP_INPUT);

    *n = (struct node){ .op = OP_INPUT, .name = "x", .sh = { 2, { 4, 5 } } };
    assert_int_equal(node_infer(p, n, e), 0);
    n = add(p, a, "y", OP_ADD);
    n->arg[0].node = 0;
    n->arg[1].lit = 0.1;
    assert_int_equal(node_infer(p, n, e), 0);
    assert_true(n->arg[1].lit == (double)0.1f);
    prog_add_output(p, a)->node = 1;
}

static void programs_are_checked_whole(void **state)
{
    struct err e = { 0 };
    struct prog p = { 0 }, c;
    struct arena a;

    (void)state;
    arena_init(&a);
    build_pair(&p, &a, &e);
    assert_int_equal(prog_check(&p, &e), 0);

    prog_clone(&c, &p, &a);
    c.node[0].sh.dim[1] = 6;
    assert_int_equal(prog_check(&c, &e), ERR_INPUT);
    assert_non_null(strstr(e.msg, "node_infer"));

    prog_clone(&c, &p, &a);
    c.node[0].name = "y";
    assert_int_equal(prog_check(&c, &e), ERR_INPUT);

    prog_clone(&c, &p, &a);
    c.node[1].arg[0].node = 1;
    assert_int_equal(prog_check(&c, &e), ERR_INPUT);
    assert_int_equal(node_infer(&c, &c.node[1], &e), ERR_INPUT);
    c.node[1].arg[0].node = 2;
    assert_int_equal(node_infer(&c, &c.node[1], &e), ERR_INPUT);

    prog_clone(&c, &p, &a);
    c.node[1].n_arg = 1;
    assert_int_equal(prog_check(&c, &e), ERR_INPUT);

    prog_clone(&c, &p, &a);
    prog_add_output(&c, &a)->node = 1;
    assert_int_equal(prog_check(&c, &e), ERR_INPUT);
    c.n_out = 0;
    assert_int_equal(prog_check(&c, &e), ERR_INPUT);
    prog_add_output(&c, &a)->node = 2;
    assert_int_equal(prog_check(&c, &e), ERR_INPUT);
    assert_int_equal(prog_check(&p, &e), 0);
    arena_release(&a);
}

static void layouts_span_their_storage(void **state)
{
    struct shape s = { 3, { 2, 3, 4 } }, empty = { 2, { 0, 4 } }, scalar = { 0, { 0 } };
    struct layout none = { 0 }, l = { true, 5, { 100, 4, 1 } }, full;

    (void)state;
    full = layout_of(&none, &s);
    assert_true(full.given);
    assert_int_equal(full.stride[0], 12);
    assert_int_equal(full.stride[1], 4);
    assert_int_equal(full.stride[2], 1);
    assert_int_equal(layout_storage(&none, &s), 24);
    assert_int_equal(layout_storage(&l, &s), 5 + 100 + 8 + 3 + 1);
    assert_int_equal(layout_storage(&none, &scalar), 1);
    assert_int_equal(layout_storage(&l, &scalar), 6);
    assert_int_equal(layout_storage(&none, &empty), 0);
    assert_int_equal(layout_storage(&l, &empty), 0);
    assert_int_equal(shape_count(&scalar), 1);
    assert_int_equal(shape_count(&empty), 0);
}

static void outputs_must_not_overlap(void **state)
{
    static const struct {
        int rank;
        int64_t dim[3], stride[3];
        bool ok;
    } cases[] = {
        { 1, { 4 }, { 0 }, false },
        { 1, { 1 }, { 0 }, true },
        { 2, { 0, 4 }, { 0, 0 }, true },
        { 2, { 4, 5 }, { 1, 4 }, true },
        { 2, { 4, 5 }, { 5, 5 }, false },
        { 2, { 4, 5 }, { 1, 3 }, false },
        { 2, { 3, 3 }, { 3, 2 }, true },  /* 0 2 4 3 5 7 6 8 10: apart, though nothing nests */
        { 2, { 3, 4 }, { 3, 2 }, false }, /* 0 2 4 6 3 5 7 9 6 .. */
        { 3, { 2, 1, 3 }, { 3, 3, 1 }, true },
    };
    struct err e = { 0 };
    struct arena a;

    (void)state;
    arena_init(&a);
    for (size_t k = 0; k < ARRAY_LEN(cases); k++) {
        struct prog p = { 0 };
        struct node *n = add(&p, &a, "x", OP_INPUT);
        struct output *o = prog_add_output(&p, &a);

        n->sh.rank = cases[k].rank;
        memcpy(n->sh.dim, cases[k].dim, sizeof cases[k].dim);
        o->layout.given = true;
        memcpy(o->layout.stride, cases[k].stride, sizeof cases[k].stride);
        if ((prog_check(&p, &e) == 0) != cases[k].ok)
            fail_msg("case %zu: %s", k, cases[k].ok ? e.msg : "no error");
    }
    arena_release(&a);
}

static void counts_count(void **state)
{
    struct arena a;
    struct trial *t;

    (void)state;
    arena_init(&a);
    t = parse(&a, "tilefuzz 1\ninput x f32 [4,5]\ninput w f32 [5,6] strides=[10,1]\n",
              "const c f32 1\nj = iota f32 [5] axis=0\nm = matmul x w\ny = sum m axes=[0]");
    assert_int_equal(prog_count_nodes(&t->prog), 3);
    assert_int_equal(prog_max_size(&t->prog), 6);
    assert_int_equal(prog_mul_adds(&t->prog), 4 * 6 * 5 + 24);
    assert_int_equal(prog_work(&t->prog), 20 + 46 + 1 + 5 + (24 + 120) + (6 + 24) + 6);
    assert_int_equal(prog_find(&t->prog, "m", 1), 4);
    assert_int_equal(prog_find(&t->prog, "mm", 2), -1);
    assert_int_equal(prog_find(&t->prog, "mm", 1), 4);
    t = parse(&a, "tilefuzz 1\ninput q f32 [3,5,8]\ninput k f32 [1,7,8]\ninput v f32 [1,7,6]\n",
              "y = attention q k v scale=1");
    assert_int_equal(prog_mul_adds(&t->prog), 3 * 5 * 7 * (8 + 6 + 2));
    t = parse(&a, "tilefuzz 1\ninput x f32 [3,5]\n", "y = softmax x axis=0");
    assert_int_equal(prog_mul_adds(&t->prog), 2 * 15);
    assert_true(prog_work(&t->prog) > 15 + 30 + 15);
    arena_release(&a);
}

static void compact_drops_nodes_with_their_steps(void **state)
{
    struct arena a;
    struct err e = { 0 };
    struct str s = { 0 };
    struct trial *t;
    bool keep[MAX_NODES];

    (void)state;
    arena_init(&a);
    t = parse(&a, "tilefuzz 1\ninput x f32 [4]\ninput d f32 [2]\n",
              "e = exp d\ny = neg x\nf = add y 1\noutput d\nschedule\nfuse y f\nsplit e.i0 2\n"
              "split y.i0 2\ndata seed=1\nvalues d [1,2]\nvalues x [1,2,3,4]");
    t->prog.n_out = 0;
    prog_add_output(&t->prog, &a)->node = 3;
    prog_live(&t->prog, keep);
    assert_true(keep[0] && !keep[1] && !keep[2] && keep[3] && !keep[4]);
    trial_compact(t, keep);
    assert_int_equal(trial_check(t, &e), 0);
    trial_print(t, &s);
    assert_string_equal(s.s, "tilefuzz 1\ninput x f32 [4]\ny = neg x\noutput y\nschedule\n"
                             "split y.i0 2\ndata seed=1 recipe=normal\nvalues x [1,2,3,4]\n");
    str_release(&s);
    arena_release(&a);
}

/* Clones share no memory with what they were made of, names of parts included. */
static void clones_keep_parts(void **state)
{
    struct arena a, b;
    struct err e = { 0 };
    struct str s = { 0 };
    struct trial *t, *c;

    (void)state;
    arena_init(&a);
    arena_init(&b);
    t = parse(&a, "tilefuzz 1\ninput x f32 [4,8]\n",
              "y = softmax x axis=1\noutput y\nschedule\nalgo y online block=4\n"
              "fuse y.df y.ex\nsplit y.sm.r0.1 4");
    c = trial_clone(t, &b);
    arena_release(&a);
    assert_int_equal(trial_check(c, &e), 0);
    trial_print(c, &s);
    assert_string_equal(s.s, "tilefuzz 1\ninput x f32 [4,8]\ny = softmax x axis=1\noutput y\n"
                             "schedule\nalgo y online block=4\nfuse y.df y.ex\n"
                             "split y.sm.r0.1 4\ndata seed=0 recipe=normal\n");
    str_release(&s);
    arena_release(&b);
}

static void axes_resolve(void **state)
{
    static const struct {
        const char *node;
        char role;
        int num;
        char want; /* 0 = no such axis */
        int want_num;
        int64_t extent;
    } cases[] = {
        { "m", 'i', 0, 'i', 0, 7 },  { "m", 'b', -1, 'i', 0, 7 }, { "m", 'b', 0, 'i', 0, 7 },
        { "m", 'b', 1, 0, 0, 0 },    { "m", 'm', -1, 'i', 1, 2 }, { "m", 'n', -1, 'i', 2, 4 },
        { "m", 'k', -1, 'r', 0, 3 }, { "m", 'r', 0, 'r', 0, 3 },  { "m", 'r', 1, 0, 0, 0 },
        { "m", 'i', 3, 0, 0, 0 },    { "m", 'm', 0, 0, 0, 0 },    { "y", 'm', -1, 0, 0, 0 },
        { "y", 'i', 0, 'i', 0, 2 },  { "y", 'r', 0, 'r', 0, 7 },  { "y", 'r', 1, 'r', 1, 3 },
        { "x", 'r', 0, 0, 0, 0 },    { "w", 'i', 1, 'i', 1, 2 },  { "w", 'r', 0, 0, 0, 0 },
    };
    struct arena a;
    struct trial *t;

    (void)state;
    arena_init(&a);
    t = parse(&a, INPUTS, "m = matmul p q\ny = sum p axes=[0,2]\nw = softmax p axis=1");
    for (size_t k = 0; k < ARRAY_LEN(cases); k++) {
        struct axis ax = { .role = cases[k].role, .num = cases[k].num }, out;

        ax.node = prog_find(&t->prog, cases[k].node, 1);
        assert_int_equal(axis_resolve(&t->prog, &ax, &out), cases[k].want != 0);
        if (cases[k].want == 0)
            continue;
        assert_int_equal(out.role, cases[k].want);
        assert_int_equal(out.num, cases[k].want_num);
        assert_int_equal(axis_extent(&t->prog, &out), cases[k].extent);
    }
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_names),
        cmocka_unit_test(programs_are_checked_whole),
        cmocka_unit_test(layouts_span_their_storage),
        cmocka_unit_test(outputs_must_not_overlap),
        cmocka_unit_test(counts_count),
        cmocka_unit_test(compact_drops_nodes_with_their_steps),
        cmocka_unit_test(clones_keep_parts),
        cmocka_unit_test(axes_resolve),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
