/* Bad .trial text: the message says what and what was expected, at the right place. */
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "ir/text.h"

#define H "tilefuzz 1\ninput x f32 [2,3]\ninput b bool [2,3]\ninput i i32 [2,3]\n"
#define S H "xt = permute x [1,0]\nm = matmul x xt\ns = sum x axes=[1]\noutput m\nschedule\n"

#define A H "input q f32 [4,5,8]\ninput k f32 [2,7,8]\ninput v f32 [2,7,6]\n"
#define Z H "z = softmax x axis=1\ns = neg x\noutput z\nschedule\n"

static const struct {
    const char *text;
    int line, col;
    const char *part; /* of the message */
} bad[] = {
    { "", 1, 1, "empty text" },
    { "\n\n# nothing\n", 3, 1, "empty text" },
    { "hello", 1, 1, "unexpected 'hello'; expected 'tilefuzz 1'" },
    { "\x7f"
      "ELF",
      1, 1, "unexpected byte 0x7f" },
    { "tilefuzz 2\n", 1, 10, "unknown version '2'; expected 'tilefuzz 1'" },
    { "tilefuzz 1 x\n", 1, 12, "expected the end of the line" },
    { "tilefuzz 1\n", 1, 1, "no output; expected at least one" },
    { H, 4, 1, "no output" },
    /* names */
    { H "input x f32 [1]", 5, 7, "'x' is on line 2 already; expected a new name" },
    { H "x = neg x", 5, 1, "'x' is on line 2 already" },
    { H "add = neg x", 5, 1, "bad name 'add'; expected a name that is not an op" },
    { H "input inf f32 []", 5, 7, "not a keyword" },
    { H "_y = neg x", 5, 1, "expected a letter first" },
    { H "a.b = neg x", 5, 1, "letters, digits and _ only" },
    { H "input a123456789b123456789c123456789d123456789 f32 []", 5, 7, "at most 39" },
    { H "7 = neg x", 5, 1, "bad name '7'; expected a name" },
    { H "y = neg z\nz = neg x", 5, 9, "'z' stands further down, on line 6" },
    { H "y = neg y", 5, 9, "unknown name 'y'; expected an earlier node" },
    { H "input logits f32 []\ny = neg logit", 6, 9, "(did you mean logits?)" },
    { H "output q", 5, 8, "unknown name 'q'" },
    { H "output x\noutput x", 6, 8, "x is an output already; expected each node once" },
    /* lines */
    { H "y = mtmul x i", 5, 5, "(did you mean matmul?)" },
    { H "y = input f32 [1]", 5, 5, "expected the line 'input NAME DTYPE ..'" },
    { H "y neg x", 5, 3, "unexpected 'neg'; expected '='" },
    { H "y = neg", 5, 8, "unexpected end of line; expected an operand" },
    { H "y = neg x x", 5, 11, "unexpected 'x'; expected the end of the line" },
    { H "y = neg $", 5, 9, "unexpected '$'; expected an operand" },
    { H "input y float [1]", 5, 9,
      "unknown dtype 'float'; expected one of f32, i32, bool, f64" },
    { H "input y f32 2", 5, 13, "unexpected '2'; expected '['" },
    { H "input y f32 [2", 5, 15, "unexpected end of line; expected ']'" },
    { H "input y f32 [2;3]", 5, 15, "unexpected ';'" },
    { H "input y f32 [2,]", 5, 16, "unexpected ']'; expected an integer" },
    { H "input y f32 [2] stride=[1]", 5, 17, "unexpected 'stride'; expected strides= or off" },
    { H "input y f32 [2] offset=1 offset=1", 5, 26, "second offset=" },
    { H "input y f32 [2] offset 1", 5, 24, "expected '='" },
    { H "const y f32 x", 5, 13, "unexpected 'x'; expected a number" },
    { H "const y f32 1.2.3", 5, 13, "bad number '1.2.3'" },
    { H "const y f32 0x10", 5, 13, "bad number '0x10'" },
    { H "const y f32 1e999", 5, 13, "too large" },
    { H "const y f32 1e39", 5, 13, "at most 3.4028235e+38 in magnitude" },
    { H "const y i32 1.5", 5, 13, "an integer from -2147483648" },
    { H "const y i32 2147483648", 5, 13, "an integer from -2147483648" },
    { H "const y bool 2", 5, 14, "expected 0 or 1" },
    { H "fuse x i", 5, 1, "step 'fuse' in the program; expected a line 'schedule'" },
    /* sizes */
    { H "input y f32 [-1]", 5, 14, "size -1; expected 0 to 16777216" },
    { H "input y f32 [2,99999999]", 5, 16, "size 99999999" },
    { H "input y f32 [99999999999999999999]", 5, 14, "too large" },
    { H "input y f32 [65536,65536]", 5, 13, "too many elements" },
    { H "input y f32 [0,16777216,16777216]", 5, 13, "too many elements" },
    { H "input y f32 [1,1,1,1,1,1,1,1,1]", 5, 30, "a rank of at most 8" },
    { H "input y f32 [2] strides=[99999999]", 5, 25, "stride 99999999" },
    { H "input y f32 [3] strides=[16777216]", 5, 25, "the layout spans 33554433" },
    { H "input y f32 [2] strides=[-1]", 5, 25, "stride -1; expected 0 to" },
    { H "input y f32 [2] offset=-1", 5, 24, "offset -1; expected 0 to" },
    { H "input y f32 [2] strides=[1,1]", 5, 25, "2 strides; expected 1" },
    { H "input p f32 [4096,4096]\ny = matmul p p", 6, 5, "element operations by here" },
    { H "input p f32 [16777216,1]\ninput q f32 [1,2]\ny = matmul p q", 7, 5, "too many elem" },
    /* ops */
    { H "y = add x i", 5, 11, "operand of dtype i32 beside f32" },
    { H "input s f32 [3]\ny = add x s", 6, 11, "operand of shape [3] beside [2,3]" },
    { H "y = add 1 2", 5, 9, "add of literals only; expected at least one tensor" },
    { H "y = neg 1", 5, 9, "neg of a literal; expected a tensor" },
    { H "y = exp i", 5, 9, "exp of i32; expected f32" },
    { H "y = not x", 5, 9, "not of f32; expected bool" },
    { H "y = add b b", 5, 9, "add of bool; expected f32, i32" },
    { H "y = add i 0.5", 5, 11, "an integer from" },
    { H "y = eq b 2", 5, 10, "expected 0 or 1" },
    { H "y = where x i i", 5, 11, "condition of dtype f32; expected bool" },
    { H "y = where 1 i i", 5, 11, "literal condition" },
    { H "y = where b 1 2", 5, 13, "literals only" },
    { H "y = where b x i", 5, 15, "dtype i32 beside f32" },
    { H "y = cast x f8", 5, 12, "unknown dtype 'f8'" },
    { H "y = sum x", 5, 10, "the line ends; expected axes=" },
    { H "y = sum x axes=[]", 5, 16, "no axes to reduce" },
    { H "y = sum x axes=[0,2]", 5, 19, "axis 2 of shape [2,3]" },
    { H "y = sum x axes=[0,0]", 5, 19, "axis 0 is there twice" },
    { H "y = sum x axes=[-1]", 5, 17, "axis -1; expected" },
    { H "y = sum x axes=[0] keep=2", 5, 25, "keep=2; expected 0 or 1" },
    { H "y = mean i axes=[0]", 5, 10, "mean of i32; expected f32" },
    { H "y = max b axes=[0]", 5, 9, "max of bool" },
    { H "y = iota bool [2] axis=0", 5, 10, "iota of bool; expected f32, i32" },
    { H "y = iota i32 [2] axis=1", 5, 23, "axis 1 of shape [2]" },
    { H "y = iota i32 [] axis=0", 5, 22, "axis 0 of shape []" },
    { H "y = iota i32 [2]", 5, 17, "expected axis=" },
    { H "y = matmul x x", 5, 14, "expected [..,m,k] and [..,k,n]" },
    { H "input v f32 [3]\ny = matmul v v", 6, 12, "expected rank 2 or more" },
    { H "input v f32 [3]\ny = matmul x v", 6, 14, "expected equal ranks" },
    { H "input p f32 [2,2,2]\ninput q f32 [3,2,2]\ny = matmul p q", 7, 14, "batch axes" },
    { H "const y f16 65520", 5, 13, "expected at most 65504 in magnitude, or inf" },
    { H "const y bf16 3.4e38", 5, 14, "at most 3.39e+38 in magnitude" },
    { H "y = sum x axes=[0] acc=f16", 5, 24,
      "acc of f16 on operands of f32; expected f32 or a" },
    { H "y = sum i axes=[0] acc=f64", 5, 24, "acc of f64 on operands of i32" },
    { H "y = max x axes=[0] acc=f64", 5, 20, "unexpected 'acc'; expected keep=" },
    { H "y = neg x acc=f64", 5, 11, "expected the end of the line" },
    { H "input h bf16 [2]\ny = sum h axes=[0] acc=f16", 6, 24,
      "acc of f16 on operands of bf16" },
    { H "y = prod b axes=[0]", 5, 10, "prod of bool; expected f32, i32, f64, f16, bf16" },
    { H "y = tanh i", 5, 10, "tanh of i32" },
    { H "y = roll x shift=[1]", 5, 18, "1 entries; expected 2, one per axis" },
    { H "y = roll x", 5, 11, "the line ends; expected shift=" },
    { H "y = roll x shift=[0,99999999]", 5, 21, "shift 99999999" },
    { H "y = assign x x [0:2:1,0:2:1]", 5, 14, "value of shape [2,3] for a slice of [2,2]" },
    { H "y = assign x 1 [0:2:1]", 5, 22, "1 entries; expected 2, one per axis" },
    { H "y = assign x 1 [0:2:1,0:4:1]", 5, 23, "takes elements 0 to 3; expected 0 to 2" },
    { H "y = assign x 1 [0:2:1,0:3:0]", 5, 23, "expected a step that is not 0" },
    { H "y = assign x i [0:2,0:3]", 5, 14, "operand of dtype i32 beside f32" },
    { H "y = assign 1 x []", 5, 12, "assign of a literal; expected a tensor" },
    { H "y = assign i 0.5 [0:2,0:3]", 5, 14, "literal out of range" },
    { H "y = assign x 1", 5, 15, "unexpected end of line; expected '['" },
    { H "y = repeat x times=[1,-1]", 5, 23, "-1 times; expected 0 to" },
    { H "y = repeat x times=[9999,9999]", 5, 20, "too many elements" },
    { H "p = permute x [1,0]\ny = matmul x p x", 6, 16, "c of shape [2,3]; expected [2,2]" },
    { H "p = permute x [1,0]\ny = matmul x p beta=2", 6, 21, "beta= without a third operand" },
    { H "p = permute x [1,0]\ny = matmul x p alpha=inf", 6, 22, "alpha out of range" },
    { H "y = cumsum b axis=0", 5, 12, "cumsum of bool" },
    { H "y = cumsum x axis=2", 5, 19, "axis 2 of shape [2,3]" },
    { H "input p f32 [16,1048576]\ny = cumsum p axis=1", 6, 5, "too many elements" },
    { H "y = softmax i axis=0", 5, 13, "softmax of i32; expected f32, f64, f16, bf16" },
    { H "y = softmax x", 5, 14, "the line ends; expected axis=" },
    { H "y = softmax x axis=2", 5, 20, "axis 2 of shape [2,3]" },
    { H "y = argmax x axis=-1", 5, 19, "axis 8 of shape [2,3]" },
    { H "y = argmax b axis=0", 5, 12, "argmax of bool" },
    { H "input z f32 [0,2]\ny = argmax z axis=0", 6, 19, "which is empty" },
    { H "y = rmsnorm x x", 5, 16, "the line ends; expected eps=" },
    { H "y = rmsnorm x x eps=1", 5, 15, "expected [3], the last axis" },
    { H "input g f32 [3]\ny = rmsnorm x g eps=-1", 6, 21, "eps out of range" },
    { H "input g f32 [3]\ny = rmsnorm x g eps=inf", 6, 21, "eps out of range" },
    { H "input g f64 [3]\ny = rmsnorm x g eps=1", 6, 15, "dtype f64 beside f32" },
    { H "input g f32 []\ny = rmsnorm g g eps=1", 6, 13, "rmsnorm of shape []" },
    { H "y = gather x x axis=0", 5, 14, "index of dtype f32; expected i32" },
    { H "y = gather x i axis=0", 5, 14, "index of shape [2,3]; expected rank 1" },
    { H "input j i32 [1]\ny = gather x j axis=2", 6, 21, "axis 2 of shape" },
    { H "input j i32 [9999999]\ny = gather x j axis=0", 6, 5, "too many elements" },
    { H "y = concat x i axis=0", 5, 14, "dtype i32 beside f32" },
    { H "input w f32 [2,2]\ny = concat x w axis=0", 6, 14, "equal sizes but for axis 0" },
    { H "input w f32 [2]\ny = concat x w axis=0", 6, 14, "expected equal ranks" },
    { A "y = attention q k v", 8, 20, "the line ends; expected scale=" },
    { A "y = attention q k scale=1", 8, 19, "unknown name 'scale'" },
    { A "y = attention x x x scale=1", 8, 15, "expected rank 3 or more" },
    { A "y = attention q k v scale=inf", 8, 27, "scale out of range" },
    { A "y = attention q v v scale=1", 8, 17, "keys of [2,7,6] for queries of [4,5,8]" },
    { A "y = attention k q q scale=1", 8, 17, "2 query heads on 4 key heads" },
    { A "y = attention q k q scale=1", 8, 19, "equal heads and lengths" },
    { A "y = attention q k v b scale=1", 8, 21,
      "mask=none with 4 operands; expected mask=bool" },
    { A "y = attention q k v scale=1 mask=bool", 8, 34, "with 3 operands; expected a mask" },
    { A "y = attention q k v b scale=1 mask=bool", 8, 21, "mask of shape [2,3] for scores of" },
    { A "y = attention q k v b scale=1 mask=add", 8, 21,
      "mask=add of dtype bool; expected f32" },
    { A "y = attention q k v scale=1 mask=left", 8, 34,
      "expected one of none, causal, causal_br" },
    { A "y = attention q k v scale=1 empty=0", 8, 35, "expected one of nan, zero" },
    { H "input q f32 [1,8192,1]\ny = attention q q q scale=1", 6, 5, "too many elements" },
    { H "y = permute x [0]", 5, 15, "1 axes; expected 2" },
    { H "y = permute x [0,0]", 5, 18, "axis 0 is there twice" },
    { H "y = permute x [0,2]", 5, 18, "axis 2 is not there" },
    { H "y = reshape x [4]", 5, 15, "expected 6 elements as before, not 4" },
    { H "y = expand x [2,4]", 5, 17, "expected 3 here" },
    { H "y = expand x [3]", 5, 14, "expected at least rank 2" },
    { H "y = slice x [0:2]", 5, 17, "1 entries; expected 2" },
    { H "y = slice x [0:2,0:3,0:1]", 5, 22, "too many entries" },
    { H "y = slice x [0:2,0:4]", 5, 18, "takes elements 0 to 3; expected 0 to 2" },
    { H "y = slice x [0:2,3:-1:-1]", 5, 18, "takes elements 3 to 0" },
    { H "y = slice x [0:2:0,0:3]", 5, 14, "step 0" },
    { H "y = slice x [0,0:3]", 5, 15, "expected ':'" },
    { H "y = pad x [0:0,-1:0]", 5, 16, "pad -1:0" },
    { H "y = pad x [0:0,0:9999999]", 5, 11, "too many elements" },
    { H "y = pad i [0:0,0:0] value=0.5", 5, 27, "fill out of range" },
    { H "output x strides=[1,1]", 5, 18, "may share addresses" },
    { H "output x strides=[0,1]", 5, 18, "may share addresses" },
    { H "output x strides=[3]", 5, 18, "1 strides; expected 2" },
    /* schedule */
    { S "block s 4", 10, 1, "unknown step 'block'; expected one of" },
    { S "stge m.a m.r0", 10, 1, "(did you mean stage?)" },
    { S "fuze s m", 10, 1, "(did you mean fuse?)" },
    { S "fuse s", 10, 7, "unexpected end of line; expected a node" },
    { S "fuse s q", 10, 8, "unknown name 'q'" },
    { S "fuse s s", 10, 8, "fuse of s with itself" },
    { S "split s 4", 10, 7, "bad axis 's'; expected NODE.i0" },
    { S "split s.i1 4", 10, 7, "no axis s.i1; expected one of s.i0 s.r0" },
    { S "split s.m 4", 10, 7, "no axis s.m" },
    { S "split m.b 4", 10, 7, "no axis m.b; expected one of m.i0 m.i1 m.r0 m.m m.n m.k" },
    { S "split s.i 4", 10, 7, "bad axis" },
    { S "split s.i0.2 4", 10, 7, "bad axis" },
    { S "split s.i0.0.0.0.0.0.0.0 4", 10, 7, "bad axis" },
    { S "split s.i99999999999999999 4", 10, 7, "bad axis" },
    { S "split s.i0 0", 10, 12, "split by 0; expected 1 to 4096" },
    { S "split s.i0", 10, 11, "expected an integer count" },
    { S "split s.i0 2\nsplit s.i0 2", 11, 7, "axis s.i0 was split before" },
    { S "split s.i0 2\nsplit s.i0.0.1 2", 11, 7, "expected a split of s.i0.0 before it" },
    { S "unroll m.m.0", 10, 8, "no axis m.m.0; expected a split of" },
    { S "reorder s", 10, 10, "bad axis end of line" },
    { S "reorder m m.i0 m.m", 10, 16, "axis m.m stands twice" },
    { S "splitk x 2", 10, 8, "reduces nothing" },
    { S "splitk m 2 2", 10, 12, "expected one of workspace, serial, atomic" },
    { S "splitk m 2 serial 2", 10, 19, "expected the end of the line" },
    { S "vectorize s.i0 1", 10, 16, "vectorize by 1; expected 2 to 64" },
    { S "plan good", 10, 6, "expected one of off, linear, best" },
    { S "inplace yes", 10, 9, "expected one of off, on" },
    { S "set NOOPT 1", 10, 5, "bad knob 'NOOPT'; expected NAME.KNOB" },
    { S "set a.b.c 1", 10, 5, "bad knob 'a.b.c'; expected NAME.KNOB" },
    { S "set a.b -1", 10, 9, "bad value '-1'; expected at most 23 letters, digits and _" },
    { S "set a.b", 10, 8, "bad value end of line" },
    { S "set a.b 1 2", 10, 11, "unexpected '2'; expected the end of the line" },
    { S "set a.b 1\nset a.b 2", 11, 5, "second set of a.b; expected at most one" },
    { S "set a.b 1\nplan off", 11, 1, "plan after set; expected steps in pass order" },
    { S "plan off\nplan off", 11, 1, "second plan step" },
    { S "unroll s.i0\nfuse s m", 11, 1, "fuse after unroll; expected steps in pass order" },
    /* steps for GPUs */
    { S "tile m", 10, 7, "bad tile end of line; expected MxN or MxNxK" },
    { S "tile m 16 threads=4", 10, 8, "bad tile '16'; expected MxN" },
    { S "tile m 16x threads=4", 10, 8, "bad tile '16x'" },
    { S "tile m x16 threads=4", 10, 8, "bad tile 'x16'" },
    { S "tile m -1x16 threads=4", 10, 8, "bad tile '-1x16'" },
    { S "tile m 1x2x3x4 threads=4", 10, 8, "bad tile '1x2x3x4'" },
    { S "tile m 16x16", 10, 13, "unexpected end of line; expected threads=N" },
    { S "tile m 16x16 threads", 10, 21, "expected '=' after the key" },
    { S "tile m 16x16 threads=a", 10, 22, "unexpected 'a'; expected an integer count" },
    { S "tile m 16x16 threads=4 mmx", 10, 24, "expected the end of the line" },
    { S "tile q 16x16 threads=4", 10, 6, "unknown name 'q'" },
    { S "tile m.sc 16x16 threads=4", 10, 6, "tile of part m.sc; expected a composite" },
    { S "tile m 0x16 threads=4", 10, 8, "tile M of 0; expected 1 to 256" },
    { S "tile m 1x257 threads=4", 10, 8, "tile N of 257; expected 1 to 256" },
    { S "tile m 1x1x999999999 threads=4", 10, 8, "tile K of 999999999" },
    { S "tile m 1x1x9999999999 threads=4", 10, 8, "bad tile" },
    { S "tile m 16x16 threads=1025", 10, 22, "threads of 1025; expected 1 to 1024" },
    { S "tile m 16x16x8 threads=4\nunroll m.i0", 11, 8, "axis m.i0 was split before" },
    { S "tile m 16x16x8 threads=4\nunroll m.n.1", 11, 8, "axis m.n.1 was split before" },
    { S "tile m 16x16x8 threads=4\nunroll m.k.1.1", 11, 8, "expected a split of m.r0.1" },
    { S "tile m 16x16 threads=4\nunroll m.k.1", 11, 8, "no axis m.k.1; expected a split of" },
    { S "tile s 16x16 threads=4\nunroll m.m.0", 11, 8, "no axis m.m.0" },
    { S "bind m.i0", 10, 10, "unexpected end of line; expected one of block, thread" },
    { S "bind m.i0 warp", 10, 11, "unexpected 'warp'; expected one of block, thread" },
    { S "bind m block", 10, 6, "bad axis 'm'" },
    { S "bind m.i2 block", 10, 6, "no axis m.i2" },
    { S "bind m.i0 block\ntile m 4x4 threads=4", 11, 1, "tile after bind; expected steps in" },
    { S "stage m m.r0", 10, 7, "bad operand 'm'; expected NODE.a for the first" },
    { S "stage m.A m.r0", 10, 7, "bad operand 'm.A'" },
    { S "stage m.ab m.r0", 10, 7, "bad operand 'm.ab'" },
    { S "stage q.a m.r0", 10, 7, "unknown name 'q'" },
    { S "stage m.sc.a m.r0", 10, 7, "stage of part m.sc; expected a composite" },
    { S "stage m.a", 10, 10, "bad axis end of line" },
    { S "stage m.a m.r1", 10, 11, "no axis m.r1" },
    { S "stage m.a m.r0 deep=2", 10, 16,
      "expected depth=N, async or vec=N, each at most once" },
    { S "stage m.a m.r0 async async", 10, 22, "each at most once" },
    { S "stage m.a m.r0 vec=4 vec=4", 10, 22, "each at most once" },
    { S "stage m.a m.r0 vec=4 depth=6", 10, 28, "depth of 6; expected 1 to 5" },
    { S "stage m.a m.r0 depth=0", 10, 22, "depth of 0; expected 1 to 5" },
    { S "stage m.a m.r0 depth=5 async vec=3", 10, 34, "vec of 3 bytes; expected 2, 4, 8 or" },
    { S "stage m.a m.r0 vec=32", 10, 20, "vec of 32 bytes" },
    { S "epilogue m", 10, 11, "expected one of own, alias, global" },
    { S "epilogue q own", 10, 10, "unknown name 'q'" },
    { S "epilogue m own\nstage m.a m.r0", 11, 1, "stage after epilogue; expected steps in" },
    { S "swizzle m", 10, 9, "bad operand 'm'" },
    { S "swizzle m.a.b", 10, 9, "bad part 'm.a'" },
    { A "y = attention q k v scale=1\noutput y\nschedule\nalgo y flash", 11, 13,
      "unexpected end of line; expected block=N" },
    { A "y = attention q k v scale=1\noutput y\nschedule\nalgo y flash block=4 splits=65", 11,
      29, "splits of 65; expected 1 to 64" },
    { A "y = attention q k v scale=1\noutput y\nschedule\nalgo y split block=4 splits=2", 11,
      22, "expected the end of the line" },
    { Z "algo z flash block=2", 9, 8, "flash softmax; expected decomposed or online" },
    { Z "algo z", 9, 7, "unexpected end of line; expected one of decomposed, online, split" },
    { Z "algo z online", 9, 14, "unexpected end of line; expected block=N" },
    { Z "algo z online block=0", 9, 21, "algo by 0; expected 1 to 4096" },
    { Z "algo z decomposed block=2", 9, 19, "expected the end of the line" },
    { Z "algo z split block=2", 9, 8, "split softmax; expected decomposed or online" },
    { Z "algo s decomposed", 9, 6, "algo of neg; expected a composite" },
    { Z "algo z.mx decomposed", 9, 6, "algo of part z.mx; expected a whole composite" },
    { Z "algo z decomposed\nalgo z decomposed", 10, 6, "second algo step of z" },
    { Z "fuse s z\nalgo z decomposed", 10, 1, "algo after fuse; expected steps in pass order" },
    { Z "fuse s.mx z", 9, 6, "fuse of part s.mx; expected a composite, as neg has no parts" },
    { Z "fuse z.mx z.mx", 9, 11, "fuse of z with itself" },
    { Z "fuse z.m z", 9, 6, "bad part 'z.m'; expected two or more lower-case letters" },
    { Z "fuse z.mx.i0 z", 9, 6, "bad part 'z.mx.i0'" },
    { Z "fuse z.abcdefgh z", 9, 6, "at most 7 characters" },
    { Z "split s.mx.i0 2", 9, 7, "no axis s.mx.i0; expected one of s.i0 s.i1" },
    { Z "split z.i2 2", 9, 7, "no axis z.i2; expected one of z.i0 z.i1" },
    { Z "split z.mx 2", 9, 7, "bad axis 'z.mx'" },
    { Z "reorder z.mx z.mx.i0 z.mx.i0", 9, 22, "axis z.mx.i0 stands twice" },
    { S "schedule", 10, 1, "second schedule" },
    { S "y = neg x", 10, 1, "unknown step 'y'" },
    { S "output s", 10, 1, "'output' after the program" },
    /* data */
    { S "data seed=-1", 10, 11, "unexpected '-1'; expected an unsigned integer" },
    { S "data seed=18446744073709551616", 10, 11, "too large" },
    { S "data seed=1 seed=2", 10, 13, "each at most once" },
    { S "data recipe=odd", 10, 13, "expected one of normal, uniform, positive, ints, special" },
    { S "data recipe=exact", 10, 13, "no values of x; expected a values line for every input" },
    { H "output x\ndata recipe=exact\nvalues x [1,2,3,4,5,6]", 6, 13, "no values of b" },
    { S "data\ndata", 11, 1, "second data line" },
    { S "data\nplan off", 11, 1, "unexpected 'plan' after the data" },
    { S "values s [1,2]", 10, 8, "s, which is no input" },
    { S "values x [1,2]", 10, 14, "2 values of x; expected 6" },
    { S "values x [1,2,3,4,5,6,7]", 10, 23, "7 values of x; expected 6" },
    { S "values i [1,2,3,4,5.5,6]", 10, 19, "expected an integer from" },
    { S "values x [1,2,3,4,5,6]\nvalues x [1,2,3,4,5,6]", 11, 8, "second values line" },
    { S "values x 1", 10, 10, "expected '['" },
};

