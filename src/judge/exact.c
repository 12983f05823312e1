/* exact_make: draws a set, has it evaluated, and counts what is proven. */
#include "judge/exact.h"

#include <string.h>

#include "base/bug.h"
#include "base/hash.h"
#include "ir/contract.h"
#include "judge/exact_pick.h"
#include "judge/interval.h"

const char *exact_name(int set)
{
    static const char *const name[EXACT_SETS] = { "exact0", "exact1", "exact2", "exact3" };

    return name[set];
}

static void draw(double *v, int64_t n, const struct alphabet *l, enum dtype dt, uint64_t key)
{
    uint64_t few = (uint64_t)l->n, most = (uint64_t)(l->most > 0 ? l->most : 1);

    for (int64_t k = 0; k < n; k++) {
        uint64_t h = exact_hash(key, k), x = h >> 20;

        if (dt == DT_BOOL)
            v[k] = (double)(h >> 63);
        else if (l->index)
            v[k] = (double)(x % most);
        else if (few)
            v[k] = l->v[x % few];
        else
            v[k] = (double)(int64_t)(x % most + 1) * (h & 1 ? 1 : -1);
    }
}

/* Every input gets a values line. */
static void draw_all(struct draft *d, struct trial *c, uint64_t seed)
{
    const struct alphabet *alpha = interval_choose(c, d->arena);

    c->n_values = 0;
    for (int i = 0; i < c->prog.n; i++) {
        const struct node *n = &c->prog.node[i];
        struct values *v;
        uint64_t key;

        if (n->op != OP_INPUT)
            continue;
        v = arena_push(d->arena, c->values, c->n_values, c->cap_values);
        *v = (struct values){ .node = i, .n = shape_count(&n->sh) };
        v->v = arena_array(d->arena, double, v->n + 1);
        key = hash64(n->name, strlen(n->name), seed);
        draw(v->v, v->n, &alpha[i], n->dt, key);
        d->v[i] = v->v;
    }
}

static void draft(struct trial *c, int set, struct arena *a)
{
    struct draft d = { .prog = &c->prog, .arena = a, .set = set };
    bool *live = arena_array(a, bool, c->prog.n);

    d.base = exact_mix(c->seed ^ 0x2545f491);
    d.key = exact_mix(c->seed * EXACT_SETS + (uint64_t)set + 0x2545f491);
    prog_live(&c->prog, live);
    d.live = live;
    d.v = arena_array(a, double *, c->prog.n);
    d.paths = (struct exacts){ .t = c, .prog = &c->prog, .arena = a };
    d.paths.node = arena_array(a, struct xnode, c->prog.n);
    c->recipe = RECIPE_EXACT;
    draw_all(&d, c, d.key);
    exact_pick(&d);
}

/* Some ulps of the largest number nearby: far less than one key or term more or less makes. */
static bool is_near(struct xval v, double top, const struct xfloat *f)
{
    return v.e <= (f->bits < 24 ? 8 * f->u : 0x1p-10) * top + 2 * f->eta;
}

static double largest(const struct xnode *r)
{
    double top = 0;

    for (int64_t k = 0; k < r->n; k++)
        if (r->p[k].e >= 0 && isfinite(r->p[k].v))
            top = fmax(top, fabs(r->p[k].v));
    return top;
}

/* Is at least half of an output judged? */
static bool count(struct exact *x, const struct xnode *r, const struct node *n)
{
    enum dtype dt = dtype_info(n->dt)->class == DTC_FLOAT ? n->dt : DT_F32;
    double top = largest(r);
    int64_t open = 0;

    for (int64_t k = 0; k < r->n; k++) {
        bool exact = r->p[k].e == 0;
        bool near = r->p[k].e > 0 && is_near(r->p[k], top, xfloat(dt));

        x->n_exact += exact;
        x->n_near += near;
        open += !exact && !near;
    }
    x->n_open += open;
    return r->n > 0 && 2 * open <= r->n;
}

static void hand_over(const struct xnode *r, const struct node *n, struct want_node *w,
                      struct arena *a)
{
    bool number = dtype_info(n->dt)->class == DTC_FLOAT;
    double top = largest(r);

    w->n = r->n;
    if (number)
        w->ieee = arena_array(a, struct val, r->n + 1);
    else
        w->word = arena_array(a, uint32_t, r->n + 1);
    for (int64_t k = 0; k < r->n; k++) {
        struct xval v = r->p[k];
        bool open = v.e < 0 || (v.e > 0 && !is_near(v, top, xfloat(number ? n->dt : DT_F32)));

        if (number) {
            w->ieee[k].v = open ? (double)NAN : v.v;
            w->ieee[k].e = open ? -1 : v.e;
            if (!open && v.e == 0 && isfinite(v.v) && exact_round(n->dt, v.v) != v.v)
                BUG("%s can't hold %a, which is proven exact", n->name, v.v);
            continue;
        }
        w->word[k] = open ? 0 : (uint32_t)(int64_t)v.v;
        if (open && !w->unsure)
            w->unsure = arena_array(a, unsigned char, r->n);
        if (open)
            w->unsure[k] = 1;
    }
}

struct exact *exact_make(const struct trial *t, int set, struct arena *a, const char **why)
{
    struct exact *x = arena_new(a, struct exact);
    struct exacts *e;
    bool any = false;

    *x = (struct exact){ .t = trial_clone(t, a), .set = set };
    draft(x->t, set, a);
    e = exact_eval(x->t, a);
    x->by_function = e->by_function;
    x->subnormal = e->subnormal;
    x->unfolded = e->unfolded;
    x->running = e->running;
    x->by_inverse = e->by_inverse;
    for (int k = 0; k < t->prog.n_out; k++)
        any |= count(x, &e->node[t->prog.out[k].node], &t->prog.node[t->prog.out[k].node]);
    *why = NULL;
    if (!any) {
        *why = "some op on the way to each output rounds whatever it is given";
        return NULL;
    }
    x->want = arena_new(a, struct want);
    x->want->trial = x->t;
    x->want->algebra = AL_IEEE;
    x->want->node = arena_array(a, struct want_node, t->prog.n);
    for (int i = 0; i < t->prog.n; i++)
        if (e->node[i].p)
            hand_over(&e->node[i], &t->prog.node[i], &x->want->node[i], a);
    return x;
}

bool exact_holds(const struct exact *x, unsigned contract, struct arena *a)
{
    const unsigned within =
        CONTRACT_MAY_CONTRACT | CONTRACT_MAY_FLUSH | CONTRACT_MAY_RESCALE | CONTRACT_MAY_VARY;

    if (x->unfolded || x->running ||
        (x->by_function && (contract & (CONTRACT_OPEN_FUNCTIONS | CONTRACT_MAY_APPROXIMATE))) ||
        (x->by_inverse && (contract & CONTRACT_MAY_RECIPROCAL)) ||
        (x->subnormal && (contract & CONTRACT_MAY_FLUSH)))
        return false;
    return !(contract & ~within) || judge_want_by(x->t, contract, a)->opened == 0;
}
