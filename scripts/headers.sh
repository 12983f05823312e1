#!/bin/sh
# Each header compiles alone.
set -eu
cd "${1:-.}"
bad=0
for h in $(find src fuzz -name '*.h' | sort); do
    echo "#include \"${h#src/}\"" |
        ${CC:-cc} -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Isrc -I. -Iinclude -fsyntax-only -x c - || {
        echo "$h does not compile alone"
        bad=1
    }
done
exit $bad
