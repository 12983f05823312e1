/*
 * What can be said of a schedule without lowering: counts are in range, steps stand in pass
 * order, nodes and axes exist (schedule_axis.c). Whether a step is legal where it stands is for
 * the passes to say.
 */
#include <string.h>

#include "base/bug.h"
#include "ir/schedule.h"

/* Passes that have steps, in the order in which they run. */
static const char *const pass_order[] = { "expand", "fuse",  "split",    "reorder",
                                          "splitk", "tile",  "unroll",   "vectorize",
                                          "bind",   "stage", "epilogue", "swizzle",
                                          "plan" };

static int pass_rank(enum step_kind kind)
{
    if (kind == STEP_SET) /* of no pass of ours */
        return (int)ARRAY_LEN(pass_order);
    for (size_t i = 0; i < ARRAY_LEN(pass_order); i++)
        if (strcmp(pass_order[i], step_info(kind)->pass) == 0)
            return (int)i;
    BUG("step %s is of pass %s, which has no place", step_info(kind)->name,
        step_info(kind)->pass);
}

static int check_count(const struct step *s, int64_t low, int64_t high, struct err *e)
{
    if (s->n >= low && s->n <= high)
        return 0;
    return err_at(e, ERR_INPUT, s->line, 0, "%s by %lld; expected %lld to %lld",
                  step_info(s->kind)->name, (long long)s->n, (long long)low, (long long)high);
}

/* A number with a name of its own. */
static int check_number(const struct step *s, const char *what, int64_t n, int64_t low,
                        int64_t high, struct err *e)
{
    if (n >= low && n <= high)
        return 0;
    return err_at(e, ERR_INPUT, s->line, 0, "%s of %lld; expected %lld to %lld", what,
                  (long long)n, (long long)low, (long long)high);
}

static int check_fuse(const struct trial *t, const struct step *s, int *word, struct err *e)
{
    for (*word = 1; *word <= 2; ++*word)
        if (schedule_node(t, s, *word - 1, e))
            return e->code;
    if (s->node[0] != s->node[1] || !part_equal(s->part[0], s->part[1]))
        return 0;
    *word = 2;
    return err_at(e, ERR_INPUT, s->line, 0, "fuse of %s with itself; expected another node",
                  t->prog.node[s->node[0]].name);
}

static int check_reorder(const struct trial *t, int i, int *word, struct err *e)
{
    const struct step *s = &t->step[i];
    char name[3 * MAX_NAME];

    *word = 1;
    if (schedule_node(t, s, 0, e))
        return e->code;
    if (s->n_axis < 1 || s->n_axis > MAX_STEP_AXES)
        return err_at(e, ERR_INPUT, s->line, 0, "reorder of %d axes; expected 1 to %d",
                      s->n_axis, MAX_STEP_AXES);
    for (int k = 0; k < s->n_axis; k++) {
        struct axis a, b;

        *word = 2 + k;
        if (schedule_axis(t, i, &s->axis[k], e))
            return e->code;
        if (!axis_resolve(&t->prog, &s->axis[k], &a))
            a = s->axis[k];
        for (int j = 0; j < k; j++) {
            if (!axis_resolve(&t->prog, &s->axis[j], &b))
                b = s->axis[j];
            if (!axis_equal(&a, &b))
                continue;
            axis_print(&t->prog, &s->axis[k], name, sizeof name);
            return err_at(e, ERR_INPUT, s->line, 0, "axis %s stands twice; expected each once",
                          name);
        }
    }
    return 0;
}

/* Steps of the plan are settings: one line each. */
static int check_once(const struct trial *t, int i, struct err *e)
{
    const struct step *s = &t->step[i];

    for (int k = 0; k < i; k++)
        if (t->step[k].kind == s->kind)
            return err_at(e, ERR_INPUT, s->line, 0, "second %s step; expected at most one",
                          step_info(s->kind)->name);
    return 0;
}

