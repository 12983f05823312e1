#include "fuzz/explain/fit.h"

#include <inttypes.h>

/* Rows compared pair by pair where row 0 gives no difference. */
enum { PAIRS = 256 };

/* The one coordinate in which two points differ: j, or -1. */
static bool only(int m, const int64_t *a, const int64_t *b, int j)
{
    for (int k = 0; k < m; k++)
        if ((a[k] == b[k]) == (k == j))
            return false;
    return true;
}

static bool slope(int m, int n, const int64_t *x, const int64_t *y, int j, int64_t *c)
{
    bool varies = false;

    for (int base = 0; base < n && base < PAIRS; base++) {
        int end = base == 0 || n < PAIRS ? n : PAIRS;

        for (int i = base + 1; i < end; i++) {
            int64_t dx = x[(int64_t)i * m + j] - x[(int64_t)base * m + j];

            varies |= dx != 0;
            if (!only(m, &x[(int64_t)i * m], &x[(int64_t)base * m], j))
                continue;
            *c = (y[i] - y[base]) / dx;
            return true;
        }
        if (base == 0 && !varies)
            break;
    }
    *c = 0;
    return !varies;
}

bool fit_affine(int m, int n, const int64_t *x, const int64_t *y, int64_t *c)
{
    if (n == 0)
        return false;
    c[m] = y[0];
    for (int j = 0; j < m; j++) {
        if (!slope(m, n, x, y, j, &c[j]))
            return false;
        c[m] -= c[j] * x[j];
    }
    for (int i = 0; i < n; i++) {
        int64_t sum = c[m];

        for (int j = 0; j < m; j++)
            sum += c[j] * x[(int64_t)i * m + j];
        if (sum != y[i])
            return false;
    }
    return true;
}

void fit_print(int m, const int64_t *c, const char *const *name, struct str *s)
{
    bool any = false;

    for (int j = 0; j <= m; j++) {
        int64_t v = c[j];
        bool minus = v < 0;

        if (v == 0)
            continue;
        if (any || minus)
            str_puts(s, any ? (minus ? " - " : " + ") : "-");
        if (minus)
            v = -v;
        if (j == m)
            str_add(s, "%" PRId64, v);
        else if (v == 1)
            str_puts(s, name[j]);
        else
            str_add(s, "%" PRId64 "*%s", v, name[j]);
        any = true;
    }
    if (!any)
        str_puts(s, "0");
}
