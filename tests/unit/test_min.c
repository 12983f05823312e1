/*
 * Reducers, each by a pair of trials: among the hints that it offers on the first there is
 * one that gives the second. And the driver on the founding pair.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

#include "fuzz/min/min.h"
#include "fuzz/min/reduce.h"
#include "ir/text.h"

static const struct pair {
    const char *reducer, *before, *after;
} pairs[] = {
    { "outputs",
      "tilefuzz 1\ninput x f32 [2]\na = neg x\nb = exp x\noutput a\noutput b\n"
      "data seed=1 recipe=normal\n",
      "tilefuzz 1\ninput x f32 [2]\nb = exp x\noutput b\ndata seed=1 recipe=normal\n" },
    { "tops",
      "tilefuzz 1\ninput x f32 [2]\na = neg x\nb = exp a\noutput b\nschedule\nfuse a b\n"
      "split a.i0 2\ndata seed=1 recipe=normal\n",
      "tilefuzz 1\ninput x f32 [2]\na = neg x\noutput a\nschedule\nsplit a.i0 2\n"
      "data seed=1 recipe=normal\n" },
    { "cut",
      "tilefuzz 1\ninput x f32 [2]\na = neg x\nb = exp a\noutput b\n"
      "data seed=1 recipe=normal\n",
      "tilefuzz 1\ninput a f32 [2]\nb = exp a\noutput b\ndata seed=1 recipe=normal\n" },
    { "absorb",
      "tilefuzz 1\ninput x f32 [2]\nr = reshape x [2,1]\ne = expand r [2,1]\na = neg e\n"
      "output a\ndata seed=1 recipe=normal\n",
      "tilefuzz 1\ninput e f32 [2,1] strides=[1,0] offset=0\na = neg e\noutput a\n"
      "data seed=1 recipe=normal\n" },
    { "bypass",
      "tilefuzz 1\ninput x f32 [4]\na = reshape x [2,2]\nb = reshape a [1,4]\noutput b\n"
      "data seed=1 recipe=normal\n",
      "tilefuzz 1\ninput x f32 [4]\nb = reshape x [1,4]\noutput b\n"
      "data seed=1 recipe=normal\n" },
    { "bypass",
      "tilefuzz 1\ninput x f32 [4]\na = neg x\nb = copy a\nc = exp b\noutput c\nschedule\n"
      "fuse a b\nfuse b c\ndata seed=1 recipe=normal\n",
      "tilefuzz 1\ninput x f32 [4]\na = neg x\nc = exp a\noutput c\nschedule\nfuse a c\n"
      "data seed=1 recipe=normal\n" },
    { "hoist",
      "tilefuzz 1\ninput x f32 [2,5]\nr = sum x axes=[1]\nv = expand r [3,2]\na = neg v\n"
      "output a\nschedule\nfuse r a\ndata seed=1 recipe=normal\n",
      "tilefuzz 1\ninput x f32 [2,5]\nv = expand x [3,2,5]\nr = sum v axes=[2]\na = neg r\n"
      "output a\nschedule\nfuse r a\ndata seed=1 recipe=normal\n" },
    { "lift",
      "tilefuzz 1\ninput x f32 [2,3]\na = add x 1\nv = permute a [1,0]\nb = neg v\noutput b\n"
      "schedule\nfuse a b\ndata seed=1 recipe=normal\n",
      "tilefuzz 1\ninput v f32 [3,2]\na = add v 1\nb = neg a\noutput b\nschedule\nfuse a b\n"
      "data seed=1 recipe=normal\n" },
    { "sizes",
      "tilefuzz 1\ninput x f32 [4,8] strides=[10,1] offset=3\na = neg x\noutput a\n"
      "data seed=1 recipe=normal\n",
      "tilefuzz 1\ninput x f32 [4,2] strides=[4,1] offset=3\na = neg x\noutput a\n"
      "data seed=1 recipe=normal\n" },
    { "flips",
      "tilefuzz 1\ninput x f32 [2]\na = slice x [0:1:1]\nb = pad a [1:0] value=0\noutput b\n"
      "data seed=1 recipe=normal\n",
      "tilefuzz 1\ninput x f32 [2]\nb = slice x [1:-1:-1]\noutput b\n"
      "data seed=1 recipe=normal\n" },
    { "steps",
      "tilefuzz 1\ninput x f32 [4]\na = neg x\noutput a\nschedule\nsplit a.i0 2\n"
      "unroll a.i0.1\ndata seed=1 recipe=normal\n",
      "tilefuzz 1\ninput x f32 [4]\na = neg x\noutput a\nschedule\nsplit a.i0 2\n"
      "data seed=1 recipe=normal\n" },
    { "layouts",
      "tilefuzz 1\ninput x f32 [2,2] strides=[3,1] offset=1\na = neg x\noutput a\n"
      "data seed=1 recipe=normal\n",
      "tilefuzz 1\ninput x f32 [2,2]\na = neg x\noutput a\ndata seed=1 recipe=normal\n" },
    { "extents",
      "tilefuzz 1\ninput x f32 [8,3,8]\na = sum x axes=[1]\noutput a\n"
      "data seed=1 recipe=normal\n",
      "tilefuzz 1\ninput x f32 [2,3,2]\na = sum x axes=[1]\noutput a\n"
      "data seed=1 recipe=normal\n" },
    { "sizes",
      "tilefuzz 1\ninput x f32 [6,4]\ninput y f32 [24]\na = reshape x [24]\nb = add a y\n"
      "output b\ndata seed=1 recipe=normal\n",
      "tilefuzz 1\ninput x f32 [6,2]\ninput y f32 [12]\na = reshape x [12]\nb = add a y\n"
      "output b\ndata seed=1 recipe=normal\n" },
    { "sizes",
      "tilefuzz 1\ninput x f32 [9]\na = slice x [8:-1:-2]\nb = pad a [1:2] value=3\noutput b\n"
      "data seed=1 recipe=normal\nvalues x [0,1,2,3,4,5,6,7,8]\n",
      "tilefuzz 1\ninput x f32 [4]\na = slice x [3:-1:-1]\nb = pad a [1:2] value=3\noutput b\n"
      "data seed=1 recipe=normal\nvalues x [5,6,7,8]\n" },
    { "views",
      "tilefuzz 1\ninput x f32 [2,3,4]\na = permute x [2,0,1]\nb = permute a [1,2,0]\n"
      "output b\ndata seed=1 recipe=normal\n",
      "tilefuzz 1\ninput x f32 [2,3,4]\nb = permute x [0,1,2]\noutput b\n"
      "data seed=1 recipe=normal\n" },
    { "views",
      "tilefuzz 1\ninput x f32 [9]\na = slice x [1:9:3]\noutput a\ndata seed=1 recipe=normal\n",
      "tilefuzz 1\ninput x f32 [9]\na = slice x [1:4:1]\noutput a\n"
      "data seed=1 recipe=normal\n" },
    { "ops",
      "tilefuzz 1\ninput x f32 [2]\na = mean x axes=[0] keep=1\noutput a\n"
      "data seed=1 recipe=normal\n",
      "tilefuzz 1\ninput x f32 [2]\na = sum x axes=[0] keep=1\noutput a\n"
      "data seed=1 recipe=normal\n" },
    { "operands",
      "tilefuzz 1\ninput x f32 [2]\ninput y f32 [2]\na = mul x y\noutput a\n"
      "data seed=1 recipe=normal\n",
      "tilefuzz 1\ninput x f32 [2]\na = mul x 1\noutput a\ndata seed=1 recipe=normal\n" },
    { "literals",
      "tilefuzz 1\ninput x f32 [2]\na = mul x 0.25\noutput a\ndata seed=1 recipe=normal\n",
      "tilefuzz 1\ninput x f32 [2]\na = mul x 1\noutput a\ndata seed=1 recipe=normal\n" },
    { "stepargs",
      "tilefuzz 1\ninput x f32 [9]\na = neg x\noutput a\nschedule\nsplit a.i0 7\n"
      "data seed=1 recipe=normal\n",
      "tilefuzz 1\ninput x f32 [9]\na = neg x\noutput a\nschedule\nsplit a.i0 2\n"
      "data seed=1 recipe=normal\n" },
    { "ranks",
      "tilefuzz 1\ninput x f32 [1,2,3]\na = permute x [2,0,1]\nb = sum a axes=[0,1]\noutput b\n"
      "schedule\nsplit b.r0 2\ndata seed=1 recipe=normal\n",
      "tilefuzz 1\ninput x f32 [2,3]\na = permute x [1,0]\nb = sum a axes=[0]\noutput b\n"
      "schedule\nsplit b.r0 2\ndata seed=1 recipe=normal\n" },
    { "composites",
      "tilefuzz 1\ninput q f32 [1,2,3]\ninput k f32 [1,4,3]\ninput m f32 [2,4]\n"
      "a = attention q k k m scale=0.5 mask=add\noutput a\ndata seed=1 recipe=normal\n",
      "tilefuzz 1\ninput q f32 [1,2,3]\ninput k f32 [1,4,3]\n"
      "a = attention q k k scale=0.5 mask=causal_br\noutput a\n"
      "data seed=1 recipe=normal\n" },
    { "composites",
      "tilefuzz 1\ninput x f32 [2,3]\ninput g f32 [3]\ninput b f32 [3]\n"
      "a = layernorm x g b eps=1\noutput a\ndata seed=1 recipe=normal\n",
      "tilefuzz 1\ninput x f32 [2,3]\ninput g f32 [3]\na = rmsnorm x g eps=1\noutput a\n"
      "data seed=1 recipe=normal\n" },
    { "cut",
      "tilefuzz 1\ninput x f32 [2]\ns = softmax x axis=0\na = neg s\noutput a\nschedule\n"
      "algo s online block=1\nfuse s.df s.ex\nsplit a.i0 2\ndata seed=1 recipe=normal\n",
      "tilefuzz 1\ninput s f32 [2]\na = neg s\noutput a\nschedule\nsplit a.i0 2\n"
      "data seed=1 recipe=normal\n" },
    /* grouped heads: both halved, the group stays */
    { "sizes",
      "tilefuzz 1\ninput q f32 [8,5,3]\ninput k f32 [4,6,3]\n"
      "a = attention q k k scale=1\noutput a\ndata seed=1 recipe=normal\n",
      "tilefuzz 1\ninput q f32 [4,5,3]\ninput k f32 [2,6,3]\n"
      "a = attention q k k scale=1\noutput a\ndata seed=1 recipe=normal\n" },
    /* the length of the keys is that of the mask as well */
    { "sizes",
      "tilefuzz 1\ninput q f32 [2,5,3]\ninput k f32 [2,6,3]\ninput m bool [5,6]\n"
      "a = attention q k k m scale=1 mask=bool\noutput a\ndata seed=1 recipe=normal\n",
      "tilefuzz 1\ninput q f32 [2,5,3]\ninput k f32 [2,2,3]\ninput m bool [5,2]\n"
      "a = attention q k k m scale=1 mask=bool\noutput a\ndata seed=1 recipe=normal\n" },
    { "sizes",
      "tilefuzz 1\ninput x f32 [2,5]\ninput y f32 [2,3]\na = concat x y axis=1\noutput a\n"
      "data seed=1 recipe=normal\n",
      "tilefuzz 1\ninput x f32 [2,1]\ninput y f32 [2,3]\na = concat x y axis=1\noutput a\n"
      "data seed=1 recipe=normal\n" },
    { "sizes",
      "tilefuzz 1\ninput x f32 [7,5]\ninput i i32 [4]\na = gather x i axis=0\noutput a\n"
      "data seed=1 recipe=normal\n",
      "tilefuzz 1\ninput x f32 [7,5]\ninput i i32 [2]\na = gather x i axis=0\noutput a\n"
      "data seed=1 recipe=normal\n" },
    { "sizes",
      "tilefuzz 1\ninput x f32 [3,5]\ninput g f32 [5]\na = rmsnorm x g eps=1\noutput a\n"
      "data seed=1 recipe=normal\n",
      "tilefuzz 1\ninput x f32 [3,2]\ninput g f32 [2]\na = rmsnorm x g eps=1\noutput a\n"
      "data seed=1 recipe=normal\n" },
    { "ranks",
      "tilefuzz 1\ninput q f32 [1,2,5,3]\ninput k f32 [1,2,6,3]\n"
      "a = attention q k k scale=1\noutput a\nschedule\nsplit a.i2 2\n"
      "data seed=1 recipe=normal\n",
      "tilefuzz 1\ninput q f32 [2,5,3]\ninput k f32 [2,6,3]\na = attention q k k scale=1\n"
      "output a\nschedule\nsplit a.i1 2\ndata seed=1 recipe=normal\n" },
    { "ranks",
      "tilefuzz 1\ninput x f32 [1,2,3]\na = argmax x axis=2\noutput a\n"
      "data seed=1 recipe=normal\n",
      "tilefuzz 1\ninput x f32 [2,3]\na = argmax x axis=1\noutput a\n"
      "data seed=1 recipe=normal\n" },
    { "dtypes",
      "tilefuzz 1\ninput x f16 [2]\na = sum x axes=[0] acc=f16\nb = cast a f64\noutput b\n"
      "data seed=1 recipe=normal\nvalues x [0.5,0.25]\n",
      "tilefuzz 1\ninput x f32 [2]\na = sum x axes=[0]\nb = cast a f64\noutput b\n"
      "data seed=1 recipe=normal\nvalues x [0.5,0.25]\n" },
    { "ops",
      "tilefuzz 1\ninput x f16 [2]\na = sum x axes=[0] acc=f64\noutput a\n"
      "data seed=1 recipe=normal\n",
      "tilefuzz 1\ninput x f16 [2]\na = sum x axes=[0]\noutput a\n"
      "data seed=1 recipe=normal\n" },
    { "literals",
      "tilefuzz 1\ninput q f32 [1,2,3]\na = attention q q q scale=0.5\noutput a\n"
      "data seed=1 recipe=normal\n",
      "tilefuzz 1\ninput q f32 [1,2,3]\na = attention q q q scale=1\noutput a\n"
      "data seed=1 recipe=normal\n" },
    { "stepargs",
      "tilefuzz 1\ninput q f32 [1,2,3]\na = attention q q q scale=1\noutput a\nschedule\n"
      "algo a split block=2\ndata seed=1 recipe=normal\n",
      "tilefuzz 1\ninput q f32 [1,2,3]\na = attention q q q scale=1\noutput a\nschedule\n"
      "algo a online block=2\ndata seed=1 recipe=normal\n" },
    /* steps for GPUs */
    { "gpu",
      "tilefuzz 1\ninput x f32 [9,18]\ninput y f32 [18,10]\nm = matmul x y\noutput m\n"
      "schedule\ntile m 8x8x4 threads=16\nstage m.a m.r0.0 depth=4 async vec=8\nstage m.b "
      "m.k.0 depth=4 async\n"
      "data seed=1 recipe=normal\n",
      "tilefuzz 1\ninput x f32 [9,18]\ninput y f32 [18,10]\nm = matmul x y\noutput m\n"
      "schedule\ntile m 8x8x4 threads=16\nstage m.a m.r0.0 depth=3 async vec=8\nstage m.b "
      "m.k.0 depth=3 async\n"
      "data seed=1 recipe=normal\n" },
    { "gpu",
      "tilefuzz 1\ninput x f32 [9,18]\ninput y f32 [18,10]\nm = matmul x y\noutput m\n"
      "schedule\ntile m 8x8x4 threads=16\nstage m.a m.r0.0 depth=4 async vec=8\nstage m.b "
      "m.k.0 depth=4 async\n"
      "data seed=1 recipe=normal\n",
      "tilefuzz 1\ninput x f32 [9,18]\ninput y f32 [18,10]\nm = matmul x y\noutput m\n"
      "schedule\ntile m 8x8x4 threads=16\nstage m.a m.r0.0 async vec=8\nstage m.b m.k.0 async\n"
      "data seed=1 recipe=normal\n" },
    { "gpu",
      "tilefuzz 1\ninput x f32 [9,18]\ninput y f32 [18,10]\nm = matmul x y\noutput m\n"
      "schedule\ntile m 8x8x4 threads=16\nstage m.a m.r0.0 depth=4 async vec=8\nstage m.b "
      "m.k.0 depth=4 async\n"
      "data seed=1 recipe=normal\n",
      "tilefuzz 1\ninput x f32 [9,18]\ninput y f32 [18,10]\nm = matmul x y\noutput m\n"
      "schedule\ntile m 8x8x4 threads=16\nstage m.a m.r0.0 depth=4 vec=8\nstage m.b m.k.0 "
      "depth=4\n"
      "data seed=1 recipe=normal\n" },
    { "gpu",
      "tilefuzz 1\ninput x f32 [9,18]\ninput y f32 [18,10]\nm = matmul x y\noutput m\n"
      "schedule\ntile m 8x8x4 threads=16\nstage m.a m.r0.0 depth=4 async vec=8\nstage m.b "
      "m.k.0 depth=4 async\n"
      "data seed=1 recipe=normal\n",
      "tilefuzz 1\ninput x f32 [9,18]\ninput y f32 [18,10]\nm = matmul x y\noutput m\n"
      "schedule\ntile m 8x8x4 threads=16\nstage m.a m.r0.0 depth=4 async\nstage m.b m.k.0 "
      "depth=4 async\n"
      "data seed=1 recipe=normal\n" },
    { "gpu",
      "tilefuzz 1\ninput x f32 [9,18]\ninput y f32 [18,10]\nm = matmul x y\noutput m\n"
      "schedule\ntile m 8x8x4 threads=16\nstage m.a m.r0.0 depth=4 async vec=8\nstage m.b "
      "m.k.0 depth=4 async\n"
      "data seed=1 recipe=normal\n",
      "tilefuzz 1\ninput x f32 [9,18]\ninput y f32 [18,10]\nm = matmul x y\noutput m\n"
      "schedule\ntile m 8x8x4 threads=4\nstage m.a m.r0.0 depth=4 async vec=8\nstage m.b m.k.0 "
      "depth=4 async\n"
      "data seed=1 recipe=normal\n" },
    { "gpu",
      "tilefuzz 1\ninput x f32 [16,32]\ninput y f32 [32,16]\nm = matmul x y\noutput m\n"
      "schedule\nsplitk m 2 atomic\ntile m 16x8x16 threads=32 mma\nepilogue m alias\n"
      "data seed=1 recipe=normal\n",
      "tilefuzz 1\ninput x f32 [16,32]\ninput y f32 [32,16]\nm = matmul x y\noutput m\n"
      "schedule\nsplitk m 2 atomic\ntile m 16x8x16 threads=32\nepilogue m alias\n"
      "data seed=1 recipe=normal\n" },
    { "gpu",
      "tilefuzz 1\ninput x f32 [16,32]\ninput y f32 [32,16]\nm = matmul x y\noutput m\n"
      "schedule\nsplitk m 2 atomic\ntile m 16x8x16 threads=32 mma\nepilogue m alias\n"
      "data seed=1 recipe=normal\n",
      "tilefuzz 1\ninput x f32 [16,32]\ninput y f32 [32,16]\nm = matmul x y\noutput m\n"
      "schedule\nsplitk m 2\ntile m 16x8x16 threads=32 mma\nepilogue m alias\n"
      "data seed=1 recipe=normal\n" },
    { "gpu",
      "tilefuzz 1\ninput x f32 [16,32]\ninput y f32 [32,16]\nm = matmul x y\noutput m\n"
      "schedule\nsplitk m 2 atomic\ntile m 16x8x16 threads=32 mma\nepilogue m alias\n"
      "data seed=1 recipe=normal\n",
      "tilefuzz 1\ninput x f32 [16,32]\ninput y f32 [32,16]\nm = matmul x y\noutput m\n"
      "schedule\nsplitk m 2 atomic\ntile m 16x8x16 threads=32 mma\nepilogue m own\n"
      "data seed=1 recipe=normal\n" },
    { "gpu",
      "tilefuzz 1\ninput x f32 [16,32]\ninput y f32 [32,16]\nm = matmul x y\noutput m\n"
      "schedule\ntile m 16x8x16 threads=1\nepilogue m global\n"
      "data seed=1 recipe=normal\n",
      "tilefuzz 1\ninput x f32 [16,32]\ninput y f32 [32,16]\nm = matmul x y\noutput m\n"
      "schedule\ntile m 16x8x16 threads=1\nepilogue m own\n"
      "data seed=1 recipe=normal\n" },
    { "gpu",
      "tilefuzz 1\ninput q f32 [1,2,3]\na = attention q q q scale=1\noutput a\nschedule\n"
      "algo a flash block=2 splits=8\ndata seed=1 recipe=normal\n",
      "tilefuzz 1\ninput q f32 [1,2,3]\na = attention q q q scale=1\noutput a\nschedule\n"
      "algo a flash block=2 splits=3\ndata seed=1 recipe=normal\n" },
    { "gpu",
      "tilefuzz 1\ninput q f32 [1,2,3]\na = attention q q q scale=1\noutput a\nschedule\n"
      "algo a flash block=2 splits=8\ndata seed=1 recipe=normal\n",
      "tilefuzz 1\ninput q f32 [1,2,3]\na = attention q q q scale=1\noutput a\nschedule\n"
      "algo a online block=2\ndata seed=1 recipe=normal\n" },
    { "stepargs",
      "tilefuzz 1\ninput q f32 [1,2,3]\na = attention q q q scale=1\noutput a\nschedule\n"
      "algo a flash block=2 splits=8\ndata seed=1 recipe=normal\n",
      "tilefuzz 1\ninput q f32 [1,2,3]\na = attention q q q scale=1\noutput a\nschedule\n"
      "algo a flash block=1 splits=8\ndata seed=1 recipe=normal\n" },
    { "tiles",
      "tilefuzz 1\ninput x f32 [16,35]\ninput y f32 [35,16]\nm = matmul x y\noutput m\n"
      "schedule\ntile m 16x16x8 threads=32\nepilogue m own\n"
      "data seed=1 recipe=normal\n",
      "tilefuzz 1\ninput x f32 [4,19]\ninput y f32 [19,4]\nm = matmul x y\noutput m\n"
      "schedule\ntile m 4x4x4 threads=16\nepilogue m own\n"
      "data seed=1 recipe=normal\n" },
    { "tiles",
      "tilefuzz 1\ninput x f32 [17,35]\ninput y f32 [35,16]\nm = matmul x y\noutput m\n"
      "schedule\ntile m 16x16x8 threads=32\nepilogue m own\n"
      "data seed=1 recipe=normal\n",
      "tilefuzz 1\ninput x f32 [17,19]\ninput y f32 [19,16]\nm = matmul x y\noutput m\n"
      "schedule\ntile m 16x16x4 threads=32\nepilogue m own\n"
      "data seed=1 recipe=normal\n" },
    { "tiles",
      "tilefuzz 1\ninput x f32 [17,35]\ninput y f32 [35,16]\nm = matmul x y\noutput m\n"
      "schedule\ntile m 16x16x8 threads=32\nepilogue m own\n"
      "data seed=1 recipe=normal\n",
      "tilefuzz 1\ninput x f32 [17,19]\ninput y f32 [19,16]\nm = matmul x y\noutput m\n"
      "schedule\ntile m 16x16x8 threads=32\nepilogue m own\n"
      "data seed=1 recipe=normal\n" },
    { "tiles",
      "tilefuzz 1\ninput x f32 [17,35]\ninput y f32 [35,16]\nm = matmul x y\noutput m\n"
      "schedule\ntile m 16x16x8 threads=32\nepilogue m own\n"
      "data seed=1 recipe=normal\n",
      "tilefuzz 1\ninput x f32 [3,35]\ninput y f32 [35,2]\nm = matmul x y\noutput m\n"
      "schedule\ntile m 2x2x8 threads=4\nepilogue m own\n"
      "data seed=1 recipe=normal\n" },
    { "tiles",
      "tilefuzz 1\ninput x f32 [17,35]\ninput y f32 [35,16]\nm = matmul x y\noutput m\n"
      "schedule\ntile m 16x16x8 threads=32\nepilogue m own\n"
      "data seed=1 recipe=normal\n",
      "tilefuzz 1\ninput x f32 [17,35]\ninput y f32 [35,16]\nm = matmul x y\noutput m\n"
      "schedule\ntile m 16x16x2 threads=32\nepilogue m own\n"
      "data seed=1 recipe=normal\n" },
    { "recipe",
      "tilefuzz 1\ninput x f32 [3]\na = neg x\noutput a\ndata seed=1 recipe=special\n",
      "tilefuzz 1\ninput x f32 [3]\na = neg x\noutput a\ndata seed=1 recipe=ints\n" },
    { "zeros",
      "tilefuzz 1\ninput x f32 [3]\na = neg x\noutput a\ndata seed=1 recipe=normal\n"
      "values x [1,nan,3]\n",
      "tilefuzz 1\ninput x f32 [3]\na = neg x\noutput a\ndata seed=1 recipe=normal\n"
      "values x [1,0,3]\n" },
    { "rounds",
      "tilefuzz 1\ninput x f32 [3]\na = neg x\noutput a\ndata seed=1 recipe=normal\n"
      "values x [1.25,-77,0.25]\n",
      "tilefuzz 1\ninput x f32 [3]\na = neg x\noutput a\ndata seed=1 recipe=normal\n"
      "values x [1.25,-80,0.25]\n" },
    { "draws", "tilefuzz 1\ninput x f32 [3]\na = neg x\noutput a\ndata seed=1 recipe=normal\n",
      "tilefuzz 1\ninput x f32 [3]\na = neg x\noutput a\ndata seed=1 recipe=normal\n"
      "values x [1,2,3]\n" },
    { "draws",
      "tilefuzz 1\ninput x bool [3]\na = not x\noutput a\ndata seed=4 recipe=special\n",
      "tilefuzz 1\ninput x bool [3]\na = not x\noutput a\ndata seed=4 recipe=special\n"
      "values x [0,1,0]\n" },
    { "values",
      "tilefuzz 1\ninput x f32 [3]\na = neg x\noutput a\ndata seed=1 recipe=normal\n"
      "values x [1,2,3]\n",
      "tilefuzz 1\ninput x f32 [3]\na = neg x\noutput a\ndata seed=1 recipe=normal\n"
      "values x [1,1,3]\n" },
};

