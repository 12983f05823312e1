#include "ir/trial.h"

#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "base/hash.h"
#include "ir/text.h"

static const struct step_info steps[STEP_COUNT] = {
#define STEP(id, name, form, pass, help) [STEP_##id] = { name, form, pass, help },
#include "ir/steps.def"
#undef STEP
};

static const char *const recipe_names[RECIPE_COUNT] = {
    [RECIPE_NORMAL] = "normal", [RECIPE_UNIFORM] = "uniform", [RECIPE_POSITIVE] = "positive",
    [RECIPE_INTS] = "ints",     [RECIPE_SPECIAL] = "special", [RECIPE_MAGNITUDE] = "magnitude",
    [RECIPE_EXACT] = "exact",
};

static const char *const recipe_helps[RECIPE_COUNT] = {
    [RECIPE_NORMAL] = "about N(0,1); integers -8..8",
    [RECIPE_UNIFORM] = "U(0,1); integers -8..8",
    [RECIPE_POSITIVE] = "U(1,2); integers -8..8",
    [RECIPE_INTS] = "whole numbers -8..8; integers -1000..1000",
    [RECIPE_SPECIAL] = "NaN, infinities, -0, subnormals or huge numbers among N(0,1)",
    [RECIPE_MAGNITUDE] = "N(0,1) round 0, -1000 or 1000, one for each line of the last axis",
    [RECIPE_EXACT] = "not drawn: every input has a values line",
};

static const char *const algo_names[ALGO_COUNT] = {
    [ALGO_DECOMPOSED] = "decomposed",
    [ALGO_ONLINE] = "online",
    [ALGO_SPLIT] = "split",
    [ALGO_FLASH] = "flash",
};

const struct step_info *step_info(enum step_kind kind)
{
    if ((unsigned)kind >= STEP_COUNT)
        BUG("step kind %d", (int)kind);
    return &steps[kind];
}

bool step_parse(const char *s, size_t n, enum step_kind *kind)
{
    for (int i = 0; i < STEP_COUNT; i++) {
        if (strlen(steps[i].name) == n && memcmp(steps[i].name, s, n) == 0) {
            *kind = (enum step_kind)i;
            return true;
        }
    }
    return false;
}

