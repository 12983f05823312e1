/*
 * What softmax and attention are fed with. Set 0: all weights equal, so that every key
 * counts. Later ones: each query selects, by a code, one key, or every other key; what it does
 * in set 1 is the other one in set 2. Keys that aren't selected score so low that their weight
 * is 0. A query that is itself the result of an attention is served by writing codes into
 * that attention's values.
 *
 * Codes are rows of signs. Of two kinds: with one dimension to spare a query's code carries
 * its own sum with the other sign, so that the score of the key that answers is exactly 0;
 * else, and where queries and keys are one tensor, it is a power of two.
 */
#include "judge/exact_pick.h"

struct codes {
    bool same;     /* queries and keys have one code */
    int64_t signs; /* dimensions in use for it */
    double amp;    /* of a query; of a key too if they are the same */
    bool ok;
};

static uint64_t bits_of(const struct draft *d, const struct codes *c, int64_t group, int64_t j)
{
    uint64_t h = exact_hash(d->key ^ 0x51ed, group);
    int bits = c->signs < 30 ? (int)c->signs : 30;

    h = ((uint64_t)j * (h >> 40 | 1) + h) & ((UINT64_C(1) << bits) - 1);
    return h;
}

/* Dimension c of the code of key j. */
static double key_code(const struct draft *d, const struct codes *k, int64_t group, int64_t j,
                       int64_t c)
{
    uint64_t bits = bits_of(d, k, group, j);
    double sign;

    if (c >= k->signs)
        return k->same ? 0 : 1;
    sign = (c < 30 ? bits >> c : exact_hash(bits, c)) & 1 ? 1 : -1;
    return k->same ? sign * k->amp : sign;
}

/* Does row r select one key; or else all whose code has the same first sign, which are every
 * other one? */
static bool selects_one(const struct draft *d, int64_t r)
{
    return (exact_hash(d->base, d->set < 3 ? r : ~r) >> 60 & 1) == (d->set & 1);
}

static double query_code(const struct draft *d, const struct scores *s, const struct codes *k,
                         int64_t group, int64_t j, int64_t c, bool one)
{
    double sign = s->scale < 0 ? -1 : 1;

    if (!k->same && !one) {
        if (c == 0)
            return key_code(d, k, group, j, c) * k->amp * sign;
        return c == k->signs ? -k->amp * sign : 0;
    }

    if (k->same)
        return key_code(d, k, group, j, c) * sign;
    if (c < k->signs)
        return key_code(d, k, group, j, c) * k->amp * sign;
    return c == k->signs ? -k->amp * (double)k->signs * sign : 0;
}

static struct codes codes_for(const struct scores *s, bool same)
{
    struct codes c = { .same = same };
    double gap = 2 * fabs(s->scale), need = s->cut;

    c.signs = s->n_c - 1;
    c.amp = 1;
    if (same) {
        for (c.signs = 1; c.signs * 2 <= s->n_c;)
            c.signs *= 2;
        while (c.amp * c.amp * gap < need)
            c.amp *= 2;
    } else {
        while (c.amp * gap < need)
            c.amp *= 2;
    }
    c.ok = c.signs > 0 && c.amp <= 0x1p20 &&
           (c.signs >= 30 || (INT64_C(1) << c.signs) >= s->n_key);
    return c;
}

/* Writes element `at` of a trace's start. */
static void put(struct draft *d, const struct trace *t, int64_t at, double v)
{
    if (at < 0 || t->at[at] < 0 || !d->v[t->node])
        return;
    v /= t->scale;
    if (exact_round(d->prog->node[t->node].dt, v) == v)
        d->v[t->node][t->at[at]] = v;
}

static bool from_input(const struct draft *d, const struct trace *t)
{
    return d->prog->node[t->node].op == OP_INPUT;
}

/* The key that row r is to select. */
static int64_t target(const struct draft *d, const struct scores *s, int64_t r)
{
    int64_t i = r % s->last, most = s->n_key;
    bool masked = s->hidden || s->mask.node >= 0;

    if (s->hidden && i + s->shift >= 0 && i + s->shift + 1 < most)
        most = i + s->shift + 1;
    return (int64_t)(exact_hash(d->key ^ 0x7a, masked ? i : r) >> 20) % most;
}

static void masks(struct draft *d, const struct scores *s)
{
    double *v = s->mask.node >= 0 ? d->v[s->mask.node] : NULL;

    for (int pass = 0; v && pass < 2; pass++) {
        for (int64_t r = 0; r < s->n_row; r++) {
            for (int64_t j = 0; j < s->n_key; j++) {
                int64_t e = s->row ? s->row[r] + s->key[j] : r * s->n_key + j;
                int64_t at = s->mask.at[e];
                bool seen = exact_hash(d->key ^ 0x3a, at) >> 62 != 0;

                if (at < 0 || (pass && j != target(d, s, r)))
                    continue;
                if (pass)
                    seen = true;
                v[at] = s->mask.added ? (seen ? 0 : -1024) : seen;
            }
        }
    }
}

/* Row r's keys are a group of their own, unless they are another's too. */
static int64_t group_of(const struct draft *d, const struct scores *s, int64_t r)
{
    int64_t q, k;

    exact_term(d, s, r, 0, 0, &q, &k);
    return k < 0 ? -1 : s->k.at[k];
}

/* The result of an attention that site s has its queries from: writes its values, so that
 * whatever is selected there is a code here. */
