"""tinygrad as a backend: exec:PYTHON scripts/adapters/tinygrad_adapter.py [NAME=VALUE ..]

NAME=VALUE are tinygrad's own variables, for the whole hunt: NOOPT=1, BEAM=2. Those below under
`turned` are also drawn trial by trial, as steps `set tinygrad.NOOPT 1`; BEAM is not, as it goes
by the clock. Two are ours:
DEVICE=CPU, =PYTHON, =CLANG (before 0.10); REALIZE=all realizes every node, =copy (the default)
what the program copies.

TILEFUZZ_AROUND=1,3 or =all in the environment: keep away from what reports/found/ has of this
version of tinygrad under these numbers.
"""
import contextlib
import functools
import importlib
import importlib.metadata
import os
import subprocess
import sys

turned = {"NOOPT": "01", "SPLIT_REDUCEOP": "10", "NO_MEMORY_PLANNER": "01", "TRANSCENDENTAL": "12",
          "DEVECTORIZE": "10", "FUSE_ARANGE": "01", "DONT_REALIZE_EXPAND": "01",
          "DONT_GROUP_REDUCES": "01", "DISABLE_FAST_IDIV": "01", "PCONTIG": "012",
          "MULTIOUTPUT": "10", "ARANGE_DIFF": "01"}
knobs = dict(a.split("=", 1) for a in sys.argv[1:])
realize = knobs.pop("REALIZE", "copy")
version = importlib.metadata.version("tinygrad")
newer = [int(n) for n in version.split(".")[:2]] >= [0, 11]
if "DEVICE" in knobs:
    device = knobs.pop("DEVICE")  # older versions know a variable for each device
    knobs.update({"DEV": device} if newer else {device: "1"})
# no cache on the disk, and no pool of processes for a handful of kernels
os.environ.update({"CACHELEVEL": "0", "CCACHE": "0", "PARALLEL": "0", "DEBUG": "0", **knobs})

import numpy as np
from tinygrad import Device, Tensor, dtypes
from tinygrad.helpers import Context, ContextVar
from tinygrad.renderer import cstyle

from ops import Plan, Table
from tilefuzz_adapter import Unsupported, serve

table = Table("tinygrad")
if realize == "all":
    kept = ("literal", "as", "data", "call", "list", "shape_is", "dtype_is",
            "in_place", "fresh")
    table.form = {k: v if k in kept else f"({v}).realize()" for k, v in table.form.items()}
elif realize == "copy":
    table.form["copy"] += ".realize()"
table.helper["settled"] = """def settled(x):  # halves are stored, so that they are rounded
    return x.realize() if x.dtype == dtypes.float16 else x
"""
halves_stored = {"cast": "settled({a}.cast({dt}))", "as": "{a}.realize().cast({dt})"}
known = {  # number of the report: versions, and what is said instead
    "1": ("0.14.0", halves_stored),
    "2": ("0.14.0", {"pad": "{a}.contiguous().pad({pads}, value={value})"}),
    "3": ("0.10.3", halves_stored),
    "4": ("0.10.3", {"div.i32": "! tinygrad-004"}),
    "5": ("0.9.2", {"neg": "(-{a}.realize()).realize()",
                    "minimum": "least({a}, {b}).realize()",
                    "min": "(-(-{a}.realize()).realize().max({axes}, {keep})).realize()"}),
    "6": ("0.9.2", {}),
    "7": ("0.9.2", {"slice": "{a}.contiguous()[{ranges}]"}),
    "8": ("0.9.2", {"div.i32": "(idiv({a}, {b}) if 0 not in {shape} else "
                               "Tensor.zeros(*{shape}, dtype=dtypes.int32))"}),
    "9": ("0.10.3", {"roll": "({a}.roll({shift}, tuple(range({a}.ndim))) if 0 not in {shape} "
                             "else {a})"}),
    "10": ("0.9.2 0.10.3", {"gather": "! tinygrad-010"}),
    "11": ("0.9.2 0.10.3", {"pad.bool": "{a}.pad({pads}, value={value}).cast({dt})"}),
    "12": ("0.14.0", {"copy": "{a}.clone().realize()"}),
    "13": (version, {}),
    "14": ("0.9.2", {}),
    "16": (version, {}),
    "17": ("0.14.0", {}),
    "18": ("0.10.3", {}),
    "19": ("0.9.2 0.10.3", {}),
    "20": ("0.14.0", {"copy": "{a}.clone().realize()",
                      "pad": "{a}.clone().pad({pads}, value={value})"}),
    "21": ("0.14.0", {"roll": "{a}.roll({shift}, tuple(range({a}.ndim))).clone()"}),
    "22": ("0.10.3", {}),
}
around = os.environ.get("TILEFUZZ_AROUND", "")
around = list(known) if around == "all" else around.split(",")
for number in around:
    if number in known and version in known[number][0].split():
        table.form.update(known[number][1])
