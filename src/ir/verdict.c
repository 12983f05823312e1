/* The names of verdicts, from verdict.def. */
#include "ir/verdict.h"

#include <string.h>

static const struct {
    const char *name, *help;
    bool finding;
} table[VK_COUNT] = {
#define VERDICT(id, finding, help) [VK_##id] = { #id, help, finding },
#include "ir/verdict.def"
#undef VERDICT
};

const char *verdict_name(enum verdict_kind k)
{
    return table[k].name;
}

const char *verdict_help(enum verdict_kind k)
{
    return table[k].help;
}

bool verdict_is_finding(enum verdict_kind k)
{
    return table[k].finding;
}

bool verdict_parse(const char *s, enum verdict_kind *k)
{
    for (int i = 0; i < VK_COUNT; i++)
        if (!strcmp(s, table[i].name)) {
            *k = (enum verdict_kind)i;
            return true;
        }
    return false;
}
