#!/bin/sh
# A wrong command line is told in one line, with exit code 2.
. "$(dirname "$0")/lib.sh"

fails 2 'no command'
fails 2 "unknown command 'hunt'" hunt
fails 2 "unknown option '--frob'" --frob
fails 2 'unknown command' ''
fails 2 "unknown command 'hunt'" help hunt
for c in fuzz gen run show min explain replay db bench list doctor selftest; do
    fails 2 "unrecognized option '--frob'" "$c" --frob
done
fails 2 "nothing is called 'ducks'" list ducks
fails 2 'what?' list
fails 2 'unexpected argument' list ops steps
fails 2 'unexpected argument' doctor now
for c in run show min explain; do
    fails 2 '' "$c"
    fails 2 "no fault 'gremlin'" "$c" x.trial --fault gremlin
done
fails 2 'seed' fuzz --seed x --trials 1
fails 2 'seed' fuzz --seed -1 --trials 1
fails 2 'trials' fuzz --trials 1e3
fails 2 'for' fuzz --for 10parsecs
fails 2 'preset' fuzz --preset nothing --trials 1
fails 2 'backend' fuzz --backends abacus --trials 1
fails 2 'fault' fuzz --fault gremlin --trials 1
fails 2 'preset' gen --preset nothing
fails 2 'no op to draw' gen --ops exp --no-ops exp
finish
