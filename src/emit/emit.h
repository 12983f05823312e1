/*
 * Loop IR -> text. One C text serves both algebras through two preludes: arithmetic goes
 * through a small vocabulary (TF_ADD, TF_EXP, ...) that a prelude defines.
 */
#ifndef EMIT_EMIT_H
#define EMIT_EMIT_H

#include "lower/loop.h"

/* The kernels alone: for each live kernel `static void TF_KERNEL(NAME)(void *const *p)`;
 * p[i] = storage of buffer i, or for planned temps the arena in p[n_buffer]. The same text
 * that `show --as c` prints and that a repro carries. */
void emit_c(const struct lprog *l, struct str *s);

/* The vocabulary of one algebra: only the pieces that `text` uses. Ends with the definition
 * of TF_KERNEL(n). The second form takes back its macros, so that the other algebra's
 * prelude and the same text may follow in one file. */
void emit_prelude(enum algebra al, const char *text, struct str *s);
void emit_prelude_end(const char *text, struct str *s);

/* One entry `void NAME(void *const *p)` that calls the live kernels in order; follows the
 * prelude and the kernels of the algebra that it is to run. */
void emit_entry(const struct lprog *l, const char *name, struct str *s);

/* A standalone repro.c: the trial in the opening comment, prelude, kernel text as emitted,
 * a reference loop written from the program, data, bound. exit 1 and the first wrong
 * element if the kernel is wrong, 0 if it is right. */
struct repro {
    const struct trial *trial;
    const struct lprog *l;
    enum algebra algebra; /* the tier that failed */
    const char *title;    /* one line: what is wrong */
    const char *command;  /* the line to paste */
    const char *build;    /* the compiler and options that it takes, NULL = any */
    bool bounds;          /* the finding is OUT_OF_BOUNDS: watch every kernel in the arena */
};
void emit_repro_c(const struct repro *r, struct arena *a, struct str *s);

/*
 * The kernels as CUDA C: for each live kernel TF_KERNEL(NAME) in the dialect of HACKING.md,
 * which nvcc, NVRTC, gcc, clang and tcc take under the prelude for them. Every access, barrier,
 * copy and loop carries a number of its own: an index into `site`, which lives in l's arena.
 */
enum site_kind {
    SITE_LOAD,
    SITE_STORE,
    SITE_ASYNC, /* two rows: this one is the destination, the next the source */
    SITE_ATOMIC,
    SITE_ACQUIRE,
    SITE_RELEASE,
    SITE_SYNC,
    SITE_COMMIT,
    SITE_WAIT,
    SITE_SHFL,
    SITE_MMA,
    SITE_LOOP
};
struct emit_site {
    enum site_kind kind;
    int kernel, stmt;
    int buffer; /* accessed, -1 = none */
    int var;    /* LOOP: its variable */
    bool wide;  /* several elements at once */
};
struct emit_sites {
    struct emit_site *row;
    int n, cap;
};
void emit_cuda(const struct lprog *l, struct str *s, struct emit_sites *sites);

/* Who is to take the text: nvcc and NVRTC; or tcc, gcc and clang for the SIMT machine. */
enum cuda_host { CUDA_DEVICE, CUDA_SIMT };
void emit_cuda_prelude(enum algebra al, enum cuda_host host, const char *text, struct str *s);
void emit_cuda_prelude_end(enum cuda_host host, const char *text, struct str *s);

/* A standalone repro.cu: nvcc -arch=sm_80 repro.cu && ./a.out runs it many times. exit 1 and
 * the first wrong element if a run was wrong, 0 if none was, 77 if there is no device. */
struct repro;
void emit_repro_cu(const struct repro *r, struct arena *a, struct str *s);

#endif
