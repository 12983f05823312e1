/*
 * What the passes share that put things into shared memory: tiles, loops that all threads of
 * a block walk together, and the operands that pass stage has copied.
 *
 * A tile is the part of a tensor that a block looks at in one step: its elements are numbered
 * by the values of the tile's variables (threads and serial loops), the largest step in
 * memory first. In shared memory element e lies at e; rows are what is dense in memory too.
 */
#ifndef LOWER_STAGE_H
#define LOWER_STAGE_H

#include "lower/nest.h"

enum { MAX_TILE = 32, MAX_SMEM = 48 * 1024, WIDEST = 16 /* bytes of one access */ };

struct tile {
    int n;
    int var[MAX_TILE];
    int64_t extent[MAX_TILE], coef[MAX_TILE]; /* coef: step in the index it was ordered by */
    int64_t elems;                            /* the product of the extents */
    int64_t row; /* so many elements, from a multiple of it on, are as dense as the last two */
};

bool tile_add(const struct lprog *l, struct tile *t, int var); /* false = it is full */
/* Orders the variables by the index, and finds row. */
void tile_order(struct lprog *l, struct tile *t, int index);
/* The number of the element that the variables stand for. */
int tile_linear(struct lprog *l, const struct tile *t);
/* to[var] = the variable's value in element number e */
void tile_digits(struct lprog *l, const struct tile *t, int e, int *to);

/* A loop in which the threads of kernel k take n elements, one each at a time. Pushes it and,
 * if threads have to be kept out at its end, an IF; returns the element as an expression.
 * Closed by walk_end. */
struct walk {
    int var, ends;
};
int walk_begin(struct lprog *l, struct kernel *list, const struct kernel *k, const char *name,
               int64_t n, struct walk *w);
/* The same over a variable that there is already, whose extent it sets. */
int walk_over(struct lprog *l, struct kernel *list, const struct kernel *k, int var, int64_t n,
              struct walk *w);
void walk_end(struct lprog *l, struct kernel *list, const struct walk *w);
/* The element that a thread takes in step `var` of such a loop. */
int walk_element(struct lprog *l, const struct kernel *k, int var);

/* A stage that exists: step `stage` number `step` has made its buffer. */
struct staged {
    const struct step *st;
    int step, kernel, buffer;
    int var; /* of the loop that it is copied in */
};
bool staged_find(const struct lprog *l, int step, struct staged *s);
bool is_staged(const struct lprog *l, int buffer); /* made by pass stage? */
/* Lanes of its copies. */
int64_t staged_lanes(const struct lprog *l, const struct staged *s);
/* Is statement at the loop of a copy, nothing else inside? Its buffer, or -1. */
int copy_loop(const struct lprog *l, const struct kernel *k, int at);
/* Statement number of the body's loop over var, with no IF round it; -1 = none. */
int body_loop(const struct kernel *k, int var);

/* Bytes of the kernel's shared buffers once all their stages are there; those that lie over
 * others not counted. */
int64_t smem_wanted(const struct lprog *l, int kernel);

/* A buffer of a kernel's blocks: rows of `row` elements. Its name is made unique. */
int shared_buffer(struct lprog *l, int kernel, const char *suffix, enum dtype dt, int64_t elems,
                  int64_t row);

/* val with each access a replaced by f(ctx, a), those of bodies included. */
int value_map(struct lprog *l, int val, int (*f)(void *ctx, int access), void *ctx);
/* The same element, guards and fills? Both composed. */
bool access_equal(const struct lprog *l, int a, int b);
/* access with one more guard, tested before the others: 0 is read where cond fails */
int access_guard(struct lprog *l, int access, int cond);

/* The users of an access inside loop `at` of a bound kernel's body, and the conditions that a
 * copy of it at the loop's start has to obey. */
enum { MAX_GUARDS = 32 };
struct users {
    int kernel, at, access;
    bool *uniform; /* variables of blocks and of loops round the copy, the loop's own too */
    bool *used;    /* variables of the access */
    int guard[MAX_GUARDS];
    int n_guard;
};
void users_init(struct lprog *l, struct users *u, int kernel, int at, int access);
/* Finds the guards; NULL, or why no copy can stand for the users. */
const char *users_guards(struct lprog *l, struct users *u);
/* Has it a value, and is it no copy into shared memory? */
bool stage_may_use(const struct lprog *l, const struct stmt *s);

/* e = constant + the sum of coef[v] * v over all variables? */
bool index_affine(const struct lprog *l, int e, int64_t *coef, int64_t *constant);
/* used[v] = true for the variables of e */
void index_vars(const struct ixs *s, int e, bool *used);
/* Conjuncts of a condition, at most max; returns how many there are. */
int conjuncts(const struct ixs *s, int cond, int *out, int max);

/*
 * May w elements of a tile that follow each other be copied as one? They must follow each
 * other in the source, from a multiple of w on, and no guard may tell them apart.
 */
bool wide_fits(struct lprog *l, const struct tile *t, int access, int64_t w);

#endif
