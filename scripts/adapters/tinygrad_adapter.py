"""tinygrad as a backend: exec:PYTHON scripts/adapters/tinygrad_adapter.py [NAME=VALUE ..]

NAME=VALUE are tinygrad's own variables: NOOPT=1, BEAM=2, DEVICE=PYTHON (older: PYTHON=1). Two are
ours: REALIZE=all realizes every node, =copy (the default) what the program copies.
"""
import os
import sys

knobs = dict(a.split("=", 1) for a in sys.argv[1:])
realize = knobs.pop("REALIZE", "copy")
os.environ.update({"CACHELEVEL": "0", "DEBUG": "0", **knobs})
if "DEVICE" in knobs:  # older versions know a variable for each device instead
    os.environ[knobs["DEVICE"]] = "1"

import importlib.metadata

import numpy as np
from tinygrad import Device, Tensor, dtypes

from ops import Table, compile_program
from tilefuzz_adapter import serve

table = Table("tinygrad")
made = [None, None]
if realize == "all":
    kept = ("literal", "as", "data", "call", "list", "shape_of", "dtype_of")
    table.form = {k: v if k in kept else f"({v}).realize()" for k, v in table.form.items()}
elif realize == "copy":
    table.form["copy"] += ".realize()"


def give(x, node):
    """An input; not an alias of memory that is ours."""
    if node["dtype"] == "bf16":
        return Tensor(np.array(x, order="C").view(np.uint16)).bitcast(dtypes.bfloat16).realize()
    return Tensor(np.array(x, order="C")).realize()


def take(y):
    """To the host at once."""
    if y.dtype == dtypes.bfloat16:
        return y.contiguous().bitcast(dtypes.uint16).numpy().copy()
    return np.array(y.numpy())


def run(program, inputs):
    if made[0] is not program:
        made[:] = program, compile_program(table, program)
    nodes = [n for n in program["nodes"] if n["op"] == "input"]
    return [take(y) for y in made[1](*[give(x, n) for x, n in zip(inputs, nodes)])]


serve(run, name="tinygrad",
      version=" ".join([importlib.metadata.version("tinygrad"), Device.DEFAULT, *sys.argv[1:]]),
      contract=["may_contract", "may_reciprocal", "may_rescale", "may_flush", "open_special",
                "open_nan_max", "open_domain", "open_empty", "open_functions"])
