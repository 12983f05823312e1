/*
 * Inside of the SIMT machine: what its parts share.
 */
#ifndef RUN_SIMT_MACHINE_H
#define RUN_SIMT_MACHINE_H

#include <stddef.h>

#include "base/rng.h"
#include "run/simt/fast.h"
#include "run/simt/fiber.h"
#include "run/simt/simt.h"

enum { WARP = 32, MAX_THREADS = 1024, MAX_WARPS = MAX_THREADS / WARP, MAX_RESIDENT = 8 };
enum { NAMED = 16 /* barriers of parts of a block */, MAX_CLOCK = 0xfffff };

enum state { READY, AT_BARRIER, AT_NAMED, AT_WARP, AT_FLAG, DONE };

/*
 * What of other blocks is known to be over: all epochs of a block below `epoch`, and of the
 * epoch under way what one thread had done when it released, and its warp before it met that
 * thread. Short lists: only what flags handed on. In a kernel with barriers of parts the
 * releaser tells of every thread that it had met: all below a clock, and of no other (lane).
 */
struct known {
    uint32_t block, epoch;
};
struct partly {
    uint64_t stamp;
    uint32_t block, epoch;
    bool lane;
};
struct know {
    struct known *all;
    struct partly *part;
    int n_all, cap_all, n_part, cap_part;
};

struct copy {
    struct copy *next; /* of the same thread, or free */
    struct block *block;
    uint64_t due;
    const unsigned char *from;  /* NULL = zeros */
    const struct tf_cell *read; /* first cell of the source, NULL = not recorded */
    unsigned to, cell;          /* in the pool: byte, first cell */
    int64_t to_index, from_index;
    uint64_t wrote[16]; /* who had written the source when it was issued */
    uint64_t stamp;
    uint32_t group;
    int site, thread;
    short bytes, cells, read_cells;
    bool landed, queued, over;
};

struct thread {
    struct fiber fiber;
    uint64_t stamp;
    struct block *block;
    struct thread *wait_next; /* AT_FLAG */
    struct know own;          /* not yet shared with the block */
    struct know fenced, seen; /* at its last fence; by relaxed loads since */
    bool has_fenced;
    enum state state;
    int number, tid;
    int at_site;    /* what it waits at */
    int wanted;     /* AT_FLAG */
    uint32_t group; /* of copies, still open */
    struct copy *first, *last;
    uint64_t priority, order;
    int kind;              /* of its warp's meeting that it waits in */
    unsigned members;      /* lanes that are to meet */
    unsigned vote, voters; /* what it brings; of all, and who they were */
    int named;             /* AT_NAMED: which */
    const void *word;      /* what it brings to a meeting of its warp */
    unsigned char got[16];
    const unsigned *mma[3];
};

struct warp {
    int live;
    int arrived, first; /* in a meeting of all of it */
    int apart;          /* in meetings of some */
    unsigned clock;
};

/* Whole warps meet at it: it is complete with n / WARP of them. */
struct named {
    int waiting, n, first;
    short lanes[MAX_WARPS];
};

struct block {
    int64_t id;
    uint32_t epoch, floor;
    int live, arrived, exited, bar_site;
    struct know know;
    struct thread *thread;
    struct warp warp[MAX_WARPS];
    struct named named[NAMED];
    /* in a kernel with barriers of parts, over[t * threads + u]: what u did below that clock is
     * over for t; met = not all 0 */
    uint32_t *over;
    size_t cap_over;
    bool met;
    unsigned char *smem;
    struct tf_cell *shadow;
    unsigned char *pending, *dirty; /* store buffer: see buffer.c */
    int first_at_barrier;           /* thread */
};

/* Memory that the host gave, with the cells of it. */
struct memory {
    unsigned char *base;
    int64_t bytes;
    int cell_shift;
    struct tf_cell *cell;
    bool recorded;
    size_t buffer_at; /* in the store buffers */
};

struct interval {
    uint32_t block, epoch;
};

struct machine {
    struct tf_hot hot;
    const struct simt_program *p;
    struct simt_opts o;
    struct simt_result *r;
    struct rng rng;
    int kernel; /* running */
    int64_t n_blocks, next_block, done_blocks;
    int n_threads, smem_bytes, smem_shift; /* of the kernel; of its cells */
    bool parts;                            /* it has barriers of parts */
    struct tf_site *site;
    struct memory *memory;
    int n_memory;
    struct thread *thread; /* all residents' */
    struct block block[MAX_RESIDENT];
    struct thread *now;
    struct fiber host;
    struct interval *interval; /* from hot.launch on */
    size_t n_interval, cap_interval;
    uint64_t ticks;
    bool stuck; /* nobody can go on */
};
extern struct machine machine;