/* The caret stands in the excerpt under the column that the error names. */
static void assert_caret(const struct err *e, const char *text)
{
    const char *nl = strchr(e->excerpt, '\n'), *line = text;

    assert_non_null(nl);
    assert_int_equal(strspn(nl + 1, " "), 2 + e->col - 1);
    assert_string_equal(nl + 1 + strspn(nl + 1, " "), "^\n");
    for (int i = 1; i < e->line; i++)
        line = strchr(line, '\n') + 1;
    assert_int_equal(strncmp(e->excerpt + 2, line, strcspn(line, "\n\x7f")), 0);
}

static void messages_name_place_and_cause(void **state)
{
    struct arena a;
    int wrong = 0;

    (void)state;
    arena_init(&a);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct err e = { 0 };
        struct trial *t;
        const char *text = bad[i].text;
        int rc = trial_parse(text, strlen(text), &a, &t, &e);

        if (rc != ERR_INPUT || e.line != bad[i].line || e.col != bad[i].col ||
            !strstr(e.msg, bad[i].part) || !strstr(e.msg, "; expected ")) {
            print_error("%s\nwant %d:%d: %s\ngot  %d:%d: %s\n%s\n", text, bad[i].line,
                        bad[i].col, bad[i].part, e.line, e.col, rc ? e.msg : "no error",
                        e.excerpt);
            wrong++;
        } else {
            assert_null(t);
            assert_caret(&e, text);
        }
        arena_reset(&a);
    }
    assert_int_equal(wrong, 0);
    arena_release(&a);
}

