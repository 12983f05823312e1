/* Backends exec:COMMAND, one per adapter that the user names. See docs/exec-protocol.md. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/bug.h"
#include "run/exec/exec.h"

static struct exec_row *row_of(const struct backend *b)
{
    return (struct exec_row *)b;
}

static struct talk_env talk_env(const struct run_env *env)
{
    return (struct talk_env){ env->deadline_s, env->tick };
}

static bool available(struct err *why)
{
    (void)why; /* it has said hello to become a row */
    return true;
}

/* What came with the answer to prepare, for runs that say nothing themselves. */
struct built {
    char ran[64];
    uint64_t program;
};

static uint64_t n_program;

/* The child has this program, and not another one that it was handed since. */
static bool hand_over(struct exec_row *r, const struct talk_env *t, const struct lprog *l,
                      struct built *x, struct outcome *o)
{
    if (exec_child_runs(&r->child) && r->program == x->program && x->program)
        return true;
    r->program = 0; /* whatever comes of it, the child has no other any more */
    if (exec_prepare(r, t, l, o) != TALK_FINE)
        return false;
    memcpy(x->ran, o->ran, sizeof x->ran);
    x->program = r->program = ++n_program;
    return true;
}

static int prepare(struct run_env *env, const struct lprog *l, const char *text,
                   struct prepared *p, struct outcome *o)
{
    const struct backend *b = p->b;
    struct exec_row *r = row_of(b);
    const struct talk_env t = talk_env(env);
    struct built *x;

    (void)text;
    *o = (struct outcome){ .algebra = AL_IEEE };
    exec_try_program(r, &t, l->prog);
    if (foreign_refuses(&r->caps, l->trial, o))
        return 1;
    if (exec_child_runs(&r->child) && r->child.cases >= EXEC_CASES)
        exec_child_end(&r->child);
    x = must(calloc(1, sizeof *x));
    if (!hand_over(r, &t, l, x, o)) {
        free(x);
        return 1;
    }
    *p = (struct prepared){ .l = l, .state = x, .b = b };
    return 0;
}

struct place {
    struct run_env *env;
    const struct lprog *l;
};

/* Dense elements go where the layout of the output has them. */
static void put_output(void *ctx, int k, const unsigned char *bytes)
{
    const struct place *p = ctx;
    const struct buffer *b;
    int64_t size;
    int i = 0;

    while (p->l->buffer[i].kind != BUF_OUTPUT || p->l->buffer[i].slot != k)
        i++;
    b = &p->l->buffer[i];
    size = dtype_info(b->dt)->bytes;
    for (int64_t e = 0; e < shape_count(&b->sh); e++)
        memcpy(p->env->buf[i].p + layout_at(&b->layout, &b->sh, e) * size, bytes + e * size,
               (size_t)size);
}

static void run(struct run_env *env, struct prepared *p, enum algebra al, struct outcome *o)
{
    struct exec_row *r = row_of(p->b);
    const struct talk_env t = talk_env(env);
    struct place place = { env, p->l };
    const void *in[RUN_MAX_BUFFERS];
    struct built *x = p->state;
    struct err e = { 0 };
    int n = 0;

    *o = (struct outcome){ .algebra = al };
    if (run_place(env, p->l, al, &e)) {
        o->status = OUT_UNSUPPORTED;
        snprintf(o->detail, sizeof o->detail, "%.300s", e.msg);
        return;
    }
    foreign_poison(env, p->l);
    for (int i = 0; i < p->l->n_buffer; i++)
        if (p->l->buffer[i].kind == BUF_INPUT)
            in[n++] = env->buf[i].p;
    /* after a death it is started anew, and has nothing yet */
    if (!hand_over(r, &t, p->l, x, o))
        return;
    memcpy(o->ran, x->ran, sizeof o->ran);
    if (exec_run(r, &t, p->l, in, put_output, &place, o))
        run_collect(env, p->l, al, o);
}

static void release(struct prepared *p)
{
    free(p->state);
    p->state = NULL;
}

bool exec_refresh(const struct backend *b)
{
    struct exec_row *r = row_of(b);

    if (!exec_child_runs(&r->child) || r->child.cases <= 1)
        return false;
    exec_child_end(&r->child);
    return true;
}

void exec_stale(const struct backend *b)
{
    row_of(b)->count->stale++;
}

void exec_close(const struct backend *b)
{
    exec_server_end(&row_of(b)->server);
}

struct exec_cost exec_cost(const struct backend *b)
{
    const struct exec_count *c = row_of(b)->count;

    return (struct exec_cost){ .process_s = (double)c->process_ns * 1e-9,
                               .framework_s = (double)c->framework_ns * 1e-9,
                               .start_s = (double)c->start_ns * 1e-9,
                               .lost_s = (double)c->lost_ns * 1e-9,
                               .runs = c->runs,
                               .starts = c->starts,
                               .stale = c->stale };
}

/* At blanks; no quotes: who needs them writes a script. */
static char **split(const char *command)
{
    size_t n = strlen(command);
    char **argv = calloc(n + 2, sizeof *argv), *copy = strdup(command), *rest = copy, *word;
    int k = 0;

    if (!argv || !copy)
        BUG("out of memory");
    while ((word = strtok_r(rest, " \t", &rest)))
        argv[k++] = word;
    return argv;
}

const struct backend *exec_open(const char *name, const char *command, struct err *e)
{
    struct exec_row *r = calloc(1, sizeof *r);
    const struct talk_env t = { 0 };
    char why[400];

    if (!r)
        BUG("out of memory");
    r->command = strdup(command);
    r->argv = split(command);
    r->count =
        mmap(NULL, sizeof *r->count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!r->command || r->count == MAP_FAILED)
        BUG("out of memory");
    r->b = (struct backend){ .name = strdup(name),
                             .help = "a program that is not ours",
                             .group = "exec",
                             .runs = 2,
                             .available = available,
                             .prepare = prepare,
                             .run = run,
                             .release = release,
                             .caps = &r->caps,
                             .own_process = true };
    if (!r->argv[0]) {
        err_set(e, ERR_USAGE, "exec: which command? exec:COMMAND expected");
        return NULL;
    }
    exec_server_open(&r->server, &r->count->no_server);
    if (exec_ready(r, &t, why, sizeof why) != TALK_FINE) {
        err_set(e, ERR_MISSING, "%s: %s", command, why);
        return NULL;
    }
    exec_serve(r, &t); /* each process of ours starts its own child, or asks for one */
    return &r->b;
}
