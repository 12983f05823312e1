#!/bin/sh
# run --copies: the edge over which something is wrongly fused is the one whose copy repairs the
# answer; a value that is kept in excess precision over an edge is right, and yet not the same
# with a copy there. Nothing is said of what is healthy, and of rounding no more than that.
root=$(realpath "$(dirname "$0")/../..")
. "$(dirname "$0")/lib.sh"
export PYTHONPATH="$root/scripts/adapters"

# ours
faulty=$root/corpus/faults/copy_copy_fusion_drops_view.trial
ok 1 run "$faulty" --copies --fault copy_copy_fusion_drops_view --backends interp
says 'interp ring: copy on operand 0 of v6 (c5) repairs it: fused there (without 1 step'
ok 0 run "$faulty" --copies
says 'interp: copies on 3 edges: 0 repair, 0 break, 0 change bits, 0 differ, 0 not run'
says 'tcc: copies on 3 edges: 0 repair, 0 break, 0 change bits, 0 differ, 0 not run'
for i in 3 8 11 17 26; do
    "$tilefuzz" gen --seed 91 --trial $i >$i.trial || wrong "gen"
done
ok 0 run 3.trial 8.trial 11.trial 17.trial 26.trial --copies
ok 0 run 3.trial --copies --json
json_keys schema file verdicts copies
python3 -c '
import json
rows = json.loads(open("out").read())["copies"]
assert {r["backend"] for r in rows} == {"interp", "tcc"}, rows
assert all(r["effect"] in ("none", "differs") for r in rows), rows
for k in ("node", "operand", "from", "algebra", "exact", "before", "after", "left_out"):
    assert k in rows[0], k
' || wrong "copies: $(head -c 1500 out)"
ok 0 run 3.trial --json
grep -q '"copies"' out && wrong "copies that nobody asked for"

# of others
for python in python3 /usr/bin/python3 none; do
    $python -c 'import numpy' 2>/dev/null && break
done
if [ $python = none ]; then
    echo "no Python with NumPy: the toy is not tested"
    finish
fi
toy="exec:$python $root/tests/plugin/toy.py"
cat >fuse.trial <<'END'
tilefuzz 1
input x f32 [3,4]
a = neg x
p = permute a [1,0]
s = sum p axes=[0]
b = neg s
output b
END
cat >excess.trial <<'END'
tilefuzz 1
input x f32 [3,4]
input y f32 [3,4]
m = mul x y
n = neg y
s = add m n
output s
END
cat >round.trial <<'END'
tilefuzz 1
input x f32 [3,4]
input y f32 [3,4]
m = mul x y
s = add m y
z = sum s axes=[0]
output z
END
TOY_BUG=fuse ok 1 run fuse.trial --copies --backends "$toy"
says 'ieee: copy on operand 0 of s (p) repairs it: fused there'
says 'copies on 4 edges: 1 repair, 0 break, 0 change bits, 0 differ, 0 not run'
TOY_BUG=excess ok 0 run excess.trial --backends "$toy"
TOY_BUG=excess ok 1 run excess.trial --copies --backends "$toy"
says 'copy on operand 0 of s (m) changes the bits, and there is one right result'
says 'copies on 5 edges: 0 repair, 0 break, 1 change bits, 0 differ, 0 not run'
# the order of a sum is free, so that nothing more can be said of what goes into it
TOY_BUG=excess ok 0 run round.trial --copies --backends "$toy"
says 'copy on operand 0 of s (m) gives other bits, within what is right'
for t in fuse excess round; do
    ok 0 run $t.trial --copies --backends "$toy"
    says '0 repair, 0 break, 0 change bits, 0 differ, 0 not run'
done
finish
