#!/bin/sh
# exec, an adapter that is a fork server (docs/exec-protocol.md, "Starting fast"): it is loaded once, its
# copies misbehave to the same verdicts as processes that were started, and have what these have;
# without the server a hunt goes on; nothing is left behind.
root=$(realpath "$(dirname "$0")/../..")
. "$(dirname "$0")/lib.sh"
here=$(python3 -c 'import sys; print(sys.executable)') # not a shim, which takes longer than Python
bad="exec:$here -IS $root/tests/plugin/bad.py"
export BAD_LOG="$tmp/log"
printf 'tilefuzz 1\ninput x f32 [3,5]\ny = neg x\noutput y\n' >neg.trial

count() { # WORD
    grep -c "^$1 " log
}
until_there() { # N WORD
    tries=0
    while [ "$(count "$2" 2>/dev/null || echo 0)" -lt "$1" ] && [ $tries -lt 500 ]; do
        sleep 0.02
        tries=$((tries + 1))
    done
}
all_gone() {
    tries=0
    while left=$(sed -n 's/^[a-z]* \([0-9]*\).*/\1/p' log | sort -u | xargs ps -o pid=,stat= -p |
            grep -v ' Z'); [ -n "$left" ] && [ $tries -lt 150 ]; do
        sleep 0.02
        tries=$((tries + 1))
    done
    [ -z "$left" ] || wrong "$1: processes are left: $left"
}

# the same words
for mode in none crash exit hang garbage endless partial spawn error; do
    rm -f log
    rc=1
    [ $mode = none ] && rc=0
    BAD=$mode ok $rc run neg.trial --backends "$bad" --deadline 1
    cp out plain
    [ "$(count loaded)" -ge 2 ] || wrong "$mode: a plain adapter is loaded once: $(cat log)"
    rm -f log
    BAD_FORK=1 BAD=$mode ok $rc run neg.trial --backends "$bad" --deadline 1
    cmp -s out plain || wrong "$mode: a copy says otherwise: $(diff plain out | head -c 800)"
    [ "$(count loaded)" -eq 1 ] || wrong "$mode: loaded more than once: $(cat log)"
    all_gone $mode
done

# the server dies, and then its copy: nobody knows how
rm -f log
BAD_FORK=1 BAD=both ok 1 run neg.trial --backends "$bad" --deadline 1
says 'CRASH: ended as did the process that it was forked from'
all_gone both

# hunt NAME JOBS TRIALS [ENV=VALUE]..: the end of one in NAME.json, without what is about time and
# processes; what its processes had in NAME.having
hunt() {
    name=$1
    jobs=$2
    trials=$3
    shift 3
    rm -f log
    env "$@" "$tilefuzz" fuzz -q --trials "$trials" --backends "$bad" --db "$name.db" --json --budget 3 \
        --jobs "$jobs" --seed 3 >out 2>err
    python3 -c '
import json, sys
d = json.loads(open("out").readlines()[-1])
f = d["foreign"][0]
json.dump([[d[k] for k in ("trials", "verified", "judged", "findings")],
           sorted(b["signature"] for b in d["bugs"])], open(sys.argv[1] + ".json", "w"))
assert d["trials"] == int(sys.argv[2]) and f["runs"] and f["process_s"] > 0 < f["start_s"], d
# all that copies took is in the account of the hunt
assert "plain" in sys.argv[1] or d["cpu_s"] > f["start_s"] + f["process_s"], d
' "$name" "$trials" || wrong "hunt $name: $(tail -n 1 out | head -c 800) $(cat err)"
    all_gone "$name"
    # the first is the one that may become a server, and has a socket for that
    sed -n '/^hello/p' log | sed -n '2,$s/^hello [0-9]* //p' | sort -u >"$name.having"
}
same() { # HUNT HUNT
    cmp -s "$1.json" "$2.json" || wrong "verdicts of $1 and $2: $(cat "$1.json" "$2.json")"
    cmp -s "$1.having" "$2.having" ||
        wrong "processes of $1 and $2 have: $(cat "$1.having" "$2.having")"
}
for mode in none garbage; do
    n=300
    [ $mode = garbage ] && n=8
    hunt plain 1 $n BAD=$mode
    hunt fork 1 $n BAD=$mode BAD_FORK=1
    [ "$(count loaded)" -eq 1 ] || wrong "$mode: loaded $(count loaded) times in a hunt"
    [ "$(count hello)" -ge 5 ] || wrong "$mode: $(count hello) copies are too few"
    hunt jobs 4 $n BAD=$mode BAD_FORK=1
    [ "$(count loaded)" -eq 1 ] || wrong "$mode: loaded $(count loaded) times with four jobs"
    same plain fork
    same fork jobs
