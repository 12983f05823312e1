"""JAX on the CPU as a backend: exec:PYTHON scripts/adapters/jax_adapter.py [JIT=0]"""
import os
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import jax
import jax.numpy as jnp
import numpy as np

from ops import Table, compile_program
from tilefuzz_adapter import DTYPES, serve

table = Table("jax")
eager = "JIT=0" in sys.argv[1:]


def prepare(program):
    f = compile_program(table, program)
    return (f if eager else jax.jit(f)), program.inputs


def run(ready, inputs):
    program, nodes = ready
    given = [jnp.array(np.array(x, order="C"), dtype=DTYPES[n.dtype]) for x, n in zip(inputs, nodes)]
    return [np.array(y) for y in program(*given)]


serve(run, name="jax", prepare=prepare, contract=table.contract,
      library=f"{jax.__version__} {'eager' if eager else 'jit'}")
