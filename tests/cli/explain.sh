#!/bin/sh
# show, min and explain: the founding pair, a trial that passes, what is written where.
. "$(dirname "$0")/lib.sh"

cat >copies.trial <<'E'
tilefuzz 1
input x f32 [4,8]
xr = reshape x [4,8,1]
e = expand xr [4,8,8]
c1 = copy e
p = permute c1 [0,2,1]
c2 = copy p
output c2
schedule
fuse c1 c2
data seed=1 recipe=uniform
E
cat >plan.trial <<'E'
tilefuzz 1
input x f32 [6,6]
input y f32 [6,6]
a = copy x
c = matmul a y
d = copy c
output d
data seed=1 recipe=normal
E
copies='--fault copy_copy_fusion_drops_view'
plan='--fault liveness_ignores_loops'

# the wrong index and the right one
ok 0 explain copies.trial $copies
says '^guilty pass *fuse:'
says '^schedule step *1: fuse c1 c2$'
says '^index used *x\[8\*c2.i0 + c2.i1\]$'
says '^index wanted *x\[8\*c2.i0 + c2.i2\]$'
ok 0 explain copies.trial $copies --json
json_lines
json_keys id class stage pass rewrite step kernel element loops index_want index_got sites text
ok 0 explain plan.trial $plan
says '^guilty pass *plan:'
says '^class *alias$'
says 'c (arena bytes 0..143) is placed over a (0..143)'

# a trial that passes: one line
ok 0 explain copies.trial
says '^copies.trial: PASS'
[ "$(wc -l <out)" -eq 1 ] || wrong "more than a line"
ok 0 min copies.trial -o none
says '^copies.trial: PASS'
[ ! -e none ] || wrong "min of a trial that passes left files"
ok 0 explain copies.trial --json
json_keys id class stage pass rewrite step kernel element loops index_want index_got sites text

# minimizing: what is printed is what is written, and it still fails for the same reason
ok 0 min copies.trial $copies -o found
cmp -s out found/copies.min.trial || wrong "the trial that is printed is not the file"
says '^fuse c1 c2$'
[ "$(grep -c ' = ' out)" -le 4 ] || wrong "more than 4 nodes: $(cat out)"
[ "$(ls found | wc -l)" -eq 2 ] || wrong "left over: $(ls found)"
ok 1 run found/copies.min.trial $copies
ok 0 run found/copies.min.trial
ok 0 min found/copies.min.trial $copies -o found
cmp -s out found/copies.min.trial || wrong "a minimal trial got smaller"
ok 0 min plan.trial $plan -o found --json
json_lines
json_keys id nodes steps max_size evaluations cpu_s trial

# a bug of the database keeps the smaller trial
ok 1 fuzz -q --seed 2 --fault split_guard_dropped --budget 0 --stop-at 1 --db m.db
ok 0 show 1 --db m.db
cp out larger
ok 0 min 1 --db m.db -o found
[ "$(wc -l <out)" -lt "$(wc -l <larger)" ] || wrong "not smaller: $(cat out)"
cp out smaller
ok 0 show 1 --db m.db
cmp -s out smaller || wrong "the database keeps the larger trial"
ok 0 min 1 --fault none --db m.db -o found
says 'nothing to minimize'

# the repro: fails with the bug, is right without it, carries the text that show prints
if command -v cc >/dev/null; then
    cc -Wall -Wextra -Werror found/copies.repro.c -o repro -lm || wrong "the repro has warnings"
    ./repro >/dev/null && wrong "the repro does not fail"
    ok 0 show found/copies.min.trial --as repro.c
    cp out right.c
    cc -Wall -Wextra -Werror right.c -o right -lm || wrong "the right repro has warnings"
    ./right >/dev/null || wrong "the repro without the bug fails"
fi
ok 0 show found/copies.min.trial --as c $copies
cp out kernel.c
python3 -c 'import sys
sys.exit(open("kernel.c").read().strip() not in open("found/copies.repro.c").read())' ||
    wrong "the repro has another kernel than show --as c"

# loops differ at the guilty pass and not before
for p in build fuse; do
    ok 0 show copies.trial --after $p
    cp out clean
    ok 0 show copies.trial --after $p $copies
    cmp -s out clean && same=yes || same=no
    [ "$p:$same" = build:yes ] || [ "$p:$same" = fuse:no ] || wrong "after $p: same is $same"
done
ok 0 show copies.trial --as json
json_lines
ok 0 show copies.trial
cmp -s out copies.trial || wrong "show does not print the trial"

fails 2 'no form' show copies.trial --as rust
fails 2 'no pass' show copies.trial --after lunch
fails 2 'loops' show copies.trial --after fuse --as c
fails 2 'which trial' min
fails 2 'one too many' explain copies.trial plan.trial
fails 2 'budget' min copies.trial --budget 0
fails 3 'cannot' explain nowhere.trial
# where nothing can be written the trial is shown all the same
ok 3 min plan.trial $plan -o copies.trial/sub
says '^output'
grep -q 'tilefuzz: copies.trial/sub: cannot' err || wrong "min -o: $(cat err)"
sed -i 's/^fuse c1 c2/split c2.i7 2/' copies.trial
fails 3 'copies.trial:10' explain copies.trial
fails 3 'copies.trial:10' min copies.trial
printf 'tilefuzz 1\ninput x f32 [4]\na = neg x\nb = exp a\nc = exp x\noutput b\noutput c\nschedule\nfuse a c\ndata seed=1 recipe=normal\n' >illegal.trial
for c in show\ --as\ loops min explain; do
    fails 3 'illegal.trial:9' $c illegal.trial
done
finish
