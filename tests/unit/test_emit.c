/* Emitted text: what loop IR looks like in C, and that it means the same when it is run. */
#include "by_hand.h"

#include <math.h>

#include "lower/lower.h"

/* Does the text hold `part`? A line break and its indentation count as one blank. */
static void text_has(struct fix *f, const char *part)
{
    struct str one_line = { 0 };

    for (const char *c = emitted(f); *c; c++)
        if (*c != '\n')
            str_write(&one_line, c, 1);
        else if (c[strspn(c, "\n ")])
            str_puts(&one_line, " "), c += strspn(c, "\n ") - 1;
    if (!strstr(str_get(&one_line), part))
        fail_msg("no \"%s\" in:\n%s", part, str_get(&f->text));
    str_release(&one_line);
}

/* Compiles the kernels and runs them once; the output's storage. */
static const void *run(struct fix *f, enum algebra al)
{
    const void *y;

    prepare(f);
    y = execute(f, al);
    done(f);
    return y;
}

#define FOUR                                                                                   \
    "tilefuzz 1\ninput x f32 [4]\ny = copy x\noutput y\nschedule\ndata seed=1 recipe=normal\n" \
    "values x [1,2,3,4]\n"

static void a_whole_kernel(void **state)
{
    static const char want[] =
        "static void TF_KERNEL(s)(void *const *p)\n"
        "{\n"
        "    tf_f32 *s = p[0];\n"
        "    const tf_f32 *q = p[1];\n"
        "    const tf_f32 *k = p[2];\n"
        "\n"
        "    for (tf_ix i0 = 0; i0 < 2; i0++) {\n"
        "        for (tf_ix i1 = 0; i1 < 4; i1++) {\n"
        "            tf_f32 acc = TF_LIT(0.0f, 0x0u);\n"
        "            for (tf_ix r0 = 0; r0 < 3; r0++) {\n"
        "                acc = TF_ADD(acc, TF_MUL(q[3*i0 + r0], k[4*r0 + i1]));\n"
        "            }\n"
        "            s[4*i0 + i1] = acc;\n"
        "        }\n"
        "    }\n"
        "}\n";
    struct fix *f = *state;
    struct lower_opts lo = LOWER_OPTS_DEFAULT;
    struct err e = { 0 };
    struct trial *t =
        parse(f, "tilefuzz 1\ninput q f32 [2,3]\ninput k f32 [3,4]\n"
                 "s = matmul q k\noutput s\nschedule\ndata seed=1 recipe=normal\n");
    struct lprog *l;

    assert_int_equal(lower(t, &lo, &f->a, &l, &e), 0);
    str_clear(&f->text);
    emit_c(l, &f->text);
    assert_string_equal(str_get(&f->text), want);
}

static void lanes_read_before_they_write(void **state)
{
    struct fix *f = *state;
    struct ixs *x;
    const float *y;
    int i;

    by_hand(f, FOUR);
    x = &f->l.ix;
    i = loop(f, "y.i0", 4, LOOP_LANES);
    store(f, i, load(f, f->x, i));
    store(f, ix_mod(x, ix_add(x, i, ix_const(x, 1)), 4), load(f, f->y, i));
    end(f);
    text_has(f, "y[3] = v4;");
    text_has(f, "const tf_f32 v5 = y[0];");
    text_has(f, "y[0] = v8;");
    y = run(f, AL_IEEE);
    assert_true(y[0] == 4 && y[1] == 1 && y[2] == 2 && y[3] == 3);
}

static void indices_print_as_people_write_them(void **state)
{
    struct fix *f = *state;
    struct ixs *x;
    int i, j, up, cond;

    by_hand(f, FOUR);
    x = &f->l.ix;
    i = loop(f, "y.i0", 4, LOOP_SERIAL);
    j = loop(f, "q.r0.1", 8, LOOP_SERIAL);
    up = ix_add(x, ix_add(x, ix_scale(x, i, 64), ix_const(x, -5)), ix_scale(x, j, -1));
    store(f, up,
          load(f, f->x,
               ix_add(x, ix_div(x, ix_add(x, i, j), 3), ix_scale(x, ix_mod(x, j, 2), 4))));
    text_has(f, "y[64*i0 - q_r0_1 - 5] = x[(i0 + q_r0_1)/3 + 4*(q_r0_1%2)];");
    store(f, ix_mod(x, ix_add(x, i, ix_const(x, -1)), 4),
          load(f, f->x, ix_div(x, ix_scale(x, i, -1), 2)));
    text_has(f, "y[TF_FMOD(i0 - 1, 4)] = x[TF_FDIV(-i0, 2)];");
    cond = ix_and(x, ix_and(x, ix_lt(x, ix_const(x, 0), i), ix_lt(x, i, ix_const(x, 3))),
                  ix_lt(x, j, ix_scale(x, i, 2)));
    push(f, (struct stmt){ .kind = ST_IF, .cond = cond });
    text_has(f, "if (i0 >= 1 && i0 < 3 && q_r0_1 < 2*i0) {");
    store(f, ix_mul(x, cond, ix_add(x, i, j)), load(f, f->x, ix_add(x, cond, i)));
    text_has(f, "y[((tf_ix)(i0 >= 1 && i0 < 3 && q_r0_1 < 2*i0))*(i0 + q_r0_1)]");
}

