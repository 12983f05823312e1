/*
 * What every program that we start is given: a process group of its own, so that what it starts
 * ends with it and Ctrl-C on our terminal is none of its business; no handlers, no core files,
 * and a signal when we die.
 */
#ifndef RUN_FRESH_H
#define RUN_FRESH_H

#include <stdbool.h>
#include <sys/types.h>

/* In the child, before exec. False = the parent is gone already. */
bool process_fresh(pid_t parent, int death_signal);

#endif
