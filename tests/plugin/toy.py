"""An adapter written from docs/exec-protocol.md and corpus/README.md: NumPy as a library of a
few ops. With TOY_BUG=1, a sum over more than 4 elements leaves the last one out; with TOY_BUG=fuse
a sum takes what a permute gives for dense; with TOY_BUG=excess a product that goes right into a
sum is not rounded."""
import os

import numpy as np
from tilefuzz_adapter import DTYPES, Unsupported, serve, walk


BUG = os.environ.get("TOY_BUG")


class Product(np.ndarray):
    """One that remembers what it was before it was rounded."""


def multiply(node, x, y):
    z = number(node, x) * number(node, y)
    if BUG == "excess" and z.dtype == np.float32 and z.ndim:
        z = z.view(Product)
        z.wide = np.float64(x) * np.float64(y)
    return z


def add(node, x, y):
    if BUG == "excess" and node.dtype == "f32":
        return np.float32(getattr(x, "wide", x) + np.float64(getattr(y, "wide", y)))
    return number(node, x) + number(node, y)


def number(node, x):
    """Numbers become tensors of the dtype of the result."""
    return DTYPES[node.dtype].type(x) if isinstance(x, float) else x


def add_up(node, x):
    if BUG == "fuse" and not x.flags.c_contiguous:
        x = x.ravel(order="K").reshape(x.shape)
    if BUG == "1" and len(node.axes) == 1 and x.shape[node.axes[0]] > 4:
        x = np.delete(x, -1, node.axes[0])
    return np.sum(x, axis=node.axes, keepdims=node.keep, dtype=DTYPES[node.acc]).astype(x.dtype)


def cast(node, x):
    if node.dtype == "i32" and x.dtype.kind == "f":
        raise Unsupported("what is out of range is not defined")
    return x.astype(DTYPES[node.dtype])


OPS = {
    "neg": lambda node, x: -x,
    "add": add,
    "mul": multiply,
    "sum": add_up,
    "cast": cast,
    "copy": lambda node, x: np.array(x, order="C"),
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
