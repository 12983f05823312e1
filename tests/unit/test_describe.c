/* Verdicts in words: numbers look like what they are. */
#include "testing.h"

#include <string.h>

#include "fuzz/describe.h"
#include "ir/text.h"

static const char text[] = "tilefuzz 1\n"
                           "input x f32 [2,3]\n"
                           "i = cast x i32\n"
                           "b = lt x 0\n"
                           "output x\n"
                           "output i\n"
                           "output b\n";
static const char *names[] = { "x", "i", "b" };

/* The line for a wrong element [1,2] of an output. */
static void says(enum algebra al, int out, double want, double got, const char *line)
{
    struct verdict v = { .kind = VK_MISMATCH, .algebra = al, .out = out, .at = { 1, 2 } };
    struct str s = { 0 }, all = { 0 };
    struct trial *t;
    struct arena a;
    struct err e = { 0 };

    arena_init(&a);
    assert_int_equal(trial_parse(text, strlen(text), &a, &t, &e), 0);
    v.want = want;
    v.got = got;
    v.n_wrong = 1;
    v.n_judged = 6;
    verdict_print(&v, &t->prog, &s);
    str_add(&all, "%s[1,2]: %s; 1 of 6 wrong", names[out], line);
    assert_string_equal(str_get(&s), str_get(&all));
    str_release(&all);
    str_release(&s);
    arena_release(&a);
}

static void floats_of_ring_are_words(void **state)
{
    (void)state;
    says(AL_RING, 0, 4294967295.0, 16, "want 0xffffffff, got 0x00000010");
    says(AL_IEEE, 0, 0.5, -1e30, "want 0.5, got -1e+30");
}

static void integers_are_decimal_in_both_algebras(void **state)
{
    (void)state;
    for (int al = 0; al < AL_COUNT; al++) {
        says((enum algebra)al, 1, -3, 1, "want -3, got 1");
        says((enum algebra)al, 1, 2147483647.0, -2147483648.0,
             "want 2147483647, got -2147483648");
        says((enum algebra)al, 2, 1, 0, "want 1, got 0");
    }
}

static void labels(void **state)
{
    static const char *const of[][2] = {
        { "tcc", "tcc" },
        { "cc:gcc-O2", "cc:gcc-O2" },
        { "exec:python3 mine.py A=1", "exec:python3 mine.py A=1" },
        { "exec:/usr/bin/python3 -IS /x/y/mine.py", "exec:python3 -IS mine.py" },
        { "exec:/bin/python3 mine.py", "exec:python3 mine.py" },
        { "exec:/home/me/env-2.1/bin/python /x/y.py", "exec:env-2.1/bin/python y.py" },
        { "plugin:/x/y/blas.so", "plugin:blas.so" },
        { "exec:", "exec:" },
        { NULL, "-" },
    };
    char longest[400] = "exec:";

    (void)state;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        assert_string_equal(backend_label(of[i][0]).s, of[i][1]);
    memset(longest + 5, 'x', sizeof longest - 6);
    assert_int_equal(strlen(backend_label(longest).s), sizeof(struct label) - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats_of_ring_are_words),
        cmocka_unit_test(integers_are_decimal_in_both_algebras),
        cmocka_unit_test(labels),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
