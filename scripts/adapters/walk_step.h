/*
 * What a walk (walk.h) is made of: the library's calls, steps, memory; and the steps that are
 * plain loops here.
 */
#ifndef ADAPTERS_WALK_STEP_H
#define ADAPTERS_WALK_STEP_H

#include "walk_view.h"

/* What the adapter gives. */
struct walk_library {
    /* TF_OK, or TF_REFUSED: not with these layouts, or not at all. All live until drop. pick:
     * a number that stays the same for the same place in the same program, to draw by. */
    int (*make)(const struct tf_node *n, const struct walk_view *arg,
                const struct walk_view *out, uint64_t pick, void **state, char *why,
                size_t size);
    /* arg and out point to the first element of each view. */
    int (*call)(void *state, void *const *arg, void *out, char *why, size_t size);
    void (*drop)(void *state);
    const char *(*ran)(void *state);
    /* The operand whose strides the result must have; -1 = any. NULL = any for all. */
    int (*like)(const struct tf_node *n);
    /* May n take what the cast takes, in its dtype, instead of its result? NULL = never. */
    bool (*through)(const struct tf_node *n, const struct tf_node *cast, DLDataType from);
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
    unsigned char *memory;
    size_t memory_bytes;
};

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

/* One tensor onto another of the same shape and dtype; from and to point to the first elements.
 */
static inline void walk_copy(const struct walk_view *x, const void *from,
                             const struct walk_view *out, void *to)
{
    struct walk_step s = { .kind = WALK_COPY, .out = *out };

    s.arg[0] = *x;
    s.arg[0].offset = s.out.offset = 0;
    walk_loop(&s, from, to);
}

/* Appends one step and its layouts, shape:stride, to the file that WALK_TRACE names. */
static void walk_tell(const char *when, const struct walk_step *s, const char *ran)
{
    static const char *const kind[] = { "copy", "fill", "iota", "call" };
    const char *name = getenv("WALK_TRACE");
    FILE *f = name ? fopen(name, "a") : NULL;

    if (!f)
        return;
    fprintf(f, "%s %s: %s %s", when, s->node->name, kind[s->kind],
            s->kind == WALK_CALL ? s->node->op : "");
    for (int j = -1; j < (s->kind == WALK_CALL ? s->node->n_arg : s->kind == WALK_COPY); j++) {
        const struct walk_view *v = j < 0 ? &s->out : &s->arg[j];

        fprintf(f, " %s [", j < 0 ? "to" : "from");
        for (int i = 0; i < v->rank; i++)
            fprintf(f, "%s%" PRId64 ":%" PRId64, i ? " " : "", v->shape[i], v->stride[i]);
        fprintf(f, "]+%" PRId64 " of %d", v->offset, v->base);
    }
    fprintf(f, " by %s\n", ran);
    fclose(f);
}

#endif
