/*
 * Code under test that dies, hangs or writes where it should not: each becomes a verdict of
 * the right trial, and the hunt goes on. The backends live here and nowhere else.
 */
#include "testing.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bug.h"
#include "fuzz/camp/camp.h"
#include "fuzz/camp/status.h"

enum { SEED = 5, TRIALS = 150, ONE_IN = 50, SURE = 20 };

/* Trials that a faulty backend fails at: a property of the trial alone, and one that lowering
 * leaves as it is. Whatever the generator draws, number SURE is one of them. */
static uint64_t residue;

static bool chosen(const struct trial *t)
{
    return t->seed % ONE_IN == residue;
}

static const char *version(void)
{
    return "0";
}

static int prepare(struct run_env *env, const struct lprog *l, const char *text,
                   struct prepared *p, struct outcome *o)
{
    return backend_find("interp")->prepare(env, l, text, p, o);
}

static void release(struct prepared *p)
{
    backend_find("interp")->release(p);
}

static void right(struct run_env *env, struct prepared *p, enum algebra al, struct outcome *o)
{
    backend_find("interp")->run(env, p, al, o);
}

static void crash_run(struct run_env *env, struct prepared *p, enum algebra al,
                      struct outcome *o)
{
    right(env, p, al, o);
    if (chosen(p->l->trial))
        raise(SIGSEGV);
}

static void hang_run(struct run_env *env, struct prepared *p, enum algebra al,
                     struct outcome *o)
{
    volatile bool forever = chosen(p->l->trial);

    right(env, p, al, o);
    while (forever)
        ;
}

/* A store just outside a buffer; what it hits in us shows three runs later. */
static void wild_run(struct run_env *env, struct prepared *p, enum algebra al,
                     struct outcome *o)
{
    static int fuse;

    if (fuse && --fuse == 0)
        raise(SIGSEGV);
    right(env, p, al, o);
    if (!chosen(p->l->trial))
        return;
    fuse = 3;
    o->margin_broken = true;
    snprintf(o->where, sizeof o->where, "x");
}

/* The same, but nothing shows in the trial itself, nor when it runs alone. */
static void stealth_run(struct run_env *env, struct prepared *p, enum algebra al,
                        struct outcome *o)
{
    static int fuse;

    if (fuse && --fuse == 0)
        raise(SIGSEGV);
    right(env, p, al, o);
    if (chosen(p->l->trial) && !fuse)
        fuse = 5;
}

/* Our own assertion, not the code under test's. */
static void bug_run(struct run_env *env, struct prepared *p, enum algebra al, struct outcome *o)
{
    right(env, p, al, o);
    if (chosen(p->l->trial))
        BUG("a planted bug");
}

#define BACKEND(id)                                                                            \
    static const struct backend be_##id = { .name = #id,                                       \
                                            .help = "fails at times",                          \
                                            .group = "compiled",                               \
                                            .runs = 1,                                         \
                                            .version = version,                                \
                                            .prepare = prepare,                                \
                                            .run = id##_run,                                   \
                                            .release = release }

BACKEND(crash);
BACKEND(hang);
BACKEND(wild);
BACKEND(stealth);
BACKEND(bug);

static struct camp_opts opts_with(const struct backend *b, const char *db)
{
    struct camp_opts o = { .work = { .seed = SEED, .budget = 20 },
                           .trials = TRIALS,
                           .shards = 1,
                           .jobs = 2,
                           .deadline_s = 1,
                           .quiet = true,
                           .db = db,
                           .program = "tilefuzz",
                           .gen_options = "",
                           .run_options = "",
                           .about = { .seed = SEED, .fault = "none" } };

    gen_opts_default(&o.work.gen);
    o.work.gen.max_work = 2000;
    o.work.check = (struct check_opts){ .algebra = { [AL_RING] = true }, .deadline_s = 1 };
    o.work.check.backend[0] = b;
    o.work.check.n_backend = 1;
    return o;
}

static int64_t count_chosen(const struct camp_opts *o, int64_t *first)
{
    struct arena a, scratch;
    int64_t n = 0;

    arena_init(&a);
    arena_init(&scratch);
    residue = gen_trial(SEED, SURE, &o->work.gen, &a, &scratch)->seed % ONE_IN;
    for (uint64_t i = 0; i < o->trials; i++) {
        arena_reset(&a);
        if (chosen(gen_trial(SEED, i, &o->work.gen, &a, &scratch)) && n++ == 0)
            *first = (int64_t)i;
    }
    arena_release(&a);
    arena_release(&scratch);
    return n;
}

