/* What the tests of reducers share: pairs of trials, of which a hint makes one of the other. */
#ifndef TESTS_REDUCING_H
#define TESTS_REDUCING_H

#include "reading.h"

#include <string.h>

#include "fuzz/min/min.h"
#include "fuzz/min/reduce.h"

struct pair {
    const char *reducer, *before, *after;
};

static struct arena arena, scratch;

static inline int setup(void **state)
{
    (void)state;
    arena_init(&arena);
    arena_init(&scratch);
    return 0;
}

static inline int teardown(void **state)
{
    (void)state;
    arena_release(&arena);
    arena_release(&scratch);
    return 0;
}

static inline struct trial *parse(const char *text)
{
    return read_good(text, &arena);
}

static inline const struct reducer *reducer(const char *id)
{
    for (int i = 0; i < n_reducers; i++)
        if (!strcmp(reducers[i].id, id))
            return &reducers[i];
    fail_msg("no reducer %s", id);
    return NULL;
}

static inline bool gives(const struct reducer *r, const struct trial *t, int hint,
                         const char *after)
{
    struct trial *c = trial_clone(t, &arena);
    struct str s = { 0 };
    bool same;

    if (!r->apply(c, hint, hint + 1, &arena) || !trial_settle(c, &arena))
        return false;
    trial_print(c, &s);
    same = !strcmp(str_get(&s), after);
    str_release(&s);
    return same;
}

/* Each pair of a table: one of the hints gives `after`. */
static inline void check_pairs(const struct pair *pairs, size_t n_pairs)
{
    for (size_t i = 0; i < n_pairs; i++) {
        const struct reducer *r = reducer(pairs[i].reducer);
        struct trial *t = parse(pairs[i].before);
        int n = r->count(t, &scratch), hint = 0;

        while (hint < n && !gives(r, t, hint, pairs[i].after))
            hint++;
        if (hint == n)
            fail_msg("%s: none of %d hints on\n%sgives\n%s", r->id, n, pairs[i].before,
                     pairs[i].after);
    }
}

/* Whatever a hint makes of a trial, it settles to something legal or not at all, and none of
 * them is larger. */
static inline void check_hints(const struct pair *pairs, size_t n_pairs)
{
    struct err e = { 0 };

    for (size_t i = 0; i < n_pairs; i++) {
        struct trial *t = parse(pairs[i].before);

        for (int k = 0; k < n_reducers; k++)
            for (int hint = 0; hint < reducers[k].count(t, &scratch); hint++) {
                struct trial *c = trial_clone(t, &arena);

                if (!reducers[k].apply(c, hint, hint + 1, &arena) || !trial_settle(c, &arena))
                    continue;
                assert_int_equal(trial_check(c, &e), 0);
                assert_true(prog_count_nodes(&c->prog) <= prog_count_nodes(&t->prog));
                if (prog_count_nodes(&c->prog) == prog_count_nodes(&t->prog) &&
                    prog_max_size(&c->prog) > prog_max_size(&t->prog))
                    fail_msg("%s, hint %d, makes an axis longer: %s", reducers[k].id, hint,
                             pairs[i].before);
                assert_true(c->n_step <= t->n_step);
            }
    }
}

struct pairs {
    const struct pair *list;
    size_t n;
};

static inline void each_pair_is_offered(void **state)
{
    const struct pairs *p = *state;

    check_pairs(p->list, p->n);
}

static inline void every_hint_is_safe(void **state)
{
    const struct pairs *p = *state;

    check_hints(p->list, p->n);
}

/* The whole test of a list of pairs; what main gives back. */
static inline int run_pairs(const struct pair *list, size_t n)
{
    struct pairs p = { list, n };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(each_pair_is_offered, &p),
        cmocka_unit_test_prestate(every_hint_is_safe, &p),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}

#endif
