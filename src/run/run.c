/*
 * The memory of a run: every buffer of the loop IR gets a slot of the slab, inputs are
 * copied from a pristine set, everything else holds poison.
 */
#include "run/run.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "ir/data.h"

/* What nearly every trial fits into; larger ones get a slab of their own. */
enum { SLOTS = 64, SLOT_BYTES = 1 << 20 };

/* interp: MAX_WORK of one trial takes about this many steps of the innermost loops */
static const int64_t step_limit = (int64_t)1 << 31;

/* A compiler state is a few hundred KB that come and go with every trial: by default malloc
 * gives them back to the system each time, and the page faults cost 65 us a trial. */
static void keep_heap(void)
{
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
    mallopt(M_MMAP_THRESHOLD, 16 << 20);
}

bool run_env_open(struct run_env *env)
{
    keep_heap();
    *env = (struct run_env){ .step_limit = step_limit };
    arena_init(&env->arena);
    return slab_open(&env->slab, SLOTS, SLOT_BYTES);
}

void run_env_close(struct run_env *env)
{
    slab_close(&env->slab);
    arena_release(&env->arena);
    for (int al = 0; al < AL_COUNT; al++)
        free(env->pristine.data[al]);
    *env = (struct run_env){ 0 };
}

static bool slab_reopen(struct slab *s, int n_slot, size_t slot_bytes)
{
    slab_close(s);
    return slab_open(s, n_slot, slot_bytes);
}

void run_begin(struct run_env *env)
{
    arena_reset(&env->arena);
    env->turn = 0;
    env->pristine.trial = NULL;
    if (env->slab.slot_bytes != SLOT_BYTES || env->slab.n_slot != SLOTS)
        if (!slab_reopen(&env->slab, SLOTS, SLOT_BYTES))
            BUG("the slab can't be mapped again");
}

static size_t storage_bytes(const struct layout *l, const struct shape *sh, enum dtype dt)
{
    return (size_t)layout_storage(l, sh) * (size_t)dtype_info(dt)->bytes;
}

/* The caller's buffers are as large as the program says, whatever lowering made of them. */
static size_t bytes_of(const struct lprog *l, const struct buffer *b)
{
    const struct output *out = &l->prog->out[b->slot];
    const struct node *n = b->node >= 0 ? &l->prog->node[b->node] : NULL;

    switch (b->kind) {
    case BUF_INPUT:
        return storage_bytes(&n->layout, &n->sh, n->dt);
    case BUF_OUTPUT:
        return storage_bytes(&out->layout, &n->sh, n->dt);
    case BUF_TEMP:
        return (size_t)buffer_bytes(b);
    case BUF_SHARED: /* each block has its own: the SIMT machine's business */
        return 0;
    }
    return 0;
}

/* Where input `node` lies in the pristine set; all inputs' bytes if node is the number of
 * nodes. */
static size_t pristine_at(const struct prog *p, int node)
{
    size_t at = 0;

    for (int i = 0; i < node; i++)
        if (p->node[i].op == OP_INPUT)
            at += (storage_bytes(&p->node[i].layout, &p->node[i].sh, p->node[i].dt) + 15) &
                  ~(size_t)15;
    return at;
}

static bool pristine_fill(struct pristine *x, const struct trial *t, enum algebra al)
{
    const struct prog *p = &t->prog;
    size_t bytes = pristine_at(p, p->n) + 1;

    if (x->trial != t) {
        x->trial = t;
        memset(x->filled, 0, sizeof x->filled);
    }
    if (x->filled[al])
        return true;
    if (x->cap[al] < bytes) {
        free(x->data[al]);
        x->data[al] = malloc(bytes);
        x->cap[al] = x->data[al] ? bytes : 0;
        if (!x->data[al])
            return false;
    }
    for (int i = 0; i < p->n; i++)
        if (p->node[i].op == OP_INPUT)
            data_fill(t, i, al, x->data[al] + pristine_at(p, i));
    x->filled[al] = true;
    return true;
}

