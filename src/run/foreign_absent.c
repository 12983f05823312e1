#include "run/foreign.h"
__attribute__((weak)) const struct backend *plugin_open(const char *name, const char *path, struct err *e)
{
    (void)name, (void)path;
    err_set(e, ERR_MISSING, "not built");
    return NULL;
}
__attribute__((weak)) const struct backend *exec_open(const char *name, const char *command, struct err *e)
{
    (void)name, (void)command;
    err_set(e, ERR_MISSING, "not built");
    return NULL;
}
