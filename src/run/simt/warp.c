/*
 * What a warp does together. All its threads that live must come; the last one does the work.
 * Only syncwarp orders memory: shuffles and mma are meetings and nothing else.
 */
#include <string.h>

#include "run/simt/hooks.h"
#include "run/simt/machine.h"

enum { SYNCWARP, SHUFFLE, MMA_F16, MMA_BF16, MMA_RING };

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

static void share_knowledge(struct thread *lane, int n)
{
    for (int i = 1; i < n; i++)
        know_join(&lane[0].own, &lane[i].own);
    for (int i = 1; i < n; i++)
        know_join(&lane[i].own, &lane[0].own);
}

static int warp_size(int warp)
{
    int n = machine.n_threads - warp * WARP;

    return n < WARP ? n : WARP;
}

static void finish(struct block *b, int warp)
{
    struct warp *w = &b->warp[warp];
    struct thread *lane = &b->thread[warp * WARP], *go[WARP];
    int n = warp_size(warp), n_go = 0;

    w->arrived = 0;
    if (w->kind == SYNCWARP) {
        if (w->clock < 0xfffff)
            w->clock++;
        share_knowledge(lane, n);
    } else if (w->kind >= MMA_F16) {
        multiply(lane, w, w->kind);
    }
    for (int i = 0; i < n; i++) {
        if (lane[i].state != AT_WARP)
            continue;
        if (lane[i].word)
            memcpy(lane[i].got, lane[i].word, sizeof lane[i].got);
        lane[i].word = NULL;
        lane[i].mma[0] = NULL;
        lane[i].stamp = stamp_of(stamp_interval(lane[i].stamp), 0, lane[i].tid, w->clock);
        go[n_go++] = &lane[i];
    }
    sched_release(go, n_go);
}

static void meet(int site, int kind)
{
    struct thread *t = machine.now;
    struct block *b = t->block;
    struct warp *w = &b->warp[t->tid / WARP];

    if (!w->arrived) {
        w->site = site;
        w->kind = kind;
        w->first = t->tid;
    } else if (w->site != site) {
        struct met met = { b->thread[w->first].stamp, (unsigned)w->site, false };

        report_access(SIMT_DIVERGENCE, "warp", NULL, site, -1, false, &met);
    }
    if (w->live < warp_size(t->tid / WARP) && !w->arrived && !machine.o.lenient)
        report_access(SIMT_DIVERGENCE, "exited", NULL, site, -1, false, NULL);
    t->state = AT_WARP;
    t->at_site = site;
    if (++w->arrived == w->live)
        finish(b, t->tid / WARP);
    sched_wait();
}

void warp_left(struct block *b, int warp)
{
    struct warp *w = &b->warp[warp];

    if (!w->live || w->arrived != w->live)
        return;
    if (!machine.o.lenient)
        report_access(SIMT_DIVERGENCE, "exited", NULL, w->site, -1, false, NULL);
    finish(b, warp);
}

void tf_hook_syncwarp(int site)
{
    meet(site, SYNCWARP);
}

const void *tf_hook_shuffle(int site, const void *v, int bytes, int mask)
{
    struct thread *t = machine.now;
    int other = t->tid ^ mask;
    unsigned char own[16] = { 0 };

    memcpy(own, v, (size_t)bytes);
    t->word = own;
    meet(site, SHUFFLE);
    if (other / WARP == t->tid / WARP && other < machine.n_threads)
        return t->block->thread[other].got;
    report_access(SIMT_DIVERGENCE, "lane", NULL, site, other, false, NULL);
    return t->got;
}

void tf_hook_mma(int site, int kind, void *c, const unsigned *a, const unsigned *b)
{
    struct thread *t = machine.now;

    t->mma[0] = c;
    t->mma[1] = a;
    t->mma[2] = b;
    meet(site, MMA_F16 + kind);
}
