/* A form with its words in braces filled in. The same words as in scripts/adapters/ops.py. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fuzz/python/inner.h"
#include "ir/half.h"

struct blank { /* what the words of one form stand for */
    struct script *x;
    const struct node *n;
    enum dtype in; /* of the values that the op takes */
    const char *a, *value;
};

void words_number(struct str *s, enum dtype dt, double v)
{
    size_t at = s->n;

    if (dt == DT_BOOL) {
        str_puts(s, v != 0 ? "True" : "False");
        return;
    }
    if (dt == DT_I32 || !isfinite(v)) {
        str_add(s, "%.0f", v);
        return;
    }
    float_print(dt, v, s);
    if (!strpbrk(s->s + at, ".e"))
        str_puts(s, ".0");
}

/* (2, 3) */
static void put_tuple(struct str *s, const int64_t *v, int n)
{
    str_puts(s, "(");
    for (int i = 0; i < n; i++)
        str_add(s, "%s%" PRId64, i ? ", " : "", v[i]);
    str_puts(s, n == 1 ? ",)" : ")");
}

static void put_ranges(struct str *s, const struct node *n)
{
    if (n->sh.rank == 0)
        str_puts(s, "...");
    for (int i = 0; i < n->sh.rank; i++) {
        str_puts(s, i ? ", " : "");
        if ((n->hi[i] - n->lo[i]) * (n->by[i] > 0 ? 1 : -1) <= 0) {
            str_puts(s, "0:0");
            continue;
        }
        str_add(s, "%" PRId64 ":", n->lo[i]);
        if (n->hi[i] >= 0)
            str_add(s, "%" PRId64, n->hi[i]);
        if (n->by[i] != 1)
            str_add(s, ":%" PRId64, n->by[i]);
    }
}

static void put_pads(struct str *s, const struct node *n)
{
    str_puts(s, "(");
    for (int i = 0; i < n->sh.rank; i++)
        str_add(s, "(%" PRId64 ", %" PRId64 "), ", n->lo[i], n->hi[i]);
    str_puts(s, ")");
}

/* ((start, stop, step), ..) */
static void put_cuts(struct str *s, const struct node *n)
{
    str_puts(s, "(");
    for (int i = 0; i < n->sh.rank; i++) {
        put_tuple(s, (int64_t[]){ n->lo[i], n->hi[i], n->by[i] }, 3);
        str_puts(s, i < n->sh.rank - 1 ? ", " : ",");
    }
    str_puts(s, ")");
}

static void put_axes(struct str *s, const struct node *n)
{
    int64_t axis[MAX_RANK];
    int k = 0;

    for (int a = 0; a < MAX_RANK; a++)
        if (n->axes >> a & 1)
            axis[k++] = a;
    put_tuple(s, axis, k);
}

static int put_dtype(const struct blank *b, enum dtype dt, struct str *s)
{
    struct piece p;

    if (!table_form(b->x->table, "dtypes", dtype_info(dt)->name, &p))
        return err_set(b->x->e, ERR_ILLEGAL, "this framework has no dtype %s",
                       dtype_info(dt)->name);
    str_write(s, p.s, p.n);
    return 0;
}

static int fill(const struct blank *b, struct piece form, struct str *s);

/* A cast behind an operand or a result, if there is one to do. */
static int put_cast(const struct blank *b, enum dtype from, enum dtype to, struct str *s)
{
    struct blank cast = *b;
    struct node n = { .dt = to };
    struct piece p;

    if (from == to || !table_form(b->x->table, "forms", "as", &p))
        return 0;
    cast.n = &n;
    cast.a = "";
    return fill(&cast, p, s);
}

/* Is what gives that dtype rounded to it by a form of its own, once? */
static bool has_wrap(const struct blank *b, enum dtype dt)
{
    struct piece p;
    char key[32];

    snprintf(key, sizeof key, "wrap.%s", dtype_info(dt)->name);
    return table_form(b->x->table, "forms", key, &p);
}

/* The form `wrap.DTYPE` is put round what gives that dtype, if the table has one. */
static int put_wrapped(const struct blank *b, enum dtype dt, struct piece form, struct str *s)
{
    struct blank round = *b;
    struct str inner = { 0 };
    struct piece wrap;
    char key[32];

    snprintf(key, sizeof key, "wrap.%s", dtype_info(dt)->name);
    if (!table_form(b->x->table, "forms", key, &wrap))
        return fill(b, form, s);
    fill(b, form, &inner);
    round.a = str_get(&inner);
    fill(&round, wrap, s);
    str_release(&inner);
    return b->x->e->code;
}

