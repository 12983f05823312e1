/*
 * From text to kernels that call the machine: by libtcc in memory, which costs a millisecond,
 * or by gcc with the fast paths inlined, which costs a hundred and pays when one text is run
 * under many schedules. What gcc makes is loaded from memory, as nothing here has a name on a
 * disk.
 */
#include <libtcc.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/str.h"
#include "run/cc.h"
#include "run/simt/hooks.h"
#include "run/simt/machine.h"
#include "run/tcc.h"

struct simt_built {
    TCCState *tcc; /* NULL: gcc made */
    struct cc_object object;
};

/* Others are called through a table, as an object that is loaded can't see our symbols. */
struct hooks {
#define FAST(type, name, args, body)
#define HOOK(type, name, args) type(*name) args;
#include "run/simt/hooks.def"
#undef HOOK
};

static const struct hooks hooks = {
#define FAST(type, name, args, body)
#define HOOK(type, name, args) name,
#include "run/simt/hooks.def"
#undef HOOK
};

static const struct {
    const char *name;
    const void *at;
} symbols[] = {
#define HOOK(type, name, args) { #name, (const void *)name },
#include "run/simt/hooks.def"
#undef HOOK
    { "memcpy", (const void *)memcpy },
    { "memmove", (const void *)memmove },
    { "memset", (const void *)memset },
};

static const char declared[] =
#define HOOK(type, name, args) #type " " #name #args ";\n"
#include "run/simt/hooks.def"
#undef HOOK
    ;

static const char inlined[] =
#define TEXT(...) #__VA_ARGS__ "\n"
#include "run/simt/fast.def"
#undef TEXT
    "static struct tf_hot *tf_now;\n"
    "struct tf_hooks {\n"
#define FAST(type, name, args, body)
#define HOOK(type, name, args) #type " (*" #name ")" #args ";\n"
#include "run/simt/hooks.def"
#undef HOOK
    "};\n"
    "static const struct tf_hooks *tf_hooks;\n"
    "void tf_bind(struct tf_hot *hot, const struct tf_hooks *hooks)\n"
    "{\n"
    "    tf_now = hot;\n"
    "    tf_hooks = hooks;\n"
    "}\n"
#define FAST(type, name, args, body) "static inline " #type " " #name #args " { " #body "; }\n"
#define HOOK(type, name, args)       "#define " #name " tf_hooks->" #name "\n"
#include "run/simt/hooks.def"
#undef HOOK
    ;

static struct simt_built *built_new(void)
{
    struct simt_built *b = must(calloc(1, sizeof *b));

    b->object = CC_OBJECT_NONE;
    return b;
}

void simt_built_free(struct simt_built *b)
{
    if (!b)
        return;
    if (b->tcc)
        tcc_delete(b->tcc);
    cc_object_close(&b->object);
    free(b);
}

void (*simt_built_entry(const struct simt_built *b, const char *name))(int kernel)
{
    void *sym = b->tcc ? tcc_get_symbol(b->tcc, name) : cc_object_symbol(&b->object, name);
    void (*f)(int);

    memcpy(&f, &sym, sizeof f);
    return f;
}

struct simt_built *simt_build_tcc(const char *text, bool trace, struct str *log)
{
    struct simt_built *b = built_new();
    struct str whole = { 0 };
    bool ok;

    str_add(&whole, "%s%s%s", trace ? "#define TF_TRACE 1\n" : "", declared, text);
    b->tcc = tcc_state_new(log);
    for (size_t i = 0; i < ARRAY_LEN(symbols); i++)
        tcc_add_symbol(b->tcc, symbols[i].name, symbols[i].at);
    ok = tcc_compile_string(b->tcc, str_get(&whole)) == 0 &&
         tcc_relocate(b->tcc, TCC_RELOCATE_AUTO) == 0;
    str_release(&whole);
    if (ok)
        return b;
    simt_built_free(b);
    return NULL;
}

static bool bind(const struct simt_built *b, struct str *log)
{
    void (*f)(struct tf_hot * hot, const struct hooks *h);
    void *sym = cc_object_symbol(&b->object, "tf_bind");

    memcpy(&f, &sym, sizeof f);
    if (f)
        f(&machine.hot, &hooks);
    else
        str_puts(log, "the object has no tf_bind");
    return f != NULL;
}

struct simt_built *simt_build_gcc(const char *text, volatile uint64_t *tick, struct str *log)
{
    static const char *const gcc[] = { "gcc",
                                       "-O1",
                                       "-fPIC",
                                       "-w",
                                       "-ffp-contract=off",
                                       "-fno-math-errno",
                                       "-fno-strict-aliasing",
                                       "-pipe",
                                       "-x",
                                       "c",
                                       "-c",
                                       "-",
                                       "-o",
                                       "/proc/self/fd/1",
                                       NULL };
    struct simt_built *b = built_new();
    struct str whole = { 0 };
    bool ok;

    str_puts(&whole, inlined);
    str_puts(&whole, text);
    ok = cc_object_build(&b->object, gcc, &whole, tick, log) == CC_BUILT && bind(b, log);
    str_release(&whole);
    if (ok)
        return b;
    simt_built_free(b);
    return NULL;
}
