#!/bin/sh
# nvFuser's bug: copies past the end that nobody waits for behind the loop, in a small kernel with
# the epilogue over the stages. Silent with two stages, found with three, four and five, and
# some schedule of the SIMT machine makes it a wrong value, the same whenever it is run.
# usage: founding.sh TILEFUZZ
set -u
tilefuzz=$1
fault=async_zero_fill_after_loop
bad=0
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

wrong() {
    echo "WRONG: $*"
    bad=1
}

for depth in 2 3 4 5; do
    f=$tmp/$depth.trial
    cat >"$f" <<END
tilefuzz 1
input a f32 [16,$((8 * depth))]
input b f32 [$((8 * depth)),16]
m = matmul a b
output m
schedule
tile m 16x16x8 threads=32
stage m.a m.r0.0 depth=$depth async
stage m.b m.r0.0 depth=$depth async
epilogue m alias
data seed=1 recipe=normal
END
    "$tilefuzz" run "$f" >"$tmp/out" 2>&1 || wrong "depth $depth: a healthy kernel: $(cat "$tmp/out")"
    "$tilefuzz" run "$f" --backends interp,tcc,simt --fault $fault >"$tmp/out" 2>&1
    rc=$?
    if [ $depth = 2 ]; then
        [ $rc = 0 ] || wrong "depth 2: $(cat "$tmp/out")"
        continue
    fi
    [ $rc = 1 ] && grep -q RACE "$tmp/out" || wrong "depth $depth: exit $rc: $(cat "$tmp/out")"
    "$tilefuzz" explain "$f" --fault $fault --json >"$tmp/json"
    grep -q '"pass":"ring","rewrite":"ring.drain"' "$tmp/json" || wrong "depth $depth: blamed: $(cat "$tmp/json")"
    grep -q 'wait 0' "$tmp/json" || wrong "depth $depth: what is missing is not told"
    n=$(sed -n 's/.*"value":{"schedule":\([0-9]*\),.*"again":true.*/\1/p' "$tmp/json")
    if [ -z "$n" ]; then
        wrong "depth $depth: no wrong value"
        continue
    fi
    for i in 1 2; do
        "$tilefuzz" run "$f" --backends simt --schedule "$n" --fault $fault >"$tmp/value$i" 2>&1
    done
    grep -q MISMATCH "$tmp/value1" || wrong "depth $depth, schedule $n: $(cat "$tmp/value1")"
    cmp -s "$tmp/value1" "$tmp/value2" || wrong "depth $depth, schedule $n: not the same again"
    "$tilefuzz" run "$f" --backends simt --schedule "$n" >"$tmp/out" 2>&1 ||
        wrong "depth $depth, schedule $n: a healthy kernel: $(cat "$tmp/out")"
done
exit $bad
