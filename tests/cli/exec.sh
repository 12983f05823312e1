#!/bin/sh
# exec: a toy adapter written from docs/exec-protocol.md has its planted bug found, minimized and
# named, and is left in peace without it; each way of misbehaving is the right verdict with its
# log, and the hunt goes on.
root=$(realpath "$(dirname "$0")/../..")
. "$(dirname "$0")/lib.sh"
src=$root/tests/plugin
export PYTHONPATH="$root/scripts/adapters"
here=$(python3 -c 'import sys; print(sys.executable)') # not a shim, which takes longer than Python
bad="exec:$here -IS $src/bad.py"

# misbehaviour; needs no NumPy
printf 'tilefuzz 1\ninput x f32 [3,5]\ny = neg x\noutput y\n' >neg.trial
printf 'tilefuzz 1\ninput x f32 [3,5]\ny = abs x\noutput y\n' >abs.trial
bad() {
    BAD=$1 ok "$2" run neg.trial --backends "$bad" --deadline 1
    says "$3"
}
bad none 0 PASS
says ': exec:\([^ /]*/bin/\)\{0,1\}python[^ /]* -IS bad.py ieee PASS' # not where it lies
bad crash 1 'CRASH: died by signal 11 .*; stderr: about to die'
bad exit 1 'CRASH: ended with exit 7'
bad hang 1 'HANG: no answer within 1 s'
bad garbage 1 "CRASH: answered what is no JSON object: 'Segmentation fault"
bad endless 1 'CRASH: answered more than'
bad shape 1 'MISMATCH: output y came with shape \[5,3,1\]; want \[3,5\]'
bad dtype 1 'MISMATCH: output y came as dtype f64; want f32'
bad bytes 1 'MISMATCH: output y came with 56 bytes; want 60'
bad number 1 'MISMATCH: 2 outputs came; want 1'
bad poison 1 'MISMATCH: y\[2,4\]'
bad partial 1 'CRASH: only a part of output 0 came'
bad stuck 1 'HANG: only a part of output 0 came before the deadline'
bad chatter 1 "CRASH: sent more than was asked for\|CRASH: answered what is no JSON object: 'done!"
bad error 1 'BUILD_FAILED: out of registers'
BAD=lie ok 1 run abs.trial --backends "$bad"
says 'BUILD_FAILED: what it names and then refuses, abs of f32: no abs today'
ok 0 run abs.trial --backends "$bad"
says 'UNSUPPORTED: no abs of f32'
BAD=nonsense fails 3 "names 'frobnicate'" run neg.trial --backends "$bad"
fails 3 'No such file' run neg.trial --backends exec:./nowhere
fails 3 'ended with exit 0' run neg.trial --backends exec:true
fails 2 'which command' run neg.trial --backends exec:

# the hunt goes on
for mode in crash garbage shape; do
    BAD=$mode ok 1 fuzz -q --trials 20 --backends "$bad" --db $mode.db --json --budget 20 --jobs 1
    python3 -c '
import json
d = json.loads(open("out").readlines()[-1])
assert d["trials"] == 20 and d["findings"] > 0 and d["verified"] > d["findings"], d
assert d["bugs"] and d["bugs"][0]["pass"] == "neg", d
assert d["bugs"][0]["detail"], d
' || wrong "hunt on $mode: $(tail -n 1 out | head -c 800)"
done
# wrong because of what came before: not believed, but counted
BAD=used ok 0 fuzz -q --trials 40 --backends "$bad" --db used.db --json --jobs 1
python3 -c '
import json
d = json.loads(open("out").readlines()[-1])
assert d["findings"] == 0 and d["foreign"][0]["stale"] > 0, d
' || wrong "hunt on used: $(tail -n 1 out | head -c 800)"

# knobs: one of them, turned, shows a bug; it stays in the trial, and is named
BAD=knob ok 1 fuzz -q --trials 40 --backends "$bad" --db knob.db --jobs 1 --json --stop-at 1
python3 -c '
import json
bug = json.loads(open("out").readlines()[-1])["bugs"][0]
assert "\nset bad.unsafe yes\n" in bug["trial"] and "level" not in bug["trial"], bug
assert bug["step"] == "set bad.unsafe yes", bug
assert "--set bad.level=0/1,bad.unsafe=no/yes" in bug["repro"], bug
' || wrong "knob: $(tail -n 1 out | head -c 1500)"
BAD=knob ok 1 run 1 --db knob.db --backends "$bad"
BAD=knob ok 0 fuzz -q --trials 40 --backends "$bad" --db knob2.db --jobs 1 --steps none
BAD=none ok 0 fuzz -q --trials 40 --backends "$bad" --db knob2.db --jobs 1
printf 'tilefuzz 1\ninput x f32 [3,5]\ny = neg x\noutput y\nschedule\nset bad.unsafe 7\n' >set.trial
BAD=none ok 0 run set.trial --backends "$bad"
says 'UNSUPPORTED: no knob unsafe with value 7; bad has level=0/1,unsafe=no/yes'
ok 0 run set.trial
says PASS