/* Negative numerators round down, as in the IR. */
static void floored_division_runs(void **state)
{
    struct fix *f = *state;
    struct ixs *x;
    const float *y;
    int i, shifted;

    by_hand(f, FOUR);
    x = &f->l.ix;
    i = loop(f, "y.i0", 4, LOOP_SERIAL);
    shifted = ix_add(x, ix_scale(x, i, -3), ix_const(x, 2)); /* 2 -1 -4 -7 */
    store(f, i,
          lprog_op2(&f->l, OP_ADD, DT_F32, lprog_index(&f->l, DT_F32, ix_div(x, shifted, 3)),
                    lprog_index(&f->l, DT_F32, ix_scale(x, ix_mod(x, shifted, 3), 100))));
    end(f);
    y = run(f, AL_IEEE);
    assert_true(y[0] == 200 && y[1] == 199 && y[2] == 198 && y[3] == 197);
}

static int guarded(struct fix *f, struct access a, int cond1, double fill1, int cond2,
                   double fill2)
{
    a.composed = true;
    a.n_guard = 2;
    a.guard = arena_array(&f->a, struct guard, 2);
    a.guard[0] = (struct guard){ cond1, fill1 };
    a.guard[1] = (struct guard){ cond2, fill2 };
    return value_of(f, lprog_access(&f->l, a));
}

static void guards_are_tested_in_order(void **state)
{
    struct fix *f = *state;
    struct ixs *x;
    const float *y;
    int i, not0, below3;

    by_hand(f, FOUR);
    x = &f->l.ix;
    i = loop(f, "y.i0", 4, LOOP_SERIAL);
    not0 = ix_lt(x, ix_const(x, 0), i);
    below3 = ix_lt(x, i, ix_const(x, 3));
    store(f, i,
          guarded(
              f, (struct access){ .src = SRC_BUFFER, .dt = DT_F32, .buffer = f->x, .index = i },
              not0, 7, below3, -INFINITY));
    end(f);
    text_has(
        f, "(i0 >= 1 ? (i0 < 3 ? x[i0] : TF_LIT(-TF_INF, 0x80000000u)) : TF_LIT(7.0f, 0x7u))");
    y = run(f, AL_IEEE);
    assert_true(y[0] == 7 && y[1] == 2 && y[2] == 3 && y[3] == -INFINITY);
}

static void iota_and_body_are_guarded_too(void **state)
{
    struct fix *f = *state;
    struct ixs *x;
    const float *y;
    int i, not0, below3, square;

    by_hand(f, FOUR);
    x = &f->l.ix;
    i = loop(f, "y.i0", 4, LOOP_SERIAL);
    not0 = ix_lt(x, ix_const(x, 0), i);
    below3 = ix_lt(x, i, ix_const(x, 3));
    square = lprog_op2(&f->l, OP_MUL, DT_F32, load(f, f->x, i), load(f, f->x, i));
    store(f, i,
          lprog_op2(&f->l, OP_ADD, DT_F32,
                    guarded(f,
                            (struct access){
                                .src = SRC_IOTA, .dt = DT_F32, .index = ix_scale(x, i, 10) },
                            not0, 0.5, below3, 0.25),
                    guarded(f,
                            (struct access){
                                .src = SRC_BODY, .dt = DT_F32, .body = square, .index = -1 },
                            not0, 1, below3, 2)));
    end(f);
    text_has(f, "TF_IX2F(10*i0)");
    text_has(f, "TF_MUL(x[i0], x[i0]) : TF_LIT(2.0f, 0x2u)) : TF_LIT(1.0f, 0x1u))");
    y = run(f, AL_IEEE);
    assert_true(y[0] == 1.5f && y[1] == 14 && y[2] == 29 && y[3] == 2.25f);
}

static void accumulators_may_be_arrays_and_start_again(void **state)
{
    struct fix *f = *state;
    struct ixs *x;
    const float *y;
    int i, acc;

    by_hand(f, FOUR);
    x = &f->l.ix;
    acc = lprog_acc(
        &f->l, (struct acc){
                   .dt = DT_F32, .op = OP_SUM, .identity = OP_SUM, .elems = 2, .name = "y" });
    for (int copy = 0; copy < 2; copy++) { /* as two unrolled copies would look */
        push(f, (struct stmt){ .kind = ST_DECL, .acc = acc, .acc_at = -1 });
        i = loop(f, "y.r0", 4, LOOP_SERIAL);
        push(f, (struct stmt){ .kind = ST_UPDATE,
                               .acc = acc,
                               .acc_at = ix_mod(x, i, 2),
                               .val = load(f, f->x, i) });
        end(f);
        i = loop(f, "y.i0", 2, LOOP_SERIAL);
        store(f, ix_add(x, i, ix_const(x, 2 * copy)), lprog_acc_load(&f->l, acc, i));
        end(f);
    }
    text_has(f, "tf_f32 acc[2];");
    text_has(f, "acc[r0%2] = TF_ADD(acc[r0%2], x[r0]);");
    y = run(f, AL_IEEE);
    assert_true(y[0] == 4 && y[1] == 6 && y[2] == 4 && y[3] == 6);
}

