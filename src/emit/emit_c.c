/*
 * Kernels as C text: one function per live kernel, statement by statement. Loops have
 * constant extents, so the text always ends.
 */
#include "emit/cgen.h"

#include <math.h>
#include <string.h>

enum { COLUMNS = 96, STEP = 4 };

static void put_indent(struct str *s, int columns)
{
    static const char blank[] = "                                        ";

    for (int n; columns > 0; columns -= n) {
        n = columns < (int)sizeof blank - 1 ? columns : (int)sizeof blank - 1;
        str_write(s, blank, (size_t)n);
    }
}

/* Where a line of `room` columns breaks: the outermost place, of those the last, but behind
 * a = only if that is enough; n = none. */
static size_t break_at(const char *p, size_t n, size_t room)
{
    int depth = 0, least = 1 << 30;
    size_t best = n;

    for (size_t i = 1; i + 1 < n && (i <= room || best == n); i++) {
        depth += (p[i - 1] == '(' || p[i - 1] == '[') - (p[i - 1] == ')' || p[i - 1] == ']');
        if (p[i] == ' ' && strchr(",?:+=&", p[i - 1]) && depth <= least &&
            (p[i - 1] != '=' || n - i + 2 * STEP <= room)) {
            least = depth;
            best = i;
        }
    }
    return best;
}

void cgen_flush(struct cgen *g)
{
    int indent = g->indent * STEP;
    const char *p = str_get(g->s);
    size_t n = g->s->n;

    put_indent(g->out, indent);
    while ((size_t)indent + n > COLUMNS) {
        size_t room = indent < COLUMNS / 2 ? (size_t)(COLUMNS - indent) : COLUMNS / 2;
        size_t at = break_at(p, n, room);

        if (at >= n)
            break;
        str_write(g->out, p, at);
        str_puts(g->out, "\n");
        p += at + 1;
        n -= at + 1;
        indent = (g->indent + 2) * STEP;
        put_indent(g->out, indent);
    }
    str_write(g->out, p, n);
    str_puts(g->out, "\n");
    str_clear(g->s);
}

static void line(struct cgen *g, const char *text)
{
    str_puts(g->s, text);
    cgen_flush(g);
}

static void emit_for(struct cgen *g, const char *var, int64_t extent)
{
    struct str *s = g->s;

    str_puts(s, "for (tf_ix ");
    str_puts(s, var);
    str_puts(s, " = 0; ");
    str_puts(s, var);
    str_puts(s, " < ");
    cgen_int(s, extent);
    str_puts(s, "; ");
    str_puts(s, var);
    line(g, "++) {");
    g->indent++;
}

static double identity(enum op op, enum dtype dt)
{
    bool f = dtype_info(dt)->class == DTC_FLOAT;

    if (op == OP_MAX)
        return f ? -(double)INFINITY : INT32_MIN;
    if (op == OP_MIN)
        return f ? (double)INFINITY : INT32_MAX;
    return op == OP_PROD ? 1 : 0;
}

/* An accumulator is declared where it is initialised; again in the same scope (unrolled
 * copies) it is assigned. */
static void emit_decl(struct cgen *g, const struct stmt *st)
{
    const struct acc *a = &g->l->acc[st->acc];
    bool declared = g->acc_depth[st->acc] >= 0;
    const char *name = g->acc[st->acc];

    if (!declared || a->elems == 1) {
        str_puts(g->s, declared ? "" : cgen_type(a->dt));
        str_puts(g->s, declared ? "" : " ");
        str_puts(g->s, name);
        if (a->elems != 1) {
            str_puts(g->s, "[");
            cgen_int(g->s, a->elems > 0 ? a->elems : 1);
            line(g, "];");
        }
    }
    if (a->elems != 1) {
        const char *at = cgen_unique(g, "j");

        emit_for(g, at, a->elems);
        str_puts(g->s, name);
        str_puts(g->s, "[");
        str_puts(g->s, at);
        str_puts(g->s, "]");
    }
    str_puts(g->s, " = ");
    cgen_literal(g, a->dt, identity(a->identity, a->dt));
    line(g, ";");
    if (a->elems != 1) {
        g->indent--;
        line(g, "}");
    }
    if (!declared) {
        g->acc_depth[st->acc] = g->indent;
        if (!g->acc_read[st->acc]) {
            str_puts(g->s, "(void)");
            str_puts(g->s, name);
            line(g, ";");
        }
    }
}

static void put_acc(struct cgen *g, const struct stmt *st)
{
    str_puts(g->s, g->acc[st->acc]);
    if (st->acc_at >= 0) {
        str_puts(g->s, "[");
        cgen_index(g, st->acc_at);
        str_puts(g->s, "]");
    } else if (g->l->acc[st->acc].elems != 1) {
        str_puts(g->s, "[0]");
    }
}

static void emit_update(struct cgen *g, const struct stmt *st, int local)
{
    const struct acc *a = &g->l->acc[st->acc];

    put_acc(g, st);
    str_puts(g->s, " = ");
    cgen_update(g, a);
    put_acc(g, st);
    str_puts(g->s, ", ");
    if (local) {
        str_puts(g->s, g->local);
        cgen_int(g->s, local);
    } else {
        cgen_value(g, st->val);
    }
    cgen_update_end(g, a);
    line(g, ";");
}

