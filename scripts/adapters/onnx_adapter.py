"""ONNX Runtime on the CPU as a backend: exec:PYTHON scripts/adapters/onnx_adapter.py"""
import numpy as np
import onnxruntime

from ops import Table, compile_program
from tilefuzz_adapter import DTYPES, serve

table = Table("onnx")
onnxruntime.set_default_logger_severity(4)


def prepare(program):
    f = compile_program(table, program)
    names = f.__globals__
    session = names["build"](f, [n.shape for n in program.inputs],
                             [DTYPES[n.dtype] for n in program.inputs])
    return lambda inputs: names["execute"](session, inputs)


def run(program, inputs):
    return program([np.array(x, order="C") for x in inputs])


serve(run, name="onnxruntime", library=onnxruntime.__version__, prepare=prepare,
      dtypes=list(table.dtype), contract=table.contract)
