/*
 * For plug-ins of libraries whose calls are single ops: takes a program apart into calls.
 *
 * walk_prepare plans one step per live node. Permute, expand, slice and reshapes of dense
 * tensors only change strides: the library sees them as layouts. Other views, literals, iota
 * and constants are written by plain loops here; every other op is a call of the library,
 * made ready by `make` and done by `call`. The results in between lie in memory of their
 * own, in layouts drawn from the text of the program: another nesting order, padded,
 * doubled. They are filled with 0xff, end or start at a guard page, and what lies
 * between their elements is checked after each call.
 *
 * A layout that the library doesn't take (`make` refuses it) is tried again with dense copies of
 * the operands, then with a dense result, which is copied to its place.
 */
#ifndef ADAPTERS_WALK_H
#define ADAPTERS_WALK_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <tilefuzz/plugin.h>

/* Element (i0, i1, ..) lies at offset + i0 * stride[0] + .. of tensor `base`. */
struct walk_view {
    DLDataType dtype;
    int rank, base;
    int64_t shape[TF_MAX_RANK], stride[TF_MAX_RANK], offset;
};

/* What the adapter gives. */
struct walk_library {
    /* TF_OK, or TF_REFUSED: not with these layouts, or not at all. All live until drop. pick:
     * a number that stays the same for the same place in the same program, to draw by. */
    int (*make)(const struct tf_node *n, const struct walk_view *arg,
                const struct walk_view *out, uint64_t pick, void **state, char *why, size_t size);
    /* arg and out point to the first element of each view. */
    int (*call)(void *state, void *const *arg, void *out, char *why, size_t size);
    void (*drop)(void *state);
    const char *(*ran)(void *state);
    /* The operand whose strides the result must have; -1 = any. NULL = any for all. */
    int (*like)(const struct tf_node *n);
    bool negative; /* negative strides may be asked for */
};

enum walk_kind { WALK_COPY, WALK_FILL, WALK_IOTA, WALK_CALL };

struct walk_step {
    enum walk_kind kind;
    const struct tf_node *node;
    struct walk_view arg[TF_MAX_ARGS], out;
    double value;
    void *state;
};

struct walk_slot {
    unsigned char *data;
    size_t bytes;
    unsigned char *used; /* one byte for each element of storage: is it one of the tensor? */
};

enum { WALK_MAX_STEPS = 256, WALK_MAX_SLOTS = 192 };

struct walk {
    const struct tf_program *p;
    const struct walk_library *lib;
    struct walk_view *view; /* by node */
    struct walk_step step[WALK_MAX_STEPS];
    struct walk_slot slot[WALK_MAX_SLOTS];
    int n_step, n_slot;
    uint64_t seed;
    unsigned char *memory;
    size_t memory_bytes;
};

static uint64_t walk_mix(uint64_t x)
{
    x = (x ^ x >> 31) * 0x7fb5d329728ea185u;
    x = (x ^ x >> 27) * 0x81dadef4bc2dd44du;
    return x ^ x >> 33;
}

static int walk_bytes(DLDataType t)
{
    return t.bits / 8;
}

static bool walk_is(DLDataType t, int code, int bits)
{
    return t.code == code && t.bits == bits;
}

static int64_t walk_count(const struct walk_view *v)
{
    int64_t n = 1;

    for (int i = 0; i < v->rank; i++)
        n *= v->shape[i];
    return n;
}

static void walk_dense_strides(struct walk_view *v)
{
    int64_t n = 1;

    for (int i = v->rank - 1; i >= 0; i--) {
        v->stride[i] = n;
        n *= v->shape[i] > 0 ? v->shape[i] : 1;
    }
    v->offset = 0;
}

/* Are the strides those of the dense row-major tensor, wherever one matters? */
static bool walk_is_dense(const struct walk_view *v)
{
    int64_t n = 1;

    for (int i = v->rank - 1; i >= 0; i--) {
        if (v->shape[i] > 1 && v->stride[i] != n)
            return false;
        n *= v->shape[i] > 0 ? v->shape[i] : 1;
    }
    return true;
}

