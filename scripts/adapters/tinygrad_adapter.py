"""tinygrad as a backend: exec:PYTHON scripts/adapters/tinygrad_adapter.py [NAME=VALUE ..]

NAME=VALUE are tinygrad's own variables: NOOPT=1, BEAM=2. Two are ours:
DEVICE=CPU, =PYTHON, =CLANG (before 0.10); REALIZE=all realizes every node, =copy (the default)
what the program copies.
"""
import importlib.metadata
import os
import sys

knobs = dict(a.split("=", 1) for a in sys.argv[1:])
realize = knobs.pop("REALIZE", "copy")
version = importlib.metadata.version("tinygrad")
newer = [int(n) for n in version.split(".")[:2]] >= [0, 11]
if "DEVICE" in knobs:
    device = knobs.pop("DEVICE")  # older versions know a variable for each device
    knobs.update({"DEV": device} if newer else {device: "1"})
# no cache on the disk, and no pool of processes for a handful of kernels
os.environ.update({"CACHELEVEL": "0", "CCACHE": "0", "PARALLEL": "0", "DEBUG": "0", **knobs})

import numpy as np
from tinygrad import Device, Tensor, dtypes

from ops import Table, compile_program
from tilefuzz_adapter import serve

table = Table("tinygrad")
if realize == "all":
    kept = ("literal", "as", "data", "call", "list", "shape_is", "dtype_is")
    table.form = {k: v if k in kept else f"({v}).realize()" for k, v in table.form.items()}
elif realize == "copy":
    table.form["copy"] += ".realize()"


def give(x, node):
    """An input; not an alias of memory that is ours."""
    if node.dtype == "bf16":
        return Tensor(np.array(x, order="C").view(np.uint16)).bitcast(dtypes.bfloat16).realize()
    return Tensor(np.array(x, order="C")).realize()


def take(y):
    """To the host at once."""
    if y.dtype == dtypes.bfloat16:
        return y.contiguous().bitcast(dtypes.uint16).numpy().copy()
    return np.array(y.numpy())


def prepare(program):
    return compile_program(table, program), program.inputs


def run(ready, inputs):
    program, nodes = ready
    return [take(y) for y in program(*[give(x, n) for x, n in zip(inputs, nodes)])]


# clang has a bf16 from version 15 on
halves = ["bf16"] if Device.DEFAULT == "PYTHON" else []
serve(run, name="tinygrad", prepare=prepare, dtypes=["f32", "f64", "f16", "i32", "bool"] + halves,
      library=" ".join([version, Device.DEFAULT, *sys.argv[1:]]),
      contract=table.contract)
