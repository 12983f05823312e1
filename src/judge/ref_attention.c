/*
 * Attention of floats in ieee, a query at a time: scores, weights (judge/soft.h), then sums
 * of values. The error of a weight counts times the distance of its value from the result,
 * for what all weights share cancels (ORACLE.md 4.4). Scores and weights are of node.acc,
 * so that halves are rounded only at the end.
 */
#include <string.h>

#include "judge/soft.h"

/* One query's work, and what it reads. */
struct query {
    const struct node *x;
    const struct heads *h;
    struct acc acc;
    const struct val *q, *k, *v; /* of this head */
    const struct val *add;       /* the mask's row, or NULL */
    const uint32_t *see;
    const unsigned char *see_unsure;
    int64_t at; /* the number of the query */
    double blocks;
    double lost, reach; /* of a scale in q: by how much it is off, and how far it gets */

    struct val *score; /* [t]; -inf where hidden */
    char *hidden;      /* [t] */
    int64_t n_visible;
    struct soft soft;
    struct column *column; /* [e] */
};

/* What comes together in one element of the result. */
struct column {
    real o;
    double size, spread, off, most; /* sum p|v| and p r |v - o|; errors of v; largest |v| */
    int saw;                        /* kinds of visible values with a weight above 0 */
    bool open;                      /* a special value whose weight is or may be 0 */
};

static struct val score(const struct query *y, const struct val *k)
{
    const struct val *q = y->q, scale = val_exact(y->x->scale);
    int64_t d = y->h->d;
    struct sum sum = { 0 };
    double most = 0;
    struct val s;

    for (int64_t l = 0; l < d; l++) {
        real p = q[l].v * k[l].v;

        sum.s += p;
        sum.t += fabs((double)p);
        sum.e += (fabs((double)q[l].v) + q[l].e) * k[l].e + fabs((double)k[l].v) * q[l].e;
        most += fabs((double)k[l].v) + k[l].e;
    }
    /* one rounding more: the scale may have gone into q */
    s = sum_bound(&y->acc, sum, sum_gammas(UNIT, 2, (double)d), (double)d * TINY, false);
    if (s.e < 0)
        s = sum_dot_special(&y->acc, q, k, d, 1);
    if (!val_is_number(s))
        return special_binary(OP_MUL, s, scale);
    sum.t = (sum.t + sum.e) * fabs((double)scale.v);
    s = val_rounded(s.v * scale.v, s.e * fabs((double)scale.v), TINY);
    if (y->lost > 0)
        s.e += y->lost * most;
    return sum.t <= REAL_MAX / 2 && val_is_number(s) ? s : val_unjudged();
}

static struct val masked(struct val s, struct val mask)
{
    struct val z;

    if (!val_is_number(s) || !val_is_number(mask))
        return special_binary(OP_ADD, s, mask);
    z = val_rounded(s.v + mask.v, s.e + mask.e, 0);
    return val_is_number(z) ? z : val_unjudged();
}

/* What a scale that goes into q first makes of it below the normal range and above all. */
static void fold_scale(struct query *y)
{
    double scale = fabs(y->x->scale);

    y->lost = y->reach = 0;
    for (int64_t l = 0; l < y->h->d && scale != 1; l++) {
        double size = fabs((double)y->q[l].v) * scale, e = y->q[l].e * scale;

        if (!val_is_number(y->q[l]))
            continue;
        y->reach = fmax(y->reach, size + e);
        if (size + e > 0 && size - e < REAL_LEAST_NORMAL)
            y->lost = y->acc.tiny;
    }
}

/* Which keys the query sees, and their scores; false: it is not known which. */
static bool look(struct query *y)
{
    y->n_visible = 0;
    fold_scale(y);
    if (!(y->reach <= y->acc.most / 2))
        return false;
    for (int64_t j = 0; j < y->h->t; j++) {
        bool seen = ref_visible(y->x->mask, y->h, y->at, j);

        if (y->see_unsure && y->see_unsure[j])
            return false;
        if (y->see)
            seen = y->see[j];
        y->hidden[j] = !seen;
        y->score[j] = val_exact(-HUGE_VAL);
        if (!seen)
            continue;
        y->n_visible++;
        y->score[j] = score(y, y->k + j * y->h->d);
        if (y->add)
            y->score[j] = masked(y->score[j], y->add[j]);
    }
    return true;
}

static void add_value(struct column *c, struct val v, real p, double rel)
{
    double size = fabs((double)v.v);

    c->o += p * v.v;
    c->size += (double)p * (1 + rel) * size;
    c->off += (double)p * (1 + rel) * v.e;
    c->most = size + v.e > c->most ? size + v.e : c->most;
}

/* All columns' sums; values that are no numbers are only noted. */
static void gather_values(struct query *y)
{
    const struct heads *h = y->h;
    double sure = sqrt(REAL_LEAST_NORMAL); /* no rescaling on the way makes 0 of it */

    memset(y->column, 0, (size_t)h->e * sizeof *y->column);
    for (int64_t j = 0; j < h->t; j++)
        for (int64_t c = 0; c < h->e; c++) {
            struct val v = y->v[j * h->e + c];
            struct column *to = &y->column[c];
            double p = y->n_visible ? (double)y->soft.p[j] : 0;

            if (!val_is_number(v)) {
                to->open |= y->hidden[j] || !(p * (1 - y->soft.rel[j]) > sure);
                to->saw |= y->hidden[j] ? 0 : sum_kind(v);
            } else if (!y->hidden[j]) {
                add_value(to, v, y->soft.p[j], y->soft.rel[j]);
            }
        }
    for (int64_t j = 0; j < h->t; j++)
        for (int64_t c = 0; c < h->e && y->soft.p[j] > 0; c++) {
            struct column *to = &y->column[c];

            real v = y->v[j * h->e + c].v;
            double far = fabs((double)(v - to->o));

            if (y->soft.apart) /* above and below the line are two weights */
                far = fabs((double)v) + fabs((double)to->o);
            to->spread += (double)y->soft.p[j] * y->soft.rel[j] * far;
        }
}

