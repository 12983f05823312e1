/*
 * JSON output: the one place that says how a finding looks, and helpers that keep jansson
 * from refusing what we have (bytes that are no UTF-8, infinities). Objects keep the order
 * in which their keys were set. A function that takes a json_t owns it afterwards.
 */
#ifndef FUZZ_JSON_H
#define FUZZ_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "fuzz/finding.h"

/* {"schema": 1}: every object that stands alone begins with it. */
json_t *json_object_schema(void);

/* NULL gives null; bad UTF-8 is replaced. */
json_t *json_text(const char *s);
/* A number; "inf", "-inf", "nan" as strings, which JSON numbers can't say. */
json_t *json_number_of(double v);

/* Sets a key, owning v. */
void json_put(json_t *object, const char *key, json_t *v);

/* bugs[], db ls, db show: id signature kind class stage pass rewrite step nodes steps max_size
 * backend state count first_trial repro, and more; what is not known is null. */
json_t *json_finding(const struct finding *f);

/* One object or array on one line of stdout, and gives it back. */
void json_print_line(json_t *v);
/* The same into a string to be freed with free(). */
char *json_to_text(json_t *v);

#endif
