#!/bin/sh
# What is on the disk is in a list: sources in a meson.build, tests in tests/meson.build.
set -eu
cd "${1:-.}"
bad=0
for f in $(find src -name '*.c' -o -name '*.cc' | sort); do
    grep -q "'${f#src/}'" src/meson.build || { echo "$f is not in src/meson.build"; bad=1; }
done
for f in $(find fuzz -name '*.c' -o -name '*.cc' -o -name '*.sql' | sort); do
    grep -q "'${f#fuzz/}'" fuzz/meson.build || { echo "$f is not in fuzz/meson.build"; bad=1; }
done
for f in $(find tests -name 'test_*.c' | sort) $(find tests/cli -name '*.sh' ! -name 'lib.sh' | sort); do
    name=$(basename "$f")
    name=${name#test_}
    name=${name%.*}
    grep -q "'$name'" tests/meson.build || { echo "$f is not in tests/meson.build"; bad=1; }
done
exit $bad
