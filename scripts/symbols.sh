#!/bin/sh
# No two files of our static libraries export one name: the linker would take the first that
# somebody asks for and say nothing.
#   scripts/symbols.sh BUILD
set -eu
cd "${1:-build}"
libs=$(find . -name 'libtf_*.a' | sort)
[ -n "$libs" ] || { echo "no libtf_*.a in $PWD"; exit 1; }
# "./src/libtf_run.a:run_run.c.o:0000 T run_begin"; weak ones may be there twice
# shellcheck disable=SC2086
nm -A -g --defined-only $libs | awk '
    NF > 2 && $(NF - 1) ~ /^[TDBRCSG]$/ {
        file = $1
        sub(/:[0-9a-f]*$/, "", file)
        seen++
        if (($NF in at) && at[$NF] != file) { print $NF ": in " at[$NF] " and in " file; bad = 1 }
        at[$NF] = file
    }
    END {
        if (seen < 100) { print seen + 0 " names found: what does nm say?"; bad = 1 }
        exit bad
    }
'
