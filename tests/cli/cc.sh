#!/bin/sh
# cc: trials drawn for gcc and clang say the same for any number of workers; what only compiled
# code shows is kept, run, explained and minimized on the configuration that showed it.
. "$(dirname "$0")/lib.sh"

printf 'tilefuzz 1\ninput x f32 [4,3]\ny = sum x axes=[1]\noutput y\n' >sum.trial
"$tilefuzz" list backends --json >rows
grep '"id":"cc:' rows | grep -q '"available":"yes"' || exit 77

small="--gen.max_nodes 4 --gen.mul_adds 300" # compilers take their time

# last RC FILE ARG..: the last object of a hunt, without what may differ
last() {
    rc=$1
    to=$2
    shift 2
    ok "$rc" fuzz --json -q "$@"
    python3 -c '
import json, sys
d = json.loads(open("out").readlines()[-1])
for k in ("cpu_s", "wall_s", "trials_per_cpu_s", "db"): del d[k]
for b in d["bugs"]: b["repro"] = None
print(json.dumps(d))' >"$to" || wrong "no last object: $(head -c 300 out)"
}

last 0 one --seed 3 --trials 140 $small --cc-every 1 --jobs 1 --db a.db
last 0 three --seed 3 --trials 140 $small --cc-every 1 --jobs 3 --db b.db
cmp -s one three || wrong "1 and 3 jobs differ: $(cat one three | head -c 3000)"
python3 -c '
import json
d, rows = json.load(open("one")), [json.loads(r) for r in open("rows")]
here = [r["id"].removeprefix("cc:") for r in rows if r["available"] == "yes"
        and (r["id"].startswith("cc:") or r["id"] in ("nvrtc", "cuda"))]
assert [c["config"] for c in d["cc"]] == here, d["cc"]
assert sum(c["trials"] for c in d["cc"]) == 140, d["cc"]
assert all(c["trials"] > 0 and c["verdicts"] >= (1 if c["config"] == "nvrtc" else 2) * c["trials"]
           for c in d["cc"]), d["cc"]
' || wrong "counts: $(head -c 1000 one)"
ok 0 db sql "select counters from campaigns" --db a.db
says '"cc":\[{"config":'
ok 0 db sql "select knobs, backends from campaigns" --db a.db
says 'cc_every = 1'
says 'cc:'

ok 0 run sum.trial --backends cc --json
n=$(grep -c '"id":"cc:.*"available":"yes"' rows)
python3 -c '
import json, sys
v = json.loads(open("out").read())["verdicts"]
assert len({x["backend"] for x in v}) == int(sys.argv[1]), v
' "$n" || wrong "run --backends cc: $(cat out)"
fails 2 "no backend 'cc:tcc'" run sum.trial --backends cc:tcc

# a bug of the emitter, which interp can't see, and tcc isn't asked
config=$(sed -n 's/.*"id":"\(cc:[^"]*\)".*"available":"yes".*/\1/p' rows | head -n 1)
ok 1 fuzz -q --seed 2 --trials 3000 --fault guard_fill_narrowed \
    --backends "interp,$config" --cc-every 1 --stop-at 1 --db e.db
says "on $config"
line=$(grep 'explain [0-9]* --db e.db' out)
from=$(sed -n 's/^  from: //p' out)
sh -c "$line" >explained 2>&1 || wrong "'$line' fails: $(cat explained)"
grep -q 'guilty pass *emit' explained || wrong "explained: $(cat explained)"
sh -c "$from" >found 2>&1
[ $? -eq 1 ] || wrong "'$from' finds nothing: $(cat found)"
ok 0 db show 1 --json --db e.db
says '"cause":"value compiled emit -"'
says '"backend":"cc:'
ok 1 run 1 --db e.db
says 'cc:.*MISMATCH'
ok 0 run 1 --db e.db --fault none
says 'cc:.*PASS'
ok 0 min 1 --db e.db -o .
ok 0 show 1 --db e.db
cp out bug.trial
ok 0 min bug.trial --fault guard_fill_narrowed --backends "$config" -o .
grep -q "std=gnu11.* repro.c -lm" bug.repro.c || wrong "the repro does not say how to build it"
ok 0 replay --db e.db
says 'still open'

# without compilers there is no cc, and a hunt goes on without
mkdir empty
PATH=$tmp/empty "$tilefuzz" list backends >out 2>err
says 'cc:gcc-O0 .*available no, why gcc: No such file'
PATH=$tmp/empty "$tilefuzz" fuzz -q --trials 50 --cc-every 1 --db n.db >out 2>err || wrong "$(cat err)"
PATH=$tmp/empty "$tilefuzz" run sum.trial --backends cc >out 2>err
[ $? -eq 3 ] || wrong "cc without compilers is not refused"
grep -q 'is not here' err || wrong "$(cat err)"
PATH=$tmp/empty "$tilefuzz" run 1 --db e.db >out 2>err
[ $? -eq 3 ] || wrong "a bug whose compiler is gone: $(cat out err)"

finish
