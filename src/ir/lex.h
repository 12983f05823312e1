/*
 * Tokens of .trial text, a line at a time, with the position of each for messages.
 * Private to src/ir.
 */
#ifndef IR_LEX_H
#define IR_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum token_kind {
    TOK_END,    /* of the line, or a comment */
    TOK_WORD,   /* letters, digits, _ and . after a letter: names, ops, axes */
    TOK_NUMBER, /* starts with a digit, a sign or a point; checked when it is read */
    TOK_PUNCT,  /* one of [ ] , : = */
    TOK_OTHER   /* a byte that nothing starts with */
};

struct token {
    enum token_kind kind;
    const char *s;
    size_t n;
};

struct lex {
    const char *next, *end;     /* text not yet read */
    const char *line, *eol, *p; /* the current line, and what follows tok */
    int number;                 /* of the line, 1-based */
    struct token tok;
    struct err *e;
};

/* A token as messages show it: 'word', cut when long, or "end of line". */
struct quoted {
    char s[60];
};

void lex_init(struct lex *lx, const char *text, size_t bytes, struct err *e);
/* To the next line that has a token; false at the end of the text. */
bool lex_line(struct lex *lx);
void lex_next(struct lex *lx);
int lex_col(const struct lex *lx); /* of the current token */

bool lex_is(const struct lex *lx, const char *word_or_punct);
bool lex_take(struct lex *lx, char punct); /* steps over it if it is there */
int lex_need(struct lex *lx, char punct, const char *where);
int lex_need_end(struct lex *lx);
/* `what` is the noun for messages: "axis", "seed" */
int lex_int(struct lex *lx, const char *what, int64_t *v);
int lex_u64(struct lex *lx, const char *what, uint64_t *v);
bool lex_at_number(const struct lex *lx); /* a literal: a number, inf, nan */
int lex_number(struct lex *lx, const char *what, double *v);

struct quoted lex_quote(const struct lex *lx);
/* Fails at a column of the current line: message and caret excerpt. */
int lex_fail(struct lex *lx, int col, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Gives an error that a check has set its column and excerpt. */
int lex_place(struct lex *lx, int col);

#endif
