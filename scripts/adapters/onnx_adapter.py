"""ONNX Runtime on the CPU as a backend: exec:PYTHON scripts/adapters/onnx_adapter.py [CHECK=1]

CHECK=1: each model is also made as `tilefuzz show --as onnx` has it, by the package onnx, and the
two are compared.
TILEFUZZ_AROUND=1,4,5 or =all in the environment: keep away from what reports/found/ has of ONNX
Runtime under these numbers: by leaving out the optimizer that does it, by allowing it, or by refusal.
"""
import os
import sys

os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # it tells nobody, and has no thread for it

import numpy as np
import onnx
import onnxruntime

import onnx_bytes
from ops import Plan, Table
from tilefuzz_adapter import DTYPES, Unsupported, serve

onnxruntime.set_default_logger_severity(4)
optimizers = {"1": "MatMulScaleFusion", "2": "ExpandElimination"}
allowed = {"3": "may_uncast"}
around = os.environ.get("TILEFUZZ_AROUND", "")
around = [*optimizers, *allowed, "4", "5"] if around == "all" else around.split(",")
without = [optimizers[n] for n in around if n in optimizers]
known = {"logsoftmax": "log_softmax({a}{up}, {axis}, {acc}){down}"} if "5" in around else {}
helper = """
def log_softmax(x, axis, acc):
    if acc == np.float32:
        return op("LogSoftmax", x, axis=axis)
    d = op("Sub", x, op("ReduceMax", x, const([axis], np.int64)))
    return op("Sub", d, op("Log", op("ReduceSum", op("Exp", d), const([axis], np.int64))))
"""


def table_of_forms():
    t = Table("onnx")
    t.form.update(known)
    t.helper["around"] = helper
    return t


table = table_of_forms()
table.space().update(op=onnx_bytes.op, const=onnx_bytes.const)
slow = table_of_forms() if "CHECK=1" in sys.argv[1:] else None
contract = table.contract + [allowed[n] for n in around if n in allowed]
refused = (  # what is said to be missing, and no bug
    "Size of X.shape[axis:] must be at least 1",  # a norm over nothing
)


def make(model, table, program):
    return model(Plan(table, program), [n.shape for n in program.inputs],
                 [DTYPES[n.dtype] for n in program.inputs])


def rounds_twice(program, node):
    taken = [program.nodes[a].dtype for a in node.args if isinstance(a, int)]
    return node.dtype == "f16" and (vars(node).get("acc") == "f64" or
                                    (node.op == "cast" and taken == ["f64"]))


def translate(program):
    if "4" in around and any(rounds_twice(program, n) for n in program.nodes):
        raise Unsupported("onnx-004")
    model = make(onnx_bytes.model, table, program)
    if slow:
        names = slow.space()
        names["nodes"].clear()
        names["constants"].clear()
        said = make(names["model"], slow, program)
        if onnx.load_from_string(model) != onnx.load_from_string(said):
            raise AssertionError("onnx_bytes.py does not say what onnx.ops says")
    return model


def prepare(ready):
    names = table.space()
    session = names["session"](ready, without)
    return lambda inputs: names["execute"](session, inputs)


def run(program, inputs):
    try:
        return program([np.array(x, order="C") for x in inputs])
    except Exception as e:
        if any(text in str(e) for text in refused):
            raise Unsupported(str(e).split("\n")[0]) from e
        raise


serve(run, name="onnxruntime", library=onnxruntime.__version__, translate=translate,
      prepare=prepare,
      dtypes=list(table.dtype), contract=contract)