/* x*x, 20 times over the same value: a text of 2^20 products if it were printed inline. */
static void what_is_shared_is_bound(void **state)
{
    struct fix *f = *state;
    const uint32_t *y;
    uint32_t want = 3;
    int i, v;

    by_hand(f, FOUR);
    i = loop(f, "y.i0", 4, LOOP_SERIAL);
    v = load(f, f->x, i);
    for (int k = 0; k < 20; k++) {
        v = lprog_op2(&f->l, OP_MUL, DT_F32, v, v);
        want *= want;
    }
    store(f, i, v);
    end(f);
    assert_true(strlen(emitted(f)) < 3000);
    y = run(f, AL_RING);
    assert_int_equal(y[2], want);
}

static void names_give_way(void **state)
{
    struct fix *f = *state;
    int i;

    by_hand(f, "tilefuzz 1\ninput p f32 [4]\nfor = copy p\noutput for\nschedule\n"
               "data seed=1 recipe=normal\n");
    i = loop(f, "for.i0", 2, LOOP_SERIAL);
    loop(f, "tf_f32.i0", 1, LOOP_SERIAL);
    loop(f, "for.p_", 1, LOOP_SERIAL);
    store(f, i, load(f, f->x, i));
    end(f);
    end(f);
    end(f);
    text_has(f, "static void TF_KERNEL(for)(");
    text_has(f, "const tf_f32 *p_ = p[0];");
    text_has(f, "tf_f32 *for_ = p[1];");
    text_has(f, "for (tf_ix i0 = 0;");
    text_has(f, "for (tf_ix x_tf_f32_i0 = 0;");
    text_has(f, "for (tf_ix p__ = 0;");
    run(f, AL_RING);
}

static void preludes_hold_what_is_used(void **state)
{
    struct str s = { 0 };

    (void)state;
    emit_prelude(AL_RING, "y = TF_DIV(a, TF_LIT(2.0f, 0x2u));", &s);
    assert_non_null(strstr(str_get(&s), "#define TF_DIV"));
    assert_non_null(strstr(str_get(&s), "tf_ring_pinv"));
    assert_non_null(strstr(str_get(&s), "tf_ring_mix"));
    assert_null(strstr(str_get(&s), "TF_ADD"));
    str_clear(&s);
    emit_prelude_end("y = TF_DIV(a, TF_LIT(2.0f, 0x2u));", &s);
    assert_string_equal(str_get(&s), "#undef TF_LIT\n#undef TF_DIV\n#undef TF_KERNEL\n");
    str_release(&s);
}

static void planned_temps_lie_in_the_arena(void **state)
{
    struct fix *f = *state;

    by_hand(f, FOUR);
    f->l.buffer[f->x].kind = BUF_TEMP;
    f->l.buffer[f->x].arena_at = 32;
    store(f, ix_const(&f->l.ix, 0), load(f, f->x, ix_const(&f->l.ix, 1)));
    text_has(f, "const tf_f32 *x = (void *)((char *)p[2] + 32);");
}

/* The only fault of this room: the fill passes through the dtype below the cast. */
static void guard_fill_narrowed(void **state)
{
    struct fix *f = *state;
    struct ixs *x;
    const float *y;
    int i, cast;

    for (int fault = 0; fault < 2; fault++) {
        by_hand(f, "tilefuzz 1\ninput x i32 [4]\ny = cast x f32\noutput y\nschedule\n"
                   "data seed=1 recipe=normal\nvalues x [1,2,3,4]\n");
        x = &f->l.ix;
        i = loop(f, "y.i0", 4, LOOP_SERIAL);
        cast = lprog_op1(&f->l, OP_CAST, DT_F32, load(f, f->x, i));
        store(
            f, i,
            guarded(f,
                    (struct access){ .src = SRC_BODY, .dt = DT_F32, .body = cast, .index = -1 },
                    ix_lt(x, ix_const(x, 0), i), 0.5, ix_lt(x, i, ix_const(x, 3)), 7));
        end(f);
        f->l.fault = fault ? FAULT_guard_fill_narrowed : FAULT_none;
        y = run(f, AL_IEEE);
        assert_true(y[0] == (fault ? 0 : 0.5f) && y[1] == 2 && y[3] == 7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_kernel),
        cmocka_unit_test(lanes_read_before_they_write),
        cmocka_unit_test(indices_print_as_people_write_them),
        cmocka_unit_test(floored_division_runs),
        cmocka_unit_test(guards_are_tested_in_order),
        cmocka_unit_test(iota_and_body_are_guarded_too),
        cmocka_unit_test(accumulators_may_be_arrays_and_start_again),
        cmocka_unit_test(what_is_shared_is_bound),
        cmocka_unit_test(names_give_way),
        cmocka_unit_test(preludes_hold_what_is_used),
        cmocka_unit_test(planned_temps_lie_in_the_arena),
        cmocka_unit_test(guard_fill_narrowed),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
