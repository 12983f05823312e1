/* What the tests of GPU passes share: loops judged after any rewrite, for any target. */
#ifndef TESTS_GPU_FIX_H
#define TESTS_GPU_FIX_H

#include "testing.h"

#include <stdio.h>
#include <string.h>

#include "ir/text.h"
#include "judge/judge.h"
#include "lower/lower.h"
#include "run/interp.h"

struct fix {
    struct run_env env;
    struct arena trial, a, scratch;
    struct str text;
};

static inline int setup(void **state)
{
    static struct fix f;

    if (!run_env_open(&f.env))
        return 1;
    arena_init(&f.trial);
    arena_init(&f.a);
    arena_init(&f.scratch);
    *state = &f;
    return 0;
}

static inline int teardown(void **state)
{
    struct fix *f = *state;

    run_env_close(&f->env);
    arena_release(&f->trial);
    arena_release(&f->a);
    arena_release(&f->scratch);
    str_release(&f->text);
    return 0;
}

/* NULL, and what is wrong in e, if the schedule names what there is not. */
static inline struct trial *try_parse(struct fix *f, const char *body, struct err *e)
{
    char *s = arena_printf(&f->trial, "tilefuzz 1\n%sdata seed=5 recipe=normal\n", body);
    struct trial *t;

    return trial_parse(s, strlen(s), &f->trial, &t, e) || trial_check(t, e) ? NULL : t;
}

static inline struct trial *parse(struct fix *f, const char *body)
{
    struct err e = { 0 };
    struct trial *t = try_parse(f, body, &e);

    if (!t)
        fail_msg("%d:%d: %s in\n%s", e.line, e.col, e.msg, body);
    return t;
}

static inline const char *show(struct fix *f, const struct lprog *l)
{
    str_clear(&f->text);
    loop_print(l, &f->text);
    return str_get(&f->text);
}

/* How a run of the loops ends against what the program means. */
static inline enum verdict_kind judged(struct fix *f, const struct want *w,
                                       const struct lprog *l, enum algebra al,
                                       struct verdict *v)
{
    struct judge_opts jo = { 0 };
    struct outcome o = { 0 };

    run_begin(&f->env);
    f->env.step_limit = 1 << 26;
    interp_run(&f->env, l, al, &o);
    judge_compare(w, &o, &jo, v);
    return v->kind;
}

static const char *const target_name[] = { "cpu", "gpu", "gpu-serial" };

/* Lowered for a target up to each rewrite from `first` on: well formed, and right. */
static inline int check_stops(struct fix *f, const struct trial *t, enum target target,
                              int first_pass)
{
    struct lower_opts o = LOWER_OPTS_DEFAULT;
    struct want *w = judge_want(t, AL_RING, &f->a);
    struct lprog *all, *l;
    struct err e = { 0 };
    int first = 0;

    o.target = target;
    if (lower(t, &o, &f->a, &all, &e)) {
        trial_print(t, (str_clear(&f->text), &f->text));
        fail_msg("%s, line %d: %s in\n%s", target_name[target], e.line, e.msg,
                 str_get(&f->text));
    }
    while (first < all->n_log && all->log[first].pass < first_pass)
        first++;
    for (o.stop_after = first; o.stop_after <= all->n_log; o.stop_after++) {
        const char *rule = o.stop_after ? all->log[o.stop_after - 1].rule : "nothing";
        struct verdict v;

        arena_reset(&f->scratch);
        if (lower(t, &o, &f->scratch, &l, &e) || loop_check(l, &e))
            fail_msg("%s after %d (%s): %s", target_name[target], o.stop_after, rule, e.msg);
        if (target == TARGET_GPU)
            continue;
        if (judged(f, w, l, AL_RING, &v) != VK_PASS) {
            struct str s = { 0 };

            trial_print(t, &s);
            fail_msg("%s after %d (%s): verdict %s in\n%s%s", target_name[target], o.stop_after,
                     rule, verdict_name(v.kind), str_get(&s), show(f, l));
        }
    }
    return all->n_log - first;
}

static inline void check_all(struct fix *f, const char *body)
{
    const struct trial *t = parse(f, body);

    for (int target = 0; target < 3; target++)
        check_stops(f, t, (enum target)target, 0);
    arena_reset(&f->a);
    arena_reset(&f->trial);
}

static inline const char *matmul(struct fix *f, const char *dt, const char *shapes,
                                 const char *steps)
{
    int m, n, k;

    assert_int_equal(sscanf(shapes, "%d %d %d", &m, &n, &k), 3);
    return arena_printf(&f->trial,
                        "input x %s [%d,%d]\ninput y %s [%d,%d]\nm = matmul x y\noutput m\n"
                        "schedule\n%s\n",
                        dt, m, k, dt, k, n, steps);
}

#endif
