/*
 * What an adapter can do is tried: each op with each dtype once, as a program of one line.
 * What is refused then is refused for good, with the reason. One that dies or hangs over a
 * program that its hello did not name is taken to refuse; where hello named it, trials shall
 * show it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "ir/data.h"
#include "ir/text.h"
#include "run/exec/exec.h"

static const char *const program[OP_COUNT] = {
#define TRY(id, text) [OP_##id] = text,
#include "run/exec/try.def"
#undef TRY
};

/* The trial of an op and dtype; false = there is no such thing. */
static bool make_trial(enum op op, enum dtype dt, struct arena *a, struct trial **t)
{
    struct str s = { 0 };
    struct err e = { 0 };
    bool legal;

    str_puts(&s, "tilefuzz 1\n");
    for (const char *c = program[op]; *c; c++) {
        if (*c == 'D')
            str_puts(&s, dtype_info(dt)->name);
        else
            str_write(&s, c, 1);
    }
    str_puts(&s, "output y\n");
    legal = trial_parse(str_get(&s), s.n, a, t, &e) == 0;
    str_release(&s);
    return legal;
}

static void drop(void *ctx, int k, const unsigned char *bytes)
{
    (void)ctx;
    (void)k;
    (void)bytes;
}

static void run_it(struct exec_row *r, const struct talk_env *t, const struct lprog *l,
                   struct arena *a, struct outcome *o)
{
    const void *in[4] = { NULL };
    int n = 0;

    for (int i = 0; i < l->n_buffer; i++)
        if (l->buffer[i].kind == BUF_INPUT) {
            void *p = arena_alloc(a, exec_storage(&l->buffer[i]), 16);

            data_fill(l->trial, l->buffer[i].node, AL_IEEE, p);
            /* the only index there is must be inside */
            if (!strcmp(l->buffer[i].name, "i"))
                memset(p, 0, exec_storage(&l->buffer[i]));
            in[n++] = p;
        }
    exec_run(r, t, l, in, drop, NULL, o);
}

void exec_try_one(struct exec_row *r, const struct talk_env *t, enum op op, enum dtype dt)
{
    unsigned char *cap = &r->caps.op[op][dt];
    bool named = *cap == CAP_NAMED;
    struct outcome o = { 0 };
    struct trial *trial;
    struct arena a;
    const struct lprog *l;

    arena_init(&a);
    *cap = CAP_YES;
    if (program[op] && make_trial(op, dt, &a, &trial)) {
        l = foreign_lprog(trial, &a);
        if (exec_prepare(r, t, l, &o) == TALK_FINE)
            run_it(r, t, l, &a, &o);
        if (o.status == OUT_UNSUPPORTED || o.status == OUT_BUILD_FAILED)
            *cap = named ? CAP_LIE : CAP_TRIED;
        else if ((o.status == OUT_CRASH || o.status == OUT_HANG) && !named)
            *cap = CAP_TRIED;
        if (*cap != CAP_YES) {
            r->caps.why[op][dt] = strdup(o.detail);
            r->caps.why[op][dt][strcspn(r->caps.why[op][dt], "\n")] = '\0';
        }
    } else if (program[op]) {
        *cap = CAP_NO; /* no legal program: exp of i32 */
    }
    arena_release(&a);
}

static bool unknown(const struct exec_row *r, enum op op, enum dtype dt)
{
    return r->caps.dtype[dt] &&
           (r->caps.op[op][dt] == CAP_UNSURE || r->caps.op[op][dt] == CAP_NAMED);
}

void exec_try_program(struct exec_row *r, const struct talk_env *t, const struct prog *p)
{
    for (int i = 0; i < p->n; i++) {
        enum dtype dt = caps_dtype(p, &p->node[i]);

        if (unknown(r, p->node[i].op, dt))
            exec_try_one(r, t, p->node[i].op, dt);
    }
}

struct tried exec_try(const struct backend *b, const bool op[OP_COUNT])
{
    struct exec_row *r = (struct exec_row *)b;
    const struct talk_env t = { 0 };
    struct tried n = { 0 };

    if (strcmp(b->group, "exec") != 0)
        return n;
    for (int i = 0; i < OP_COUNT; i++)
        for (int dt = 0; dt < DT_COUNT; dt++) {
            if (!op[i] || !r->caps.dtype[dt] || i == OP_INPUT || i == OP_CONST)
                continue;
            if (unknown(r, (enum op)i, (enum dtype)dt))
                exec_try_one(r, &t, (enum op)i, (enum dtype)dt);
            n.of += r->caps.op[i][dt] != CAP_NO;
            n.taken += r->caps.op[i][dt] == CAP_YES;
        }
    exec_child_end(&r->child);
    return n;
}
