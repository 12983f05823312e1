/*
 * Faults: compiler bugs that can be switched on. Only the guarded line of each, the command
 * line and the store look at them; nothing that judges, explains or minimizes may.
 */
#ifndef LOWER_FAULT_H
#define LOWER_FAULT_H

#include <stdbool.h>

enum fault {
    FAULT_none,
#define FAULT_ROW(id, stage, threshold, url, help) FAULT_##id,
#include "lower/faults.def"
#undef FAULT_ROW
    FAULT_COUNT
};

struct fault_info {
    const char *id;
    const char *stage; /* for people: the pass it sits in */
    int threshold;     /* smallest max_size at which it can show, 0 = none */
    const char *url, *help;
};

const struct fault_info *fault_info(enum fault f);
bool fault_parse(const char *s, enum fault *f); /* "none" is FAULT_none */

#endif
