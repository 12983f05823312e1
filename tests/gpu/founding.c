/*
 * founding TRIAL FAULT SECONDS: a trial on a device, with and without a fault, by turns: how
 * many elements differ from what the healthy code gave first. One JSON line on stdout. Exit
 * 0 = the healthy code gave the same bits every time, 1 = it did not, or could not be run,
 * 77 = no device. Whether the faulty one ever shows a wrong value is a fact about the device,
 * and not judged.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/bug.h"
#include "emit/emit.h"
#include "ir/text.h"
#include "judge/judge.h"
#include "lower/lower.h"
#include "run/cuda/cuda.h"

enum { SKIPPED = 77 };

struct side {
    struct lprog *l;
    struct str text;
    struct prepared p;
    int64_t runs, runs_wrong, elements, wrong;
    double ms; /* of all runs, by the device's clock */
};

static struct run_env env;
static struct arena arena;
static unsigned char *want; /* the first outputs of the healthy code, one after the other */

static bool no(const char *what, const char *why)
{
    fprintf(stderr, "founding: %s: %s\n", what, why);
    return false;
}

static double now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static size_t out_bytes(const struct trial *t, int out)
{
    const struct node *n = &t->prog.node[t->prog.out[out].node];

    return (size_t)(shape_count(&n->sh) * dtype_info(n->dt)->bytes);
}

static bool make(struct side *s, const struct trial *t, enum fault fault)
{
    struct lower_opts lo = LOWER_OPTS_DEFAULT;
    struct emit_sites sites = { 0 };
    struct outcome o = { 0 };
    struct err e = { 0 };

    lo.target = TARGET_GPU;
    lo.fault = fault;
    if (lower(t, &lo, &arena, &s->l, &e)) {
        err_print(&e);
        return false;
    }
    emit_cuda(s->l, &s->text, &sites);
    if (be_cuda.prepare(&env, s->l, str_get(&s->text), &s->p, &o))
        return no(fault_info(fault)->id, o.detail);
    return true;
}

static bool run_once(struct side *s, const struct trial *t)
{
    struct outcome o;
    size_t at = 0;
    int64_t wrong = 0;

    be_cuda.run(&env, &s->p, AL_IEEE, &o);
    if (o.status != OUT_RAN)
        return no("a run", o.detail);
    for (int k = 0; k < o.n_out; k++) {
        size_t bytes = out_bytes(t, k),
               size = (size_t)dtype_info(t->prog.node[t->prog.out[k].node].dt)->bytes;
        const unsigned char *got = o.out[k];

        for (size_t i = 0; i < bytes; i += size)
            wrong += memcmp(want + at + i, got + i, size) != 0;
        at += bytes;
        s->elements += (int64_t)(bytes / size);
    }
    s->runs++;
    s->runs_wrong += wrong > 0;
    s->wrong += wrong;
    s->ms += (double)cuda_ms(&s->p);
    return true;
}

/* The first outputs of the healthy code, if they are right, are wanted of all others. */
static bool take_wanted(struct side *s, const struct trial *t)
{
    const struct judge_opts as_proven = { 0 };
    struct verdict v = { 0 };
    struct outcome o;
    size_t bytes = 0, at = 0;

    be_cuda.run(&env, &s->p, AL_IEEE, &o);
    if (o.status != OUT_RAN)
        return no("the first run", o.detail);
    judge_compare(judge_want(t, AL_IEEE, &arena), &o, &as_proven, &v);
    if (v.kind != VK_PASS)
        return no("the healthy code is", verdict_name(v.kind));
    for (int k = 0; k < o.n_out; k++)
        bytes += out_bytes(t, k);
    want = malloc(bytes + 1);
    for (int k = 0; want && k < o.n_out; k++) {
        memcpy(want + at, o.out[k], out_bytes(t, k));
        at += out_bytes(t, k);
    }
    return want != NULL;
}

static void put_side(const char *name, const struct side *s)
{
    printf("\"%s\":{\"runs\":%" PRId64 ",\"runs_wrong\":%" PRId64 ",\"elements\":%" PRId64
           ",\"wrong\":%" PRId64 ",\"rate\":%.3g,\"ms\":%.4g}",
           name, s->runs, s->runs_wrong, s->elements, s->wrong,
           s->elements ? (double)s->wrong / (double)s->elements : 0.0,
           s->runs ? s->ms / (double)s->runs : 0.0);
}

static int compare(const struct trial *t, enum fault fault, double seconds)
{
    struct side healthy = { 0 }, faulty = { 0 };
    double until = now() + seconds;

    run_begin(&env);
    if (!make(&healthy, t, FAULT_none) || !make(&faulty, t, fault) || !take_wanted(&healthy, t))
        return 1;
    while (now() < until)
        if (!run_once(&healthy, t) || !run_once(&faulty, t))
            return 1;
    printf("{\"schema\":1,\"fault\":\"%s\",\"device\":\"%s\",", fault_info(fault)->id,
           be_cuda.version());
    put_side("healthy", &healthy);
    putchar(',');
    put_side("faulty", &faulty);
    puts("}");
    be_cuda.release(&healthy.p);
    be_cuda.release(&faulty.p);
    str_release(&healthy.text);
    str_release(&faulty.text);
    return healthy.wrong ? 1 : 0;
}

int main(int argc, char **argv)
{
    struct err e = { 0 };
    struct trial *t;
    enum fault fault;
    int rc;

    if (argc != 4) {
        fprintf(stderr, "usage: founding TRIAL FAULT SECONDS\n");
        return 2;
    }
    if (!fault_parse(argv[2], &fault)) {
        no(argv[2], "no such fault");
        return 2;
    }
    if (!be_cuda.available(&e)) {
        fprintf(stderr, "founding: %s\n", e.msg);
        return SKIPPED;
    }
    arena_init(&arena);
    if (!run_env_open(&env))
        return 1;
    if (trial_read(argv[1], &arena, &t, &e) || trial_check(t, &e)) {
        err_print(&e);
        return 1;
    }
    rc = compare(t, fault, atof(argv[3]));
    cuda_close();
    run_env_close(&env);
    arena_release(&arena);
    free(want);
    return rc;
}