/* Can two elements share an address? Answers yes when in doubt. */
static bool walk_overlaps(const struct walk_view *v)
{
    bool done[TF_MAX_RANK] = { false };
    int64_t span = 1;

    for (int k = 0; k < v->rank; k++) {
        int least = -1;

        for (int i = 0; i < v->rank; i++)
            if (!done[i] && (least < 0 || v->stride[i] < v->stride[least]))
                least = i;
        done[least] = true;
        if (v->shape[least] <= 1)
            continue;
        if (v->stride[least] < span)
            return true;
        span = v->stride[least] * (v->shape[least] - 1) + span;
    }
    return false;
}

static bool walk_has_negative(const struct walk_view *v)
{
    for (int i = 0; i < v->rank; i++)
        if (v->stride[i] < 0)
            return true;
    return false;
}

static struct walk_view walk_of_node(const struct tf_node *n)
{
    struct walk_view v = { .dtype = n->dtype, .rank = n->rank, .base = -1 };

    memcpy(v.shape, n->shape, sizeof v.shape);
    walk_dense_strides(&v);
    return v;
}

static struct walk_view walk_of_tensor(const DLTensor *t, int base)
{
    struct walk_view v = { .dtype = t->dtype, .rank = t->ndim, .base = base };

    for (int i = 0; i < t->ndim; i++) {
        v.shape[i] = t->shape[i];
        v.stride[i] = t->strides[i];
    }
    return v;
}

/* One past the highest element. */
static int64_t walk_storage(const struct walk_view *v)
{
    int64_t last = v->offset;

    if (walk_count(v) == 0)
        return 0;
    for (int i = 0; i < v->rank; i++)
        last += (v->shape[i] - 1) * v->stride[i];
    return last + 1;
}

static void walk_draw_strides(struct walk_view *v, uint64_t h)
{
    int order[TF_MAX_RANK];
    int64_t span = 1;

    for (int i = 0; i < v->rank; i++)
        order[i] = v->rank - 1 - i;
    for (int i = v->rank - 1; i > 0 && h % 3 == 0; i--) {
        int j = (int)(walk_mix(h + (uint64_t)i) % (uint64_t)(i + 1)), t = order[i];

        order[i] = order[j];
        order[j] = t;
    }
    for (int k = 0; k < v->rank; k++) {
        int64_t d = v->shape[order[k]];
        uint64_t r = walk_mix(h * 31 + (uint64_t)k);

        v->stride[order[k]] = d == 1 && r % 3 == 0 ? (int64_t)(r >> 8) % 40 + 1 : span;
        span *= d > 0 ? d : 1;
        if (r >> 20 & 1 && h % 5 < 3)
            span += 1 + (int64_t)(r >> 24) % 4;
        else if ((r >> 32) % 12 == 0)
            span *= 2;
    }
}

static int walk_new_slot(struct walk *w, const struct walk_view *v)
{
    struct walk_slot *s = &w->slot[w->n_slot];
    size_t elements = (size_t)walk_storage(v), bytes = (size_t)walk_bytes(v->dtype);

    if (w->n_slot == WALK_MAX_SLOTS)
        return -1;
    s->bytes = elements * bytes;
    s->used = NULL;
    if ((int64_t)elements > walk_count(v)) {
        int64_t at[TF_MAX_RANK] = { 0 };

        s->used = calloc(elements, 1);
        for (int64_t k = walk_count(v); s->used && k > 0; k--) {
            int64_t to = v->offset;

            for (int i = 0; i < v->rank; i++)
                to += at[i] * v->stride[i];
            s->used[to] = 1;
            for (int i = v->rank - 1; i >= 0 && ++at[i] == v->shape[i]; i--)
                at[i] = 0;
        }
    }
    return w->p->n_input + w->p->n_output + w->n_slot++;
}

static struct walk_step *walk_new_step(struct walk *w, enum walk_kind kind,
                                       const struct tf_node *n)
{
    struct walk_step *s = &w->step[w->n_step];

    if (w->n_step == WALK_MAX_STEPS)
        return NULL;
    w->n_step++;
    *s = (struct walk_step){ .kind = kind, .node = n };
    return s;
}

