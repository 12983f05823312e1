/*
 * fuse: "fuse P C" computes P inside the kernel of C instead of reading P's buffer.
 * needs: kernels as build made them (whole axes, uncomposed accesses).
 * keeps: what every buffer holds; P is still stored if anybody else reads it.
 * gives: fewer kernels. Without a reduction in P the value of P is put in place of each
 * read, view stacks concatenated (fuse_inline.c); with one, P's accumulator and reduction
 * loops are nested in the loops of C that P's axes are read along (fuse_reduce.c).
 */
#include "lower/fuse.h"
#include "lower/passes.h"

#include "base/bug.h"

struct reads {
    struct lprog *l;
    int buffer, n, cap;
    int *access;
};

static void collect(void *ctx, int access)
{
    struct reads *r = ctx;
    const struct access *a = &r->l->access[access];

    if (a->src == SRC_BUFFER && a->buffer == r->buffer)
        *arena_push(r->l->arena, r->access, r->n, r->cap) = access;
}

int fuse_reads(struct lprog *l, const struct kernel *k, int buffer, int **access)
{
    struct reads r = { .l = l, .buffer = buffer };

    for (int i = 0; i < k->n; i++)
        stmt_loads(l, &k->st[i], collect, &r);
    *access = r.access;
    return r.n;
}

int fuse_store(const struct kernel *k)
{
    for (int i = 0; i < k->n; i++)
        if (k->st[i].kind == ST_STORE)
            return i;
    BUG("kernel %s stores nothing", k->name);
}

int fuse_replace(struct lprog *l, int val, const struct fuse *f)
{
    struct value v = l->value[val];
    bool changed = false;

    if (v.kind == V_LOAD) {
        struct access a = l->access[v.arg[0]];

        if (a.src == SRC_BUFFER && a.buffer == f->buffer)
            return f->value_of(l, f, v.arg[0]);
        if (a.src == SRC_BODY) {
            int body = fuse_replace(l, a.body, f);

            if (body != a.body) {
                a.body = body;
                v.arg[0] = lprog_access(l, a);
                changed = true;
            }
        }
    }
    for (int i = 0; i < 3 && v.kind == V_OP; i++) {
        int arg = v.arg[i] >= 0 ? fuse_replace(l, v.arg[i], f) : -1;

        changed |= arg != v.arg[i];
        v.arg[i] = arg;
    }
    return changed ? lprog_value(l, v) : val;
}

/* P is not stored any more if only the fused kernel read it. */
static void drop_producer(struct lprog *l, int p)
{
    int buffer = l->node_buffer[l->kernel[p].node];

    if (l->buffer[buffer].kind != BUF_TEMP)
        return;
    for (int i = 0; i < l->n_kernel; i++)
        if (!l->kernel[i].dead && i != p && kernel_reads(l, &l->kernel[i], buffer))
            return;
    l->kernel[p].dead = true;
    l->buffer[buffer].elems = 0;
}

static int below_views(const struct prog *p, int node)
{
    while (node >= 0 && op_is_view(p->node[node].op))
        node = p->node[node].arg[0].node;
    return node;
}

/*
 * A maximum is compared with what it was taken over (argmax): if P were computed once more
 * inside the maximum, in another order of summation, nothing might equal it.
 */
static bool compared(const struct prog *pr, int p, int c)
{
    for (int i = 0; i < pr->n; i++) {
        const struct node *n = &pr->node[i];
        int a, b;

        if (n->op != OP_EQ)
            continue;
        a = below_views(pr, n->arg[0].node);
        b = below_views(pr, n->arg[1].node);
        if ((a == p && b == c) || (a == c && b == p))
            return true;
    }
    return false;
}

static int fuse_step(struct lprog *l, int step, struct err *e)
{
    const struct step *st = &l->trial->step[step];
    const struct prog *pr = l->prog;
    struct fuse f = { .p = node_kernel(l, st->node[0]), .c = node_kernel(l, st->node[1]) };
    const char *pn = pr->node[st->node[0]].name, *cn = pr->node[st->node[1]].name;
    bool reduces = false;
    int err;

    if (pr->node[st->node[0]].op == OP_ATTENTION || pr->node[st->node[1]].op == OP_ATTENTION)
        return step_error(st, e, "an attention computed by flash is a kernel of its own");
    if (f.p < 0 || l->node_buffer[st->node[0]] < 0)
        return step_error(st, e, "%s has no kernel of its own", pn);
    if (f.c < 0)
        return step_error(st, e, "%s has no kernel of its own", cn);
    f.buffer = l->node_buffer[st->node[0]];
    f.n_read = fuse_reads(l, &l->kernel[f.c], f.buffer, &f.read);
    if (f.n_read == 0 || f.p == f.c)
        return step_error(st, e, "the kernel of %s does not read %s", cn, pn);
    if (compared(pr, st->node[0], st->node[1]))
        return step_error(st, e, "%s is compared with %s: both must come from one computation",
                          pn, cn);
    for (int i = 0; i < l->kernel[f.p].n; i++)
        reduces |= l->kernel[f.p].st[i].kind == ST_DECL;
    err = reduces ? fuse_reduce(l, &f, step, e) : fuse_inline(l, &f, step, e);
    if (err || l->stopped)
        return err;
    if (l->n_value > 20000)
        return step_error(st, e, "the fused expression grows too large");
    drop_producer(l, f.p);
    return 0;
}

int pass_fuse(struct lprog *l, struct err *e)
{
    return steps_each(l, STEP_FUSE, fuse_step, e);
}
