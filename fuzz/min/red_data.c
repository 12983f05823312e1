/*
 * Reducers over data, last of all: a plainer recipe, drawn data written out as small integers
 * or as they are, given values made plain. What has been written out is never drawn again.
 */
#include "fuzz/min/reduce.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "ir/data.h"

/* From plain to odd. */
static const enum recipe recipes[] = { RECIPE_NORMAL, RECIPE_INTS, RECIPE_UNIFORM,
                                       RECIPE_POSITIVE };
enum { N_RECIPES = sizeof recipes / sizeof recipes[0] };

int red_recipe_count(const struct trial *t, struct arena *scratch)
{
    (void)t, (void)scratch;
    return N_RECIPES;
}

bool red_recipe_apply(struct trial *t, int from, int to, struct arena *a)
{
    (void)to, (void)a;
    for (int k = 0; k <= from; k++)
        if (t->recipe == recipes[k])
            return false;
    t->recipe = recipes[from];
    return true;
}

enum { DRAW_HINTS = 4, DRAW_MAX = 64 };

RED_PER_NODE(draws, DRAW_HINTS)

/* 1; 1 2 3 ...; n ... 3 2 1 */
static double plain_value(enum dtype dt, int hint, int64_t at, int64_t n)
{
    int64_t v = hint == 0 ? 1 : hint == 1 ? 1 + at : n - at;

    return dt == DT_BOOL ? (double)(hint == 0 || (hint == 1) == (at % 2 == 1)) : (double)v;
}

/* Hints of one input: three plain ones, then what was drawn: written out it can get plain
 * number by number, and keeps its last elements where it gets shorter. */
bool red_draws_apply(struct trial *t, int from, int to, struct arena *a)
{
    int i = from / DRAW_HINTS;
    const struct node *n = &t->prog.node[i];
    int64_t count = shape_count(&n->sh);
    int hint = from % DRAW_HINTS;
    struct values drawn = { .node = i, .n = count };

    (void)to;
    if (n->op != OP_INPUT || count > DRAW_MAX || count == 0 || trial_values(t, i))
        return false;
    drawn.v = arena_array(a, double, count);
    for (int64_t k = 0; k < count; k++)
        drawn.v[k] =
            hint == DRAW_HINTS - 1 ? data_number(t, i, k) : plain_value(n->dt, hint, k, count);
    *arena_push(a, t->values, t->n_values, t->cap_values) = drawn;
    return true;
}

static int n_numbers(const struct trial *t)
{
    int64_t n = 0;

    for (int i = 0; i < t->n_values; i++)
        n += t->values[i].n;
    return (int)n;
}

/* Every number from .. to-1 of the values lines becomes f of it. */
static bool change_numbers(struct trial *t, int from, int to, double (*f)(double),
                           struct arena *a)
{
    bool any = false;
    int at = 0;

    for (int i = 0; i < t->n_values; i++) {
        struct values *v = &t->values[i];
        double *mine = arena_array(a, double, v->n + 1);

        for (int64_t k = 0; k < v->n; k++, at++) {
            mine[k] = at >= from && at < to ? f(v->v[k]) : v->v[k];
            any |= mine[k] != v->v[k] && !(isnan(mine[k]) && isnan(v->v[k]));
        }
        v->v = mine;
    }
    return any;
}

static double to_one(double x)
{
    (void)x;
    return 1;
}

/* 1 is as plain as it gets: the other way round there would be no end. */
static double to_zero(double x)
{
    return x == 1 ? x : 0;
}

/* The nearest number of one digit. */
static double to_round(double x)
{
    char text[32]; /* decimal by way of text: 6 * 0.1 is not 0.6 */
    double y;

    snprintf(text, sizeof text, "%.0e", x);
    y = strtod(text, NULL);

    return x != 0 && isfinite(x) && isfinite(y) ? y : x;
}

/* A reducer that has a hint for each number of the values lines. */
#define RED_PER_NUMBER(id, f)                                                                  \
    int red_##id##_count(const struct trial *t, struct arena *scratch)                         \
    {                                                                                          \
        (void)scratch;                                                                         \
        return n_numbers(t);                                                                   \
    }                                                                                          \
    bool red_##id##_apply(struct trial *t, int from, int to, struct arena *a)                  \
    {                                                                                          \
        return change_numbers(t, from, to, f, a);                                              \
    }

RED_PER_NUMBER(values, to_one)
RED_PER_NUMBER(zeros, to_zero)
RED_PER_NUMBER(rounds, to_round)
