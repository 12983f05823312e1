"""A program as lines of Python, from a table of forms (NAME.ops).

The same tables are inside of `tilefuzz show --as NAME.py`, so that what an adapter runs is what
the standalone script runs. Words in braces in a form:

    a b c d          operands; None for one that isn't there
    dt in acc        dtype of the result, the operand, the sum
    up down cast     `as` from in to acc, from acc to dt, from in to dt; nothing if they are equal
    shape from       of the result, the operand; line: shape with n at axis, else ones
    axes perm pads   tuples; axis, keep, n: size of axis; skip: ":, " axis times
    ranges cuts      start:stop:step, ..; ((start, stop, step), ..)
    shift times      of roll and repeat, for every axis
    value eps scale alpha beta   numbers
    mask empty       strings
"""
import os
import re

from tilefuzz_adapter import Literal, Unsupported


class Table:
    def __init__(self, name):
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".ops")
        self.head, self.contract, self.form, self.dtype, self.helper = "", [], {}, {}, {}
        section = ""
        for line in open(path):
            if line.startswith("#"):
                continue
            if line.startswith("["):
                section = line.strip()[1:-1]
                continue
            if section in ("forms", "dtypes"):
                key, text = line.split(None, 1)
                (self.form if section == "forms" else self.dtype)[key] = text.strip()
            elif section == "import":
                self.head += line
            elif section == "contract":
                self.contract += line.split()
            elif section.startswith("def "):
                name = section[4:]
                self.helper[name] = self.helper.get(name, "") + line

    def need(self, key):
        text = self.form[key]
        if text.startswith("!"):
            raise Unsupported(text[1:].strip())
        return text

    def type(self, dt):
        if dt not in self.dtype:
            raise Unsupported("no dtype " + dt)
        return self.dtype[dt]


def tuple_text(v):
    return "(" + ", ".join(map(str, v)) + ("," if len(v) == 1 else "") + ")"


def number(v, dt):
    if dt == "bool":
        return str(bool(v))
    return repr(int(v)) if dt == "i32" else repr(float(v))


def range_text(lo, hi, by):
    if (hi - lo) * by <= 0:
        return "0:0"
    stop = str(hi) if hi >= 0 else ""
    return f"{lo}:{stop}" if by == 1 else f"{lo}:{stop}:{by}"


class Source:
    """The text of a program: lines, and which helpers they need."""

    def __init__(self, table, program, name=None):
        self.t, self.nodes = table, program.nodes
        self.outputs = program.outputs
        self.name = name or (lambda i: f"v{i}")
        self.lines = [self.line(i) for i in range(len(self.nodes))]
        self.lines = [f"{self.name(i)} = {text}" for i, text in enumerate(self.lines) if text]
        self.inputs = sorted((n.input, i) for i, n in enumerate(self.nodes)
                             if n.op == "input")

    def tensor_dtype(self, n):
        """The dtype of the values that an op takes, which its literals have too."""
        args = n.args[1:] if n.op == "where" else n.args
        for a in args:
            if not isinstance(a, Literal):
                return self.nodes[a].dtype
        return n.dtype

    def operand(self, n, k, dt):
        if k >= len(n.args):
            return "None"
        a = n.args[k]
        if not isinstance(a, Literal):
            return self.name(a)
        alone = n.op == "where" and all(isinstance(x, Literal) for x in n.args[1:])
        return self.t.need("const" if alone else "literal").format(
            dt=self.t.type(dt), value=number(a, dt))

    def key(self, n, dt):
        op = n.op
        if op in ("pad", "roll", "repeat") and not n.shape:
            op = "copy"
        if op == "matmul" and (len(n.args) > 2 or vars(n).get("alpha", 1) != 1):
            op = "matmul3"
        if op == "cast" and n.dtype == "i32" and dt in ("f32", "f64", "f16", "bf16") and \
                "cast_to_i32" in self.t.form:
            op = "cast_to_i32"
        for k in (op + "." + dt, op):
            if k in self.t.form:
                return k
        raise Unsupported("no op " + op)

    def line(self, i):
        n = self.nodes[i]
        if n.op == "input":
            self.t.type(n.dtype)
            return None
        dt = self.tensor_dtype(n)
        text = self.t.need(self.key(n, dt)).format(**self.words(n, dt))
        wrap = self.t.form.get("wrap." + n.dtype)
        return wrap.format(a=text) if wrap else text

    def words(self, n, dt):
        get = vars(n).get
        shape, axis = n.shape, get("axis", 0)
        acc = get("acc", n.dtype)
        first = n.args[0] if n.args and not isinstance(n.args[0], Literal) else None
        source = self.nodes[first].shape if first is not None else shape
        lo, hi, by = get("lo", []), get("hi", []), get("by", [])
        cast = self.t.form["as"]  # not where `wrap` rounds anyhow: once, that is
        down = "" if "wrap." + n.dtype in self.t.form else cast.format(
            a="", dt=self.t.type(n.dtype))
        return {
            "a": self.operand(n, 0, dt), "b": self.operand(n, 1, dt),
            "c": self.operand(n, 2, dt), "d": self.operand(n, 3, dt),
            "dt": self.t.type(n.dtype), "in": self.t.type(dt), "acc": self.t.type(acc),
            "up": cast.format(a="", dt=self.t.type(acc)) if acc != dt else "",
            "down": down if acc != n.dtype else "", "cast": down if dt != n.dtype else "",
            "shape": tuple_text(shape), "from": tuple_text(source),
            "n": (shape if n.op == "iota" else source)[axis] if "axis" in vars(n) else 0,
            "line": tuple_text([s if k == axis else 1 for k, s in enumerate(shape)]),
            "axes": tuple_text(get("axes", [])), "axis": axis,
            "keep": bool(get("keep", False)), "perm": tuple_text(get("perm", [])),
            "pads": "(" + "".join(f"({a}, {b}), " for a, b in zip(lo, hi)) + ")",
            "ranges": ", ".join(range_text(*r) for r in zip(lo, hi, by)) or "...",
            "cuts": tuple_text([(l, h, b) for l, h, b in zip(lo, hi, by)]),
            "shift": tuple_text(lo), "times": tuple_text(by),
            "skip": ":, " * axis,
            "value": number(get("value", 0), n.dtype),
            **{k: number(get(k, 1), "f64") for k in ("eps", "scale", "alpha", "beta")},
            "mask": repr(get("mask", "none")), "empty": repr(get("empty", "nan")),
        }

    def helpers(self):
        """Helpers that the lines call, and that these call."""
        text, used, grew = "\n".join(self.lines), [], True
        while grew:
            grew = False
            for h, body in self.t.helper.items():
                if h not in used and re.search(rf"\b{h}[(,]", text):
                    used.append(h)
                    text += body
                    grew = True
        return [self.t.helper[h] for h in self.t.helper if h in used]

    def text(self):
        args = ", ".join(self.name(i) for _, i in self.inputs)
        body = "".join("    " + line + "\n" for line in self.lines)
        give = ", ".join(self.name(o) for o in self.outputs)
        return (self.t.head + "".join(self.helpers()) + f"def program({args}):\n{body}"
                f"    return [{give}]\n")


def compile_program(table, program):
    """The function `program` of a program: framework's tensors in, a list of them out."""
    space = {}
    text = Source(table, program).text()
    exec(compile(text, "<program>", "exec"), space)
    return space["program"]
