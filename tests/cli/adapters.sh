#!/bin/sh
# Adapters of Python's frameworks: a hunt on NumPy, told to keep away from the one thing that it gets
# wrong, is clean; one on tinygrad goes on to its end; what frameworks leave open is no finding. Only
# versions that scripts/adapters/setup has put here are asked; the others are named. What they are
# known to get wrong is asked by ../adapters/python.sh.
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

wrong_in 0.10.3 lost_write

if backend onnx==1.23.2; then
    ok 0 run left_open.trial --backends "$backend"
    ok 0 run said_otherwise.trial --backends "$backend"
    # the model that the adapter writes is the one of `show --as onnx`
    export TILEFUZZ_AROUND=all
    ok 0 fuzz -q --seed 5 --trials 150 --backends "$backend CHECK=1" --db o.db
    says '0 findings'
    unset TILEFUZZ_AROUND
fi
if backend jax==0.10.2; then
    ok 0 run left_open.trial --backends "$backend"
    ok 0 run said_otherwise.trial --backends "$backend"
fi
if backend numpy==2.4.6; then
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
