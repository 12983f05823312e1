/*
 * Schema versions. Step i brings a database from version i to i + 1; step 0 is the whole
 * schema, for a new file. A step that was released is never changed: append another, as a
 * file of its own, and raise STORE_VERSION.
 */
#include "base/bug.h"
#include "fuzz/store/inner.h"

#include <stdio.h>

extern const char store_schema_sql[];

static const char *const steps[] = {
    store_schema_sql,
};
_Static_assert(ARRAY_LEN(steps) == STORE_VERSION, "one step per version");

/* All missing steps in one transaction: another process sees the old schema or the new. */
int store_migrate(struct store *s, struct err *e)
{
    char pragma[80];
    int64_t version;

    if (store_exec(s, "BEGIN IMMEDIATE", e))
        return e->code;
    /* read again under the lock: another process may have been faster */
    if (store_number(s, "PRAGMA user_version", &version, e))
        return e->code;
    for (int64_t i = version; i < STORE_VERSION; i++)
        if (store_exec(s, steps[i], e))
            return e->code;
    snprintf(pragma, sizeof pragma, "PRAGMA user_version = %d; PRAGMA application_id = %d",
             STORE_VERSION, STORE_APPLICATION);
    if (store_exec(s, pragma, e) || store_exec(s, "COMMIT", e))
        return e->code;
    return 0;
}