static bool chain(struct draft *d, const struct scores *s, const struct codes *c)
{
    const struct node *n = &d->prog->node[s->q.node];
    int arg = n->op == OP_ATTENTION ? 2 : 1;
    const struct shape *vs;
    int64_t e = n->sh.dim[n->sh.rank - 1], t, hq = 1, hk = 1, rows;
    struct trace v;

    if ((n->op != OP_MATMUL && n->op != OP_ATTENTION) || n->scaled ||
        (n->op == OP_MATMUL && n->n_arg == 3))
        return false;
    v = exact_trace(d, n->arg[arg].node);
    vs = &d->prog->node[n->arg[arg].node].sh;
    if (!from_input(d, &v))
        return false;
    t = vs->dim[vs->rank - 2];
    rows = n->sh.dim[n->sh.rank - 2];
    if (n->op == OP_ATTENTION) {
        hq = n->sh.dim[n->sh.rank - 3];
        hk = vs->dim[vs->rank - 3];
    }
    for (int64_t r = 0; r < s->n_row; r++) {
        int64_t group = group_of(d, s, r), q, k, head;

        for (int64_t x = 0; x < s->n_c; x++) {
            exact_term(d, s, r, 0, x, &q, &k);
            if (q < 0 || s->q.at[q] < 0)
                continue;
            head = s->q.at[q] / e / rows;
            head = head / hq * hk + head % hq / (hq / hk);
            for (int64_t j = 0; j < t; j++) {
                int64_t to = (int64_t)(exact_hash(d->key ^ 0x99, j) >> 20) % s->n_key;
                double y = query_code(d, s, c, group, to, x, true) / s->q.scale;

                put(d, &v, (head * t + j) * e + s->q.at[q] % e, y);
            }
        }
    }
    return true;
}

static bool shared(const struct scores *s)
{
    return s->q.node == s->k.node;
}

static void keys(struct draft *d, const struct scores *s, const struct codes *c, bool zero)
{
    for (int64_t r = 0; r < s->n_row; r++) {
        int64_t group = group_of(d, s, r), q, k;

        if (r && group == group_of(d, s, r - 1))
            continue;
        for (int64_t j = 0; j < s->n_key; j++) {
            for (int64_t x = 0; x < s->n_c; x++) {
                exact_term(d, s, r, j, x, &q, &k);
                put(d, &s->k, k, zero ? 0 : key_code(d, c, group, j, x));
            }
        }
    }
}

static void queries(struct draft *d, const struct scores *s, const struct codes *c, bool zero)
{
    for (int64_t r = 0; r < s->n_row; r++) {
        int64_t group = group_of(d, s, r), to = target(d, s, r), q, k;
        bool one = selects_one(d, r);

        for (int64_t x = 0; x < s->n_c; x++) {
            exact_term(d, s, r, 0, x, &q, &k);
            put(d, &s->q, q, zero ? 0 : query_code(d, s, c, group, to, x, one));
        }
    }
}

/* All scores 0: queries of 0, or keys where these can't be chosen. */
static bool uniform(struct draft *d, const struct scores *s)
{
    struct codes c = { .signs = s->n_c, .amp = 1 };

    masks(d, s);
    if (from_input(d, &s->q)) {
        if (from_input(d, &s->k))
            keys(d, s, &c, false);
        queries(d, s, &c, true);
        return true;
    }
    if (!from_input(d, &s->k))
        return false;
    keys(d, s, &c, true);
    return true;
}

static bool select_keys(struct draft *d, const struct scores *s, bool same)
{
    struct codes c = codes_for(s, same);

    if (!c.ok || !from_input(d, &s->k) || !is_pow2(s->k.scale) || !is_pow2(s->q.scale))
        return false;
    masks(d, s);
    keys(d, s, &c, false);
    if (!from_input(d, &s->q))
        return chain(d, s, &c);
    if (!shared(s))
        queries(d, s, &c, false);
    return true;
}

/* Logits that are an input: some of each row are the largest, the rest are far below. */
static bool values(struct draft *d, const struct scores *s)
{
    double low = -1024;
    double *v = d->v[s->node];

    while (fabs(low * s->scale) < s->cut)
        low *= 2;
    if (s->scale < 0)
        low = -low;
    if (exact_round(d->prog->node[s->node].dt, low) != low)
        return false;
    masks(d, s);
    for (int64_t r = 0; r < s->n_row; r++) {
        uint64_t h = exact_hash(d->key ^ 0xe4, r);
        /* a block of an online algorithm may have none of the largest: late ones */
        int64_t from = selects_one(d, r) ? (int64_t)(h >> 20) % s->n_key : 0;

        for (int64_t j = 0; j < s->n_key; j++) {
            int64_t at = s->pos[s->row[r] + s->key[j]];
            bool top = d->set == 3 ? exact_hash(h, j) >> 63 : ((uint64_t)j ^ h) & 1;

            if (at >= 0)
                v[at] = d->set == 0 || (j >= from && top) ? 0 : low;
        }
    }
    return true;
}

int exact_pick(struct draft *d)
{
    struct scores *site = arena_array(d->arena, struct scores, d->prog->n + 1);
    bool chained = false, same = false;
    int n = 0, served = 0;

    for (int i = 0; i < d->prog->n; i++) {
        enum op op = d->prog->node[i].op;

        if (!d->live[i] || (op != OP_EXP && op != OP_EXP2 && op != OP_SOFTMAX &&
                            op != OP_LOGSOFTMAX && op != OP_ATTENTION))
            continue;
        if (!exact_site(d, i, &site[n]))
            continue;
        if (site[n].form != LOGITS_VALUES) {
            chained |= !from_input(d, &site[n].q);
            same |= shared(&site[n]);
        }
        n++;
    }
    for (int k = 0; k < n; k++) {
        struct scores *s = &site[k];
        bool done = false;

        if (s->form == LOGITS_VALUES)
            done = values(d, s);
        else if (d->set == 0 && !chained && !same)
            done = uniform(d, s);
        else
            done = select_keys(d, s, same) || (!same && uniform(d, s));
        served += done;
    }
    return served;
}
