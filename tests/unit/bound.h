/* Hand-built bound kernels: x and y are inputs of 64 f32, 0 1 2 .. and 100 101 ..; z is the
 * output, 64 as well. The kernel in work is the last one. */
#ifndef TESTS_BOUND_H
#define TESTS_BOUND_H

#include "interp_fix.h"

#include "lower/nest.h"

enum { X, Y, Z, N = 64 };

static inline void values_of(struct str *s, const char *name, int from)
{
    str_add(s, "values %s [", name);
    for (int i = 0; i < N; i++)
        str_add(s, "%s%d", i ? "," : "", from + i);
    str_puts(s, "]\n");
}

static inline int add_buffer(struct fix *f, enum buffer_kind kind, enum dtype dt,
                             const char *name, int64_t elems, int node, int slot)
{
    struct shape sh = { .rank = 1, .dim = { elems } };

    return lprog_buffer(&f->l,
                        (struct buffer){ .name = name,
                                         .kind = kind,
                                         .slot = slot,
                                         .dt = dt,
                                         .sh = sh,
                                         .layout = layout_of(&(struct layout){ 0 }, &sh),
                                         .elems = elems,
                                         .arena_at = -1,
                                         .smem_at = -1,
                                         .kernel = kind == BUF_SHARED ? f->l.n_kernel - 1 : -1,
                                         .node = node });
}

/* An empty program of buffers x, y, z and kernel z. */
static inline void hand(struct fix *f)
{
    struct str s = { 0 };
    arena_reset(&f->a);
    str_puts(&s, "tilefuzz 1\ninput x f32 [64]\ninput y f32 [64]\nz = add x y\noutput z\n"
                 "schedule\ndata seed=1 recipe=ints\n");
    values_of(&s, "x", 0);
    values_of(&s, "y", 100);
    start(f, read_good(str_get(&s), &f->a));
    str_release(&s);
    add_buffer(f, BUF_INPUT, DT_F32, "x", N, X, 0);
    add_buffer(f, BUF_INPUT, DT_F32, "y", N, Y, 1);
    add_buffer(f, BUF_OUTPUT, DT_F32, "z", N, Z, 0);
    lprog_kernel(&f->l, "z", Z);
}

static inline struct kernel *now(struct fix *f)
{
    return &f->l.kernel[f->l.n_kernel - 1];
}

/* Opens a loop; its variable as an expression. */
static inline int open_loop(struct fix *f, enum loop_kind kind, const char *name, int64_t n)
{
    int var = lprog_var(&f->l, -1, name, n, false);

    push_loop(&f->l, now(f), var, kind);
    return ix_var(&f->l.ix, var);
}

static inline void ends(struct fix *f, int n)
{
    push_end(&f->l, now(f), n);
}

/* a * c + b */
static inline int mad(struct fix *f, int a, int64_t c, int b)
{
    return ix_add(&f->l.ix, ix_scale(&f->l.ix, a, c), b);
}

/* c - a */
static inline int from(struct fix *f, int64_t c, int a)
{
    return mad(f, a, -1, ix_const(&f->l.ix, c));
}

static inline int below(struct fix *f, int a, int64_t c)
{
    return ix_lt(&f->l.ix, a, ix_const(&f->l.ix, c));
}

static inline int at(struct fix *f, int buffer, int index)
{
    return lprog_place(&f->l, buffer, index);
}

static inline int load(struct fix *f, int buffer, int index)
{
    return lprog_load(&f->l, at(f, buffer, index));
}

/* cond ? buffer[index] : fill */
static inline int load_if(struct fix *f, int cond, int buffer, int index, double fill)
{
    int val = load(f, buffer, index), access = f->l.value[val].arg[0];
    struct guard *g = arena_new(&f->a, struct guard);

    *g = (struct guard){ cond, fill };
    f->l.access[access].guard = g;
    f->l.access[access].n_guard = 1;
    return val;
}

static inline void store(struct fix *f, enum stmt_kind kind, int buffer, int index, int val)
{
    kernel_push(&f->l, now(f),
                (struct stmt){ .kind = kind, .access = at(f, buffer, index), .val = val });
}

static inline void sync(struct fix *f, enum stmt_kind kind, int64_t n)
{
    kernel_push(&f->l, now(f), (struct stmt){ .kind = kind, .n = n });
}

/* A declared accumulator that sums. */
static inline int decl(struct fix *f, int64_t elems)
{
    int acc = lprog_acc(
        &f->l,
        (struct acc){
            .dt = DT_F32, .op = OP_SUM, .identity = OP_SUM, .elems = elems, .name = "z" });

    kernel_push(&f->l, now(f), (struct stmt){ .kind = ST_DECL, .acc = acc, .acc_at = -1 });
    return acc;
}

static inline void accumulate(struct fix *f, enum stmt_kind kind, int acc, int index, int val)
{
    kernel_push(&f->l, now(f),
                (struct stmt){ .kind = kind, .acc = acc, .acc_at = index, .val = val });
}

static inline int acc_of(struct fix *f, int acc, int index)
{
    return lprog_acc_load(&f->l, acc, index);
}

static inline int shuffled(struct fix *f, int acc, int index, int mask)
{
    return lprog_value(
        &f->l,
        (struct value){ .kind = V_SHFL, .dt = f->l.acc[acc].dt, .arg = { acc, index, mask } });
}

#endif
