/*
 * Statements as C text, of CPU kernels and, where the two agree, of GPU kernels: declarations,
 * updates, stores, loops, conditions. The latter differ in how a loop, a load and a store are
 * spelled, and every one of those has a number of its own (a site).
 */
#include "emit/cgen.h"

#include "base/bug.h"
#include "lower/nest.h"

int cgen_site(struct cgen *g, enum site_kind kind, int buffer)
{
    struct emit_sites *s = g->sites;

    *arena_push(g->l->arena, s->row, s->n, s->cap) = (struct emit_site){
        .kind = kind, .kernel = g->kernel, .stmt = g->at, .buffer = buffer, .var = -1
    };
    return s->n - 1;
}

static void put_number(struct cgen *g, const char *before, int64_t n, const char *after)
{
    str_puts(g->s, before);
    cgen_int(g->s, n);
    str_puts(g->s, after);
}

static void open_for(struct cgen *g, const char *var, int64_t extent)
{
    str_puts(g->s, "for (tf_ix ");
    str_puts(g->s, var);
    str_puts(g->s, " = 0; ");
    str_puts(g->s, var);
    put_number(g, " < ", extent, "; ");
    str_puts(g->s, var);
    cgen_line(g, "++) {");
    g->indent++;
}

/* "TF_FOR(3, i0, 8) {" */
static void open_numbered(struct cgen *g, int var)
{
    int site = cgen_site(g, SITE_LOOP, -1);

    g->sites->row[site].var = var;
    put_number(g, "TF_FOR(", site, ", ");
    str_puts(g->s, g->var[var]);
    put_number(g, ", ", g->extent[var], ") {");
    cgen_line(g, "");
    g->indent++;
}

/* An accumulator is declared where it is initialised; again in the same scope (unrolled
 * copies) it is assigned. */
static void put_decl(struct cgen *g, const struct stmt *st)
{
    const struct acc *a = &g->l->acc[st->acc];
    bool declared = g->acc_depth[st->acc] >= 0;
    const char *name = g->acc[st->acc];

    if (!declared || a->elems == 1) {
        str_puts(g->s, declared ? "" : cgen_type(a->dt));
        str_puts(g->s, declared ? "" : " ");
        str_puts(g->s, name);
        if (a->elems != 1) {
            put_number(g, "[", a->elems > 0 ? a->elems : 1, "];");
            cgen_line(g, "");
        }
    }
    if (a->elems != 1) {
        const char *at = cgen_unique(g, "j");

        open_for(g, at, a->elems);
        str_puts(g->s, name);
        str_puts(g->s, "[");
        str_puts(g->s, at);
        str_puts(g->s, "]");
    }
    str_puts(g->s, " = ");
    cgen_literal(g, a->dt, reduce_identity(a->identity, a->dt));
    cgen_line(g, ";");
    if (a->elems != 1) {
        g->indent--;
        cgen_line(g, "}");
    }
    if (!declared) {
        g->acc_depth[st->acc] = g->indent;
        if (!g->acc_read[st->acc]) {
            str_puts(g->s, "(void)");
            str_puts(g->s, name);
            cgen_line(g, ";");
        }
    }
}

void cgen_acc(struct cgen *g, int acc, int at)
{
    str_puts(g->s, g->acc[acc]);
    if (at >= 0) {
        str_puts(g->s, "[");
        cgen_index(g, at);
        str_puts(g->s, "]");
    } else if (g->l->acc[acc].elems != 1) {
        str_puts(g->s, "[0]");
    }
}

static void put_value(struct cgen *g, int val, int local)
{
    if (local)
        cgen_local(g, local);
    else
        cgen_value(g, val);
}

static void put_update(struct cgen *g, const struct stmt *st, int local)
{
    const struct acc *a = &g->l->acc[st->acc];

    cgen_acc(g, st->acc, st->acc_at);
    str_puts(g->s, " = ");
    if (st->kind == ST_UPDATE) {
        cgen_update(g, a);
        cgen_acc(g, st->acc, st->acc_at);
        str_puts(g->s, ", ");
    }
    put_value(g, st->val, local);
    if (st->kind == ST_UPDATE)
        cgen_update_end(g, a);
    cgen_line(g, ";");
}

