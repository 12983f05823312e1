/* One kernel built by hand, of input x and output y, and its text run by tcc. */
#ifndef TESTS_BY_HAND_H
#define TESTS_BY_HAND_H

#include "reading.h"

#include <string.h>

#include "emit/emit.h"
#include "run/run.h"

struct fix {
    struct run_env env;
    struct arena a;
    struct trial *t;
    struct lprog l;
    int x, y, k, i; /* buffers, kernel, index of the loop opened last */
    struct str text;
    struct prepared p;
    struct outcome o;
};

static inline int setup(void **state)
{
    static struct fix f;

    arena_init(&f.a);
    *state = &f;
    return run_env_open(&f.env) ? 0 : 1;
}

static inline int teardown(void **state)
{
    struct fix *f = *state;

    run_env_close(&f->env);
    arena_release(&f->a);
    str_release(&f->text);
    return 0;
}

static inline struct trial *parse(struct fix *f, const char *text)
{
    arena_reset(&f->a);
    run_begin(&f->env);
    return read_good(text, &f->a);
}

static inline int buffer(struct lprog *l, int node, enum buffer_kind kind)
{
    const struct node *n = &l->prog->node[node];
    struct layout none = { 0 };

    return lprog_buffer(l, (struct buffer){ .name = n->name,
                                            .kind = kind,
                                            .dt = n->dt,
                                            .sh = n->sh,
                                            .layout = layout_of(&none, &n->sh),
                                            .elems = shape_count(&n->sh),
                                            .arena_at = -1,
                                            .node = node });
}

/* A trial of one input and one output, node 0 and node 1, and an empty kernel of node 1. */
static inline void by_hand(struct fix *f, const char *text)
{
    f->t = parse(f, text);
    f->l = (struct lprog){ .arena = &f->a, .trial = f->t, .prog = &f->t->prog };
    ixs_init(&f->l.ix, &f->a);
    f->x = buffer(&f->l, 0, BUF_INPUT);
    f->y = buffer(&f->l, 1, BUF_OUTPUT);
    f->k = lprog_kernel(&f->l, f->t->prog.node[1].name, 1);
}

static inline void push(struct fix *f, struct stmt s)
{
    kernel_push(&f->l, &f->l.kernel[f->k], s);
}

/* Opens a loop, gives its variable as an index. */
static inline int loop(struct fix *f, const char *name, int64_t extent, enum loop_kind kind)
{
    int v = lprog_var(&f->l, 1, name, extent, false);

    push(f, (struct stmt){ .kind = ST_LOOP, .loop = kind, .var = v });
    return f->i = ix_var(&f->l.ix, v);
}

static inline void end(struct fix *f)
{
    push(f, (struct stmt){ .kind = ST_END });
}

static inline int place(struct fix *f, int buf, int index)
{
    return lprog_place(&f->l, buf, index);
}

static inline int value_of(struct fix *f, int access)
{
    return lprog_load(&f->l, access);
}

static inline int load(struct fix *f, int buf, int index)
{
    return value_of(f, place(f, buf, index));
}

static inline void store(struct fix *f, int index, int val)
{
    push(f, (struct stmt){ .kind = ST_STORE, .val = val, .access = place(f, f->y, index) });
}

static inline const char *emitted(struct fix *f)
{
    str_clear(&f->text);
    emit_c(&f->l, &f->text);
    return str_get(&f->text);
}

static inline void prepare(struct fix *f)
{
    if (backend_find("tcc")->prepare(&f->env, &f->l, emitted(f), &f->p, &f->o))
        fail_msg("%s\n%s", f->o.detail, str_get(&f->text));
}

/* The output's storage. */
static inline const void *execute(struct fix *f, enum algebra al)
{
    backend_find("tcc")->run(&f->env, &f->p, al, &f->o);
    assert_int_equal(f->o.status, OUT_RAN);
    assert_false(f->o.input_changed);
    assert_false(f->o.margin_broken);
    return f->o.out[0];
}

static inline void done(struct fix *f)
{
    backend_find("tcc")->release(&f->p);
}

#endif
