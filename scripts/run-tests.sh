#!/bin/sh
# run-tests.sh DIR [MESON-TEST-OPTION...]: all tests of a build. Last line: N passed, N failed,
# N skipped; exit 1 if one failed.
set -u
dir=$1
shift
log=$(mktemp)
trap 'rm -f "$log"' EXIT
meson test -C "$dir" --no-rebuild --print-errorlogs "$@" </dev/null 2>&1 | tee "$log"
awk '
    /^Ok:/              { passed += $2; seen = 1 }
    /^Expected Fail:/   { passed += $3 }
    /^Fail:/            { failed += $2 }
    /^Unexpected Pass:/ { failed += $3 }
    /^Timeout:/         { failed += $2 }
    /^Skipped:/         { skipped += $2 }
    END {
        if (!seen) failed++
        printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
        exit failed > 0
    }
' "$log"
