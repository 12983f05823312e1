/*
 * The steps of a walk (walk.h): one for each live node, and copies where a layout isn't taken.
 */
#ifndef ADAPTERS_WALK_PLAN_H
#define ADAPTERS_WALK_PLAN_H

#include "walk_step.h"

/* What is drawn for a node depends on its op, dtype and shape alone: it stays when the
 * minimizer takes other nodes away. */
static uint64_t walk_pick(const struct tf_node *n)
{
    uint64_t h = n->dtype.bits + 64u * n->dtype.code;

    for (const char *c = n->op; *c; c++)
        h = walk_mix(h * 3 + (uint64_t)*c);
    for (int i = 0; i < n->rank; i++)
        h = walk_mix(h * 5 + (uint64_t)n->shape[i]);
    return h;
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
    walk_draw_strides(v, walk_pick(&w->p->node[i]));
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

static struct walk_view walk_operand(const struct walk *w, const struct tf_node *n, int i)
{
    const struct tf_node *x = &w->p->node[i];

    if (w->lib->through && !strcmp(x->op, "cast") &&
        w->lib->through(n, x, w->view[x->arg[0]].dtype))
        return w->view[x->arg[0]];
    return w->view[i];
}

static int walk_operands(struct walk *w, const struct tf_node *n, struct walk_view *arg)
{
    const struct walk_view *model = NULL;

    for (int j = n->n_arg - 1; j >= 0; j--)
        if (n->arg[j] >= 0)
            model = &w->view[n->arg[j]];
    for (int j = 0; j < n->n_arg; j++) {
        if (n->arg[j] >= 0)
            arg[j] = walk_operand(w, n, n->arg[j]);
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
    struct walk_view arg[TF_MAX_ARGS] = { { .rank = 0 } }, out = walk_of_node(n), to;
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
        if (getenv("WALK_TRACE")) {
            struct walk_step told = { .kind = WALK_CALL, .node = n, .out = to };

            memcpy(told.arg, arg, sizeof arg);
            walk_tell("make", &told, "?");
        }
        rc = w->lib->make(n, arg, &to, walk_mix(walk_pick(n) + (uint64_t)walk_count(&arg[0])),
                          &state, why, size);
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

#endif
