/*
 * A shim to preload: every allocation begins as bytes 0xff, which is NaN in every float type,
 * so that a library that reads what it never wrote gives itself away.
 *
 *     LD_PRELOAD=fill.so tilefuzz fuzz --backends plugin:openblas.so --for 60s
 *
 * Only what a library allocates itself: calloc keeps its zeros, and so do pages of mmap.
 */
#include <dlfcn.h>
#include <malloc.h>
#include <stddef.h>
#include <string.h>

#define OPEN __attribute__((visibility("default")))

static void *filled(void *p)
{
    if (p)
        memset(p, 0xff, malloc_usable_size(p));
    return p;
}

extern void *__libc_malloc(size_t n);
extern void *__libc_memalign(size_t alignment, size_t n);
extern void *__libc_realloc(void *p, size_t n);

OPEN void *malloc(size_t n)
{
    return filled(__libc_malloc(n));
}

OPEN void *memalign(size_t alignment, size_t n)
{
    return filled(__libc_memalign(alignment, n));
}

OPEN void *aligned_alloc(size_t alignment, size_t n)
{
    return filled(__libc_memalign(alignment, n));
}

OPEN int posix_memalign(void **to, size_t alignment, size_t n)
{
    void *p = filled(__libc_memalign(alignment, n));

    if (!p)
        return 12; /* ENOMEM */
    *to = p;
    return 0;
}

/* What is new behind the old end is filled. */
OPEN void *realloc(void *old, size_t n)
{
    size_t had = old ? malloc_usable_size(old) : 0, has;
    char *p = __libc_realloc(old, n);

    has = p && n ? malloc_usable_size(p) : 0;
    if (has > had)
        memset(p + had, 0xff, has - had);
    return p;
}