/* A dense copy of v. False: the program is too long. */
static bool walk_dense_copy(struct walk *w, struct walk_view *v, const struct tf_node *n)
{
    struct walk_step *s = walk_new_step(w, WALK_COPY, n);

    if (!s)
        return false;
    s->arg[0] = *v;
    walk_dense_strides(v);
    v->base = walk_new_slot(w, v);
    s->out = *v;
    return v->base >= 0;
}

/* Where the result of node i goes: the first output that it is, or memory of ours. */
static bool walk_place(struct walk *w, int i, struct walk_view *v)
{
    for (int k = 0; k < w->p->n_output; k++)
        if (w->p->output[k] == i) {
            *v = walk_of_tensor(&w->p->out[k], w->p->n_input + k);
            return true;
        }
    walk_draw_strides(v, walk_mix(w->seed + (uint64_t)i));
    v->base = walk_new_slot(w, v);
    return v->base >= 0;
}

static bool walk_fill(struct walk *w, const struct tf_node *n, const struct walk_view *v,
                      double value)
{
    struct walk_step *s = walk_new_step(w, WALK_FILL, n);

    if (!s)
        return false;
    s->out = *v;
    s->value = value;
    return true;
}

/* A literal: one element, seen through strides of 0. */
static bool walk_literal(struct walk *w, const struct tf_node *n, int j,
                         const struct walk_view *model, struct walk_view *v)
{
    struct walk_view one = { .dtype = model->dtype };

    one.base = walk_new_slot(w, &one);
    if (one.base < 0 || !walk_fill(w, n, &one, n->literal[j]))
        return false;
    *v = *model;
    memset(v->stride, 0, sizeof v->stride);
    v->offset = 0;
    v->base = one.base;
    return true;
}

static int walk_operands(struct walk *w, const struct tf_node *n, struct walk_view *arg)
{
    const struct walk_view *model = NULL;

    for (int j = n->n_arg - 1; j >= 0; j--)
        if (n->arg[j] >= 0)
            model = &w->view[n->arg[j]];
    for (int j = 0; j < n->n_arg; j++) {
        if (n->arg[j] >= 0)
            arg[j] = w->view[n->arg[j]];
        else if (!walk_literal(w, n, j, model, &arg[j]))
            return TF_REFUSED;
        if (!w->lib->negative && walk_has_negative(&arg[j]) && !walk_dense_copy(w, &arg[j], n))
            return TF_REFUSED;
    }
    return TF_OK;
}

/* Has the result the strides that the library wants it to have? Else they become `want`. */
static bool walk_alike(struct walk *w, const struct tf_node *n, const struct walk_view *arg,
                       const struct walk_view *out, struct walk_view *want)
{
    int like = w->lib->like ? w->lib->like(n) : -1;

    *want = *out;
    if (like < 0)
        return true;
    memcpy(want->stride, arg[like].stride, sizeof want->stride);
    return !memcmp(want->stride, out->stride, (size_t)out->rank * sizeof *out->stride);
}

