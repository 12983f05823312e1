/*
 * The SIMT machine: runs kernels as a GPU would, each thread a fiber, and says what was
 * unordered, unwritten, stale, out of bounds, divergent or stuck. One schedule a run, drawn
 * from a seed: the same options give the same run. One machine in a process, on one thread.
 *
 * A report does not stop the run: the first one counts, what follows is counted, and memory
 * holds in the end what this schedule made of it. The rules are those of HACKING.md.
 */
#ifndef RUN_SIMT_SIMT_H
#define RUN_SIMT_SIMT_H

#include <stdbool.h>
#include <stdint.h>

struct str;

enum simt_class {
    SIMT_NONE,
    SIMT_RACE,
    SIMT_UNINIT,
    SIMT_STALE,
    SIMT_BOUNDS,
    SIMT_DIVERGENCE,
    SIMT_DEADLOCK,
    SIMT_CLASSES
};

enum simt_policy {
    SIMT_IN_ORDER,  /* by number, each until it has to wait */
    SIMT_REVERSE,   /* the last first */
    SIMT_PERMUTED,  /* another order after every barrier */
    SIMT_PREEMPT,   /* anybody, interrupted at any access */
    SIMT_TURNS,     /* everybody in turn, one access each */
    SIMT_STRAGGLER, /* one warp comes last */
    SIMT_PRIORITY,  /* by random priorities, of which a few change */
    SIMT_POLICIES
};
extern const char *const simt_policy_names[SIMT_POLICIES];

struct simt_opts {
    uint64_t seed;
    enum simt_policy policy;
    int latency;       /* asynchronous copies take up to 2^latency ticks, 0 = none */
    int interval;      /* PREEMPT: mean number of accesses between interruptions */
    int resident;      /* blocks under way at once, 1 .. 8 */
    bool report;       /* record accesses; false: values only, but bounds */
    bool store_buffer; /* what a block writes stays its own until it releases */
    bool lenient;      /* say nothing of barriers that exited threads miss */
    bool pending;      /* tell of copies under way when their block ends: there they land in
                          memory that nobody has, so that a kernel may well leave them */
};
/* Everything from a seed: turn 0 in order and at once, 1 in reverse with latency, then a
 * policy drawn, with latency. */
struct simt_opts simt_opts_of(uint64_t seed, int turn);

/* What a site's number means. Arrays with the same memory may lie over each other. */
struct simt_array {
    void *base;    /* global: its element 0 */
    int64_t elems; /* bounds are these: not the memory's */
    int size;      /* of an element: 1 2 4 8 */
    int memory;    /* global: number of what it is a part of; shared: of the kernel */
    int64_t at;    /* bytes from the start of the memory, of the pool */
    bool shared;
    bool input; /* never written, nothing is recorded */
    bool init;  /* holds values before the first kernel */
};

struct simt_site {
    int array; /* -1 = none */
    int kernel;
    bool store;
};

struct simt_kernel {
    int64_t blocks, threads, smem;
    bool parts; /* its text has barriers of parts of a block or warp: who knows what to be over
                   is kept thread by thread, which takes ten times as long */
};

struct simt_program {
    const struct simt_array *array;
    int n_array;
    const struct simt_site *site;
    int n_site;
    const struct simt_kernel *kernel;
    int n_kernel;
    void (*call)(int kernel); /* one thread's run of it */
};

struct simt_place {
    int site; /* -1 = unknown */
    int64_t index, block;
    int thread;
    bool store;
};

struct simt_report {
    enum simt_class class;
    const char *rule; /* static, one word */
    int kernel;
    struct simt_place at, other; /* other.site -1 = there is none */
    char detail[120];
};

struct simt_result {
    struct simt_report first;    /* class NONE: nothing to report */
    int64_t count[SIMT_CLASSES]; /* of reports, each pair of sites once per cell */
    uint64_t accesses;           /* and other hooks that cost fuel */
    uint64_t copies, slow;
};

/* False = not run: e.g. more threads or sites than it takes; why says it. */
bool simt_run(const struct simt_program *p, const struct simt_opts *o, struct simt_result *r,
              const char **why);

/*
 * The same run again, to learn the loops round the two accesses of its first report, from a
 * program whose text was built with TF_TRACE. A thread's loops are those that it has been in,
 * each with its last value: which of them enclose the access is the caller's to know.
 */
enum { SIMT_LOOPS = 32 };
struct simt_loops {
    int n;
    struct {
        int site;
        int64_t value;
    } v[SIMT_LOOPS];
};
struct simt_trace {
    struct simt_loops at, other;
};
bool simt_run_traced(const struct simt_program *p, const struct simt_opts *o,
                     struct simt_result *r, struct simt_trace *t, const char **why);

const char *simt_class_name(enum simt_class c);

/*
 * build.c: from text to something to call. The text is what stands behind the declarations of
 * the hooks; it must define `void NAME(int kernel)` for each of the names.
 */
struct simt_built;
/* By libtcc in memory, with hooks in the machine: 1 ms. NULL = log says why. */
struct simt_built *simt_build_tcc(const char *text, bool trace, struct str *log);
/* By gcc with the hooks inlined: 100 ms, but runs three times as fast. */
struct simt_built *simt_build_gcc(const char *text, volatile uint64_t *tick, struct str *log);
void (*simt_built_entry(const struct simt_built *b, const char *name))(int kernel);
void simt_built_free(struct simt_built *b);

#endif
