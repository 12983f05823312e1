/*
 * Kernels as C text: one function per live kernel, statement by statement (emit_stmt.c), and
 * how lines are wrapped. Loops have constant extents, so the text always ends.
 */
#include "emit/cgen.h"

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

void cgen_line(struct cgen *g, const char *text)
{
    str_puts(g->s, text);
    cgen_flush(g);
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
        if (buffer_planned(b)) {
            str_puts(g->s, " = (void *)((char *)p[");
            cgen_int(g->s, g->l->n_buffer);
            str_puts(g->s, "] + ");
            cgen_int(g->s, b->arena_at);
            cgen_line(g, ");");
        } else {
            str_puts(g->s, " = p[");
            cgen_int(g->s, i);
            cgen_line(g, "];");
        }
    }
    if (!any)
        cgen_line(g, "(void)p;");
    str_puts(g->out, "\n");
}

static void emit_kernel(struct cgen *g, int kernel)
{
    cgen_names(g, kernel);
    str_puts(g->s, "static void TF_KERNEL(");
    str_puts(g->s, cgen_kernel_name(g->l, kernel));
    cgen_line(g, ")(void *const *p)");
    cgen_line(g, "{");
    g->indent = 1;
    emit_buffers(g);
    for (int i = 0; i < g->k->n; i++)
        cgen_stmt(g, &g->k->st[i]);
    g->indent = 0;
    cgen_line(g, "}");
}

void cgen_kernels(const struct lprog *l, struct emit_sites *sites,
                  void (*kernel)(struct cgen *g, int kernel), struct str *s)
{
    struct str work = { 0 };
    struct cgen g = { .l = l, .out = s, .s = &work, .sites = sites };
    bool first = true;

    for (int k = 0; k < l->n_kernel; k++) {
        if (l->kernel[k].dead)
            continue;
        if (!first)
            str_puts(s, "\n");
        first = false;
        kernel(&g, k);
    }
    str_release(&work);
}

void emit_c(const struct lprog *l, struct str *s)
{
    cgen_kernels(l, NULL, emit_kernel, s);
}

void emit_entry(const struct lprog *l, const char *name, struct str *s)
{
    str_add(s, "void %s(void *const *p)\n{\n    (void)p;\n", name);
    for (int k = 0; k < l->n_kernel; k++)
        if (!l->kernel[k].dead)
            str_add(s, "    TF_KERNEL(%s)(p);\n", cgen_kernel_name(l, k));
    str_puts(s, "}\n");
}
