#include "fuzz/explain/reads.h"

#include <string.h>

#include "lower/loop.h"

enum { DEPTH_MAX = 64, LEAVES_MAX = 1 << 16 };

/* Loads of statement `load` by the values of the loop variables that they share with
 * statement `store`: a store needs the loads that agree with it. */
struct stmt_pair {
    int store, load;
    int n, at_store[32], at_load[32]; /* places of the shared variables in both loop lists */
    int n_slot, *slot, *next;         /* hash table of records; next by record */
};

void side_init(struct side *s, const struct lprog *l, struct arena *a)
{
    *s = (struct side){ .l = l, .a = a };
    s->k = arena_array(a, struct ktrace, l->n_kernel + 1);
    s->loads = arena_array(a, bool, l->n_buffer + 1);
}

int buffer_find(const struct lprog *l, const struct buffer *b)
{
    for (int i = 0; i < l->n_buffer; i++)
        if (l->buffer[i].kind == b->kind && !strcmp(l->buffer[i].name, b->name))
            return i;
    return -1;
}

int buffer_writer(const struct lprog *l, int buffer)
{
    int found = -1;

    for (int k = 0; k < l->n_kernel; k++)
        for (int i = 0; i < l->kernel[k].n && !l->kernel[k].dead; i++) {
            const struct stmt *st = &l->kernel[k].st[i];

            if (stmt_writes(st) && l->access[st->access].buffer == buffer)
                found = k;
        }
    return found;
}

struct wanted_load {
    const struct lprog *l;
    int buffer, access;
};

static void note_load(void *ctx, int access)
{
    struct wanted_load *w = ctx;

    if (w->l->access[access].src == SRC_BUFFER && w->l->access[access].buffer == w->buffer)
        w->access = access;
}

int stmt_load_of(const struct lprog *l, const struct stmt *st, int buffer)
{
    struct wanted_load w = { l, buffer, -1 };

    stmt_loads(l, st, note_load, &w);
    return w.access;
}

int buffer_reader(const struct lprog *l, int buffer)
{
    for (int k = 0; k < l->n_kernel; k++)
        for (int i = 0; i < l->kernel[k].n && !l->kernel[k].dead; i++)
            if (stmt_load_of(l, &l->kernel[k].st[i], buffer) >= 0)
                return k;
    return -1;
}

static void index_stores(struct side *s, struct ktrace *k)
{
    int64_t elems = 0;

    if (k->buffer >= 0)
        elems = s->l->buffer[k->buffer].elems;
    k->first = arena_array(s->a, int, elems + 1);
    k->next = arena_array(s->a, int, k->tr.n + 1);
    for (int64_t e = 0; e < elems; e++)
        k->first[e] = -1;
    for (int i = k->tr.n - 1; i >= 0; i--) {
        const struct trace_rec *r = &k->tr.rec[i];

        if (!r->store || r->buffer != k->buffer)
            continue;
        k->next[i] = k->first[r->index];
        k->first[r->index] = i;
    }
}

/* Does anybody else see what is in it? Not of shared memory: when a kernel is written out for
 * a CPU, that is a temp that it alone writes and reads. */
static bool is_seen(const struct lprog *l, int kernel, int buffer)
{
    if (l->buffer[buffer].kind == BUF_OUTPUT)
        return true;
    for (int k = 0; k < l->n_kernel; k++)
        for (int i = 0; i < l->kernel[k].n && k != kernel && !l->kernel[k].dead; i++)
            if (stmt_load_of(l, &l->kernel[k].st[i], buffer) >= 0)
                return true;
    return false;
}

/* The buffer that the kernel stores to, from its statements: it may die before it stores. */
static int kernel_buffer(const struct lprog *l, int kernel)
{
    const struct kernel *k = &l->kernel[kernel];
    int first = -1;

    for (int i = 0; i < k->n; i++) {
        int buffer = stmt_writes(&k->st[i]) ? l->access[k->st[i].access].buffer : -1;

        if (buffer >= 0 && is_seen(l, kernel, buffer))
            return buffer;
        if (first < 0)
            first = buffer;
    }
    return first;
}

struct ktrace *side_kernel(struct side *s, int kernel)
{
    struct ktrace *k = &s->k[kernel];

    if (k->done)
        return k;
    interp_trace(s->l, kernel, &k->tr, s->a);
    s->truncated |= k->tr.truncated;
    k->buffer = kernel_buffer(s->l, kernel);
    k->loads = arena_array(s->a, bool, s->l->kernel[kernel].n + 1);
    for (int i = 0; i < k->tr.n; i++)
        k->loads[k->tr.rec[i].stmt] |= !k->tr.rec[i].store;
    k->behind = arena_array(s->a, bool *, s->l->kernel[kernel].n + 1);
    index_stores(s, k);
    flow_stores(s, k);
    k->done = true;
    return k;
}

static uint64_t mix(uint64_t h, int64_t v)
{
    return (h ^ (uint64_t)v) * 0x9e3779b97f4a7c15u + 1;
}

static int pair_slot(const struct stmt_pair *p, const struct loops *l, const int *at)
{
    uint64_t h = 0;

    for (int i = 0; i < p->n; i++)
        h = mix(h, l->at[at[i]]);
    return (int)((h >> 20) % (uint64_t)p->n_slot);
}

