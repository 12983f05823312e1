#include "run/cuda/image.h"

#include <stdio.h>
#include <string.h>

#include "ir/data.h"

/* Buffers start at multiples of ALIGN, as what a device allocates does, with at least MARGIN
 * bytes of poison between. */
enum { ALIGN = 256, MARGIN = 256 };

/* Buffers that have bytes of their own; number n_buffer stands for the planned temps. */
static const struct slab_buf *own(const struct run_env *env, const struct lprog *l, int i)
{
    const struct buffer *b = &l->buffer[i];

    if (i == l->n_buffer)
        return &env->temps;
    if (b->kind == BUF_SHARED || buffer_planned(b))
        return NULL;
    return &env->buf[i];
}

size_t image_layout(const struct run_env *env, const struct lprog *l, size_t *at)
{
    size_t end = MARGIN;

    for (int i = 0; i <= l->n_buffer; i++) {
        const struct slab_buf *s = own(env, l, i);

        at[i] = end;
        if (s)
            end = (end + s->bytes + MARGIN + ALIGN - 1) / ALIGN * ALIGN;
    }
    for (int i = 0; i < l->n_buffer; i++)
        if (!own(env, l, i))
            at[i] = at[l->n_buffer];
    return end;
}

void image_fill(const struct run_env *env, const struct lprog *l, const size_t *at,
                size_t bytes, unsigned char *image)
{
    memset(image, POISON_BYTE, bytes);
    for (int i = 0; i <= l->n_buffer; i++) {
        const struct slab_buf *s = own(env, l, i);

        if (s)
            memcpy(image + at[i], s->p, s->bytes);
    }
}

void image_take(struct run_env *env, const struct lprog *l, const size_t *at,
                const unsigned char *image)
{
    for (int i = 0; i <= l->n_buffer; i++) {
        const struct slab_buf *s = own(env, l, i);

        if (s)
            memcpy(s->p, image + at[i], s->bytes);
    }
}

static bool poisoned(const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] != POISON_BYTE)
            return false;
    return true;
}

/* The gap behind each buffer, up to the next one, is the buffer's margin. */
void image_check(const struct run_env *env, const struct lprog *l, const size_t *at,
                 size_t bytes, const unsigned char *image, struct outcome *o)
{
    const char *name = "the first buffer"; /* whose margin is before it */
    size_t from = 0;

    for (int i = 0; i <= l->n_buffer; i++) {
        const struct slab_buf *s = own(env, l, i);

        if (!s)
            continue;
        if (!poisoned(image + from, at[i] - from))
            break;
        name = i == l->n_buffer ? "the arena" : l->buffer[i].name;
        from = at[i] + s->bytes;
    }
    if (poisoned(image + from, bytes - from))
        return;
    if (!o->margin_broken && !o->input_changed)
        snprintf(o->where, sizeof o->where, "%s", name);
    o->margin_broken = true;
}
