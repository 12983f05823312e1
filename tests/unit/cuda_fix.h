/* Bound kernels built by hand, and their text under a prelude: for tests of emit_cuda. */
#ifndef TESTS_CUDA_FIX_H
#define TESTS_CUDA_FIX_H

#include "reading.h"

#include "emit/emit.h"
#include "lower/lower.h"

struct fix {
    struct arena a;
    struct trial *t;
    struct lprog *l;
    struct kernel *k;
    struct emit_sites sites;
    struct str text;
};

static inline int setup(void **state)
{
    static struct fix f;

    arena_init(&f.a);
    *state = &f;
    return 0;
}

static inline int teardown(void **state)
{
    struct fix *f = *state;

    arena_release(&f->a);
    str_release(&f->text);
    return 0;
}

static inline struct trial *fix_parse(struct fix *f, const char *text)
{
    arena_reset(&f->a);
    f->sites = (struct emit_sites){ 0 };
    return f->t = read_good(text, &f->a);
}

/* The text of the kernels. */
static inline const char *fix_emit(struct fix *f)
{
    str_clear(&f->text);
    emit_cuda(f->l, &f->text, &f->sites);
    return str_get(&f->text);
}

static inline const char *fix_lower(struct fix *f, const char *trial)
{
    struct lower_opts o = LOWER_OPTS_DEFAULT;
    struct err e = { 0 };

    o.target = TARGET_GPU;
    if (lower(fix_parse(f, trial), &o, &f->a, &f->l, &e))
        fail_msg("%s\n%s", e.msg, e.excerpt);
    return fix_emit(f);
}

/* Both algebras of f->text, one after the other. */
static inline void fix_program(const struct fix *f, enum cuda_host host, struct str *s)
{
    const char *text = str_get(&f->text);

    if (host != CUDA_DEVICE) {
#define HOOK(type, name, args) str_puts(s, #type " " #name #args ";\n");
#include "run/simt/hooks.def"
#undef HOOK
    }
    for (int al = 0; al < AL_COUNT; al++) {
        if (al)
            emit_cuda_prelude_end(host, text, s);
        emit_cuda_prelude((enum algebra)al, host, text, s);
        str_puts(s, text);
    }
}

static inline int fix_buffer(struct fix *f, int node, enum buffer_kind kind)
{
    const struct node *n = &f->t->prog.node[node];
    struct layout none = { 0 };

    return lprog_buffer(f->l, (struct buffer){ .name = n->name,
                                               .kind = kind,
                                               .dt = n->dt,
                                               .sh = n->sh,
                                               .layout = layout_of(&none, &n->sh),
                                               .elems = shape_count(&n->sh),
                                               .arena_at = -1,
                                               .smem_at = -1,
                                               .node = node });
}

static inline int fix_shared(struct fix *f, const char *name, enum dtype dt, int64_t elems,
                             int64_t at)
{
    return lprog_buffer(f->l, (struct buffer){ .name = name,
                                               .kind = BUF_SHARED,
                                               .dt = dt,
                                               .elems = elems,
                                               .arena_at = -1,
                                               .smem_at = at,
                                               .node = -1 });
}

/* Buffer i is that of node i: inputs, the last one the output; one kernel, of that node. */
static inline void fix_by_hand(struct fix *f, const char *trial)
{
    int last = fix_parse(f, trial)->prog.n - 1;

    f->l = arena_new(&f->a, struct lprog);
    *f->l = (struct lprog){
        .arena = &f->a, .target = TARGET_GPU, .trial = f->t, .prog = &f->t->prog
    };
    ixs_init(&f->l->ix, &f->a);
    for (int i = 0; i <= last; i++)
        fix_buffer(f, i, i == last ? BUF_OUTPUT : BUF_INPUT);
    lprog_kernel(f->l, f->t->prog.node[last].name, last);
    f->k = f->l->kernel;
}

static inline void fix_push(struct fix *f, struct stmt s)
{
    kernel_push(f->l, f->k, s);
}

/* Opens a loop, gives its variable as an index. */
static inline int fix_loop(struct fix *f, const char *name, int64_t extent, enum loop_kind kind)
{
    int v = lprog_var(f->l, f->k->node, name, extent, false);

    fix_push(f, (struct stmt){ .kind = ST_LOOP, .loop = kind, .var = v });
    return ix_var(&f->l->ix, v);
}

