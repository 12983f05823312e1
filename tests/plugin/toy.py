"""An adapter written from docs/exec-protocol.md and corpus/README.md: NumPy as a library of a
few ops. With TOY_BUG set, a sum over more than 4 elements leaves the last one out."""
import os

import numpy as np
from tilefuzz_adapter import DTYPES, Unsupported, serve, walk


def number(node, x):
    """Numbers become tensors of the dtype of the result."""
    return DTYPES[node.dtype].type(x) if isinstance(x, float) else x


def add_up(node, x):
    if os.environ.get("TOY_BUG") and len(node.axes) == 1 and x.shape[node.axes[0]] > 4:
        x = np.delete(x, -1, node.axes[0])
    return np.sum(x, axis=node.axes, keepdims=node.keep, dtype=DTYPES[node.acc]).astype(x.dtype)


def cast(node, x):
    if node.dtype == "i32" and x.dtype.kind == "f":
        raise Unsupported("what is out of range is not defined")
    return x.astype(DTYPES[node.dtype])


OPS = {
    "neg": lambda node, x: -x,
    "add": lambda node, x, y: number(node, x) + number(node, y),
    "mul": lambda node, x, y: number(node, x) * number(node, y),
    "sum": add_up,
    "cast": cast,
    "copy": lambda node, x: x.copy(),
    "permute": lambda node, x: np.transpose(x, node.perm),
    "reshape": lambda node, x: np.reshape(x, node.shape),
    "expand": lambda node, x: np.broadcast_to(x, node.shape),
}


def run(program, inputs):
    if any(node.dtype == "bf16" for node in program.nodes):
        raise Unsupported("no bf16 in NumPy")
    with np.errstate(all="ignore"):
        return walk(program, inputs, OPS)


serve(run, name="toy", library="1.0", ran="loops")
