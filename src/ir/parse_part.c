/*
 * The parts that program lines are made of: bracketed lists, dtypes, key=value words.
 */
#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "ir/parse.h"

/* clang-format off */
static const struct {
    const char *name;
    enum part part;
} keys[] = {
    { "axis", PART_AXIS },
    { "axes", PART_AXES },
    { "keep", PART_KEEP },
    { "value", PART_VALUE },
    { "acc", PART_ACC },
    { "eps", PART_EPS },
    { "scale", PART_SCALE },
    { "mask", PART_MASK },
    { "empty", PART_EMPTY },
    { "strides", PART_STRIDES },
    { "offset", PART_OFFSET },
    { "shift", PART_SHIFT },
    { "times", PART_TIMES },
    { "alpha", PART_ALPHA },
    { "beta", PART_BETA },
};
/* clang-format on */

void parse_mark(struct parse *p, int part)
{
    p->col[part] = lex_col(&p->lx);
}

/* Fails with what a check of ir said, at the column of the part it named. */
int parse_place(struct parse *p, enum part part)
{
    return lex_place(&p->lx, p->col[part] ? p->col[part] : p->col[PART_OP]);
}

int parse_ints(struct parse *p, const char *form, int part, int64_t v[MAX_RANK], int *n)
{
    struct lex *lx = &p->lx;

    parse_mark(p, part);
    *n = 0;
    if (lex_need(lx, '[', form))
        return lx->e->code;
    if (lex_take(lx, ']'))
        return 0;
    do {
        if (*n == MAX_RANK)
            return lex_fail(lx, lex_col(lx), "too many entries; expected a rank of at most %d",
                            MAX_RANK);
        if (part != PART_STRIDES)
            parse_mark(p, PART_ITEM + *n);
        if (lex_int(lx, "an integer", &v[*n]))
            return lx->e->code;
        ++*n;
    } while (lex_take(lx, ','));
    return lex_need(lx, ']', "or ','");
}

int parse_shape(struct parse *p, struct shape *s)
{
    return parse_ints(p, "of a shape like [2,3]", PART_LIST, s->dim, &s->rank);
}

int parse_dtype(struct parse *p, enum dtype *dt)
{
    struct lex *lx = &p->lx;

    parse_mark(p, PART_DTYPE);
    if (lx->tok.kind != TOK_WORD || !dtype_parse(lx->tok.s, lx->tok.n, dt))
        return lex_fail(lx, lex_col(lx), "unknown dtype %s; expected one of %s",
                        lex_quote(lx).s, dtypes_list().s);
    lex_next(lx);
    return 0;
}

/* axes=[..] as bits; the place of each moves to PART_ITEM + axis, where the checks of a
 * reduction look for it. */
static int parse_axes(struct parse *p, uint32_t *axes)
{
    int64_t v[MAX_RANK];
    int n, col[MAX_RANK];

    if (parse_ints(p, "of axes like [0,2]", PART_AXES, v, &n))
        return p->lx.e->code;
    memcpy(col, &p->col[PART_ITEM], sizeof col);
    for (int i = 0; i < n; i++) {
        if (v[i] < 0 || v[i] >= MAX_RANK)
            return lex_fail(&p->lx, col[i], "axis %lld; expected 0 to rank - 1",
                            (long long)v[i]);
        if (*axes >> v[i] & 1)
            return lex_fail(&p->lx, col[i], "axis %lld is there twice; expected each once",
                            (long long)v[i]);
        *axes |= 1u << v[i];
        p->col[PART_ITEM + v[i]] = col[i];
    }
    return 0;
}

int parse_choice(struct parse *p, const char *const *word, int n, int *at)
{
    char list[60] = "";
    int len = 0;

    for (*at = 0; *at < n; ++*at) {
        if (lex_is(&p->lx, word[*at])) {
            lex_next(&p->lx);
            return 0;
        }
        len +=
            snprintf(list + len, sizeof list - (size_t)len, "%s%s", len ? ", " : "", word[*at]);
    }
    return lex_fail(&p->lx, lex_col(&p->lx), "unexpected %s; expected one of %s",
                    lex_quote(&p->lx).s, list);
}

static int parse_mask(struct parse *p, struct keyed *kv)
{
    const char *word[MASK_COUNT];
    int at;

    for (int m = 0; m < MASK_COUNT; m++)
        word[m] = mask_name((enum mask_kind)m);
    if (parse_choice(p, word, MASK_COUNT, &at))
        return p->lx.e->code;
    kv->mask = (enum mask_kind)at;
    return 0;
}

static int parse_empty(struct parse *p, struct keyed *kv)
{
    const char *const word[] = { empty_name(EMPTY_NAN), empty_name(EMPTY_ZERO) };
    int at;

    if (parse_choice(p, word, EMPTY_COUNT, &at))
        return p->lx.e->code;
    kv->empty = (enum empty_row)at;
    return 0;
}

