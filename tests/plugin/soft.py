"""Softmax and attention with an exp that is right to 2^-17, as those of vector libraries are.
SOFT_BUG=head takes the keys of the next head, =key sees one key less, =row adds up the weights of
another row, =exp has an exp that is right to 2^-11. SOFT_WORD: the word of the contract."""
import os

import numpy as np
from tilefuzz_adapter import serve, walk

BUG = os.environ.get("SOFT_BUG")


def exp(node, x):
    y = np.exp(np.float64(x))
    return np.float32(y * (1 + np.sin(1e3 * y) * (2**-11 if BUG == "exp" else 2**-17)))


def weights(node, s):
    most = np.max(s, -1, keepdims=True, initial=-np.inf)
    e = exp(node, s - np.where(np.isinf(most), 0, most))
    total = np.sum(e, -1, keepdims=True)
    if BUG == "row":
        total = np.roll(total, 1, -2) if total.ndim > 1 else total
    return e / total


def softmax(node, x):
    return np.moveaxis(weights(node, np.moveaxis(x, node.axis, -1)), -1, node.axis)


def attention(node, q, k, v, mask=None):
    times = q.shape[-3] // k.shape[-3]
    k, v = np.repeat(k, times, -3), np.repeat(v, times, -3)
    if BUG == "head":
        k = np.roll(k, -1, -3)
    s = np.float32(node.scale) * (q @ np.swapaxes(k, -1, -2))
    seen = np.ones(s.shape, bool)
    if node.mask == "add":
        s = s + mask
    elif node.mask == "bool":
        seen = np.broadcast_to(mask, s.shape)
    elif node.mask != "none":
        rows, keys = s.shape[-2:]
        seen = np.broadcast_to(np.tri(rows, keys, keys - rows if node.mask == "causal_br" else 0,
                                      dtype=bool), s.shape)
    if BUG == "key" and s.shape[-1] > 2:
        seen = seen & (np.arange(s.shape[-1]) != 1)
    y = weights(node, np.where(seen, s, -np.float32(np.inf))) @ v
    return y if node.empty == "nan" else np.where(seen.any(-1, keepdims=True), y, np.float32(0))


def run(program, inputs):
    with np.errstate(all="ignore"):
        return walk(program, inputs, {"exp": exp, "softmax": softmax, "attention": attention,
                                      "neg": lambda node, x: -x})


serve(run, name="soft", library="1.0", dtypes=["f32", "bool"],
      ops=["exp", "softmax", "attention", "neg"],
      contract=["may_contract", "open_empty", os.environ.get("SOFT_WORD", "may_approximate")])
