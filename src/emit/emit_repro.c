/*
 * A finding as one C file that needs nothing of ours: the kernel's text as it was emitted,
 * its inputs, a reference, and a main that compares. The kernels come before any header, so
 * that no macro of a header can mean one of their names.
 */
#include <inttypes.h>
#include <string.h>

#include "base/bug.h"
#include "emit/cgen.h"
#include "emit/ref.h"
#include "emit/repro.h"
#include "ir/data.h"
#include "ir/text.h"

/* Title or command inside a comment. */
static void put_comment(struct str *s, const char *text)
{
    for (; *text; text++)
        str_write(s, text[0] == '/' && s->n && s->s[s->n - 1] == '*' ? " /" : text,
                  text[0] == '/' && s->n && s->s[s->n - 1] == '*' ? 2 : 1);
}

void repro_opening(const struct repro *r, const char *how, struct str *s)
{
    str_puts(s, "/*\n * ");
    put_comment(s, r->title);
    str_puts(s, "\n *\n *     ");
    put_comment(s, r->command);
    str_puts(s, "\n *\n * ");
    put_comment(s, how);
    str_add(s,
            ": exit 1 and the first wrong element, or exit 0 if\n"
            " * the kernel is right. Algebra: %s. The trial it comes from:\n",
            r->algebra == AL_RING ? "ring (integers mod 2^32 in place of floats)" : "ieee");
    trial_print(r->trial, s);
    /* a guard that is never true is what the emitted text may say */
    str_puts(s, "*/\n\n"
                "#ifdef __clang__\n"
                "#pragma clang diagnostic ignored \"-Wtautological-compare\"\n"
                "#endif\n\n");
}

static const char *c_type(enum dtype dt, enum algebra al)
{
    switch (dt) {
    case DT_BOOL:
        return "unsigned char";
    case DT_I32:
        return "int";
    case DT_F16:
    case DT_BF16:
        return "unsigned short";
    case DT_F64:
        return al == AL_RING ? "unsigned long long" : "double";
    case DT_F32:
    case DT_COUNT:
        break;
    }
    return al == AL_RING ? "unsigned" : "float";
}

/* Halves are bits in both algebras. */
static void put_element(struct str *s, enum dtype dt, enum algebra al, const unsigned char *at)
{
    uint64_t word = 0;
    float f = 0;
    double d = 0;

    memcpy(&word, at, (size_t)dtype_info(dt)->bytes);
    memcpy(&f, at, dt == DT_F32 ? sizeof f : 0);
    memcpy(&d, at, dt == DT_F64 ? sizeof d : 0);
    if (dt == DT_I32 && word == 0x80000000u)
        str_puts(s, "-2147483647 - 1");
    else if (dt == DT_I32 || dt == DT_BOOL)
        cgen_int(s, (int32_t)word);
    else if (dt == DT_F16 || dt == DT_BF16)
        str_add(s, "0x%04x", (unsigned)word);
    else if (al == AL_RING)
        str_add(s, "0x%08" PRIx64, word);
    else
        cgen_real(s, dt, dt == DT_F64 ? d : (double)f, "INFINITY", "NAN");
}

/* Storage of an input, gaps of its layout included, as a C array. */
static void put_input(const struct repro *r, int node, struct arena *a, struct str *s)
{
    const struct node *n = &r->trial->prog.node[node];
    int64_t count = layout_storage(&n->layout, &n->sh);
    int bytes = dtype_info(n->dt)->bytes;
    unsigned char *data = arena_alloc(a, (size_t)(count * bytes) + 1, 16);
    size_t start;

    data_fill(r->trial, node, r->algebra, data);
    str_add(s, "static const %s in_%s[%" PRId64 "] = {", c_type(n->dt, r->algebra), n->name,
            count ? count : 1);
    start = s->n - 200; /* breaks before the first element */
    for (int64_t i = 0; i < count; i++) {
        if (s->n - start > 80) {
            str_puts(s, "\n   ");
            start = s->n - 4;
        }
        str_puts(s, " ");
        put_element(s, n->dt, r->algebra, data + i * bytes);
        str_puts(s, ",");
    }
    str_puts(s, count ? "\n};\n" : " 0 };\n");
}

