/*
 * For plug-ins of libraries whose calls are single ops: takes a program apart into calls.
 *
 * walk_prepare plans one step per live node. Permute, expand, slice and reshapes of dense
 * tensors only change strides: the library sees them as layouts. Other views, literals, iota
 * and constants are written by plain loops here; every other op is a call of the library,
 * made ready by `make` and done by `call`. The results in between lie in memory of their
 * own, in layouts drawn from the op and its shape: another nesting order, padded,
 * doubled. They are filled with 0xff, end or start at a guard page, and what lies
 * between their elements is checked after each call. WALK_TRACE=FILE in the environment
 * appends each step and its layouts to that file.
 *
 * A layout that the library doesn't take (`make` refuses it) is tried again with dense copies
 * of the operands, then with a dense result, which is copied to its place.
 */
#ifndef ADAPTERS_WALK_H
#define ADAPTERS_WALK_H

#include <sys/mman.h>
#include <unistd.h>

#include "walk_plan.h"

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
        if (walk_mix(s->bytes) % 4)
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

static int walk_prepare(const struct walk_library *lib, const struct tf_program *p,
                        void **state, char *why, size_t size)
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

static int walk_check_gaps(const struct walk *w, const struct walk_step *s, char *why,
                           size_t size)
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

static int walk_run(void *state, const DLTensor *in, const DLTensor *out, char *why,
                    size_t size)
{
    struct walk *w = state;
    int fixed = w->p->n_input + w->p->n_output, rc = TF_OK;
    bool trace = getenv("WALK_TRACE") != NULL;

    for (int i = 0; i < w->n_slot; i++)
        memset(w->slot[i].data, 0xff, w->slot[i].bytes);
    for (int i = 0; i < w->n_step && rc == TF_OK; i++) {
        const struct walk_step *s = &w->step[i];
        unsigned char *at[TF_MAX_ARGS + 1] = { 0 };

        if (trace)
            walk_tell("run", s, s->kind == WALK_CALL ? w->lib->ran(s->state) : "loops");
        for (int j = 0; j <= TF_MAX_ARGS; j++) {
            const struct walk_view *v = j < TF_MAX_ARGS ? &s->arg[j] : &s->out;

            at[j] = v->base >= fixed          ? w->slot[v->base - fixed].data
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

/* What is the same in every plug-in that walks. */
#define WALK_PLUGIN                                                                            \
    .abi = TF_ABI, .layouts = TF_INPUT_STRIDES | TF_OUTPUT_STRIDES, .run = walk_run,           \
    .release = walk_release, .ran = walk_ran

#endif
