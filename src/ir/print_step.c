/*
 * Steps to text: parsing gives the same step back. What is as it would be without a word
 * (depth 1, one slice of keys, slices through a workspace) has no word.
 */
#include "base/bug.h"
#include "ir/text.h"

static void put_axis(struct str *s, const struct prog *p, const struct axis *ax)
{
    char buf[3 * MAX_NAME];

    axis_print(p, ax, buf, sizeof buf);
    str_puts(s, " ");
    str_puts(s, buf);
}

/* Node k of a step, or the part of it. */
static void put_node(struct str *s, const struct prog *p, const struct step *st, int k)
{
    str_puts(s, " ");
    str_puts(s, p->node[st->node[k]].name);
    if (st->part[k]) {
        str_puts(s, ".");
        str_puts(s, st->part[k]);
    }
}

/* "m.a": operand a of node m */
static void put_operand(struct str *s, const struct prog *p, const struct step *st)
{
    put_node(s, p, st, 0);
    str_add(s, ".%c", st->operand);
}

static void put_algo(struct str *s, const struct step *st)
{
    str_add(s, " %s", algo_name(st->algo));
    if (st->algo != ALGO_DECOMPOSED)
        str_add(s, " block=%lld", (long long)st->n);
    if (st->algo == ALGO_FLASH && st->splits > 1)
        str_add(s, " splits=%lld", (long long)st->splits);
}

static void put_splitk(struct str *s, const struct step *st)
{
    str_add(s, " %lld", (long long)st->n);
    if (st->mode != SPLITK_WORKSPACE)
        str_add(s, " %s", splitk_mode_name(st->mode));
}

static void put_tile(struct str *s, const struct step *st)
{
    for (int k = 0; k < st->n_tile; k++)
        str_add(s, "%s%lld", k ? "x" : " ", (long long)st->tile[k]);
    str_add(s, " threads=%lld%s", (long long)st->threads, st->mma ? " mma" : "");
}

static void put_stage(struct str *s, const struct step *st)
{
    if (st->depth > 1)
        str_add(s, " depth=%lld", (long long)st->depth);
    if (st->async)
        str_puts(s, " async");
    if (st->vec)
        str_add(s, " vec=%lld", (long long)st->vec);
}

void step_print(const struct prog *p, const struct step *st, struct str *s)
{
    static const char *const policies[] = {
        [PLAN_OFF] = "off", [PLAN_LINEAR] = "linear", [PLAN_BEST] = "best"
    };

    str_puts(s, step_info(st->kind)->name);
    switch (st->kind) {
    case STEP_ALGO:
        put_node(s, p, st, 0);
        put_algo(s, st);
        return;
    case STEP_FUSE:
        put_node(s, p, st, 0);
        put_node(s, p, st, 1);
        return;
    case STEP_SPLIT:
    case STEP_UNROLL:
    case STEP_VECTORIZE:
        put_axis(s, p, &st->axis[0]);
        if (st->kind != STEP_UNROLL)
            str_add(s, " %lld", (long long)st->n);
        return;
    case STEP_REORDER:
        put_node(s, p, st, 0);
        for (int k = 0; k < st->n_axis; k++)
            put_axis(s, p, &st->axis[k]);
        return;
    case STEP_SPLITK:
        put_node(s, p, st, 0);
        put_splitk(s, st);
        return;
    case STEP_TILE:
        put_node(s, p, st, 0);
        put_tile(s, st);
        return;
    case STEP_BIND:
        put_axis(s, p, &st->axis[0]);
        str_puts(s, st->to_thread ? " thread" : " block");
        return;
    case STEP_STAGE:
        put_operand(s, p, st);
        put_axis(s, p, &st->axis[0]);
        put_stage(s, st);
        return;
    case STEP_EPILOGUE:
        put_node(s, p, st, 0);
        str_add(s, " %s", exchange_name(st->exchange));
        return;
    case STEP_SWIZZLE:
        put_operand(s, p, st);
        return;
    case STEP_PLAN:
        str_add(s, " %s", policies[st->policy]);
        return;
    case STEP_INPLACE:
        str_puts(s, st->on ? " on" : " off");
        return;
    case STEP_SET:
        str_add(s, " %s %s", st->knob, st->value);
        return;
    case STEP_COUNT:
        break;
    }
    BUG("step kind %d", (int)st->kind);
}
