"""JAX on the CPU as a backend: exec:PYTHON scripts/adapters/jax_adapter.py [JIT=0] [EXCESS=0]

EXCESS=0: without XLA's leave to keep halves in more precision than they have between ops.
TILEFUZZ_AROUND=1,2 or =all in the environment: keep away from what reports/found/ has of JAX
under these numbers.
"""
import os
import sys

strict = "EXCESS=0" in sys.argv[1:]
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = ("--xla_allow_excess_precision=false " if strict else "") + (
    "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")

import jax
import jax.numpy as jnp
import numpy as np

from ops import Plan, Table
from tilefuzz_adapter import DTYPES, serve

table = Table("jax")
eager = "JIT=0" in sys.argv[1:]
known = {
    "1": {"mul.i32": "jax.lax.optimization_barrier({a} * {b})",
          "abs.i32": "jax.lax.optimization_barrier(jnp.abs({a}))"},
    "2": {op: f"jax.lax.optimization_barrier({table.form[op]})"
          for op in ("add", "sub", "mul", "div")},
}
around = os.environ.get("TILEFUZZ_AROUND", "")
for number in known if around == "all" else around.split(","):
    table.form.update(known.get(number, {}))


def translate(program):
    return Plan(table, program), program.inputs


def prepare(ready):
    f, nodes = ready
    return (f if eager else jax.jit(f)), nodes


def run(ready, inputs):
    program, nodes = ready
    given = [jnp.array(np.array(x, order="C"), dtype=DTYPES[n.dtype]) for x, n in zip(inputs, nodes)]
    return [np.array(y) for y in program(*given)]


contract = [word for word in table.contract if not (strict and word == "may_excess")]
serve(run, name="jax", translate=translate, prepare=prepare, contract=contract,
      library=f"{jax.__version__} {'eager' if eager else 'jit'}")
