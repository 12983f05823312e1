#!/bin/sh
# A campaign says the same whatever the number of workers, again, in shards, and interrupted.
. "$(dirname "$0")/lib.sh"

# the last JSON object of a run, without what may differ
last() {
    python3 -c '
import json, sys
d = json.loads(open(sys.argv[1]).readlines()[-1])
assert d["trials"] == d["verified"] + d["unsupported"] + d["untrusted"], "the sum is wrong"
for k in ("cpu_s", "wall_s", "trials_per_cpu_s", "db"): del d[k]
print(json.dumps(d))' "$1" >"$2" || wrong "$1: $(head -c 300 "$1")"
}

same() {
    cmp -s "$1" "$2" || wrong "$1 and $2 differ: $(cat "$1" "$2" | head -c 3000)"
}

# RC ARG..: once with 1 job, once with 3, and once more into the same database
compare() {
    rc=$1
    shift
    rm -f a.db* b.db*
    ok "$rc" fuzz --json -q --jobs 1 --db a.db "$@"
    last out one
    ok "$rc" fuzz --json -q --jobs 3 --db b.db "$@"
    last out three
    ok "$rc" fuzz --json -q --jobs 2 --db a.db "$@"
    last out again
    same one three
    same one again
}

compare 0 --seed 3 --trials 300
compare 0 --seed 4 --trials 100 --preset mha
compare 1 --seed 1 --trials 400 --fault liveness_ignores_loops
compare 1 --seed 2 --fault split_guard_dropped --trials 2000 --stop-at 1
compare 1 --seed 2 --fault guard_fill_narrowed --trials 2000 --stop-at 1
json_lines
json_keys schema seed trials verified judged unsupported untrusted suspect findings bugs cpu_s \
    wall_s trials_per_cpu_s db

# shards are a partition
total=0
for i in 0 1 2; do
    ok 0 fuzz --json -q --seed 3 --trials 100 --shard $i/3 --db s.db
    total=$((total + $(python3 -c 'import json
print(json.loads(open("out").readlines()[-1])["trials"])')))
done
[ $total -eq 100 ] || wrong "three shards of 100 trials have $total"

# the first line and the last line of a finding are commands
ok 1 fuzz -q --seed 1 --trials 2000 --fault copy_copy_fusion_drops_view --stop-at 1 --db p.db
head -n 1 out | grep -q "fuzz -q --seed 1 --trials 2000" || wrong "first line: $(head -n 1 out)"
line=$(grep 'explain [0-9]* --db p.db$' out)
[ -n "$line" ] || wrong "no line to paste: $(cat out)"
sh -c "$line" >explained 2>&1 || wrong "'$line' fails: $(cat explained)"
from=$(sed -n 's/^  from: //p' out)
sh -c "$from" >/dev/null 2>&1
[ $? -eq 1 ] || wrong "'$from' finds nothing"

# the same where a tolerance judged: commands name it, and a replay without it changes nothing
ok 1 fuzz -q --seed 1 --trials 300 --rtol 1e-9 --backends tcc --stop-at 1 --db t.db
line=$(grep 'explain [0-9]* --db t.db --backends tcc --rtol 1e-09 --atol 0$' out)
from=$(sed -n 's/^  from: //p' out)
sh -c "$line" >explained 2>&1 || wrong "'$line' fails: $(cat explained)"
grep -q '^guilty pass' explained || wrong "'$line': $(cat explained)"
sh -c "$from" >/dev/null 2>&1
[ $? -eq 1 ] || wrong "'$from' finds nothing"
for c in explain min; do
    ok 0 $c 1 --db t.db
    says 'give --rtol and --atol'
done
ok 0 replay --db t.db
says 'skipped.*--rtol'
ok 0 replay --db t.db --rtol 1e-9
says 'still open'

# Ctrl-C: it finishes and reports
"$tilefuzz" fuzz --json -q --for 1h --jobs 2 --db i.db >out 2>err &
pid=$!
sleep 2
kill -INT $pid
wait $pid
[ $? -eq 130 ] || wrong "interrupted: exit is not 130"
json_keys schema trials
last out interrupted

finish
