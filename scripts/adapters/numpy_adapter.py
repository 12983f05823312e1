"""NumPy as a backend: exec:PYTHON scripts/adapters/numpy_adapter.py

TILEFUZZ_AROUND=1 or =all in the environment: keep away from what reports/found/ has of NumPy
under that number.
"""
import os

import numpy as np

from ops import Plan, Table
from tilefuzz_adapter import serve

table = Table("numpy")
if os.environ.get("TILEFUZZ_AROUND", "") in ("1", "all"):
    table.form["assign"] = "assign({a}, np.array({b}), np.s_[{ranges}], {own})"


def give(x, node):
    if node.dtype != "bf16":
        return x
    return (np.asarray(x).view(np.uint16).astype(np.uint32) << 16).view(np.float32)


def take(y, node):
    if node.dtype != "bf16":
        return y
    return (np.ascontiguousarray(y).view(np.uint32) >> 16).astype(np.uint16).reshape(np.shape(y))


def translate(program):
    return Plan(table, program), program


def run(ready, inputs):
    call, program = ready
    outputs = call(*[give(x, n) for x, n in zip(inputs, program.inputs)])
    return [take(y, program.nodes[i]) for y, i in zip(outputs, program.outputs)]


serve(run, name="numpy", library=np.__version__, translate=translate, dtypes=list(table.dtype))
