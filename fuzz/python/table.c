/* Tables of forms: scripts/adapters/NAME.ops, whose first lines say what they look like. */
#include <ctype.h>
#include <string.h>

#include "fuzz/python/inner.h"

static const char *next_line(const char *s)
{
    s += strcspn(s, "\n");
    return *s ? s + 1 : s;
}

bool table_section(const char *table, const char *section, struct piece *out)
{
    size_t n = strlen(section);

    for (const char *s = table; *s; s = next_line(s)) {
        const char *end;

        if (s[0] != '[' || strncmp(s + 1, section, n) != 0 || s[n + 1] != ']')
            continue;
        s = next_line(s);
        for (end = s; *end && *end != '['; end = next_line(end))
            ;
        *out = (struct piece){ s, (size_t)(end - s) };
        return true;
    }
    return false;
}

bool table_form(const char *table, const char *section, const char *key, struct piece *out)
{
    struct piece all;
    size_t n = strlen(key);

    if (!table_section(table, section, &all))
        return false;
    for (const char *s = all.s; s < all.s + all.n; s = next_line(s))
        if (!strncmp(s, key, n) && s[n] == ' ') {
            s += n + strspn(s + n, " ");
            *out = (struct piece){ s, strcspn(s, "\n") };
            return true;
        }
    return false;
}

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

bool calls(const char *text, const char *name, size_t n)
{
    for (const char *s = text; (s = strstr(s, name)) != NULL; s++)
        if ((s == text || (!in_word(s[-1]) && s[-1] != '.')) && strchr("(,", s[n]) && s[n])
            return true;
    return false;
}
