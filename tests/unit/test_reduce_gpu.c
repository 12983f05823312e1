/* Reducers of steps for GPUs, each by a pair of trials, as in test_reduce.c. */
#include "reducing.h"

#define END "data seed=1 recipe=normal\n"
#define MATMUL(m, n, k)                                                                        \
    "tilefuzz 1\ninput x f32 [" #m "," #k "]\ninput y f32 [" #k "," #n "]\nm = matmul x y\n"   \
    "output m\nschedule\n"
#define ATTENTION                                                                              \
    "tilefuzz 1\ninput q f32 [1,2,3]\na = attention q q q scale=1\noutput a\nschedule\n"
#define STAGED                                                                                 \
    MATMUL(9, 10, 18)                                                                          \
    "tile m 8x8x4 threads=16\nstage m.a m.r0.0 depth=4 async vec=8\nstage m.b m.k.0 depth=4 "  \
    "async\n" END
#define SPLIT                                                                                  \
    MATMUL(16, 16, 32)                                                                         \
    "splitk m 2 atomic\ntile m 16x8x16 threads=32 mma\nepilogue m alias\n" END
#define FLASH    ATTENTION "algo a flash block=2 splits=8\n" END
#define TILED_17 MATMUL(17, 16, 35) "tile m 16x16x8 threads=32\nepilogue m own\n" END

static const struct pair pairs[] = {
    { "gpu", STAGED,
      MATMUL(9, 10, 18) "tile m 8x8x4 threads=16\nstage m.a m.r0.0 depth=3 async vec=8\nstage "
                        "m.b m.k.0 depth=3 async\n" END },
    { "gpu", STAGED,
      MATMUL(9, 10, 18) "tile m 8x8x4 threads=16\nstage m.a m.r0.0 async vec=8\nstage m.b "
                        "m.k.0 async\n" END },
    { "gpu", STAGED,
      MATMUL(9, 10, 18) "tile m 8x8x4 threads=16\nstage m.a m.r0.0 depth=4 vec=8\nstage m.b "
                        "m.k.0 depth=4\n" END },
    { "gpu", STAGED,
      MATMUL(9, 10, 18) "tile m 8x8x4 threads=16\nstage m.a m.r0.0 depth=4 async\nstage m.b "
                        "m.k.0 depth=4 async\n" END },
    { "gpu", STAGED,
      MATMUL(9, 10, 18) "tile m 8x8x4 threads=4\nstage m.a m.r0.0 depth=4 async vec=8\nstage "
                        "m.b m.k.0 depth=4 async\n" END },
    { "gpu", SPLIT,
      MATMUL(16, 16,
             32) "splitk m 2 atomic\ntile m 16x8x16 threads=32\nepilogue m alias\n" END },
    { "gpu", SPLIT,
      MATMUL(16, 16, 32) "splitk m 2\ntile m 16x8x16 threads=32 mma\nepilogue m alias\n" END },
    { "gpu", SPLIT,
      MATMUL(16, 16,
             32) "splitk m 2 atomic\ntile m 16x8x16 threads=32 mma\nepilogue m own\n" END },
    { "gpu", MATMUL(16, 16, 32) "tile m 16x8x16 threads=1\nepilogue m global\n" END,
      MATMUL(16, 16, 32) "tile m 16x8x16 threads=1\nepilogue m own\n" END },
    { "gpu", FLASH, ATTENTION "algo a flash block=2 splits=3\n" END },
    { "gpu", FLASH, ATTENTION "algo a online block=2\n" END },
    { "stepargs", FLASH, ATTENTION "algo a flash block=1 splits=8\n" END },
    { "tiles", MATMUL(16, 16, 35) "tile m 16x16x8 threads=32\nepilogue m own\n" END,
      MATMUL(4, 4, 19) "tile m 4x4x4 threads=16\nepilogue m own\n" END },
    { "tiles", TILED_17, MATMUL(17, 16, 19) "tile m 16x16x4 threads=32\nepilogue m own\n" END },
    { "tiles", TILED_17, MATMUL(17, 16, 19) "tile m 16x16x8 threads=32\nepilogue m own\n" END },
    { "tiles", TILED_17, MATMUL(3, 2, 35) "tile m 2x2x8 threads=4\nepilogue m own\n" END },
    { "tiles", TILED_17, MATMUL(17, 16, 35) "tile m 16x16x2 threads=32\nepilogue m own\n" END },
};

int main(void)
{
    return run_pairs(pairs, sizeof pairs / sizeof *pairs);
}
