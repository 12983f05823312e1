#!/bin/sh
# Bad trial files: file:line:column, what is wrong, what was expected; exit 3, and no command
# that takes a file gets any further.
. "$(dirname "$0")/lib.sh"

# bad PATTERN: the trial on stdin must be refused with PATTERN in the first line
bad() {
    cat >bad.trial
    fails 3 "bad.trial:[0-9]*:[0-9]*: .*$1" show bad.trial
    for c in run min explain; do
        fails 3 'bad.trial:[0-9]*:[0-9]*: ' $c bad.trial --db none.db
    done
}
tail='schedule
data seed=1 recipe=normal'

cat >good.trial <<END
tilefuzz 1
input x f32 [4,8]
y = neg x
output y
$tail
END
ok 0 show good.trial
ok 0 run good.trial

bad '' <<END
tilefuzz 2
END
bad '' <<END
tilefuzz 1
input x f32 [4,8
y = neg x
output y
$tail
END
bad "frobnicate" <<END
tilefuzz 1
input x f32 [4,8]
y = frobnicate x
output y
$tail
END
bad '' <<END
tilefuzz 1
input a f32 [4,8]
input b f32 [4,9]
y = add a b
output y
$tail
END
bad "'\{0,1\}z" <<END
tilefuzz 1
input x f32 [4,8]
y = add x z
z = neg x
output y
$tail
END
bad '' <<END
tilefuzz 1
input x f32 [99999999999,99999999999]
y = neg x
output y
$tail
END
bad '' <<END
tilefuzz 1
input x f32 [1048576,1048576]
y = neg x
output y
$tail
END
bad '' <<END
tilefuzz 1
input x f32 [4,8]
y = neg x
output y
schedule
split y.i7 4
data seed=1 recipe=normal
END
bad '' <<END
tilefuzz 1
input x f32 [4,8]
y = neg x
output y
schedule
fuse y y
data seed=1 recipe=normal
END
bad '' <<END
tilefuzz 1
input x f32 [4,8]
y = neg x
output y
schedule
data seed=1 recipe=salty
END

: >empty.trial
fails 3 'empty.trial' run empty.trial
head -c 10000000 /dev/urandom >noise.trial
fails 3 'noise.trial' run noise.trial
head -c 3000000 /dev/zero | tr '\0' '(' >deep.trial
fails 3 'deep.trial' run deep.trial
{ cat good.trial; head -c 100 /dev/zero; } >nul.trial
fails 3 'nul.trial' run nul.trial
mkdir folder.trial
fails 3 'folder.trial' run folder.trial
fails 3 'missing.trial' run missing.trial
ok 3 run good.trial missing.trial
fails 3 'missing.trial' min missing.trial -o out.d
[ ! -e out.d ] && [ ! -e none.db ] && [ ! -e reports ] || wrong "left behind: $(ls)"
finish
