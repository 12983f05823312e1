#!/bin/sh
# README: its commands, one after the other, print what it shows: every line that stands under a
# command is found in what that prints, in this order, blanks and line breaks aside.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null && command -v cc >/dev/null || exit 77

mkdir build reports
ln -s "$tilefuzz" build/tilefuzz
ln -s "$root/corpus" corpus
python3 - "$root/README.md" <<'END' || wrong "README is not true"
import subprocess, sys

commands = []  # [line, [lines under it]]
under = False
for line in open(sys.argv[1]):
    if line.startswith("    $ "):
        commands.append([line[6:].strip(), []])
        under = True
    elif line.startswith("    ") and under:
        commands[-1][1].append(" ".join(line.split()))
    elif line.strip():
        under = False

bad = n = 0
for command, want in commands:
    if not want and ">" not in command:
        continue  # a hunt that the reader may run
    got = subprocess.run(command, shell=True, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    all, at = " ".join(got.stdout.split()), 0
    for line in want:
        found = all.find(line, at)
        n += 1
        if found < 0:
            print(f"$ {command}\nlacks: {line}\n{got.stdout[:3000]}{got.stderr[:1000]}")
            bad += 1
            break
        at = found + len(line)
if n < 20:
    print(f"{n} lines found in README: has its form changed?")
    bad += 1
sys.exit(bad > 0)
END

# the adapter that it shows finds what it says, where some Python has NumPy
for python in python3 /usr/bin/python3; do
    "$python" -c 'import numpy' 2>/dev/null && break
    python=
done
if [ -n "$python" ]; then
    ln -s "$root/scripts" scripts
    sed -n '/^    import sys$/,/^    serve(/s/^    //p' "$root/README.md" >mine.py
    ok 1 fuzz -q --backends "exec:$python mine.py" --seed 1 --stop-at 1 --db mine.db
    says 'pass sum'
    says 'r5\[\]: want 9, got 8'
else
    echo "no Python with NumPy here: the adapter of README was not run"
fi
finish