void cgen_access(struct cgen *g, const char *word, enum site_kind kind, const char *type,
                 int access)
{
    const struct access *x = &g->l->access[access];
    int site = cgen_site(g, kind, x->buffer);

    str_puts(g->s, word);
    str_puts(g->s, type);
    str_puts(g->s, *type ? ", " : "");
    cgen_int(g->s, site);
    str_puts(g->s, ", ");
    str_puts(g->s, g->buf[x->buffer]);
    str_puts(g->s, ", ");
    cgen_operand(g, x->index);
}

bool cgen_shared(const struct cgen *g, int access)
{
    return g->l->buffer[g->l->access[access].buffer].kind == BUF_SHARED;
}

static void put_store(struct cgen *g, const struct stmt *st, int local)
{
    enum dtype dt = g->l->access[st->access].dt;

    if (g->sites) {
        cgen_access(g, cgen_shared(g, st->access) ? "TF_SST(" : "TF_ST(", SITE_STORE,
                    cgen_stored(dt), st->access);
        str_puts(g->s, ", ");
        cgen_stored_value(g, dt, st->val, local);
        cgen_line(g, ");");
        return;
    }
    cgen_place(g, st->access);
    str_puts(g->s, " = ");
    cgen_stored_value(g, dt, st->val, local);
    cgen_line(g, ";");
}

/* "acc = TF_ADD(acc, value);" or "y[i0] = value;", the value already bound to a lane's
 * local if local > 0 */
static void put_write(struct cgen *g, const struct stmt *st, int local)
{
    if (st->kind == ST_STORE)
        put_store(g, st, local);
    else
        put_update(g, st, local);
}

/* All lanes are read before one is written: lanes may alias, as in x[i+1] = x[i]. */
static void put_lanes(struct cgen *g, const struct stmt *st)
{
    int64_t lanes = g->extent[g->lane_var];
    int *local = arena_array(g->l->arena, int, lanes);

    for (g->lane_at = 0; g->lane_at < lanes; g->lane_at++) {
        cgen_statement(g);
        cgen_bind(g, st->val);
        local[g->lane_at] = g->value[st->val].local;
        if (local[g->lane_at])
            continue;
        local[g->lane_at] = cgen_new_local(g, cgen_type(g->l->value[st->val].dt));
        cgen_value(g, st->val);
        cgen_line(g, ";");
    }
    for (g->lane_at = 0; g->lane_at < lanes; g->lane_at++)
        put_write(g, st, local[g->lane_at]);
}

static void put_loop(struct cgen *g, const struct stmt *st)
{
    if (st->loop != LOOP_SERIAL && st->loop != LOOP_LANES)
        BUG("kernel %s is bound: C can't say that", g->k->name);
    if (st->loop == LOOP_LANES) {
        str_puts(g->s, "{ /* lanes of ");
        str_puts(g->s, g->var[st->var]);
        cgen_line(g, " */");
        g->lane_var = st->var;
        g->indent++;
    } else if (g->sites) {
        open_numbered(g, st->var);
    } else {
        open_for(g, g->var[st->var], g->extent[st->var]);
    }
}

static void put_end(struct cgen *g)
{
    g->lane_var = -1;
    for (int i = 0; i < g->l->n_acc; i++)
        if (g->acc_depth[i] >= g->indent)
            g->acc_depth[i] = -1;
    g->indent--;
    cgen_line(g, "}");
}

void cgen_stmt(struct cgen *g, const struct stmt *st)
{
    switch (st->kind) {
    case ST_LOOP:
        put_loop(g, st);
        return;
    case ST_IF:
        str_puts(g->s, "if (");
        cgen_cond(g, st->cond);
        cgen_line(g, ") {");
        g->indent++;
        return;
    case ST_END:
        put_end(g);
        return;
    case ST_DECL:
        put_decl(g, st);
        return;
    case ST_SET:
    case ST_UPDATE:
    case ST_STORE:
        if (g->lane_var >= 0) {
            put_lanes(g, st);
            return;
        }
        cgen_statement(g);
        cgen_bind(g, st->val);
        put_write(g, st, 0);
        return;
    case ST_SYNC:
    case ST_ASYNC:
    case ST_COMMIT:
    case ST_WAIT:
    case ST_ATOMIC:
    case ST_ACQUIRE:
    case ST_RELEASE:
        break;
    }
    BUG("kernel %s is bound: C can't say that", g->k->name);
}
