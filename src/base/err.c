#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>

int err_set(struct err *e, enum err_code code, const char *fmt, ...)
{
    va_list ap;

    e->code = code;
    e->line = e->col = 0;
    e->excerpt[0] = '\0';
    va_start(ap, fmt);
    vsnprintf(e->msg, sizeof e->msg, fmt, ap);
    va_end(ap);
    return code;
}

int err_at(struct err *e, enum err_code code, int line, int col, const char *fmt, ...)
{
    va_list ap;

    e->code = code;
    e->line = line;
    e->col = col;
    e->excerpt[0] = '\0';
    va_start(ap, fmt);
    vsnprintf(e->msg, sizeof e->msg, fmt, ap);
    va_end(ap);
    return code;
}

void err_print(const struct err *e)
{
    char where[320] = "";

    if (e->line)
        snprintf(where, sizeof where, "%s:%d:%d: ", e->file[0] ? e->file : "trial", e->line,
                 e->col ? e->col : 1);
    else if (e->file[0])
        snprintf(where, sizeof where, "%s: ", e->file);
    fprintf(stderr, "tilefuzz: %s%s\n%s", where, e->msg, e->excerpt);
}

int err_exit_code(const struct err *e)
{
    return e->code == ERR_USAGE ? 2 : 3;
}
