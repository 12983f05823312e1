/*
 * Helpers of the tests of the judge: trials from text, outputs from arrays, a verdict.
 */
#ifndef TESTS_JUDGING_H
#define TESTS_JUDGING_H

#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/data.h"
#include "ir/text.h"
#include "judge/grid.h"
#include "judge/judge.h"

/* One arena per test program, never given back before its end. */
static struct arena arena;

__attribute__((format(printf, 1, 2))) static inline struct trial *trial_of(const char *fmt, ...)
{
    struct err e = { 0 };
    struct trial *t;
    char *text;
    va_list ap;
    size_t n;
    FILE *f = open_memstream(&text, &n);

    fputs("tilefuzz 1\n", f);
    va_start(ap, fmt);
    vfprintf(f, fmt, ap);
    va_end(ap);
    fclose(f);
    if (trial_parse(text, n, &arena, &t, &e)) {
        err_print(&e);
        fail_msg("%s", text);
    }
    free(text);
    return t;
}

static inline int node_of(const struct trial *t, const char *name)
{
    int i = prog_find(&t->prog, name, strlen(name));

    assert_true(i >= 0);
    return i;
}

static inline const struct want_node *wanted(const struct want *w, const char *name)
{
    return &w->node[node_of(w->trial, name)];
}

static inline const struct want *ieee(const struct trial *t)
{
    return judge_want(t, AL_IEEE, &arena);
}

static inline const struct want *ring(const struct trial *t)
{
    return judge_want(t, AL_RING, &arena);
}

/* What the judge says of these outputs. */
static inline struct verdict verdict_on(const struct want *w, const void *const *out)
{
    struct outcome o = { .algebra = w->algebra, .n_out = w->trial->prog.n_out, .out = out };
    struct judge_opts jo = { 0 };
    struct verdict v = { .backend = "test" };

    judge_compare(w, &o, &jo, &v);
    assert_string_equal(v.backend, "test");
    return v;
}

/* Of the one output of a trial. */
static inline struct verdict verdict_on_one(const struct want *w, const void *out)
{
    return verdict_on(w, &out);
}

/* The same where all elements are to be given in one double each: rounded to the dtype. */
static inline struct verdict verdict_on_numbers(const struct want *w, const double *v)
{
    const struct node *x = &w->trial->prog.node[w->trial->prog.out[0].node];
    int64_t n = shape_count(&x->sh);
    int bytes = dtype_info(x->dt)->bytes;
    unsigned char *out = malloc((size_t)(n * bytes + 1));
    struct verdict d;

    for (int64_t k = 0; k < n; k++)
        grid_store(x->dt, grid_round(x->dt, v[k]), out + k * bytes);
    d = verdict_on_one(w, out);
    free(out);
    return d;
}

/* Elements of a float input of any dtype. */
static inline double *numbers_of(const struct trial *t, const char *name)
{
    const struct node *x = &t->prog.node[node_of(t, name)];
    int64_t n = shape_count(&x->sh);
    int bytes = dtype_info(x->dt)->bytes;
    unsigned char *bits = arena_array(&arena, unsigned char, n *bytes);
    double *v = arena_array(&arena, double, n);

    data_dense(t, (int)(x - t->prog.node), AL_IEEE, bits);
    for (int64_t k = 0; k < n; k++)
        v[k] = grid_load(x->dt, bits + k * bytes);
    return v;
}

/* Elements of an input as floats. */
static inline float *floats_of(const struct trial *t, const char *name)
{
    int i = node_of(t, name);
    float *f = arena_array(&arena, float, shape_count(&t->prog.node[i].sh));

    data_dense(t, i, AL_IEEE, f);
    return f;
}

/* Nodes a and b hold the same words, and not by being constant. */
static inline void assert_same(const struct want *w, const char *a, const char *b)
{
    const struct want_node *x = wanted(w, a), *y = wanted(w, b);
    int64_t distinct = 0;

    assert_int_equal(x->n, y->n);
    assert_memory_equal(x->word, y->word, (size_t)x->n * 4);
    for (int64_t k = 1; k < x->n; k++)
        distinct += x->word[k] != x->word[0];
    assert_true(distinct > x->n / 2);
}

#endif
