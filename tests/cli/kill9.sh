#!/bin/sh
# kill -9 of the parent at random moments: the database is whole, what was reported is in it,
# and no worker survives.
. "$(dirname "$0")/lib.sh"

alive() {
    pgrep -f "$tmp/k.db" >/dev/null
}

n=0
while [ $n -lt "${KILLS:-50}" ]; do
    [ $((n % 10)) -eq 0 ] && rm -f k.db*
    fault=$(printf 'liveness_ignores_loops\nsplit_guard_dropped\npadded_stride_taken_dense\n' |
        sed -n "$((n % 3 + 1))p")
    "$tilefuzz" fuzz --json -q --seed $n --fault "$fault" --for 1h --jobs 2 \
        --db "$tmp/k.db" >out 2>err &
    pid=$!
    sleep "$(python3 -c "import random; print(random.Random($n).uniform(0.02, 0.9))")"
    kill -9 $pid || wrong "round $n: it ended by itself: $(cat err)"
    wait $pid 2>/dev/null
    tries=0
    while alive && [ $tries -lt 50 ]; do
        sleep 0.02
        tries=$((tries + 1))
    done
    alive && wrong "round $n: a worker survives"
    n=$((n + 1))
    [ -f k.db ] || continue
    cp out reported
    "$tilefuzz" db sql "pragma integrity_check" --db k.db >whole 2>&1
    grep -q ok whole || wrong "round $n: integrity: $(cat whole)"
    "$tilefuzz" db ls --json --db k.db >stored 2>&1 || wrong "round $n: db ls: $(cat stored)"
    python3 -c '
import json
have = set()
for line in open("stored"):
    d = json.loads(line)
    for b in d.get("bugs", [d]): have.add((b.get("id"), b.get("signature")))
for line in open("reported"):
    if not line.endswith("\n"): break
    f = json.loads(line).get("finding")
    if f and (f["id"], f["signature"]) not in have: raise SystemExit("lost: %s" % f["signature"])
' || wrong "round $n: a reported finding is not in the database"
done
finish
