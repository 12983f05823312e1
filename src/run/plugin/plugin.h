/*
 * Plug-ins from the inside: a shared object is opened in every process that uses it, first in
 * one that does nothing else, to ask what it can do.
 */
#ifndef RUN_PLUGIN_PLUGIN_H
#define RUN_PLUGIN_PLUGIN_H

#include "run/foreign.h"

struct tf_plugin;
struct tf_program;

/* NULL: e says why. The same pointer each time in one process. */
const struct tf_plugin *plugin_load(const char *path, struct err *e);
/* Asks in a child, which may die or hang. */
int plugin_ask(const char *path, struct caps *c, struct err *e);
/* l is foreign_lprog's. Everything lives in a. */
const struct tf_program *plugin_program(const struct lprog *l, struct arena *a);

#endif
