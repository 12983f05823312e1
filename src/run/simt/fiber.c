#include "run/simt/fiber.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/bug.h"

#if defined(__SANITIZE_ADDRESS__)
#define FIBER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FIBER_ASAN 1
#endif
#endif

enum { PAGE = 4096, MAX_STACKS = 8 * 1024, STRIDE = FIBER_STACK + PAGE };

static unsigned char *map;
static int n_stack;

bool fiber_stacks(int n)
{
    if (n > MAX_STACKS)
        return false;
    if (!map) {
        void *p = mmap(NULL, (size_t)MAX_STACKS * STRIDE, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

        if (p == MAP_FAILED)
            return false;
        map = p;
    }
    for (; n_stack < n; n_stack++)
        if (mprotect(map + (size_t)n_stack * STRIDE + PAGE, FIBER_STACK,
                     PROT_READ | PROT_WRITE))
            return false;
    return true;
}

/* Frames at the same place of every stack would all fall into the same few lines of a cache. */
static size_t colour(int i)
{
    return (size_t)(i % 24) * 320 / 16 * 16;
}

#ifdef FIBER_ASAN
void __sanitizer_start_switch_fiber(void **fake, const void *bottom, size_t size);
void __sanitizer_finish_switch_fiber(void *fake, const void **bottom_old, size_t *size_old);
void __asan_unpoison_memory_region(const volatile void *p, size_t size);

/* Frames that a fiber never returned to have left their red zones in the stack. */
static void fresh(const struct fiber *f)
{
    __asan_unpoison_memory_region(f->stack, f->stack_bytes);
}

static struct fiber *came_from;

static void leave(struct fiber *from, struct fiber *to)
{
    came_from = from;
    __sanitizer_start_switch_fiber(&from->fake, to->stack, to->stack_bytes);
}

static void arrive(void *fake)
{
    const void *bottom;
    size_t size;

    __sanitizer_finish_switch_fiber(fake, &bottom, &size);
    if (!came_from->stack) { /* the thread that we were called on */
        came_from->stack = bottom;
        came_from->stack_bytes = size;
    }
}

void fiber_begun(void)
{
    arrive(NULL);
}
#else
static void fresh(const struct fiber *f)
{
    (void)f;
}

static void leave(struct fiber *from, struct fiber *to)
{
    (void)from;
    (void)to;
}

static void arrive(void *fake)
{
    (void)fake;
}

void fiber_begun(void)
{
}
#endif

#if FIBER_UCONTEXT
void fiber_make(struct fiber *f, int i, void (*main)(void))
{
    f->stack = map + (size_t)i * STRIDE + PAGE;
    f->stack_bytes = FIBER_STACK - colour(i);
    f->fake = NULL;
    fresh(f);
    if (getcontext(&f->context))
        BUG("getcontext failed");
    f->context.uc_stack.ss_sp = (void *)f->stack;
    f->context.uc_stack.ss_size = f->stack_bytes;
    f->context.uc_link = NULL;
    makecontext(&f->context, main, 0);
}

void fiber_switch(struct fiber *from, struct fiber *to)
{
    leave(from, to);
    if (swapcontext(&from->context, &to->context))
        BUG("swapcontext failed");
    arrive(from->fake);
}
#else
void tilefuzz_fiber_swap(void **save, void *to);

/* What the System V ABI has a callee keep, but the control words, which nobody here changes. */
__asm__(".text\n"
        ".hidden tilefuzz_fiber_swap\n"
        ".globl tilefuzz_fiber_swap\n"
        ".type tilefuzz_fiber_swap, @function\n"
        "tilefuzz_fiber_swap:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size tilefuzz_fiber_swap, .-tilefuzz_fiber_swap\n");

void fiber_make(struct fiber *f, int i, void (*main)(void))
{
    /* registers, where to go, and a return address that leads nowhere */
    enum { REGS = 6, SLOTS = REGS + 2 };
    uintptr_t *sp;

    f->stack = map + (size_t)i * STRIDE + PAGE;
    f->stack_bytes = FIBER_STACK - colour(i);
    f->fake = NULL;
    fresh(f);
    sp = (uintptr_t *)((unsigned char *)f->stack + f->stack_bytes) - SLOTS;
    memset(sp, 0, SLOTS * sizeof *sp);
    sp[REGS] = (uintptr_t)main;
    f->sp = sp;
}

void fiber_switch(struct fiber *from, struct fiber *to)
{
    leave(from, to);
    tilefuzz_fiber_swap(&from->sp, to->sp);
    arrive(from->fake);
}
#endif