/* A slab that has a slot for everything, at least as large as the default one. */
static bool slab_fit(struct run_env *env, const struct lprog *l)
{
    size_t most = slab_room((size_t)l->arena_bytes), slot = SLOT_BYTES;
    int n = l->n_buffer + 1;

    for (int i = 0; i < l->n_buffer; i++) {
        size_t bytes = slab_room(bytes_of(l, &l->buffer[i]));

        if (most < bytes)
            most = bytes;
    }
    if (most <= env->slab.slot_bytes && n <= env->slab.n_slot)
        return true;
    while (slot < most)
        slot *= 2;
    if (slab_reopen(&env->slab, n < SLOTS ? SLOTS : n, slot) ||
        slab_reopen(&env->slab, n, slot))
        return true;
    if (!slab_reopen(&env->slab, SLOTS, SLOT_BYTES))
        BUG("the slab can't be mapped again");
    return false;
}

/* Sides go by the number of the run, so that an access beyond one end of a buffer meets the
 * guard page in one run or the next. */
static bool take_all(struct run_env *env, const struct lprog *l, enum algebra al)
{
    int turn = env->turn++;

    slab_reset(&env->slab);
    if (!slab_take(&env->slab, (size_t)l->arena_bytes, 16, turn & 1, &env->temps))
        return false;
    for (int i = 0; i < l->n_buffer; i++) {
        const struct buffer *b = &l->buffer[i];

        if (buffer_planned(b)) {
            env->buf[i] = env->temps;
            continue;
        }
        if (!slab_take(&env->slab, bytes_of(l, b), (size_t)dtype_info(b->dt)->bytes,
                       (turn + i + 1) & 1, &env->buf[i]))
            return false;
        if (b->kind == BUF_INPUT)
            memcpy(env->buf[i].p, env->pristine.data[al] + pristine_at(l->prog, b->node),
                   env->buf[i].bytes);
    }
    return true;
}

int run_place(struct run_env *env, const struct lprog *l, enum algebra al, struct err *e)
{
    if (l->n_buffer >= RUN_MAX_BUFFERS)
        return err_set(e, ERR_UNSUPPORTED, "%d buffers; at most %d are taken", l->n_buffer,
                       RUN_MAX_BUFFERS - 1);
    if (!slab_fit(env, l) || !pristine_fill(&env->pristine, l->trial, al) ||
        !take_all(env, l, al))
        return err_set(e, ERR_UNSUPPORTED, "no memory for the buffers of this trial");
    return 0;
}

void outcome_say(struct outcome *o, enum outcome_status status, const char *text)
{
    o->status = status;
    snprintf(o->detail, sizeof o->detail, "%.*s", (int)sizeof o->detail - 1, text);
}

bool run_placed(struct run_env *env, const struct lprog *l, enum algebra al, struct outcome *o)
{
    struct err e = { 0 };

    *o = (struct outcome){ .algebra = al };
    if (run_place(env, l, al, &e))
        outcome_say(o, OUT_UNSUPPORTED, e.msg);
    return !e.code;
}

static void check_buffer(const struct run_env *env, const struct lprog *l, int i,
                         enum algebra al, struct outcome *o)
{
    const struct buffer *b = &l->buffer[i];
    const struct slab_buf *s = &env->buf[i];
    bool changed =
        b->kind == BUF_INPUT &&
        memcmp(s->p, env->pristine.data[al] + pristine_at(l->prog, b->node), s->bytes) != 0;
    bool broken = !slab_margins_ok(s);

    if ((changed || broken) && !o->input_changed && !o->margin_broken)
        snprintf(o->where, sizeof o->where, "%s", buffer_planned(b) ? "the arena" : b->name);
    o->input_changed |= changed;
    o->margin_broken |= broken;
}

void run_collect(struct run_env *env, const struct lprog *l, enum algebra al, struct outcome *o)
{
    o->status = OUT_RAN;
    o->algebra = al;
    o->n_out = l->prog->n_out;
    o->out = env->out;
    o->input_changed = o->margin_broken = false;
    o->where[0] = '\0';
    for (int i = 0; i < l->n_buffer; i++) {
        if (l->buffer[i].kind == BUF_OUTPUT)
            env->out[l->buffer[i].slot] = env->buf[i].p;
        check_buffer(env, l, i, al, o);
    }
}

void run_compiled(struct run_env *env, const struct lprog *l, void (*entry)(void *const *p),
                  enum algebra al, struct outcome *o)
{
    void *mem[RUN_MAX_BUFFERS + 1];

    if (!run_placed(env, l, al, o))
        return;
    for (int i = 0; i < l->n_buffer; i++)
        mem[i] = env->buf[i].p;
    mem[l->n_buffer] = env->temps.p;
    entry(mem);
    run_collect(env, l, al, o);
}
