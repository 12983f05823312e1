/*
 * Attribution for compilers that are not ours: they have no passes that we could stop. The
 * guilty one is the op of the first node that is wrong by itself, its operands given as
 * inputs; else the edge whose inserted copy repairs the answer: "permute>sum".
 */
#ifndef FUZZ_EXPLAIN_BLACKBOX_H
#define FUZZ_EXPLAIN_BLACKBOX_H

#include "fuzz/explain/explain.h"

/* NULL if that backend is ours, or is not open. */
const struct backend *blackbox_find(const char *backend);
/* v is a finding of such a backend on t; o are the options under which it was found. */
int blackbox_cause(struct checker *ck, const struct trial *t, const struct check_opts *o,
                   const struct verdict *v, struct cause *out, struct err *e);
/* Of what class of trials the minimized one is: "f32", "f16 empty strided". */
void blackbox_tags(const struct cause *c, const struct trial *t, char *buf, size_t n);
/* What to tell a person beside the verdict. */
void blackbox_explain(const struct cause *c, const struct trial *t, struct arena *a,
                      struct explanation *x);

#endif
