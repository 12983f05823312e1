"""A program as calls, from a table of forms (NAME.ops).

The same tables are inside of `tilefuzz show --as NAME.py`, so that what an adapter runs is what
the standalone script runs. A form is compiled once, with its words for parameters: most programs
are new, and to compile their text costs more than to run them. Words in braces in a form:

    a b c d          operands; None for one that isn't there
    dt in acc        dtype of the result, the operand, the sum
    up down cast     `as` from in to acc, from acc to dt, from in to dt; nothing if they are equal
    shape from       of the result, the operand; second: of the second operand
    line             shape with n at axis, else ones
    axes perm pads   tuples; axis, keep, n: size of axis; skip: ":, " axis times
    own              of assign: True if it may write over its operand (Plan.own)
    ranges cuts      start:stop:step, ..; ((start, stop, step), ..)
    shift times      of roll and repeat, for every axis
    value eps scale alpha beta   numbers
    mask empty       strings
"""
import collections
import os

from tilefuzz_adapter import Literal, Unsupported


class Table:
    def __init__(self, name):
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".ops")
        self.head, self.contract, self.form, self.dtype, self.helper = "", [], {}, {}, {}
        self.names, self.types, self.made = None, {}, {}  # what it defines; what was compiled
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

    def space(self):
        if self.names is None:
            self.names = {}
            exec(compile(self.head + "".join(self.helper.values()), "<table>", "exec"), self.names)
        return self.names

    def type(self, dt):
        """What it calls a dtype."""
        if dt not in self.types:
            if dt not in self.dtype:
                raise Unsupported("no dtype " + dt)
            self.types[dt] = eval(self.dtype[dt], self.space())
        return self.types[dt]


ALIASES = ("permute", "reshape", "expand", "slice", "pad", "roll", "repeat", "cast", "copy", "assign")


def number(v, dt):
    if dt == "bool":
        return bool(v)
    return int(v) if dt == "i32" else float(v)


def cut(lo, hi, by):
    if (hi - lo) * by <= 0:
        return slice(0, 0)
    return slice(lo, hi if hi >= 0 else None, by)


def shape_of(p, n, k):
    """Of operand k; where it is none, or a number, of the result."""
    a = n.args[k:k + 1]
    return p.nodes[a[0]].shape if a and not isinstance(a[0], Literal) else n.shape


# What a word is for node n of plan p. A form is compiled with them as its parameters.
VALUES = {
    "dt": lambda p, n: p.t.type(n.dtype), "in": lambda p, n: p.t.type(n.taken),
    "acc": lambda p, n: p.t.type(n.acc),
    "shape": lambda p, n: n.shape,
    "from": lambda p, n: shape_of(p, n, 0), "second": lambda p, n: shape_of(p, n, 1),
    "n": lambda p, n: (n.shape if n.op == "iota" else shape_of(p, n, 0))[n.axis],
    "line": lambda p, n: tuple(s if k == n.axis else 1 for k, s in enumerate(n.shape)),
    "axes": lambda p, n: n.axes, "axis": lambda p, n: n.axis, "keep": lambda p, n: n.keep,
    "perm": lambda p, n: tuple(n.perm), "pads": lambda p, n: tuple(zip(n.lo, n.hi)),
    "ranges": lambda p, n: tuple(map(cut, n.lo, n.hi, n.by)) or ...,
    "cuts": lambda p, n: tuple(zip(n.lo, n.hi, n.by)),
    "shift": lambda p, n: tuple(n.lo), "times": lambda p, n: tuple(n.by),
    "skip": lambda p, n: (slice(None),) * n.axis,
    "own": lambda p, n: n in p.in_place,
    "value": lambda p, n: number(n.value, n.dtype),
    "mask": lambda p, n: n.mask, "empty": lambda p, n: n.empty,
    **{k: lambda p, n, k=k: float(vars(n).get(k, 1)) for k in ("eps", "scale", "alpha", "beta")},
}
TEXT = {"skip": "*{}, "}


