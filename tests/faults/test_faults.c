/*
 * The tester's own test: with a compiler bug switched on, the hunt finds it within a number
 * of trials, the minimizer brings it down, and the cause names the right pass; without the
 * bug the minimized trial passes. Beside the command line, the store and bench the only place
 * that looks at faults.def: it compares, nothing learns from it.
 *
 *     test_faults SEEDS [ID]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fuzz/bench/bench.h"
#include "fuzz/min/min.h"
#include "ir/text.h"

enum { TRIALS_MAX = 6000, NODES_MAX = 4, SIZE_MAX_ = 8 };

struct bench {
    struct checker ck;
    struct gen_opts go;
    struct check_opts o;
    struct check c;
    struct arena trial, scratch, out;
    int bad;
};

static double cpu_s(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void complain(struct bench *b, uint64_t seed, const char *what)
{
    printf("FAILED: fault %s, seed %" PRIu64 ": %s\n", fault_info(b->o.fault)->id, seed, what);
    b->bad++;
}

/* The first trial of the seed that fails under the fault; NULL = none. */
static const struct trial *hunt(struct bench *b, uint64_t seed, int *number)
{
    struct err e = { 0 };

    for (*number = 0; *number < TRIALS_MAX; ++*number) {
        const struct trial *t;

        arena_reset(&b->trial);
        t = gen_trial(seed, (uint64_t)*number, &b->go, &b->trial, &b->scratch);
        if (check_trial(&b->ck, t, &b->o, &b->c, &e)) {
            complain(b, seed, e.msg);
            return NULL;
        }
        if (verdict_is_finding(b->c.kind))
            return t;
    }
    return NULL;
}

static bool silent(struct bench *b, const struct trial *t)
{
    struct check_opts o = b->o;
    struct err e = { 0 };

    o.fault = FAULT_none;
    return check_trial(&b->ck, t, &o, &b->c, &e) == 0 && !verdict_is_finding(b->c.kind);
}

/* Each algebra that sees the bug by itself blames the same pass. */
static void blame_apart(struct bench *b, uint64_t seed, const struct trial *t)
{
    for (int al = 0; al < AL_COUNT; al++) {
        struct check_opts o = b->o;
        struct cause cause;
        struct err e = { 0 };

        for (int other = 0; other < AL_COUNT; other++)
            o.algebra[other] = other == al;
        if (check_trial(&b->ck, t, &o, &b->c, &e) || !verdict_is_finding(b->c.kind))
            continue;
        if (cause_find(&b->ck, t, &o, &b->c, &cause, &e))
            complain(b, seed, e.msg);
        else if (strcmp(cause.pass, fault_info(b->o.fault)->stage))
            complain(b, seed,
                     al == AL_RING ? "another pass is blamed in ring"
                                   : "another pass is blamed in ieee");
    }
}

static void try_seed(struct bench *b, uint64_t seed)
{
    const struct fault_info *f = fault_info(b->o.fault);
    int64_t size_max = f->threshold ? f->threshold + 1 : SIZE_MAX_;
    struct min_opts mo = { .check = b->o, .budget = 2000 };
    struct min_result r = { 0 };
    struct cause cause;
    struct err e = { 0 };
    struct str s = { 0 };
    double start = cpu_s();
    int number;
    const struct trial *t = hunt(b, seed, &number);

    if (!t) {
        complain(b, seed, "not found");
        return;
    }
    arena_reset(&b->out);
    if (cause_find(&b->ck, t, &b->o, &b->c, &cause, &e) ||
        minimize(&b->ck, t, &cause, &mo, &b->out, &r, &e)) {
        complain(b, seed, e.msg);
        return;
    }
    trial_print(r.trial, &s);
    printf("%-30s seed %" PRIu64 ": trial %4d, %2d -> %d nodes, %d steps, max_size %" PRId64
           ", %4d evaluations, %.2f s, %s %s\n",
           f->id, seed, number, prog_count_nodes(&t->prog), prog_count_nodes(&r.trial->prog),
           r.trial->n_step, prog_max_size(&r.trial->prog), r.evaluations, cpu_s() - start,
           r.cause.pass, r.cause.rule);
    if (prog_count_nodes(&r.trial->prog) > NODES_MAX ||
        prog_max_size(&r.trial->prog) > size_max)
        complain(b, seed, str_get(&s));
    if (strcmp(r.cause.pass, f->stage))
        complain(b, seed, "another pass is blamed");
    blame_apart(b, seed, t);
    blame_apart(b, seed, r.trial);
    if (!silent(b, r.trial))
        complain(b, seed, "fails without the fault, too");
    str_release(&s);
}

int main(int argc, char **argv)
{
    static struct bench b;
    int seeds = argc > 1 ? atoi(argv[1]) : 1;
    struct err e = { 0 };

    if (checker_open(&b.ck, &e))
        return 3;
    arena_init(&b.trial);
    arena_init(&b.scratch);
    arena_init(&b.out);
    for (int f = FAULT_none + 1; f < FAULT_COUNT; f++) {
        gen_opts_default(&b.go);
        check_opts_default(&b.o);
        bench_hunt_for((enum fault)f, &b.go, &b.o);
        b.o.fault = (enum fault)f;
        if (argc > 2 && strcmp(argv[2], fault_info(b.o.fault)->id))
            continue;
        for (int seed = 1; seed <= seeds; seed++)
            try_seed(&b, (uint64_t)seed);
    }
    arena_release(&b.trial);
    arena_release(&b.scratch);
    arena_release(&b.out);
    checker_close(&b.ck);
    return b.bad > 0;
}
