/*
 * A run again with an eye on one cell: which loops was everybody in who came to it? Loops say
 * where they are by tf_hook_loop, which costs no fuel, so the schedule is the same.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "run/simt/hooks.h"
#include "run/simt/machine.h"

enum { VISITS = 64 };

struct visit {
    uint64_t stamp;
    bool store;
    struct simt_loops loops;
};

bool trace_on;
static const struct tf_cell *watched;
static struct simt_trace *result;
static struct simt_loops *loops;   /* of each resident thread */
static struct visit visit[VISITS]; /* the last ones */
static int n_visit;

static void note(struct simt_loops *l, int site, int64_t value)
{
    int i = 0;

    while (i < l->n && l->v[i].site != site)
        i++;
    if (i == SIMT_LOOPS)
        return;
    l->v[i].site = site;
    l->v[i].value = value;
    if (i == l->n)
        l->n++;
}

int tf_hook_loop(int site, long long value)
{
    if (trace_on)
        note(&loops[machine.now->number], site, value);
    return 1;
}

void trace_access(const struct tf_cell *c, bool store)
{
    struct visit *v = &visit[n_visit % VISITS];

    if (c != watched)
        return;
    v->stamp = machine.hot.stamp;
    v->store = store;
    v->loops = loops[machine.now->number];
    n_visit++;
}

/* The latest visit by the other thread; or of anybody else who fits, if several were lumped
 * and the one that is named came to the cell himself. */
void trace_report(const struct met *met)
{
    uint64_t me = machine.hot.stamp, other = met ? met->stamp : 0;
    const struct visit *found = NULL;
    bool lump = stamp_several(other) && stamp_tid(other) == stamp_tid(me);

    result->at = loops[machine.now->number];
    for (int i = n_visit - 1; met && !found && i >= 0 && i > n_visit - VISITS; i--) {
        const struct visit *v = &visit[i % VISITS];
        bool same = stamp_tid(v->stamp) == stamp_tid(other);

        if (v->store == met->store && (lump ? !same : same))
            found = v;
    }
    if (found)
        result->other = found->loops;
}

bool simt_run_traced(const struct simt_program *p, const struct simt_opts *o,
                     struct simt_result *r, struct simt_trace *t, const char **why)
{
    bool ok;

    loops = must(calloc((size_t)MAX_RESIDENT * MAX_THREADS, sizeof *loops));
    watched = report_cell;
    result = t;
    *t = (struct simt_trace){ 0 };
    n_visit = 0;
    trace_on = true;
    ok = simt_run(p, o, r, why);
    trace_on = false;
    free(loops);
    loops = NULL;
    return ok;
}