static struct val attended(const struct query *y, const struct column *c)
{
    double n = (double)y->h->t, gamma = sum_gamma(UNIT, n + 2 * y->blocks + 2);
    double room = 1 - y->soft.mean - 2 * gamma, size = fabs((double)c->o), e;
    struct val z;

    if (c->open || c->saw & SAW_UNJUDGED)
        return val_unjudged();
    if (c->saw & SAW_NAN || (c->saw & SAW_PLUS && c->saw & SAW_MINUS))
        return val_exact(NAN);
    if (!(room > 0.25) || !(n * c->most <= y->acc.most / 2)) /* sums may overflow */
        return val_unjudged();
    if (c->saw)
        return val_exact(c->saw & SAW_PLUS ? HUGE_VAL : -HUGE_VAL);
    /* products and weights; their sums (see sum.h for the half), with a rescale or two for each
     * block; and the sum of weights */
    e = 4 * UNIT * c->size + gamma * ((c->size + size) / 2 + c->off + size);
    e = (c->spread + c->off + e) / room + 5 * UNIT * size;
    e += 4 * n * REAL_LEAST_NORMAL * (c->most + 1);
    z = (struct val){ c->o, e };
    return val_is_number(z) ? z : val_unjudged();
}

/* A query without a visible key, or with nothing but -inf: NaN, or 0 if that was asked for.
 * What hidden values that are no numbers make of 0 is open, and so is how -inf counts. */
static struct val nothing_seen(const struct query *y, const struct column *c)
{
    if (y->x->empty == EMPTY_NAN)
        return y->h->t ? val_exact(NAN) : val_unjudged();
    return y->n_visible || c->open ? val_unjudged() : val_exact(0);
}

static void attend(struct query *y, struct val *out)
{
    int kind = SAW_UNJUDGED;

    if (look(y))
        kind = soft_kind(y->score, y->h->t);
    memset(y->soft.p, 0, (size_t)y->h->t * sizeof *y->soft.p);
    memset(y->soft.rel, 0, (size_t)y->h->t * sizeof *y->soft.rel);
    if (!kind)
        soft_weigh(y->score, y->h->t, y->blocks, &y->soft);
    if (!kind || kind == SAW_MINUS)
        gather_values(y);
    for (int64_t c = 0; c < y->h->e; c++) {
        if (kind == SAW_UNJUDGED)
            out[c] = val_unjudged();
        else if (kind == SAW_NAN)
            out[c] = val_exact(NAN);
        else
            out[c] = kind ? nothing_seen(y, &y->column[c]) : attended(y, &y->column[c]);
    }
}

static struct query query_of(struct ref *r, int i, const struct heads *h)
{
    struct query y = { .x = &r->prog->node[i], .h = h };

    y.acc = ref_acc(r, REAL_DTYPE);
    y.soft.apart = r->apart;
    y.soft.loose = ref_loose(r);
    y.blocks = (double)ref_blocks(r, i, h->t);
    y.score = arena_array(r->arena, struct val, h->t);
    y.hidden = arena_array(r->arena, char, h->t);
    y.soft.p = arena_array(r->arena, real, h->t);
    y.soft.rel = arena_array(r->arena, double, h->t);
    y.column = arena_array(r->arena, struct column, h->e);
    return y;
}

void ref_bound_attention(struct ref *r, int i)
{
    const struct node *x = &r->prog->node[i];
    const struct want_node *q = &r->want->node[x->arg[0].node];
    const struct want_node *k = &r->want->node[x->arg[1].node];
    const struct want_node *v = &r->want->node[x->arg[2].node], *mask = NULL;
    struct want_node *w = &r->want->node[i];
    struct heads h = ref_heads(r, i);
    struct query y = query_of(r, i, &h);

    if (x->n_arg == 4)
        mask = &r->want->node[x->arg[3].node];
    w->ieee = arena_array(r->arena, struct val, w->n);
    for (int64_t n = 0; n < h.batches * h.hq * h.s && w->n; n++) {
        int64_t head = n / h.s, kv = head / h.hq * h.hk + head % h.hq / (h.hq / h.hk);
        int64_t row = (h.flat_mask ? n % h.s : n) * h.t;

        y.at = n % h.s;
        y.q = q->ieee + n * h.d;
        y.k = k->ieee + kv * h.t * h.d;
        y.v = v->ieee + kv * h.t * h.e;
        if (mask && x->mask == MASK_ADD)
            y.add = mask->ieee + row;
        if (mask && x->mask == MASK_BOOL) {
            y.see = mask->word + row;
            y.see_unsure = mask->unsure ? mask->unsure + row : NULL;
        }
        attend(&y, w->ieee + n * h.e);
    }
    ref_store(r, i);
    r->grade[i] = GRADE_BOUND;
}
