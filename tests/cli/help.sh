#!/bin/sh
# Every command has help with examples on stdout, and leaves nothing behind.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$(dirname "$0")/lib.sh"

ok 0 --version
says '^tilefuzz [0-9]'
ok 0 --help
says 'Exit codes'
commands=$(sed -n 's|^  \([a-z]*\)  .*|\1|p' out)
[ "$(echo "$commands" | wc -w)" -ge 10 ] || wrong "commands: $commands"
for c in $commands; do
    ok 0 "$c" --help
    says '^Usage: tilefuzz'
    says 'Examples\{0,1\}:'
    [ ! -s err ] || wrong "$c --help talks on stderr"
    # files that the examples name are there
    for f in $(grep -o 'corpus/[^ ]*\.trial' out); do
        [ -n "$(find "$root/${f%/*}" -name "${f##*/}" 2>/dev/null)" ] || wrong "$c --help: no $f"
    done
    ok 0 help "$c"
    ok 0 "$c" --usage
done
[ "$(ls)" = "err
out" ] || wrong "left behind: $(ls)"
finish
