#include "fuzz/camp/sample.h"

#include <string.h>

#include "base/rng.h"

static void take_named(struct sample *s, struct check_opts *o)
{
    int kept = 0;

    for (int i = 0; i < o->n_backend; i++) {
        if (o->backend[i]->command)
            s->backend[s->n++] = o->backend[i];
        else
            o->backend[kept++] = o->backend[i];
    }
    if (!kept && s->every)
        s->every = 1;
    o->n_backend = kept;
}

static void take_all(struct sample *s)
{
    for (int i = 0; i < n_backends && s->n < CHECK_MAX_BACKENDS; i++) {
        struct err why;

        if (backends[i]->command && backend_available(backends[i], &why))
            s->backend[s->n++] = backends[i];
    }
}

void sample_take(struct sample *s, struct check_opts *o)
{
    s->n = 0;
    if (o->chosen)
        take_named(s, o);
    else if (s->every)
        take_all(s);
}

const struct backend *sample_draw(const struct sample *s, uint64_t seed, uint64_t number,
                                  uint64_t step)
{
    uint64_t block = number / step / SAMPLE_BLOCK, every = (uint64_t)s->every;
    struct rng r;

    if (!s->n || !every)
        return NULL;
    rng_init_named(&r, seed, block / every, "sample");
    if (block % every != rng_below(&r, every))
        return NULL;
    rng_init_named(&r, seed, 0, "turns");
    return s->backend[(block / every + rng_below(&r, (uint64_t)s->n)) % (uint64_t)s->n];
}

const char *sample_label(const struct backend *b)
{
    static const char cc[] = "cc:";
    const size_t n = sizeof cc - 1;

    return b->name + (strncmp(b->name, cc, n) ? 0 : n);
}

int sample_index(const struct sample *s, const char *name)
{
    for (int i = 0; i < s->n; i++)
        if (!strcmp(s->backend[i]->name, name))
            return i;
    return -1;
}
