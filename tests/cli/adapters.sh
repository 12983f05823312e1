#!/bin/sh
# Adapters of Python's frameworks: NumPy is right about everything but one, and what older and newer
# versions of tinygrad, PyTorch 1.13.1, ONNX Runtime and JAX are known to get wrong is found wrong
# again (but for tinygrad not if the adapter is told to keep away from it). Only versions that
# scripts/adapters/setup has put here are asked; the others are named.
here=$(cd "$(dirname "$0")/../.." && pwd)
. "$(dirname "$0")/lib.sh"
adapters=$here/scripts/adapters

# backend NAME==VERSION: sets $backend; false if it isn't here
backend() {
    root=$("$adapters/setup" --list | sed -n "s/^$1 ([a-z_]*): \(\/.*\)/\1/p")
    [ -n "$root" ] || { echo "not installed, so not asked: $1"; return 1; }
    backend="exec:$root/bin/python $adapters/${1%%==*}_adapter.py"
    asked=$((asked + 1))
}

# wrong_in VERSION NAME: tinygrad VERSION gets the trial NAME wrong, NumPy doesn't
wrong_in() {
    backend "tinygrad==$1" && ok 1 run "$2.trial" --backends "$backend" && says MISMATCH
    backend numpy==2.4.6 >/dev/null && ok 0 run "$2.trial" --backends "$backend"
}
asked=0

cat >pad_of_bool.trial <<'END'
tilefuzz 1
input x bool [2,3]
y = cast x f32
z = pad y [0:0,2:3] value=-1
output z
values x [1,1,1,1,1,1]
END
cat >partial_flip.trial <<'END'
tilefuzz 1
input x f32 [6]
a = reshape x [2,3]
b = permute a [1,0]
c = reshape b [6]
d = slice c [4:1:-1]
output d
values x [0,1,2,3,4,5]
END
cat >gather_beside_inf.trial <<'END'
tilefuzz 1
input x f32 [3]
input i i32 [2]
y = gather x i axis=0
output y
values x [1,inf,3]
values i [0,2]
END
cat >cast_down_and_up.trial <<'END'
tilefuzz 1
input x f32 [1]
h = cast x f16
y = cast h f32
output y
values x [-0.99401855]
END
cat >double_negation.trial <<'END'
tilefuzz 1
input x i32 [1]
a = neg x
b = expand a [2]
c = neg b
output c
values x [3]
END
cat >lost_write.trial <<'END'
tilefuzz 1
input x i32 [1]
a = copy x
b = assign a 3 [0:1:3]
output b
values x [1]
END

# what ONNX and XLA leave to whoever runs a program, or where their ops want other operands
cat >left_open.trial <<'END'
tilefuzz 1
input x f16 []
a = add x 1
r = recip a
input j i32 [2]
s = sum j axes=[0]
output r
output s
values x [0.4]
values j [1,2147483647]
END
cat >said_otherwise.trial <<'END'
tilefuzz 1
input x f64 [2]
input i i32 [4]
input m i32 [4]
g = gather x i axis=0
n = layernorm x x x eps=0.001
d = div m i
r = roll x shift=[1]
output g
output n
output d
output r
values x [1,3]
values i [-1,0,1,2]
values m [-2147483648,7,7,7]
END

wrong_in 0.14.0 pad_of_bool
wrong_in 0.14.0 cast_down_and_up
wrong_in 0.9.2 partial_flip
wrong_in 0.9.2 double_negation
wrong_in 0.10.3 gather_beside_inf
wrong_in 0.9.2 gather_beside_inf
wrong_in 0.10.3 lost_write

# each_case NAME: $backend gets its cases wrong, and right when it is told to keep away from them
each_case() {
    for f in "$here"/tests/adapters/cases/"$1"-*.trial; do
        number=${f##*-00}
        number=${number%.trial}
        ok 1 run "$f" --backends "$backend"
        says "$(sed -n 's/^# expect //p' "$f")"
        export TILEFUZZ_AROUND="$number"
        ok 0 run "$f" --backends "$backend"
        unset TILEFUZZ_AROUND
    done
}
if backend torch==1.13.1; then
    each_case pytorch
fi
if backend onnx==1.23.2; then
    each_case onnx
    ok 0 run left_open.trial --backends "$backend"
    ok 0 run said_otherwise.trial --backends "$backend"
fi
if backend jax==0.10.2; then
    each_case jax
    ok 0 run left_open.trial --backends "$backend"
    ok 0 run said_otherwise.trial --backends "$backend"
fi
if backend numpy==2.4.6; then
    each_case numpy
    export TILEFUZZ_AROUND=all
    ok 0 fuzz -q --seed 5 --trials 150 --backends "$backend" --db a.db
    says '0 findings'
    unset TILEFUZZ_AROUND
fi
# what a hunt finds there is written up already; that it goes on to its end is what is asked
if backend tinygrad==0.14.0; then
    "$tilefuzz" fuzz -q --seed 5 --trials 40 --steps none --budget 20 -j 1 --db t.db \
        --gen.max_work 3000 --backends "$backend" >out 2>err
    [ $? -le 1 ] || wrong "a hunt on tinygrad: $(tail -n 5 err)"
    says 'trials:'
    tail -n 1 out
fi
[ $asked -gt 0 ] || exit 77
finish
