/*
 * The .trial text form: parse and print are exact inverses (print is canonical: comments,
 * blank lines and extra spaces are dropped). The grammar is in corpus/README.md.
 */
#ifndef IR_TEXT_H
#define IR_TEXT_H

#include "base/str.h"
#include "ir/trial.h"

/* The largest .trial text accepted, in bytes. */
enum { TRIAL_TEXT_MAX = 4 * 1024 * 1024 };

/* text need not be NUL-terminated. On error e has line, col, message and a caret excerpt. */
int trial_parse(const char *text, size_t bytes, struct arena *a, struct trial **out,
                struct err *e);
/* Reads a file; "-" is standard input. A repro.c/repro.cu is accepted: the trial in its
 * opening comment (between lines "tilefuzz 1" and the end of the comment) is parsed. */
int trial_read(const char *path, struct arena *a, struct trial **out, struct err *e);
void trial_print(const struct trial *t, struct str *s);

/* One line each, no newline: for messages and explain. */
void node_print(const struct prog *p, int node, struct str *s);
void step_print(const struct prog *p, const struct step *st, struct str *s);

#endif
