/* Requests: a program as one line of JSON. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ir/text.h"
#include "run/exec/exec.h"

static void text(const char *t, struct str *s)
{
    str_puts(s, "\"");
    for (; *t; t++) {
        if (*t == '\n')
            str_puts(s, "\\n");
        else if (*t == '"' || *t == '\\')
            str_add(s, "\\%c", *t);
        else
            str_write(s, t, 1);
    }
    str_puts(s, "\"");
}

static void number(double v, struct str *s)
{
    if (isnan(v))
        str_puts(s, "\"nan\"");
    else if (isinf(v))
        str_puts(s, v > 0 ? "\"inf\"" : "\"-inf\"");
    else
        str_add(s, v == 0 && signbit(v) ? "-0.0" : "%.17g", v);
}

static void list(const char *key, const int64_t *v, int n, struct str *s)
{
    str_add(s, ",\"%s\":[", key);
    for (int i = 0; i < n; i++)
        str_add(s, "%s%" PRId64, i ? "," : "", v[i]);
    str_puts(s, "]");
}

static void real(const char *key, double v, struct str *s)
{
    str_add(s, ",\"%s\":", key);
    number(v, s);
}

static void view(const struct prog *p, const struct node *n, struct str *s)
{
    int rank = p->node[n->arg[0].node].sh.rank;
    int64_t perm[MAX_RANK];

    for (int a = 0; a < MAX_RANK; a++)
        perm[a] = n->perm[a];
    if (n->op == OP_PERMUTE)
        list("perm", perm, rank, s);
    if (n->op == OP_SLICE || n->op == OP_PAD || n->op == OP_ROLL)
        list("lo", n->lo, rank, s);
    if (n->op == OP_SLICE || n->op == OP_PAD)
        list("hi", n->hi, rank, s);
    if (n->op == OP_SLICE || n->op == OP_REPEAT)
        list("by", n->by, rank, s);
    if (n->op == OP_PAD)
        real("value", n->value, s);
}

static void ranges(const struct node *n, struct str *s)
{
    list("lo", n->lo, n->sh.rank, s);
    list("hi", n->hi, n->sh.rank, s);
    list("by", n->by, n->sh.rank, s);
}

static void reduction(const struct node *n, struct str *s)
{
    int64_t axes[MAX_RANK];
    int k = 0;

    for (int a = 0; a < MAX_RANK; a++)
        if (n->axes >> a & 1)
            axes[k++] = a;
    list("axes", axes, k, s);
    str_add(s, ",\"keep\":%s", n->keep ? "true" : "false");
}

static void attributes(const struct prog *p, const struct node *n, struct str *s)
{
    if (op_is_view(n->op))
        view(p, n, s);
    if (n->op == OP_ASSIGN)
        ranges(n, s);
    if (n->op == OP_CONST)
        real("value", n->value, s);
    if (n->op == OP_IOTA || n->op == OP_SOFTMAX || n->op == OP_ARGMAX || n->op == OP_GATHER ||
        n->op == OP_CONCAT || n->op == OP_LOGSOFTMAX || n->op == OP_CUMSUM)
        str_add(s, ",\"axis\":%d", n->axis);
    if (op_is_reduce(n->op) && n->op != OP_MATMUL)
        reduction(n, s);
    if (n->op == OP_MATMUL) {
        real("alpha", n->alpha, s);
        real("beta", n->beta, s);
    }
    if (op_is_reduce(n->op) || op_is_composite(n->op))
        str_add(s, ",\"acc\":\"%s\"", dtype_info(n->acc)->name);
    if (n->op == OP_LAYERNORM || n->op == OP_RMSNORM)
        real("eps", n->eps, s);
    if (n->op == OP_ATTENTION) {
        real("scale", n->scale, s);
        str_add(s, ",\"mask\":\"%s\",\"empty\":\"%s\"", mask_name(n->mask),
                empty_name(n->empty));
    }
}

static void input(const struct buffer *b, struct str *s)
{
    str_add(s, ",\"input\":%d", b->slot);
    list("strides", b->layout.stride, b->sh.rank, s);
    str_add(s, ",\"offset\":%" PRId64 ",\"storage\":%" PRId64, b->elems ? b->layout.offset : 0,
            b->elems);
}

static const struct buffer *buffer_of(const struct lprog *l, int node)
{
    int i = 0;

    while (l->buffer[i].kind != BUF_INPUT || l->buffer[i].node != node)
        i++;
    return &l->buffer[i];
}

static void one_node(const struct lprog *l, int i, struct str *s)
{
    const struct node *n = &l->prog->node[i];

    str_add(s, "%s{\"name\":\"%s\",\"op\":\"%s\",\"dtype\":\"%s\"", i ? "," : "", n->name,
            op_info(n->op)->name, dtype_info(n->dt)->name);
    list("shape", n->sh.dim, n->sh.rank, s);
    str_puts(s, ",\"args\":[");
    for (int j = 0; j < n->n_arg; j++) {
        if (j)
            str_puts(s, ",");
        if (n->arg[j].node >= 0) {
            str_add(s, "%d", n->arg[j].node);
        } else {
            str_puts(s, "{\"lit\":");
            number(n->arg[j].lit, s);
            str_puts(s, "}");
        }
    }
    str_puts(s, "]");
    if (n->op == OP_INPUT)
        input(buffer_of(l, i), s);
    attributes(l->prog, n, s);
    str_puts(s, "}");
}

/* ,"set":{"NOOPT":"1"}, if there is any */
static void knobs(const struct caps *c, const struct trial *t, struct str *s)
{
    int n = 0;

    for (int i = 0; i < t->n_step; i++) {
        const char *knob = caps_set(c, &t->step[i]);

        if (knob)
            str_add(s, "%s\"%s\":\"%s\"", n++ ? "," : ",\"set\":{", knob, t->step[i].value);
    }
    str_puts(s, n ? "}" : "");
}

void exec_say_program(const struct caps *c, const struct lprog *l, struct str *s)
{
    struct str t = { 0 };

    str_puts(s, "{\"do\":\"prepare\",\"program\":{\"nodes\":[");
    for (int i = 0; i < l->prog->n; i++)
        one_node(l, i, s);
    str_puts(s, "],\"outputs\":[");
    for (int i = 0; i < l->prog->n_out; i++)
        str_add(s, "%s%d", i ? "," : "", l->prog->out[i].node);
    str_puts(s, "]");
    knobs(c, l->trial, s);
    str_puts(s, ",\"text\":");
    trial_print(l->trial, &t);
    text(str_get(&t), s);
    str_puts(s, "}}\n");
    str_release(&t);
}

size_t exec_storage(const struct buffer *b)
{
    return (size_t)b->elems * (size_t)dtype_info(b->dt)->bytes;
}

void exec_say_run(const struct lprog *l, struct str *s)
{
    int n = 0;

    str_puts(s, "{\"do\":\"run\",\"inputs\":[");
    for (int i = 0; i < l->n_buffer; i++)
        if (l->buffer[i].kind == BUF_INPUT)
            str_add(s, "%s%zu", n++ ? "," : "", exec_storage(&l->buffer[i]));
    str_puts(s, "]}\n");
}
