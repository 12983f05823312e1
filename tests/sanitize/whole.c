/*
 * The C of trials as programs of their own, for compilers that watch: one file per trial with
 * both algebras, storage of exactly the sizes that lowering asked for (so that an address
 * sanitizer's red zones lie against it) and plausible data. What comes out is not judged.
 *
 *     whole SEED FIRST COUNT DIR FAULT     writes DIR/NUMBER.c; FAULT may be none
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emit/emit.h"
#include "fuzz/gen/gen.h"
#include "lower/lower.h"
#include "run/tcc.h"

/* Bytes of a buffer; the caller's are laid out as the program says. */
static int64_t bytes_of(const struct buffer *b)
{
    int64_t n = b->kind == BUF_TEMP ? b->elems : layout_storage(&b->layout, &b->sh);

    return n * dtype_info(b->dt)->bytes;
}

static const char data[] =
    "#include <math.h>\n#include <stdint.h>\n#include <stdlib.h>\n#include <string.h>\n"
    "static uint32_t seed = 1;\n"
    "static uint32_t next(void) { seed = seed * 1664525u + 1013904223u; return seed >> 8; }\n"
    "static void fill(void *p, long n, int kind, int ring)\n"
    "{\n"
    "    for (long i = 0; i < n; i++) {\n"
    "        uint32_t r = next();\n"
    "        float f = ((int)(r % 2001) - 1000) / 256.0f;\n"
    "        double d = f;\n"
    "        uint64_t w = ring ? r * 77u : 0;\n"
    "        switch (kind) {\n"
    "        case 'F': if (ring) memcpy((char *)p + 4*i, &w, 4); else memcpy((char *)p + 4*i, "
    "&f, 4); break;\n"
    "        case 'D': if (ring) memcpy((char *)p + 8*i, &w, 8); else memcpy((char *)p + 8*i, "
    "&d, 8); break;\n"
    "        case 'H': r &= 0xbbff; memcpy((char *)p + 2*i, &r, 2); break;\n"
    "        case 'I': { int v = (int)(r % 17) - 8; memcpy((char *)p + 4*i, &v, 4); break; }\n"
    "        default: ((char *)p)[i] = r & 1;\n"
    "        }\n"
    "    }\n"
    "}\n";

static char kind_of(enum dtype dt)
{
    switch (dt) {
    case DT_F64:
        return 'D';
    case DT_F32:
        return 'F';
    case DT_F16:
    case DT_BF16:
        return 'H';
    case DT_I32:
        return 'I';
    case DT_BOOL:
    case DT_COUNT:
        break;
    }
    return 'B';
}

static void put_main(const struct lprog *l, struct str *s)
{
    str_add(
        s,
        "int main(void)\n{\n    void *p[%d];\n\n    for (int ring = 0; ring < 2; ring++) {\n",
        l->n_buffer + 1);
    for (int i = 0; i < l->n_buffer; i++) {
        const struct buffer *b = &l->buffer[i];
        int64_t bytes = b->kind == BUF_TEMP && b->arena_at >= 0 ? 0 : bytes_of(b);

        str_add(s, "        p[%d] = malloc(%" PRId64 ");\n", i, bytes);
        if (b->kind == BUF_INPUT)
            str_add(s, "        fill(p[%d], %" PRId64 ", '%c', ring);\n", i,
                    bytes / dtype_info(b->dt)->bytes, kind_of(b->dt));
    }
    str_add(s, "        p[%d] = malloc(%" PRId64 ");\n", l->n_buffer, l->arena_bytes);
    str_puts(s, "        if (ring)\n            entry_ring(p);\n        else\n"
                "            entry_ieee(p);\n");
    str_add(s, "        for (int i = 0; i < %d; i++)\n            free(p[i]);\n    }\n",
            l->n_buffer + 1);
    str_puts(s, "    return 0;\n}\n");
}

static bool write_trial(uint64_t seed, uint64_t number, const char *dir, enum fault fault,
                        struct arena *a, struct arena *scratch)
{
    struct lower_opts lo = LOWER_OPTS_DEFAULT;
    struct gen_opts go;
    struct str text = { 0 }, whole = { 0 };
    struct trial *t;
    struct lprog *l;
    struct err e = { 0 };
    char path[1024];
    FILE *f;

    lo.fault = fault;
    gen_opts_default(&go);
    arena_reset(a);
    t = gen_trial(seed, number, &go, a, scratch);
    if (lower(t, &lo, a, &l, &e)) {
        fprintf(stderr, "trial %" PRIu64 ": %s\n", number, e.msg);
        return false;
    }
    emit_c(l, &text);
    str_puts(&whole, data);
    tcc_text(l, str_get(&text), &whole);
    put_main(l, &whole);
    snprintf(path, sizeof path, "%s/%" PRIu64 ".c", dir, number);
    f = fopen(path, "w");
    if (!f || fputs(str_get(&whole), f) < 0 || fclose(f)) {
        perror(path);
        exit(3);
    }
    str_release(&text);
    str_release(&whole);
    return true;
}

int main(int argc, char **argv)
{
    struct arena a, scratch;
    enum fault fault;
    bool ok = true;

    if (argc != 6 || !fault_parse(argv[5], &fault)) {
        fprintf(stderr, "usage: %s SEED FIRST COUNT DIR FAULT\n", argv[0]);
        return 2;
    }
    arena_init(&a);
    arena_init(&scratch);
    for (uint64_t i = 0; i < strtoull(argv[3], NULL, 10); i++)
        ok &= write_trial(strtoull(argv[1], NULL, 10), strtoull(argv[2], NULL, 10) + i, argv[4],
                          fault, &a, &scratch);
    arena_release(&a);
    arena_release(&scratch);
    return ok ? 0 : 1;
}