static void put_inputs(const struct repro *r, struct arena *a, struct str *s)
{
    const struct prog *p = &r->trial->prog;

    for (int i = 0; i < p->n; i++)
        if (p->node[i].op == OP_INPUT)
            put_input(r, i, a, s);
    str_puts(s, "\n");
}

/* One row a buffer, in the order of p[]; the arena is the last. */
static void put_memory(const struct repro *r, struct str *s)
{
    static const char *const kind[] = { "input", "output", "temp", "shared" };
    const struct lprog *l = r->l;

    str_puts(s, "static struct r_memory memory[] = {\n");
    for (int i = 0; i < l->n_buffer; i++) {
        const struct buffer *b = &l->buffer[i];
        const struct node *n = b->node >= 0 ? &r->l->prog->node[b->node] : NULL;
        int64_t elems = buffer_planned(b) || b->kind == BUF_SHARED ? 0 : b->elems;

        if (b->kind == BUF_INPUT)
            elems = layout_storage(&n->layout, &n->sh);
        if (b->kind == BUF_OUTPUT)
            elems = layout_storage(&r->trial->prog.out[b->slot].layout, &n->sh);
        str_add(s, "    { \"%s\", \"%s\", ",
                buffer_planned(b) ? "temp in the arena" : kind[b->kind], b->name);
        if (b->kind == BUF_INPUT)
            str_add(s, "in_%s, ", b->name);
        else
            str_puts(s, "NULL, ");
        str_add(s, "%" PRId64 ", 0, %d, NULL, NULL },\n", elems * dtype_info(b->dt)->bytes,
                dtype_info(b->dt)->bytes);
    }
    str_add(
        s, "    { \"temps\", \"in the arena\", NULL, %" PRId64 ", 0, 16, NULL, NULL },\n};\n\n",
        l->arena_bytes);
}

static void put_axes(struct str *s, int rank, const int64_t *v)
{
    str_puts(s, "{ ");
    for (int a = 0; a < rank; a++)
        str_add(s, "%s%" PRId64, a ? ", " : "", v[a]);
    str_puts(s, rank ? " }, " : "0 }, ");
}

static char type_letter(enum dtype dt)
{
    static const char letter[DT_COUNT] = { [DT_F32] = 'f', [DT_I32] = 'i', [DT_BOOL] = 'b',
                                           [DT_F64] = 'd', [DT_F16] = 'h', [DT_BF16] = 't' };

    return letter[dt];
}

static void put_outputs(const struct repro *r, struct str *s)
{
    const struct lprog *l = r->l;

    str_puts(s, "static const struct r_output output[] = {\n");
    for (int i = 0; i < l->n_buffer; i++) {
        const struct buffer *b = &l->buffer[i];
        const struct output *o;
        const struct node *n;
        struct layout lay;

        if (b->kind != BUF_OUTPUT)
            continue;
        o = &r->trial->prog.out[b->slot];
        n = &r->trial->prog.node[o->node];
        lay = layout_of(&o->layout, &n->sh);
        str_add(s, "    { \"%s\", '%c', %d, %d, ", n->name, type_letter(n->dt), i, n->sh.rank);
        put_axes(s, n->sh.rank, n->sh.dim);
        put_axes(s, n->sh.rank, lay.stride);
        str_add(s, "%" PRId64 ", w_%s },\n", lay.offset, n->name);
    }
    str_puts(s, "};\n\n");
}

/* Are the kernels watched one by one? Outside the arena the guards do that. */
static bool watched(const struct repro *r)
{
    return r->bounds && r->l->arena_bytes > 0;
}

static void put_temps(const struct repro *r, struct str *s)
{
    str_puts(s, "static const struct r_temp temp[] = {\n");
    for (int i = 0; i < r->l->n_buffer; i++) {
        const struct buffer *b = &r->l->buffer[i];

        if (buffer_planned(b))
            str_add(s, "    { %" PRId64 ", %" PRId64 " }, /* %s */\n", b->arena_at,
                    buffer_bytes(b), b->name);
    }
    str_puts(s, "};\n\n");
}

