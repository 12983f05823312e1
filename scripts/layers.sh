#!/bin/sh
# Checks every #include "room/file.h" against layers.txt and names the offender.
set -eu
cd "${1:-.}"
awk '
    FILENAME ~ /layers.txt$/ {
        if ($0 !~ /^#/ && NF) {
            split($0, part, ":")
            known[part[1]] = 1
            may[part[1], part[1]] = 1
            n = split(part[2], to, " ")
            for (i = 1; i <= n; i++) may[part[1], to[i]] = 1
        }
        next
    }
    FNR == 1 {
        split(FILENAME, dir, "/")
        from = dir[1] == "src" ? dir[2] : dir[1]
        if (!known[from]) { print FILENAME ": folder " from " is not in layers.txt"; bad = 1 }
    }
    /^[ \t]*#[ \t]*include[ \t]*"/ {
        split($0, q, "\"")
        if (split(q[2], path, "/") < 2) {
            print FILENAME ":" FNR ": include \"" q[2] "\" as \"folder/file.h\""; bad = 1
        } else if (!may[from, path[1]]) {
            print FILENAME ":" FNR ": " from " may not include " q[2]; bad = 1
        }
        seen++
    }
    END {
        if (!seen) { print "no includes found: wrong folder?"; bad = 1 }
        exit bad
    }
' scripts/layers.txt $(find src fuzz -name '*.[ch]' -o -name '*.cc' -o -name '*.def' | sort)
