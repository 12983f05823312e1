/*
 * judge_compare: the outputs of one run against what was wanted, and what surrounds them.
 * A broken margin or gap decides over a wrong element: it explains it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "ir/data.h"
#include "judge/element.h"
#include "judge/walk.h"

struct val judge_value(const struct want_node *w, int64_t k)
{
    return w->wide ? (struct val){ (double)w->wide[k].v, w->wide[k].e } : w->ieee[k];
}

bool judge_right(const struct want *w, int node, int64_t k, const void *got)
{
    const struct judge_opts bound = { 0 };
    const struct rule r = rule_of(w, node, &bound);

    return judge_element(&r, k, got) != IS_WRONG;
}

/* A stored element as a number, as a verdict shows it. */
static double as_number(const struct want *w, int node, const unsigned char *got)
{
    enum dtype dt = w->trial->prog.node[node].dt;
    uint64_t word = 0;

    if (w->algebra == AL_IEEE && dtype_info(dt)->class == DTC_FLOAT)
        return grid_load(dt, got);
    memcpy(&word, got, (size_t)dtype_info(dt)->bytes); /* little-endian */
    return dt == DT_I32 ? (double)(int32_t)word : (double)word;
}

static void first_wrong(struct verdict *v, const struct want *w, int out, const struct rule *r,
                        int64_t k, const unsigned char *got)
{
    int node = w->trial->prog.out[out].node;
    const struct node *x = &w->trial->prog.node[node];
    int64_t rest = k;

    v->out = out;
    for (int a = x->sh.rank - 1; a >= 0; a--) {
        v->at[a] = rest % x->sh.dim[a];
        rest /= x->sh.dim[a];
    }
    v->got = as_number(w, node, got);
    if (r->w->ieee || r->w->wide) {
        struct val want = judge_value(r->w, k);

        v->want = want.v = r->rounded ? grid_round(r->dt, want.v) : want.v;
        v->bound = rule_bound(r, want);
    } else {
        v->want = x->dt == DT_I32 ? (double)(int32_t)r->w->word[k] : (double)r->w->word[k];
    }
}

static void compare_output(const struct want *w, int out, const unsigned char *storage,
                           const struct judge_opts *jo, struct verdict *v)
{
    const struct output *o = &w->trial->prog.out[out];
    const struct shape *sh = &w->trial->prog.node[o->node].sh;
    struct rule r = rule_of(w, o->node, jo);
    struct layout l = layout_of(&o->layout, sh);
    struct walk walk = walk_begin(sh, l.stride, l.offset);

    if (judge_needs_twin(jo))
        r.atol = judge_twin_limit(w, out, jo);
    for (int64_t k = 0; walk.rows > 0; walk_next(&walk)) {
        const unsigned char *row = storage + walk.at * r.bytes;

        for (int64_t i = 0; i < walk.inner; i++, k++) {
            const unsigned char *got = row + i * walk.inner_step * r.bytes;
            enum judged is = judge_element(&r, k, got);

            v->n_judged += is != NOT_JUDGED;
            v->n_unsure += is == NOT_JUDGED;
            if (is == IS_WRONG && v->n_wrong++ == 0)
                first_wrong(v, w, out, &r, k, got);
        }
    }
}

/* Elements of a laid-out output's storage that belong to no element must still be poison.
 * Returns the first that is not, or -1. */
static int64_t broken_gap(const struct want *w, int out, const unsigned char *storage)
{
    const struct output *o = &w->trial->prog.out[out];
    const struct node *x = &w->trial->prog.node[o->node];
    struct layout l = layout_of(&o->layout, &x->sh);
    int64_t n = layout_storage(&l, &x->sh), bytes = dtype_info(x->dt)->bytes, at = -1;
    struct walk walk = walk_begin(&x->sh, l.stride, l.offset);
    char *taken;

    if (n == shape_count(&x->sh))
        return -1;
    taken = calloc((size_t)(n * bytes), 1);
    if (!taken)
        BUG("no memory for %lld marks", (long long)n);
    for (; walk.rows > 0; walk_next(&walk))
        for (int64_t i = 0; i < walk.inner; i++)
            memset(taken + (walk.at + i * walk.inner_step) * bytes, 1, (size_t)bytes);
    for (int64_t k = 0; at < 0 && k < n * bytes; k++)
        if (!taken[k] && storage[k] != POISON_BYTE)
            at = k / bytes;
    free(taken);
    return at;
}

