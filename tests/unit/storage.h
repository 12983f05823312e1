/* Kernels of one cast or op on raw storage: y[i] = f(x[i]), for tests of what tcc makes of it.
 */
#ifndef TESTS_STORAGE_H
#define TESTS_STORAGE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "ir/half.h"

#include "by_hand.h"

/* x of n elements of `from`, y of as many of `to`, and a loop of n turns, open; n = 0: of 4,
 * in lanes. */
static inline void begin(struct fix *f, enum dtype from, enum dtype to, int n)
{
    char text[200];

    snprintf(text, sizeof text,
             "tilefuzz 1\ninput x %s [%d]\ny = cast x %s\noutput y\nschedule\n"
             "data seed=1 recipe=normal\n",
             dtype_info(from)->name, n ? n : 4, dtype_info(to)->name);
    by_hand(f, text);
    loop(f, "y.i0", n ? n : 4, n ? LOOP_SERIAL : LOOP_LANES);
}

static inline int x_at_i(struct fix *f)
{
    return load(f, f->x, f->i);
}

static inline int lit(struct fix *f, enum dtype dt, double v)
{
    return lprog_lit(&f->l, dt, v);
}

static inline int op1(struct fix *f, enum op op, enum dtype dt, int a)
{
    return lprog_op1(&f->l, op, dt, a);
}

static inline int op2(struct fix *f, enum op op, enum dtype dt, int a, int b)
{
    return lprog_op2(&f->l, op, dt, a, b);
}

/* y[i] = val, the end of the loop, and the build. */
static inline void build(struct fix *f, int val)
{
    store(f, f->i, val);
    end(f);
    prepare(f);
}

/* Runs with `raw` as the storage of x; the storage of y. */
static inline const void *run(struct fix *f, enum algebra al, const void *raw)
{
    const struct node *x = &f->t->prog.node[0];
    size_t bytes = (size_t)shape_count(&x->sh) * (size_t)dtype_info(x->dt)->bytes;
    struct pristine *in = &f->env.pristine;

    in->trial = f->t;
    in->filled[al] = true;
    in->data[al] = realloc(in->data[al], bytes);
    in->cap[al] = bytes;
    memcpy(in->data[al], raw, bytes);
    return execute(f, al);
}

/* A number as the bits that lie in memory, and back. */
static inline uint64_t bits_of(enum dtype dt, double v)
{
    float s = (float)v;
    uint32_t u;
    uint64_t w;

    switch (dt) {
    case DT_F16:
    case DT_BF16:
        return half_of(dt, v);
    case DT_F32:
        memcpy(&u, &s, 4);
        return u;
    case DT_F64:
        memcpy(&w, &v, 8);
        return w;
    case DT_I32:
        return (uint32_t)(int32_t)v;
    case DT_BOOL:
    case DT_COUNT:
        break;
    }
    return v != 0;
}

static inline double number_of(enum dtype dt, uint64_t w)
{
    uint32_t u = (uint32_t)w;
    float s;
    double v;

    switch (dt) {
    case DT_F16:
    case DT_BF16:
        return half_value(dt, (uint16_t)w);
    case DT_F32:
        memcpy(&s, &u, 4);
        return (double)s;
    case DT_F64:
        memcpy(&v, &w, 8);
        return v;
    case DT_I32:
        return (int32_t)u;
    case DT_BOOL:
    case DT_COUNT:
        break;
    }
    return w != 0;
}

static inline uint64_t get(enum dtype dt, const void *from, int i)
{
    int bytes = dtype_info(dt)->bytes;
    uint64_t w = 0;

    memcpy(&w, (const char *)from + i * bytes, (size_t)bytes);
    return w;
}

static inline void put(enum dtype dt, void *to, int i, uint64_t w)
{
    int bytes = dtype_info(dt)->bytes;

    memcpy((char *)to + i * bytes, &w, (size_t)bytes);
}

static inline bool same(enum dtype dt, uint64_t got, uint64_t want)
{
    return got == want || (isnan(number_of(dt, got)) && isnan(number_of(dt, want)));
}

#endif