/* A literal that no tensor beside it gives a dtype is a tensor of its own. */
static int put_operand(const struct blank *b, int k, struct str *s)
{
    const struct node *n = b->n;
    struct node lit = { .dt = b->in };
    struct blank alone = { b->x, &lit, b->in, NULL, NULL };
    struct str v = { 0 };
    struct piece p;
    bool is_alone = n->op == OP_WHERE && n->arg[1].node < 0 && n->arg[2].node < 0;

    if (k == 0 && b->a) {
        str_puts(s, b->a);
        return 0;
    }
    if (k >= n->n_arg) {
        str_puts(s, "None");
        return 0;
    }
    if (n->arg[k].node >= 0) {
        str_puts(s, b->x->name[n->arg[k].node]);
        return 0;
    }
    words_number(&v, b->in, n->arg[k].lit);
    alone.value = str_get(&v);
    if (table_form(b->x->table, "forms", is_alone ? "const" : "literal", &p))
        put_wrapped(&alone, b->in, p, s);
    str_release(&v);
    return b->x->e->code;
}

static void put_line(const struct node *n, struct str *s)
{
    int64_t dim[MAX_RANK];

    for (int i = 0; i < n->sh.rank; i++)
        dim[i] = i == n->axis ? n->sh.dim[i] : 1;
    put_tuple(s, dim, n->sh.rank);
}

static const struct node *source(const struct blank *b)
{
    const struct node *n = b->n;

    return n->n_arg && n->arg[0].node >= 0 ? &b->x->trial->prog.node[n->arg[0].node] : n;
}

static const struct node *second(const struct blank *b)
{
    const struct node *n = b->n;

    return n->n_arg > 1 && n->arg[1].node >= 0 ? &b->x->trial->prog.node[n->arg[1].node] : n;
}

static bool has_axis(enum op op)
{
    return op == OP_IOTA || op == OP_SOFTMAX || op == OP_LOGSOFTMAX || op == OP_CUMSUM ||
           op == OP_ARGMAX || op == OP_GATHER || op == OP_CONCAT;
}

/* Words that are numbers or lists of them. */
static bool put_plain(const struct blank *b, const char *w, struct str *s)
{
    const struct node *n = b->n;
    int64_t perm[MAX_RANK];

    for (int i = 0; i < n->sh.rank; i++)
        perm[i] = n->perm[i];
    if (!strcmp(w, "shape"))
        put_tuple(s, n->sh.dim, n->sh.rank);
    else if (!strcmp(w, "from"))
        put_tuple(s, source(b)->sh.dim, source(b)->sh.rank);
    else if (!strcmp(w, "second"))
        put_tuple(s, second(b)->sh.dim, second(b)->sh.rank);
    else if (!strcmp(w, "line"))
        put_line(n, s);
    else if (!strcmp(w, "n"))
        str_add(s, "%" PRId64,
                !has_axis(n->op)   ? 0
                : n->op == OP_IOTA ? n->sh.dim[n->axis]
                                   : source(b)->sh.dim[n->axis]);
    else if (!strcmp(w, "axes"))
        put_axes(s, n);
    else if (!strcmp(w, "axis"))
        str_add(s, "%d", n->axis);
    else if (!strcmp(w, "own"))
        str_puts(s, b->x->own[n - b->x->trial->prog.node] ? "True" : "False");
    else if (!strcmp(w, "keep"))
        str_puts(s, n->keep ? "True" : "False");
    else if (!strcmp(w, "perm"))
        put_tuple(s, perm, n->sh.rank);
    else if (!strcmp(w, "pads"))
        put_pads(s, n);
    else if (!strcmp(w, "ranges"))
        put_ranges(s, n);
    else if (!strcmp(w, "shift"))
        put_tuple(s, n->lo, n->sh.rank);
    else if (!strcmp(w, "times"))
        put_tuple(s, n->by, n->sh.rank);
    else if (!strcmp(w, "cuts") && n->sh.rank)
        put_cuts(s, n);
    else if (!strcmp(w, "cuts"))
        str_puts(s, "()");
    else if (!strcmp(w, "skip"))
        for (int i = 0; i < n->axis; i++)
            str_puts(s, ":, ");
    else if (!strcmp(w, "eps"))
        words_number(s, DT_F64, n->eps);
    else if (!strcmp(w, "scale"))
        words_number(s, DT_F64, n->scale);
    else if (!strcmp(w, "alpha"))
        words_number(s, DT_F64, n->alpha);
    else if (!strcmp(w, "beta"))
        words_number(s, DT_F64, n->beta);
    else if (!strcmp(w, "mask"))
        str_add(s, "'%s'", mask_name(n->mask));
    else if (!strcmp(w, "empty"))
        str_add(s, "'%s'", empty_name(n->empty));
    else
        return false;
    return true;
}

