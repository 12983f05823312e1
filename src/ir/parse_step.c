/*
 * Schedule lines of .trial text. The form column of steps.def says what follows the name.
 */
#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "ir/parse.h"

static const char *const policies[] = {
    [PLAN_OFF] = "off", [PLAN_LINEAR] = "linear", [PLAN_BEST] = "best"
};

static int bad_axis(struct parse *p)
{
    return lex_fail(
        &p->lx, lex_col(&p->lx),
        "bad axis %s; expected NODE.i0, NODE.r0 or a matmul's NODE.m .n .k .b0, and "
        ".0 or .1 per split, or one of NODE.part",
        lex_quote(&p->lx).s);
}

/* If a part follows the point at s, takes it and gives the place behind it, else s. */
static const char *take_part(struct parse *p, const char *s, const char *end, const char **part)
{
    const char *stop = memchr(s + 1, '.', (size_t)(end - s - 1));

    stop = stop ? stop : end;
    if (part_fault(s + 1, (size_t)(stop - s - 1)))
        return s;
    *part = arena_strndup(p->a, s + 1, (size_t)(stop - s - 1));
    return stop;
}

int parse_node_part(struct parse *p, int *node, const char **part)
{
    struct lex *lx = &p->lx;
    const struct token t = lx->tok;
    const char *dot = t.kind == TOK_WORD ? memchr(t.s, '.', t.n) : NULL;

    if (dot && take_part(p, dot, t.s + t.n, part) != t.s + t.n)
        return lex_fail(lx, lex_col(lx), "bad part %s; expected %s, like z.sc0",
                        lex_quote(lx).s, part_fault(dot + 1, (size_t)(t.s + t.n - dot - 1)));
    if (dot)
        lx->tok.n = (size_t)(dot - t.s);
    return parse_node_ref(p, "a node", node);
}

/* NODE[.part].role[num]{.0|.1}, one word for the lexer. */
static int parse_axis(struct parse *p, struct axis *ax)
{
    struct lex *lx = &p->lx;
    const struct token t = lx->tok;
    const char *dot, *s, *end = t.s + t.n;

    *ax = (struct axis){ .node = -1, .num = -1 };
    dot = t.kind == TOK_WORD ? memchr(t.s, '.', t.n) : NULL;
    s = dot ? take_part(p, dot, end, &ax->part) : end;
    if (end - s < 2 || !strchr("irbmnk", s[1]))
        return bad_axis(p);
    s++;
    ax->role = *s++;
    if (s < end && *s != '.') {
        ax->num = 0;
        for (; s < end && *s >= '0' && *s <= '9' && ax->num < 100; s++)
            ax->num = 10 * ax->num + (*s - '0');
    }
    while (s < end) {
        if (end - s < 2 || s[0] != '.' || (s[1] != '0' && s[1] != '1') ||
            ax->depth == MAX_SPLITS)
            return bad_axis(p);
        ax->path[ax->depth++] = (unsigned char)(s[1] - '0');
        s += 2;
    }
    if (strchr("mnk", ax->role) && ax->num >= 0)
        return bad_axis(p);
    if (strchr("ir", ax->role) && ax->num < 0)
        return bad_axis(p);
    lx->tok.n = (size_t)(dot - t.s);
    return parse_node_ref(p, "a node", &ax->node);
}

/* One or more axes, up to the end of the line. */
static int parse_axes(struct parse *p, struct step *s, struct words *w)
{
    if (parse_axis(p, &s->axis[s->n_axis++]))
        return p->lx.e->code;
    while (p->lx.tok.kind != TOK_END) {
        if (s->n_axis == MAX_STEP_AXES)
            return lex_fail(&p->lx, lex_col(&p->lx), "too many axes; expected at most %d",
                            MAX_STEP_AXES);
        words_mark(p, w);
        if (parse_axis(p, &s->axis[s->n_axis++]))
            return p->lx.e->code;
    }
    return 0;
}

static int parse_policy(struct parse *p, struct step *s)
{
    int at;

    if (parse_choice(p, policies, ARRAY_LEN(policies), &at))
        return p->lx.e->code;
    s->policy = (enum plan_policy)at;
    return 0;
}

