/*
 * Reducers, each by a pair of trials: among the hints that it offers on the first there is
 * one that gives the second.
 */
#include "reducing.h"

static const struct pair pairs[] = {
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
    { "sizes",
      "tilefuzz 1\ninput x i32 [18]\na = copy x\nv = slice a [16:14:-1]\n"
      "z = assign x v [17:15:-1]\noutput z\ndata seed=1 recipe=normal\n",
      "tilefuzz 1\ninput x i32 [3]\na = copy x\nv = slice a [1:-1:-1]\n"
      "z = assign x v [2:0:-1]\noutput z\ndata seed=1 recipe=normal\n" },
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

int main(void)
{
    return run_pairs(pairs, sizeof pairs / sizeof *pairs);
}
