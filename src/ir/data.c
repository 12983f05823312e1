/*
 * Input data: one 64-bit hash per element, folded from the seed, the input's name and the
 * coordinates, outer axes first. A row along the innermost axis shares all but the last
 * step, so that a whole input costs two multiplications an element.
 */
#include "ir/data.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "ir/half.h"
#include "ir/recipe.h"

enum { CHUNK = 128 }; /* elements drawn at a time */

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

/* The stored bits of a number that a dtype has. */
static uint64_t number_bits(enum dtype dt, double v)
{
    float f = (float)v;
    uint32_t u;
    uint64_t wide;

    switch (dt) {
    case DT_F32:
        memcpy(&u, &f, sizeof u);
        return u;
    case DT_F64:
        memcpy(&wide, &v, sizeof wide);
        return wide;
    case DT_F16:
    case DT_BF16:
        return half_of(dt, v);
    case DT_I32:
        return fabs(v) <= 0x1p53 ? (uint32_t)(int64_t)v : 0;
    case DT_BOOL:
    case DT_COUNT:
        break;
    }
    return v != 0;
}

/* The number whose bits are stored. */
static double bits_number(enum dtype dt, uint64_t bits)
{
    uint32_t u = (uint32_t)bits;
    double v;
    float f;

    switch (dt) {
    case DT_F32:
        memcpy(&f, &u, sizeof f);
        return (double)f;
    case DT_F64:
        memcpy(&v, &bits, sizeof v);
        return v;
    case DT_F16:
    case DT_BF16:
        return half_value(dt, (uint16_t)bits);
    case DT_I32:
        return (int32_t)u;
    case DT_BOOL:
    case DT_COUNT:
        break;
    }
    return u;
}

/* The stored bits of a number from a values line. */
static uint64_t given_bits(enum dtype dt, enum algebra al, double v)
{
    return al == AL_RING && dtype_is_float(dt) ? ring_literal(v) : number_bits(dt, v);
}

/* The stored bits of n drawn elements of one line, from number `at` on, in elements of 4
 * bytes. A ring word of a half keeps high bits that storing it drops. */
static void draw_words(const struct draw *d, enum dtype dt, enum algebra al, int64_t at, int n,
                       uint32_t *bits)
{
    double wide[CHUNK];

    if (al == AL_RING && dtype_is_float(dt)) {
        for (int i = 0; i < n; i++)
            bits[i] = (uint32_t)(element_hash(d->line, at + i) >> 32);
    } else if (dt == DT_F32) {
        float f[CHUNK];

        draw_f32(d, at, n, f);
        memcpy(bits, f, (size_t)n * 4);
    } else if (dt == DT_I32) {
        draw_i32(d, at, n, (int32_t *)bits);
    } else if (dt == DT_BOOL) {
        for (int i = 0; i < n; i++)
            bits[i] = (uint32_t)(element_hash(d->line, at + i) >> 63);
    } else {
        draw_wide(d, dt, at, n, wide);
        for (int i = 0; i < n; i++)
            bits[i] = half_of(dt, wide[i]);
    }
}

/* n elements, `step` elements apart, into storage of `bytes` an element. */
static void store(unsigned char *dst, int bytes, int64_t step, const uint32_t *bits, int n)
{
    if (bytes == 4 && step == 1) {
        memcpy(dst, bits, (size_t)n * 4);
        return;
    }
    for (int i = 0; i < n; i++, dst += step * bytes) {
        uint64_t wide = bits[i];

        if (bytes == 4)
            memcpy(dst, &bits[i], 4);
        else if (bytes == 8)
            memcpy(dst, &wide, 8);
        else if (bytes == 2)
            memcpy(dst, &(uint16_t){ (uint16_t)bits[i] }, 2);
        else
            *dst = (unsigned char)bits[i];
    }
}

/* n elements of a line, drawn and stored. Those of f64 in ieee don't fit into words. */
static void draw_line(const struct draw *d, enum dtype dt, enum algebra al, int64_t at, int n,
                      unsigned char *dst, int64_t step)
{
    uint32_t bits[CHUNK];
    double wide[CHUNK];

    if (dt == DT_F64 && al == AL_IEEE) {
        draw_wide(d, dt, at, n, wide);
        for (int i = 0; i < n; i++)
            memcpy(dst + i * step * 8, &wide[i], 8);
        return;
    }
    draw_words(d, dt, al, at, n, bits);
    store(dst, dtype_info(dt)->bytes, step, bits, n);
}

/* n given elements. */
static void put_given(const double *v, enum dtype dt, enum algebra al, int n,
                      unsigned char *dst, int64_t step)
{
    int bytes = dtype_info(dt)->bytes;

    for (int i = 0; i < n; i++) {
        uint64_t bits = given_bits(dt, al, v[i]);
        uint32_t word = (uint32_t)bits;

        if (bytes == 8)
            memcpy(dst + i * step * 8, &bits, 8);
        else
            store(dst + i * step * bytes, bytes, 1, &word, 1);
    }
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
    struct draw d = { t->recipe, input_key(t, node), 0 };

    for (; n > 0 && row < n; row += inner) {
        int64_t base = l->offset;

        for (int a = 0; a < outer; a++)
            base += at[a] * l->stride[a];
        d.line = row_key(d.input, at, outer);
        for (int64_t i = 0; i < inner; i += CHUNK) {
            int m = (int)(inner - i < CHUNK ? inner - i : CHUNK);
            unsigned char *to = dst + (base + i * step) * bytes;

            if (given)
                put_given(given->v + row + i, x->dt, al, m, to, step);
            else
                draw_line(&d, x->dt, al, i, m, to, step);
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

void data_element(const struct trial *t, int node, int64_t number, enum algebra al, void *dst)
{
    const struct node *x = &t->prog.node[node];
    const struct values *given = values_of(t, node);
    int64_t at[MAX_RANK] = { 0 }, rest = number;
    int outer = x->sh.rank > 0 ? x->sh.rank - 1 : 0;
    struct draw d = { t->recipe, input_key(t, node), 0 };

    if (given) {
        put_given(given->v + number, x->dt, al, 1, dst, 1);
        return;
    }
    for (int a = x->sh.rank - 1; a >= 0; a--) {
        at[a] = rest % x->sh.dim[a];
        rest /= x->sh.dim[a];
    }
    d.line = row_key(d.input, at, outer);
    draw_line(&d, x->dt, al, at[outer], 1, dst, 1);
}

double data_number(const struct trial *t, int node, int64_t at)
{
    enum dtype dt = t->prog.node[node].dt;
    unsigned char one[8] = { 0 };
    uint64_t bits;

    data_element(t, node, at, AL_IEEE, one);
    memcpy(&bits, one, sizeof bits);
    return bits_number(dt, bits);
}
