#!/bin/sh
# What is on the disk is in a list: sources in a meson.build, tests in tests/meson.build; and a
# file that a page names is on the disk.
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
for page in $(find . -name '*.md' ! -path './build*' ! -path './.git/*' | sort); do
    for f in $(grep -o '`[a-z_]*/[a-zA-Z0-9_/.-]*`' "$page" | tr -d '`' | sort -u); do
        case $f in build/* | reports/*.db | _* | *NAME* | */) continue ;; esac
        [ -e "$f" ] || [ -e "$(dirname "$page")/$f" ] || { echo "$page names $f"; bad=1; }
    done
done
exit $bad
