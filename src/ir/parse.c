/*
 * .trial text to struct trial: the header line, the sections and the lines of the last one,
 * data and values. Every line is checked when it is read, so that messages point at it.
 */
#include <stdio.h>
#include <string.h>

#include "ir/parse.h"
#include "ir/text.h"

enum section { SECTION_PROGRAM, SECTION_SCHEDULE, SECTION_DATA };

void parse_suggest_node(const struct parse *p, const char *s, size_t n, char *buf, size_t size)
{
    int best = 99;

    buf[0] = '\0';
    for (int i = 0; i < p->t->prog.n; i++) {
        int d = name_distance(s, n, p->t->prog.node[i].name);

        if (d < best) {
            best = d;
            snprintf(buf, size, " (did you mean %s?)", p->t->prog.node[i].name);
        }
    }
}

/* The line below the current one that defines the name, 0 = none. For messages only. */
static int defined_later(const struct parse *p, const struct token *name)
{
    struct err ignored;
    struct lex lx = p->lx;

    lx.e = &ignored;
    while (lex_line(&lx)) {
        bool found;

        if (lex_is(&lx, "input") || lex_is(&lx, "const"))
            lex_next(&lx);
        found = lx.tok.n == name->n && memcmp(lx.tok.s, name->s, name->n) == 0;
        if (found)
            return lx.number;
        if (lex_is(&lx, "schedule") || lex_is(&lx, "data"))
            break;
    }
    return 0;
}

int parse_node_ref(struct parse *p, const char *what, int *node)
{
    struct lex *lx = &p->lx;
    char hint[80];
    int line;

    *node = lx->tok.kind == TOK_WORD ? names_find(&p->names, lx->tok.s, lx->tok.n) : -1;
    if (*node >= 0) {
        lex_next(lx);
        return 0;
    }
    if (lx->tok.kind != TOK_WORD)
        return lex_fail(lx, lex_col(lx), "unexpected %s; expected %s", lex_quote(lx).s, what);
    line = defined_later(p, &lx->tok);
    if (line)
        return lex_fail(lx, lex_col(lx),
                        "%s stands further down, on line %d; expected the name of an earlier "
                        "node",
                        lex_quote(lx).s, line);
    parse_suggest_node(p, lx->tok.s, lx->tok.n, hint, sizeof hint);
    return lex_fail(lx, lex_col(lx), "unknown name %s; expected an earlier node%s",
                    lex_quote(lx).s, hint);
}

static int unknown_recipe(struct parse *p)
{
    char list[120] = "";
    int at = 0;

    for (int r = 0; r < RECIPE_COUNT; r++)
        at += snprintf(list + at, sizeof list - (size_t)at, "%s%s", r ? ", " : "",
                       recipe_name((enum recipe)r));
    return lex_fail(&p->lx, lex_col(&p->lx), "unknown recipe %s; expected one of %s",
                    lex_quote(&p->lx).s, list);
}

/* data seed=N recipe=R, each at most once */
static int parse_data(struct parse *p)
{
    struct lex *lx = &p->lx;
    bool seed = false, recipe = false;

    lex_next(lx);
    while (lx->tok.kind != TOK_END) {
        bool is_seed = lex_is(lx, "seed");
        bool *seen = is_seed ? &seed : &recipe;

        if ((!is_seed && !lex_is(lx, "recipe")) || *seen)
            return lex_fail(lx, lex_col(lx),
                            "unexpected %s; expected seed= and recipe=, each at most once",
                            lex_quote(lx).s);
        *seen = true;
        lex_next(lx);
        if (lex_need(lx, '=', "after the key"))
            return lx->e->code;
        if (is_seed) {
            if (lex_u64(lx, "an unsigned integer", &p->t->seed))
                return lx->e->code;
        } else if (recipe_parse(lx->tok.s, lx->tok.n, &p->t->recipe)) {
            p->recipe = *lx;
            lex_next(lx);
        } else {
            return unknown_recipe(p);
        }
    }
    return 0;
}

/* The column of value k of a line just parsed: for messages, so the line is read again. */
static int values_col(const struct parse *p, int64_t k)
{
    struct lex lx = p->lx;

    lx.p = lx.line;
    lex_next(&lx);
    while (lx.tok.kind != TOK_END && !(lx.tok.kind == TOK_PUNCT && lx.tok.s[0] == '['))
        lex_next(&lx);
    for (lex_next(&lx); k > 0 && lx.tok.kind != TOK_END; k--) {
        lex_next(&lx);
        if (lx.tok.kind == TOK_PUNCT && lx.tok.s[0] == ',')
            lex_next(&lx);
    }
    return lex_col(&lx);
}

