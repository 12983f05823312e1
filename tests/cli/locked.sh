#!/bin/sh
# A database that another process is writing to: readers read, writers say so.
. "$(dirname "$0")/lib.sh"

printf '%s\n' '{"kind":"MISMATCH","trial":"tilefuzz 1\ninput x f32 [2]\noutput x\nschedule\ndata seed=1 recipe=normal\n"}' >one.jsonl
ok 0 db import one.jsonl --db a.db
mkfifo ready
python3 -c '
import sqlite3, sys, time
c = sqlite3.connect("a.db", isolation_level=None)
c.execute("BEGIN IMMEDIATE")
c.execute("UPDATE bugs SET state = \"fixed\"")
open("ready", "w").write("x")
time.sleep(60)
' &
holder=$!
timeout 10 cat ready >ready.txt || wrong "nobody holds the database"
ok 0 db ls --db a.db
says ' open '
fails 3 'locked by another process' db tag 1 back --db a.db
fails 3 'locked by another process' fuzz --trials 1 --db a.db
kill -9 $holder
wait $holder 2>/dev/null
ok 0 db tag 1 back --db a.db
ok 0 db sql 'PRAGMA integrity_check' --db a.db
says '^ok$'
finish
