/*
 * Fibers: the threads of the SIMT machine. A switch costs about 12 ns, as it saves what a
 * function must and nothing else; a system that this is not written for gets ucontext, at
 * twenty times that. Stacks come from one reservation, each above an inaccessible page, so that
 * a kernel which needs more dies by a signal instead of by its neighbour.
 */
#ifndef RUN_SIMT_FIBER_H
#define RUN_SIMT_FIBER_H

#include <stdbool.h>
#include <stddef.h>

#if !defined(__x86_64__) || defined(SIMT_UCONTEXT)
#include <ucontext.h>
#define FIBER_UCONTEXT 1
#else
#define FIBER_UCONTEXT 0
#endif

enum { FIBER_STACK = 64 * 1024 };

struct fiber {
#if FIBER_UCONTEXT
    ucontext_t context;
#else
    void *sp;
#endif
    const void *stack; /* for a sanitizer, with its own record of the frames */
    size_t stack_bytes;
    void *fake;
};

/* Stacks 0 .. n - 1 exist from now on. False = no memory. */
bool fiber_stacks(int n);
/* A fiber on stack number i that begins with main(), which must never return. */
void fiber_make(struct fiber *f, int i, void (*main)(void));
/* From the running fiber into another; comes back when somebody switches to it. A first
 * switch of the thread that is no fiber yet may start from an empty struct. */
void fiber_switch(struct fiber *from, struct fiber *to);
/* The first thing that a fiber's main does. */
void fiber_begun(void);

#endif
