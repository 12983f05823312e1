/* Passes, one claim each, on the text of the loop IR they give. */
#include "testing.h"

#include <string.h>

#include "ir/text.h"
#include "lower/lower.h"

static struct arena arena;
static struct str text;

static struct trial *parse(const char *body)
{
    struct trial *t;
    struct err e = { 0 };
    char *s = arena_printf(&arena, "tilefuzz 1\n%s", body);

    if (trial_parse(s, strlen(s), &arena, &t, &e))
        fail_msg("%d:%d: %s", e.line, e.col, e.msg);
    return t;
}

/* The loop IR after a pass, as text; lasts until the next call. */
static const char *after(const char *body, const char *pass, enum fault fault,
                         struct lprog **out)
{
    struct lower_opts o = LOWER_OPTS_DEFAULT;
    struct lprog *l;
    struct err e = { 0 };

    o.last_pass = pass_find(pass);
    o.fault = fault;
    if (lower(parse(body), &o, &arena, &l, &e))
        fail_msg("line %d: %s", e.line, e.msg);
    str_clear(&text);
    loop_print(l, &text);
    if (out)
        *out = l;
    return text.s;
}

#define HAS(s, part)                                                                           \
    do {                                                                                       \
        if (!strstr((s), (part)))                                                              \
            fail_msg("no '%s' in\n%s", (part), (s));                                           \
    } while (0)
#define HASNT(s, part)                                                                         \
    do {                                                                                       \
        if (strstr((s), (part)))                                                               \
            fail_msg("'%s' in\n%s", (part), (s));                                              \
    } while (0)

static const char founding[] = "input a f32 [4,4]\n"
                               "r = reshape a [4,4,1]\n"
                               "e = expand r [4,4,4]\n"
                               "c1 = copy e\n"
                               "p = permute c1 [0,2,1]\n"
                               "c2 = copy p\n"
                               "output c2\n"
                               "schedule\n"
                               "fuse c1 c2\n";

static void founding_copies_keep_the_view_between(void **state)
{
    (void)state;
    HAS(after(founding, "compose", FAULT_none, NULL), "= a[4*c2.i0 + c2.i2]");
    HAS(after(founding, "compose", FAULT_copy_copy_fusion_drops_view, NULL),
        "= a[4*c2.i0 + c2.i1]");
    HASNT(after(founding, "compose", FAULT_none, NULL), "kernel c1");
}

static const char reuse[] = "input x f32 [8,8]\n"
                            "input y f32 [8,8]\n"
                            "a = copy x\n"
                            "c = matmul a y\n"
                            "d = copy c\n"
                            "output d\n"
                            "schedule\n";

static void liveness_knows_that_loops_run_again(void **state)
{
    const char *s = after(reuse, "plan", FAULT_none, NULL);

    (void)state;
    HAS(s, "temp a f32 [8,8] at byte 0");
    HAS(s, "temp c f32 [8,8] at byte 256");
    HAS(after(reuse, "plan", FAULT_liveness_ignores_loops, NULL), "temp c f32 [8,8] at byte 0");
}

static void dead_storage_is_reused_and_inplace_needs_equal_indices(void **state)
{
    static const char chain[] = "input x f32 [8,8]\n"
                                "a = copy x\n"
                                "b = neg a\n"
                                "p = permute b [1,0]\n"
                                "c = copy p\n"
                                "d = neg c\n"
                                "output d\n"
                                "schedule\n";
    struct lprog *l;
    const char *s = after(chain, "plan", FAULT_none, &l);
    bool inplace = false;

    (void)state;
    HAS(s, "temp b f32 [8,8] at byte 0"); /* in place of a */
    HAS(s, "temp c f32 [8,8] at byte 256");
    for (int i = 0; i < l->n_log; i++)
        inplace |= strcmp(l->log[i].rule, "plan.inplace") == 0;
    assert_true(inplace);
    HAS(after("input x f32 [8,8]\na = copy x\nb = neg a\nc = neg b\noutput c\nschedule\n"
              "plan best\ninplace off\n",
              "plan", FAULT_none, NULL),
        "temp b f32 [8,8] at byte 256");
    HASNT(after("input x f32 [8]\na = copy x\nb = neg a\noutput b\nschedule\nplan off\n",
                "plan", FAULT_none, NULL),
          "at byte");
}

static void pad_above_an_inlined_producer_selects(void **state)
{
    const char *s = after("input x f32 [3]\nr = recip x\nt = pad r [1:1]\noutput t\nschedule\n"
                          "fuse r t\n",
                          "compose", FAULT_none, NULL);

    (void)state;
    HAS(s, "? (recip((0 < t.i0 && t.i0 < 4 ? x[t.i0 - 1] : 0))) : 0)");
}

static void reductions_nest_in_matched_loops(void **state)
{
    struct lprog *l;
    const char *s = after("input x f32 [4,5]\nm = max x axes=[1]\nm1 = reshape m [4,1]\n"
                          "mb = expand m1 [4,5]\nd = sub x mb\noutput d\nschedule\nfuse m d\n",
                          "fuse", FAULT_none, &l);

    (void)state;
    HAS(s, "  loop d.i0 4\n    decl acc1 f32 = identity of max\n    loop m.r0 5\n");
    HASNT(s, "kernel m\n");
}

