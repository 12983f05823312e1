#!/bin/sh
# run: verdicts of every backend in both algebras, by bound or tolerance, of files and bugs.
. "$(dirname "$0")/lib.sh"

printf 'tilefuzz 1\ninput x f32 [4,3]\ny = sum x axes=[1]\noutput y\n' >sum.trial
ok 0 run sum.trial
says 'interp ring PASS'
says 'tcc *ieee PASS'
ok 0 run sum.trial --json --algebra ring --backends tcc
json_keys schema file key verdicts
python3 -c '
import json
v = json.loads(open("out").read())["verdicts"]
assert [(x["backend"], x["algebra"]) for x in v] == [("tcc", "ring")], v
for k in ("recipe", "kind", "class", "where", "want", "got", "bound"): assert k in v[0], k
' || wrong "verdicts: $(cat out)"
ok 0 run sum.trial --rtol 1e-5 --atol 0
says 'by tolerance'

ok 1 fuzz -q --seed 1 --fault padded_stride_taken_dense --stop-at 1 --db r.db
ok 1 run 1 --db r.db
says MISMATCH
ok 1 run 1 --db r.db --json
python3 -c '
import json
v = [x for x in json.loads(open("out").read())["verdicts"] if x["kind"] == "MISMATCH"][0]
assert v["where"] and v["class"] and v["want"] is not None and v["got"] is not None, v
' || wrong "mismatch: $(cat out)"
ok 0 run 1 --db r.db --fault none
ok 0 show 1 --db r.db
cp out bug.trial
ok 0 run bug.trial
ok 1 run bug.trial sum.trial --fault padded_stride_taken_dense
says 'sum.trial: tcc'
"$tilefuzz" run - --fault padded_stride_taken_dense <bug.trial >out
[ $? -eq 1 ] || wrong "standard input is not read"

printf 'tilefuzz 1\ninput x f32 [4]\ny = exp x\noutput y\nschedule\nsplit y.i3 2\n' >bad.trial
fails 3 'bad.trial:6:7' run bad.trial
fails 3 'nofile' run nofile
fails 2 'which trials' run
fails 2 "no backend 'gpu9'" run sum.trial --backends gpu9

finish
