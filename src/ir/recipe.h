/*
 * How the recipes draw numbers: n elements of one line along the innermost axis at a time,
 * each from a hash of its own. Private to src/ir.
 */
#ifndef IR_RECIPE_H
#define IR_RECIPE_H

#include "ir/trial.h"

/* What the elements of a line have in common. */
struct draw {
    enum recipe recipe;
    uint64_t input; /* hash of the seed and the input's name */
    uint64_t line;  /* the same, and all coordinates but the last */
};

/* The finalizer of splitmix64. */
static inline uint64_t mix64(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static inline uint64_t element_hash(uint64_t line, int64_t i)
{
    return mix64(line + ((uint64_t)i + 1) * 0xd1342543de82ef95u);
}

/* Elements at, at + 1, .. of the line. */
void draw_f32(const struct draw *d, int64_t at, int n, float *out);
/* For f64, f16 and bf16; the halves are still to be rounded. */
void draw_wide(const struct draw *d, enum dtype dt, int64_t at, int n, double *out);
void draw_i32(const struct draw *d, int64_t at, int n, int32_t *out);

#endif
