/*
 * Sizes as symbols. Axes that must have the same extent whatever it is (operands of an
 * elementwise op, both sides of a permute, m n k of a matmul) share a symbol. Slices, pads,
 * repeats, reshapes, concats and grouped heads tie different symbols together: changing one
 * asks others to follow.
 */
#ifndef FUZZ_MIN_SIZE_H
#define FUZZ_MIN_SIZE_H

#include "ir/trial.h"

struct sizes {
    const struct prog *p;
    int *sym; /* of axis a of node n: sym[n * MAX_RANK + a] */
    int n_sym;
    int64_t *extent; /* of a symbol, now */
    int64_t *to;     /* asked for, -1 = as it is */
};

static inline int64_t at_most(int64_t x, int64_t high)
{
    return x < high ? x : high;
}

void sizes_init(struct sizes *z, const struct prog *p, struct arena *a);
/* up[] says for each axis which other one it is joined to; the root is its own. */
void sizes_join(const struct prog *p, int *up);
int sizes_root(int *up, int axis);
int sizes_sym(const struct sizes *z, int node, int axis);
int64_t sizes_new(const struct sizes *z, int sym); /* extent after the change */
/* Asks for an extent; false if another one was asked for already. */
bool sizes_ask(struct sizes *z, int sym, int64_t extent);
/*
 * Lets slices, pads and reshapes follow, in one of CHOICES ways: whether a slice keeps what it
 * leaves out or what it takes, which symbol of a reshape takes a factor, which side of a pad
 * gets shorter and whether it may vanish; in the last way slices go down with the end of what
 * they cut. False = they can't.
 */
enum { CHOICES = 8 };
bool sizes_follow(struct sizes *z, int choice);
/* Writes the new extents into t (a copy of the program that z was made from): inputs, iotas,
 * targets of reshape and expand, slices, pads, values. */
bool sizes_apply(const struct sizes *z, struct trial *t, int choice, struct arena *a);

#endif
