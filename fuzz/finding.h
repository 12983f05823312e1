/*
 * A finding as it travels from a worker to the store and to the printers. Strings live in
 * the campaign's arena (or the store's answer).
 */
#ifndef FUZZ_FINDING_H
#define FUZZ_FINDING_H

#include <stdint.h>

struct finding {
    int64_t id; /* of the bug in the database, 0 = not stored */
    const char *signature, *kind, *class, *stage, *pass, *rewrite, *step; /* NULL = not known;
                             stage = pass until other stages exist */
    const char *cause;                                                    /* cause_print */
    const char *backend, *algebra, *tier;
    const char *fault; /* id that was switched on, "none" */
    const char *state; /* "open", "fixed", "back", "wontfix" */
    int nodes, steps;
    int64_t max_size;
    int64_t count;        /* observations */
    uint64_t seed;        /* of the campaign that saw it first */
    int64_t first_trial;  /* its number there, -1 = a file */
    const char *text;     /* minimized trial (the original until minimized) */
    const char *original; /* trial as drawn */
    const char *detail;   /* one line: where, want, got */
    const char *repro;    /* a command line that can be pasted */
};

#endif
