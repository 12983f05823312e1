#include "base/bug.h"

#include <stdarg.h>

char bug_context[160];

void bug_abort(const char *file, int line, const char *fmt, ...)
{
    va_list ap;

    fprintf(stderr, "tilefuzz: BUG at %s:%d: ", file, line);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fprintf(stderr, "%s%s\n", bug_context[0] ? "; trial " : "", bug_context);
    abort();
}

void *must(void *p)
{
    if (!p)
        BUG("out of memory");
    return p;
}