static int parse_key(struct parse *p, enum part part, struct keyed *kv)
{
    switch (part) {
    case PART_AXIS:
        return lex_int(&p->lx, "an axis number", &kv->axis);
    case PART_AXES:
        return parse_axes(p, &kv->axes);
    case PART_KEEP:
        if (lex_int(&p->lx, "0 or 1", &kv->keep))
            return p->lx.e->code;
        if (kv->keep != 0 && kv->keep != 1)
            return lex_fail(&p->lx, p->col[PART_KEEP], "keep=%lld; expected 0 or 1",
                            (long long)kv->keep);
        return 0;
    case PART_VALUE:
        return lex_number(&p->lx, "a number", &kv->value);
    case PART_ACC:
        return parse_dtype(p, &kv->acc);
    case PART_EPS:
        return lex_number(&p->lx, "a number", &kv->eps);
    case PART_SCALE:
        return lex_number(&p->lx, "a number", &kv->scale);
    case PART_MASK:
        return parse_mask(p, kv);
    case PART_EMPTY:
        return parse_empty(p, kv);
    case PART_STRIDES:
        return parse_ints(p, "of strides like [3,1]", PART_STRIDES, kv->stride, &kv->n_stride);
    case PART_OFFSET:
        return lex_int(&p->lx, "an integer", &kv->offset);
    case PART_SHIFT:
        return parse_ints(p, "of shifts like [1,0]", PART_SHIFT, kv->list, &kv->n_list);
    case PART_TIMES:
        return parse_ints(p, "of times like [2,1]", PART_TIMES, kv->list, &kv->n_list);
    case PART_ALPHA:
        return lex_number(&p->lx, "a number", &kv->alpha);
    case PART_BETA:
        return lex_number(&p->lx, "a number", &kv->beta);
    case PART_OP:
    case PART_ARG:
    case PART_DTYPE:
    case PART_LIST:
    case PART_ITEM:
    case PART_COUNT:
        break;
    }
    BUG("part %d has no key", (int)part);
}

/* What may stand here, for the message about what does. */
static const char *allowed_keys(unsigned allowed, char *buf, size_t n)
{
    size_t at = 0;

    snprintf(buf, n, "the end of the line");
    for (size_t i = 0; i < ARRAY_LEN(keys) && at < n; i++)
        if (allowed & PART_BIT(keys[i].part))
            at += (size_t)snprintf(buf + at, n - at, "%s%s=", at ? " or " : "", keys[i].name);
    return buf;
}

/* The key=value words at the end of a line, to the end. */
int parse_keys(struct parse *p, unsigned allowed, unsigned needed, struct keyed *kv)
{
    struct lex *lx = &p->lx;
    char want[60];

    *kv = (struct keyed){ 0 };
    while (lx->tok.kind != TOK_END) {
        size_t i = 0;

        while (i < ARRAY_LEN(keys) &&
               !(allowed & PART_BIT(keys[i].part) && lex_is(lx, keys[i].name)))
            i++;
        if (i == ARRAY_LEN(keys))
            return lex_fail(lx, lex_col(lx), "unexpected %s; expected %s", lex_quote(lx).s,
                            allowed_keys(allowed & ~kv->seen, want, sizeof want));
        if (kv->seen & PART_BIT(keys[i].part))
            return lex_fail(lx, lex_col(lx), "second %s=; expected it once", keys[i].name);
        kv->seen |= PART_BIT(keys[i].part);
        lex_next(lx);
        if (lex_need(lx, '=', "after the key"))
            return lx->e->code;
        parse_mark(p, keys[i].part);
        if (parse_key(p, keys[i].part, kv))
            return lx->e->code;
    }
    if (needed & ~kv->seen)
        return lex_fail(lx, lex_col(lx), "the line ends; expected %s",
                        allowed_keys(needed & ~kv->seen, want, sizeof want));
    return 0;
}

/* strides= and offset= into a layout; each alone is enough. */
int parse_layout(struct parse *p, const struct keyed *kv, const struct shape *s,
                 struct layout *l)
{
    if (kv->seen & PART_BIT(PART_STRIDES)) {
        if (kv->n_stride != s->rank)
            return lex_fail(&p->lx, p->col[PART_STRIDES],
                            "%d strides; expected %d, one per axis", kv->n_stride, s->rank);
        memcpy(l->stride, kv->stride, sizeof l->stride);
        l->given = true;
    }
    if (kv->seen & PART_BIT(PART_OFFSET)) {
        *l = layout_of(l, s);
        l->offset = kv->offset;
    }
    return 0;
}
