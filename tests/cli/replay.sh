#!/bin/sh
# replay: a corpus must pass, a bug is open until it passes, and comes back when it fails again.
. "$(dirname "$0")/lib.sh"

count() { # KEY VALUE: in the last object
    python3 -c '
import json, sys
d = json.loads(open("out").readlines()[-1])
assert d["total"] == sum(d[k] for k in ("passed", "failed", "back", "fixed", "skipped"))
sys.exit(d[sys.argv[1]] != int(sys.argv[2]))' "$@" || wrong "$1 is not $2: $(cat out)"
}

state() {
    ok 0 db ls --json --db r.db
    grep -q "\"state\":\"$1\"" out || wrong "state is not $1: $(cat out)"
}

ok 1 fuzz -q --seed 1 --fault liveness_ignores_loops --stop-at 1 --db r.db
ok 0 replay --json --db r.db
count failed 1
state open
ok 0 replay --json --db r.db --fault none
count fixed 1
state fixed
ok 0 replay --json --db r.db --fault none
count passed 1
ok 1 replay --json --db r.db
count back 1
state back
ok 0 db tag 1 wontfix --db r.db
ok 0 replay --json --db r.db
count skipped 1
json_keys schema total passed failed back fixed skipped

mkdir -p corpus/deep
printf 'tilefuzz 1\ninput x f32 [4,3]\ny = sum x axes=[1]\noutput y\n' >corpus/deep/sum.trial
printf 'tilefuzz 1\ninput x f32 [0]\ny = neg x\noutput y\n' >corpus/empty.trial
ok 0 replay --json corpus
count passed 1
count skipped 1
ok 1 fuzz -q --seed 1 --fault split_guard_dropped --stop-at 1 --db s.db
ok 0 show 1 --db s.db
cp out corpus/bad.trial
ok 0 replay corpus
ok 1 replay --json corpus --fault split_guard_dropped
count failed 1
echo nonsense >corpus/noise.trial
fails 3 "noise.trial:1:1" replay corpus
fails 3 "nowhere" replay nowhere

finish