static int walk_make(struct walk *w, int i, char *why, size_t size)
{
    const struct tf_node *n = &w->p->node[i];
    struct walk_view arg[TF_MAX_ARGS], out = walk_of_node(n), to;
    struct walk_step *s;
    void *state = NULL;
    int like = w->lib->like ? w->lib->like(n) : -1, rc = TF_REFUSED;
    bool direct = true;

    if (walk_operands(w, n, arg) || !walk_place(w, i, &out))
        return tf_say(TF_REFUSED, why, size, "too long");
    if (like >= 0 && walk_overlaps(&arg[like]) && !walk_dense_copy(w, &arg[like], n))
        return tf_say(TF_REFUSED, why, size, "too long");
    for (int round = 0; round < 3 && rc == TF_REFUSED; round++) {
        if (round == 1)
            for (int j = 0; j < n->n_arg; j++)
                if (!walk_is_dense(&arg[j]) && !walk_dense_copy(w, &arg[j], n))
                    return tf_say(TF_REFUSED, why, size, "too long");
        direct = round < 2 && walk_alike(w, n, arg, &out, &to);
        if (!direct) {
            to = out;
            if (like >= 0)
                memcpy(to.stride, arg[like].stride, sizeof to.stride);
            else
                walk_dense_strides(&to);
            to.offset = 0;
            to.base = walk_new_slot(w, &to);
        }
        if (to.base < 0)
            return tf_say(TF_REFUSED, why, size, "too long");
        rc = w->lib->make(n, arg, &to, walk_mix(w->seed + 977 * (uint64_t)i), &state, why, size);
    }
    if (rc != TF_OK)
        return rc;
    s = walk_new_step(w, WALK_CALL, n);
    if (!s) {
        w->lib->drop(state);
        return tf_say(TF_REFUSED, why, size, "too long");
    }
    memcpy(s->arg, arg, sizeof s->arg);
    s->out = to;
    s->state = state;
    if (!direct) {
        s = walk_new_step(w, WALK_COPY, n);
        if (!s)
            return tf_say(TF_REFUSED, why, size, "too long");
        s->arg[0] = to;
        s->out = out;
    }
    w->view[i] = out;
    return TF_OK;
}

/* Views, sources: true = done, *ok = there was room. */
static bool walk_plain(struct walk *w, int i, bool *ok)
{
    const struct tf_node *n = &w->p->node[i];
    struct walk_view v = walk_of_node(n), x = { .rank = 0 };
    struct walk_step *s;

    *ok = true;
    if (n->n_arg > 0 && n->arg[0] >= 0)
        x = w->view[n->arg[0]];
    if (n->input >= 0) {
        v = walk_of_tensor(&w->p->in[n->input], n->input);
    } else if (!strcmp(n->op, "const")) {
        v.base = walk_new_slot(w, &v);
        *ok = v.base >= 0 && walk_fill(w, n, &v, n->value);
    } else if (!strcmp(n->op, "iota")) {
        v.base = walk_new_slot(w, &v);
        s = walk_new_step(w, WALK_IOTA, n);
        *ok = s && v.base >= 0;
        if (*ok)
            s->out = v;
    } else if (!strcmp(n->op, "permute")) {
        for (int a = 0; a < n->rank; a++)
            v.stride[a] = x.stride[n->perm[a]];
        v.base = x.base;
        v.offset = x.offset;
    } else if (!strcmp(n->op, "expand")) {
        int lead = v.rank - x.rank;

        for (int a = 0; a < v.rank; a++)
            v.stride[a] = a < lead || x.shape[a - lead] != v.shape[a] ? 0 : x.stride[a - lead];
        v.base = x.base;
        v.offset = x.offset;
    } else if (!strcmp(n->op, "slice")) {
        v.base = x.base;
        v.offset = x.offset;
        for (int a = 0; a < v.rank; a++) {
            v.stride[a] = x.stride[a] * n->by[a];
            if (v.shape[a] > 0)
                v.offset += x.stride[a] * n->lo[a];
        }
    } else if (!strcmp(n->op, "reshape")) {
        if (!walk_is_dense(&x) || walk_count(&x) == 0)
            *ok = walk_dense_copy(w, &x, n);
        v.base = x.base;
        v.offset = x.offset;
    } else if (!strcmp(n->op, "pad")) {
        struct walk_view inner;

        *ok = walk_place(w, i, &v) && walk_fill(w, n, &v, n->value);
        inner = v;
        memcpy(inner.shape, x.shape, sizeof inner.shape);
        for (int a = 0; a < v.rank; a++)
            inner.offset += n->lo[a] * v.stride[a];
        s = *ok ? walk_new_step(w, WALK_COPY, n) : NULL;
        *ok = s != NULL;
        if (s) {
            s->arg[0] = x;
            s->out = inner;
        }
    } else {
        return false;
    }
    w->view[i] = v;
    return true;
}

