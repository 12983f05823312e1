/* Index expressions: building, ranges, substitution and text. */
#include "testing.h"

#include "base/rng.h"
#include "view/index.h"

static int draw(struct rng *r, struct ixs *s, int depth)
{
    int a, b;

    if (depth == 0 || rng_chance(r, 1, 5))
        return rng_chance(r, 1, 3) ? ix_const(s, rng_range(r, -9, 9))
                                   : ix_var(s, (int)rng_range(r, 0, 2));
    a = draw(r, s, depth - 1);
    switch (rng_below(r, 7)) {
    case 0:
    case 1:
        b = draw(r, s, depth - 1);
        return ix_add(s, a, b);
    case 2:
        return ix_scale(s, a, rng_range(r, -4, 4));
    case 3:
        return ix_div(s, a, rng_range(r, 1, 5));
    case 4:
        return ix_mod(s, a, rng_range(r, 1, 5));
    case 5:
        b = draw(r, s, depth - 1);
        return ix_xor(s, ix_mod(s, a, rng_range(r, 1, 9)), ix_mod(s, b, rng_range(r, 1, 9)));
    default:
        b = draw(r, s, depth - 1);
        return ix_lt(s, a, b);
    }
}

/* Every value lies in the range; substituting constants gives the value. */
static void ranges_hold(void **state)
{
    const int64_t extent[3] = { 3, 4, 2 };
    struct arena a;
    struct rng r;
    int bad = 0, narrow = 0;

    (void)state;
    arena_init(&a);
    rng_init(&r, 3, 9);
    for (int t = 0; t < 5000; t++) {
        struct ixs s;
        struct ix_range range;
        int e;

        ixs_init(&s, &a);
        e = draw(&r, &s, 5);
        range = ix_range(&s, e, extent);
        for (int64_t i = 0; i < 24; i++) {
            int64_t v[3] = { i % 3, i / 3 % 4, i / 12 }, k;
            int to[3] = { ix_const(&s, v[0]), ix_const(&s, v[1]), ix_const(&s, v[2]) };
            int64_t x = ix_eval(&s, e, v);
            int c = ix_subst(&s, e, to, 3);

            bad += x < range.lo || x > range.hi;
            bad += !ix_is_const(&s, c, &k) || k != x;
        }
        narrow += range.hi - range.lo < 1000;
        arena_reset(&a);
    }
    arena_release(&a);
    assert_int_equal(bad, 0);
    assert_true(narrow > 2500);
}

static const char *name(void *ctx, int var)
{
    static const char *const names[] = { "g0", "g1", "g2" };

    (void)ctx;
    return names[var];
}

static void text_is_like_c(void **state)
{
    struct arena a;
    struct ixs s;
    struct str out = { 0 };
    int e, above, below;

    (void)state;
    arena_init(&a);
    ixs_init(&s, &a);
    e = ix_add(&s, ix_scale(&s, ix_var(&s, 0), 64), ix_var(&s, 2));
    ix_print(&s, ix_div(&s, ix_add(&s, e, ix_const(&s, -3)), 5), name, NULL, &out);
    assert_string_equal(out.s, "(64*g0 + g2 - 3)/5");
    str_clear(&out);
    ix_print(&s, ix_scale(&s, ix_mod(&s, ix_var(&s, 1), 3), 2), name, NULL, &out);
    assert_string_equal(out.s, "2*(g1%3)");
    str_clear(&out);
    above = ix_lt(&s, ix_const(&s, 0), ix_var(&s, 1));
    below = ix_lt(&s, ix_var(&s, 1), ix_const(&s, 7));
    ix_print(&s, ix_and(&s, above, below), name, NULL, &out);
    assert_string_equal(out.s, "0 < g1 && g1 < 7");
    assert_int_equal(e, ix_add(&s, ix_scale(&s, ix_var(&s, 0), 64), ix_var(&s, 2)));
    str_clear(&out);
    ix_print(&s, ix_scale(&s, ix_xor(&s, ix_var(&s, 0), ix_mod(&s, ix_var(&s, 1), 4)), 2), name,
             NULL, &out);
    assert_string_equal(out.s, "2*(g0 ^ (g1%4))");
    str_release(&out);
    arena_release(&a);
}

static void division_is_floored(void **state)
{
    struct arena a;
    struct ixs s;
    int64_t v[1] = { -5 };

    (void)state;
    arena_init(&a);
    ixs_init(&s, &a);
    assert_int_equal(ix_eval(&s, ix_div(&s, ix_var(&s, 0), 3), v), -2);
    assert_int_equal(ix_eval(&s, ix_mod(&s, ix_var(&s, 0), 3), v), 1);
    arena_release(&a);
}

/* What is replaced is found by its number wherever it stands, and folds. */
static void whole_expressions_are_replaced(void **state)
{
    struct arena a;
    struct ixs s;
    int64_t c;
    int e, from;

    (void)state;
    arena_init(&a);
    ixs_init(&s, &a);
    from = ix_add(&s, ix_scale(&s, ix_var(&s, 0), 32), ix_var(&s, 1));
    e = ix_xor(&s, ix_mod(&s, from, 8), ix_div(&s, from, 8));
    assert_true(ix_is_const(&s, ix_replace(&s, e, from, ix_const(&s, 29)), &c));
    assert_int_equal(c, 5 ^ 3);
    assert_int_equal(ix_replace(&s, e, ix_var(&s, 2), from), e);
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_hold),
        cmocka_unit_test(text_is_like_c),
        cmocka_unit_test(division_is_floored),
        cmocka_unit_test(whole_expressions_are_replaced),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
