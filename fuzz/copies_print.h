/* What copies on edges do, for a person and as JSON. */
#ifndef FUZZ_COPIES_PRINT_H
#define FUZZ_COPIES_PRINT_H

#include <jansson.h>

#include "fuzz/explain/copies.h"

/* A line for each edge whose copy matters, and one for each backend that counts. */
void copies_print(const struct copies *c, const char *file, const struct prog *p);
/* All edges, those without effect too. */
json_t *copies_json(const struct copies *c, const struct prog *p);

#endif