/* Outputs that are views, inputs, or further outputs of one node. */
static bool walk_outputs(struct walk *w)
{
    for (int k = 0; k < w->p->n_output; k++) {
        const struct walk_view *v = &w->view[w->p->output[k]];
        struct walk_step *s;

        if (v->base == w->p->n_input + k)
            continue;
        s = walk_new_step(w, WALK_COPY, &w->p->node[w->p->output[k]]);
        if (!s)
            return false;
        s->arg[0] = *v;
        s->out = walk_of_tensor(&w->p->out[k], w->p->n_input + k);
    }
    return true;
}

/* One mapping: a guard page, then per slot its pages and a guard page. */
static bool walk_map(struct walk *w)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), at = page;

    for (int i = 0; i < w->n_slot; i++)
        at += (w->slot[i].bytes + page) / page * page + page;
    w->memory_bytes = at;
    w->memory = mmap(NULL, at, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (w->memory == MAP_FAILED) {
        w->memory = NULL;
        return false;
    }
    at = page;
    for (int i = 0; i < w->n_slot; i++) {
        struct walk_slot *s = &w->slot[i];
        size_t room = (s->bytes + page) / page * page;

        if (mprotect(w->memory + at, room, PROT_READ | PROT_WRITE))
            return false;
        s->data = w->memory + at;
        if (walk_mix(w->seed + 31 * (uint64_t)i) % 4)
            s->data += room - s->bytes; /* sizes are multiples of the element's */
        at += room + page;
    }
    return true;
}

static void walk_release(void *state)
{
    struct walk *w = state;

    for (int i = 0; i < w->n_step; i++)
        if (w->step[i].kind == WALK_CALL && w->step[i].state)
            w->lib->drop(w->step[i].state);
    for (int i = 0; i < w->n_slot; i++)
        free(w->slot[i].used);
    if (w->memory)
        munmap(w->memory, w->memory_bytes);
    free(w->view);
    free(w);
}

static int walk_prepare(const struct walk_library *lib, const struct tf_program *p, void **state,
                        char *why, size_t size)
{
    struct walk *w = calloc(1, sizeof *w);
    bool *live = calloc((size_t)p->n_node, 1);
    int rc = TF_OK;

    *state = NULL;
    if (!w || !live) {
        free(w);
        free(live);
        return tf_say(TF_REFUSED, why, size, "no memory");
    }
    *w = (struct walk){ .p = p, .lib = lib };
    w->view = calloc((size_t)p->n_node, sizeof *w->view);
    for (int i = 0; i < p->n_node; i++) {
        const struct tf_node *n = &p->node[i];

        w->seed = walk_mix(w->seed * 3 + (uint64_t)n->op[0] + (uint64_t)n->op[1] * 256 +
                           (uint64_t)n->count * 65536 + (uint64_t)n->dtype.bits);
    }
    for (int k = 0; k < p->n_output; k++)
        live[p->output[k]] = true;
    for (int i = p->n_node - 1; i >= 0; i--)
        for (int j = 0; live[i] && j < p->node[i].n_arg; j++)
            if (p->node[i].arg[j] >= 0)
                live[p->node[i].arg[j]] = true;
    for (int i = 0; i < p->n_node && rc == TF_OK; i++) {
        bool ok;

        if (!live[i])
            continue;
        if (!walk_plain(w, i, &ok))
            rc = walk_make(w, i, why, size);
        else if (!ok)
            rc = tf_say(TF_REFUSED, why, size, "too long");
    }
    free(live);
    if (rc == TF_OK && (!walk_outputs(w) || !walk_map(w)))
        rc = tf_say(TF_REFUSED, why, size, "too long");
    if (rc != TF_OK) {
        walk_release(w);
        return rc;
    }
    *state = w;
    return TF_OK;
}

static void walk_store(void *to, DLDataType t, double v)
{
    float f = (float)v;
    uint32_t bits;

    if (walk_is(t, kDLFloat, 64)) {
        memcpy(to, &v, 8);
    } else if (walk_is(t, kDLFloat, 32)) {
        memcpy(to, &f, 4);
    } else if (t.code == kDLBfloat) {
        memcpy(&bits, &f, 4);
        bits = f != f ? 0x7fc00000 : bits + 0x7fff + (bits >> 16 & 1);
        *(uint16_t *)to = (uint16_t)(bits >> 16);
    } else if (walk_is(t, kDLInt, 32)) {
        *(int32_t *)to = (int32_t)v;
    } else {
        *(uint8_t *)to = v != 0;
    }
}

