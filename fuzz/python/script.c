/* The whole script: comment, helpers, program, data, what is wanted, and the comparison. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fuzz/python/inner.h"
#include "ir/contract.h"
#include "ir/data.h"
#include "ir/text.h"
#include "judge/judge.h"

/* made by the build from scripts/adapters/NAME.ops and tail.py */
extern const char python_numpy[], python_tinygrad[], python_torch[], python_jax[],
    python_onnx[];
extern const char python_tail[];

static const struct {
    const char *form, *table;
} lib[] = {
    { "numpy.py", python_numpy }, { "tinygrad.py", python_tinygrad },
    { "torch.py", python_torch }, { "jax.py", python_jax },
    { "onnx", python_onnx },
};

const char *python_form(int i)
{
    return i < (int)(sizeof lib / sizeof *lib) ? lib[i].form : NULL;
}

/* What a script's own names are, and Python's. */
static const char reserved[] =
    " and as assert async await break class continue def del elif else except finally for "
    "from global if import in is lambda nonlocal not or pass raise return try while with yield "
    "None True False abs all bool enumerate float int len list print range sum tuple zip "
    "compare program inputs want wrong got x inf nan math ";

static bool has_word(const char *text, size_t size, const char *w)
{
    size_t n = strlen(w);

    for (const char *s = text; s + n <= text + size; s++)
        if (!strncmp(s, w, n) && !strchr("_abcdefghijklmnopqrstuvwxyz0123456789", s[n]) &&
            (s == text || strchr(" (,\n", s[-1])))
            return true;
    return false;
}

static bool taken(const struct script *x, const char *name)
{
    char section[64];
    struct piece p;

    snprintf(section, sizeof section, "def %s", name);
    return has_word(reserved, sizeof reserved - 1, name) ||
           table_section(x->table, section, &p) ||
           (table_section(x->table, "import", &p) && has_word(p.s, p.n, name));
}

static void name_nodes(struct script *x)
{
    const struct prog *p = &x->trial->prog;

    x->name = arena_array(x->a, const char *, p->n);
    for (int i = 0; i < p->n; i++) {
        x->name[i] = p->node[i].name;
        while (taken(x, x->name[i]) || (x->name[i] != p->node[i].name &&
                                        prog_find(p, x->name[i], strlen(x->name[i])) >= 0))
            x->name[i] = arena_printf(x->a, "%s_", x->name[i]);
    }
}

static void put_comment(const struct script *x, const char *title, const char *command,
                        struct str *s)
{
    struct str t = { 0 };

    trial_print(x->trial, &t);
    str_add(
        s,
        "# %s\n#\n#     %s\n#\n# Exit 1 and the first wrong element, or 0 if all is right.\n",
        title, command);
    str_puts(s, "# It comes from this program of tilefuzz:\n");
    for (const char *line = str_get(&t); *line;) {
        size_t n = strcspn(line, "\n");

        str_puts(s, "#     ");
        str_write(s, line, n);
        str_puts(s, "\n");
        line += n + (line[n] != 0);
    }
    str_release(&t);
}

/* What steps `set` of this framework come to, as the table's section [set] says it. */
static void put_knobs(const struct script *x, const char *form, struct str *s)
{
    size_t n = strcspn(form, ".");
    bool first = true;
    struct piece p;

    for (int i = 0; i < x->trial->n_step && !x->e->code; i++) {
        const struct step *st = &x->trial->step[i];

        if (st->kind != STEP_SET || strncmp(st->knob, form, n) != 0 || st->knob[n] != '.')
            continue;
        if (!table_section(x->table, "set", &p)) {
            err_set(x->e, ERR_ILLEGAL, "this framework has no knobs; the trial sets %s",
                    st->knob);
            return;
        }
        str_puts(s, first ? "import os\n" : "");
        first = false;
        for (const char *c = p.s; c < p.s + p.n; c++) {
            if (!strncmp(c, "{knob}", 6)) {
                str_puts(s, st->knob + n + 1);
                c += 5;
            } else if (!strncmp(c, "{value}", 7)) {
                str_puts(s, st->value);
                c += 6;
            } else {
                str_write(s, c, 1);
            }
        }
    }
}

