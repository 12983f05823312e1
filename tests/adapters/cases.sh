#!/bin/sh
# Failures of libraries that are not ours, each as small as it gets (cases/*.trial), and what their
# plug-ins must not say: a case that passes means that an adapter, the judge or the library has
# changed. Then a short hunt on each, round the known failures (TILEFUZZ_AROUND). The first lines of a
# case say what to expect, the environment, and the CPU flag without which it can't be run.
source=$(cd "$(dirname "$0")/../.." && pwd)
. "$(dirname "$0")/../cli/lib.sh"

cases=$source/tests/adapters/cases
here=
export TILEFUZZ_ADAPTERS="$PWD/adapters"
for name in openblas blis onednn; do
    if "$source/scripts/adapters/setup" $name >"$name.is" 2>"$name.log"; then
        here="$here $name"
    else
        echo "absent: $(cat $name.log)"
    fi
done
[ -n "$here" ] || exit 77

line() { sed -n "s/^# $1 //p" "$2"; }

for name in $here; do
    for f in "$cases/$name"-*.trial; do
        want=$(line expect "$f")
        flag=$(line needs "$f")
        if [ -n "$flag" ] && ! grep -qw "$flag" /proc/cpuinfo; then
            echo "not run: $f needs $flag"
            continue
        fi
        with=$(line with "$f")
        # shellcheck disable=SC2086
        env $with "$tilefuzz" run "$f" --backends "$(cat $name.is)" >out 2>err || true
        found=
        for w in $want; do
            grep -q "ieee $w" out && found=$w
        done
        [ -n "$found" ] || wrong "$f: no $want: $(cat out err)"
    done
done

# what is known avoided, a hunt is clean
for name in $here; do
    rc=0
    TILEFUZZ_AROUND=all "$tilefuzz" fuzz -q --steps=none --seed 3 --trials 1500 -j 1 --db $name.db \
        --gen.f32_percent 80 --backends "$(cat $name.is)" >out 2>err || rc=$?
    [ $rc -eq 0 ] || wrong "$name: a hunt round what is known is not clean: $(tail -n 30 out)"
    tail -n 1 out
done
finish