static struct arena arena, scratch;

static int setup(void **state)
{
    (void)state;
    arena_init(&arena);
    arena_init(&scratch);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_release(&arena);
    arena_release(&scratch);
    return 0;
}

static const struct reducer *reducer(const char *id)
{
    for (int i = 0; i < n_reducers; i++)
        if (!strcmp(reducers[i].id, id))
            return &reducers[i];
    fail_msg("no reducer %s", id);
    return NULL;
}

static struct trial *parse(const char *text)
{
    struct trial *t;
    struct err e = { 0 };

    if (trial_parse(text, strlen(text), &arena, &t, &e))
        fail_msg("%s: line %d: %s", text, e.line, e.msg);
    return t;
}

static bool gives(const struct reducer *r, const struct trial *t, int hint, const char *after)
{
    struct trial *c = trial_clone(t, &arena);
    struct str s = { 0 };
    bool same;

    if (!r->apply(c, hint, hint + 1, &arena) || !trial_settle(c, &arena))
        return false;
    trial_print(c, &s);
    same = !strcmp(str_get(&s), after);
    str_release(&s);
    return same;
}

static void test_pairs(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        const struct reducer *r = reducer(pairs[i].reducer);
        struct trial *t = parse(pairs[i].before);
        int n = r->count(t, &scratch), hint = 0;

        while (hint < n && !gives(r, t, hint, pairs[i].after))
            hint++;
        if (hint == n)
            fail_msg("%s: none of %d hints on\n%sgives\n%s", r->id, n, pairs[i].before,
                     pairs[i].after);
    }
}

