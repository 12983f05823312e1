#include "run/cc_config.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bug.h"

enum compiler { COMPILER_gcc, COMPILER_clang, COMPILERS };

static const char *const program[COMPILERS] = { "gcc", "clang" };

/* gcc's assembler takes its output by name only; clang has one of its own, and would write
 * to a temporary file beside the name, where there is no place. */
static const char *const output[COMPILERS] = { "/proc/self/fd/1", "-" };

static const struct {
    enum compiler compiler;
    bool contracts;
    const char *flags;
} config[CC_CONFIGS] = {
#define CC(id, name, compiler, level, contraction)                                             \
    [CC_##id] = { COMPILER_##compiler, CC_CONTRACTS_##contraction,                             \
                  CC_FLAGS(compiler, level, contraction) },
#include "run/cc.def"
#undef CC
};

static bool cpu_has_fma(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_cpu_init();
    return __builtin_cpu_supports("fma");
#elif defined(__aarch64__)
    return true;
#else
    return false;
#endif
}

/* What a configuration needs so that a bug of the compiler that everybody knows does not
 * hide all others: see masks_wrong. */
static const char *workaround(enum cc_config c);

const char *cc_command(enum cc_config c)
{
    static char text[CC_CONFIGS][160];

    snprintf(text[c], sizeof text[c], "%s %s%s", program[config[c].compiler], config[c].flags,
             workaround(c));
    return text[c];
}

const char *const *cc_argv(enum cc_config c)
{
    static const char *const rest[] = { "-fPIC", "-w", "-pipe", "-x", "c", "-c", "-", "-o" };
    static char words[160];
    static const char *argv[24];
    char *save = NULL;
    int n = 0;

    snprintf(words, sizeof words, "%s", cc_command(c));
    for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save))
        argv[n++] = w;
    for (size_t i = 0; i < ARRAY_LEN(rest); i++)
        argv[n++] = rest[i];
    argv[n++] = output[config[c].compiler];
    argv[n] = NULL;
    return argv;
}

bool cc_known_crash(const char *log)
{
    /* gcc 12, -O3: reductions of halves in the loop vectorizer */
    static const char *const place[] = { "in vect_slp_analyze_node_operations_1" };

    for (size_t i = 0; i < ARRAY_LEN(place); i++)
        if (strstr(log, "internal compiler error") && strstr(log, place[i]))
            return true;
    return false;
}

struct found {
    bool tried, there;
    char version[100], why[300];
};

/* The first line of what `gcc --version` says. */
static bool ask_version(enum compiler k, struct found *f)
{
    const char *const argv[] = { program[k], "--version", NULL };
    struct cc_child child = { argv, -1, memfd_create("version", MFD_CLOEXEC), 10, NULL };
    struct str log = { 0 };
    enum cc_result r = child.out < 0 ? CC_CANNOT : cc_child_run(&child, &log);
    ssize_t n = -1;

    if (r == CC_BUILT)
        n = pread(child.out, f->version, sizeof f->version - 1, 0);
    f->version[n > 0 ? n : 0] = '\0';
    f->version[strcspn(f->version, "\n")] = '\0';
    if (r != CC_BUILT)
        snprintf(f->why, sizeof f->why, "%s: %.200s", program[k],
                 r == CC_CANNOT && log.n ? log.s : "cannot be run");
    if (child.out >= 0)
        close(child.out);
    str_release(&log);
    return r == CC_BUILT;
}

/* Builds one kernel that is called k, or nothing; false and why not. */
static bool try_build(enum cc_config c, const char *text, struct cc_batch **b, char *why,
                      size_t size)
{
    struct arena a;
    struct kernel k = { .name = "k", .node = -1 };
    struct lprog l = { .arena = &a, .kernel = &k, .n_kernel = *text ? 1 : 0 };
    struct str log = { 0 };
    enum cc_result r;

    arena_init(&a);
    *b = cc_batch_open(c);
    cc_batch_add(*b, &l, text);
    r = cc_batch_build(*b, NULL, &log);
    if (r != CC_BUILT)
        snprintf(why, size, "%s: no object could be built and loaded: %.200s",
                 program[config[c].compiler], log.n ? log.s : "no reason was given");
    why[strcspn(why, "\n")] = '\0';
    arena_release(&a);
    str_release(&log);
    return r == CC_BUILT;
}

/* Asked once a process: the answer is inherited by those that are forked later. A compiler
 * that has no ld, or whose objects can't be loaded here, is of no use. */
static const struct found *compiler_find(enum compiler k)
{
    static const enum cc_config plain[COMPILERS] = { CC_gcc_O0, CC_clang_O0 };
    static struct found found[COMPILERS];
    struct found *f = &found[k];
    struct cc_batch *b;

    if (f->tried)
        return f;
    f->tried = true;
    if (!ask_version(k, f))
        return f;
    f->there = try_build(plain[k], "", &b, f->why, sizeof f->why);
    cc_batch_close(b);
    return f;
}

/*
 * gcc 12 turns a guarded load in an unrolled loop into several masked loads, and uses the
 * mask of the first for all of them, where there is AVX but no AVX-512. One trial in a few
 * hundred has such a loop, and they would be one bug with everything else that only
 * compiled code shows.
 */
static bool masks_wrong(void)
{
    static const char text[] = "static void TF_KERNEL(k)(void *const *p)\n"
                               "{\n"
                               "    float *y = p[0];\n"
                               "    const unsigned char *c = p[1];\n"
                               "    const float *x = p[2];\n"
                               "    for (long long i = 0; i < 8; i++)\n"
                               "        for (long long j = 0; j < 2; j++)\n"
                               "            y[2*i + j] = c[2*i + j] != 0 ? x[2*i + j] : 1;\n"
                               "}\n";
    float y[16], x[16];
    unsigned char guard[16];
    void *p[] = { y, guard, x };
    struct cc_batch *b;
    char why[300] = "";
    bool wrong = false, built = try_build(CC_gcc_O3_fma, text, &b, why, sizeof why);

    for (int i = 0; i < 16; i++) {
        x[i] = (float)(i + 2);
        guard[i] = i % 3 == 0;
    }
    if (built)
        b->part[0].run[AL_IEEE](p);
    for (int i = 0; built && i < 16; i++)
        wrong |= !(y[i] == (guard[i] ? x[i] : 1));
    cc_batch_close(b);
    return wrong;
}

static const char *workaround(enum cc_config c)
{
    static enum { UNASKED, ASKING, NONE, NEEDED } state;

    if (config[c].compiler != COMPILER_gcc || !config[c].contracts || !cpu_has_fma())
        return "";
    if (state == UNASKED) {
        state = ASKING;
        state = masks_wrong() ? NEEDED : NONE;
    }
    return state == NEEDED ? " -fno-tree-loop-if-convert" : "";
}

bool cc_available(enum cc_config c, struct err *why)
{
    const struct found *f = compiler_find(config[c].compiler);

    if (!f->there)
        err_set(why, ERR_MISSING, "%s", f->why);
    else if (config[c].contracts && !cpu_has_fma())
        err_set(why, ERR_MISSING, "this processor has no fused multiply-add");
    else
        return true;
    return false;
}

const char *cc_version(enum cc_config c)
{
    static char text[CC_CONFIGS][200];
    const char *flag = workaround(c);

    snprintf(text[c], sizeof text[c], "%s%s%s", compiler_find(config[c].compiler)->version,
             *flag ? ", whose masked loads are wrong:" : "", flag);
    return text[c];
}
