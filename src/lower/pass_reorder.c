/*
 * reorder: "reorder NODE AX.." puts the loops of NODE's kernel into the order given.
 * needs: composed accesses. keeps: every iteration is run once. gives:
 *   reorder.swap         the axes stand in one perfect nest (IFs sink to its inside);
 *   reorder.interchange  all loops of a kernel with one reduction: loops of the result that
 *                        come behind the first reduction loop turn the accumulator into an
 *                        array, and are run again for the store.
 */

#include "lower/nest.h"
#include "lower/passes.h"

enum { MAX_NEST = 64, MAX_ACC = 16384 };

struct order {
    int var[MAX_STEP_AXES];
    int n;
};

static int position(const struct order *o, int var)
{
    for (int i = 0; i < o->n; i++)
        if (o->var[i] == var)
            return i;
    return -1;
}

/* The axes by name; every one must be a loop of the kernel, none twice. */
static int order_find(struct lprog *l, const struct step *st, int kernel, struct order *o,
                      struct err *e)
{
    o->n = 0;
    for (int i = 0; i < st->n_axis; i++) {
        char name[MAX_LABEL];
        int var;

        if (!axis_name(l, st, &st->axis[i], name, e))
            return e->code;
        var = kernel_axis(l, kernel, name);
        if (var < 0)
            return step_error(st, e, "the kernel of %s has no loop %s", l->kernel[kernel].name,
                              name);
        if (position(o, var) >= 0)
            return step_error(st, e, "%s is named twice", name);
        o->var[o->n++] = var;
    }
    return 0;
}

/* A perfect nest of LOOPs and IFs from..to-1 that holds all the axes. */
static bool perfect_nest(const struct kernel *k, const struct order *o, int *from, int *to)
{
    int hits = 0, i = 0;

    while (i < k->n && !(k->st[i].kind == ST_LOOP && position(o, k->st[i].var) >= 0))
        i++;
    *from = i;
    for (; i < k->n && (k->st[i].kind == ST_LOOP || k->st[i].kind == ST_IF); i++) {
        hits += k->st[i].kind == ST_LOOP && position(o, k->st[i].var) >= 0;
        if (hits == o->n) {
            /* each axis has one loop here only: in an interchanged kernel it has two */
            for (int j = i + 1; j < k->n; j++)
                if (k->st[j].kind == ST_LOOP && position(o, k->st[j].var) >= 0)
                    return false;
            *to = i + 1;
            /* an IF right behind belongs to a loop of the nest: it may sink with it */
            return true;
        }
    }
    return false;
}

static void swap(struct lprog *l, struct kernel *k, const struct order *o, int from, int to)
{
    struct kernel list = list_new(k);
    int next = 0, end = to;

    while (end < k->n && k->st[end].kind == ST_IF)
        end++;
    for (int i = 0; i < from; i++)
        kernel_push(l, &list, k->st[i]);
    for (int i = from; i < end; i++) {
        struct stmt s = k->st[i];

        if (s.kind == ST_IF)
            continue;
        if (position(o, s.var) >= 0)
            s.var = o->var[next++];
        kernel_push(l, &list, s);
    }
    for (int i = from; i < end; i++)
        if (k->st[i].kind == ST_IF)
            kernel_push(l, &list, k->st[i]);
    for (int i = end; i < k->n; i++)
        kernel_push(l, &list, k->st[i]);
    list_take(k, &list);
}

/* The kernel as outer loops | DECL | loops UPDATE | loops STORE, loops and IFs only between. */
struct nest {
    struct reduction r;
    int guard[MAX_NEST], n_guard; /* conditions of all IFs */
    int n_loop;                   /* different loop variables */
};

static bool nest_find(const struct lprog *l, const struct kernel *k, struct nest *n)
{
    bool *seen = arena_array(l->arena, bool, l->n_var);

    n->n_guard = n->n_loop = 0;
    if (!kernel_reduction(k, &n->r) || n->r.update < n->r.decl || n->r.store < n->r.update)
        return false;
    for (int i = 0; i < k->n; i++) {
        if (k->st[i].kind == ST_LOOP) {
            /* the array that an earlier interchange made is not taken apart again */
            if (seen[k->st[i].var])
                return false;
            seen[k->st[i].var] = true;
            n->n_loop++;
        } else if (k->st[i].kind == ST_IF) {
            if (n->n_guard == MAX_NEST)
                return false;
            n->guard[n->n_guard++] = k->st[i].cond;
        }
    }
    return true;
}

