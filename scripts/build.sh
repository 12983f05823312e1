#!/bin/sh
# build.sh DIR [MESON-OPTION...]: configures DIR unless it is, and builds. Quiet when it works.
set -eu
cd "$(dirname "$0")/.."
dir=$1
shift
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if { [ -f "$dir/build.ninja" ] || meson setup "$dir" "$@"; } >"$log" 2>&1 </dev/null &&
    ninja -C "$dir" >"$log" 2>&1 </dev/null; then
    grep 'warning:' "$log" >&2 || true
    exit 0
fi
cat "$log" >&2
echo "build of $dir failed" >&2
exit 3