static const char knob_letters[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

static bool all_letters(const char *s, size_t n, size_t most)
{
    for (size_t i = 0; i < n; i++)
        if (!s[i] || !strchr(knob_letters, s[i]))
            return false;
    return n > 0 && n <= most;
}

bool knob_spelt(const char *s, size_t n)
{
    const char *dot = memchr(s, '.', n);

    return dot && n <= MAX_KNOB && all_letters(s, (size_t)(dot - s), n) &&
           all_letters(dot + 1, n - (size_t)(dot + 1 - s), n);
}

bool knob_value_spelt(const char *s, size_t n)
{
    return all_letters(s, n, MAX_KNOB_VALUE);
}

const char *recipe_name(enum recipe r)
{
    if ((unsigned)r >= RECIPE_COUNT)
        BUG("recipe %d", (int)r);
    return recipe_names[r];
}

const char *recipe_help(enum recipe r)
{
    if ((unsigned)r >= RECIPE_COUNT)
        BUG("recipe %d", (int)r);
    return recipe_helps[r];
}

bool recipe_parse(const char *s, size_t n, enum recipe *r)
{
    for (int i = 0; i < RECIPE_COUNT; i++) {
        if (strlen(recipe_names[i]) == n && memcmp(recipe_names[i], s, n) == 0) {
            *r = (enum recipe)i;
            return true;
        }
    }
    return false;
}

const char *algo_name(enum algo a)
{
    if ((unsigned)a >= ALGO_COUNT)
        BUG("algo %d", (int)a);
    return algo_names[a];
}

const char *splitk_mode_name(enum splitk_mode m)
{
    static const char *const name[] = { [SPLITK_NONE] = "none",
                                        [SPLITK_WORKSPACE] = "workspace",
                                        [SPLITK_SERIAL] = "serial",
                                        [SPLITK_ATOMIC] = "atomic" };

    if ((unsigned)m >= ARRAY_LEN(name))
        BUG("split-K mode %d", (int)m);
    return name[m];
}

const char *exchange_name(enum exchange x)
{
    static const char *const name[] = {
        [EXCHANGE_OWN] = "own", [EXCHANGE_ALIAS] = "alias", [EXCHANGE_GLOBAL] = "global"
    };

    if ((unsigned)x >= ARRAY_LEN(name))
        BUG("exchange %d", (int)x);
    return name[x];
}

bool step_is_gpu(const struct step *s)
{
    return s->kind == STEP_TILE || s->kind == STEP_BIND || s->kind == STEP_STAGE ||
           s->kind == STEP_EPILOGUE || s->kind == STEP_SWIZZLE ||
           (s->kind == STEP_SPLITK && s->mode > SPLITK_WORKSPACE);
}

bool algo_takes(enum algo a, enum op op)
{
    switch (a) {
    case ALGO_DECOMPOSED:
        return op_is_composite(op);
    case ALGO_ONLINE:
        return op == OP_SOFTMAX || op == OP_ATTENTION;
    case ALGO_SPLIT:
    case ALGO_FLASH:
        return op == OP_ATTENTION;
    case ALGO_COUNT:
        break;
    }
    return false;
}

static int reduction_axes(const struct node *n)
{
    if (n->op == OP_MATMUL)
        return 1;
    return op_is_reduce(n->op) ? __builtin_popcount(n->axes) : 0;
}

bool axis_resolve(const struct prog *p, const struct axis *ax, struct axis *out)
{
    const struct node *n;
    int rank, batch;

    if (ax->node < 0 || ax->node >= p->n || ax->part)
        return false;
    n = &p->node[ax->node];
    rank = n->sh.rank;
    batch = n->op == OP_MATMUL ? rank - 2 : 0;
    *out = *ax;
    if (ax->role == 'i' || ax->role == 'r')
        return ax->num >= 0 && ax->num < (ax->role == 'i' ? rank : reduction_axes(n));
    if (n->op != OP_MATMUL || (ax->role != 'b' && ax->num != -1))
        return false;
    out->role = ax->role == 'k' ? 'r' : 'i';
    switch (ax->role) {
    case 'b':
        out->num = ax->num < 0 ? 0 : ax->num;
        return out->num < batch;
    case 'm':
        out->num = rank - 2;
        return true;
    case 'n':
        out->num = rank - 1;
        return true;
    case 'k':
        out->num = 0;
        return true;
    default:
        return false;
    }
}

bool part_equal(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

bool axis_equal(const struct axis *a, const struct axis *b)
{
    return a->node == b->node && part_equal(a->part, b->part) && a->role == b->role &&
           a->num == b->num && a->depth == b->depth &&
           memcmp(a->path, b->path, (size_t)a->depth) == 0;
}

int64_t axis_extent(const struct prog *p, const struct axis *ax)
{
    const struct node *n = &p->node[ax->node];
    const struct shape *x;
    int nth = 0;

    if (ax->role == 'i')
        return n->sh.dim[ax->num];
    x = &p->node[n->arg[0].node].sh;
    if (n->op == OP_MATMUL)
        return x->dim[x->rank - 1];
    for (int a = 0; a < x->rank; a++)
        if ((n->axes >> a & 1) && nth++ == ax->num)
            return x->dim[a];
    BUG("%s has no reduction axis %d", n->name, ax->num);
}

void axis_print(const struct prog *p, const struct axis *ax, char *buf, size_t n)
{
    char num[12] = "", path[2 * MAX_SPLITS + 1];

    if (ax->num >= 0)
        snprintf(num, sizeof num, "%d", ax->num);
    for (int d = 0; d < ax->depth; d++) {
        path[2 * d] = '.';
        path[2 * d + 1] = (char)('0' + ax->path[d]);
    }
    path[2 * ax->depth] = '\0';
    snprintf(buf, n, "%s%s%s.%c%s%s", p->node[ax->node].name, ax->part ? "." : "",
             ax->part ? ax->part : "", ax->role, num, path);
}

struct step *trial_add_step(struct trial *t, struct arena *a)
{
    struct step *s = arena_push(a, t->step, t->n_step, t->cap_step);

    memset(s, 0, sizeof *s);
    s->node[0] = s->node[1] = -1;
    return s;
}

void trial_drop_step(struct trial *t, int step)
{
    memmove(&t->step[step], &t->step[step + 1],
            (size_t)(t->n_step - step - 1) * sizeof *t->step);
    t->n_step--;
}

static const char *text_copy(const char *s, struct arena *a)
{
    return s ? arena_strdup(a, s) : NULL;
}

static void step_copy(struct step *to, const struct step *from, struct arena *a)
{
    *to = *from;
    for (int k = 0; k < 2; k++)
        to->part[k] = text_copy(from->part[k], a);
    for (int k = 0; k < to->n_axis; k++)
        to->axis[k].part = text_copy(from->axis[k].part, a);
    to->knob = text_copy(from->knob, a);
    to->value = text_copy(from->value, a);
}

struct trial *trial_clone(const struct trial *t, struct arena *a)
{
    struct trial *c = arena_new(a, struct trial);

    *c = *t;
    prog_clone(&c->prog, &t->prog, a);
    c->cap_step = t->n_step;
    c->step = arena_array(a, struct step, t->n_step);
    for (int i = 0; i < t->n_step; i++)
        step_copy(&c->step[i], &t->step[i], a);
    c->cap_values = t->n_values;
    c->values = arena_array(a, struct values, t->n_values);
    for (int i = 0; i < t->n_values; i++) {
        struct values *v = &c->values[i];

        *v = t->values[i];
        v->v = arena_array(a, double, v->n);
        if (v->n)
            memcpy(v->v, t->values[i].v, (size_t)v->n * sizeof v->v[0]);
    }
    return c;
}

/* Renames the step's nodes by map; false if one of them is gone. */
static bool step_remap(struct step *s, const int *map)
{
    for (int k = 0; k < 2; k++) {
        if (s->node[k] >= 0 && (s->node[k] = map[s->node[k]]) < 0)
            return false;
    }
    for (int k = 0; k < s->n_axis; k++)
        if ((s->axis[k].node = map[s->axis[k].node]) < 0)
            return false;
    return true;
}

void trial_compact(struct trial *t, const bool *keep)
{
    int map[MAX_NODES];
    int n = 0;

    prog_compact(&t->prog, keep, map);
    for (int i = 0; i < t->n_step; i++) {
        struct step s = t->step[i];

        if (step_remap(&s, map))
            t->step[n++] = s;
    }
    t->n_step = n;
    n = 0;
    for (int i = 0; i < t->n_values; i++) {
        struct values v = t->values[i];

        v.node = map[v.node];
        if (v.node >= 0)
            t->values[n++] = v;
    }
    t->n_values = n;
}

uint64_t trial_key(const struct trial *t)
{
    struct str s = { 0 };
    uint64_t key;

    trial_print(t, &s);
    key = hash64(str_get(&s), s.n, 0);
    str_release(&s);
    return key;
}
