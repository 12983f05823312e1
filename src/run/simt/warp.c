/*
 * What a warp does together, all of it or the lanes that a mask names. Those of them that live
 * must come; the last one does the work. Only syncwarp orders memory: shuffles, votes and mma
 * are meetings and nothing else.
 */
#include <string.h>

#include "base/bug.h"
#include "run/simt/hooks.h"
#include "run/simt/machine.h"

enum { SYNCWARP, SHUFFLE, VOTE, MMA_F16, MMA_BF16, MMA_RING };

static float half_f32(unsigned h)
{
    union {
        float f;
        unsigned u;
    } x;

    x.u = (h & 0x7fff) << 13;
    if ((h & 0x7c00) == 0x7c00)
        x.u |= 0x7f800000;
    else
        x.f *= 0x1p112f;
    x.u |= (h & 0x8000) << 16;
    return x.f;
}

static unsigned half_of_word(unsigned word, int high)
{
    return high ? word >> 16 : word & 0xffff;
}

/* Rows and columns of the registers of m16n8k16, for thread 4 * g + q of a warp. */
static void gather(struct thread *lane, unsigned a[16][16], unsigned b[16][8])
{
    for (int l = 0; l < WARP; l++) {
        int g = l / 4, q = l % 4;

        for (int r = 0; r < 4; r++)
            for (int h = 0; h < 2; h++)
                a[g + r % 2 * 8][q * 2 + r / 2 * 8 + h] = half_of_word(lane[l].mma[1][r], h);
        for (int r = 0; r < 2; r++)
            for (int h = 0; h < 2; h++)
                b[q * 2 + r * 8 + h][g] = half_of_word(lane[l].mma[2][r], h);
    }
}

static unsigned *result(struct thread *lane, int row, int col)
{
    struct thread *t = &lane[row % 8 * 4 + col / 2];

    return (unsigned *)t->mma[0] + row / 8 * 2 + col % 2;
}

static void multiply_words(struct thread *lane, unsigned a[16][16], unsigned b[16][8])
{
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 8; j++) {
            unsigned *c = result(lane, i, j), s = *c;

            for (int k = 0; k < 16; k++)
                s += a[i][k] * b[k][j];
            *c = s;
        }
}

static void multiply_floats(struct thread *lane, unsigned a[16][16], unsigned b[16][8],
                            int kind)
{
    float x[16][16], y[16][8];
    union {
        unsigned u;
        float f;
    } bits;

    for (int i = 0; i < 16 * 16; i++) {
        bits.u = a[i / 16][i % 16] << 16;
        x[i / 16][i % 16] = kind == MMA_BF16 ? bits.f : half_f32(a[i / 16][i % 16]);
    }
    for (int i = 0; i < 16 * 8; i++) {
        bits.u = b[i / 8][i % 8] << 16;
        y[i / 8][i % 8] = kind == MMA_BF16 ? bits.f : half_f32(b[i / 8][i % 8]);
    }
    for (int i = 0; i < 16; i++) {
        float s[8];

        for (int j = 0; j < 8; j++)
            memcpy(&s[j], result(lane, i, j), sizeof s[j]);
        for (int k = 0; k < 16; k++)
            for (int j = 0; j < 8; j++)
                s[j] += x[i][k] * y[k][j];
        for (int j = 0; j < 8; j++)
            memcpy(result(lane, i, j), &s[j], sizeof s[j]);
    }
}

/* With a part of the warp only, or from other places, there is nothing to compute. */
static void multiply(struct thread *lane, const struct warp *w, int kind)
{
    unsigned a[16][16], b[16][8];

    for (int l = 0; l < WARP; l++)
        if (w->live != WARP || !lane[l].mma[0])
            return;
    gather(lane, a, b);
    if (kind == MMA_RING)
        multiply_words(lane, a, b);
    else
        multiply_floats(lane, a, b, kind);
}

int warp_size(int warp)
{
    int n = machine.n_threads - warp * WARP;

    return n < WARP ? n : WARP;
}

static unsigned lanes_of(int warp)
{
    int n = warp_size(warp);

    return n == WARP ? ~0u : (1u << n) - 1;
}

static void sync_lanes(struct block *b, int warp, struct thread **go, int n)
{
    struct warp *w = &b->warp[warp];

    if (machine.parts) {
        parts_meet(b, go, n);
        return;
    }
    if (go[0]->members != lanes_of(warp))
        BUG("a barrier of some lanes in a kernel that does not tell of it");
    w->clock += w->clock < MAX_CLOCK;
    for (int i = 0; i < n; i++)
        go[i]->stamp = stamp_of(stamp_interval(go[i]->stamp), 0, go[i]->tid, w->clock);
    share_knowledge(go, n);
}

static void count_votes(struct thread **go, int n)
{
    unsigned yes = 0, all = 0;

    for (int i = 0; i < n; i++) {
        unsigned bit = 1u << go[i]->tid % WARP;

        all |= bit;
        yes |= go[i]->vote ? bit : 0;
    }
    for (int i = 0; i < n; i++) {
        go[i]->vote = yes;
        go[i]->voters = all;
    }
}

/* Members that wait with the same mask; those that have exited. */
static unsigned members_in(const struct block *b, int warp, unsigned members, enum state state)
{
    const struct thread *lane = &b->thread[warp * WARP];
    unsigned found = 0;

    for (int i = 0; i < warp_size(warp); i++)
        if (lane[i].state == state && (state == DONE || lane[i].members == members))
            found |= members & 1u << i;
    return found;
}

