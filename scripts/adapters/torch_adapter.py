"""PyTorch as a backend: exec:PYTHON scripts/adapters/torch_adapter.py [COMPILE=1]

TILEFUZZ_AROUND=1,3 or =all in the environment: keep away from what reports/found/ has of PyTorch
under these numbers. FILL=0: leave the memory that PyTorch allocates as it comes, see fill.c.
"""
import os
import sys

fill = os.path.join(sys.prefix, "fill.so")
if "FILL=0" not in sys.argv[1:] and os.path.exists(fill) and "LD_PRELOAD" not in os.environ:
    os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "LD_PRELOAD": fill})

import numpy as np
import torch

from ops import Plan, Table
from tilefuzz_adapter import Unsupported, serve

table = Table("torch")
torch.set_num_threads(1)
compiled = "COMPILE=1" in sys.argv[1:]
known = {
    "1": {"matmul3": "product3({a}{up}, {b}{up}, {c}, {alpha}, {beta}){down}"},
    "2": {"pad": "({a}.new_empty({shape}) if 0 in {shape} else pad({a}, {pads}, {value}))"},
    "3": {"matmul.bf16": table.form["matmul"]},
    "4": {"sum.f16": table.form["sum"], "sum.bf16": table.form["sum"]},
    "5": {"mean.f16": table.form["mean"], "mean.bf16": table.form["mean"]},
    "6": {"div": "torch.div(*both({a}, {b}))"},
    "7": {"rsqrt.bf16": "{a}.float().rsqrt().bfloat16()"},
    "8": {"layernorm": "by_definition({a}{up}, {b}{up}, {c}{up}, {eps}){down}"},
    "9": {"as": "{a}.once({dt})", "cast.f64": "{a}.once({dt})", "cast.i32": "{a}.once({dt})"},
    "10": {"div.i32": "idiv({a}, where_it_fits({a}, {b}))"},
}
table.helper["around"] = '''
def by_definition(x, gain, bias, eps):
    d = x - x.mean(-1, True)
    return d / (d.square().mean(-1, True) + eps).sqrt() * gain + bias


def once(x, dt):  # a float32 whose last bit tells that there was more is rounded as the float64
    if x.dtype not in (torch.float64, torch.int32) or dt not in (torch.float16, torch.bfloat16):
        return x.to(dt)
    x, y = x.double(), x.float()
    bits = y.view(torch.int32) - (y.double().abs() > x.abs()).int()
    bits = torch.where(y.double() == x, bits, bits | 1)
    return torch.where(x.isfinite(), bits.view(torch.float32), y).to(dt)


torch.Tensor.once = once


def where_it_fits(x, y):
    x, y = both(x, y)
    return torch.where((x == -2**31) & (y == -1), torch.ones_like(y), y)
'''
around = os.environ.get("TILEFUZZ_AROUND", "")
for number in known if around == "all" else around.split(","):
    table.form.update(known.get(number, {}))
    if number == "9":
        table.helper = {k: v.replace(".to(x.dtype)", ".once(x.dtype)") for k, v in table.helper.items()}
refused = (  # what is said to be missing, and no bug
    " implemented for '",  # the end of PyTorch's words: 'Half', 'BFloat16', 'Bool', ..
    "Expected reduction dim",  # the maximum of nothing
)


def translate(program):
    return Plan(table, program), program.inputs


def prepare(ready):
    f, nodes = ready
    return (torch.compile(f) if compiled else f), nodes


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
    try:
        return [take(y) for y in program(*[give(x, n) for x, n in zip(inputs, nodes)])]
    except (RuntimeError, IndexError) as e:
        if any(text in str(e) for text in refused):
            raise Unsupported(str(e).split("\n")[0]) from e
        raise


serve(run, name="torch", translate=translate, prepare=prepare, contract=table.contract,
      library=f"{torch.__version__} {'compiled' if compiled else 'eager'}")
