/*
 * Words of schedule lines that are more than a name, an axis or a number: algorithms, tile
 * sizes, operands, stages.
 */

#include "base/bug.h"
#include "ir/parse.h"

void words_mark(const struct parse *p, struct words *w)
{
    if (w->n == MOST_WORDS)
        BUG("a step of more than %d words", MOST_WORDS);
    w->col[w->n++] = lex_col(&p->lx);
}

/* KEY=N, where the current token is KEY. */
static int parse_count(struct parse *p, struct words *w, int64_t *n)
{
    lex_next(&p->lx);
    if (lex_need(&p->lx, '=', "after the key"))
        return p->lx.e->code;
    words_mark(p, w);
    return lex_int(&p->lx, "an integer count", n);
}

/* The same, and it must be there. */
static int need_count(struct parse *p, struct words *w, const char *key, int64_t *n)
{
    if (lex_is(&p->lx, key))
        return parse_count(p, w, n);
    return lex_fail(&p->lx, lex_col(&p->lx), "unexpected %s; expected %s=N",
                    lex_quote(&p->lx).s, key);
}

int parse_algo(struct parse *p, struct step *s, struct words *w)
{
    const char *word[ALGO_COUNT];
    int at;

    for (int a = 0; a < ALGO_COUNT; a++)
        word[a] = algo_name((enum algo)a);
    if (parse_choice(p, word, ALGO_COUNT, &at))
        return p->lx.e->code;
    s->algo = (enum algo)at;
    if (s->algo == ALGO_DECOMPOSED)
        return 0;
    if (need_count(p, w, "block", &s->n))
        return p->lx.e->code;
    if (s->algo != ALGO_FLASH)
        return 0;
    s->splits = 1;
    return lex_is(&p->lx, "splits") ? parse_count(p, w, &s->splits) : 0;
}

int parse_mode(struct parse *p, struct step *s)
{
    const char *word[SPLITK_ATOMIC];
    int at;

    s->mode = SPLITK_WORKSPACE;
    if (p->lx.tok.kind == TOK_END)
        return 0;
    for (int m = SPLITK_WORKSPACE; m <= SPLITK_ATOMIC; m++)
        word[m - 1] = splitk_mode_name((enum splitk_mode)m);
    if (parse_choice(p, word, SPLITK_ATOMIC, &at))
        return p->lx.e->code;
    s->mode = (enum splitk_mode)(at + 1);
    return 0;
}

static int bad_tile(struct parse *p)
{
    return lex_fail(&p->lx, lex_col(&p->lx),
                    "bad tile %s; expected MxN or MxNxK, integers like 16x16x8",
                    lex_quote(&p->lx).s);
}

/* 16x16 or 16x16x8, one token for the lexer */
static int parse_sizes(struct parse *p, struct step *s)
{
    const struct token t = p->lx.tok;
    const char *at = t.s, *end = t.s + t.n;

    if (t.kind != TOK_NUMBER)
        return bad_tile(p);
    for (s->n_tile = 0; s->n_tile < 3; s->n_tile++) {
        int64_t *size = &s->tile[s->n_tile];
        const char *from = s->n_tile ? at + 1 : at;

        if (s->n_tile && (at == end || *at != 'x'))
            break;
        *size = 0;
        for (at = from; at < end && *at >= '0' && *at <= '9' && at < from + 9; at++)
            *size = 10 * *size + (*at - '0');
        if (at == from)
            return bad_tile(p);
    }
    if (at != end || s->n_tile < 2)
        return bad_tile(p);
    lex_next(&p->lx);
    return 0;
}

int parse_tile(struct parse *p, struct step *s, struct words *w)
{
    if (parse_sizes(p, s) || need_count(p, w, "threads", &s->threads))
        return p->lx.e->code;
    s->mma = lex_is(&p->lx, "mma");
    if (s->mma)
        lex_next(&p->lx);
    return 0;
}

/* NODE.x or NODE.part.x, one word for the lexer */
int parse_operand(struct parse *p, struct step *s)
{
    struct lex *lx = &p->lx;
    const struct token t = lx->tok;

    if (t.kind != TOK_WORD || t.n < 3 || t.s[t.n - 2] != '.' || t.s[t.n - 1] < 'a' ||
        t.s[t.n - 1] > 'z')
        return lex_fail(lx, lex_col(lx),
                        "bad operand %s; expected NODE.a for the first, NODE.b for the second "
                        "and so on, or one of NODE.part",
                        lex_quote(lx).s);
    s->operand = t.s[t.n - 1];
    lx->tok.n -= 2;
    return parse_node_part(p, &s->node[0], &s->part[0]);
}

int parse_stage(struct parse *p, struct step *s, struct words *w)
{
    struct lex *lx = &p->lx;
    int64_t *const to[] = { &s->depth, &s->vec };
    static const char *const key[] = { "depth", "vec" };
    bool seen[2] = { false };

    s->depth = 1;
    w->col[w->n] = w->col[w->n + 1] = w->col[w->n - 1]; /* of depth and vec, see schedule.c */
    while (lx->tok.kind != TOK_END) {
        int k = lex_is(lx, key[0]) ? 0 : lex_is(lx, key[1]) ? 1 : -1;
        struct words at = { .n = 0 };

        if (k < 0 && !s->async && lex_is(lx, "async")) {
            s->async = true;
            lex_next(lx);
            continue;
        }
        if (k < 0 || seen[k])
            return lex_fail(
                lx, lex_col(lx),
                "unexpected %s; expected depth=N, async or vec=N, each at most once",
                lex_quote(lx).s);
        seen[k] = true;
        if (parse_count(p, &at, to[k]))
            return lx->e->code;
        w->col[w->n + k] = at.col[0];
    }
    w->n += 2;
    return 0;
}

/* NAME.KNOB VALUE; which of them there are only the adapter NAME knows */
int parse_knob(struct parse *p, struct step *s, struct words *w)
{
    struct lex *lx = &p->lx;
    const struct token t = lx->tok;

    if (t.kind != TOK_WORD || !knob_spelt(t.s, t.n))
        return lex_fail(lx, lex_col(lx),
                        "bad knob %s; expected NAME.KNOB, at most %d letters, digits and _, "
                        "like tinygrad.NOOPT",
                        lex_quote(lx).s, MAX_KNOB);
    s->knob = arena_strndup(p->a, t.s, t.n);
    lex_next(lx);
    words_mark(p, w);
    if ((lx->tok.kind != TOK_WORD && lx->tok.kind != TOK_NUMBER) ||
        !knob_value_spelt(lx->tok.s, lx->tok.n))
        return lex_fail(lx, lex_col(lx),
                        "bad value %s; expected at most %d letters, digits and _, like 1",
                        lex_quote(lx).s, MAX_KNOB_VALUE);
    s->value = arena_strndup(p->a, lx->tok.s, lx->tok.n);
    lex_next(lx);
    return 0;
}