done
# with a thread it is none
hunt plain 1 300 BAD=none
hunt thread 1 300 BAD=none BAD_FORK=thread
[ "$(count loaded)" -ge 5 ] || wrong "a process with threads is forked"
same plain thread

# the server dies, or stops, in the middle of a hunt
for signal in KILL STOP; do
    rm -f log
    BAD=none BAD_FORK=1 "$tilefuzz" fuzz -q --trials 1200 --backends "$bad" --db $signal.db --json \
        --jobs 2 --deadline 1 >out 2>err &
    pid=$!
    until_there 4 hello
    server=$(sed -n 's/^loaded //p' log | head -n 1)
    kill -$signal "$server"
    wait $pid || wrong "$signal: exit $?: $(cat err)"
    [ $signal = STOP ] && kill -KILL "$server" 2>/dev/null
    python3 -c '
import json
d = json.loads(open("out").readlines()[-1])
assert d["trials"] == 1200 and d["findings"] == 0, d
' || wrong "$signal: $(tail -n 1 out | head -c 800)"
    [ "$(count loaded)" -gt 2 ] || wrong "$signal: it went on without starting one: $(cat log)"
    all_gone $signal
done

# kill -9 of ours while copies hang
rm -f log
BAD=hang BAD_FORK=1 "$tilefuzz" fuzz -q --for 1h --backends "$bad" --db hang.db --jobs 3 >out 2>err &
pid=$!
until_there 5 hello
server=$(sed -n 's/^loaded //p' log)
# a worker first: its copy ends, and the next worker has one
worker=$(pgrep -P "$(pgrep -P $pid | grep -vx "$server")" | head -n 1)
kill -9 "$worker"
until_there 6 hello
n=$(ps -o stat= --ppid "$server" | grep -vc Z)
[ "$n" -eq 3 ] || wrong "$n copies hang for three workers"
kill -9 $pid
wait $pid 2>/dev/null
all_gone 'kill -9'
[ "$(count loaded)" -eq 1 ] || wrong "kill -9: $(cat log)"

# serve does it by itself, and leaves it when it is told to
for python in python3 /usr/bin/python3 none; do
    $python -c 'import numpy' 2>/dev/null && break
done
[ $python = none ] && finish
export PYTHONPATH="$root/scripts/adapters"
cat >served.py <<'PY'
import os
from tilefuzz_adapter import serve, walk
open(os.environ["BAD_LOG"], "a").write("loaded %d\n" % os.getpid())
def run(program, inputs):
    return walk(program, inputs, {"neg": lambda node, x: -x})
serve(run, name="served", library="1", ops=["neg"], dtypes=["f32"], fork="SERVE_FORK" in os.environ)
PY
for n in 1 0; do
    rm -f log
    [ $n = 1 ] && export SERVE_FORK=1 || unset SERVE_FORK
    ok 0 fuzz -q --trials 100 --jobs 1 --backends "exec:$python served.py" --db served.db --json
    says '"findings": *0'
    [ $(($(count loaded) == 1)) -eq $n ] || wrong "served: loaded $(count loaded) times, fork $n"
done
finish
