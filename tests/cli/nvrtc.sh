#!/bin/sh
# nvrtc: NVIDIA's compiler takes the CUDA text of drawn trials, for devices that are not here.
. "$(dirname "$0")/lib.sh"

"$tilefuzz" list backends --json | grep '"id":"nvrtc"' | grep -q '"available":"yes"' || {
    "$tilefuzz" list backends | grep '^nvrtc'
    exit 77
}

ok 0 fuzz -q --seed 3 --backends nvrtc --trials 20 --gen.gpu_percent 60 --db n.db --json
python3 -c '
import json
d = json.loads(open("out").readlines()[-1])
assert d["trials"] == d["verified"] == 20 and d["unsupported"] == 0, d
assert [(c["config"], c["trials"], c["verdicts"]) for c in d["cc"]] == [("nvrtc", 20, 20)], d["cc"]
' || wrong "counts: $(tail -n 1 out)"
finish