# the toy
for python in python3 /usr/bin/python3 none; do
    $python -c 'import numpy' 2>/dev/null && break
done
if [ $python = none ]; then
    echo "no Python with NumPy: the toy is not tested"
    [ $n_wrong -eq 0 ] && exit 77
    finish
fi
toy="exec:$python $src/toy.py"
[ "$(wc -l <"$src/toy.py")" -lt 100 ] || wrong "the toy is too long"
ok 0 fuzz -q --trials 100 --backends "$toy" --db toy.db --json
grep -q 'takes [0-9]* of [0-9]* pairs' err || wrong "capabilities are not told: $(cat err)"
grep -q 'not there:.* exp' err || wrong "refusals are not told: $(cat err)"
python3 -c '
import json
d = json.loads(open("out").readlines()[-1])
assert d["findings"] == 0 and d["verified"] > 40, d
x = d["foreign"][0]
assert x["version"] == "toy 1.0" and x["runs"] > 100 and x["starts"] >= 3, x
assert x["process_s"] > x["framework_s"] > 0, x
' || wrong "healthy toy: $(tail -n 1 out | head -c 1500)"
ok 0 fuzz -q --trials 20 --backends "$toy" --db toy.db
says 'of which the framework.s own'
TOY_BUG=1 ok 1 fuzz -q --trials 40 --backends "$toy" --db bug.db --jobs 1 --json --stop-at 1
python3 -c '
import json
bug = json.loads(open("out").readlines()[-1])["bugs"][0]
assert bug["pass"] == "sum" and bug["rewrite"] == "loops", bug
assert bug["nodes"] <= 2 and bug["max_size"] <= 8, bug
assert bug["signature"].startswith("value exec:toy sum loops"), bug
' || wrong "planted bug: $(tail -n 1 out | head -c 1500)"
TOY_BUG=1 ok 1 run 1 --db bug.db --backends "$toy"
ok 0 run 1 --db bug.db --backends "$toy"
fails 3 'code of others' run 1 --db bug.db
TOY_BUG=1 ok 0 explain 1 --db bug.db --backends "$toy"
says 'guilty pass *sum'
says 'ran *loops'

# softmax and attention over a short polynomial for exp: nothing is wrong with it, and a wrong index
# shows beside it; by the bound alone, as exact data are left out
soft() { # bug, word of the contract, exit, what it says
    SOFT_BUG=$1 SOFT_WORD=$2 ok "$3" fuzz -q --seed 3 --trials 200 --jobs 1 --exact-sets 0 --steps none \
        --ops attention,softmax,exp,neg --gen.attention_percent 60 --gen.f32_percent 100 \
        --gen.special_percent 0 --budget 50 --stop-at 1 --backends "exec:$python $src/soft.py" --db s$n.db
    says "$4"
    n=$((n + 1))
}
n=0
soft none may_approximate 0 'UNTRUSTED 0 '
for bug in head key row exp; do soft $bug may_approximate 1 '1 bugs'; done
soft none open_ties 1 '1 bugs' # nothing allowed
soft key open_functions 0 'UNTRUSTED [1-9]'

# the account: what the framework's children take is its own, and the process's, on both sides; what
# the adapter does by itself, and a request that gets no answer, is not
cat >burn.py <<'END'
import os, subprocess, sys, time
from tilefuzz_adapter import serve, walk
BURN = "import time\nwhile time.process_time() < 0.3: pass"

def translate(program):
    end = time.process_time() + 0.2
    while time.process_time() < end: pass
    return program

def run(program, inputs):
    subprocess.run([sys.executable, "-IS", "-c", BURN])
    if os.environ.get("BURN") == "die":
        os._exit(3)
    return walk(program, inputs, {"neg": lambda node, x: -x})

serve(run, name="burn", library="1", translate=translate, ops=["neg"], dtypes=["f32"])
END
burn="exec:$python burn.py"
ok 0 fuzz -q --trials 2 --jobs 1 --exact-sets 0 --backends "$burn" --db burn.db --json
python3 -c '
import json
x = json.loads(open("out").readlines()[-1])["foreign"][0]
own, all = x["framework_s"], x["process_s"]
assert own > 0.3 * x["runs"], x
assert all - own >= 0.2, x
assert x["lost_s"] == 0, x
' || wrong "account: $(tail -n 1 out | head -c 1500)"
BURN=die ok 1 run neg.trial --backends "$burn"
BURN=die ok 1 fuzz -q --trials 1 --jobs 1 --exact-sets 0 --budget 0 --backends "$burn" --db die.db
says 'of CPU over requests that got no answer'
finish
