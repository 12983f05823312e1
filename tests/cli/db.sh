#!/bin/sh
# The database from outside: reading, tagging, merging, exporting, and files that are none.
. "$(dirname "$0")/lib.sh"

bug() { # SIGNATURE
    printf '{"schema":1,"signature":"%s","kind":"MISMATCH","pass":"fuse","backend":"interp",' "$1"
    printf '"nodes":1,"steps":0,"max_size":2,"fault":"none","trial":"%s"}\n' \
        'tilefuzz 1\ninput x f32 [2]\ny = neg x\noutput y\nschedule\ndata seed=1 recipe=normal\n'
}

# a missing database is told by readers, and not made
for words in 'ls' 'show 1' 'export' 'tag 1 open'; do
    # shellcheck disable=SC2086
    fails 3 'no such database' db $words --db none.db
done
fails 3 'no such database' db sql 'SELECT 1' --db none.db
fails 3 'no such database' explain 1 --db none.db
fails 3 'reports/tilefuzz.db: no such database' show 1
[ ! -e none.db ] && [ ! -e reports ] || wrong "a reader made a file"

# two bugs go in, and come out
{ bug one; bug two; } >two.jsonl
ok 0 db import two.jsonl --db a.db
ok 0 db ls --db a.db
says '^ *2 .*MISMATCH'
ok 0 db ls --json --db a.db
json_lines
json_keys id signature kind class stage pass rewrite step nodes steps max_size backend state \
    count first_trial repro
ok 0 db show 1 --db a.db
says 'neg x'
ok 0 db show 2 --json --db a.db
json_keys id signature state count
fails 3 'no bug 3' db show 3 --db a.db
fails 3 'no bug 3' show 3 --db a.db
fails 2 'no bug id' db show x --db a.db
ok 0 show 1 --as trial --db a.db
says 'neg x'

# states
ok 0 db tag 2 wontfix --note 'a limit' --db a.db
ok 0 db sql 'SELECT state, note FROM states' --db a.db
says '^wontfix	a limit$'
fails 2 "no state 'happy'" db tag 2 happy --db a.db
fails 3 'no bug 9' db tag 9 open --db a.db

# one bug or two
ok 0 db join 1 2 --db a.db
ok 0 db ls --db a.db
[ "$(wc -l <out)" -eq 2 ] || wrong "joined bugs are listed twice: $(cat out)"
ok 0 db split 1 --db a.db
ok 0 db ls --db a.db
[ "$(wc -l <out)" -eq 3 ] || wrong "split bugs are listed once: $(cat out)"
fails 3 'no bug 9' db join 1 9 --db a.db
fails 3 'no bug 9' db split 9 --db a.db

# SQL only reads
ok 0 db sql 'SELECT count(*) AS n, 0.5 AS h, NULL AS z FROM bugs' --json --db a.db
[ "$(cat out)" = '{"schema":1,"n":2,"h":0.5,"z":null}' ] || wrong "sql --json: $(cat out)"
fails 2 'sql:' db sql 'DELETE FROM bugs' --db a.db
fails 2 'sql:' db sql "ATTACH 'b.db' AS b" --db a.db
fails 2 'sql:' db sql 'PRAGMA query_only = OFF' --db a.db
fails 2 'sql:' db sql "SELECT load_extension('x')" --db a.db
fails 2 'sql:' db sql 'SELEC 1' --db a.db
[ ! -e b.db ] || wrong "sql attached a file"

# exporting, importing, merging: what is known is not new
ok 0 db export --db a.db
cp out exported.jsonl
ok 0 db import exported.jsonl --db b.db
ok 0 db import exported.jsonl --db b.db
ok 0 db export --db b.db
cmp -s out exported.jsonl || wrong "export after import differs"
ok 0 db export -o files --db a.db
[ "$(ls files | wc -l)" -eq 2 ] || wrong "files: $(ls files)"
bug three >three.jsonl
ok 0 db import three.jsonl --db b.db
ok 0 db merge b.db --db a.db
says ' 1 bugs'
ok 0 db merge b.db --db a.db
says ' 0 campaigns, 0 bugs, 0 observations'
fails 3 'no such database' db merge none.db --db a.db

# files that are no database
head -c 20000 /dev/zero | tr '\0' 'x' >noise.db
: >empty.db
mkdir folder.db
cp a.db newer.db
printf '\0\0\0\143' | dd of=newer.db bs=1 seek=60 conv=notrunc 2>/dev/null
cp a.db broken.db
head -c 16000 /dev/zero | tr '\0' 'Z' | dd of=broken.db bs=1 seek=8192 conv=notrunc 2>/dev/null
for f in noise empty folder newer broken; do
    case $f in
    noise | empty) pattern='not a tilefuzz database' ;;
    folder) pattern='folder' ;;
    newer) pattern='newer' ;;
    broken) pattern='corrupt' ;;
    esac
    [ -d $f.db ] || cp $f.db before
    fails 3 "$pattern" db ls --db $f.db
    fails 3 "$pattern" explain 1 --db $f.db
    fails 3 "$pattern" db tag 1 open --db $f.db
    [ -d $f.db ] || cmp -s before $f.db || wrong "$f.db was changed"
done
fails 3 'folder' fuzz --trials 1 --db folder.db
fails 3 'a.db' fuzz --trials 1 --db /dev/null/a.db
fails 3 'not a tilefuzz database' fuzz --trials 1 --db noise.db

# bad lines to import leave the database as it was
{ bug four; echo '{"schema":1}'; } >bad.jsonl
fails 3 'bad.jsonl:2:1' db import bad.jsonl --db a.db
fails 3 'bad.trial' db import bad.trial --db a.db
ok 0 db sql "SELECT count(*) FROM bugs" --db a.db
says '^3$'
fails 3 'bad.jsonl:2:1' db import bad.jsonl --db fresh.db
fails 3 'no such database' db merge none.db --db fresh.db
[ -z "$(ls fresh.db* 2>/dev/null)" ] || wrong "a failed import or merge left a file: $(ls)"

if [ "$(id -u)" -ne 0 ]; then # nothing is read-only to root
    chmod 444 a.db
    fails 3 'read-only' db tag 1 open --db a.db
    ok 0 db ls --db a.db
    chmod 644 a.db
    mkdir closed
    cp a.db closed/
    chmod 555 closed
    fails 3 'read-only' db tag 1 open --db closed/a.db
    fails 3 'read-only' fuzz --trials 1 --db closed/new.db
    ok 0 db ls --db closed/a.db
    chmod 755 closed
fi
finish
