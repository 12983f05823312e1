/*
 * Mutants: every synchronisation that lowering placed in a kernel (barrier, commit, wait,
 * acquire, release) is removed, one at a time, or weakened, and the SIMT machine must say so
 * under every schedule; the whole kernel must be silent and right. A mutant that no schedule is
 * against was redundant: it must then give the right words too, and there may be few of them.
 */
#include "testing.h"

#include <stdio.h>
#include <string.h>

#include "emit/emit.h"
#include "ir/text.h"
#include "judge/judge.h"
#include "lower/lower.h"
#include "run/run.h"

enum { RUNS = 4 };

struct fix {
    struct run_env env;
    struct arena a, once;
    struct trial *t;
    struct want *want;
    const struct backend *simt;
    int mutants, reported, redundant;
};

#define MATMUL(m, k, n, dt)                                                                    \
    "tilefuzz 1\ninput x " dt " [" #m "," #k "]\ninput y " dt " [" #k "," #n "]\n"             \
    "m = matmul x y\noutput m\nschedule\n"
#define DATA "data seed=5 recipe=normal\n"

static const char *const trials[] = {
    /* one buffer, a barrier on each side of its use */
    MATMUL(8, 12, 8,
           "f32") "tile m 8x8x4 threads=16\nstage m.a m.r0.0\nstage m.b m.r0.0\n" DATA,
    /* rings, with the epilogue over the stages: nvFuser's kernel */
    MATMUL(8, 24, 8, "f32") "tile m 8x8x4 threads=16\nstage m.a m.r0.0 depth=3 async\n"
                            "stage m.b m.r0.0 depth=3 async\nepilogue m alias\n" DATA,
    MATMUL(8, 21, 8, "f32") "tile m 8x8x4 threads=32\nstage m.a m.r0.0 depth=4 async\n"
                            "stage m.b m.r0.0 depth=4 async\nepilogue m own\n" DATA,
    MATMUL(16, 16, 8, "f32") "tile m 8x8x4 threads=16\nstage m.a m.r0.0 depth=2\n"
                             "stage m.b m.r0.0 depth=2\nepilogue m alias\n" DATA,
    /* threads of a block meet in global memory, with stages, without, and with a semaphore */
    MATMUL(11, 21, 13, "f32") "tile m 8x8x4 threads=32\nstage m.a m.r0.0 depth=3 async\n"
                              "stage m.b m.r0.0 depth=3 async\nepilogue m global\n" DATA,
    MATMUL(16, 16, 8, "f16") "tile m 8x8x4 threads=16\nepilogue m global\n" DATA,
    MATMUL(8, 24, 16,
           "f32") "splitk m 3 serial\ntile m 8x8x4 threads=16\nepilogue m global\n" DATA,
    /* slices one after the other under a semaphore */
    MATMUL(8, 32, 8, "f32") "splitk m 3 serial\ntile m 8x8x4 threads=16\n"
                            "stage m.a m.r0.0 depth=3 async\nstage m.b m.r0.0 depth=3 "
                            "async\nepilogue m alias\n" DATA,
    MATMUL(8, 16, 8, "f32") "splitk m 2 serial\ntile m 4x8x4 threads=8\n" DATA,
    /* tensor cores */
    MATMUL(16, 48, 8,
           "f16") "tile m 16x8x16 threads=32 mma\nstage m.a m.r0.0 depth=2 async vec=4\n"
                  "stage m.b m.r0.0 depth=2 async vec=4\nepilogue m alias\n" DATA,
    /* reductions over threads, one and several warps */
    "tilefuzz 1\ninput x f32 [3,64]\ns = sum x axes=[1]\noutput s\nschedule\nbind s.r0 "
    "thread\n" DATA,
    "tilefuzz 1\ninput x f32 [3,128]\ns = max x axes=[1]\noutput s\nschedule\nbind s.r0 "
    "thread\n" DATA,
    "tilefuzz 1\ninput x f32 [2,24]\ns = sum x axes=[1]\noutput s\nschedule\nbind s.r0 "
    "thread\n" DATA,
};

static int setup(void **state)
{
    static struct fix f;
    struct err why = { 0 };

    f.simt = backend_find("simt");
    assert_non_null(f.simt);
    assert_true(backend_available(f.simt, &why));
    arena_init(&f.a);
    arena_init(&f.once);
    *state = &f;
    return run_env_open(&f.env) ? 0 : 1;
}

static int teardown(void **state)
{
    struct fix *f = *state;

    run_env_close(&f->env);
    arena_release(&f->a);
    arena_release(&f->once);
    return 0;
}

/* Lowered anew: a mutant is changed in place. */
static struct lprog *lowered(struct fix *f, const char *text)
{
    struct lower_opts lo = LOWER_OPTS_DEFAULT;
    struct err e = { 0 };
    struct lprog *l;

    lo.target = TARGET_GPU;
    arena_reset(&f->a);
    run_begin(&f->env);
    if (trial_parse(text, strlen(text), &f->a, &f->t, &e) || trial_check(f->t, &e) ||
        lower(f->t, &lo, &f->a, &l, &e))
        fail_msg("%s\n%s\n%s", e.msg, e.excerpt, text);
    f->want = judge_want(f->t, AL_RING, &f->a);
    return l;
}

