#include "run/foreign.h"

#include <string.h>

static void add_buffer(struct lprog *l, enum buffer_kind kind, int node, int slot,
                       const struct layout *layout)
{
    const struct node *n = &l->prog->node[node];

    lprog_buffer(l, (struct buffer){ .name = n->name,
                                     .kind = kind,
                                     .slot = slot,
                                     .dt = n->dt,
                                     .sh = n->sh,
                                     .layout = layout_of(layout, &n->sh),
                                     .elems = layout_storage(layout, &n->sh),
                                     .arena_at = -1,
                                     .node = node });
}

struct lprog *foreign_lprog(const struct trial *t, struct arena *a)
{
    struct lprog *l = arena_new(a, struct lprog);
    const struct prog *p = &t->prog;
    int n_input = 0;

    l->arena = a;
    l->trial = t;
    l->prog = p;
    for (int i = 0; i < p->n; i++)
        if (p->node[i].op == OP_INPUT)
            add_buffer(l, BUF_INPUT, i, n_input++, &p->node[i].layout);
    for (int i = 0; i < p->n_out; i++)
        add_buffer(l, BUF_OUTPUT, p->out[i].node, i, &p->out[i].layout);
    return l;
}

void foreign_poison(struct run_env *env, const struct lprog *l)
{
    for (int i = 0; i < l->n_buffer; i++) {
        const struct buffer *b = &l->buffer[i];
        int64_t n = shape_count(&b->sh), bytes = dtype_info(b->dt)->bytes;

        if (b->kind != BUF_OUTPUT || dtype_info(b->dt)->class != DTC_FLOAT)
            continue;
        if (n == b->elems) {
            memset(env->buf[i].p, 0xff, (size_t)(n * bytes));
            continue;
        }
        for (int64_t k = 0; k < n; k++)
            memset(env->buf[i].p + layout_at(&b->layout, &b->sh, k) * bytes, 0xff,
                   (size_t)bytes);
    }
}

bool foreign_refuses(const struct caps *c, const struct trial *t, struct outcome *o)
{
    char why[sizeof o->detail];
    bool lie;

    if (!caps_refuse(c, t, why, sizeof why, &lie))
        return false;
    *o = (struct outcome){ .status = lie ? OUT_BUILD_FAILED : OUT_UNSUPPORTED };
    memcpy(o->detail, why, sizeof why);
    return true;
}
