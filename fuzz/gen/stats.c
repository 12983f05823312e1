/* Series are kept whole and sorted on demand: a campaign of 20,000 trials takes 1 MB. */
#include "fuzz/gen/stats.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"

enum { SIZES = 35 }; /* extents 0 .. 33 one by one, then the rest */

static const char *const stat_name[STAT_COUNT] = { "nodes", "steps", "mul_adds", "work",
                                                   "max_size" };

struct series {
    int64_t *v, sum;
    bool sorted;
};

struct gen_stats {
    int64_t n, cap;
    struct series series[STAT_COUNT];
    int64_t op[OP_COUNT], step[STEP_COUNT], dtype[DT_COUNT]; /* trials with it */
    int64_t recipe[RECIPE_COUNT];
    int64_t size[SIZES], axes;
};

struct gen_stats *gen_stats_new(void)
{
    return must(calloc(1, sizeof(struct gen_stats)));
}

void gen_stats_free(struct gen_stats *s)
{
    for (int i = 0; i < STAT_COUNT; i++)
        free(s->series[i].v);
    free(s);
}

static void grow(struct gen_stats *s)
{
    if (s->n < s->cap)
        return;
    s->cap = s->cap ? 2 * s->cap : 1024;
    for (int i = 0; i < STAT_COUNT; i++)
        s->series[i].v = must(realloc(s->series[i].v, (size_t)s->cap * sizeof(int64_t)));
}

static void count_ops(struct gen_stats *s, const struct trial *t)
{
    bool op[OP_COUNT] = { false }, step[STEP_COUNT] = { false }, dtype[DT_COUNT] = { false };

    for (int i = 0; i < t->prog.n; i++) {
        const struct node *n = &t->prog.node[i];

        op[n->op] = true;
        dtype[n->dt] = true;
        for (int d = 0; d < n->sh.rank; d++, s->axes++)
            s->size[n->sh.dim[d] < SIZES ? n->sh.dim[d] : SIZES - 1]++;
    }
    for (int i = 0; i < t->n_step; i++)
        step[t->step[i].kind] = true;
    for (int i = 0; i < OP_COUNT; i++)
        s->op[i] += op[i];
    for (int i = 0; i < STEP_COUNT; i++)
        s->step[i] += step[i];
    for (int i = 0; i < DT_COUNT; i++)
        s->dtype[i] += dtype[i];
    s->recipe[t->recipe]++;
}

