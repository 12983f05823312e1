#!/bin/sh
# The same as cases.sh for libraries of Python: their failures are still there, and not there round
# what is known (TILEFUZZ_AROUND), unless a case says `# around no` (what is not
# drawn then is still there when asked for). Cases with `# expect PASS` were
# failures of an adapter of ours. Nothing is fetched: what scripts/adapters/setup has not put into
# the user's cache before is not run.
source=$(cd "$(dirname "$0")/../.." && pwd)
. "$(dirname "$0")/../cli/lib.sh"

setup=$source/scripts/adapters/setup
line() { sed -n "s/^# $1 //p" "$2"; }

ran=0
for f in "$source"/tests/adapters/cases/*.trial; do
    lib=$(basename "$f")
    lib=${lib%%-*}
    [ "$lib" = pytorch ] && lib=torch
    case $lib in
    openblas | blis | onednn) continue ;;
    esac
    version=$(line version "$f")
    here=$("$setup" --list | grep "^$lib==$version" | head -n 1)
    case $here in
    "" | *"not here") continue ;;
    esac
    backend=$("$setup" "${here%% *}")
    want=$(line expect "$f")
    with=$(line with "$f")
    # shellcheck disable=SC2086
    env $with "$tilefuzz" run "$f" --backends "$backend" --deadline 60 >out 2>err || true
    found=
    for w in $want; do
        grep -q "ieee.* $w" out && found=$w
    done
    [ -n "$found" ] || wrong "$f: no $want: $(cat out err)"
    ran=$((ran + 1))
    [ "$want" = PASS ] || [ "$(line around "$f")" = no ] && continue
    # shellcheck disable=SC2086
    env $with TILEFUZZ_AROUND=all "$tilefuzz" run "$f" --backends "$backend" --deadline 60 >out 2>err ||
        true
    grep -Eq "PASS|UNSUPPORTED" out && ! grep -Eq "MISMATCH|BUILD_FAILED|CRASH|HANG" out ||
        wrong "$f: not avoided: $(cat out err)"
done
[ $ran -gt 0 ] || exit 77
echo "$ran cases"
finish