struct seen {
    int reports, wrong; /* runs */
    char detail[400];
};

static struct seen run_all(struct fix *f, const struct lprog *l)
{
    static const struct judge_opts proven = { 0 };
    struct emit_sites sites = { 0 };
    struct seen s = { 0 };
    struct str text = { 0 };
    struct prepared p = { 0 };
    struct outcome o = { 0 };

    emit_cuda(l, &text, &sites);
    run_begin(&f->env);
    if (f->simt->prepare(&f->env, l, str_get(&text), &p, &o))
        fail_msg("%s\n%s", o.detail, str_get(&text));
    for (int i = 0; i < RUNS; i++) {
        struct verdict v = { 0 };

        o = (struct outcome){ .algebra = AL_RING };
        f->simt->run(&f->env, &p, AL_RING, &o);
        judge_compare(f->want, &o, &proven, &v);
        s.reports += v.kind != VK_PASS && v.kind != VK_MISMATCH;
        s.wrong += v.kind == VK_MISMATCH;
        if (v.kind != VK_PASS && !s.detail[0])
            snprintf(s.detail, sizeof s.detail, "%s: %.380s", verdict_name(v.kind), v.detail);
    }
    f->simt->release(&p);
    str_release(&text);
    return s;
}

static bool is_sync(enum stmt_kind k)
{
    return k == ST_SYNC || k == ST_COMMIT || k == ST_WAIT || k == ST_ACQUIRE || k == ST_RELEASE;
}

/* Is statement `at` a synchronisation that can be taken away or, weaker, made to do less? */
static bool mutate(struct lprog *l, int kernel, int at, bool weaken)
{
    struct kernel *k = &l->kernel[kernel];

    if (!is_sync(k->st[at].kind) || (weaken && k->st[at].kind != ST_WAIT))
        return false;
    if (weaken) {
        k->st[at].n++;
        return true;
    }
    /* an acquire or release that is not there would only hang those who wait for it */
    if (k->st[at].kind == ST_ACQUIRE || k->st[at].kind == ST_RELEASE) {
        l->fault = FAULT_semaphore_relaxed;
        return true;
    }
    for (int i = at; i + 1 < k->n; i++)
        k->st[i] = k->st[i + 1];
    k->n--;
    return true;
}

static const char *const word[] = { [ST_SYNC] = "sync",
                                    [ST_COMMIT] = "commit",
                                    [ST_WAIT] = "wait",
                                    [ST_ACQUIRE] = "acquire",
                                    [ST_RELEASE] = "release" };

static void try_mutant(struct fix *f, int trial, int kernel, int at, bool weaken)
{
    struct lprog *l = lowered(f, trials[trial]);
    const char *name = l->kernel[kernel].name;
    enum stmt_kind kind = l->kernel[kernel].st[at].kind;
    struct seen s;

    if (!mutate(l, kernel, at, weaken))
        return;
    f->mutants++;
    s = run_all(f, l);
    if (s.reports == RUNS) {
        f->reported++;
        return;
    }
    print_message(
        "trial %d, kernel %s, statement %d: %s %s: %d of %d runs report, %d are wrong %s\n",
        trial, name, at, weaken ? "weaker" : "without", word[kind], s.reports, RUNS, s.wrong,
        s.detail);
    /* found by some schedules only: the trace of every run has the same accesses */
    assert_int_equal(s.reports, 0);
    assert_int_equal(s.wrong, 0);
    f->redundant++;
}

static void whole_kernels_are_silent(void **state)
{
    struct fix *f = *state;

    for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++) {
        struct seen s = run_all(f, lowered(f, trials[i]));

        if (s.reports || s.wrong)
            fail_msg("trial %zu: %d reports, %d wrong: %s\n%s", i, s.reports, s.wrong, s.detail,
                     trials[i]);
    }
}

static void mutants_are_reported(void **state)
{
    struct fix *f = *state;

    for (int i = 0; i < (int)(sizeof trials / sizeof trials[0]); i++) {
        struct lprog *l = lowered(f, trials[i]);
        int n_kernel = l->n_kernel, n[16];

        assert_true(n_kernel <= 16);
        for (int k = 0; k < n_kernel; k++)
            n[k] = l->kernel[k].dead ? 0 : l->kernel[k].n;
        for (int k = 0; k < n_kernel; k++)
            for (int at = 0; at < n[k]; at++)
                for (int weaken = 0; weaken < 2; weaken++)
                    try_mutant(f, i, k, at, weaken);
    }
    print_message("%d mutants: %d reported in every run, %d redundant\n", f->mutants,
                  f->reported, f->redundant);
    assert_true(f->mutants >= 40);
    assert_true(f->redundant * 10 <= f->mutants);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_kernels_are_silent),
        cmocka_unit_test(mutants_are_reported),
    };

    return cmocka_run_group_tests_name("mutants", tests, setup, teardown);
}
