/*
 * A trial as one script for a framework of Python, that needs nothing but the framework: the
 * program op by op, its data, the values that are right and by how much they may be off. How
 * a framework says an op is a table, scripts/adapters/NAME.ops, embedded; the adapter of that
 * framework reads the same table, so that what it ran and what the script runs are one.
 */
#ifndef FUZZ_PYTHON_PYTHON_H
#define FUZZ_PYTHON_PYTHON_H

#include "base/str.h"
#include "ir/trial.h"

/* "numpy.py", .. by number; NULL = no more */
const char *python_form(int i);

/* Exit 1 and the first wrong element if the framework is wrong, 0 if not. ERR_ILLEGAL: there is
 * no such op or dtype in that framework. */
int python_script(const struct trial *t, const char *form, const char *title,
                  const char *command, struct str *s, struct err *e);

#endif
