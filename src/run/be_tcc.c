/*
 * tcc: the emitted C compiled by libtcc in memory, both algebras in one text: prelude,
 * kernels, entry, and the same again under the other prelude. A second text in the same
 * state would cost 65 us more, most of an empty compilation; a statement costs about 1 us,
 * a use of a macro 1.5, relocation 3.
 *
 * Measured on 0.9.27, relied upon: comparisons with NaN are false (and != is true), in
 * values and in conditions; constants are read by strtof and folded to what the operation
 * gives; 1.0f / 0.0f and 0.0f / 0.0f are inf and NaN; -x of 0 is -0; unsigned products wrap;
 * 64-bit / and % need no helper. Float to int without a range check gives INT_MIN or the low
 * bits of a 64-bit conversion, hence TF_F2I.
 */
#include <libtcc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "emit/emit.h"
#include "run/run.h"
#include "run/tcc.h"

struct built {
    TCCState *tcc;
    void (*entry[AL_COUNT])(void *const *p);
};

static const char *const entry_name[AL_COUNT] = { "entry_ieee", "entry_ring" };

static void add_message(void *opaque, const char *msg)
{
    struct str *log = opaque;

    str_puts(log, log->n ? "; " : "");
    str_puts(log, msg);
}

/* What the preludes call of libm. */
static const struct {
    const char *name;
    double (*f64)(double);
    const char *name_f;
    float (*f32)(float);
} functions[] = {
    { "exp", exp, "expf", expf }, { "exp2", exp2, "exp2f", exp2f },
    { "log", log, "logf", logf }, { "tanh", tanh, "tanhf", tanhf },
    { "erf", erf, "erff", erff }, { "sqrt", sqrt, "sqrtf", sqrtf },
};

static void add_functions(TCCState *s)
{
    for (size_t i = 0; i < ARRAY_LEN(functions); i++) {
        tcc_add_symbol(s, functions[i].name, (const void *)functions[i].f64);
        tcc_add_symbol(s, functions[i].name_f, (const void *)functions[i].f32);
    }
}

TCCState *tcc_state_new(struct str *log)
{
    TCCState *s = tcc_new();

    if (!s)
        BUG("tcc_new failed");
    tcc_set_error_func(s, log, add_message);
    tcc_set_options(s, "-nostdlib -nostdinc");
    tcc_set_output_type(s, TCC_OUTPUT_MEMORY);
    add_functions(s);
    return s;
}

void tcc_text(const struct lprog *l, const char *text, struct str *s)
{
    for (int al = 0; al < AL_COUNT; al++) {
        if (al)
            emit_prelude_end(text, s);
        emit_prelude((enum algebra)al, text, s);
        str_puts(s, text);
        emit_entry(l, entry_name[al], s);
    }
}

static bool build(struct built *b, const char *text)
{
    if (tcc_compile_string(b->tcc, text) < 0 || tcc_relocate(b->tcc, TCC_RELOCATE_AUTO) < 0)
        return false;
    for (int al = 0; al < AL_COUNT; al++) {
        void *sym = tcc_get_symbol(b->tcc, entry_name[al]);

        memcpy(&b->entry[al], &sym, sizeof sym);
        if (!sym)
            return false;
    }
    return true;
}

static int tcc_prepare(struct run_env *env, const struct lprog *l, const char *text,
                       struct prepared *p, struct outcome *o)
{
    struct str whole = { 0 }, log = { 0 };
    struct built *b = must(calloc(1, sizeof *b));
    bool ok;

    (void)env;
    tcc_text(l, text, &whole);
    b->tcc = tcc_state_new(&log);
    ok = build(b, str_get(&whole));
    if (ok) {
        *p = (struct prepared){ l, text, b };
    } else {
        *o = (struct outcome){ 0 };
        outcome_say(o, OUT_BUILD_FAILED, str_get(&log));
        tcc_delete(b->tcc);
        free(b);
    }
    str_release(&whole);
    str_release(&log);
    return !ok;
}

static void tcc_run_prepared(struct run_env *env, struct prepared *p, enum algebra al,
                             struct outcome *o)
{
    const struct built *b = p->state;

    run_compiled(env, p->l, b->entry[al], al, o);
}

static void tcc_release(struct prepared *p)
{
    struct built *b = p->state;

    if (!b)
        return;
    tcc_delete(b->tcc);
    free(b);
    p->state = NULL;
}

bool tcc_compile_only(const char *text)
{
    struct str log = { 0 };
    struct built b = { .tcc = tcc_state_new(&log) };
    bool ok = build(&b, text);

    tcc_delete(b.tcc);
    str_release(&log);
    return ok;
}

/* "0.9.27", as the library itself defines it: libtcc.h doesn't say. */
static const char *tcc_version(void)
{
    static char text[24];
    struct str log = { 0 };
    TCCState *s;
    void *sym;
    int (*f)(void);

    if (text[0])
        return text;
    s = tcc_state_new(&log);
    if (tcc_compile_string(s, "int version(void) { return __TINYC__; }") == 0 &&
        tcc_relocate(s, TCC_RELOCATE_AUTO) == 0 && (sym = tcc_get_symbol(s, "version"))) {
        int v;

        memcpy(&f, &sym, sizeof sym);
        v = f();
        snprintf(text, sizeof text, "%d.%d.%d", v / 10000, v / 100 % 100, v % 100);
    } else {
        snprintf(text, sizeof text, "unknown");
    }
    tcc_delete(s);
    str_release(&log);
    return text;
}

const struct backend be_tcc = {
    .name = "tcc",
    .help = "compiles the emitted C in memory with libtcc",
    .group = "compiled",
    .runs = 2,
    .version = tcc_version,
    .prepare = tcc_prepare,
    .run = tcc_run_prepared,
    .release = tcc_release,
};
