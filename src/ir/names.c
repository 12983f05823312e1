#include "ir/names.h"

#include <string.h>

#include "base/bug.h"
#include "base/hash.h"

/* Words that would make a line ambiguous; ops are reserved too. */
static const char *const keywords[] = { "input",  "const", "output", "schedule", "data",
                                        "values", "inf",   "nan",    "tilefuzz" };

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

const char *name_fault(const char *s, size_t n)
{
    enum op op;

    if (n == 0 || !is_letter(s[0]))
        return "a letter first";
    for (size_t i = 0; i < n; i++)
        if (!is_letter(s[i]) && !(s[i] >= '0' && s[i] <= '9') && s[i] != '_')
            return "letters, digits and _ only";
    if (n >= MAX_NAME)
        return "at most 39 characters";
    if (op_parse(s, n, &op))
        return "a name that is not an op";
    for (size_t i = 0; i < ARRAY_LEN(keywords); i++)
        if (strlen(keywords[i]) == n && memcmp(keywords[i], s, n) == 0)
            return "a name that is not a keyword";
    return NULL;
}

const char *part_fault(const char *s, size_t n)
{
    size_t i = 0;

    while (i < n && s[i] >= 'a' && s[i] <= 'z')
        i++;
    if (i < 2)
        return "two or more lower-case letters";
    while (i < n && s[i] >= '0' && s[i] <= '9')
        i++;
    if (i < n)
        return "lower-case letters, then digits only";
    return n < MAX_PART ? NULL : "at most 7 characters";
}

const char *full_name_fault(const char *name)
{
    const char *dot = strchr(name, '.');
    const char *want = name_fault(name, dot ? (size_t)(dot - name) : strlen(name));

    if (want || !dot)
        return want;
    return part_fault(dot + 1, strlen(dot + 1));
}

void names_init(struct names *t, const struct prog *p)
{
    t->prog = p;
    t->n = 0;
    t->mask = 63;
    memset(t->slot, 0, (t->mask + 1) * sizeof t->slot[0]);
}

/* The slot that holds the name, or the empty one where it belongs. */
static unsigned names_slot(const struct names *t, const char *s, size_t n)
{
    unsigned at = (unsigned)hash64(s, n, 0) & t->mask;

    while (t->slot[at]) {
        const char *have = t->prog->node[t->slot[at] - 1].name;

        if (strncmp(have, s, n) == 0 && have[n] == '\0')
            break;
        at = (at + 1) & t->mask;
    }
    return at;
}

int names_find(const struct names *t, const char *s, size_t n)
{
    return t->slot[names_slot(t, s, n)] - 1;
}

static void names_put(struct names *t, int node)
{
    const char *name = t->prog->node[node].name;

    t->slot[names_slot(t, name, strlen(name))] = (int16_t)(node + 1);
}

static void names_double(struct names *t)
{
    int16_t old[2 * MAX_NODES];
    unsigned n_old = t->mask + 1;

    memcpy(old, t->slot, n_old * sizeof old[0]);
    t->mask = 2 * n_old - 1;
    memset(t->slot, 0, (t->mask + 1) * sizeof t->slot[0]);
    for (unsigned i = 0; i < n_old; i++)
        if (old[i])
            names_put(t, old[i] - 1);
}

void names_add(struct names *t, int node)
{
    if (t->n >= MAX_NODES || node >= MAX_NODES)
        BUG("more than %d names", MAX_NODES);
    if (2 * (unsigned)t->n > t->mask && 2 * (t->mask + 1) <= ARRAY_LEN(t->slot))
        names_double(t);
    names_put(t, node);
    t->n++;
}

static int min_int(int a, int b)
{
    return a < b ? a : b;
}

int name_distance(const char *word, size_t n, const char *name)
{
    int d[MAX_NAME][MAX_NAME];
    int rows = (int)n, cols = (int)strlen(name);

    if (rows >= MAX_NAME || cols >= MAX_NAME)
        return 99;
    for (int i = 0; i <= rows; i++) {
        for (int j = 0; j <= cols; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            d[i][j] = d[i - 1][j - 1] + (word[i - 1] != name[j - 1]);
            d[i][j] = min_int(d[i][j], 1 + min_int(d[i - 1][j], d[i][j - 1]));
            if (i > 1 && j > 1 && word[i - 1] == name[j - 2] && word[i - 2] == name[j - 1])
                d[i][j] = min_int(d[i][j], d[i - 2][j - 2] + 1);
        }
    }
    return 3 * d[rows][cols] <= min_int(rows, cols) + 2 ? d[rows][cols] : 99;
}
