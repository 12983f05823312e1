/* A run: memory and sites are prepared, then kernel after kernel, block after block. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "run/simt/machine.h"

struct machine machine;

enum { MOST_SITES = 1 << TF_SITE_BITS, MOST_ARRAYS = 1 << (32 - TF_SITE_BITS) };

struct simt_opts simt_opts_of(uint64_t seed, int turn)
{
    struct simt_opts o = { .seed = seed, .resident = MAX_RESIDENT, .report = true };
    struct rng r;

    rng_init_named(&r, seed, (uint64_t)turn, "simt");
    o.seed = rng_u64(&r);
    o.interval = (int)rng_range(&r, 3, 300);
    if (turn == 0)
        return o;
    o.resident = (int)rng_range(&r, 1, MAX_RESIDENT);
    o.latency = (int)rng_range(&r, 5, 20);
    if (turn == 1) {
        o.policy = SIMT_REVERSE;
    } else {
        static const enum simt_policy drawn[] = { SIMT_PERMUTED, SIMT_PREEMPT, SIMT_PREEMPT,
                                                  SIMT_STRAGGLER, SIMT_PRIORITY };

        o.policy = drawn[rng_below(&r, ARRAY_LEN(drawn))];
    }
    return o;
}

static int log2_of(int size)
{
    int n = 0;

    while (1 << n < size)
        n++;
    return n;
}

static void add_array(struct memory *m, const struct simt_array *a)
{
    unsigned char *base = (unsigned char *)a->base - a->at;

    if (!m->base) {
        m->base = base;
        m->cell_shift = log2_of(a->size);
    }
    if (m->bytes < a->at + a->elems * a->size)
        m->bytes = a->at + a->elems * a->size;
    if (log2_of(a->size) < m->cell_shift)
        m->cell_shift = log2_of(a->size);
    m->recorded |= !a->input;
}

static void free_memory(struct machine *m)
{
    for (int i = 0; i < m->n_memory; i++)
        free(m->memory[i].cell);
    free(m->memory);
    m->memory = NULL;
    m->n_memory = 0;
}

/* Cells stay where they are from run to run of one program, for trace.c. */
static bool same_memory(const struct machine *m, const struct memory *new, int n)
{
    if (n != m->n_memory)
        return false;
    for (int i = 0; i < n; i++)
        if (m->memory[i].bytes != new[i].bytes || m->memory[i].recorded != new[i].recorded ||
            m->memory[i].cell_shift != new[i].cell_shift)
            return false;
    return true;
}

static void mark_init(const struct simt_array *a, int array, struct memory *m)
{
    int64_t from = a->at >> m->cell_shift, n = a->elems * a->size >> m->cell_shift;

    for (int64_t i = from; i < from + n; i++) {
        m->cell[i].w = (uint64_t)TF_HOST << 32;
        m->cell[i].wsite = (unsigned)array << TF_SITE_BITS;
    }
}

static void prepare_memory(struct machine *m, const struct simt_program *p)
{
    int n = 0;
    struct memory *new;

    for (int i = 0; i < p->n_array; i++)
        if (!p->array[i].shared && p->array[i].memory >= n)
            n = p->array[i].memory + 1;
    new = must(calloc((size_t)n + 1, sizeof *new));
    for (int i = 0; i < p->n_array; i++)
        if (!p->array[i].shared)
            add_array(&new[p->array[i].memory], &p->array[i]);
    if (same_memory(m, new, n)) {
        for (int i = 0; i < n; i++)
            new[i].cell = m->memory[i].cell;
        free(m->memory);
    } else {
        free_memory(m);
        for (int i = 0; i < n; i++)
            if (new[i].recorded)
                new[i].cell = must(malloc(((size_t)(new[i].bytes >> new[i].cell_shift) + 16) *
                                          sizeof *new[i].cell));
    }
    m->memory = new;
    m->n_memory = n;
    for (int i = 0; i < n; i++)
        if (new[i].recorded && m->o.report)
            memset(new[i].cell, 0,
                   ((size_t)(new[i].bytes >> new[i].cell_shift) + 16) * sizeof *new[i].cell);
    for (int i = 0; i < p->n_array && m->o.report; i++)
        if (p->array[i].init && !p->array[i].shared && !p->array[i].input)
            mark_init(&p->array[i], i, &new[p->array[i].memory]);
}

static int smem_shift(const struct simt_program *p, int kernel)
{
    int shift = 4;

    for (int i = 0; i < p->n_array; i++)
        if (p->array[i].shared && p->array[i].memory == kernel &&
            log2_of(p->array[i].size) < shift)
            shift = log2_of(p->array[i].size);
    return shift;
}

static void prepare_site(struct machine *m, int i, const bool *written)
{
    const struct simt_site *s = &m->p->site[i];
    const struct simt_array *a = &m->p->array[s->array];
    struct tf_site *d = &m->site[i];
    int cell_shift = a->shared ? smem_shift(m->p, s->kernel) : m->memory[a->memory].cell_shift;

    d->shift = (unsigned)log2_of(a->size);
    d->off = (unsigned)a->at;
    d->cell_off = (unsigned)(a->at >> cell_shift);
    d->array = (unsigned)s->array;
    d->tag = (unsigned)s->array << TF_SITE_BITS | (unsigned)i;
    d->fast = (int)d->shift == cell_shift || a->input ? (uint64_t)a->elems : 0;
    if (!a->shared) {
        d->base = a->base;
        if (!a->input)
            d->cell = m->memory[a->memory].cell + d->cell_off;
        d->frozen = !written[a->memory];
    }
    if (trace_on || (m->o.store_buffer && !a->shared && !a->input))
        d->fast = 0;
}