static void interchange_makes_an_array_then_the_output(void **state)
{
    static const char body[] =
        "input a f32 [6,7]\ninput b f32 [7,5]\nc = matmul a b\noutput c\n"
        "schedule\nreorder c c.k c.m c.n\n";

    (void)state;
    HAS(after(body, "reorder", FAULT_none, NULL), "decl acc0 f32[30] = identity of sum");
    HAS(after(body, "accum", FAULT_none, NULL), "store c[5*c.i0 + c.i1] = 0");
    HASNT(after(body, "accum", FAULT_none, NULL), "decl");
    HAS(after(body, "accum", FAULT_accumulate_into_dirty_output, NULL),
        "store c[5*c.i0 + c.i1] = c[5*c.i0 + c.i1]\n");
}

static void splitk_moves_the_epilogue_to_the_combine_kernel(void **state)
{
    const char *s = after("input a f32 [6,7]\ninput b f32 [7,5]\nc = matmul a b\nd = mul c 2\n"
                          "output d\nschedule\nfuse c d\nsplitk c 3\n",
                          "splitk", FAULT_none, NULL);

    (void)state;
    HAS(s, "kernel c.part\n  loop c.slice 3\n");
    HAS(s, "if 3*c.slice + c.r0 < 7");
    HAS(s, "store c.ws[30*c.slice + (5*d.i0 + d.i1)] = acc1");
    HAS(s, "store d[5*d.i0 + d.i1] = mul(acc2, 2)");
}

static void vectorize_has_a_scalar_tail(void **state)
{
    const char *s = after("input a f32 [11]\nb = neg a\noutput b\nschedule\nvectorize b.i0 4\n",
                          "vectorize", FAULT_none, NULL);

    (void)state;
    HAS(s, "  loop b.i0.0 2\n    lanes b.i0.1 4\n");
    HAS(s, "  loop b.i0.t 3\n");
}

static void simplify_drops_divisions_and_guards(void **state)
{
    static const char body[] = "input a f32 [4,6]\nr = reshape a [24]\ns = reshape r [4,6]\n"
                               "b = neg s\noutput b\nschedule\nsplit b.i1 4\n";
    static const char cut[] = "input a f32 [4,6]\np = permute a [1,0]\nr = reshape p [4,6]\n"
                              "b = neg r\noutput b\nschedule\n";

    (void)state;
    HASNT(after(body, "simplify", FAULT_none, NULL), "/");
    HAS(after(cut, "simplify", FAULT_none, NULL),
        "a[(6*b.i0 + b.i1)/4 + 6*((6*b.i0 + b.i1)%4)]");
}

static void every_stop_is_well_formed(void **state)
{
    struct trial *t =
        parse("input a f32 [6,7]\ninput b f32 [7,5]\nc = matmul a b\nd = mul c 2\n"
              "e = copy d\noutput e\nschedule\nfuse c d\nsplit d.i1 2\n"
              "reorder d d.i1.0 d.i0 d.i1.1\nsplitk c 3\nunroll d.i1.1\n");
    struct lower_opts o = LOWER_OPTS_DEFAULT;
    struct lprog *all, *l;
    struct err e = { 0 };
    int builds = 0;

    (void)state;
    assert_int_equal(lower(t, &o, &arena, &all, &e), 0);
    for (int i = 0; i < all->n_log; i++) {
        assert_int_equal(all->log[i].number, i + 1);
        builds += all->log[i].pass <= pass_find("build");
    }
    for (int n = 0; n <= all->n_log; n++) {
        o.stop_after = n;
        assert_int_equal(lower(t, &o, &arena, &l, &e), 0);
        assert_int_equal(l->n_log, n < builds ? builds : n);
        assert_int_equal(loop_check(l, &e), 0);
    }
}

static void illegal_steps_name_their_line(void **state)
{
    static const struct {
        const char *step, *part;
    } rows[] = {
        { "fuse a c", "no kernel of its own" },
        { "fuse d c", "does not read" },
        { "reorder c c.r0 c.i1", "takes all its loops" },
        { "unroll a.i0", "no kernel has a loop" },
        { "vectorize d.i1 64", "less than 64 lanes" },
        { "vectorize c.i1 2", "no kernel has an innermost loop" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct trial *t =
            parse(arena_printf(&arena,
                               "input a f32 [6,7]\ninput b f32 [7,5]\nc = matmul a b\n"
                               "d = mul c 2\noutput d\nschedule\n%s\n",
                               rows[i].step));
        struct lower_opts o = LOWER_OPTS_DEFAULT;
        struct lprog *l;
        struct err e = { 0 };

        assert_int_equal(lower(t, &o, &arena, &l, &e), ERR_ILLEGAL);
        assert_int_equal(e.line, 8);
        HAS(e.msg, rows[i].part);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(founding_copies_keep_the_view_between),
        cmocka_unit_test(liveness_knows_that_loops_run_again),
        cmocka_unit_test(dead_storage_is_reused_and_inplace_needs_equal_indices),
        cmocka_unit_test(pad_above_an_inlined_producer_selects),
        cmocka_unit_test(reductions_nest_in_matched_loops),
        cmocka_unit_test(interchange_makes_an_array_then_the_output),
        cmocka_unit_test(splitk_moves_the_epilogue_to_the_combine_kernel),
        cmocka_unit_test(vectorize_has_a_scalar_tail),
        cmocka_unit_test(simplify_drops_divisions_and_guards),
        cmocka_unit_test(every_stop_is_well_formed),
        cmocka_unit_test(illegal_steps_name_their_line),
    };
    int failed;

    arena_init(&arena);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    str_release(&text);
    arena_release(&arena);
    return failed;
}
