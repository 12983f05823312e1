#!/usr/bin/env bash
# Golden tests: each tests/golden/*.trial holds a program and, in comments, what the compiler
# makes of it. "# >>> loops", "# >>> c" or "# >>> loops FAULT" opens a section; its lines follow,
# each behind "# "; "# >>> explain FAULT" is what explain says of it. With --bless the sections are
# written anew: read the git diff.
# usage: run.sh TILEFUZZ DIR [--bless]
set -u
bin=$(realpath "$1") dir=$2 bless=${3:-}
bad=0 n=0
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
for f in "$dir"/*.trial; do
    [ -e "$f" ] || continue
    sed '/^# >>> /,$d' "$f" >"$tmp/trial"
    cp "$tmp/trial" "$tmp/new"
    while read -r _ _ as fault; do
        {
            echo "# >>> $as${fault:+ $fault}"
            if [ "$as" = explain ]; then
                (cd "$tmp" && "$bin" explain trial --fault "${fault:-none}" 2>&1)
            else
                "$bin" show "$tmp/trial" --as "$as" --fault "${fault:-none}" 2>&1
            fi | sed 's/^/# /; s/ *$//'
        } >>"$tmp/new"
        n=$((n + 1))
    done < <(grep '^# >>> ' "$f")
    if [ "$bless" = --bless ]; then
        cp "$tmp/new" "$f"
    elif ! diff -u "$f" "$tmp/new"; then
        echo "golden: $f differs; if that is meant: tests/golden/run.sh $bin $dir --bless" >&2
        bad=1
    fi
done
echo "golden: $n sections"
[ "$n" -gt 0 ] && exit $bad