/* Copies, fills and indices, element by element. */
static void walk_loop(const struct walk_step *s, const unsigned char *from, unsigned char *to)
{
    const struct walk_view *out = &s->out, *x = &s->arg[0];
    int bytes = walk_bytes(out->dtype);
    int64_t at[TF_MAX_RANK] = { 0 };

    for (int64_t k = walk_count(out); k > 0; k--) {
        int64_t a = x->offset, b = out->offset;

        for (int i = 0; i < out->rank; i++) {
            a += at[i] * x->stride[i];
            b += at[i] * out->stride[i];
        }
        if (s->kind == WALK_COPY)
            memcpy(to + b * bytes, from + a * bytes, (size_t)bytes);
        else
            walk_store(to + b * bytes, out->dtype,
                       s->kind == WALK_FILL ? s->value : (double)at[s->node->axis]);
        for (int i = out->rank - 1; i >= 0 && ++at[i] == out->shape[i]; i--)
            at[i] = 0;
    }
}

static int walk_check_gaps(const struct walk *w, const struct walk_step *s, char *why, size_t size)
{
    int k = s->out.base - w->p->n_input - w->p->n_output;
    const struct walk_slot *slot = &w->slot[k];
    size_t bytes = (size_t)walk_bytes(s->out.dtype);

    if (k < 0 || !slot->used)
        return TF_OK;
    for (size_t i = 0; i < slot->bytes; i++)
        if (!slot->used[i / bytes] && slot->data[i] != 0xff) {
            snprintf(why, size, "%s wrote to element %zu of its storage, which is padding",
                     s->node->name, i / bytes);
            return TF_FAILED;
        }
    return TF_OK;
}

static int walk_run(void *state, const DLTensor *in, const DLTensor *out, char *why, size_t size)
{
    struct walk *w = state;
    int fixed = w->p->n_input + w->p->n_output, rc = TF_OK;

    for (int i = 0; i < w->n_slot; i++)
        memset(w->slot[i].data, 0xff, w->slot[i].bytes);
    for (int i = 0; i < w->n_step && rc == TF_OK; i++) {
        const struct walk_step *s = &w->step[i];
        unsigned char *at[TF_MAX_ARGS + 1] = { 0 };

        for (int j = 0; j <= TF_MAX_ARGS; j++) {
            const struct walk_view *v = j < TF_MAX_ARGS ? &s->arg[j] : &s->out;

            at[j] = v->base >= fixed         ? w->slot[v->base - fixed].data
                    : v->base < w->p->n_input ? in[v->base < 0 ? 0 : v->base].data
                                              : out[v->base - w->p->n_input].data;
        }
        if (s->kind == WALK_CALL) {
            void *arg[TF_MAX_ARGS], *to;

            for (int j = 0; j < TF_MAX_ARGS; j++)
                arg[j] = at[j] + s->arg[j].offset * walk_bytes(s->arg[j].dtype);
            to = at[TF_MAX_ARGS] + s->out.offset * walk_bytes(s->out.dtype);
            rc = w->lib->call(s->state, arg, to, why, size);
            if (rc == TF_OK)
                rc = walk_check_gaps(w, s, why, size);
        } else {
            walk_loop(s, at[0], at[TF_MAX_ARGS]);
        }
    }
    return rc;
}

/* The names of what ran, each once, in order. */
static void walk_ran(void *state, char *buf, size_t size)
{
    const struct walk *w = state;

    *buf = 0;
    for (int i = 0; i < w->n_step; i++) {
        const char *name;

        if (w->step[i].kind != WALK_CALL)
            continue;
        name = w->lib->ran(w->step[i].state);
        if (strstr(buf, name) || strlen(buf) + strlen(name) + 2 > size)
            continue;
        if (*buf)
            strcat(buf, " ");
        strcat(buf, name);
    }
}
#endif