static inline void fix_end(struct fix *f, int n)
{
    while (n-- > 0)
        fix_push(f, (struct stmt){ .kind = ST_END });
}

/* a * x + b * y + c */
static inline int fix_sum(struct fix *f, int64_t a, int x, int64_t b, int y, int64_t c)
{
    struct ixs *s = &f->l->ix;

    return ix_add(s, ix_add(s, ix_scale(s, x, a), ix_scale(s, y, b)), ix_const(s, c));
}

static inline int fix_place(struct fix *f, int buf, int index)
{
    return lprog_place(f->l, buf, index);
}

static inline int fix_value(struct fix *f, int access)
{
    return lprog_load(f->l, access);
}

static inline int fix_load(struct fix *f, int buf, int index)
{
    return fix_value(f, fix_place(f, buf, index));
}

/* A load that gives fill unless index < bound. */
static inline int fix_guarded(struct fix *f, int buf, int index, int64_t bound, double fill)
{
    int access = fix_place(f, buf, index);
    struct guard *g = arena_new(&f->a, struct guard);

    g->cond = ix_lt(&f->l->ix, index, ix_const(&f->l->ix, bound));
    g->fill = fill;
    f->l->access[access].n_guard = 1;
    f->l->access[access].guard = g;
    return fix_value(f, access);
}

/* STORE, ASYNC, ATOMIC, ACQUIRE or RELEASE of val at buf[index] */
static inline void fix_write(struct fix *f, enum stmt_kind kind, int buf, int index, int val)
{
    fix_push(f, (struct stmt){ .kind = kind, .access = fix_place(f, buf, index), .val = val });
}

static inline void fix_sync(struct fix *f, enum stmt_kind kind, int64_t n)
{
    fix_push(f, (struct stmt){ .kind = kind, .n = n });
}

/*
 * Thread 4g + t of a warp, z = x y by one product of 16x8x16: what a tile lowers to, but for
 * the stages.
 */
static inline void fix_mma(struct fix *f, const char *dtype)
{
    const char *trial = arena_printf(&f->a,
                                     "tilefuzz 1\ninput x %s [16,16]\ninput y %s [16,8]\n"
                                     "z = matmul x y\nw = cast z f32\noutput w\n",
                                     dtype, dtype);
    int g, t, h, p, kk, acc, val;
    struct str copy = { 0 };

    str_puts(&copy, trial);
    fix_by_hand(f, str_get(&copy));
    str_release(&copy);
    g = fix_loop(f, "g", 8, LOOP_THREAD);
    t = fix_loop(f, "t", 4, LOOP_THREAD);
    acc = lprog_acc(f->l, (struct acc){ DT_F32, OP_SUM, OP_SUM, 4, "w" });
    fix_push(f, (struct stmt){ .kind = ST_DECL, .acc = acc });
    h = fix_loop(f, "h", 2, LOOP_MMA);
    p = fix_loop(f, "p", 2, LOOP_SERIAL);
    kk = fix_loop(f, "kk", 16, LOOP_SERIAL);
    val = lprog_op1(f->l, OP_CAST, DT_F32,
                    fix_load(f, 0, fix_sum(f, 16, fix_sum(f, 8, h, 1, g, 0), 1, kk, 0)));
    val = lprog_op2(
        f->l, OP_MUL, DT_F32, val,
        lprog_op1(f->l, OP_CAST, DT_F32,
                  fix_load(f, 1, fix_sum(f, 8, kk, 1, fix_sum(f, 2, t, 1, p, 0), 0))));
    fix_push(f, (struct stmt){ .kind = ST_UPDATE,
                               .acc = acc,
                               .acc_at = fix_sum(f, 2, h, 1, p, 0),
                               .val = val });
    fix_end(f, 3);
    h = fix_loop(f, "h2", 2, LOOP_SERIAL);
    p = fix_loop(f, "p2", 2, LOOP_SERIAL);
    val = lprog_acc_load(f->l, acc, fix_sum(f, 2, h, 1, p, 0));
    fix_write(f, ST_STORE, 3,
              fix_sum(f, 8, fix_sum(f, 8, h, 1, g, 0), 1, fix_sum(f, 2, t, 1, p, 0), 0), val);
    fix_end(f, 4);
}

#endif