class Words(dict):
    """The words of a form: the text that they are, or the name of the parameter."""

    def __init__(self, table, kind):
        self.t, self.kind, self.used = table, kind, []

    def __missing__(self, word):
        if word in "abcd":
            return self.operand("abcd".index(word))
        if word in ("up", "down", "cast"):
            return self.to("acc" if word == "up" else "dt") if getattr(self.kind, word) else ""
        return self.parameter(word)

    def parameter(self, word):
        if word not in VALUES:
            raise KeyError(word)
        self.used.append(word)
        return TEXT.get(word, "{}").format("w_" + word)

    def to(self, word):
        return self.t.form["as"].format(a="", dt=self.parameter(word))

    def operand(self, k):
        numbers = self.kind.numbers
        if k >= len(numbers):
            return "None"
        if not numbers[k]:
            return "abcd"[k]
        alone = self.kind.key.startswith("where") and all(numbers[1:])
        return self.t.need("const" if alone else "literal").format(
            dt=self.parameter("in"), value="abcd"[k])


# What the text of a form depends on: its key; which of up, down, cast there are; which operands
# are numbers; the dtype that its result is wrapped for, if any; whether it goes into `fresh`.
Kind = collections.namedtuple("Kind", "key up down cast numbers wrap fresh")


def compile_form(table, kind):
    """A function of the tensors that an op takes, its numbers, and some of VALUES, and these."""
    words = Words(table, kind)
    text = table.need(kind.key).format_map(words)
    text = table.form[kind.wrap].format(a=text) if kind.wrap else text
    text = table.need("fresh").format(a=text) if kind.fresh else text
    used = list(dict.fromkeys(words.used))
    names = [x for x, number in sorted(zip("abcd", kind.numbers), key=lambda p: p[1])]
    given = ", ".join(names + ["w_" + w for w in used])
    f = eval(compile(f"lambda {given}: {text}", f"<{kind.key}>", "eval"), table.space())
    return f, [VALUES[w] for w in used]


class Plan:
    """A program, called node by node: framework's tensors in, a list of them out."""

    def __init__(self, table, program):
        self.t, self.nodes, self.outputs = table, program.nodes, program.outputs
        own = [n for i, n in enumerate(self.nodes) if n.op == "assign" and self.own(i)]
        self.in_place = own
        self.fresh = [self.nodes[n.args[0]] for n in own]
        self.steps = [self.step(n) for n in self.nodes]

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
        for a in n.args[1:] if n.op == "where" else n.args:
            if type(a) is int:
                return self.nodes[a].dtype
        return n.dtype

    def kind(self, n, fresh):
        """What form it is, and how."""
        op, dt = n.op, n.taken
        if op in ("pad", "roll", "repeat") and not n.shape:
            op = "copy"
        if op == "matmul" and (len(n.args) > 2 or n.alpha != 1):
            op = "matmul3"
        if op == "cast" and n.dtype == "i32" and dt in ("f32", "f64", "f16", "bf16") and \
                "cast_to_i32" in self.t.form:
            op = "cast_to_i32"
        key = op + "." + dt if op + "." + dt in self.t.form else op
        if key not in self.t.form:
            raise Unsupported("no op " + op)
        wrap = "wrap." + n.dtype if "wrap." + n.dtype in self.t.form else ""
        return Kind(key, n.acc != dt,
                    n.acc != n.dtype and not wrap, dt != n.dtype and not wrap,  # rounded once
                    tuple([isinstance(a, Literal) for a in n.args]), wrap, fresh)

    def step(self, n):
        """A function, the nodes that it takes, and what it takes besides."""
        if n.op == "input":
            self.t.type(n.dtype)
            return None, n.input, None
        n.taken = dt = self.tensor_dtype(n)
        if "acc" not in vars(n):
            n.acc = n.dtype
        fresh = n in self.fresh and n.op != "assign"  # whose result is its own anyhow
        kind = self.kind(n, fresh)
        if kind not in self.t.made:
            self.t.made[kind] = compile_form(self.t, kind)
        f, values = self.t.made[kind]
        more = [number(a, dt) for a in n.args if type(a) is Literal]
        more += [value(self, n) for value in values]
        return f, [a for a in n.args if type(a) is int] if more else n.args, more

    def __call__(self, *inputs):
        v = []
        try:
            for f, at, more in self.steps:
                v.append(f(*[v[i] for i in at], *more) if f else inputs[at])
        except Exception as e:
            n = self.nodes[len(v)]
            if hasattr(e, "add_note"):
                e.add_note(f"in {n.name} = {n.op} {n.dtype} {n.shape}")
            raise
        return [v[i] for i in self.outputs]