/* Whatever a hint makes of a trial, it settles to something legal or not at all, and none of
 * them is larger. */
static void test_every_hint_is_safe(void **state)
{
    struct err e = { 0 };

    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        struct trial *t = parse(pairs[i].before);

        for (int k = 0; k < n_reducers; k++)
            for (int hint = 0; hint < reducers[k].count(t, &scratch); hint++) {
                struct trial *c = trial_clone(t, &arena);

                if (!reducers[k].apply(c, hint, hint + 1, &arena) || !trial_settle(c, &arena))
                    continue;
                assert_int_equal(trial_check(c, &e), 0);
                assert_true(prog_count_nodes(&c->prog) <= prog_count_nodes(&t->prog));
                if (prog_count_nodes(&c->prog) == prog_count_nodes(&t->prog) &&
                    prog_max_size(&c->prog) > prog_max_size(&t->prog))
                    fail_msg("%s, hint %d, makes an axis longer: %s", reducers[k].id, hint,
                             pairs[i].before);
                assert_true(c->n_step <= t->n_step);
            }
    }
}

static void minimal(const char *text, enum fault fault, int nodes, const char *pass,
                    const char *class)
{
    struct checker ck;
    struct check_opts o;
    static struct check c;
    struct cause cause;
    struct min_result r, again;
    struct min_opts mo;
    struct trial *t = parse(text);
    struct err e = { 0 };

    assert_true(checker_open(&ck));
    check_opts_default(&o);
    o.fault = fault;
    assert_int_equal(check_trial(&ck, t, &o, &c, &e), 0);
    assert_true(verdict_is_finding(c.kind));
    assert_int_equal(cause_find(&ck, t, &o, &c, &cause, &e), 0);
    mo = (struct min_opts){ .check = o, .budget = 2000 };
    assert_int_equal(minimize(&ck, t, &cause, &mo, &arena, &r, &e), 0);
    assert_true(prog_count_nodes(&r.trial->prog) <= nodes);
    assert_true(prog_max_size(&r.trial->prog) <= 4);
    assert_string_equal(r.cause.pass, pass);
    assert_string_equal(r.cause.class, class);
    assert_true(cause_same(&cause, &r.cause));
    /* deterministic */
    assert_int_equal(minimize(&ck, t, &cause, &mo, &arena, &again, &e), 0);
    assert_true(trial_key(again.trial) == trial_key(r.trial));
    assert_int_equal(again.evaluations, r.evaluations);
    checker_close(&ck);
}

static void test_founding_copies(void **state)
{
    (void)state;
    minimal("tilefuzz 1\ninput x f32 [4,8]\ninput y f32 [4,8,8]\nr = reshape x [4,8,1]\n"
            "e = expand r [4,8,8]\nc1 = copy e\np = permute c1 [0,2,1]\nc2 = copy p\n"
            "m = mul c2 y\ns = sum m axes=[2]\nz = exp s\noutput z\noutput m\nschedule\n"
            "fuse c1 c2\nfuse s z\nsplit z.i0 2\ndata seed=1 recipe=uniform\n",
            FAULT_copy_copy_fusion_drops_view, 4, "fuse", "index");
}

static void test_founding_plan(void **state)
{
    (void)state;
    minimal("tilefuzz 1\ninput x f32 [5,7]\ninput y f32 [7,5]\nn = neg x\na = copy n\n"
            "c = matmul a y\nd = copy c\ng = exp d\noutput g\ndata seed=1 recipe=normal\n",
            FAULT_liveness_ignores_loops, 3, "plan", "alias");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_every_hint_is_safe),
        cmocka_unit_test(test_founding_copies),
        cmocka_unit_test(test_founding_plan),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
