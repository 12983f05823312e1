/*
 * Verdicts and findings in words: what `run` prints, what the store keeps, what JSON says.
 */
#ifndef FUZZ_DESCRIBE_H
#define FUZZ_DESCRIBE_H

#include "base/str.h"
#include "fuzz/explain/cause.h"
#include "fuzz/finding.h"

/* "y[0,2]: want 3, got 4, bound 1e-06; 7 of 64 wrong", or what happened instead; floats of
 * ring are shown as hexadecimal words. */
void verdict_print(const struct verdict *v, const struct prog *p, struct str *s);
/* "y[0,2]", the first wrong element; false: none is known */
bool verdict_element(const struct verdict *v, const struct prog *p, struct str *s);
/* "y[0,2]", "s[17] in kernel t at t.i0=1"; nothing where no place is known */
void verdict_where(const struct verdict *v, const struct prog *p, struct str *s);

/*
 * A backend's name for people: of the paths of a command only what tells one from the other,
 * "exec:torch-1.13.1/bin/python torch_adapter.py", "plugin:openblas.so". Commands that are to
 * be pasted, JSON and the database have all of it.
 */
struct label {
    char s[120];
};
struct label backend_label(const char *name);

/* All of f that a trial, the verdict that decides and the cause tell; strings live in a. */
void finding_describe(struct finding *f, const struct trial *t, const struct verdict *v,
                      const struct cause *k, struct arena *a);
/* The same where no cause could be found. */
void finding_unattributed(struct finding *f, const struct trial *t, const struct verdict *v,
                          struct arena *a);

#endif