static int parse_exchange(struct parse *p, struct step *s)
{
    const char *word[EXCHANGE_COUNT];
    int at;

    for (int x = 0; x < EXCHANGE_COUNT; x++)
        word[x] = exchange_name((enum exchange)x);
    if (parse_choice(p, word, EXCHANGE_COUNT, &at))
        return p->lx.e->code;
    s->exchange = (enum exchange)at;
    return 0;
}

/* The second of two words is true. */
static int parse_either(struct parse *p, const char *no, const char *yes, bool *on)
{
    const char *const word[] = { no, yes };
    int at;

    if (parse_choice(p, word, 2, &at))
        return p->lx.e->code;
    *on = at == 1;
    return 0;
}

/* One letter or word of the form. */
static int parse_word(struct parse *p, struct step *s, const char *form, int *n_node,
                      struct words *w)
{
    int at;

    words_mark(p, w);
    if (strcmp(form, "P") == 0 || strcmp(form, "C") == 0 || strcmp(form, "N") == 0) {
        at = (*n_node)++;
        return parse_node_part(p, &s->node[at], &s->part[at]);
    }
    if (strcmp(form, "#") == 0)
        return lex_int(&p->lx, "an integer count", &s->n);
    if (strcmp(form, "A") == 0)
        return parse_axis(p, &s->axis[s->n_axis++]);
    if (strcmp(form, "A+") == 0)
        return parse_axes(p, s, w);
    if (strcmp(form, "ALGO") == 0)
        return parse_algo(p, s, w);
    if (strcmp(form, "[MODE]") == 0)
        return parse_mode(p, s);
    if (strcmp(form, "TILE") == 0)
        return parse_tile(p, s, w);
    if (strcmp(form, "TO") == 0)
        return parse_either(p, "block", "thread", &s->to_thread);
    if (strcmp(form, "N.X") == 0)
        return parse_operand(p, s);
    if (strcmp(form, "STAGE") == 0)
        return parse_stage(p, s, w);
    if (strcmp(form, "OVER") == 0)
        return parse_exchange(p, s);
    if (strcmp(form, "POLICY") == 0)
        return parse_policy(p, s);
    if (strcmp(form, "KNOB") == 0)
        return parse_knob(p, s, w);
    if (strcmp(form, "ONOFF") == 0)
        return parse_either(p, "off", "on", &s->on);
    BUG("form %s of a step", form);
}

static int unknown_step(struct parse *p)
{
    struct lex *lx = &p->lx;
    char list[160] = "", hint[60] = "";
    int at = 0, best = 99;

    for (int k = 0; k < STEP_COUNT; k++) {
        const char *name = step_info((enum step_kind)k)->name;
        int d = name_distance(lx->tok.s, lx->tok.n, name);

        at += snprintf(list + at, sizeof list - (size_t)at, "%s%s", at ? " " : "", name);
        if (d < best) {
            best = d;
            snprintf(hint, sizeof hint, " (did you mean %s?)", name);
        }
    }
    return lex_fail(lx, lex_col(lx), "unknown step %s; expected one of %s, or data or values%s",
                    lex_quote(lx).s, list, hint);
}

int parse_step(struct parse *p)
{
    struct lex *lx = &p->lx;
    struct words w = { .col = { lex_col(lx) }, .n = 1 };
    int n_node = 0, word = 0;
    char form[24];
    enum step_kind kind;
    struct step *s;

    if (lx->tok.kind != TOK_WORD || !step_parse(lx->tok.s, lx->tok.n, &kind))
        return unknown_step(p);
    s = trial_add_step(p->t, p->a);
    s->kind = kind;
    s->line = lx->number;
    lex_next(lx);
    for (const char *f = step_info(kind)->form; *f;) {
        size_t n = strcspn(f, " ");

        snprintf(form, sizeof form, "%.*s", (int)n, f);
        if (parse_word(p, s, form, &n_node, &w))
            return lx->e->code;
        f += n + (f[n] == ' ');
    }
    if (lex_need_end(lx))
        return lx->e->code;
    if (step_check(p->t, p->t->n_step - 1, &word, lx->e))
        return lex_place(lx, w.col[word]);
    return 0;
}
