/*
 * Inside of fuzz/python: the tables (table.c), the words in braces (words.c), what is written
 * in place (storage.c), the script (script.c).
 */
#ifndef FUZZ_PYTHON_INNER_H
#define FUZZ_PYTHON_INNER_H

#include "base/arena.h"
#include "fuzz/python/python.h"

struct piece { /* of a table's text */
    const char *s;
    size_t n;
};

/* [SECTION] up to the next line that opens with '['; false = there is none */
bool table_section(const char *table, const char *section, struct piece *out);
/* The expression of KEY in [forms] or [dtypes]. */
bool table_form(const char *table, const char *section, const char *key, struct piece *out);
/* Does the text call, or hand on, a function of that name? */
bool calls(const char *text, const char *name, size_t n);

struct script {
    const char *table;
    const struct trial *trial;
    const char **name; /* of each node, as Python takes it */
    bool *own;         /* assigns that write over their operand .. */
    bool *fresh;       /* .. which is a node that gets storage of its own */
    struct arena *a;
    struct err *e;
};

void storage_plan(struct script *x); /* fills in own and fresh */

/* The line of node i, without its name; nothing but an error if the framework has no such op.
 */
int words_line(struct script *x, int i, struct str *s);
/* A form of the table that is no op: "data", "list". a, value: what stands for these words. */
int words_form(struct script *x, const char *form, int node, const char *a, const char *value,
               struct str *s);
/* v as Python writes a number of that dtype */
void words_number(struct str *s, enum dtype dt, double v);

#endif
