"""PyTorch as a backend: exec:PYTHON scripts/adapters/torch_adapter.py [COMPILE=1]"""
import sys

import numpy as np
import torch

from ops import Table, compile_program
from tilefuzz_adapter import serve

table = Table("torch")
torch.set_num_threads(1)
compiled = "COMPILE=1" in sys.argv[1:]


def prepare(program):
    f = compile_program(table, program)
    return (torch.compile(f) if compiled else f), program.inputs


def give(x, node):
    """Laid out as the program says, over memory of its own."""
    if not x.size:
        return torch.empty(node.shape, dtype=eval(table.dtype[node.dtype]))
    span = 1 + sum((s - 1) * t for s, t in zip(x.shape, node.strides))
    flat = np.array(np.lib.stride_tricks.as_strided(x, (span,), (x.itemsize,)))
    flat = flat.view(np.int16) if node.dtype == "bf16" else flat
    y = torch.from_numpy(flat)
    y = y.view(torch.bfloat16) if node.dtype == "bf16" else y
    return y.as_strided(node.shape, node.strides)


def take(y):
    y = y.detach().contiguous()
    return (y.view(torch.int16).numpy().view(np.uint16) if y.dtype == torch.bfloat16
            else y.numpy()).copy()


def run(ready, inputs):
    program, nodes = ready
    return [take(y) for y in program(*[give(x, n) for x, n in zip(inputs, nodes)])]


serve(run, name="torch", prepare=prepare, contract=table.contract,
      library=f"{torch.__version__} {'compiled' if compiled else 'eager'}")
