# Shared by the tests of the command line: sourced with the path of tilefuzz as $1.
# `ok` and `fails` run a command and compare; the test ends with `finish`.
tilefuzz=$(realpath "$1")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 99
n_wrong=0

wrong() {
    echo "WRONG: $*"
    n_wrong=$((n_wrong + 1))
}

# ok RC ARG..: runs tilefuzz; stdout goes to $tmp/out, stderr to $tmp/err
ok() {
    want=$1
    shift
    "$tilefuzz" "$@" >out 2>err </dev/null
    got=$?
    [ $got -eq "$want" ] || wrong "exit $got instead of $want: tilefuzz $*: $(cat err)"
}

# fails RC PATTERN ARG..: exit code RC, nothing on stdout (but for the first line of a hunt), and
# PATTERN in the first line of stderr; that is the only line but for an excerpt with a caret.
fails() {
    want=$1
    pattern=$2
    shift 2
    ok "$want" "$@"
    head -n 1 err | grep -q -e "$pattern" || wrong "'$pattern' expected: tilefuzz $*: $(cat err)"
    lines=$(wc -l <err)
    if tail -n 1 err | grep -q '^ *|\{0,1\} *^'; then lines=$((lines - 2)); fi
    [ "$lines" -eq 1 ] || wrong "$lines lines on stderr: tilefuzz $*: $(cat err)"
    [ ! -s out ] || [ "$1" = fuzz ] || wrong "talk on stdout: tilefuzz $*"
}

says() {
    grep -q -e "$1" out || wrong "output lacks '$1': $(head -c 2000 out)"
}

# every line of stdout is JSON with a schema number
json_lines() {
    [ -s out ] || wrong "no JSON"
    python3 -c '
import json, sys
for line in open("out"):
    if json.loads(line).get("schema") != 1: sys.exit("no schema: " + line)
' || wrong "bad JSON lines: $(head -c 500 out)"
}

# json_keys KEY..: the last line of stdout has these keys
json_keys() {
    python3 -c '
import json, sys
last = json.loads(open("out").readlines()[-1])
missing = [k for k in sys.argv[1:] if k not in last]
if missing: sys.exit("missing keys: " + " ".join(missing))
' "$@" || wrong "keys: $(tail -n 1 out | head -c 500)"
}

finish() {
    [ $n_wrong -eq 0 ] && exit 0
    echo "$n_wrong wrong"
    exit 1
}
