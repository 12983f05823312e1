/*
 * The backends of cc, one per row of cc.def: all the same code, told apart by their
 * configuration. Takes an object from a batch of run_env, or builds one for a trial alone.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "run/cc.h"
#include "run/cc_config.h"

struct built {
    struct cc_batch *own; /* NULL: the batch in run_env keeps it */
    const struct cc_part *part;
};

static const struct cc_part *find_part(const struct run_env *env, enum cc_config c,
                                       const char *text)
{
    for (const struct cc_batch *b = env->cc; b; b = b->next)
        for (int i = 0; b->config == c && i < b->n; i++)
            if (!strcmp(b->part[i].text, text))
                return &b->part[i];
    return NULL;
}

/* The log from its first error on, in one line. */
static void keep_log(const struct str *log, struct outcome *o)
{
    const char *text = str_get(log), *error = strstr(text, "error: ");
    size_t at = 0;

    for (; error && error > text && error[-1] != '\n'; error--)
        ;
    for (const char *c = error ? error : text; *c && at + 3 < sizeof o->detail; c++) {
        if (*c != '\n') {
            o->detail[at++] = *c;
        } else if (c[1]) {
            o->detail[at++] = ';';
            o->detail[at++] = ' ';
        }
    }
    o->detail[at] = '\0';
}

static bool build_alone(struct run_env *env, enum cc_config c, const struct lprog *l,
                        const char *text, struct built *b, struct outcome *o)
{
    struct str log = { 0 };
    enum cc_result r;

    b->own = cc_batch_open(c);
    cc_batch_add(b->own, l, text);
    r = cc_batch_build(b->own, env->tick, &log);
    b->part = &b->own->part[0];
    if (r != CC_BUILT) {
        bool known = r == CC_CANNOT || cc_known_crash(str_get(&log));

        *o = (struct outcome){ .status = known ? OUT_UNSUPPORTED : OUT_BUILD_FAILED };
        keep_log(&log, o);
        cc_batch_close(b->own);
    }
    str_release(&log);
    return r == CC_BUILT;
}

static int prepare(enum cc_config c, struct run_env *env, const struct lprog *l,
                   const char *text, struct prepared *p, struct outcome *o)
{
    struct built *b = must(calloc(1, sizeof *b));

    b->part = find_part(env, c, text);
    if (!b->part && !build_alone(env, c, l, text, b, o)) {
        free(b);
        return 1;
    }
    *p = (struct prepared){ l, text, b };
    return 0;
}

static void run(struct run_env *env, struct prepared *p, enum algebra al, struct outcome *o)
{
    const struct built *b = p->state;

    run_compiled(env, p->l, b->part->run[al], al, o);
}

static void release(struct prepared *p)
{
    struct built *b = p->state;

    if (b && b->own)
        cc_batch_close(b->own);
    free(b);
    p->state = NULL;
}

void cc_batch_file(struct run_env *env, struct cc_batch *b)
{
    struct str log = { 0 };

    /* what fails here is built again alone, and fails there or doesn't */
    if (cc_batch_build(b, env->tick, &log) == CC_BUILT) {
        b->next = env->cc;
        env->cc = b;
    } else {
        cc_batch_close(b);
    }
    str_release(&log);
}

void cc_batches_drop(struct run_env *env)
{
    while (env->cc) {
        struct cc_batch *b = env->cc;

        env->cc = b->next;
        cc_batch_close(b);
    }
}

#define CC(id, name_, compiler, level, contraction)                                            \
    static int id##_prepare(struct run_env *env, const struct lprog *l, const char *text,      \
                            struct prepared *p, struct outcome *o)                             \
    {                                                                                          \
        return prepare(CC_##id, env, l, text, p, o);                                           \
    }                                                                                          \
    static const char *id##_version(void)                                                      \
    {                                                                                          \
        return cc_version(CC_##id);                                                            \
    }                                                                                          \
    static const char *id##_command(void)                                                      \
    {                                                                                          \
        return cc_command(CC_##id);                                                            \
    }                                                                                          \
    static bool id##_available(struct err *why)                                                \
    {                                                                                          \
        return cc_available(CC_##id, why);                                                     \
    }                                                                                          \
    const struct backend be_cc_##id = {                                                        \
        .name = name_,                                                                         \
        .help = "compiles the emitted C with " #compiler                                       \
                " " CC_FLAGS(compiler, level, contraction),                                    \
        .group = "compiled",                                                                   \
        .runs = 2,                                                                             \
        .version = id##_version,                                                               \
        .available = id##_available,                                                           \
        .prepare = id##_prepare,                                                               \
        .run = run,                                                                            \
        .release = release,                                                                    \
        .command = id##_command,                                                               \
        .contracts = CC_CONTRACTS_##contraction,                                               \
    };
#include "run/cc.def"
#undef CC

static const struct backend *const rows[CC_CONFIGS] = {
#define CC(id, name, compiler, level, contraction) [CC_##id] = &be_cc_##id,
#include "run/cc.def"
#undef CC
};

bool cc_of(const struct backend *b, enum cc_config *c)
{
    for (int i = 0; i < CC_CONFIGS; i++)
        if (rows[i] == b) {
            *c = (enum cc_config)i;
            return true;
        }
    return false;
}
