/*
 * Copies of GPU kernels that are more than a load and a store: several elements at once, and
 * asynchronous ones. A wide element whose guards fail is zero bits, or, for another fill,
 * stored element by element.
 */
#include <math.h>

#include "base/bug.h"
#include "emit/cuda.h"

static const struct access *source(const struct cgen *g, const struct stmt *st)
{
    const struct value *v = &g->l->value[st->val];
    const struct access *x = v->kind == V_LOAD ? &g->l->access[v->arg[0]] : NULL;

    if (!x || x->src != SRC_BUFFER)
        BUG("kernel %s: a copy of what is no element of a buffer", g->k->name);
    return x;
}

/* All guards as one condition; "1" if there are none. */
static void put_guards(struct cgen *g, const struct access *x)
{
    for (int i = 0; i < x->n_guard; i++) {
        str_puts(g->s, i ? " && (" : x->n_guard > 1 ? "(" : "");
        cgen_cond(g, x->guard[i].cond);
        str_puts(g->s, x->n_guard > 1 ? ")" : "");
    }
    if (x->n_guard == 0)
        str_puts(g->s, "1");
}

static bool zero(double fill)
{
    return fill == 0 && !signbit(fill);
}

static bool fills_zero(const struct access *x)
{
    for (int i = 0; i < x->n_guard; i++)
        if (!zero(x->guard[i].fill))
            return false;
    return true;
}

/* TF_CPA(12, 16, m_a, 8*tid, x, 64*i0 + 8*tid, cond); rows 12 and 13 are its sites */
static void put_async(struct cgen *g, const struct stmt *st, int64_t elems)
{
    const struct access *to = &g->l->access[st->access], *from = source(g, st);
    int site = cgen_site(g, SITE_ASYNC, to->buffer), other;

    if (!fills_zero(from))
        BUG("kernel %s: an asynchronous copy that fills with other than 0", g->k->name);
    other = cgen_site(g, SITE_LOAD, from->buffer);
    g->sites->row[site].wide = g->sites->row[other].wide = elems > 1;
    str_puts(g->s, "TF_CPA(");
    cgen_int(g->s, site);
    str_puts(g->s, ", ");
    cgen_int(g->s, elems * dtype_info(to->dt)->bytes);
    str_puts(g->s, ", ");
    str_puts(g->s, g->buf[to->buffer]);
    str_puts(g->s, ", ");
    cgen_operand(g, to->index);
    str_puts(g->s, ", ");
    str_puts(g->s, g->buf[from->buffer]);
    str_puts(g->s, ", ");
    cgen_operand(g, from->index);
    str_puts(g->s, ", ");
    put_guards(g, from);
    cgen_line(g, ");");
}

int cuda_async(struct cgen *g, int at)
{
    put_async(g, &g->k->st[at], 1);
    return at;
}

/* "TF_LDW(tf_w16, 4, 12, x, 8*i0": 4 elements at once */
static void put_wide(struct cgen *g, const char *word, enum site_kind kind, int64_t elems,
                     int access)
{
    const struct access *x = &g->l->access[access];
    int site = cgen_site(g, kind, x->buffer);

    g->sites->row[site].wide = true;
    str_add(g->s, "%stf_w%d, %d, %d, %s, ", word, (int)elems * dtype_info(x->dt)->bytes,
            (int)elems, site, g->buf[x->buffer]);
    cgen_operand(g, x->index);
}

static void load_wide(struct cgen *g, const struct stmt *st, int64_t elems, int local)
{
    int access = g->l->value[st->val].arg[0];

    cgen_local(g, local);
    str_puts(g->s, " = ");
    put_wide(g, cgen_shared(g, access) ? "TF_SLDW(" : "TF_LDW(", SITE_LOAD, elems, access);
    cgen_line(g, ");");
}

static void store_wide(struct cgen *g, const struct stmt *st, int64_t elems, int local)
{
    put_wide(g, cgen_shared(g, st->access) ? "TF_SSTW(" : "TF_STW(", SITE_STORE, elems,
             st->access);
    str_puts(g->s, ", ");
    cgen_local(g, local);
    cgen_line(g, ");");
}

/* Guards in order, one after the other: the first that fails gives its fill. */
static void store_fills(struct cgen *g, const struct stmt *st, int64_t elems)
{
    const struct access *from = source(g, st), *to = &g->l->access[st->access];

    for (g->lane_at = 0; g->lane_at < elems; g->lane_at++) {
        cgen_access(g, cgen_shared(g, st->access) ? "TF_SST(" : "TF_ST(", SITE_STORE,
                    cgen_stored(to->dt), st->access);
        str_puts(g->s, ", ");
        str_puts(g->s, to->dt == DT_F16    ? "TF_PUT_F16("
                       : to->dt == DT_BF16 ? "TF_PUT_BF16("
                                           : "(");
        for (int i = 0; i < from->n_guard; i++) {
            if (i + 1 < from->n_guard) {
                str_puts(g->s, "!(");
                cgen_cond(g, from->guard[i].cond);
                str_puts(g->s, ") ? ");
            }
            cgen_literal(g, from->dt, from->guard[i].fill);
            str_puts(g->s, i + 1 < from->n_guard ? " : " : "");
        }
        cgen_line(g, "));");
    }
    g->lane_at = 0;
}

static void put_copy(struct cgen *g, const struct stmt *st, int64_t elems)
{
    const struct access *from = source(g, st);
    int local = ++g->n_local;
    bool guarded = from->n_guard > 0, zeros = fills_zero(from);

    str_add(g->s, "tf_w%d ", (int)elems * dtype_info(from->dt)->bytes);
    cgen_local(g, local);
    cgen_line(g, zeros && guarded ? " = { 0 };" : ";");
    if (guarded) {
        str_puts(g->s, "if (");
        put_guards(g, from);
        cgen_line(g, ") {");
        g->indent++;
    }
    load_wide(g, st, elems, local);
    if (guarded && !zeros) {
        store_wide(g, st, elems, local);
        g->indent--;
        cgen_line(g, "} else {");
        g->indent++;
        store_fills(g, st, elems);
    }
    if (guarded) {
        g->indent--;
        cgen_line(g, "}");
    }
    if (!guarded || zeros)
        store_wide(g, st, elems, local);
}

int cuda_wide(struct cgen *g, int at)
{
    const struct stmt *loop = &g->k->st[at], *st = loop + 1;
    int64_t elems = g->extent[loop->var];

    if (stmt_end(g->k, at) != at + 2 || (st->kind != ST_STORE && st->kind != ST_ASYNC))
        BUG("kernel %s: a wide loop round other than one copy", g->k->name);
    g->lane_var = loop->var; /* prints as 0: the first element's place */
    g->lane_at = 0;
    g->at = at + 1;
    if (st->kind == ST_ASYNC)
        put_async(g, st, elems);
    else
        put_copy(g, st, elems);
    g->lane_var = -1;
    return at + 2;
}