void gen_stats_add(struct gen_stats *s, const struct trial *t)
{
    const int64_t value[STAT_COUNT] = {
        [STAT_NODES] = prog_count_nodes(&t->prog), [STAT_STEPS] = t->n_step,
        [STAT_MUL_ADDS] = prog_mul_adds(&t->prog), [STAT_WORK] = prog_work(&t->prog),
        [STAT_MAX_SIZE] = prog_max_size(&t->prog),
    };

    grow(s);
    for (int i = 0; i < STAT_COUNT; i++) {
        s->series[i].v[s->n] = value[i];
        s->series[i].sum += value[i];
        s->series[i].sorted = false;
    }
    s->n++;
    count_ops(s, t);
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

int64_t gen_stats_quantile(struct gen_stats *s, enum stat what, int num, int den)
{
    struct series *v = &s->series[what];

    if (s->n == 0)
        return 0;
    if (!v->sorted)
        qsort(v->v, (size_t)s->n, sizeof *v->v, compare);
    v->sorted = true;
    return v->v[(s->n - 1) * num / den];
}

int64_t gen_stats_op(const struct gen_stats *s, enum op op)
{
    return s->op[op];
}

int64_t gen_stats_step(const struct gen_stats *s, enum step_kind kind)
{
    return s->step[kind];
}

int64_t gen_stats_dtype(const struct gen_stats *s, enum dtype dt)
{
    return s->dtype[dt];
}

int64_t gen_stats_recipe(const struct gen_stats *s, enum recipe recipe)
{
    return s->recipe[recipe];
}

static double share(int64_t part, int64_t all)
{
    return all ? 100.0 * (double)part / (double)all : 0;
}

static double mean(const struct gen_stats *s, int i)
{
    return s->n ? (double)s->series[i].sum / (double)s->n : 0;
}

/* "  64..127  ####  12.3 %" for powers of two */
static void print_bars(const struct gen_stats *s, int i, struct str *out)
{
    for (int64_t lo = 0, hi = 1; lo <= s->series[i].v[s->n - 1]; lo = hi, hi *= 2) {
        int64_t in = 0;

        for (int64_t k = 0; k < s->n; k++)
            in += s->series[i].v[k] >= lo && s->series[i].v[k] < hi;
        if (in == 0)
            continue;
        if (hi - lo == 1)
            str_add(out, "  %13" PRId64 "  ", lo);
        else
            str_add(out, "  %6" PRId64 "..%5" PRId64 "  ", lo, hi - 1);
        for (int k = 0; k < (int)(share(in, s->n) / 2 + 0.5); k++)
            str_puts(out, "#");
        str_add(out, " %.1f %%\n", share(in, s->n));
    }
}

void gen_stats_print(struct gen_stats *s, struct str *out)
{
    str_add(out, "trials %" PRId64 "\n", s->n);
    for (int i = 0; i < STAT_COUNT && s->n > 0; i++) {
        enum stat what = (enum stat)i;

        str_add(out,
                "%-10s p10 %" PRId64 "  median %" PRId64 "  p90 %" PRId64 "  max %" PRId64
                "  mean %.1f\n",
                stat_name[i], gen_stats_quantile(s, what, 1, 10),
                gen_stats_quantile(s, what, 1, 2), gen_stats_quantile(s, what, 9, 10),
                gen_stats_quantile(s, what, 1, 1), mean(s, i));
        print_bars(s, i, out);
    }
    str_puts(out, "ops (% of trials)\n");
    for (int i = 0; i < OP_COUNT; i++)
        str_add(out, "  %-10s %5.1f%s", op_info((enum op)i)->name, share(s->op[i], s->n),
                i % 4 == 3 || i == OP_COUNT - 1 ? "\n" : "");
    str_puts(out, "steps (% of trials)\n");
    for (int i = 0; i < STEP_COUNT; i++)
        str_add(out, "  %-10s %5.1f%s", step_info((enum step_kind)i)->name,
                share(s->step[i], s->n), i % 4 == 3 || i == STEP_COUNT - 1 ? "\n" : "");
    str_puts(out, "dtypes (% of trials)\n");
    for (int i = 0; i < DT_COUNT; i++)
        str_add(out, "  %-10s %5.1f%s", dtype_info((enum dtype)i)->name,
                share(s->dtype[i], s->n), i % 4 == 3 || i == DT_COUNT - 1 ? "\n" : "");
    str_puts(out, "recipes (% of trials)\n");
    for (int i = 0; i < RECIPE_COUNT; i++)
        str_add(out, "  %-10s %5.1f%s", recipe_name((enum recipe)i), share(s->recipe[i], s->n),
                i % 4 == 3 || i == RECIPE_COUNT - 1 ? "\n" : "");
    str_puts(out, "extents (% of axes)\n");
    for (int i = 0, shown = 0; i < SIZES; i++)
        if (s->size[i] > 0)
            str_add(out, "  %2d%s %5.2f%s", i, i == SIZES - 1 ? "+" : " ",
                    share(s->size[i], s->axes), ++shown % 8 == 0 ? "\n" : "");
    str_puts(out, "\n");
}

static json_t *series_json(struct gen_stats *s, int i)
{
    json_t *v = json_object();
    enum stat what = (enum stat)i;

    json_object_set_new(v, "p10", json_integer(gen_stats_quantile(s, what, 1, 10)));
    json_object_set_new(v, "median", json_integer(gen_stats_quantile(s, what, 1, 2)));
    json_object_set_new(v, "p90", json_integer(gen_stats_quantile(s, what, 9, 10)));
    json_object_set_new(v, "max", json_integer(gen_stats_quantile(s, what, 1, 1)));
    json_object_set_new(v, "mean", json_real(mean(s, i)));
    return v;
}

json_t *gen_stats_json(struct gen_stats *s)
{
    json_t *v = json_object(), *ops = json_object(), *steps = json_object(),
           *sizes = json_object(), *dtypes = json_object(), *recipes = json_object();

    json_object_set_new(v, "trials", json_integer(s->n));
    for (int i = 0; i < STAT_COUNT; i++)
        json_object_set_new(v, stat_name[i], series_json(s, i));
    for (int i = 0; i < OP_COUNT; i++)
        json_object_set_new(ops, op_info((enum op)i)->name, json_integer(s->op[i]));
    for (int i = 0; i < STEP_COUNT; i++)
        json_object_set_new(steps, step_info((enum step_kind)i)->name,
                            json_integer(s->step[i]));
    for (int i = 0; i < DT_COUNT; i++)
        json_object_set_new(dtypes, dtype_info((enum dtype)i)->name, json_integer(s->dtype[i]));
    for (int i = 0; i < RECIPE_COUNT; i++)
        json_object_set_new(recipes, recipe_name((enum recipe)i), json_integer(s->recipe[i]));
    for (int i = 0; i < SIZES; i++) {
        char name[16];

        snprintf(name, sizeof name, i == SIZES - 1 ? "%d+" : "%d", i);
        json_object_set_new(sizes, name, json_integer(s->size[i]));
    }
    json_object_set_new(v, "op_trials", ops);
    json_object_set_new(v, "step_trials", steps);
    json_object_set_new(v, "dtype_trials", dtypes);
    json_object_set_new(v, "recipe_trials", recipes);
    json_object_set_new(v, "extents", sizes);
    return v;
}
