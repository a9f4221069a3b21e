"""Small models, arrays and pictures as files, for tests of the tool. The standard library and flatc are enough."""
import json
import pathlib
import struct
import subprocess
import zlib

SCHEMA = pathlib.Path(__file__).resolve().parents[2] / "schema/mnn.fbs"


class Net:
    """A net under construction; every method takes and returns numbers of tensors."""

    def __init__(self):
        self.tensors, self.ops, self.outputs = [], [], []

    def op(self, kind, inputs, names, table=None, main=None, data_format="NCHW"):
        outputs = list(range(len(self.tensors), len(self.tensors) + len(names)))
        self.tensors += names
        op = {"type": kind, "name": names[0], "inputIndexes": list(inputs), "outputIndexes": outputs,
              "defaultDimentionFormat": data_format}
        if table:
            op["main_type"], op["main"] = table, main
        self.ops.append(op)
        return outputs

    def feed(self, name, shape, data_format="NCHW"):
        return self.op("Input", [], [name], "Input", {"dims": list(shape), "dtype": "DT_FLOAT", "dformat": data_format},
                       data_format)[0]

    def const(self, name, shape, values):
        return self.op("Const", [], [name], "Blob", {"dims": list(shape), "dataType": "DT_FLOAT", "dataFormat": "NCHW",
                                                     "float32s": values})[0]

    def ints(self, name, values):
        return self.op("Const", [], [name], "Blob", {"dims": [len(values)], "dataType": "DT_INT32", "dataFormat": "NCHW",
                                                     "int32s": values})[0]

    def passed(self, name, tensor):
        """Adds an output with the values of a tensor."""
        negative = self.op("UnaryOp", [tensor], [name + "_negative"], "UnaryOp", {"opType": "NEG", "T": "DT_FLOAT"})
        self.outputs += [name]
        return self.op("UnaryOp", negative, [name], "UnaryOp", {"opType": "NEG", "T": "DT_FLOAT"})[0]

    def write(self, flatc, path):
        text = path.with_suffix(".json")
        text.write_text(json.dumps({"oplists": self.ops, "tensorName": self.tensors, "outputName": self.outputs,
                                    "sourceType": "CAFFE", "bizCode": "test"}))
        subprocess.run([flatc, "--no-warnings", "--binary", "-o", path.parent, SCHEMA, text], check=True)
        text.unlink()
        made = path.with_suffix(".bin")
        if made.exists():
            made.replace(path)
        return path


def write_npy(path, shape, values):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({', '.join(map(str, shape))},), }}".ljust(117) + "\n"
    path.write_bytes(b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() +
                     struct.pack(f"<{len(values)}f", *values))
    return path


def read_npy(path):
    data = path.read_bytes()
    begin = 10 + struct.unpack_from("<H", data, 8)[0]
    assert data[:6] == b"\x93NUMPY" and b"'<f4'" in data[:begin], path
    return list(struct.unpack(f"<{(len(data) - begin) // 4}f", data[begin:]))


def ppm(width, height, pixel):
    """Returns the bytes of a picture; pixel(x, y) returns red, green and blue."""
    return b"P6 %d %d 255\n" % (width, height) + bytes(value for y in range(height) for x in range(width)
                                                       for value in pixel(x, y))


def read_png(data):
    """Returns rows of pixels of a PNG with three bytes for each pixel."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n", data[:8]
    at, packed = 8, b""
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        body = data[at + 8:at + 8 + length]
        assert struct.unpack_from(">I", data, at + 8 + length)[0] == zlib.crc32(kind + body), kind
        if kind == b"IHDR":
            width, height, depth, colours = struct.unpack_from(">IIBB", body)
            assert (depth, colours) == (8, 2)
        elif kind == b"IDAT":
            packed += body
        at += 12 + length
    raw, step = zlib.decompress(packed), width * 3
    rows, before = [], bytes(step)
    for y in range(height):
        kind, row = raw[y * (step + 1)], bytearray(raw[y * (step + 1) + 1:(y + 1) * (step + 1)])
        for i in range(step):
            left = row[i - 3] if i >= 3 else 0
            up, corner = before[i], before[i - 3] if i >= 3 else 0
            guess = left + up - corner
            nearest = min((abs(guess - value), order, value) for order, value in enumerate((left, up, corner)))[2]
            row[i] = (row[i] + (0, left, up, (left + up) // 2, nearest)[kind]) % 256
        rows.append([tuple(row[x * 3:x * 3 + 3]) for x in range(width)])
        before = row
    return rows