static int put_word(const struct blank *b, const char *w, struct str *s)
{
    const struct node *n = b->n;

    if (w[0] >= 'a' && w[0] <= 'd' && !w[1])
        return put_operand(b, w[0] - 'a', s);
    if (!strcmp(w, "dt"))
        return put_dtype(b, n->dt, s);
    if (!strcmp(w, "in"))
        return put_dtype(b, b->in, s);
    if (!strcmp(w, "acc"))
        return put_dtype(b, n->acc, s);
    if (!strcmp(w, "up"))
        return put_cast(b, b->in, n->acc, s);
    if (!strcmp(w, "down"))
        return has_wrap(b, n->dt) ? 0 : put_cast(b, n->acc, n->dt, s);
    if (!strcmp(w, "cast"))
        return has_wrap(b, n->dt) ? 0 : put_cast(b, b->in, n->dt, s);
    if (!strcmp(w, "value") && b->value)
        str_puts(s, b->value);
    else if (!strcmp(w, "value"))
        words_number(s, n->dt, n->value);
    else if (!put_plain(b, w, s))
        return err_set(b->x->e, ERR_ILLEGAL, "this framework asks for {%s}", w);
    return 0;
}

static int fill(const struct blank *b, struct piece form, struct str *s)
{
    for (size_t i = 0; i < form.n && !b->x->e->code; i++) {
        char word[16];
        size_t n = 0;

        if (form.s[i] != '{') {
            str_write(s, form.s + i, 1);
            continue;
        }
        for (i++; i < form.n && form.s[i] != '}'; i++)
            if (n < sizeof word - 1)
                word[n++] = form.s[i];
        word[n] = '\0';
        put_word(b, word, s);
    }
    return b->x->e->code;
}

/* OP.DTYPE before OP; a matmul with three operands is one of its own. */
static bool find(const struct script *x, const struct node *n, enum dtype in, struct piece *p)
{
    const char *op = op_info(n->op)->name;
    char key[64];

    if (n->sh.rank == 0 && (n->op == OP_PAD || n->op == OP_ROLL || n->op == OP_REPEAT))
        op = "copy";
    if (n->op == OP_MATMUL && (n->n_arg > 2 || n->alpha != 1))
        op = "matmul3";
    if (n->op == OP_CAST && n->dt == DT_I32 && dtype_info(in)->class == DTC_FLOAT &&
        table_form(x->table, "forms", "cast_to_i32", p))
        return true;
    snprintf(key, sizeof key, "%s.%s", op, dtype_info(in)->name);
    return table_form(x->table, "forms", key, p) || table_form(x->table, "forms", op, p);
}

/* In storage that is nobody else's. */
static int put_fresh(const struct blank *b, struct piece form, struct str *s)
{
    struct blank copy = *b;
    struct str inner = { 0 };
    struct piece fresh;

    put_wrapped(b, b->n->dt, form, &inner);
    copy.a = str_get(&inner);
    if (table_form(b->x->table, "forms", "fresh", &fresh))
        fill(&copy, fresh, s);
    str_release(&inner);
    return b->x->e->code;
}

int words_line(struct script *x, int i, struct str *s)
{
    const struct node *n = &x->trial->prog.node[i];
    struct blank b = { x, n, node_takes(&x->trial->prog, n), NULL, NULL };
    struct piece p;

    if (!find(x, n, b.in, &p) || p.s[0] == '!')
        return err_set(x->e, ERR_ILLEGAL, "this framework has no %s of %s",
                       op_info(n->op)->name, dtype_info(b.in)->name);
    return x->fresh[i] ? put_fresh(&b, p, s) : put_wrapped(&b, n->dt, p, s);
}

int words_form(struct script *x, const char *form, int node, const char *a, const char *value,
               struct str *s)
{
    const struct node *n = &x->trial->prog.node[node];
    struct blank b = { x, n, n->dt, a, value };
    struct piece p;

    if (!table_form(x->table, "forms", form, &p))
        return err_set(x->e, ERR_ILLEGAL, "this framework has no form %s", form);
    return strcmp(form, "data") != 0 ? fill(&b, p, s) : put_wrapped(&b, n->dt, p, s);
}