/* Sites stand kernel by kernel, but nothing depends on it. */
static void prepare_sites(struct machine *m, const struct simt_program *p)
{
    bool *written = must(calloc((size_t)m->n_memory + 1, sizeof *written));

    free(m->site);
    m->site = must(calloc((size_t)p->n_site + 1, sizeof *m->site));
    for (int k = 0; k < p->n_kernel; k++) {
        memset(written, 0, (size_t)m->n_memory * sizeof *written);
        for (int i = 0; i < p->n_site; i++)
            if (p->site[i].kernel == k && p->site[i].array >= 0 && p->site[i].store &&
                !p->array[p->site[i].array].shared)
                written[p->array[p->site[i].array].memory] = true;
        for (int i = 0; i < p->n_site; i++)
            if (p->site[i].kernel == k && p->site[i].array >= 0)
                prepare_site(m, i, written);
    }
    free(written);
    m->hot.site = m->site;
}

static void prepare_blocks(struct machine *m, const struct simt_kernel *k, int number, int n)
{
    static size_t room[MAX_RESIDENT];

    m->n_threads = (int)k->threads;
    m->parts = k->parts;
    m->smem_bytes = (int)(k->smem + 15) / 16 * 16;
    m->smem_shift = smem_shift(m->p, number);
    if (!m->thread) {
        m->thread = must(calloc((size_t)MAX_RESIDENT * MAX_THREADS, sizeof *m->thread));
        for (int i = 0; i < MAX_RESIDENT * MAX_THREADS; i++)
            m->thread[i].number = i;
    }
    if (!fiber_stacks(n * m->n_threads))
        BUG("no memory for stacks");
    for (int i = 0; i < n; i++) {
        struct block *b = &m->block[i];

        b->thread = &m->thread[i * m->n_threads];
        if (room[i] >= (size_t)m->smem_bytes + 64)
            continue;
        room[i] = (size_t)m->smem_bytes + 64 < 65536 ? 65536 : (size_t)m->smem_bytes + 64;
        free(b->smem);
        free(b->shadow);
        b->smem = must(aligned_alloc(64, (room[i] + 63) / 64 * 64));
        b->shadow = must(malloc(room[i] * sizeof *b->shadow));
    }
}

static void launch(struct machine *m, int number)
{
    const struct simt_kernel *k = &m->p->kernel[number];
    int resident = k->blocks < m->o.resident ? (int)k->blocks : m->o.resident;

    m->kernel = number;
    m->hot.launch += (unsigned)m->n_interval;
    m->n_interval = 0;
    m->n_blocks = k->blocks;
    m->next_block = m->done_blocks = 0;
    m->now = NULL;
    for (int i = 0; i < MAX_RESIDENT; i++)
        m->block[i].live = 0;
    prepare_blocks(m, k, number, resident);
    global_begin(true);
    sched_launch();
    copy_begin();
    flag_begin();
    for (int i = 0; i < resident; i++)
        block_start(&m->block[i]);
    while (m->done_blocks < m->n_blocks && !m->stuck) {
        int64_t done = m->done_blocks;

        sched_host();
        if (m->done_blocks > done) {
            if (m->next_block < m->n_blocks)
                block_start(m->now->block);
        } else if (!flag_wake_all()) {
            m->stuck = true;
        }
    }
    if (m->stuck)
        report_stuck();
}

static bool takes(const struct simt_program *p, const char **why)
{
    *why = NULL;
    if (p->n_site >= MOST_SITES)
        *why = "too many accesses in the text";
    if (p->n_array >= MOST_ARRAYS)
        *why = "too many buffers";
    for (int i = 0; i < p->n_kernel; i++) {
        const struct simt_kernel *k = &p->kernel[i];

        if (k->threads < 1 || k->threads > MAX_THREADS)
            *why = "a block has more than 1024 threads";
        if (k->blocks > INT32_MAX || k->smem > 1 << 20)
            *why = "a grid or its shared memory is too large";
    }
    return !*why;
}

bool simt_run(const struct simt_program *p, const struct simt_opts *o, struct simt_result *r,
              const char **why)
{
    struct machine *m = &machine;

    *r = (struct simt_result){ 0 };
    if (!takes(p, why))
        return false;
    m->p = p;
    m->o = *o;
    m->r = r;
    if (m->o.resident < 1 || m->o.resident > MAX_RESIDENT)
        m->o.resident = MAX_RESIDENT;
    if (m->o.interval < 1)
        m->o.interval = 1;
    m->stuck = false;
    m->ticks = 0;
    rng_init(&m->rng, o->seed, 0);
    m->hot = (struct tf_hot){ .launch = TF_HOST + 1, .track = o->report };
    m->hot.preempt = sched_preempt;
    m->hot.slow = slow_access;
    m->n_interval = 0;
    prepare_memory(m, p);
    prepare_sites(m, p);
    buffer_begin();
    global_begin(false);
    report_begin();
    sched_begin();
    for (int k = 0; k < p->n_kernel && !m->stuck; k++)
        if (p->kernel[k].blocks > 0)
            launch(m, k);
    return true;
}
