#!/bin/sh
# Every fault has a trial in corpus/faults that fails under it, and so does each public case under
# the fault that its comment names. (That all of them pass without it is suite `corpus`.)
# usage: corpus.sh TILEFUZZ ROOT
set -u
tilefuzz=$1 root=$2
bad=0 n=0

fails() { # FILE FAULT
    "$tilefuzz" run "$1" --fault "$2" >/dev/null 2>&1 </dev/null
    rc=$?
    n=$((n + 1))
    [ $rc -eq 1 ] || { echo "WRONG: exit $rc: tilefuzz run $1 --fault $2"; bad=1; }
}

for id in $("$tilefuzz" list faults --json | sed -n 's/.*"id":"\([a-z_]*\)".*/\1/p'); do
    [ "$id" = none ] && continue
    f=$root/corpus/faults/$id.trial
    if [ -e "$f" ]; then
        fails "$f" "$id"
    else
        echo "WRONG: no $f; scripts/fault-corpus writes it"
        bad=1
    fi
done
for f in "$root"/corpus/public/*.trial; do
    # "Fault: a." or "Faults: a, b."; comments break anywhere
    for id in $(sed -n '/^tilefuzz/q; s/^# *//p' "$f" | tr '\n' ' ' |
        grep -o '[Ff]aults\{0,1\}:\{0,1\} [a-z_, ]*_[a-z_]*' | sed 's/^[^ ]* //' | tr -d ','); do
        "$tilefuzz" list faults --json | grep -q "\"id\":\"$id\"" && fails "$f" "$id"
    done
done
echo "$n trials under their faults"
exit $bad