static void no_bug(void *ctx, const struct finding *f, bool known)
{
    (void)ctx;
    (void)f;
    (void)known;
}

struct hunted {
    struct camp_result r;
    struct arena a;
    int64_t chosen, first;
};

static void hunt(struct hunted *h, const struct backend *b)
{
    char dir[] = "/tmp/tilefuzz-camp-XXXXXX", db[64], command[96];
    struct camp_opts o;
    struct err e = { 0 };

    assert_non_null(mkdtemp(dir));
    snprintf(db, sizeof db, "%s/camp.db", dir);
    o = opts_with(b, db);
    memset(h, 0, sizeof *h);
    arena_init(&h->a);
    h->chosen = count_chosen(&o, &h->first);
    assert_true(h->chosen > 0);
    if (camp_run(&o, no_bug, NULL, &h->a, &h->r, &e))
        fail_msg("%s", e.msg);
    snprintf(command, sizeof command, "rm -r %s", dir);
    assert_int_equal(system(command), 0);
    assert_int_equal(h->r.n.trials, TRIALS);
    assert_int_equal(h->r.n.trials, h->r.n.verified + h->r.n.untrusted + h->r.n.unsupported);
}

/* Every chosen trial is a finding of this kind, and no other. */
static void expect(const struct backend *b, const char *kind)
{
    struct hunted h;

    hunt(&h, b);
    assert_int_equal(h.r.n.findings, h.chosen);
    assert_int_equal(h.r.n_bug, 1);
    assert_string_equal(h.r.bug[0].kind, kind);
    assert_int_equal(h.r.bug[0].first_trial, h.first);
    assert_int_equal(h.r.bug[0].count, h.chosen);
    assert_int_equal(h.r.n.unconfirmed, 0);
    arena_release(&h.a);
}

static void a_crash_is_a_verdict(void **state)
{
    (void)state;
    expect(&be_crash, "CRASH");
}

static void a_hang_is_a_verdict(void **state)
{
    (void)state;
    expect(&be_hang, "HANG");
}

static void a_wild_store_is_a_verdict(void **state)
{
    (void)state;
    expect(&be_wild, "OUT_OF_BOUNDS");
}

static void our_own_assertion_is_against_ourselves(void **state)
{
    (void)state;
    expect(&be_bug, "BUG");
}

static void a_late_death_is_blamed_on_no_other_trial(void **state)
{
    struct hunted h;

    (void)state;
    hunt(&h, &be_stealth);
    assert_int_equal(h.r.n.findings, 0);
    assert_true(h.r.n.unconfirmed > 0);
    arena_release(&h.a);
}

static void a_status_line_fits_a_terminal(void **state)
{
    const struct camp_totals n = { .trials = 98000000,
                                   .verified = 97000000,
                                   .judged = 390000000,
                                   .untrusted = 980000,
                                   .unsupported = 12345 };
    struct str line = { 0 };

    (void)state;
    status_line(&n, 3400, 12, 3600 * 7.5, false, &line);
    assert_string_equal(str_get(&line),
                        "98000000 trials, 3400/s, 390000000 judged, UNTRUSTED 980000 (1.0%), "
                        "UNSUPPORTED 12345 (0.0%), 12 bugs, 7h30m left");
    str_clear(&line);
    status_line(&n, 3400, 12, 3600 * 7.5, true, &line);
    assert_string_equal(str_get(&line), "98000000 trials, 3400/s, UNTRUSTED 1.0%, "
                                        "UNSUPPORTED 0.0%, 12 bugs, 7h30m left");
    assert_true(line.n < 80);
    str_release(&line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_crash_is_a_verdict),
        cmocka_unit_test(a_hang_is_a_verdict),
        cmocka_unit_test(a_wild_store_is_a_verdict),
        cmocka_unit_test(our_own_assertion_is_against_ourselves),
        cmocka_unit_test(a_late_death_is_blamed_on_no_other_trial),
        cmocka_unit_test(a_status_line_fits_a_terminal),
    };

    return cmocka_run_group_tests_name("camp", tests, NULL, NULL);
}
