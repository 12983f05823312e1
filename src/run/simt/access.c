/* Memory hooks, and the way of those accesses that the fast paths leave. */
#include <string.h>

#include "run/simt/hooks.h"
#include "run/simt/machine.h"

static unsigned char dummy[64] __attribute__((aligned(16)));

/* Where a refused access goes: reads as what unwritten memory holds. */
unsigned char *dummy_element(void)
{
    memset(dummy, 0xff, sizeof dummy);
    return dummy;
}

bool access_in_bounds(int site, int64_t index, int n, bool store)
{
    const struct tf_site *d = &machine.site[site];
    const struct simt_array *a = &machine.p->array[d->array];

    if (index < 0 || n > a->elems || index > a->elems - n) {
        report_access(SIMT_BOUNDS, "bounds", NULL, site, index, store, NULL);
        return false;
    }
    if (n > 1 && ((d->off >> d->shift) + (uint64_t)index) % (uint64_t)n) {
        report_access(SIMT_BOUNDS, "align", NULL, site, index, store, NULL);
        return false;
    }
    return true;
}

static unsigned char *shared_access(const struct tf_site *d, int site, int64_t index, int n,
                                    bool store)
{
    struct machine *m = &machine;
    unsigned more = d->shift - (unsigned)m->smem_shift; /* an element has 1 << more cells */
    struct tf_cell *c = &m->hot.shadow[d->cell_off + ((uint64_t)index << more)];

    for (int i = 0; m->hot.track && i < n << more; i++) {
        if (trace_on)
            trace_access(&c[i], store);
        if (store ? tf_write_shared(&m->hot, &c[i], d) : tf_read_shared(&m->hot, &c[i], d))
            continue;
        if (store)
            shared_write(&c[i], site, index + (i >> more));
        else
            shared_read(&c[i], site, index + (i >> more));
    }
    return m->hot.smem + d->off + ((uint64_t)index << d->shift);
}

static unsigned char *global_access_n(const struct tf_site *d, int site, int64_t index, int n,
                                      bool store)
{
    struct machine *m = &machine;
    const struct memory *mem = &m->memory[m->p->array[d->array].memory];
    unsigned more = d->shift - (unsigned)mem->cell_shift;
    struct tf_cell *c = d->cell ? d->cell + ((uint64_t)index << more) : NULL;

    for (int i = 0; c && m->hot.track && i < n << more; i++) {
        if (trace_on)
            trace_access(&c[i], store);
        if (store ? !tf_write_global(&m->hot, &c[i], d) : !tf_read_global(&m->hot, &c[i], d))
            global_access(&c[i], site, index + (i >> more), store ? PLAIN_WRITE : PLAIN_READ);
    }
    if (m->o.store_buffer && mem->recorded)
        return buffer_access(mem, d, index, n, store);
    return d->base + ((uint64_t)index << d->shift);
}

unsigned char *slow_access(int site, long long index, int n, int store)
{
    const struct tf_site *d = &machine.site[site];

    machine.r->slow++;
    if (!access_in_bounds(site, index, n, store))
        return dummy_element();
    return machine.p->array[d->array].shared ? shared_access(d, site, index, n, store)
                                             : global_access_n(d, site, index, n, store);
}

#define tf_now (&machine.hot)
#define FAST(type, name, args, body)                                                           \
    type name args                                                                             \
    {                                                                                          \
        body;                                                                                  \
    }
#define HOOK(type, name, args)
#include "run/simt/hooks.def"
#undef HOOK
