/* Backends plugin:FILE.so, one per plug-in that the user names. See tilefuzz/plugin.h. */
#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tilefuzz/plugin.h>

#include "base/bug.h"
#include "run/plugin/plugin.h"

struct row {
    struct backend b; /* the row itself: first, so that a pointer to it leads here */
    struct caps caps;
    char *path;
    const struct tf_plugin *p; /* NULL = not yet opened in this process */
};

struct built {
    struct arena a;
    const struct tf_program *program;
    DLTensor *in, *out; /* as the program has them, with data */
    void *state;
};

static const struct row *row_of(const struct backend *b)
{
    return (const struct row *)b;
}

static const struct tf_plugin *loaded(const struct backend *b, struct err *e)
{
    struct row *row = (struct row *)row_of(b);

    if (!row->p)
        row->p = plugin_load(row->path, e);
    return row->p;
}

static void told(struct outcome *o, int rc, const char *why)
{
    outcome_say(o, rc == TF_REFUSED ? OUT_UNSUPPORTED : OUT_BUILD_FAILED,
                *why ? why : "no reason is given");
}

/* Says what ran. Only a name: no blanks that would break a line of text. */
static void ask_ran(const struct tf_plugin *p, void *state, struct outcome *o)
{
    o->ran[0] = '\0';
    if (p->ran)
        p->ran(state, o->ran, sizeof o->ran);
    o->ran[sizeof o->ran - 1] = '\0';
    for (char *c = o->ran; *c; c++)
        if ((unsigned char)*c <= ' ')
            *c = '_';
}

static DLTensor *copy_of(const DLTensor *t, int n, struct arena *a)
{
    DLTensor *copy = arena_array(a, DLTensor, n + 1);

    memcpy(copy, t, (size_t)n * sizeof *t);
    return copy;
}

static struct built *built_open(const struct lprog *l)
{
    struct built *x = must(calloc(1, sizeof *x));

    arena_init(&x->a);
    x->program = plugin_program(l, &x->a);
    x->in = copy_of(x->program->in, x->program->n_input, &x->a);
    x->out = copy_of(x->program->out, x->program->n_output, &x->a);
    return x;
}

static void built_close(struct built *x)
{
    arena_release(&x->a);
    free(x);
}

static int prepare(struct run_env *env, const struct lprog *l, const char *text,
                   struct prepared *p, struct outcome *o)
{
    const struct backend *b = p->b;
    const struct tf_plugin *plugin;
    struct err e = { 0 };
    struct built *x;
    char why[sizeof o->detail] = "";
    fenv_t fp;
    int rc;

    (void)env;
    (void)text;
    *o = (struct outcome){ .algebra = AL_IEEE };
    if (foreign_refuses(&row_of(b)->caps, l->trial, o))
        return 1;
    plugin = loaded(b, &e);
    if (!plugin) {
        outcome_say(o, OUT_BUILD_FAILED, e.msg);
        return 1;
    }
    x = built_open(l);
    fegetenv(&fp);
    rc = plugin->prepare(x->program, &x->state, why, sizeof why);
    fesetenv(&fp);
    why[sizeof why - 1] = '\0';
    if (rc == TF_OK) {
        *p = (struct prepared){ .l = l, .state = x, .b = b };
        return 0;
    }
    told(o, rc, why);
    built_close(x);
    return 1;
}

static void set_data(struct run_env *env, const struct lprog *l, struct built *x)
{
    for (int i = 0; i < l->n_buffer; i++) {
        const struct buffer *b = &l->buffer[i];
        DLTensor *t = b->kind == BUF_INPUT ? &x->in[b->slot] : &x->out[b->slot];

        t->data = env->buf[i].p;
        if (b->elems)
            t->data = env->buf[i].p + b->layout.offset * dtype_info(b->dt)->bytes;
    }
}

static void run(struct run_env *env, struct prepared *p, enum algebra al, struct outcome *o)
{
    const struct tf_plugin *plugin = row_of(p->b)->p;
    struct built *x = p->state;
    char why[sizeof o->detail] = "";
    fenv_t fp;
    int rc;

    if (!run_placed(env, p->l, al, o))
        return;
    foreign_poison(env, p->l);
    set_data(env, p->l, x);
    /* libraries flush subnormals, and leave it so: what we compute must not notice */
    fegetenv(&fp);
    rc = plugin->run(x->state, x->in, x->out, why, sizeof why);
    ask_ran(plugin, x->state, o);
    fesetenv(&fp);
    why[sizeof why - 1] = '\0';
    if (rc != TF_OK) {
        told(o, rc, why);
        return;
    }
    run_collect(env, p->l, al, o);
}

static void release(struct prepared *p)
{
    const struct tf_plugin *plugin = row_of(p->b)->p;
    struct built *x = p->state;

    if (plugin->release)
        plugin->release(x->state);
    built_close(x);
    p->state = NULL;
}

const struct backend *plugin_open(const char *name, const char *path, struct err *e)
{
    struct row *row = must(calloc(1, sizeof *row));

    if (plugin_ask(path, &row->caps, e)) {
        free(row);
        return NULL;
    }
    row->path = must(strdup(path));
    row->b = (struct backend){ .name = must(strdup(name)),
                               .help = "a shared object that is not ours",
                               .group = "plugin",
                               .runs = 2,
                               .prepare = prepare,
                               .run = run,
                               .release = release,
                               .caps = &row->caps };
    return &row->b;
}
