#include "lower/fault.h"

#include <string.h>

static const struct fault_info infos[FAULT_COUNT] = {
    [FAULT_none] = { "none", "", 0, "", "no fault" },
#define FAULT_ROW(id, stage, threshold, url, help)                                             \
    [FAULT_##id] = { #id, stage, threshold, url, help },
#include "lower/faults.def"
#undef FAULT_ROW
};

const struct fault_info *fault_info(enum fault f)
{
    return &infos[f];
}

bool fault_parse(const char *s, enum fault *f)
{
    for (int i = 0; i < FAULT_COUNT; i++) {
        if (strcmp(s, infos[i].id) == 0) {
            *f = (enum fault)i;
            return true;
        }
    }
    return false;
}
