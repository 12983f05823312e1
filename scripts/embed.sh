#!/bin/sh
# embed.sh NAME IN OUT: a text file becomes `const char NAME[]` in a C file.
set -eu
{
    echo "/* made from $(basename "$2") */"
    echo "extern const char $1[];"
    echo "const char $1[] ="
    sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/    "/' -e 's/$/\\n"/' "$2"
    echo "    ;"
} >"$3"
