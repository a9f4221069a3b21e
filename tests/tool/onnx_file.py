"""Small ONNX models as bytes, for tests: an encoder of the messages that they need. The standard library is enough."""
import struct

FLOAT, UINT8, INT8, INT32, INT64, BOOL = 1, 2, 3, 6, 7, 9


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes([value])


def field(number, value):
    """Encodes an integer, a text, bytes, or a float as a field."""
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def attribute(name, value):
    kinds = {int: (3, 2), float: (2, 1), str: (4, 3)}
    if isinstance(value, list):
        number, kind = {float: (7, 6), str: (9, 8)}.get(type(next(iter(value), 0)), (8, 7))
        body = b"".join(field(number, one) for one in value)
        return field(5, field(1, name) + body + field(20, kind))
    if isinstance(value, bytes):  # a graph
        return field(5, field(1, name) + field(6, value) + field(20, 5))
    number, kind = kinds[type(value)]
    return field(5, field(1, name) + field(number, value) + field(20, kind))


def node(op_type, inputs, outputs, domain="", **attributes):
    body = b"".join(field(1, one) for one in inputs) + b"".join(field(2, one) for one in outputs)
    body += field(3, f"node_{outputs[0]}") + field(4, op_type)
    body += b"".join(attribute(name, value) for name, value in attributes.items())
    return body + (field(7, domain) if domain else b"")


def tensor(name, dims, elem, raw=None, external=None):
    body = b"".join(field(1, dim) for dim in dims) + field(2, elem) + field(8, name)
    if raw is not None:
        body += field(9, raw)
    if external is not None:
        body += b"".join(field(13, field(1, key) + field(2, value)) for key, value in external.items()) + field(14, 1)
    return body


def floats(name, dims, values):
    return tensor(name, dims, FLOAT, struct.pack(f"<{len(values)}f", *values))


def ints(name, dims, values):
    return tensor(name, dims, INT64, struct.pack(f"<{len(values)}q", *values))


def value(name, elem, dims):
    """dims: numbers, or names of free extents."""
    shape = b"".join(field(1, field(2, dim) if isinstance(dim, str) else field(1, dim)) for dim in dims)
    return field(1, name) + field(2, field(1, field(1, elem) + field(2, shape)))


def graph(nodes, inputs, outputs, initializers=()):
    body = b"".join(field(1, one) for one in nodes) + field(2, "g")
    body += b"".join(field(5, one) for one in initializers)
    return body + b"".join(field(11, one) for one in inputs) + b"".join(field(12, one) for one in outputs)


def function(name, domain, inputs, outputs, nodes, opset=18):
    body = field(1, name) + b"".join(field(4, one) for one in inputs) + b"".join(field(5, one) for one in outputs)
    body += b"".join(field(7, one) for one in nodes) + field(9, field(1, "") + field(2, opset))
    body += field(9, field(1, domain) + field(2, 1))
    return body + field(10, domain)


def model(body, opset=18, functions=(), domains=()):
    """domains: names, whose opsets are 1, or pairs of a name and its opset."""
    data = field(1, 9) + field(2, "tests") + field(7, body) + field(8, field(1, "") + field(2, opset))
    pairs = (domain if isinstance(domain, tuple) else (domain, 1) for domain in domains)
    data += b"".join(field(8, field(1, domain) + field(2, version)) for domain, version in pairs)
    return data + b"".join(field(25, one) for one in functions)