/* values NAME [v,..] */
static int parse_values(struct parse *p)
{
    struct lex *lx = &p->lx;
    struct values *v = arena_push(p->a, p->t->values, p->t->n_values, p->t->cap_values);
    int cap = 0, n = 0, name_col;
    int64_t word;

    *v = (struct values){ .line = lx->number };
    lex_next(lx);
    name_col = lex_col(lx);
    if (parse_node_ref(p, "the name of an input", &v->node) ||
        lex_need(lx, '[', "and the values"))
        return lx->e->code;
    if (!lex_take(lx, ']')) {
        do {
            double x;

            if (lex_number(lx, "a number", &x))
                return lx->e->code;
            literal_fault(p->t->prog.node[v->node].dt, &x);
            *arena_push(p->a, v->v, n, cap) = x;
        } while (lex_take(lx, ','));
        if (lex_need(lx, ']', "or ','"))
            return lx->e->code;
    }
    v->n = n;
    if (lex_need_end(lx))
        return lx->e->code;
    if (values_check(p->t, p->t->n_values - 1, &word, lx->e))
        return lex_place(lx, word == 1 ? name_col : values_col(p, word - 2));
    return 0;
}

static int parse_header(struct parse *p)
{
    struct lex *lx = &p->lx;

    if (!lex_line(lx))
        return lex_fail(lx, 1, "empty text; expected 'tilefuzz 1' on the first line");
    if (!lex_is(lx, "tilefuzz"))
        return lex_fail(lx, lex_col(lx),
                        "unexpected %s; expected 'tilefuzz 1' on the first line",
                        lex_quote(lx).s);
    lex_next(lx);
    if (!lex_is(lx, "1"))
        return lex_fail(lx, lex_col(lx), "unknown version %s; expected 'tilefuzz 1'",
                        lex_quote(lx).s);
    lex_next(lx);
    return lex_need_end(lx);
}

/* A program line; a step here was meant for the schedule. */
static int parse_program_line(struct parse *p)
{
    struct lex *lx = &p->lx;
    struct lex ahead = *lx;
    enum step_kind kind;

    if (lex_is(lx, "input"))
        return parse_input(p);
    if (lex_is(lx, "const"))
        return parse_const(p);
    if (lex_is(lx, "output"))
        return parse_output(p);
    lex_next(&ahead);
    if (step_parse(lx->tok.s, lx->tok.n, &kind) && !lex_is(&ahead, "="))
        return lex_fail(lx, lex_col(lx),
                        "step %s in the program; expected a line 'schedule' "
                        "before it",
                        lex_quote(lx).s);
    return parse_named(p);
}

static int parse_line(struct parse *p, enum section *in, bool *data_seen)
{
    struct lex *lx = &p->lx;

    memset(p->col, 0, sizeof p->col);
    if (lex_is(lx, "schedule")) {
        if (*in != SECTION_PROGRAM)
            return lex_fail(lx, lex_col(lx),
                            "second schedule; expected one, before data and "
                            "values");
        *in = SECTION_SCHEDULE;
        lex_next(lx);
        return lex_need_end(lx);
    }
    if (lex_is(lx, "values")) {
        *in = SECTION_DATA;
        return parse_values(p);
    }
    if (lex_is(lx, "data")) {
        if (*data_seen)
            return lex_fail(lx, lex_col(lx), "second data line; expected at most one");
        *data_seen = true;
        *in = SECTION_DATA;
        return parse_data(p);
    }
    if (*in == SECTION_PROGRAM)
        return parse_program_line(p);
    if (lex_is(lx, "input") || lex_is(lx, "const") || lex_is(lx, "output"))
        return lex_fail(lx, lex_col(lx),
                        "%s after the program; expected it before 'schedule' "
                        "and 'data'",
                        lex_quote(lx).s);
    if (*in == SECTION_SCHEDULE)
        return parse_step(p);
    return lex_fail(lx, lex_col(lx),
                    "unexpected %s after the data; expected 'values', or the end",
                    lex_quote(lx).s);
}

int trial_parse(const char *text, size_t bytes, struct arena *a, struct trial **out,
                struct err *e)
{
    struct parse p;
    enum section in = SECTION_PROGRAM;
    bool data_seen = false;
    int missing;

    *out = NULL;
    if (bytes > TRIAL_TEXT_MAX)
        return err_at(e, ERR_INPUT, 1, 1,
                      "the text is too large; expected a trial of at most %d bytes",
                      TRIAL_TEXT_MAX);
    p.a = a;
    p.t = arena_new(a, struct trial);
    p.work = 0;
    p.n_is_out = 0;
    lex_init(&p.lx, text, bytes, e);
    names_init(&p.names, &p.t->prog);
    if (parse_header(&p))
        return e->code;
    while (lex_line(&p.lx))
        if (parse_line(&p, &in, &data_seen))
            return e->code;
    if (p.t->prog.n_out == 0)
        return lex_fail(&p.lx, 1, "no output; expected at least one 'output NAME' line");
    missing = values_missing(p.t);
    if (missing >= 0)
        return lex_fail(
            &p.recipe, lex_col(&p.recipe),
            "no values of %s; expected a values line for every input, as the recipe "
            "is exact",
            p.t->prog.node[missing].name);
    *out = p.t;
    return 0;
}
