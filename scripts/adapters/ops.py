"""A program as lines of Python, from a table of forms (NAME.ops).

The same tables are inside of `tilefuzz show --as NAME.py`, so that what an adapter runs is what
the standalone script runs. Words in braces in a form:

    a b c d          operands; None for one that isn't there
    dt in acc        dtype of the result, the operand, the sum
    up down cast     `as` from in to acc, from acc to dt, from in to dt; nothing if they are equal
    shape from       of the result, the operand; second: of the second operand
    line             shape with n at axis, else ones
    axes perm pads   tuples; axis, keep, n: size of axis; skip: ":, " axis times
    own              of assign: True if it may write over its operand (Source.own)
    ranges cuts      start:stop:step, ..; ((start, stop, step), ..)
    shift times      of roll and repeat, for every axis
    value eps scale alpha beta   numbers
    mask empty       strings
"""
import os

from tilefuzz_adapter import Literal, Unsupported


class Table:
    def __init__(self, name):
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".ops")
        self.head, self.contract, self.form, self.dtype, self.helper = "", [], {}, {}, {}
        self.code = None
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
        exec(self.head, {})  # what it imports is loaded now, not in the first program

    def need(self, key):
        text = self.form[key]
        if text.startswith("!"):
            raise Unsupported(text[1:].strip())
        return text

    def type(self, dt):
        if dt not in self.dtype:
            raise Unsupported("no dtype " + dt)
        return self.dtype[dt]


ALIASES = ("permute", "reshape", "expand", "slice", "pad", "roll", "repeat", "cast", "copy", "assign")


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
    """The text of a program."""

    def __init__(self, table, program, name=None):
        self.t, self.nodes = table, program.nodes
        self.outputs = program.outputs
        self.name = name or (lambda i: f"v{i}")
        self.in_place = [i for i, n in enumerate(self.nodes) if n.op == "assign" and self.own(i)]
        self.fresh = [self.nodes[i].args[0] for i in self.in_place]
        self.lines = [self.line(i) for i in range(len(self.nodes))]
        self.lines = [f"{self.name(i)} = {text}" for i, text in enumerate(self.lines) if text]
        self.inputs = sorted((n.input, i) for i, n in enumerate(self.nodes)
                             if n.op == "input")

    def own(self, i):
        """May assign i write over its operand x, computed into storage of its own (form `fresh`)?

        Nobody may look there later. What lies there too, perhaps, are views, casts and copies of
        it, as some of these do nothing. Where a framework is lazy, whatever is computed from it
        counts, as it may be computed late; and all of that has to go into the assign. The same as
        fuzz/python/storage.c.
        """
        how, x = self.t.form.get("in_place", ""), self.nodes[i].args[0]
        if not how or self.nodes[x].op in ("input", "const", "iota"):
            return False
        there, needed = {x}, {i}
        for k in range(x + 1, i):
            n = self.nodes[k]
            args = n.args if "lazy" in how else n.args[:1] if n.op in ALIASES else []
            if there.intersection(a for a in args if not isinstance(a, Literal)):
                there.add(k)
        for n in self.nodes[i + 1:]:
            if there.intersection(a for a in n.args if not isinstance(a, Literal)):
                return False
        for k in range(i, -1, -1):
            if k in needed:
                needed.update(a for a in self.nodes[k].args if not isinstance(a, Literal))
        return not there.intersection(self.outputs) and ("lazy" not in how or there <= needed)

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
        text = self.t.need(self.key(n, dt)).format_map(Words(self, i, dt))
        wrap = self.t.form.get("wrap." + n.dtype)
        text = wrap.format(a=text) if wrap else text
        if i in self.fresh and n.op != "assign":  # whose result is its own anyhow
            text = self.t.need("fresh").format(a=text)
        return text

    def text(self):
        args = ", ".join(self.name(i) for _, i in self.inputs)
        body = "".join("    " + line + "\n" for line in self.lines)
        give = ", ".join(self.name(o) for o in self.outputs)
        return f"def program({args}):\n{body}    return [{give}]\n"


WORDS = {
    "a": lambda w: w.operand(0), "b": lambda w: w.operand(1),
    "c": lambda w: w.operand(2), "d": lambda w: w.operand(3),
    "dt": lambda w: w.dt, "in": lambda w: w.taken, "acc": lambda w: w.acc,
    "up": lambda w: w.cast(w.acc) if w.get("acc", w.n.dtype) != w.name else "",
    "down": lambda w: w.down() if w.get("acc", w.n.dtype) != w.n.dtype else "",
    "cast": lambda w: w.down() if w.name != w.n.dtype else "",
    "shape": lambda w: tuple_text(w.n.shape), "from": lambda w: tuple_text(w.shape_of(0)),
    "second": lambda w: tuple_text(w.shape_of(1)),
    "n": lambda w: (w.n.shape if w.n.op == "iota" else w.shape_of(0))[w.n.axis],
    "line": lambda w: tuple_text([s if k == w.n.axis else 1 for k, s in enumerate(w.n.shape)]),
    "axes": lambda w: tuple_text(w.n.axes), "axis": lambda w: w.n.axis,
    "keep": lambda w: bool(w.n.keep), "perm": lambda w: tuple_text(w.n.perm),
    "own": lambda w: w.i in w.source.in_place,
    "pads": lambda w: "(" + "".join(f"({a}, {b}), " for a, b in zip(w.n.lo, w.n.hi)) + ")",
    "ranges": lambda w: ", ".join(map(range_text, w.n.lo, w.n.hi, w.n.by)) or "...",
    "cuts": lambda w: tuple_text(list(zip(w.n.lo, w.n.hi, w.n.by))),
    "shift": lambda w: tuple_text(w.n.lo), "times": lambda w: tuple_text(w.n.by),
    "skip": lambda w: ":, " * w.n.axis,
    "value": lambda w: number(w.n.value, w.n.dtype),
    "mask": lambda w: repr(w.n.mask), "empty": lambda w: repr(w.n.empty),
    **{k: lambda w, k=k: number(w.get(k, 1), "f64") for k in ("eps", "scale", "alpha", "beta")},
}


class Words(dict):
    """The words of node i, made when a form asks for them: it takes a few of many."""

    def __init__(self, source, i, dt):
        self.source, self.t, self.i, self.n, self.name = source, source.t, i, source.nodes[i], dt
        self.get = vars(self.n).get
        self.dt, self.taken = self.t.type(self.n.dtype), self.t.type(dt)
        self.acc = self.t.type(self.get("acc", self.n.dtype))

    def __missing__(self, word):
        return WORDS[word](self)

    def operand(self, k):
        return self.source.operand(self.n, k, self.name)

    def shape_of(self, k):
        """Of operand k; where it is none, or a number, of the result."""
        a = self.n.args[k:k + 1]
        return self.source.nodes[a[0]].shape if a and not isinstance(a[0], Literal) else self.n.shape

    def cast(self, dt):
        return self.t.form["as"].format(a="", dt=dt)

    def down(self):  # not where `wrap` rounds anyhow: once, that is
        return "" if "wrap." + self.n.dtype in self.t.form else self.cast(self.dt)


def compile_program(table, program):
    """The function `program` of a program: framework's tensors in, a list of them out. The head
    and the helpers are run for each program, as they may have variables, but compiled once."""
    if not table.code:
        table.code = compile(table.head + "".join(table.helper.values()), "<table>", "exec")
    space = {}
    exec(table.code, space)
    exec(compile(Source(table, program).text(), "<program>", "exec"), space)
    return space["program"]
