/*
 * Input data: one 64-bit hash per element, folded from the seed, the input's name and the
 * coordinates, outer axes first. A row along the innermost axis shares all but the last
 * step, so that a whole input costs two multiplications an element.
 */
#include "ir/data.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"

enum { CHUNK = 128 }; /* elements drawn at a time */

static uint64_t mix64(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static uint64_t input_key(const struct trial *t, int node)
{
    const char *name = t->prog.node[node].name;

    return hash64(name, strlen(name), t->seed);
}

/* The key of a line of elements, given the coordinates of all axes but the innermost. */
static uint64_t row_key(uint64_t key, const int64_t *at, int n)
{
    for (int a = 0; a < n; a++)
        key = mix64(key + ((uint64_t)at[a] + 1) * 0x9e3779b97f4a7c15u);
    return key;
}

static uint64_t element_hash(uint64_t key, int64_t i)
{
    return mix64(key + ((uint64_t)i + 1) * 0xd1342543de82ef95u);
}

/* -span .. span */
static int32_t draw_int(uint64_t h, uint32_t span)
{
    return (int32_t)((h >> 32) * (2 * span + 1) >> 32) - (int32_t)span;
}

/* Four 16-bit draws summed, centred, in steps of 2^-15: close to normal, deviation 1.15. */
static float draw_normal(uint64_t h)
{
    int32_t sum = (int32_t)((h & 0xffff) + (h >> 16 & 0xffff) + (h >> 32 & 0xffff) + (h >> 48));

    return (float)(sum - 131070) * 0x1p-15f;
}

static float draw_f32(enum recipe r, uint64_t h)
{
    switch (r) {
    case RECIPE_NORMAL:
        return draw_normal(h);
    case RECIPE_UNIFORM: /* odd multiples of 2^-24: never 0, so that 1/x is a number */
        return (float)((h >> 41) * 2 + 1) * 0x1p-24f;
    case RECIPE_POSITIVE:
        return 1.0f + (float)(h >> 41) * 0x1p-23f;
    case RECIPE_INTS:
    case RECIPE_COUNT:
        break;
    }
    return (float)draw_int(h, 8);
}

static int32_t draw_i32(enum recipe r, uint64_t h)
{
    return draw_int(h, r == RECIPE_INTS ? 1000 : 8);
}

uint32_t ring_literal(double v)
{
    uint32_t h;
    float f = (float)v;

    if (v == trunc(v) && fabs(v) <= 0x1p53)
        return (uint32_t)(int64_t)v;
    if (isinf(v))
        return v < 0 ? 0x80000000u : 0x7fffffffu;
    memcpy(&h, &f, sizeof h);
    if (isnan(v))
        h = 0x7fc00000u;
    h ^= 0x165667b1u;
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    h *= 0xc2b2ae35u;
    h ^= h >> 16;
    return h | 1;
}

/* The stored bits of a number from a values line, in the low bytes. */
static uint32_t given_bits(enum dtype dt, enum algebra al, double v)
{
    float f = (float)v;
    uint32_t u;

    switch (dtype_info(dt)->class) {
    case DTC_FLOAT:
        if (al == AL_RING)
            return ring_literal(v);
        memcpy(&u, &f, sizeof u);
        return u;
    case DTC_INT:
        return fabs(v) <= 0x1p53 ? (uint32_t)(int64_t)v : 0;
    case DTC_BOOL:
        return v != 0;
    }
    return 0;
}

/* The stored bits of n drawn elements of one row, from number `at` on. */
static void draw_row(const struct trial *t, enum dtype dt, enum algebra al, uint64_t key,
                     int64_t at, int n, uint32_t *bits)
{
    enum recipe r = t->recipe;

    switch (dtype_info(dt)->class) {
    case DTC_FLOAT:
        if (al == AL_RING) {
            for (int i = 0; i < n; i++)
                bits[i] = (uint32_t)(element_hash(key, at + i) >> 32);
            return;
        }
        for (int i = 0; i < n; i++) {
            float f = draw_f32(r, element_hash(key, at + i));

            memcpy(&bits[i], &f, sizeof f);
        }
        return;
    case DTC_INT:
        for (int i = 0; i < n; i++)
            bits[i] = (uint32_t)draw_i32(r, element_hash(key, at + i));
        return;
    case DTC_BOOL:
        for (int i = 0; i < n; i++)
            bits[i] = (uint32_t)(element_hash(key, at + i) >> 63);
        return;
    }
}

/* n elements, `step` elements apart, into storage of `bytes` an element. */
static void store(unsigned char *dst, int bytes, int64_t step, const uint32_t *bits, int n)
{
    if (bytes == 4 && step == 1)
        memcpy(dst, bits, (size_t)n * 4);
    else if (bytes == 4)
        for (int i = 0; i < n; i++)
            memcpy(dst + i * step * 4, &bits[i], 4);
    else
        for (int i = 0; i < n; i++)
            dst[i * step] = (unsigned char)bits[i];
}

static const struct values *values_of(const struct trial *t, int node)
{
    for (int i = 0; i < t->n_values; i++)
        if (t->values[i].node == node)
            return &t->values[i];
    return NULL;
}

/* All elements to dst + (offset + sum i*stride) elements. */
static void fill(const struct trial *t, int node, enum algebra al, unsigned char *dst,
                 const struct layout *l)
{
    const struct node *x = &t->prog.node[node];
    const struct values *given = values_of(t, node);
    int bytes = dtype_info(x->dt)->bytes, outer = x->sh.rank > 0 ? x->sh.rank - 1 : 0;
    int64_t inner = x->sh.rank > 0 ? x->sh.dim[outer] : 1, n = shape_count(&x->sh), row = 0;
    int64_t step = x->sh.rank > 0 ? l->stride[outer] : 1, at[MAX_RANK] = { 0 };
    uint64_t key = input_key(t, node), line;
    uint32_t bits[CHUNK];

    for (; n > 0 && row < n; row += inner) {
        int64_t base = l->offset;

        for (int a = 0; a < outer; a++)
            base += at[a] * l->stride[a];
        line = row_key(key, at, outer);
        for (int64_t i = 0; i < inner; i += CHUNK) {
            int m = (int)(inner - i < CHUNK ? inner - i : CHUNK);

            if (given)
                for (int j = 0; j < m; j++)
                    bits[j] = given_bits(x->dt, al, given->v[row + i + j]);
            else
                draw_row(t, x->dt, al, line, i, m, bits);
            store(dst + (base + i * step) * bytes, bytes, step, bits, m);
        }
        for (int a = outer - 1; a >= 0 && ++at[a] == x->sh.dim[a]; a--)
            at[a] = 0;
    }
}

void data_dense(const struct trial *t, int node, enum algebra al, void *dst)
{
    struct layout l = { 0 };

    l = layout_of(&l, &t->prog.node[node].sh);
    fill(t, node, al, dst, &l);
}

void data_fill(const struct trial *t, int node, enum algebra al, void *storage)
{
    const struct node *x = &t->prog.node[node];
    struct layout l = layout_of(&x->layout, &x->sh);
    int64_t n = layout_storage(&l, &x->sh);

    if (n != shape_count(&x->sh))
        memset(storage, POISON_BYTE, (size_t)(n * dtype_info(x->dt)->bytes));
    fill(t, node, al, storage, &l);
}

/* The stored bits of one element. */
static uint32_t element_bits(const struct trial *t, int node, int64_t number, enum algebra al)
{
    const struct node *x = &t->prog.node[node];
    const struct values *given = values_of(t, node);
    int64_t at[MAX_RANK] = { 0 }, rest = number;
    int outer = x->sh.rank > 0 ? x->sh.rank - 1 : 0;
    uint32_t bits;

    if (given)
        return given_bits(x->dt, al, given->v[number]);
    for (int a = x->sh.rank - 1; a >= 0; a--) {
        at[a] = rest % x->sh.dim[a];
        rest /= x->sh.dim[a];
    }
    draw_row(t, x->dt, al, row_key(input_key(t, node), at, outer), at[outer], 1, &bits);
    return bits;
}

void data_element(const struct trial *t, int node, int64_t at, enum algebra al, void *dst)
{
    uint32_t bits = element_bits(t, node, at, al);

    store(dst, dtype_info(t->prog.node[node].dt)->bytes, 1, &bits, 1);
}

double data_number(const struct trial *t, int node, int64_t at)
{
    uint32_t bits = element_bits(t, node, at, AL_IEEE);
    float f;

    switch (dtype_info(t->prog.node[node].dt)->class) {
    case DTC_FLOAT:
        memcpy(&f, &bits, sizeof f);
        return (double)f;
    case DTC_INT:
        return (int32_t)bits;
    case DTC_BOOL:
        break;
    }
    return bits;
}