static const char *output_name(const struct want *w, int out)
{
    return w->trial->prog.node[w->trial->prog.out[out].node].name;
}

static void compare_run(const struct want *w, const struct outcome *o,
                        const struct judge_opts *jo, struct verdict *v)
{
    for (int i = 0; i < w->trial->prog.n_out; i++)
        compare_output(w, i, o->out[i], jo, v);
    v->kind = v->n_wrong ? VK_MISMATCH : VK_PASS;
    if (o->input_changed) {
        v->kind = VK_MISMATCH;
        snprintf(v->detail, sizeof v->detail, "input %s was written", o->where);
    }
    for (int i = 0; i < w->trial->prog.n_out; i++) {
        int64_t gap = broken_gap(w, i, o->out[i]);

        if (gap < 0)
            continue;
        v->kind = VK_OUT_OF_BOUNDS;
        snprintf(v->detail, sizeof v->detail,
                 "storage element %lld of output %s lies in a gap and was written",
                 (long long)gap, output_name(w, i));
        break;
    }
    if (o->margin_broken) {
        v->kind = VK_OUT_OF_BOUNDS;
        snprintf(v->detail, sizeof v->detail, "bytes outside buffer %s were written", o->where);
    }
}

void judge_compare(const struct want *w, const struct outcome *o, const struct judge_opts *jo,
                   struct verdict *v)
{
    static const enum verdict_kind kind[] = {
        [OUT_UNSUPPORTED] = VK_UNSUPPORTED,
        [OUT_BUILD_FAILED] = VK_BUILD_FAILED,
        [OUT_OUT_OF_BOUNDS] = VK_OUT_OF_BOUNDS,
        [OUT_HANG] = VK_HANG,
        [OUT_CRASH] = VK_CRASH,
        [OUT_MALFORMED] = VK_MISMATCH,
        [OUT_RACE] = VK_RACE,
        [OUT_UNINIT] = VK_UNINITIALISED,
        [OUT_STALE] = VK_STALE_ALIAS,
        [OUT_DIVERGENCE] = VK_DIVERGENCE,
        [OUT_DEADLOCK] = VK_DEADLOCK,
    };
    const char *backend = v->backend;

    *v = (struct verdict){ .backend = backend, .algebra = o->algebra, .out = -1, .tier = "" };
    memcpy(v->ran, o->ran, sizeof v->ran);
    if (o->status != OUT_RAN) {
        v->kind = kind[o->status];
        v->site = o->site;
        v->other = o->other;
        memcpy(v->rule, o->rule, sizeof v->rule);
        snprintf(v->detail, sizeof v->detail, "%s", o->detail);
        return;
    }
    if (o->algebra != w->algebra)
        BUG("judging %s by %s", algebra_name(o->algebra), algebra_name(w->algebra));
    v->tier = w->algebra == AL_RING ? "ring" : judge_rule_of(jo)->name;
    compare_run(w, o, jo, v);
}

bool judge_same(const void *a, const void *b, size_t bytes)
{
    return !bytes || !memcmp(a, b, bytes);
}

static bool is_nan(enum dtype dt, const unsigned char *p)
{
    uint16_t half;
    double d;
    float f;

    switch (dt) {
    case DT_F64:
        memcpy(&d, p, sizeof d);
        return isnan(d);
    case DT_F32:
        memcpy(&f, p, sizeof f);
        return isnan(f);
    case DT_F16:
    case DT_BF16:
        memcpy(&half, p, sizeof half);
        return (half & 0x7fff) > (dt == DT_F16 ? 0x7c00 : 0x7f80);
    case DT_I32:
    case DT_BOOL:
    case DT_COUNT:
        break;
    }
    return false;
}

int64_t judge_differs(enum dtype dt, enum algebra al, const void *a, const void *b,
                      size_t bytes)
{
    size_t size = (size_t)dtype_info(dt)->bytes;
    const unsigned char *x = a, *y = b;

    if (judge_same(a, b, bytes))
        return -1;
    for (size_t at = 0; at + size <= bytes; at += size)
        if (memcmp(x + at, y + at, size) &&
            !(al == AL_IEEE && is_nan(dt, x + at) && is_nan(dt, y + at)))
            return (int64_t)at;
    return -1;
}