static void pair_build(struct side *s, const struct ktrace *k, struct stmt_pair *p,
                       const struct loops *store)
{
    const struct loops *load = NULL;
    int n = 0;

    for (int i = 0; i < k->tr.n; i++)
        if (!k->tr.rec[i].store && k->tr.rec[i].stmt == p->load) {
            load = &k->tr.rec[i].loops;
            n++;
        }
    for (int i = 0; i < store->n; i++)
        for (int j = 0; j < load->n && p->n < 32; j++)
            if (store->var[i] == load->var[j]) {
                p->at_store[p->n] = i;
                p->at_load[p->n++] = j;
            }
    p->n_slot = n + 1;
    p->slot = arena_array(s->a, int, p->n_slot);
    p->next = arena_array(s->a, int, k->tr.n + 1);
    memset(p->slot, -1, (size_t)p->n_slot * sizeof *p->slot);
    for (int i = k->tr.n - 1; i >= 0; i--) {
        const struct trace_rec *r = &k->tr.rec[i];
        int at;

        if (r->store || r->stmt != p->load)
            continue;
        at = pair_slot(p, &r->loops, p->at_load);
        p->next[i] = p->slot[at];
        p->slot[at] = i;
    }
}

static struct stmt_pair *pair_get(struct side *s, struct ktrace *k,
                                  const struct trace_rec *store, int load)
{
    struct stmt_pair *p;

    for (int i = 0; i < k->n_pair; i++)
        if (k->pair[i].store == store->stmt && k->pair[i].load == load)
            return &k->pair[i];
    p = arena_push(s->a, k->pair, k->n_pair, k->cap_pair);
    *p = (struct stmt_pair){ .store = store->stmt, .load = load };
    pair_build(s, k, p, &store->loops);
    return p;
}

static bool agree(const struct stmt_pair *p, const struct trace_rec *store,
                  const struct trace_rec *load)
{
    for (int i = 0; i < p->n; i++)
        if (store->loops.at[p->at_store[i]] != load->loops.at[p->at_load[i]])
            return false;
    return true;
}

static void collect(struct side *s, int kernel, int64_t element, const struct trace_rec *root,
                    int depth, struct leaves *out);
static void collect_store(struct side *s, int kernel, int at, const struct trace_rec *root,
                          int depth, struct leaves *out);

struct body {
    const struct trace_rec *r;
    struct leaves *out;
};

static void drop_access(void *ctx, int access)
{
    struct body *body = ctx;
    int n = 0;

    for (int i = 0; i < body->out->n; i++) {
        const struct leaf *f = &body->out->v[i];

        if (f->rec->loops.at != body->r->loops.at || f->rec->access != access)
            body->out->v[n++] = *f;
    }
    body->out->n = n;
}

/* What a body read does not count where its guard failed and the fill took its place. */
static void drop_body(struct side *s, int body, const struct trace_rec *r, struct leaves *out)
{
    struct body ctx = { r, out };

    value_accesses(s->l, body, drop_access, &ctx);
}

static void add_leaf(struct side *s, int kernel, const struct trace_rec *r,
                     const struct trace_rec *root, int depth, struct leaves *out)
{
    const struct lprog *l = s->l;
    const struct access *ac = &l->access[r->access];
    const struct buffer *b = r->buffer >= 0 ? &l->buffer[r->buffer] : NULL;
    int writer, from = s->k[kernel].from[r - s->k[kernel].tr.rec];

    if (ac->src == SRC_BODY && r->guarded)
        drop_body(s, ac->body, r, out);
    else if (!b && ac->src != SRC_IOTA)
        return;
    if (b && r->buffer == s->k[kernel].buffer)
        return;
    if (from >= 0 && depth < DEPTH_MAX) { /* through shared memory */
        collect_store(s, kernel, from, root, depth + 1, out);
        return;
    }
    writer = b && !r->guarded ? buffer_writer(l, r->buffer) : -1;
    if (writer >= 0 && depth < DEPTH_MAX && s->other) {
        int there = buffer_find(s->other->l, b);

        if (there < 0 || !s->other->loads[there]) {
            collect(s, writer, r->index, root, depth + 1, out);
            return;
        }
    }
    if (out->n < LEAVES_MAX)
        *arena_push(s->a, out->v, out->n, out->cap) =
            (struct leaf){ b, r->index, r->guarded, kernel, r, root };
}

/* The loads behind one store, in order; what came after it is behind another one. */
static void collect_store(struct side *s, int kernel, int at, const struct trace_rec *root,
                          int depth, struct leaves *out)
{
    struct ktrace *k = side_kernel(s, kernel);
    const struct trace_rec *store = &k->tr.rec[at];
    const bool *behind = flow_behind(s, kernel, store->stmt);

    for (int st = 0; st < s->l->kernel[kernel].n; st++) {
        struct stmt_pair *p;

        if (!k->loads[st] || !behind[st])
            continue;
        p = pair_get(s, k, store, st);
        for (int i = p->slot[pair_slot(p, &store->loops, p->at_store)]; i >= 0; i = p->next[i])
            if (i < at && agree(p, store, &k->tr.rec[i]))
                add_leaf(s, kernel, &k->tr.rec[i], root ? root : &k->tr.rec[i], depth, out);
    }
}

static void collect(struct side *s, int kernel, int64_t element, const struct trace_rec *root,
                    int depth, struct leaves *out)
{
    struct ktrace *k = side_kernel(s, kernel);

    if (k->buffer < 0 || element < 0 || element >= s->l->buffer[k->buffer].elems)
        return;
    for (int at = k->first[element]; at >= 0; at = k->next[at])
        collect_store(s, kernel, at, root, depth, out);
}

void side_leaves(struct side *s, int kernel, int64_t element, struct leaves *out)
{
    out->n = 0;
    collect(s, kernel, element, NULL, 0, out);
}

void side_note_loads(struct side *s, int kernel)
{
    const struct ktrace *k = side_kernel(s, kernel);

    for (int i = 0; i < k->tr.n; i++)
        if (!k->tr.rec[i].store && k->tr.rec[i].buffer >= 0)
            s->loads[k->tr.rec[i].buffer] = true;
}
