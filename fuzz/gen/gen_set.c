/*
 * Knobs of somebody else's compiler (`set`), which our own passes don't look at. They have a
 * random stream of their own: the program is the same with and without them.
 */
#include <string.h>

#include "fuzz/gen/build.h"

enum { MAX_VALUES = 64 };

/* Two versions of one compiler have the same knobs; a trial sets each once. */
static bool is_set(const struct trial *t, const char *knob, size_t size)
{
    for (int i = 0; i < t->n_step; i++)
        if (t->step[i].kind == STEP_SET && !strncmp(t->step[i].knob, knob, size) &&
            t->step[i].knob[size] == '\0')
            return true;
    return false;
}

/* KNOB=A/B/C: one in three sets it, to another value than the first, which is the default. */
static void draw_one(struct rng *r, const char *knob, size_t n, struct trial *t,
                     struct arena *a)
{
    const char *value[MAX_VALUES], *end = knob + n, *s = memchr(knob, '=', n);
    size_t size = (size_t)(s - knob);
    int n_value = 0, pick;
    struct step *st;

    for (; s < end && n_value < MAX_VALUES; s += strcspn(s, "/,"))
        value[n_value++] = ++s;
    if (n_value < 2 || !rng_chance(r, 1, 3) || is_set(t, knob, size))
        return;
    pick = (int)rng_range(r, 1, n_value - 1);
    st = trial_add_step(t, a);
    st->kind = STEP_SET;
    st->knob = arena_strndup(a, knob, size);
    st->value = arena_strndup(a, value[pick], strcspn(value[pick], "/,"));
}

void set_draw(struct rng *r, const struct gen_opts *o, struct trial *t, struct arena *a)
{
    const char *knob = o->step[STEP_SET] ? o->set : "";

    while (*knob) {
        size_t n = strcspn(knob, ",");

        draw_one(r, knob, n, t, a);
        knob += n + (knob[n] == ',');
    }
}

bool gen_set_legal(const char *list)
{
    while (*list) {
        size_t n = strcspn(list, ","), at = strcspn(list, "=,");

        if (at == n || !knob_spelt(list, at))
            return false;
        do {
            size_t size = strcspn(list + at + 1, "/,");

            if (!knob_value_spelt(list + at + 1, size))
                return false;
            at += 1 + size;
        } while (at < n);
        list += n + (list[n] == ',');
    }
    return true;
}
