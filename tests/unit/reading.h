/* A trial from text that has to be good. */
#ifndef TESTS_READING_H
#define TESTS_READING_H

#include "testing.h"

#include <string.h>

#include "ir/text.h"

static inline struct trial *read_good(const char *text, struct arena *a)
{
    struct trial *t;
    struct err e = { 0 };

    if (trial_parse(text, strlen(text), a, &t, &e) || trial_check(t, &e))
        fail_msg("%d:%d: %s in\n%s", e.line, e.col, e.msg, text);
    return t;
}

#endif