if "13" in around:
    table.contract.append("may_excess")
for number, name in (("17", "PCONTIG"), ("18", "DONT_GROUP_REDUCES"), ("19", "FUSE_ARANGE"),
                     ("22", "DEVECTORIZE")):
    if number in around:
        turned.pop(name)
if "16" in around:
    cstyle.strip_parens = lambda text: text
if "6" in around and version == "0.9.2":  # what stops there is a warning taken for an error
    compiles = subprocess.check_output
    subprocess.check_output = lambda c, **more: compiles([w for w in c if w != "-Werror"], **more)


def give(x, node):
    """An input; not an alias of memory that is ours."""
    if node.dtype == "bf16":
        return Tensor(np.array(x, order="C").view(np.uint16)).bitcast(dtypes.bfloat16).realize()
    return Tensor(np.array(x, order="C")).realize()


def take(y):
    """To the host at once."""
    if y.dtype == dtypes.bfloat16:
        return y.contiguous().bitcast(dtypes.uint16).numpy().copy()
    return np.array(y.numpy())


def translate(program):
    knobs = {name: int(value) for name, value in program.set.items()}
    return Plan(table, program), program.inputs, knobs


settings = {}  # that what is in tinygrad's caches was compiled with


def forget_others(knobs):
    """Its caches don't ask for all of the knobs."""
    global settings
    if knobs == settings:
        return
    settings = knobs
    for name, module in list(sys.modules.items()):
        if name.startswith("tinygrad"):
            for key, x in list(vars(module).items()):
                if key.endswith("_cache") and isinstance(x, dict):
                    x.clear()


def run(ready, inputs):
    program, nodes, knobs = ready
    forget_others(knobs)
    given = [give(x, n) for x, n in zip(inputs, nodes)]
    try:
        with Context(**knobs):
            return [take(y) for y in program(*given)]
    except OSError as e:
        if "14" in around and "__truncdfhf2" in str(e):
            raise Unsupported("tinygrad-014") from e
        raise
    except RuntimeError as e:
        if "self operand of augmented assign must be contiguous" in str(e):
            raise Unsupported(str(e)[:50]) from e  # it says so, and what to do instead
        raise


def default_device():
    """The name of Device.DEFAULT, asked in a process of its own: the answer opens devices, whose
    threads this one must not have when it is forked."""
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(theirs, Device.DEFAULT.encode())
        finally:
            os._exit(0)
    os.close(theirs)
    with open(ours, "rb") as answer:
        name = answer.read().decode()
    os.waitpid(pid, 0)
    for key, x in vars(type(Device)).items():
        if name and isinstance(x, functools.cached_property):
            vars(Device)[key] = name
    with contextlib.suppress(ImportError):  # what it takes, for all copies
        importlib.import_module("tinygrad.runtime.ops_" + Device.DEFAULT.split(":")[0].lower())
    return Device.DEFAULT


def turnable():
    """What this version has of them, with the value of now in front."""
    have = {name: ContextVar._cache[name].value for name in turned if name in ContextVar._cache}
    return {name: [str(v)] + [w for w in turned[name] if w != str(v)] for name, v in have.items()}


# clang has a bf16 from version 15 on
device = default_device()
halves = ["bf16"] if device == "PYTHON" else []
serve(run, name="tinygrad", translate=translate, dtypes=["f32", "f64", "f16", "i32", "bool"] + halves,
      library=" ".join([version, device, *sys.argv[1:]]),
      contract=table.contract, knobs=turnable())
