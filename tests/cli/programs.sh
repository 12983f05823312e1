#!/bin/sh
# show --as numpy.py and its like: a script that needs its framework alone says what the judge
# says, for every trial of corpus/seed, and tells when a value is wrong.
here=$(cd "$(dirname "$0")/../.." && pwd)
. "$(dirname "$0")/lib.sh"
adapters=$here/scripts/adapters

# python NAME: sets $python to that of the newest environment of NAME; false if there is none
python() {
    root=$("$adapters/setup" --list | sed -n "s/^$1==[^ ]* ([a-z_]*): \(\/.*\)/\1/p" | head -n 1)
    python=$root/bin/python
    [ -n "$root" ] && return
    echo "not installed, so not run: $1"
    return 1
}

# agrees FORM FILE..: what can be said in that form is right
agrees() {
    form=$1
    shift
    n=0
    for f; do
        # tinygrad's bf16 takes a newer clang than Debian's
        [ "$form" = tinygrad.py ] && grep -q bf16 "$f" && continue
        if ! "$tilefuzz" show "$f" --as "$form" >x.py 2>err; then
            grep -q 'this framework has no' err || wrong "$form of $f: $(cat err)"
            continue
        fi
        n=$((n + 1))
        # PyTorch's words for what it has no kernel for, which its adapter calls UNSUPPORTED
        "$python" x.py >out 2>&1 || grep -q " implemented for '" out || wrong "$form of $f: $(tail -n 3 out)"
    done
    echo "$form: $n of $# agree"
}

# whether installed or not: they are said, and are Python
printf 'tilefuzz 1\ninput x f32 [2]\ny = add x 1\noutput y\nvalues x [1,-0.5]\n' >a.trial
for form in numpy.py tinygrad.py torch.py jax.py onnx; do
    ok 0 show a.trial --as $form
    says '(\[2.0, 0.5\], \[\])'
    python3 -c 'import ast; ast.parse(open("out").read())' || wrong "$form is no Python"
done
printf 'tilefuzz 1\ninput x bf16 [2]\ny = add x 1\noutput y\n' >b.trial
fails 3 'has no dtype bf16' show b.trial --as onnx
fails 2 "no form 'perl'" show a.trial --as perl

python numpy || exit 77
agrees numpy.py "$here"/corpus/seed/*.trial
[ "$n" -eq "$(ls "$here"/corpus/seed/*.trial | wc -l)" ] || wrong "numpy.py of $n trials only"
"$tilefuzz" show a.trial --as numpy.py | sed 's/(\[2.0, 0.5\]/([2.0, 0.25]/' >x.py
"$python" x.py >out && wrong "a wrong value passes"
says 'y, element 1: want 0.25, got 0.5'
for name in tinygrad torch jax onnx; do
    python $name || continue
    form=$name.py
    [ $name = onnx ] && form=onnx
    agrees $form a.trial "$here"/corpus/seed/0[1-9]*.trial
done
finish