static bool uses_reduce(const struct lprog *l, int cond)
{
    for (int v = 0; v < l->n_var; v++)
        if (l->var[v].reduce && ix_uses(&l->ix, cond, v))
            return true;
    return false;
}

/* All guards that make sense inside the loops of one of the two nests. */
static int push_guards(struct lprog *l, struct kernel *list, const struct nest *n, bool reduce)
{
    int pushed = 0;

    for (int i = 0; i < n->n_guard; i++) {
        if (!reduce && uses_reduce(l, n->guard[i]))
            continue;
        push_if(l, list, n->guard[i]);
        pushed++;
    }
    return pushed;
}

static void interchange(struct lprog *l, struct kernel *k, const struct order *o,
                        const struct nest *n, int first_red, int64_t elems)
{
    struct kernel list = list_new(k);
    struct stmt decl = k->st[n->r.decl], up = k->st[n->r.update], st = k->st[n->r.store];
    int at = ix_const(&l->ix, 0), depth = 0;

    for (int i = first_red; i < o->n; i++)
        if (!l->var[o->var[i]].reduce)
            at = ix_add(&l->ix, ix_scale(&l->ix, at, l->var[o->var[i]].extent),
                        ix_var(&l->ix, o->var[i]));
    l->acc[up.acc].elems = elems > 0 ? elems : 1; /* an empty nest still declares it */
    up.acc_at = elems > 1 ? at : -1;
    for (int i = 0; i < first_red; i++)
        push_loop(l, &list, o->var[i], LOOP_SERIAL);
    kernel_push(l, &list, decl);
    for (int i = first_red; i < o->n; i++)
        push_loop(l, &list, o->var[i], LOOP_SERIAL);
    depth = push_guards(l, &list, n, true);
    kernel_push(l, &list, up);
    push_end(l, &list, depth + o->n - first_red);
    depth = 0;
    for (int i = first_red; i < o->n; i++)
        if (!l->var[o->var[i]].reduce) {
            push_loop(l, &list, o->var[i], LOOP_SERIAL);
            depth++;
        }
    depth += push_guards(l, &list, n, false);
    st.val = acc_replace(l, st.val, up.acc, lprog_acc_load(l, up.acc, up.acc_at));
    kernel_push(l, &list, st);
    push_end(l, &list, depth + first_red);
    list_take(k, &list);
}

static int reorder_step(struct lprog *l, int step, struct err *e)
{
    const struct step *st = &l->trial->step[step];
    int kernel = node_kernel(l, st->node[0]), from, to, first_red = 0;
    struct kernel *k;
    struct order o;
    struct nest n;
    int64_t elems = 1;

    if (kernel < 0)
        return step_error(st, e, "%s has no kernel of its own",
                          l->prog->node[st->node[0]].name);
    k = &l->kernel[kernel];
    if (order_find(l, st, kernel, &o, e))
        return e->code;
    if (perfect_nest(k, &o, &from, &to)) {
        if (lprog_rewrite(l, "reorder.swap", step, kernel))
            swap(l, k, &o, from, to);
        return 0;
    }
    if (!nest_find(l, k, &n))
        return step_error(st, e, "these loops of %s stand in no perfect nest", k->name);
    if (o.n != n.n_loop)
        return step_error(st, e,
                          "moving loops across the reduction of %s takes all its loops (%d)",
                          k->name, n.n_loop);
    while (first_red < o.n && !l->var[o.var[first_red]].reduce)
        first_red++;
    for (int i = first_red; i < o.n; i++)
        if (!l->var[o.var[i]].reduce)
            elems *= l->var[o.var[i]].extent;
    if (elems > MAX_ACC)
        return step_error(st, e, "an accumulator of %lld elements; at most %d are allowed",
                          (long long)elems, MAX_ACC);
    if (lprog_rewrite(l, "reorder.interchange", step, kernel))
        interchange(l, k, &o, &n, first_red, elems);
    return 0;
}

int pass_reorder(struct lprog *l, struct err *e)
{
    return steps_each(l, STEP_REORDER, reorder_step, e);
}