static int check_set(const struct trial *t, int i, struct err *e)
{
    const struct step *s = &t->step[i];

    if (!s->knob || !knob_spelt(s->knob, strlen(s->knob)) || !s->value ||
        !knob_value_spelt(s->value, strlen(s->value)))
        return err_at(e, ERR_INPUT, s->line, 0, "set without NAME.KNOB and a value");
    for (int k = 0; k < i; k++)
        if (t->step[k].kind == STEP_SET && !strcmp(t->step[k].knob, s->knob))
            return err_at(e, ERR_INPUT, s->line, 0, "second set of %s; expected at most one",
                          s->knob);
    return 0;
}

static int check_splitk(const struct trial *t, const struct step *s, int *word, struct err *e)
{
    struct axis ax = { .node = s->node[0], .role = 'r' }, out;

    *word = 1;
    if (schedule_node(t, s, 0, e))
        return e->code;
    if (!schedule_hides(t, &ax) && !axis_resolve(&t->prog, &ax, &out))
        return err_at(e, ERR_INPUT, s->line, 0,
                      "splitk of %s, which reduces nothing; expected a reduction or matmul",
                      t->prog.node[s->node[0]].name);
    *word = 2;
    if (check_count(s, 1, 4096, e))
        return e->code;
    *word = 3;
    if (s->mode >= SPLITK_WORKSPACE && s->mode <= SPLITK_ATOMIC)
        return 0;
    return err_at(e, ERR_INPUT, s->line, 0,
                  "splitk without a mode; expected workspace, serial "
                  "or atomic");
}

static int check_tile(const struct trial *t, const struct step *s, int *word, struct err *e)
{
    static const char *const what[] = { "tile M", "tile N", "tile K" };

    *word = 1;
    if (schedule_node(t, s, 0, e))
        return e->code;
    *word = 2;
    if (s->n_tile < 2 || s->n_tile > 3)
        return err_at(e, ERR_INPUT, s->line, 0, "tile of %d sizes; expected 2 or 3", s->n_tile);
    for (int k = 0; k < s->n_tile; k++)
        if (check_number(s, what[k], s->tile[k], 1, 256, e))
            return e->code;
    *word = 3;
    return check_number(s, "threads", s->threads, 1, 1024, e);
}

/* An operand's letter, of stage and swizzle. */
static int check_operand(const struct trial *t, const struct step *s, int *word, struct err *e)
{
    *word = 1;
    if (schedule_node(t, s, 0, e))
        return e->code;
    if (s->operand >= 'a' && s->operand <= 'z')
        return 0;
    return err_at(e, ERR_INPUT, s->line, 0, "operand number %d; expected a letter, a to z",
                  s->operand);
}

static int check_stage(const struct trial *t, int i, int *word, struct err *e)
{
    const struct step *s = &t->step[i];

    if (check_operand(t, s, word, e))
        return e->code;
    *word = 2;
    if (schedule_axis(t, i, &s->axis[0], e))
        return e->code;
    *word = 4;
    if (check_number(s, "depth", s->depth, 1, 5, e))
        return e->code;
    *word = 5;
    if (s->vec == 0 || s->vec == 2 || s->vec == 4 || s->vec == 8 || s->vec == 16)
        return 0;
    return err_at(e, ERR_INPUT, s->line, 0, "vec of %lld bytes; expected 2, 4, 8 or 16",
                  (long long)s->vec);
}

