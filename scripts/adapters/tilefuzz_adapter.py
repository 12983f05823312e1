"""Adapters for tilefuzz in Python: docs/exec-protocol.md, spoken. Needs NumPy only.

    from tilefuzz_adapter import serve, walk, Unsupported

    def run(program, inputs):          # inputs: NumPy arrays, laid out as the program says
        ...                            # raise Unsupported("why") for what is not there
        return outputs                 # NumPy arrays (or a scalar), one per program.outputs

    serve(run, name="numpy", library=numpy.__version__)

A program has `nodes`, a list; `outputs`, numbers of nodes; `text`; `set`, a dict of knobs. A node has name, op, dtype,
shape, args (numbers of nodes, or a Literal) and the attributes of its op: node.axes, node.eps.
With prepare=F the program is first handed to F, and run gets what F made of it. What prepare and
run take is the framework's own time; what is not the framework's doing, as putting the program
into other words, goes into translate=F, which is called before them.
"""
import functools
import gc
import json
import os
import resource
import sys
import time
import traceback

import numpy as np

import fork_server


class Unsupported(Exception):
    """This program is not for this framework; counted, and no finding."""


class Literal(float):
    """An operand that is a number: of the dtype of its neighbours, and broadcast."""


DTYPES = {"f32": np.dtype("<f4"), "f64": np.dtype("<f8"), "f16": np.dtype("<f2"),
          "i32": np.dtype("<i4"), "bool": np.dtype("bool")}
try:  # f16 and bf16 of other packages; without them bf16 is 16 raw bits
    import ml_dtypes
    DTYPES["bf16"] = np.dtype(ml_dtypes.bfloat16)
except ImportError:
    DTYPES["bf16"] = np.dtype("<u2")
NAMES = {d: n for n, d in DTYPES.items()}


_NUMBERS = {"value", "eps", "scale", "alpha", "beta"}


def _number(v):
    return float(v) if isinstance(v, str) else v


class Node:
    def __init__(self, d):
        vars(self).update(d)
        self.shape = tuple(d["shape"])
        if any([type(a) is dict for a in d["args"]]):
            self.args = [Literal(_number(a["lit"])) if type(a) is dict else a for a in d["args"]]
        if "axes" in d:
            self.axes = tuple(d["axes"])
        for key in _NUMBERS.intersection(d):
            setattr(self, key, _number(d[key]))

    def __getattr__(self, name):
        raise Unsupported("%s without %s" % (vars(self).get("op"), name))


class Program:
    def __init__(self, d):
        self.nodes = [Node(n) for n in d["nodes"]]
        self.outputs = d["outputs"]
        self.text = d["text"]
        self.set = d.get("set", {})  # knobs: name -> value, strings
        self.inputs = [n for n in self.nodes if n.op == "input"]
        self._layouts = [_layout(n) for n in self.inputs]


def walk(program, inputs, ops):
    """Goes through a program node by node. ops: op -> function(node, *operands); an operand is
    what another function returned, or a number. "input" and "const" may be given as well."""
    values = []
    for node in program.nodes:
        if node.op in ops:
            args = [a if isinstance(a, Literal) else values[a] for a in node.args]
            if node.op == "input":
                args = [inputs[node.input]]
            values.append(ops[node.op](node, *args))
        elif node.op == "input":
            values.append(inputs[node.input])
        elif node.op == "const":
            values.append(np.array(node.value, DTYPES[node.dtype]))
        else:
            raise Unsupported("no op " + node.op)
    return [values[i] for i in program.outputs]


def _layout(node):
    """Element (i0,i1,..) of an input lies at offset + i0*strides[0] + .."""
    dtype = DTYPES[node.dtype]
    return (node.shape, dtype, dtype.itemsize * node.offset,
            tuple(dtype.itemsize * s for s in node.strides))


def _input(layout, n):
    """The next n bytes of stdin, as the array of an input."""
    storage = np.empty(n, np.uint8)
    if sys.stdin.buffer.readinto(storage) < n:
        sys.exit(0)
    shape, dtype, offset, strides = layout
    if 0 in shape:
        return np.empty(shape, dtype)
    return np.ndarray(shape, dtype, storage, offset, strides)


BIG = 1 << 16  # bytes, that are better not copied
_decode, _encode = json.JSONDecoder().decode, json.JSONEncoder(separators=(",", ":")).encode


def _name(dtype):
    return NAMES.get(dtype) or ("bf16" if str(dtype) == "bfloat16" else str(dtype))


@functools.lru_cache(64)  # one run of a program answers as the other
def _ran(forms, ran):
    d = {"ok": True, "outputs": [{"dtype": _name(dtype), "shape": shape, "bytes": n}
                                 for dtype, shape, n in forms]}
    return _encode(dict(d, ran=ran) if ran else d)


class _Clock:
    """CPU time in ns of what is called by it, ended children (compilers) included; also of
    calls that raise."""

    spent = 0

    @staticmethod
    def now():
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.process_time_ns() + int(1e9 * (ended.ru_utime + ended.ru_stime))

    def call(self, f, *args):
        start = self.now()
        try:
            return f(*args)
        finally:
            self.spent += self.now() - start


def serve(run, name, library, prepare=None, translate=None, ran=None, fork=True, **more):
    """Speaks the protocol until stdin ends. more: ops, dtypes, max_rank, max_nodes, contract,
    knobs.
    fork: what is loaded by now, and has no threads, is forked for each start; False where a copy
    would not do, as something is open that two processes can't share.
    ran: a name of what really ran, or a function that tells it after a run."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a framework prints is no answer
    sys.stdout = sys.stderr
    program = ready = None
    copy = False
    clock = _Clock()
    gc.collect()
    gc.freeze()  # what a framework has made by now stays: not to be looked through again and again

    if fork and fork_server.offered():
        more["fork"] = True

    def answer(text, arrays=()):
        if clock.spent:
            text, clock.spent = '%s,"ns":%d}' % (text[:-1], clock.spent), 0
        out.write(text.encode() + b"\n")
        for a in arrays:
            out.write(np.ascontiguousarray(a).view(np.uint8) if a.nbytes > BIG else a.tobytes())
        out.flush()

    def forget():  # to give back what it made is the framework's own doing, too
        nonlocal ready
        ready = None

    def handle(d):
        nonlocal program, ready
        if d["do"] == "hello":
            return _encode(dict(ok=True, version=1, name=name, library=str(library), **more)),
        if d["do"] == "fork":
            return '{"ok":true}',
        if d["do"] == "prepare":
            clock.call(forget)
            program = Program(d["program"])
            ready = translate(program) if translate else program
            ready = clock.call(prepare, ready) if prepare else ready
            return '{"ok":true}',
        inputs = [_input(x, n) for x, n in zip(program._layouts, d["inputs"])]
        outputs = [np.asarray(y) for y in clock.call(run, ready, inputs)]
        return _ran(tuple([(y.dtype, y.shape, y.nbytes) for y in outputs]),
                    ran() if callable(ran) else ran), outputs

    last, d = None, {"do": ""}
    for line in sys.stdin.buffer:
        try:
            if line != last:
                last, d = line, _decode(line.decode())
            reply = handle(d)
        except Unsupported as e:
            reply = _encode({"unsupported": str(e) or "no reason"}),
        except Exception as e:
            traceback.print_exc()
            reply = _encode({"error": "%s: %s" % (type(e).__name__, e)}),
        answer(*reply)
        if d["do"] == "fork" and more.pop("fork", False):
            fork_server.serve(out.fileno())  # returns in a copy, which is said hello to
            copy = True
    if copy:
        os._exit(0)  # all that there is to tidy up is the server's