/* Imports, and the helpers that the text calls or that these call. */
static void put_head(const struct script *x, const struct str *program, struct str *s)
{
    struct str all = { 0 };
    struct piece p;
    bool grew = true;

    str_puts(&all, str_get(program));
    if (table_section(x->table, "import", &p))
        str_write(s, p.s, p.n);
    str_puts(s, "\n");
    while (grew) { /* to know them, then in the order of the table */
        grew = false;
        for (const char *h = strstr(x->table, "\n[def "); h; h = strstr(h + 1, "\n[def ")) {
            size_t n = strcspn(h + 6, "]");
            char section[64];

            snprintf(section, sizeof section, "def %.*s", (int)n, h + 6);
            if (!calls(str_get(&all), section + 4, n) ||
                !table_section(x->table, section, &p) ||
                strstr(str_get(&all), arena_strndup(x->a, p.s, p.n)))
                continue;
            str_write(&all, p.s, p.n);
            grew = true;
        }
    }
    for (const char *h = strstr(x->table, "\n[def "); h; h = strstr(h + 1, "\n[def ")) {
        char section[64];

        snprintf(section, sizeof section, "def %.*s", (int)strcspn(h + 6, "]"), h + 6);
        if (!table_section(x->table, section, &p) ||
            !strstr(str_get(&all), arena_strndup(x->a, p.s, p.n)))
            continue;
        str_write(s, p.s, p.n);
        str_puts(s, "\n\n");
    }
    str_release(&all);
}

static void put_program(struct script *x, struct str *s)
{
    const struct prog *p = &x->trial->prog;
    const char *comma = "";

    str_puts(s, "def program(");
    for (int i = 0; i < p->n; i++)
        if (p->node[i].op == OP_INPUT) {
            str_add(s, "%s%s", comma, x->name[i]);
            comma = ", ";
        }
    str_puts(s, "):\n");
    for (int i = 0; i < p->n && !x->e->code; i++) {
        if (p->node[i].op == OP_INPUT)
            continue;
        str_add(s, "    %s = ", x->name[i]);
        words_line(x, i, s);
        str_puts(s, "\n");
    }
    str_puts(s, "    return [");
    for (int k = 0; k < p->n_out; k++)
        str_add(s, "%s%s", k ? ", " : "", x->name[p->out[k].node]);
    str_puts(s, "]\n");
}

/* Numbers one behind the other, in lines. */
struct row {
    struct str *s;
    size_t start;
};

static void row_next(struct row *r, int64_t k)
{
    if (k)
        str_puts(r->s, ",");
    if (r->s->n - r->start > 80) {
        str_puts(r->s, "\n   ");
        r->start = r->s->n;
    }
    str_puts(r->s, k ? " " : "");
}

static void put_data(const struct script *x, int node, struct str *s)
{
    const struct node *n = &x->trial->prog.node[node];
    struct row r = { s, s->n };

    str_puts(s, "[");
    for (int64_t k = 0; k < shape_count(&n->sh); k++) {
        row_next(&r, k);
        words_number(s, n->dt, data_number(x->trial, node, k));
    }
    str_puts(s, "]");
}

static void put_inputs(struct script *x, struct str *s)
{
    const struct prog *p = &x->trial->prog;

    str_puts(s, "inputs = [\n");
    for (int i = 0; i < p->n && !x->e->code; i++) {
        struct str data = { 0 };

        if (p->node[i].op != OP_INPUT)
            continue;
        put_data(x, i, &data);
        str_puts(s, "    ");
        words_form(x, "data", i, NULL, str_get(&data), s);
        str_add(s, ",  # %s\n", p->node[i].name);
        str_release(&data);
    }
    str_puts(s, "]\n");
}

/* Element k of a node and how far off is right; false = it is not judged. */
static bool wanted(const struct want_node *w, enum dtype dt, int64_t k, struct val *v)
{
    if (w->word) {
        *v =
            (struct val){ dt == DT_BOOL ? (double)w->word[k] : (double)(int32_t)w->word[k], 0 };
        return !w->unsure || !w->unsure[k];
    }
    *v = judge_value(w, k);
    if (w->wide && v->e > 0) /* a script says the value as a double */
        v->e += fabs(v->v) * 0x1p-53;
    return v->e >= 0;
}

