/*
 * Reducers over sizes. Data need no care: a drawn element is a function of its coordinates,
 * so a smaller tensor keeps the elements that it still has.
 */
#include "fuzz/min/reduce.h"
#include "fuzz/min/size.h"

enum { VALUES = 7 };

/* The v-th extent to try in place of `extent`, -1 = none. A warp less keeps whole warps whole.
 */
static int64_t smaller(int64_t extent, int v)
{
    const int64_t try[VALUES] = { 1, 2, 3, 4, extent / 2, extent - 32, extent - 1 };

    for (int k = 0; k < v; k++)
        if (try[k] == try[v])
            return -1;
    return try[v] >= 1 && try[v] < extent ? try[v] : -1;
}

/* Extents above 1 that occur, largest first. */
static int extents_of(const struct sizes *z, int64_t *list)
{
    int n = 0;

    for (int s = 0; s < z->n_sym; s++) {
        int64_t e = z->extent[s];
        int k = 0, at;

        while (k < n && list[k] > e)
            k++;
        if (e <= 1 || (k < n && list[k] == e))
            continue;
        for (at = n++; at > k; at--)
            list[at] = list[at - 1];
        list[k] = e;
    }
    return n;
}

int red_extents_count(const struct trial *t, struct arena *scratch)
{
    struct sizes z;

    sizes_init(&z, &t->prog, scratch);
    return extents_of(&z, arena_array(scratch, int64_t, z.n_sym + 1)) * VALUES * CHOICES;
}

bool red_extents_apply(struct trial *t, int from, int to, struct arena *a)
{
    int choice = from % CHOICES, value = from / CHOICES % VALUES;
    int64_t *list, extent, new;
    struct sizes z;

    (void)to;
    sizes_init(&z, &t->prog, a);
    list = arena_array(a, int64_t, z.n_sym + 1);
    if (from / CHOICES / VALUES >= extents_of(&z, list))
        return false;
    extent = list[from / CHOICES / VALUES];
    new = smaller(extent, value);
    for (int s = 0; s < z.n_sym; s++)
        if (z.extent[s] == extent && (new < 0 || !sizes_ask(&z, s, new)))
            return false;
    return sizes_follow(&z, choice) && sizes_apply(&z, t, choice, a);
}

int red_sizes_count(const struct trial *t, struct arena *scratch)
{
    struct sizes z;

    sizes_init(&z, &t->prog, scratch);
    return z.n_sym * VALUES * CHOICES;
}

bool red_sizes_apply(struct trial *t, int from, int to, struct arena *a)
{
    int choice = from % CHOICES, value = from / CHOICES % VALUES, s = from / CHOICES / VALUES;
    int64_t new;
    struct sizes z;

    (void)to;
    sizes_init(&z, &t->prog, a);
    if (s >= z.n_sym)
        return false;
    new = smaller(z.extent[s], value);
    return new > 0 && sizes_ask(&z, s, new) && sizes_follow(&z, choice) &&
           sizes_apply(&z, t, choice, a);
}
