/* What is wrong: the first report counts, the others are counted. */
#include <stdio.h>

#include "run/simt/machine.h"

const struct tf_cell *report_cell;

const char *simt_class_name(enum simt_class c)
{
    static const char *const names[SIMT_CLASSES] = { "none",   "race",       "uninit",  "stale",
                                                     "bounds", "divergence", "deadlock" };

    return names[c];
}

void report_begin(void)
{
    report_cell = NULL;
}

/* The cell's element as the array of another site counts. */
static int64_t index_at(const struct tf_cell *c, const struct tf_site *d)
{
    const struct machine *m = &machine;
    const struct simt_array *a = &m->p->array[d->array];
    int64_t byte;

    if (a->shared)
        byte = (c - m->hot.shadow) << m->smem_shift;
    else
        byte = (c - m->memory[a->memory].cell) << m->memory[a->memory].cell_shift;
    return (byte - a->at) / a->size;
}

static struct simt_place place_of(const struct met *met, const struct tf_cell *c)
{
    struct simt_place p = { .site = -1, .index = -1, .block = -1, .thread = -1 };
    uint32_t number = met ? stamp_interval(met->stamp) : 0;

    if (!number)
        return p;
    p.site = (int)(met->tag & ((1u << TF_SITE_BITS) - 1));
    p.store = met->store;
    if (c)
        p.index = index_at(c, &machine.site[p.site]);
    if (number >= machine.hot.launch) {
        p.block = interval_info(number)->block;
        p.thread = stamp_tid(met->stamp);
    }
    return p;
}

static const char *text_of(enum simt_class class, const struct met *met)
{
    switch (class) {
    case SIMT_RACE:
        return met && stamp_several(met->stamp) ? "not in order with this and other accesses"
                                                : "not in order with the other access";
    case SIMT_UNINIT:
        return "read before anybody wrote it";
    case SIMT_STALE:
        return "written last through another array that lies there too";
    case SIMT_BOUNDS:
        return "outside of its array, or not aligned";
    case SIMT_DIVERGENCE:
        return "not all threads came to this barrier";
    case SIMT_DEADLOCK:
        return "nobody can go on";
    case SIMT_NONE:
    case SIMT_CLASSES:
        break;
    }
    return "";
}

void report_access(enum simt_class class, const char *rule, struct tf_cell *c, int site,
                   int64_t index, bool store, const struct met *met)
{
    struct simt_report *f = &machine.r->first;
    const struct thread *t = machine.now;

    if (c)
        c->w = ~0ull;
    if (machine.r->count[class]++ || f->class)
        return;
    *f = (struct simt_report){ .class = class, .rule = rule, .kernel = machine.kernel };
    f->at = (struct simt_place){ site, index, t ? t->block->id : -1, t ? t->tid : -1, store };
    f->other = place_of(met, c);
    snprintf(f->detail, sizeof f->detail, "%s", text_of(class, met));
    report_cell = c;
    if (trace_on)
        trace_report(met);
}

/* Names a thread that waits, at a flag if there is one, and says how many wait for what. */
void report_stuck(void)
{
    struct machine *m = &machine;
    int at[DONE + 1] = { 0 };
    struct thread *who = NULL;

    for (int i = 0; i < MAX_RESIDENT; i++)
        for (int t = 0; m->block[i].live && m->block[i].thread && t < m->n_threads; t++) {
            struct thread *x = &m->block[i].thread[t];

            at[x->state]++;
            if (x->state != DONE && (!who || (x->state == AT_FLAG && who->state != AT_FLAG)))
                who = x;
        }
    m->now = who;
    if (who)
        report_access(SIMT_DEADLOCK, at[AT_FLAG] ? "flag" : "barrier", NULL, who->at_site, -1,
                      false, NULL);
    if (m->r->first.class == SIMT_DEADLOCK)
        snprintf(
            m->r->first.detail, sizeof m->r->first.detail,
            "nobody can go on: %d threads at a barrier, %d at one of a part, %d in a warp's "
            "meeting, %d at a flag",
            at[AT_BARRIER], at[AT_NAMED], at[AT_WARP], at[AT_FLAG]);
}
