/* Batches: the texts of several trials in one source, and their entries in its object. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "emit/emit.h"
#include "run/cc.h"
#include "run/cc_config.h"

struct cc_batch *cc_batch_open(enum cc_config c)
{
    struct cc_batch *b = must(calloc(1, sizeof *b));

    b->config = c;
    b->object = CC_OBJECT_NONE;
    return b;
}

bool cc_batch_full(const struct cc_batch *b)
{
    return b->n == CC_BATCH;
}

static void entry_name(int part, int al, char *buf, size_t n)
{
    snprintf(buf, n, "tf_%s_entry_%d", algebra_name((enum algebra)al), part);
}

void cc_batch_add(struct cc_batch *b, const struct lprog *l, const char *text)
{
    struct cc_part *p = &b->part[b->n];
    char name[40];

    if (cc_batch_full(b))
        BUG("a batch has room for %d texts", CC_BATCH);
    p->text = must(strdup(text));
    for (int al = 0; al < AL_COUNT; al++) {
        entry_name(b->n, al, name, sizeof name);
        emit_entry(l, name, &p->entry[al]);
    }
    b->n++;
}

void cc_batch_close(struct cc_batch *b)
{
    for (int i = 0; i < b->n; i++) {
        free(b->part[i].text);
        for (int al = 0; al < AL_COUNT; al++)
            str_release(&b->part[i].entry[al]);
    }
    cc_object_close(&b->object);
    free(b);
}

/* One prelude serves all texts; their kernels are told apart by the trial's number. */
static void put_source(const struct cc_batch *b, struct str *s)
{
    struct str all = { 0 };

    for (int i = 0; i < b->n; i++)
        str_puts(&all, b->part[i].text);
    for (int al = 0; al < AL_COUNT; al++) {
        if (al)
            emit_prelude_end(str_get(&all), s);
        emit_prelude((enum algebra)al, str_get(&all), s);
        for (int i = 0; i < b->n; i++) {
            str_add(s, "#undef TF_KERNEL\n#define TF_KERNEL(name) t%d_%s_##name\n", i,
                    algebra_name((enum algebra)al));
            str_puts(s, b->part[i].text);
            str_puts(s, str_get(&b->part[i].entry[al]));
        }
    }
    str_release(&all);
}

static void find_entries(struct cc_batch *b)
{
    char name[40];

    for (int i = 0; i < b->n; i++)
        for (int al = 0; al < AL_COUNT; al++) {
            void *sym;

            entry_name(i, al, name, sizeof name);
            sym = cc_object_symbol(&b->object, name);
            memcpy(&b->part[i].run[al], &sym, sizeof sym);
            if (!sym)
                BUG("an object without its %s", name);
        }
}

enum cc_result cc_batch_build(struct cc_batch *b, volatile uint64_t *tick, struct str *log)
{
    struct str text = { 0 };
    enum cc_result r;

    put_source(b, &text);
    r = cc_object_build(&b->object, cc_argv(b->config), &text, tick, log);
    if (r == CC_BUILT)
        find_entries(b);
    str_release(&text);
    return r;
}
