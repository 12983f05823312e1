"""ONNX Runtime on the CPU as a backend: exec:PYTHON scripts/adapters/onnx_adapter.py

TILEFUZZ_AROUND=1,2 or =all in the environment: keep away from what reports/found/ has of ONNX
Runtime under these numbers, by leaving out the optimizer that does it, or by allowing it.
"""
import os

os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # it tells nobody, and has no thread for it

import numpy as np
import onnxruntime

from ops import Plan, Table
from tilefuzz_adapter import DTYPES, Unsupported, serve

table = Table("onnx")
onnxruntime.set_default_logger_severity(4)
optimizers = {"1": "MatMulScaleFusion", "2": "ExpandElimination"}
allowed = {"3": "may_uncast"}
around = os.environ.get("TILEFUZZ_AROUND", "")
around = [*optimizers, *allowed] if around == "all" else around.split(",")
without = [optimizers[n] for n in around if n in optimizers]
contract = table.contract + [allowed[n] for n in around if n in allowed]
refused = (  # what is said to be missing, and no bug
    "Size of X.shape[axis:] must be at least 1",  # a norm over nothing
)


def translate(program):
    plan, names = Plan(table, program), table.space()
    names["nodes"].clear()
    names["constants"].clear()
    return names, names["model"](plan, [n.shape for n in program.inputs],
                                 [DTYPES[n.dtype] for n in program.inputs])


def prepare(ready):
    names, model = ready
    session = names["session"](model, without)
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