/* The algorithm of a composite: one line each, none of a part. */
static int check_algo(const struct trial *t, int i, int *word, struct err *e)
{
    const struct step *s = &t->step[i];
    const struct node *n;

    *word = 1;
    if (schedule_node(t, s, 0, e))
        return e->code;
    n = &t->prog.node[s->node[0]];
    if (!op_is_composite(n->op))
        return err_at(e, ERR_INPUT, s->line, 0, "algo of %s; expected a composite",
                      op_info(n->op)->name);
    if (s->part[0])
        return err_at(e, ERR_INPUT, s->line, 0,
                      "algo of part %s.%s; expected a whole composite", n->name, s->part[0]);
    for (int k = 0; k < i; k++)
        if (t->step[k].kind == STEP_ALGO && t->step[k].node[0] == s->node[0])
            return err_at(e, ERR_INPUT, s->line, 0,
                          "second algo step of %s; expected at most one", n->name);
    *word = 2;
    if (!algo_takes(s->algo, n->op))
        return err_at(e, ERR_INPUT, s->line, 0, "%s %s; expected decomposed%s",
                      algo_name(s->algo), op_info(n->op)->name,
                      algo_takes(ALGO_ONLINE, n->op) ? " or online" : "");
    *word = 3;
    if (s->algo != ALGO_DECOMPOSED && check_count(s, 1, 4096, e))
        return e->code;
    *word = 4;
    return s->algo == ALGO_FLASH ? check_number(s, "splits", s->splits, 1, 64, e) : 0;
}

int step_check(const struct trial *t, int i, int *word, struct err *e)
{
    const struct step *s = &t->step[i];

    *word = 0;
    if (i >= MAX_STEPS)
        return err_at(e, ERR_INPUT, s->line, 0, "too many steps; expected at most %d",
                      MAX_STEPS);
    if (i > 0 && pass_rank(t->step[i - 1].kind) > pass_rank(s->kind))
        return err_at(
            e, ERR_INPUT, s->line, 0,
            "%s after %s; expected steps in pass order: algo fuse split reorder splitk "
            "tile unroll vectorize bind stage epilogue swizzle plan set",
            step_info(s->kind)->name, step_info(t->step[i - 1].kind)->name);
    *word = 1;
    switch (s->kind) {
    case STEP_ALGO:
        return check_algo(t, i, word, e);
    case STEP_FUSE:
        return check_fuse(t, s, word, e);
    case STEP_REORDER:
        return check_reorder(t, i, word, e);
    case STEP_SPLITK:
        return check_splitk(t, s, word, e);
    case STEP_TILE:
        return check_tile(t, s, word, e);
    case STEP_STAGE:
        return check_stage(t, i, word, e);
    case STEP_EPILOGUE:
        return schedule_node(t, s, 0, e);
    case STEP_SWIZZLE:
        return check_operand(t, s, word, e);
    case STEP_SPLIT:
    case STEP_UNROLL:
    case STEP_VECTORIZE:
    case STEP_BIND:
        if (schedule_axis(t, i, &s->axis[0], e))
            return e->code;
        *word = 2;
        if (s->kind == STEP_SPLIT)
            return check_count(s, 1, 4096, e);
        return s->kind == STEP_VECTORIZE ? check_count(s, 2, 64, e) : 0;
    case STEP_PLAN:
    case STEP_INPLACE:
        *word = 0;
        return check_once(t, i, e);
    case STEP_SET:
        return check_set(t, i, e);
    case STEP_COUNT:
        break;
    }
    BUG("step kind %d", (int)s->kind);
}

int trial_check(const struct trial *t, struct err *e)
{
    int word, missing;
    int64_t value;

    if (prog_check(&t->prog, e))
        return e->code;
    for (int i = 0; i < t->n_step; i++)
        if (step_check(t, i, &word, e))
            return e->code;
    for (int i = 0; i < t->n_values; i++)
        if (values_check(t, i, &value, e))
            return e->code;
    if ((unsigned)t->recipe >= RECIPE_COUNT)
        return err_set(e, ERR_INPUT, "recipe %d; expected 0 to %d", (int)t->recipe,
                       RECIPE_COUNT - 1);
    if ((missing = values_missing(t)) >= 0)
        return err_at(e, ERR_INPUT, t->prog.node[missing].line, 0,
                      "no values of %s; expected a values line for every input, as the recipe "
                      "is exact",
                      t->prog.node[missing].name);
    return 0;
}
