#include "lower/region.h"

#include "base/bug.h"

enum { MAX_DEPTH = 128 };

/* A buffer that the kernel touches, and what the piece in work does to it: the number of the
 * statement that does, + 1; MANY = several. */
struct touched {
    int buffer;
    bool written, read; /* by the kernel */
    bool shows;         /* one thread's stores may be what another one reads or overwrites */
    int writer, reader;
};
enum { MANY = -1 };

struct finder {
    struct lprog *l;
    const struct kernel *k;
    struct regions r;
    struct touched *t;
    int n_t, cap_t;
    int *slot; /* by buffer: number in t[] + 1 */
    int n_region;
    bool alone; /* one thread: nobody to be seen by */
    int stmt;   /* whose value is walked */
    bool ok;
};

bool region_silent(const struct stmt *s)
{
    return s->kind == ST_SYNC || s->kind == ST_COMMIT || s->kind == ST_WAIT ||
           s->kind == ST_ACQUIRE || s->kind == ST_RELEASE;
}

/* May two buffers have a byte in common? */
static bool overlap(const struct buffer *a, const struct buffer *b)
{
    bool shared = a->kind == BUF_SHARED;
    int64_t at = shared ? a->smem_at : a->arena_at, to = shared ? b->smem_at : b->arena_at;

    if (a == b)
        return true;
    if (a->kind != b->kind || (!shared && a->kind != BUF_TEMP) || at < 0 || to < 0)
        return false;
    return at < to + buffer_bytes(b) && to < at + buffer_bytes(a);
}

static struct touched *touch(struct finder *f, int buffer)
{
    if (!f->slot[buffer]) {
        *arena_push(f->l->arena, f->t, f->n_t, f->cap_t) = (struct touched){ .buffer = buffer };
        f->slot[buffer] = f->n_t;
    }
    return &f->t[f->slot[buffer] - 1];
}

static void note_read(void *ctx, int access)
{
    struct finder *f = ctx;
    const struct access *a = &f->l->access[access];

    if (a->src == SRC_BUFFER)
        touch(f, a->buffer)->read = true;
}

/* What the kernel as a whole touches, and which of it shows. */
static void survey(struct finder *f)
{
    const struct buffer *buffer = f->l->buffer;

    for (int i = 0; i < f->k->n; i++) {
        const struct stmt *s = &f->k->st[i];

        if (!stmt_has_value(s) || region_silent(s))
            continue;
        value_accesses(f->l, s->val, note_read, f);
        if (stmt_writes(s))
            touch(f, f->l->access[s->access].buffer)->written = true;
        if (s->kind == ST_ATOMIC)
            note_read(f, s->access);
    }
    for (int i = 0; i < f->n_t; i++)
        for (int j = 0; j < f->n_t; j++)
            if (f->t[j].written && overlap(&buffer[f->t[i].buffer], &buffer[f->t[j].buffer]) &&
                (buffer[f->t[j].buffer].kind == BUF_SHARED || f->t[i].read))
                f->t[i].shows = f->t[j].shows = true;
}

/* Does another statement of the piece store to (or, if reads count, read) these bytes? */
static bool clashes(const struct finder *f, const struct touched *t, bool reads)
{
    const struct buffer *buffer = f->l->buffer;

    for (int i = 0; i < f->n_t; i++) {
        const struct touched *o = &f->t[i];

        if (!o->shows || !overlap(&buffer[o->buffer], &buffer[t->buffer]))
            continue;
        if (o->writer && o->writer != f->stmt + 1)
            return true;
        if (reads && o->reader && o->reader != f->stmt + 1)
            return true;
    }
    return false;
}

static void add_read(void *ctx, int access)
{
    struct finder *f = ctx;
    const struct access *a = &f->l->access[access];
    struct touched *t;

    if (a->src != SRC_BUFFER)
        return;
    t = touch(f, a->buffer);
    if (!t->shows)
        return;
    f->ok &= !clashes(f, t, false);
    t->reader = t->reader && t->reader != f->stmt + 1 ? MANY : f->stmt + 1;
}

/* Is there a serial loop round statement i inside of statements from ..? */
static bool in_loop(const struct finder *f, int i, int from)
{
    for (i = f->r.parent[i]; i >= from; i = f->r.parent[i])
        if (f->k->st[i].kind == ST_LOOP && f->k->st[i].loop == LOOP_SERIAL)
            return true;
    return false;
}

/* Adds statement i to the piece; `from` = the neighbour that it stands in. */
static void add(struct finder *f, int i, int from)
{
    const struct stmt *s = &f->k->st[i];
    struct touched *t;

    if (!stmt_has_value(s) || region_silent(s))
        return;
    f->stmt = i;
    f->ok &= f->l->value[s->val].kind != V_SHFL;
    if (f->alone)
        return;
    value_accesses(f->l, s->val, add_read, f);
    if (s->kind == ST_ATOMIC)
        add_read(f, s->access);
    if (!stmt_writes(s))
        return;
    t = touch(f, f->l->access[s->access].buffer);
    if (!t->shows)
        return;
    f->ok &= !clashes(f, t, true) && !in_loop(f, i, from);
    t->writer = i + 1;
}

static bool add_all(struct finder *f, int from, int to)
{
    f->ok = true;
    for (int i = from; i < to && f->ok; i++)
        add(f, i, from);
    return f->ok;
}

static void piece_new(struct finder *f)
{
    f->n_region++;
    for (int i = 0; i < f->n_t; i++)
        f->t[i].writer = f->t[i].reader = 0;
}

static void cut(struct finder *f, int from, int to)
{
    int end;

    piece_new(f);
    for (int i = from; i < to; i = end) {
        bool nest = f->k->st[i].kind == ST_LOOP || f->k->st[i].kind == ST_IF;
        bool whole;

        end = nest ? stmt_end(f->k, i) + 1 : i + 1;
        whole = add_all(f, i, end);
        if (!whole) {
            piece_new(f);
            whole = add_all(f, i, end);
        }
        for (int j = i; j < end && whole; j++)
            f->r.of[j] = f->n_region;
        if (whole)
            continue;
        f->r.of[i] = nest ? REGION_APART : REGION_SHUFFLE;
        if (nest)
            cut(f, i + 1, end - 1);
        piece_new(f);
    }
}

static void find_parents(struct finder *f)
{
    int open[MAX_DEPTH], depth = 0;

    for (int i = 0; i < f->k->n; i++) {
        bool nest = f->k->st[i].kind == ST_LOOP || f->k->st[i].kind == ST_IF;

        depth -= f->k->st[i].kind == ST_END;
        f->r.parent[i] = depth ? open[depth - 1] : -1;
        if (nest && depth == MAX_DEPTH)
            BUG("kernel %s is nested deeper than %d", f->k->name, MAX_DEPTH);
        if (nest)
            open[depth++] = i;
    }
}

struct regions region_find(struct lprog *l, int kernel)
{
    struct finder f = { .l = l, .k = &l->kernel[kernel] };
    int body = kernel_body(f.k);

    f.r.of = arena_array(l->arena, int, f.k->n + 1);
    f.r.parent = arena_array(l->arena, int, f.k->n + 1);
    f.slot = arena_array(l->arena, int, l->n_buffer + 1);
    f.alone = kernel_threads(l, f.k) == 1;
    find_parents(&f);
    survey(&f);
    cut(&f, body, f.k->n - body);
    return f.r;
}
