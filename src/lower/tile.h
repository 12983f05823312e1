/*
 * Tiles: which loops a tiled kernel gets. Pass tile finds out what there is and writes the
 * kernel; how a tile is cut into the shares of threads is either of two plans.
 */
#ifndef LOWER_TILE_H
#define LOWER_TILE_H

#include "lower/nest.h"

enum { TILE_LOOPS = 64 };

/* A naive kernel: outputs | DECL | reduction UPDATE | STORE, conditions anywhere between
 * loops; or outputs round a STORE alone. */
struct naive {
    int out[TILE_LOOPS], n_out; /* output loops, the one over slices left out */
    int slices;                 /* that one, or -1 */
    int red[TILE_LOOPS], n_red;
    struct reduction r; /* decl and update are -1 without a reduction */
};

/* How the tile is cut. Loop variables all, outermost first. */
struct tiling {
    struct lprog *l;
    int kernel;
    const struct step *st;
    int i0, i1, r0; /* the axes that are tiled; r0 -1 = no reduction or no K */
    int block[2], thread[4], n_thread;
    int update[TILE_LOOPS], n_update; /* loops round the UPDATE */
    int store[4], n_store;            /* loops round the STORE */
    int at0, at1, atr;                /* what becomes of the axes: index expressions */
    int64_t elems;                    /* accumulators of a thread */
    int acc_at;                       /* the one that the loops are at */
};

/* A part of axis `var`, "s.i0" + ".1.0"; other names of the axis name it too. */
int tile_part(struct tiling *t, int var, const char *suffix, int64_t extent);

/* Both fill the rest of t, or set e. Rows and columns by threads, each an oblong of its own: */
int tile_plain(struct tiling *t, const struct naive *n, struct err *e);
/* Warps, each with fragments of 16x8: row 8*h + g and column 2*t + p of a fragment are those
 * of the lane 4*g + t; THREAD loops are warp row, warp column, g, t. */
int tile_mma(struct tiling *t, const struct naive *n, struct err *e);

#endif
