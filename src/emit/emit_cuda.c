/*
 * Bound kernels as CUDA C: SPMD text of one thread. Block and thread loops become digits of
 * two linear numbers, every access and barrier a word of the vocabulary with a number of its
 * own (its site), so that one text serves nvcc, NVRTC, gcc, clang and tcc: prelude_cuda.def
 * and prelude_simt.def say what the words are.
 */
#include "base/bug.h"
#include "emit/cuda.h"

static void put_word(struct cgen *g, const char *word, enum site_kind kind)
{
    str_puts(g->s, word);
    cgen_int(g->s, cgen_site(g, kind, -1));
}

/* "TF_GLOBAL(const tf_f32, x, 0);", or where in the arena or the block's memory it lies */
static void put_buffers(struct cgen *g)
{
    for (int i = 0; i < g->l->n_buffer; i++) {
        const struct buffer *b = &g->l->buffer[i];
        bool shared = b->kind == BUF_SHARED, planned = buffer_planned(b);

        if (!g->buf[i])
            continue;
        str_puts(g->s, shared ? "TF_SHARED(" : planned ? "TF_TEMP(" : "TF_GLOBAL(");
        str_puts(g->s, g->stored[i] || shared ? "" : "const ");
        str_puts(g->s, cgen_stored(b->dt));
        str_puts(g->s, ", ");
        str_puts(g->s, g->buf[i]);
        str_puts(g->s, ", ");
        if (shared && b->smem_at < 0)
            BUG("kernel %s: %s has no place in shared memory", g->k->name, b->name);
        cgen_int(g->s, shared ? b->smem_at : planned ? g->l->n_buffer : i);
        if (planned) {
            str_puts(g->s, ", ");
            cgen_int(g->s, b->arena_at);
        }
        cgen_line(g, ");");
    }
}

/* "TF_DIGIT(i0, bid/8%4);" for each loop of the kind */
static void put_digits(struct cgen *g, enum loop_kind kind, const char *linear, int64_t all)
{
    int body = kernel_body(g->k);
    bool first = true;

    for (int i = 0; i < body; i++) {
        int var = g->k->st[i].var;
        int64_t n = g->extent[var], rest = n > 0 ? all / n : 0;

        if (g->k->st[i].loop != kind)
            continue;
        str_puts(g->s, "TF_DIGIT(");
        str_puts(g->s, g->var[var]);
        str_puts(g->s, ", ");
        str_puts(g->s, all > 0 && n > 1 ? linear : "0");
        if (all > 0 && n > 1 && rest > 1) {
            str_puts(g->s, "/");
            cgen_int(g->s, rest);
        }
        if (all > 0 && n > 1 && !first) {
            str_puts(g->s, "%");
            cgen_int(g->s, n);
        }
        cgen_line(g, ");");
        first = first && n <= 1;
        all = rest;
    }
}

static void put_numbers(struct cgen *g)
{
    const char *bid = cgen_unique(g, "bid"), *tid = cgen_unique(g, "tid");

    str_add(g->s, "TF_DIGIT(%s, TF_BID);", bid);
    cgen_line(g, "");
    str_add(g->s, "TF_DIGIT(%s, TF_TID);", tid);
    cgen_line(g, "");
    put_digits(g, LOOP_BLOCK, bid, kernel_blocks(g->l, g->k));
    put_digits(g, LOOP_THREAD, tid, kernel_threads(g->l, g->k));
    str_puts(g->out, "\n");
}

/* WORD(12, sem, 3, value); */
static void put_flag(struct cgen *g, const struct stmt *st, const char *word,
                     enum site_kind kind)
{
    cgen_statement(g);
    cgen_bind(g, st->val);
    cgen_access(g, word, kind, "", st->access);
    str_puts(g->s, ", ");
    cgen_value(g, st->val);
    cgen_line(g, ");");
}

static void put_atomic(struct cgen *g, const struct stmt *st)
{
    enum dtype dt = g->l->access[st->access].dt;

    if (dt != DT_F32 && dt != DT_I32)
        BUG("kernel %s: atomic addition of %s", g->k->name, dtype_info(dt)->name);
    put_flag(g, st, dt == DT_F32 ? "TF_ATOMIC_F32(" : "TF_ATOMIC_I32(", SITE_ATOMIC);
}

/* Prints statement at, returns the last one that this covered. */
static int put_stmt(struct cgen *g, int at)
{
    const struct stmt *st = &g->k->st[at];
    bool relaxed = FAULT(g->l, semaphore_relaxed);

    g->at = at;
    switch (st->kind) {
    case ST_SYNC:
        put_word(g, "TF_SYNC(", SITE_SYNC);
        cgen_line(g, ");");
        return at;
    case ST_COMMIT:
        put_word(g, "TF_COMMIT(", SITE_COMMIT);
        cgen_line(g, ");");
        return at;
    case ST_WAIT:
        put_word(g, "TF_WAIT(", SITE_WAIT);
        str_puts(g->s, ", ");
        cgen_int(g->s, st->n);
        cgen_line(g, ");");
        return at;
    case ST_ASYNC:
        return cuda_async(g, at);
    case ST_ATOMIC:
        put_atomic(g, st);
        return at;
    case ST_ACQUIRE:
        put_flag(g, st, relaxed ? "TF_ACQUIRE_RELAXED(" : "TF_ACQUIRE(", SITE_ACQUIRE);
        return at;
    case ST_RELEASE:
        put_flag(g, st, relaxed ? "TF_RELEASE_RELAXED(" : "TF_RELEASE(", SITE_RELEASE);
        return at;
    case ST_LOOP:
        if (st->loop == LOOP_WIDE)
            return cuda_wide(g, at);
        if (st->loop == LOOP_MMA)
            return cuda_mma(g, at);
        break;
    case ST_IF:
    case ST_END:
    case ST_DECL:
    case ST_UPDATE:
    case ST_STORE:
    case ST_SET:
        break;
    }
    cgen_stmt(g, st);
    return at;
}

static void put_kernel(struct cgen *g, int kernel)
{
    int body, end;

    cgen_names(g, kernel);
    body = kernel_body(g->k);
    end = g->k->n - body; /* the ENDs of block and thread loops stand last */
    str_puts(g->s, "TF_KERNEL(");
    str_puts(g->s, cgen_kernel_name(g->l, kernel));
    cgen_line(g, ")(TF_ARGS)");
    cgen_line(g, "{");
    g->indent = 1;
    put_buffers(g);
    put_numbers(g);
    for (int i = body; i < end; i++)
        i = put_stmt(g, i);
    g->indent = 0;
    cgen_line(g, "}");
}

void emit_cuda(const struct lprog *l, struct str *s, struct emit_sites *sites)
{
    sites->n = 0;
    cgen_kernels(l, sites, put_kernel, s);
}
