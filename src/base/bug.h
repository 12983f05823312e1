/*
 * BUG(...): one of our own invariants broke. Prints the place and the trial that was
 * being worked on, then aborts; the parent process records it as a finding against
 * ourselves. Never used for bad input (struct err) or for the code under test (verdict).
 */
#ifndef BASE_BUG_H
#define BASE_BUG_H

#include <stdio.h>
#include <stdlib.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* What a BUG message names as the trial in work; set by the worker, "" elsewhere. */
extern char bug_context[160];

_Noreturn void bug_abort(const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
#define BUG(...) bug_abort(__FILE__, __LINE__, __VA_ARGS__)

/* What malloc and its like gave: NULL is a BUG, out of memory. */
void *must(void *p);

#endif
