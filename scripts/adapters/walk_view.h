/*
 * Layouts of tensors in memory, for walk.h: what their strides say, and drawing others.
 */
#ifndef ADAPTERS_WALK_VIEW_H
#define ADAPTERS_WALK_VIEW_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <tilefuzz/plugin.h>

/* Element (i0, i1, ..) lies at offset + i0 * stride[0] + .. of tensor `base`. */
struct walk_view {
    DLDataType dtype;
    int rank, base;
    int64_t shape[TF_MAX_RANK], stride[TF_MAX_RANK], offset;
};

/* TILEFUZZ_AROUND=1,3,4 or =all in the environment: keep away from what reports/found/ has of
 * this library under these numbers, so that a hunt sees what is behind it. */
static bool walk_around(int number)
{
    const char *list = getenv("TILEFUZZ_AROUND");

    if (list && !strcmp(list, "all"))
        return true;
    for (; list && *list; list += strcspn(list, ","), list += *list == ',')
        if (atoi(list) == number)
            return true;
    return false;
}

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

#endif