static void put_wants(const struct script *x, const struct want *w, int node, struct str *s)
{
    const struct node *n = &x->trial->prog.node[node];
    struct row r = { s, s->n };
    struct val v;
    bool exact = true;

    str_puts(s, "[");
    for (int64_t k = 0; k < w->node[node].n; k++) {
        row_next(&r, k);
        if (!wanted(&w->node[node], n->dt, k, &v)) {
            str_puts(s, "None");
            continue;
        }
        exact = exact && v.e == 0;
        if (dtype_info(n->dt)->class == DTC_FLOAT)
            words_number(s, DT_F64, v.v);
        else
            words_number(s, n->dt, v.v);
    }
    str_puts(s, "], [");
    for (int64_t k = 0; k < w->node[node].n && !exact; k++) {
        row_next(&r, k);
        if (!wanted(&w->node[node], n->dt, k, &v) || v.e == 0)
            str_puts(s, "0");
        else
            str_add(s, "%.5g", v.e * 1.0001);
    }
    str_puts(s, "]");
}

static void put_want(const struct script *x, struct str *s)
{
    static const struct {
        const char *name;
        unsigned bit;
    } word[] = {
#define CONTRACT(id, bit, name, help) { name, bit },
#include "ir/contract.def"
#undef CONTRACT
    };
    const struct prog *p = &x->trial->prog;
    unsigned contract = 0;
    const struct want *w;
    struct piece c;

    if (table_section(x->table, "contract", &c))
        for (size_t i = 0; i < sizeof word / sizeof *word; i++)
            if (has_word(c.s, c.n, word[i].name))
                contract |= word[i].bit;
    w = judge_want_by(x->trial, contract, x->a);
    str_puts(s, "want = [  # values, and how far off is right; None = any\n");
    for (int k = 0; k < p->n_out; k++) {
        str_puts(s, "    (");
        put_wants(x, w, p->out[k].node, s);
        str_add(s, "),  # %s\n", p->node[p->out[k].node].name);
    }
    str_puts(s, "]\n");
}

static void put_compares(struct script *x, struct str *s)
{
    const struct prog *p = &x->trial->prog;
    struct str y = { 0 };

    str_puts(s, "got = ");
    words_form(x, "call", 0, NULL, NULL, s);
    str_puts(s, "\nwrong = 0\n");
    for (int k = 0; k < p->n_out && !x->e->code; k++) {
        int node = p->out[k].node;

        str_clear(&y);
        str_add(&y, "got[%d]", k);
        str_add(s, "wrong += compare(\"%s\", ", p->node[node].name);
        words_form(x, "list", node, str_get(&y), NULL, s);
        str_puts(s, ",\n                 ");
        words_form(x, "shape_is", node, str_get(&y), NULL, s);
        str_puts(s, ",\n                 ");
        words_form(x, "dtype_is", node, str_get(&y), NULL, s);
        str_add(s, ", *want[%d])\n", k);
    }
    str_puts(s, "raise SystemExit(wrong > 0)\n");
    str_release(&y);
}

int python_script(const struct trial *t, const char *form, const char *title,
                  const char *command, struct str *s, struct err *e)
{
    struct arena a;
    struct script x = { .trial = t, .a = &a, .e = e };
    struct str program = { 0 };

    for (size_t i = 0; i < sizeof lib / sizeof *lib; i++)
        if (!strcmp(form, lib[i].form))
            x.table = lib[i].table;
    arena_init(&a);
    name_nodes(&x);
    storage_plan(&x);
    put_comment(&x, title, command, s);
    put_knobs(&x, form, s);
    put_program(&x, &program);
    str_puts(&program, "\n\n");
    str_puts(&program, python_tail);
    put_inputs(&x, &program);
    put_head(&x, &program, s);
    str_puts(s, str_get(&program));
    put_want(&x, s);
    put_compares(&x, s);
    str_release(&program);
    arena_release(&a);
    return e->code;
}
