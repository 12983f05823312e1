#!/bin/sh
# bench and the judges: small runs of each bench, their keys, and what --judge takes.
. "$(dirname "$0")/lib.sh"

ok 0 bench speed --trials 20 --json
json_keys schema preset trials verified_per_cpu_s tcc_floor_per_cpu_s phases simt_ops_per_cpu_s
python3 -c '
import json
b = json.loads(open("out").read())
s = b["simt"]
for k in "build matmul_ms tcc_ops_per_cpu_s tcc_matmul_ms trials_per_cpu_s findings".split():
    assert k in s, k
# 64^3 multiply-adds and the accesses round them
assert b["simt_ops_per_cpu_s"] * s["matmul_ms"] * 1e-3 > 64 ** 3, s
assert b["simt_ops_per_cpu_s"] >= s["tcc_ops_per_cpu_s"] * 0.5 > 1e6, s
assert s["findings"] == 0, s
' || wrong "bench speed: $(cat out)"

ok 0 bench judge --trials 40
says '^all faults'
says '^false alarms'
ok 0 bench judge --trials 60 --json
json_lines
json_keys judge clean_trials false_alarms faults
python3 -c '
import json
rows = [json.loads(l) for l in open("out")]
names = [r["judge"] for r in rows]
assert names == ["bound", "rtol1e-5", "rtol1e-3", "torch", "flash"], names
assert rows[0]["false_alarms"] == 0, rows[0]["false_alarms"]
for r in rows:
    assert r["clean_trials"] == rows[0]["clean_trials"] > 0
    for f, ours in zip(r["faults"], rows[0]["faults"]):
        for k in ("id", "stage", "activated", "found"): assert k in f, k
        assert f["id"] == ours["id"] and f["activated"] == ours["activated"]
        assert 0 <= f["found"] <= f["activated"], f
total = [sum(f["found"] for f in r["faults"]) for r in rows]
assert total[0] == max(total) > 0, total
' || wrong "bench judge: $(head -c 1000 out)"
cp out first
ok 0 bench judge --trials 60 --json
cmp -s out first || wrong "bench judge does not repeat"
ok 0 bench judge --trials 60 --json --fault liveness_ignores_loops
[ "$(grep -o '"id"' out | wc -l)" -eq 5 ] || wrong "--fault does not narrow: $(cat out)"

ok 0 bench faults --seeds 1 --trials 200 --fault liveness_ignores_loops --json
json_lines
json_keys clean_trials false_alarms faults
python3 -c '
import json
b = json.loads(open("out").read())
keys = "id stage found seeds trials_median cpu_s_median nodes class_ok pass_ok step_ok activated"
f, = b["faults"]
for k in keys.split(): assert k in f, k
assert b["clean_trials"] == 200 and b["false_alarms"] == 0, b
assert f["found"] == f["pass_ok"] == f["class_ok"] == f["step_ok"] == f["seeds"] == 1, f
assert f["nodes"] <= 4 and f["activated"] >= 1, f
' || wrong "bench faults: $(cat out)"
ok 0 bench faults --seeds 1 --trials 3 --fault pad_mask_reshape_nondivisible
fails 2 'there are bench speed' bench sleep
fails 2 'bench what' bench

printf 'tilefuzz 1\ninput x f32 [4,3]\ny = sum x axes=[1]\noutput y\n' >sum.trial
for j in rtol1e-5 rtol1e-3 torch flash; do
    ok 0 run sum.trial --judge $j
    says "by $j"
    if grep -q 'ring\|exact' out; then wrong "judge $j looks at more than ieee: $(cat out)"; fi
done
ok 0 run sum.trial --judge bound
says 'ring PASS'
says 'exact0 PASS'
ok 0 run sum.trial --judge tolerance --rtol 1e-5
says 'by tolerance'
fails 2 "no judge 'eye'" run sum.trial --judge eye
fails 2 'ieee only' run sum.trial --judge torch --algebra ring
fails 2 'its own rtol' run sum.trial --judge torch --rtol 1

# what another judge found is looked at by that judge only
ok 1 fuzz -q --seed 1 --fault half_accumulate_or_mean --judge torch --stop-at 1 --db t.db
says 'judge torch'
ok 0 replay --db t.db
says 'found by judge torch: give --judge torch'
ok 1 run 1 --db t.db --judge torch
ok 1 fuzz -q --seed 1 --fault liveness_ignores_loops --judge flash --stop-at 1 --db f.db
ok 0 explain 1 --db f.db --judge flash
says 'plan'
finish
