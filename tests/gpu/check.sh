#!/bin/sh
# gpu-check: without a GPU scripts/gpu-check says so and exits 77; where the device is one that a
# test plays, its summaries are whole although nothing is right.
tilefuzz=$(realpath "$1")
mock=$(realpath "$2")
cd "$(dirname "$0")/../.." || exit 99
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
TILEFUZZ_BUILD=$(dirname "$tilefuzz")
export TILEFUZZ_BUILD
wrong() { echo "WRONG: $*"; exit 1; }

scripts/gpu-check --bogus >"$tmp/out" 2>&1
[ $? -eq 2 ] || wrong "an unknown argument is taken: $(cat "$tmp/out")"

TILEFUZZ_CUDA_DRIVER=/nonexistent scripts/gpu-check --to "$tmp/none" >"$tmp/out" 2>&1
[ $? -eq 77 ] || wrong "no 77 without a driver: $(cat "$tmp/out")"
grep -q 'no GPU to check: ' "$tmp/out" || wrong "it does not say why: $(cat "$tmp/out")"
[ ! -e "$tmp/none" ] || wrong "there are reports of nothing"

TILEFUZZ_CUDA_DRIVER=$mock TILEFUZZ_NVRTC=$mock scripts/gpu-check --for 2 --jobs 1 \
    --to "$tmp/mock" >"$tmp/out" 2>&1
[ $? -eq 1 ] || wrong "a device that does nothing is taken for a GPU: $(cat "$tmp/out")"
grep -q 'SOMETHING IS WRONG' "$tmp/out" || wrong "$(cat "$tmp/out")"
cat "$tmp"/mock/*.txt >"$tmp/text" || wrong "no text: $(cat "$tmp/out")"
cmp -s "$tmp/text" "$tmp/out" || wrong "the text is not what was said: $(cat "$tmp/text")"
python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
assert d["schema"] == 1 and d["ok"] is False and d["device"].startswith("Mock"), d
assert [s["name"] for s in d["steps"]] == ["corpus", "litmus", "founding", "hunt"], d["steps"]
assert len(d["litmus"]) > 10 and not any(l["ok"] for l in d["litmus"]), d["litmus"]
' "$tmp"/mock/*.json || wrong "bad JSON: $(cat "$tmp"/mock/*.json)"
