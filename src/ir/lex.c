#include "ir/lex.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_word(char c)
{
    return is_letter(c) || is_digit(c) || c == '_' || c == '.';
}

void lex_init(struct lex *lx, const char *text, size_t bytes, struct err *e)
{
    *lx = (struct lex){ .next = text, .end = text + bytes, .e = e };
    lx->line = lx->eol = lx->p = text;
}

bool lex_line(struct lex *lx)
{
    while (lx->next < lx->end) {
        const char *nl = memchr(lx->next, '\n', (size_t)(lx->end - lx->next));

        lx->line = lx->p = lx->next;
        lx->eol = nl ? nl : lx->end;
        lx->next = nl ? nl + 1 : lx->end;
        lx->number++;
        lex_next(lx);
        if (lx->tok.kind != TOK_END)
            return true;
    }
    return false;
}

/* A number runs on over letters and points, so that "3x" is one bad number, and over a
 * sign behind an e. */
static const char *number_end(const char *p, const char *eol)
{
    const char *s = p++;

    while (p < eol && (is_word(*p) || ((*p == '-' || *p == '+') &&
                                       (p[-1] == 'e' || p[-1] == 'E') && p - s > 1)))
        p++;
    return p;
}

void lex_next(struct lex *lx)
{
    const char *p = lx->p, *eol = lx->eol, *s;
    enum token_kind kind = TOK_OTHER;

    while (p < eol && (*p == ' ' || *p == '\t' || *p == '\r'))
        p++;
    s = p;
    if (p == eol || *p == '#') {
        kind = TOK_END;
    } else if (is_letter(*p) || *p == '_') {
        kind = TOK_WORD;
        while (p < eol && is_word(*p))
            p++;
    } else if (is_digit(*p) || *p == '-' || *p == '+' || *p == '.') {
        kind = TOK_NUMBER;
        p = number_end(p, eol);
    } else {
        if (*p && strchr("[],:=", *p))
            kind = TOK_PUNCT;
        p++;
    }
    lx->tok = (struct token){ kind, s, (size_t)(p - s) };
    lx->p = p;
}

int lex_col(const struct lex *lx)
{
    return (int)(lx->tok.s - lx->line) + 1;
}

bool lex_is(const struct lex *lx, const char *s)
{
    size_t n = lx->tok.n;

    return n && lx->tok.kind != TOK_END && strncmp(lx->tok.s, s, n) == 0 && s[n] == '\0';
}

bool lex_take(struct lex *lx, char punct)
{
    if (lx->tok.kind != TOK_PUNCT || lx->tok.s[0] != punct)
        return false;
    lex_next(lx);
    return true;
}

int lex_need(struct lex *lx, char punct, const char *where)
{
    if (lex_take(lx, punct))
        return 0;
    return lex_fail(lx, lex_col(lx), "unexpected %s; expected '%c' %s", lex_quote(lx).s, punct,
                    where);
}

int lex_need_end(struct lex *lx)
{
    if (lx->tok.kind == TOK_END)
        return 0;
    return lex_fail(lx, lex_col(lx), "unexpected %s; expected the end of the line",
                    lex_quote(lx).s);
}

/* The token as a C string, or false if it is too long for any number we write. */
static bool number_text(const struct lex *lx, char *buf, size_t n)
{
    if (lx->tok.n >= n)
        return false;
    memcpy(buf, lx->tok.s, lx->tok.n);
    buf[lx->tok.n] = '\0';
    return true;
}

static bool all_digits(const char *s)
{
    size_t n = strspn(s, "0123456789");

    return n > 0 && s[n] == '\0';
}

int lex_int(struct lex *lx, const char *what, int64_t *v)
{
    char buf[64];
    const char *digits = buf;

    if (lx->tok.kind != TOK_NUMBER || !number_text(lx, buf, sizeof buf))
        return lex_fail(lx, lex_col(lx), "unexpected %s; expected %s", lex_quote(lx).s, what);
    if (buf[0] == '-' || buf[0] == '+')
        digits++;
    if (!all_digits(digits))
        return lex_fail(lx, lex_col(lx), "bad number %s; expected %s", lex_quote(lx).s, what);
    errno = 0;
    *v = strtoll(buf, NULL, 10);
    if (errno)
        return lex_fail(lx, lex_col(lx),
                        "number %s is too large; expected %s of at most 64 bits",
                        lex_quote(lx).s, what);
    lex_next(lx);
    return 0;
}