/* "acc = TF_ADD(acc, value);" or "y[i0] = value;", the value already bound to a lane's
 * local if local > 0 */
static void emit_write(struct cgen *g, const struct stmt *st, int local)
{
    if (st->kind == ST_UPDATE) {
        emit_update(g, st, local);
        return;
    }
    cgen_place(g, st->access);
    str_puts(g->s, " = ");
    cgen_stored_value(g, g->l->access[st->access].dt, st->val, local);
    line(g, ";");
}

/* All lanes are read before one is written: lanes may alias, as in x[i+1] = x[i]. */
static void emit_lanes(struct cgen *g, const struct stmt *st)
{
    int64_t lanes = g->extent[g->lane_var];
    int *local = arena_array(g->l->arena, int, lanes);

    for (g->lane_at = 0; g->lane_at < lanes; g->lane_at++) {
        cgen_statement(g);
        cgen_bind(g, st->val);
        local[g->lane_at] = g->value[st->val].local;
        if (local[g->lane_at])
            continue;
        str_puts(g->s, "const ");
        str_puts(g->s, cgen_type(g->l->value[st->val].dt));
        str_puts(g->s, " ");
        str_puts(g->s, g->local);
        cgen_int(g->s, local[g->lane_at] = ++g->n_local);
        str_puts(g->s, " = ");
        cgen_value(g, st->val);
        line(g, ";");
    }
    for (g->lane_at = 0; g->lane_at < lanes; g->lane_at++)
        emit_write(g, st, local[g->lane_at]);
}

static void emit_loop(struct cgen *g, const struct stmt *st)
{
    if (st->loop == LOOP_LANES) {
        str_puts(g->s, "{ /* lanes of ");
        str_puts(g->s, g->var[st->var]);
        line(g, " */");
        g->lane_var = st->var;
        g->indent++;
        return;
    }
    emit_for(g, g->var[st->var], g->extent[st->var]);
}

static void emit_end(struct cgen *g)
{
    g->lane_var = -1;
    for (int i = 0; i < g->l->n_acc; i++)
        if (g->acc_depth[i] >= g->indent)
            g->acc_depth[i] = -1;
    g->indent--;
    line(g, "}");
}

static void emit_statement(struct cgen *g, const struct stmt *st)
{
    switch (st->kind) {
    case ST_LOOP:
        emit_loop(g, st);
        return;
    case ST_IF:
        str_puts(g->s, "if (");
        cgen_cond(g, st->cond);
        line(g, ") {");
        g->indent++;
        return;
    case ST_END:
        emit_end(g);
        return;
    case ST_DECL:
        emit_decl(g, st);
        return;
    case ST_UPDATE:
    case ST_STORE:
        if (g->lane_var >= 0) {
            emit_lanes(g, st);
            return;
        }
        cgen_statement(g);
        cgen_bind(g, st->val);
        emit_write(g, st, 0);
        return;
    }
}

/* "const tf_f32 *x = p[0];", or for a planned temp its place in the arena */
static void emit_buffers(struct cgen *g)
{
    bool any = false;

    for (int i = 0; i < g->l->n_buffer; i++) {
        const struct buffer *b = &g->l->buffer[i];

        if (!g->buf[i])
            continue;
        any = true;
        str_puts(g->s, g->stored[i] ? "" : "const ");
        str_puts(g->s, cgen_stored(b->dt));
        str_puts(g->s, " *");
        str_puts(g->s, g->buf[i]);
        if (b->kind == BUF_TEMP && b->arena_at >= 0) {
            str_puts(g->s, " = (void *)((char *)p[");
            cgen_int(g->s, g->l->n_buffer);
            str_puts(g->s, "] + ");
            cgen_int(g->s, b->arena_at);
            line(g, ");");
        } else {
            str_puts(g->s, " = p[");
            cgen_int(g->s, i);
            line(g, "];");
        }
    }
    if (!any)
        line(g, "(void)p;");
    str_puts(g->out, "\n");
}

static void emit_kernel(struct cgen *g, int kernel)
{
    cgen_names(g, kernel);
    str_puts(g->s, "static void TF_KERNEL(");
    str_puts(g->s, cgen_kernel_name(g->l, kernel));
    line(g, ")(void *const *p)");
    line(g, "{");
    g->indent = 1;
    emit_buffers(g);
    for (int i = 0; i < g->k->n; i++)
        emit_statement(g, &g->k->st[i]);
    g->indent = 0;
    line(g, "}");
}

void emit_c(const struct lprog *l, struct str *s)
{
    struct str work = { 0 };
    struct cgen g = { .l = l, .out = s, .s = &work };
    bool first = true;

    for (int k = 0; k < l->n_kernel; k++) {
        if (l->kernel[k].dead)
            continue;
        if (!first)
            str_puts(s, "\n");
        first = false;
        emit_kernel(&g, k);
    }
    str_release(&work);
}

void emit_entry(const struct lprog *l, const char *name, struct str *s)
{
    str_add(s, "void %s(void *const *p)\n{\n    (void)p;\n", name);
    for (int k = 0; k < l->n_kernel; k++)
        if (!l->kernel[k].dead)
            str_add(s, "    TF_KERNEL(%s)(p);\n", cgen_kernel_name(l, k));
    str_puts(s, "}\n");
}
