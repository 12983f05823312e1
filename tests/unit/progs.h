/* Programs of one line, or a few, over inputs of many shapes and dtypes. */
#ifndef TESTS_PROGS_H
#define TESTS_PROGS_H

#include "testing.h"

#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "ir/text.h"

#define INPUTS                                                                                 \
    "tilefuzz 1\ninput x f32 [2,3]\ninput i i32 [2,3]\ninput b bool [2,3]\n"                   \
    "input z f32 [0,5]\ninput s f32 []\ninput p f32 [7,2,3]\ninput q f32 [7,3,4]\n"            \
    "input d f64 [2,3]\ninput h f16 [2,3]\ninput t bf16 [2,3]\ninput g f32 [3]\n"              \
    "input n i32 [4]\ninput u f32 [2,4,5,8]\ninput k f32 [2,2,7,8]\ninput v f32 [2,2,7,6]\n"

/* The output is y, unless the tail names one. */
static inline struct trial *parse(struct arena *a, const char *head, const char *tail)
{
    const char *output = strstr(tail, "output") ? "" : "output y";
    char text[2048];
    struct err e = { 0 };
    struct trial *t;

    snprintf(text, sizeof text, "%s%s\n%s\n", head, tail, output);
    if (trial_parse(text, strlen(text), a, &t, &e))
        fail_msg("%s\n%s%s", text, e.msg, e.excerpt);
    return t;
}

#endif