/* May what the stamp says be taken as over by the running thread? */
bool stamp_ordered(uint64_t stamp);      /* global.c */
bool stamp_ordered_here(uint64_t stamp); /* shared.c: the same of the thread's own block */
/* part.c: by a barrier of less than the block, in the interval under way */
bool stamp_met(uint64_t stamp);
/* A shared cell is read, written; what is wrong goes to report.c. */
void shared_read(struct tf_cell *c, int site, int64_t index);
void shared_write(struct tf_cell *c, int site, int64_t index);
/* global.c */
enum access_kind { PLAIN_READ, PLAIN_WRITE, ATOMIC_LOAD, ATOMIC_STORE, ATOMIC_ADD };
void global_access(struct tf_cell *c, int site, int64_t index, enum access_kind kind);
void global_begin(bool launch); /* of a run, or of the next kernel in it */
/* The same rules for a block's shared memory: nothing is lumped. */
void shared_access_exact(struct tf_cell *c, int site, int64_t index, bool store);
/* access.c */
unsigned char *slow_access(int site, long long index, int n, int store);
/* Bounds and alignment of n elements; what is refused is reported. */
bool access_in_bounds(int site, int64_t index, int n, bool store);
unsigned char *dummy_element(void);

static inline uint32_t stamp_interval(uint64_t s)
{
    return (uint32_t)(s >> 32) & ~tf_aside;
}
static inline uint64_t stamp_of(uint32_t interval, unsigned several, int tid, unsigned clock)
{
    return (uint64_t)interval << 32 | (uint64_t)several << 30 | (uint64_t)(tid / WARP) << 25 |
           (uint64_t)clock << 5 | (uint64_t)(tid % WARP);
}
static inline int stamp_tid(uint64_t s)
{
    return (int)(s >> 25 & 31) * WARP + (int)(s & 31);
}
static inline unsigned stamp_several(uint64_t s)
{
    return s >> 30 & 3;
}
static inline unsigned stamp_clock(uint64_t s)
{
    return s >> 5 & 0xfffff;
}
static inline bool same_warp(uint64_t a, uint64_t b)
{
    return !((a ^ b) >> 25 & 31);
}
static inline bool is_aside(const struct tf_cell *c)
{
    return c->w >> 63;
}

/* know.c */
void know_clear(struct know *k);
void know_free(struct know *k);
void know_join(struct know *to, const struct know *from);
void know_epochs(struct know *k, uint32_t block, uint32_t epoch); /* those below are over */
void know_partly(struct know *k, struct partly p);
bool know_has(const struct know *k, uint64_t stamp, const struct interval *of);
uint32_t interval_new(const struct block *b);
void interval_own(void); /* the running thread: what it does next is told apart */
const struct interval *interval_info(uint32_t number); /* of this launch */

/* report.c */
struct met { /* the access that was met, by its stamp and tag */
    uint64_t stamp;
    unsigned tag;
    bool store;
};
/* met->stamp 0 or met NULL = nobody. c is not looked at again, if given. */
void report_access(enum simt_class class, const char *rule, struct tf_cell *c, int site,
                   int64_t index, bool store, const struct met *met);
void report_begin(void);
void report_stuck(void); /* nobody can go on: where are they? */
/* trace.c: of a traced run; report_cell is what the first report was about, of any run */
extern const struct tf_cell *report_cell;
extern bool trace_on;
void trace_access(const struct tf_cell *c, bool store);
void trace_report(const struct met *met);

/* sched.c */
void sched_begin(void);
void sched_launch(void);
void sched_ready(struct thread *t); /* it may run from now on */
/* Those that a barrier lets go, in the order in which the policy wants them. */
void sched_release(struct thread **t, int n);
void sched_wait(void);    /* the running thread isn't ready: others go on */
void sched_host(void);    /* from the host: until a block is done or nobody is ready */
void sched_leave(void);   /* the running thread was its block's last: back to the host */
void sched_preempt(void); /* the running thread is ready, others go on */
void sched_stamps(void);  /* the running thread's stamp has changed */

/* block.c */
void block_start(struct block *b);
void barrier_check(struct block *b);
void thread_main(void);

/* copy.c */
void copy_begin(void);
void copy_tick(void); /* lands what is due */
void copies_end(struct block *b);

/* flag.c */
void flag_begin(void);
bool flag_wake_all(void); /* those whose word holds what they wait for, by whatever way */

/* warp.c: a thread of the warp is gone; those who wait may be complete now */
void warp_left(struct block *b, int warp);
int warp_size(int warp);

/* part.c: barriers of parts of a block */
void parts_start(struct block *b);
void parts_sync(struct block *b); /* at a barrier of all: everything is over for everybody */
/* They meet: what each knows to be over, all know, and what they did themselves. */
void parts_meet(struct block *b, struct thread **t, int n);
void share_knowledge(struct thread **t, int n);
void parts_tell(struct know *k); /* what the running thread knows of its block's threads */
void named_left(struct block *b, int warp);

/* buffer.c: the store buffer */
void buffer_begin(void);
void buffer_block(struct block *b);
unsigned char *buffer_access(const struct memory *m, const struct tf_site *d, int64_t index,
                             int n, bool store);
void buffer_drain(struct block *b);
void buffer_drain_range(const struct memory *m, const struct tf_site *d, int64_t index);

#endif
