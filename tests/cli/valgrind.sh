#!/bin/sh
# Nothing that we decide on, or send, is uninitialised memory. Only the interpreter runs:
# compiled code is new to valgrind. Skipped where valgrind is not there.
command -v valgrind >/dev/null || exit 77
. "$(dirname "$0")/lib.sh"
case $(file -b "$(command -v "$tilefuzz")" 2>/dev/null; nm -D "$tilefuzz" 2>/dev/null) in
*__asan_init*) exit 77 ;; # a sanitizer's own memory is in its way
esac

# RC ARG..
clean() {
    rc=$1
    shift
    valgrind -q --error-exitcode=99 --trace-children=yes --log-file=log.%p "$tilefuzz" "$@" \
        >out 2>err </dev/null
    got=$?
    [ $got -eq "$rc" ] || wrong "exit $got instead of $rc: tilefuzz $*: $(cat err)"
    [ -z "$(cat log.*)" ] || wrong "tilefuzz $*: $(cat log.* | head -n 30)"
    rm -f log.*
}

clean 0 fuzz -q --seed 5 --trials 32 --backends interp --jobs 2 --db v.db
clean 1 fuzz -q --seed 5 --fault split_guard_dropped --trials 16 --backends interp --db v.db
clean 0 explain 1 --db v.db --backends interp
clean 0 min 1 --db v.db --backends interp -o found
clean 0 replay --db v.db --backends interp
finish
