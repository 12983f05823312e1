#include "run/caps.h"

#include <stdio.h>
#include <string.h>

#include "ir/contract.h"

void caps_all(struct caps *c, enum cap_state state)
{
    memset(c->op, state, sizeof c->op);
    for (int dt = 0; dt < DT_COUNT; dt++) {
        c->dtype[dt] = true;
        c->op[OP_INPUT][dt] = c->op[OP_CONST][dt] = CAP_YES;
    }
}

bool caps_add_op(struct caps *c, const char *text, enum cap_state state)
{
    size_t n = strcspn(text, " ");
    enum dtype dt;
    enum op op;

    if (!op_parse(text, n, &op))
        return false;
    text += n + strspn(text + n, " ");
    if (!*text)
        memset(c->op[op], state, sizeof c->op[op]);
    for (; *text; text += n + strspn(text + n, " ")) {
        n = strcspn(text, " ");
        if (!dtype_parse(text, n, &dt))
            return false;
        c->op[op][dt] = (unsigned char)state;
    }
    return true;
}

bool caps_contract(const char *name, unsigned *bit)
{
    static const struct {
        const char *name;
        unsigned bit;
    } rows[] = {
#define CONTRACT(id, bit, name, help) { name, bit },
#include "ir/contract.def"
#undef CONTRACT
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(rows[i].name, name)) {
            *bit = rows[i].bit;
            return true;
        }
    return false;
}

enum dtype caps_dtype(const struct prog *p, const struct node *n)
{
    int value = n->op == OP_WHERE ? 1 : 0;

    if (n->op == OP_WHERE && n->arg[1].node < 0)
        value = 2;
    for (int j = value; j < n->n_arg; j++)
        if (n->arg[j].node >= 0)
            return p->node[n->arg[j].node].dt;
    return n->dt;
}

/* Is it dense row-major? Strides that nothing depends on may be any. */
static bool dense(const struct layout *given, const struct shape *sh)
{
    struct layout l = layout_of(given, sh);
    int64_t stride[MAX_RANK];

    shape_strides(sh, stride);
    if (l.offset && shape_count(sh))
        return false;
    for (int a = 0; a < sh->rank && shape_count(sh); a++)
        if (sh->dim[a] > 1 && l.stride[a] != stride[a])
            return false;
    return true;
}

static const char *refuse_node(const struct caps *c, const struct prog *p, const struct node *n,
                               char *buf, size_t size, bool *lie)
{
    enum dtype dt = caps_dtype(p, n);
    enum cap_state s = (enum cap_state)c->op[n->op][dt];

    if (!c->dtype[n->dt])
        snprintf(buf, size, "no dtype %s", dtype_info(n->dt)->name);
    else if (c->max_rank && n->sh.rank > c->max_rank)
        snprintf(buf, size, "rank %d; at most %d is taken", n->sh.rank, c->max_rank);
    else if (s == CAP_NO)
        snprintf(buf, size, "no %s of %s", op_info(n->op)->name, dtype_info(dt)->name);
    else if (s == CAP_TRIED || s == CAP_LIE)
        snprintf(buf, size, "%s%s of %s: %s",
                 s == CAP_LIE ? "what it names and then refuses, " : "no ",
                 op_info(n->op)->name, dtype_info(dt)->name,
                 c->why[n->op][dt] ? c->why[n->op][dt] : "");
    else if (n->op == OP_INPUT && !(c->layouts & CAP_INPUT_STRIDES) &&
             !dense(&n->layout, &n->sh))
        snprintf(buf, size, "no strides of inputs");
    else
        return NULL;
    *lie = s == CAP_LIE;
    return buf;
}

bool caps_knob(const struct caps *c, const char *knob, size_t n, const char *value)
{
    const char *at = c->knobs;

    while (*at && (strncmp(at, knob, n) != 0 || at[n] != '=')) {
        at += strcspn(at, ",");
        at += *at == ',';
    }
    for (at += *at ? n : 0; *at && *at != ','; at += strcspn(at, "/,")) {
        at++; /* over '=' or '/' */
        if (!strncmp(at, value, strlen(value)) && strchr("/,", at[strlen(value)]))
            return true;
    }
    return false;
}

const char *caps_set(const struct caps *c, const struct step *s)
{
    size_t n = strlen(c->name);

    if (s->kind != STEP_SET || strncmp(s->knob, c->name, n) != 0 || s->knob[n] != '.')
        return NULL;
    return s->knob + n + 1;
}

static const char *refuse_knobs(const struct caps *c, const struct trial *t, char *buf,
                                size_t n)
{
    for (int i = 0; i < t->n_step; i++) {
        const char *knob = caps_set(c, &t->step[i]);

        if (!knob || caps_knob(c, knob, strlen(knob), t->step[i].value))
            continue;
        snprintf(buf, n, "no knob %s with value %s; %s has %s", knob, t->step[i].value, c->name,
                 *c->knobs ? c->knobs : "none");
        return buf;
    }
    return NULL;
}

const char *caps_refuse(const struct caps *c, const struct trial *t, char *buf, size_t n,
                        bool *lie)
{
    const struct prog *p = &t->prog;
    int nodes = 0;

    *lie = false;
    if (refuse_knobs(c, t, buf, n))
        return buf;
    for (int i = 0; i < p->n; i++) {
        const struct node *x = &p->node[i];

        if (refuse_node(c, p, x, buf, n, lie))
            return buf;
        nodes += x->op != OP_INPUT && x->op != OP_CONST;
    }
    if (c->max_nodes && nodes > c->max_nodes) {
        snprintf(buf, n, "%d nodes; at most %d are taken", nodes, c->max_nodes);
        return buf;
    }
    for (int i = 0; i < p->n_out && !(c->layouts & CAP_OUTPUT_STRIDES); i++)
        if (!dense(&p->out[i].layout, &p->node[p->out[i].node].sh)) {
            snprintf(buf, n, "no strides of outputs");
            return buf;
        }
    return NULL;
}
