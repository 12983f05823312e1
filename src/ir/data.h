/*
 * Input data. A drawn element is a function of (seed, input name, coordinates) by integer
 * arithmetic alone, so that slicing a program to a smaller size keeps the rest, and the
 * data are the same on every machine. Values lines override the recipe.
 *
 * Stored forms: f32 is 4 bytes, a float in ieee, a uint32_t ring word in ring; f64 is 8
 * bytes, a double, or a uint64_t whose low half is the word (the high half is 0, and is not
 * read); f16 and bf16 are 2 bytes, their bits, or the low half of the word. i32 is an int32_t
 * in both, bool one byte 0 or 1 in both. Multi-byte numbers are little-endian.
 */
#ifndef IR_DATA_H
#define IR_DATA_H

#include "ir/trial.h"

/* The byte that fills storage nobody may read or must overwrite: as f32 -4.2e37, as f64
 * -1.1e300, as bf16 -4.2e37, as f16 a NaN with a payload, as i32 -33686019, as bool neither 0
 * nor 1: values that no generated program gives by itself. */
enum { POISON_BYTE = 0xfd };

/* The ring word of a literal (ORACLE.md 7.1): integers embed mod 2^32, -inf is 0x80000000,
 * +inf 0x7fffffff, anything else an odd hash of its f32 bits. */
uint32_t ring_literal(double v);

/* Stores element `at` (row-major number in the logical shape) of input `node` at dst. */
void data_element(const struct trial *t, int node, int64_t at, enum algebra al, void *dst);

/* All elements of an input in row-major order of its logical shape, without gaps. */
void data_dense(const struct trial *t, int node, enum algebra al, void *dst);

/* A whole input into its storage: layout_storage() elements, gaps get POISON_BYTE. */
void data_fill(const struct trial *t, int node, enum algebra al, void *storage);

/* The same element as a number, as a values line would write it (ieee data). */
double data_number(const struct trial *t, int node, int64_t at);

#endif