/* Everybody of the meeting is there: does what they came for, and lets them go. */
static void finish(struct block *b, int warp, unsigned members)
{
    struct warp *w = &b->warp[warp];
    struct thread *lane = &b->thread[warp * WARP], *go[WARP];
    int n = warp_size(warp), n_go = 0;

    for (int i = 0; i < n; i++)
        if (lane[i].state == AT_WARP && lane[i].members == members)
            go[n_go++] = &lane[i];
    if (w->live < n && !machine.o.lenient && members_in(b, warp, members, DONE))
        report_access(SIMT_DIVERGENCE, "exited", NULL, go[0]->at_site, -1, false, NULL);
    if (members == lanes_of(warp))
        w->arrived = 0;
    else
        w->apart -= n_go;
    if (go[0]->kind == SYNCWARP)
        sync_lanes(b, warp, go, n_go);
    else if (go[0]->kind == VOTE)
        count_votes(go, n_go);
    else if (go[0]->kind >= MMA_F16)
        multiply(lane, w, go[0]->kind);
    for (int i = 0; i < n_go; i++) {
        if (go[i]->word)
            memcpy(go[i]->got, go[i]->word, sizeof go[i]->got);
        go[i]->word = NULL;
        go[i]->mma[0] = NULL;
    }
    sched_release(go, n_go);
}

/* Who waits for the running thread, and is waited for by it? Meetings of all the warp are
 * counted, as they are what nearly every kernel has. */
static const struct thread *met_lane(const struct block *b, int warp, unsigned members)
{
    const struct thread *lane = &b->thread[warp * WARP];
    const struct warp *w = &b->warp[warp];
    int me = machine.now->tid % WARP;

    if (members == lanes_of(warp) && w->arrived)
        return &b->thread[w->first];
    for (int i = 0; (w->apart || w->arrived) && i < warp_size(warp); i++)
        if (members >> i & 1 && lane[i].state == AT_WARP && lane[i].members >> me & 1)
            return &lane[i];
    return NULL;
}

static bool complete(const struct block *b, int warp, unsigned members)
{
    const struct warp *w = &b->warp[warp];

    if (members == lanes_of(warp))
        return w->arrived == w->live;
    return (members_in(b, warp, members, AT_WARP) | members_in(b, warp, members, DONE)) ==
           members;
}

static void meet(int site, int kind, unsigned members)
{
    struct thread *t = machine.now;
    struct block *b = t->block;
    int warp = t->tid / WARP;
    struct warp *w = &b->warp[warp];
    const struct thread *met;

    members &= lanes_of(warp);
    if (!(members >> t->tid % WARP & 1)) {
        report_access(SIMT_DIVERGENCE, "lane", NULL, site, t->tid, false, NULL);
        members |= 1u << t->tid % WARP;
    }
    met = met_lane(b, warp, members);
    if (met && (met->at_site != site || met->members != members)) {
        struct met at = { met->stamp, (unsigned)met->at_site, false };

        report_access(SIMT_DIVERGENCE, "warp", NULL, site, -1, false, &at);
    }
    t->state = AT_WARP;
    t->at_site = site;
    t->kind = kind;
    t->members = members;
    if (members != lanes_of(warp))
        w->apart++;
    else if (!w->arrived++)
        w->first = t->tid;
    if (complete(b, warp, members))
        finish(b, warp, members);
    sched_wait();
}

void warp_left(struct block *b, int warp)
{
    const struct thread *lane = &b->thread[warp * WARP];
    const struct warp *w = &b->warp[warp];

    for (int i = 0; (w->arrived || w->apart) && i < warp_size(warp); i++) {
        if (lane[i].state == AT_WARP && complete(b, warp, lane[i].members))
            finish(b, warp, lane[i].members);
    }
}

void tf_hook_syncwarp(int site)
{
    meet(site, SYNCWARP, ~0u);
}

void tf_hook_syncwarp_of(int site, unsigned members)
{
    meet(site, SYNCWARP, members);
}

unsigned tf_hook_vote(int site, unsigned members, int kind, int pred)
{
    struct thread *t = machine.now;

    t->vote = pred != 0;
    meet(site, VOTE, members);
    return kind == 0 ? t->vote != 0 : kind == 1 ? t->vote == t->voters : t->vote;
}

const void *tf_hook_shuffle_of(int site, unsigned members, const void *v, int bytes, int mask)
{
    struct thread *t = machine.now;
    int other = t->tid ^ mask;
    unsigned char own[16] = { 0 };

    memcpy(own, v, (size_t)bytes);
    t->word = own;
    meet(site, SHUFFLE, members);
    if (other / WARP == t->tid / WARP && other < machine.n_threads &&
        t->members >> other % WARP & 1)
        return t->block->thread[other].got;
    report_access(SIMT_DIVERGENCE, "lane", NULL, site, other, false, NULL);
    return t->got;
}

const void *tf_hook_shuffle(int site, const void *v, int bytes, int mask)
{
    return tf_hook_shuffle_of(site, ~0u, v, bytes, mask);
}

void tf_hook_mma(int site, int kind, void *c, const unsigned *a, const unsigned *b)
{
    struct thread *t = machine.now;

    t->mma[0] = c;
    t->mma[1] = a;
    t->mma[2] = b;
    meet(site, MMA_F16 + kind, ~0u);
}