/* A far column of a long line: the excerpt is cut, and the caret still under the word. */
static void long_lines_are_cut_round_the_caret(void **state)
{
    struct str s = { 0 };
    struct err e = { 0 };
    struct arena a;
    struct trial *t;
    const char *caret;

    (void)state;
    arena_init(&a);
    str_puts(&s, "tilefuzz 1\ninput x f32 [1000]\noutput x\nvalues x [");
    for (int i = 0; i < 1000; i++)
        str_puts(&s, i == 500 ? "oops," : "1,");
    assert_int_equal(trial_parse(s.s, s.n, &a, &t, &e), ERR_INPUT);
    assert_int_equal(e.line, 4);
    assert_int_equal(e.col, 11 + 1000);
    caret = strchr(e.excerpt, '\n') + 1;
    assert_memory_equal(e.excerpt + (strchr(caret, '^') - caret), "oops", 4);
    assert_true(strlen(e.excerpt) < sizeof e.excerpt);
    str_release(&s);
    arena_release(&a);
}

static void floods_are_refused(void **state)
{
    size_t bytes = 10 * 1000 * 1000;
    unsigned char *noise = malloc(bytes);
    struct str s = { 0 };
    struct err e = { 0 };
    struct arena a;
    struct trial *t;
    uint64_t x = 1;

    (void)state;
    arena_init(&a);
    for (size_t i = 0; i < bytes; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        noise[i] = (unsigned char)(x >> 56);
    }
    assert_int_equal(trial_parse((char *)noise, bytes, &a, &t, &e), ERR_INPUT);
    assert_non_null(strstr(e.msg, "too large"));
    assert_int_equal(trial_parse((char *)noise, TRIAL_TEXT_MAX, &a, &t, &e), ERR_INPUT);
    str_puts(&s, "tilefuzz 1\n");
    for (int i = 0; i <= MAX_NODES; i++)
        str_add(&s, "n%d = iota i32 [1] axis=0\n", i);
    assert_int_equal(trial_parse(s.s, s.n, &a, &t, &e), ERR_INPUT);
    assert_int_equal(e.line, 2 + MAX_NODES);
    assert_non_null(strstr(e.msg, "too many nodes; expected at most 4096"));
    str_clear(&s);
    str_puts(&s, "tilefuzz 1\ninput x f32 [2]\noutput x\nschedule\n");
    for (int i = 0; i <= MAX_STEPS; i++)
        str_puts(&s, "unroll x.i0\n");
    assert_int_equal(trial_parse(s.s, s.n, &a, &t, &e), ERR_INPUT);
    assert_non_null(strstr(e.msg, "too many steps"));
    str_release(&s);
    free(noise);
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_name_place_and_cause),
        cmocka_unit_test(long_lines_are_cut_round_the_caret),
        cmocka_unit_test(floods_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
