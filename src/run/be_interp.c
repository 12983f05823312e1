#include <stdio.h>
#include <string.h>

#include "run/interp.h"
#include "run/interp_code.h"

static int kernel_of(const struct code *c, int pc)
{
    int k = 0;

    while (k + 1 < c->l->n_kernel && c->kernel_at[k + 1] <= pc)
        k++;
    return k;
}

/* "s.i0=1 s.r0=7": the loops round the statement that was being executed */
static void loops_text(struct code *c, int kernel, int pc, char *buf, size_t size)
{
    const struct kernel *k = &c->l->kernel[kernel];
    int open[MAX_LOOPS], n = 0;
    size_t used = 0;

    for (int i = 0; i <= c->stmt[pc]; i++) {
        if ((k->st[i].kind == ST_LOOP || k->st[i].kind == ST_IF) && n < MAX_LOOPS)
            open[n++] = k->st[i].kind == ST_LOOP ? k->st[i].var : -1;
        else if (k->st[i].kind == ST_END)
            n--;
    }
    buf[0] = 0;
    for (int i = 0; i < n && used < size; i++)
        if (open[i] >= 0)
            used += (size_t)snprintf(buf + used, size - used, "%s%s=%lld", used ? " " : "",
                                     c->l->var[open[i]].name,
                                     (long long)c->r[x_var(&c->x, open[i])]);
}

/* What was being done at instruction pc. */
static void site_of(struct code *c, int pc, struct site *s)
{
    const struct lprog *l = c->l;
    const struct ins *p = &c->ins[pc];
    bool acc =
        p->op == INS_AGET || p->op == INS_APUT || p->op == INS_AGET_D || p->op == INS_APUT_D;
    int kernel = kernel_of(c, pc);

    s->store = p->op == INS_APUT || p->op == INS_APUT_D ||
               (!acc && p->op == (int)ins_store(l->buffer[p->b].dt));
    s->index = c->r[p->a];
    s->size = p->k;
    snprintf(s->kernel, sizeof s->kernel, "%s", l->kernel[kernel].name);
    snprintf(s->buffer, sizeof s->buffer, "%.47s",
             acc ? l->acc[p->e].name : l->buffer[p->b].name);
    loops_text(c, kernel, pc, s->loops, sizeof s->loops);
}

static void run_code(struct run_env *env, struct code *c, enum algebra al, struct outcome *o)
{
    int pc;

    if (!run_placed(env, c->l, al, o))
        return;
    switch (code_run(c, env, al, &pc)) {
    case EXEC_DONE:
        o->status = OUT_RAN;
        run_collect(env, c->l, al, o);
        break;
    case EXEC_BOUNDS:
        o->status = OUT_OUT_OF_BOUNDS;
        site_of(c, pc, &o->site);
        snprintf(o->detail, sizeof o->detail, "%s of %s[%lld], which has %lld elements",
                 o->site.store ? "store" : "load", o->site.buffer, (long long)o->site.index,
                 (long long)o->site.size);
        break;
    case EXEC_STEPS:
        o->status = OUT_HANG;
        snprintf(o->site.kernel, sizeof o->site.kernel, "%s",
                 c->l->kernel[kernel_of(c, pc)].name);
        loops_text(c, kernel_of(c, pc), pc, o->site.loops, sizeof o->site.loops);
        snprintf(o->detail, sizeof o->detail, "more than %lld loop steps",
                 (long long)env->step_limit);
        break;
    }
}

static const char *interp_version(void)
{
    return "2";
}

static int interp_prepare(struct run_env *env, const struct lprog *l, const char *text,
                          struct prepared *p, struct outcome *o)
{
    (void)o;
    *p = (struct prepared){ .l = l, .text = text, .state = code_compile(l, &env->arena) };
    return 0;
}

static void interp_run_prepared(struct run_env *env, struct prepared *p, enum algebra al,
                                struct outcome *o)
{
    struct code *c = p->state;

    c->l = p->l; /* perhaps the same loops with other data */
    run_code(env, c, al, o);
}

static void interp_release(struct prepared *p)
{
    p->state = NULL; /* it goes with the arena */
}

void interp_run(struct run_env *env, const struct lprog *l, enum algebra al, struct outcome *o)
{
    run_code(env, code_compile(l, &env->arena), al, o);
}

const struct backend be_interp = {
    .name = "interp",
    .help = "executes the loop IR, checking every access",
    .group = "interp",
    .runs = 1,
    .version = interp_version,
    .prepare = interp_prepare,
    .run = interp_run_prepared,
    .release = interp_release,
};
