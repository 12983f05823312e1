#!/bin/sh
# list and doctor: every table has rows, and each row is a JSON object with id and help.
. "$(dirname "$0")/lib.sh"

for what in ops steps passes backends faults reducers judges recipes presets knobs; do
    ok 0 list $what
    [ -s out ] || wrong "list $what is empty"
    rows=$(wc -l <out)
    ok 0 list $what --json
    json_lines
    json_keys id help
    [ "$(wc -l <out)" -eq "$rows" ] || wrong "list $what --json: rows differ"
done
ok 0 list faults
says copy_copy_fusion_drops_view
says liveness_ignores_loops
ok 0 list ops --json
says '"id":"matmul"'

ok 0 doctor
says 'interp'
says 'sqlite'
ok 0 doctor --json
json_lines
json_keys id status help
ok 3 doctor --db nowhere/at/all.db
[ ! -e nowhere ] || wrong "doctor made a folder"
finish