static void put_kernels(const struct repro *r, struct str *s)
{
    struct cgen g = { .l = r->l };

    str_puts(s, "static const struct r_kernel kernel[] = {\n");
    for (int k = 0; k < r->l->n_kernel; k++) {
        if (r->l->kernel[k].dead)
            continue;
        cgen_names(&g, k);
        str_add(s, "    { \"%s\", TF_KERNEL(%s), \"", r->l->kernel[k].name,
                cgen_kernel_name(r->l, k));
        for (int i = 0; i < r->l->n_buffer; i++)
            if (buffer_planned(&r->l->buffer[i]))
                str_puts(s, g.stored[i] ? "w" : g.buf[i] ? "r" : "-");
        str_puts(s, "\" },\n");
    }
    str_puts(s, "};\n\n");
}

static void put_main(const struct repro *r, struct str *s)
{
    int n = r->l->n_buffer + 1, live = 0;

    for (int k = 0; k < r->l->n_kernel; k++)
        live += !r->l->kernel[k].dead;
    str_add(s,
            "/* all buffers at the right ends of their memory, then at the left ones */\n"
            "int main(void)\n{\n    void *p[%d];\n\n    signal(SIGSEGV, r_left);\n"
            "    signal(SIGBUS, r_left);\n    reference();\n"
            "    for (int right = 1; right >= 0; right--) {\n"
            "        for (int i = 0; i < %d; i++)\n"
            "            p[i] = r_place(&memory[i], right);\n",
            n, n);
    if (watched(r))
        str_add(s,
                "        for (int i = 0; i < %d; i++)\n"
                "            if (!r_step(&kernel[i], temp, p, &memory[%d]))\n"
                "                return 1;\n",
                live, n - 1);
    else
        str_puts(s, "        run(p);\n");
    str_add(s,
            "        for (int i = 0; i < %d; i++)\n"
            "            if (!r_check(&output[i], &memory[output[i].buffer]))\n"
            "                return 1;\n"
            "        for (int i = 0; i < %d; i++)\n"
            "            if (!r_intact(&memory[i]))\n                return 1;\n    }\n"
            "    puts(\"right\");\n    return 0;\n}\n",
            r->trial->prog.n_out, n);
}

static void put_kernel_text(const struct repro *r, struct str *s)
{
    struct str text = { 0 };

    emit_c(r->l, &text);
    emit_prelude(r->algebra, str_get(&text), s);
    str_puts(s, "\n");
    str_puts(s, str_get(&text));
    if (!watched(r)) {
        str_puts(s, "\nstatic ");
        emit_entry(r->l, "kernels", s);
        str_puts(s, "\n/* called so that a compiler can't know the data */\n"
                    "static void (*volatile run)(void *const *p) = kernels;\n");
    }
    str_release(&text);
}

void repro_reference(const struct repro *r, struct str *s)
{
    emit_ref(r->trial, r->algebra, s);
    str_puts(s, "\n");
    put_memory(r, s);
    put_outputs(r, s);
}

void repro_end(const struct repro *r, struct arena *a, struct str *tail, struct str *s)
{
    bool *used = arena_array(a, bool, ref_pieces.n);

    pieces_mark(&ref_pieces, str_get(tail), r->algebra, used);
    put_inputs(r, a, s);
    pieces_put(&ref_pieces, used, r->algebra, s);
    str_puts(s, str_get(tail));
    str_release(tail);
}

/* Everything behind the reference's functions; they are chosen by what it names. */
static void put_tail(const struct repro *r, struct str *s)
{
    repro_reference(r, s);
    if (watched(r)) {
        put_temps(r, s);
        put_kernels(r, s);
    }
    put_main(r, s);
}

void emit_repro_c(const struct repro *r, struct arena *a, struct str *s)
{
    static const char *const header[] = { "float", "limits", "tgmath", "signal",
                                          "stdio", "stdlib", "string", "sys/mman" };
    const char *how = arena_printf(a, "%s repro.c -lm && ./a.out", r->build ? r->build : "cc");
    struct str tail = { 0 };

    repro_opening(r, how, s);
    put_kernel_text(r, s);
    str_puts(s, "\n");
    for (size_t i = 0; i < ARRAY_LEN(header); i++)
        str_add(s, "#include <%s.h>\n", header[i]);
    str_puts(s, "\n");
    put_tail(r, &tail);
    repro_end(r, a, &tail, s);
}
