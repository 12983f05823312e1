"""op, const and model of onnx.ops, which write the model's bytes themselves.

Objects of the package onnx for a model that is used once take longer than many a run of it. The
numbers are those of the fields in onnx.proto, which is a protocol buffer: a field is its number and
kind, then a number, or a length and as many bytes.
"""
import functools

import numpy as np
from onnx import helper

LITTLE = [bytes([n]) for n in range(128)]
FLOAT, INT, INTS = 1, 2, 7  # AttributeProto.type
type_number = functools.lru_cache(None)(lambda dtype: helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))


def varint(n):
    if 0 <= n < 128:
        return LITTLE[n]
    n &= (1 << 64) - 1
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out) + LITTLE[n]


def number(field, n):
    return varint(field << 3) + varint(n)


def block(field, data):
    n = len(data)
    return LITTLE[field << 3 | 2] + (LITTLE[n] if n < 128 else varint(n)) + data


@functools.lru_cache(4096)
def attribute(name, value, kind):
    start = block(1, name.encode())
    if kind is float:
        return block(5, start + b"\x15" + value + number(20, FLOAT))
    if kind is int:
        return block(5, start + number(3, value) + number(20, INT))
    return block(5, start + b"".join([number(8, n) for n in value]) + number(20, INTS))


def frozen(v):
    """A value of an attribute, and of what kind it is: 1, 1.0, 0.0 and -0.0 are four."""
    if isinstance(v, (list, tuple)):
        return tuple(map(int, v)), tuple
    return (np.float32(v).tobytes(), float) if isinstance(v, float) else (int(v), int)


@functools.lru_cache(None)
def node(kind, k):
    """What node k has besides its operands and attributes; and its result."""
    name = b"t%d" % k
    return block(2, name) + block(4, kind.encode()), Value(block(1, name))


@functools.lru_cache(None)
def constant(k, dtype, shape):
    name = b"c%d" % k
    return b"".join([number(1, n) for n in shape]) + number(2, type_number(dtype)) + \
        block(8, name), Value(block(1, name))


class Value(bytes):  # the name of a tensor, as an operand of a node
    def to(self, dtype):
        return op("Cast", self, to=type_number(dtype))


nodes, constants = [], []


def op(kind, *operands, **attributes):
    made, y = node(kind, len(nodes))
    if attributes:
        made += b"".join([attribute(k, *frozen(v)) for k, v in attributes.items()])
    nodes.append(b"".join(operands) + made)
    return y


def const(value, dtype):
    x = np.array(value, dtype)
    made, y = constant(len(constants), dtype, x.shape)
    constants.append(made + block(9, x.tobytes()))
    return y


@functools.lru_cache(256)
def given(k, dtype, shape):
    dims = b"".join([block(1, number(1, n)) for n in shape])
    return block(1, b"x%d" % k) + block(2, block(1, number(1, type_number(dtype)) + block(2, dims)))


def model(program, shapes, dtypes):
    nodes.clear()
    constants.clear()
    outputs = [op("Identity", y) for y in program(*[Value(block(1, b"x%d" % k))
                                                    for k in range(len(shapes))])]
    graph = [block(1, x) for x in nodes] + [block(2, b"g")] + [block(5, x) for x in constants]
    graph += [block(11, given(k, d, s)) for k, (s, d) in enumerate(zip(shapes, dtypes))]
    graph += [block(12, y) for y in outputs]
    return number(1, 11) + block(7, b"".join(graph)) + block(8, block(1, b"") + number(2, 23))
