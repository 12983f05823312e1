#!/bin/sh
# plugin: the plug-in of the header's page builds and runs; a toy written from the documents has
# its planted bug found, minimized and named, and is left in peace without it; each way of
# misbehaving is the right verdict, and the hunt goes on.
root=$(realpath "$(dirname "$0")/../..")
. "$(dirname "$0")/lib.sh"
src=$root/tests/plugin
build() {
    ${CC:-cc} -O2 -Wall -Wextra -Wno-unused-parameter -shared -fPIC -I "$root/include" -o "$1" "$2" -lm 2>err ||
        wrong "$2 does not build: $(cat err)"
    [ ! -s err ] || wrong "$2: $(cat err)"
}

# the example of the header
awk '/^ \* A whole plug-in/ { on = 1; next } /^ \* What is called when/ { exit } on' \
    "$root/include/tilefuzz/plugin.h" | sed 's/^ \*     //; s/^ \*$//' >example.c
[ "$(grep -c . example.c)" -le 26 ] || wrong "the example has $(grep -c . example.c) lines"
build example.so example.c
printf 'tilefuzz 1\ninput x f32 [3,5]\ny = abs x\noutput y\n' >abs.trial
printf 'tilefuzz 1\ninput x f32 [3,5]\ny = exp x\noutput y\n' >exp.trial
ok 0 run abs.trial --backends plugin:example.so
says 'plugin:example.so ieee PASS'
ok 0 run exp.trial --backends plugin:example.so
says 'UNSUPPORTED: no exp of f32'
ok 0 fuzz -q --trials 200 --backends plugin:./example.so --db x.db
ok 0 list backends
says 'plugin:FILE.so'

# the toy
build toy.so "$src/toy.c"
[ "$(wc -l <"$src/toy.c")" -lt 100 ] || wrong "the toy is too long"
ok 0 fuzz -q --trials 1500 --backends plugin:./toy.so --db toy.db --json
python3 -c '
import json, sys
d = json.loads(open("out").readlines()[-1])
assert d["findings"] == 0 and d["trials"] == 1500, d
assert d["trials"] == d["verified"] + d["unsupported"] + d["untrusted"], d
assert d["verified"] > 200, d
assert d["foreign"][0]["version"] == "toy 1.0", d
assert sys.argv[1] or d["trials_per_cpu_s"] > 200, d["trials_per_cpu_s"]
' "$(ldd "$tilefuzz" | grep asan)" || wrong "healthy toy: $(tail -n 1 out | head -c 1500)"
TOY_BUG=1 ok 1 fuzz -q --trials 400 --backends plugin:./toy.so --db bug.db --jobs 1 --json
tail -n 1 out >one
TOY_BUG=1 ok 1 fuzz -q --trials 400 --backends plugin:./toy.so --db bug3.db --jobs 3 --json
tail -n 1 out >three
python3 -c '
import json
a, b = json.load(open("one")), json.load(open("three"))
for d in (a, b):
    for k in ("cpu_s", "wall_s", "trials_per_cpu_s", "db"): del d[k]
assert a == b, (a, b)
bug = a["bugs"][0]
assert bug["pass"] == "sum" and bug["nodes"] <= 2 and bug["max_size"] <= 8, bug
assert bug["signature"].startswith("value plugin:toy sum"), bug
' || wrong "planted bug: $(head -c 1500 one)"
TOY_BUG=1 ok 1 run 1 --db bug.db --backends plugin:./toy.so
ok 0 run 1 --db bug.db --backends plugin:./toy.so
fails 3 'code of others' run 1 --db bug.db
TOY_BUG=1 ok 0 explain 1 --db bug.db --backends plugin:./toy.so
says 'guilty pass *sum'
says 'wrong by itself'
TOY_BUG=1 ok 0 min 1 --db bug.db --backends plugin:./toy.so -o .
fails 3 'no such file\|cannot open\|No such file' run abs.trial --backends plugin:./nowhere.so

# misbehaviour
build bad.so "$src/bad.c"
printf 'tilefuzz 1\ninput x f32 [3,5]\ny = neg x\noutput y\n' >neg.trial
bad() {
    BAD=$1 ok "$2" run neg.trial --backends plugin:./bad.so --deadline 1
    says "plugin:./bad.so ieee.* $3"
}
bad none 0 PASS
bad crash 1 'CRASH: signal 11'
bad exit 1 'CRASH: exit 0\|CRASH'
bad hang 1 'HANG: no end within 1 s'
bad beside 1 'OUT_OF_BOUNDS\|CRASH'
bad input 1 'MISMATCH: input x was written'
bad partial 1 'MISMATCH: y\[2,4\]'
bad unstable 1 MISMATCH
printf 'values x [0,1,2,3,4,5,6,7,8,9,10,11,12,13,14]\n' >>neg.trial
bad varies 1 NONDETERMINISTIC
bad may-vary 0 PASS
bad fail 1 'BUILD_FAILED: out of registers'
bad run 1 'BUILD_FAILED: lost the device'
BAD=open-crash fails 3 'died by signal 11' run neg.trial --backends plugin:./bad.so
BAD=open-abi fails 3 'does not speak version 1' run neg.trial --backends plugin:./bad.so
BAD=open-ops fails 3 "'frobnicate' is no op" run neg.trial --backends plugin:./bad.so
for mode in crash exit beside partial fail; do
    BAD=$mode ok 1 fuzz -q --trials 60 --backends plugin:./bad.so --db $mode.db --json --budget 40 --deadline 2
    python3 -c '
import json
d = json.loads(open("out").readlines()[-1])
assert d["trials"] == 60 and d["findings"] > 0 and d["verified"] > d["findings"], d
assert d["bugs"] and d["bugs"][0]["pass"] == "neg", d
' || wrong "hunt on $mode: $(tail -n 1 out | head -c 800)"
done
finish