int lex_u64(struct lex *lx, const char *what, uint64_t *v)
{
    char buf[64];

    if (lx->tok.kind != TOK_NUMBER || !number_text(lx, buf, sizeof buf) || !all_digits(buf))
        return lex_fail(lx, lex_col(lx), "unexpected %s; expected %s", lex_quote(lx).s, what);
    errno = 0;
    *v = strtoull(buf, NULL, 10);
    if (errno)
        return lex_fail(lx, lex_col(lx),
                        "number %s is too large; expected %s of at most 64 bits",
                        lex_quote(lx).s, what);
    lex_next(lx);
    return 0;
}

bool lex_at_number(const struct lex *lx)
{
    return lx->tok.kind == TOK_NUMBER || lex_is(lx, "inf") || lex_is(lx, "nan");
}

int lex_number(struct lex *lx, const char *what, double *v)
{
    char buf[64], *end;
    const char *s = buf;

    if (!lex_at_number(lx) || !number_text(lx, buf, sizeof buf))
        return lex_fail(lx, lex_col(lx), "unexpected %s; expected %s", lex_quote(lx).s, what);
    if (*s == '-' || *s == '+')
        s++;
    if (strcmp(s, "inf") == 0) {
        *v = buf[0] == '-' ? -(double)INFINITY : (double)INFINITY;
    } else if (strcmp(s, "nan") == 0) {
        *v = (double)NAN;
    } else {
        *v = strtod(buf, &end);
        if (end == s || *end || s[strspn(s, "0123456789.eE+-")])
            return lex_fail(lx, lex_col(lx), "bad number %s; expected %s", lex_quote(lx).s,
                            what);
        if (isinf(*v))
            return lex_fail(lx, lex_col(lx), "number %s is too large; expected %s, or inf",
                            lex_quote(lx).s, what);
    }
    lex_next(lx);
    return 0;
}

static char printable(char c)
{
    if (c == '\t')
        return ' ';
    return c >= ' ' && c <= '~' ? c : '?';
}

struct quoted lex_quote(const struct lex *lx)
{
    enum { MOST = 40 };
    struct quoted q;
    size_t n = lx->tok.n < MOST ? lx->tok.n : MOST, at = 0;

    if (lx->tok.kind == TOK_END) {
        snprintf(q.s, sizeof q.s, "end of line");
        return q;
    }
    if (lx->tok.kind == TOK_OTHER && printable(lx->tok.s[0]) != lx->tok.s[0]) {
        snprintf(q.s, sizeof q.s, "byte 0x%02x", (unsigned char)lx->tok.s[0]);
        return q;
    }
    q.s[at++] = '\'';
    for (size_t i = 0; i < n; i++)
        q.s[at++] = printable(lx->tok.s[i]);
    snprintf(q.s + at, sizeof q.s - at, "%s'", n < lx->tok.n ? ".." : "");
    return q;
}

/* The source line and a caret under the column; a long line is cut round the column. */
static void excerpt(struct lex *lx, int col)
{
    enum { WIDTH = 100, BEFORE = 60 };
    char *out = lx->e->excerpt;
    int length = (int)(lx->eol - lx->line), from = 0, n, at = 0;

    if (length && lx->eol[-1] == '\r')
        length--;
    if (length > WIDTH && col - 1 > BEFORE)
        from = col - 1 - BEFORE;
    if (length > WIDTH && from > length - WIDTH)
        from = length - WIDTH;
    n = length - from < WIDTH ? length - from : WIDTH;
    out[at++] = ' ';
    out[at++] = ' ';
    for (int i = 0; i < n; i++) {
        bool cut = (i < 2 && from > 0) || (i >= n - 2 && from + n < length);

        out[at++] = cut ? '.' : printable(lx->line[from + i]);
    }
    out[at++] = '\n';
    for (int i = 0; i < 2 + col - 1 - from; i++)
        out[at++] = ' ';
    memcpy(out + at, "^\n", 3);
}

int lex_place(struct lex *lx, int col)
{
    lx->e->line = lx->number ? lx->number : 1;
    lx->e->col = col;
    excerpt(lx, col);
    return lx->e->code;
}

int lex_fail(struct lex *lx, int col, const char *fmt, ...)
{
    char msg[sizeof lx->e->msg];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(msg, sizeof msg, fmt, ap);
    va_end(ap);
    err_at(lx->e, ERR_INPUT, lx->number, col, "%s", msg);
    return lex_place(lx, col);
}
