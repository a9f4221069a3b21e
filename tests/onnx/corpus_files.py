"""The packed corpus: corpus.xz is one text of JSON with what a case is, and the bytes of models and tensors behind it.

    corpus_files.py CORPUS.xz FOLDER MAX_BYTES      # writes the models that are not larger, as NAME.onnx
"""
import json
import lzma
import pathlib
import struct
import sys

TYPES = {"float32": 1, "int32": 3, "uint8": 4, "int8": 6}


def pack(path, cases):
    """cases: dicts with name, ops, model (bytes), tolerance, inputs and outputs (lists of name, type, shape, bytes)."""
    index, data = [], []
    at = 0

    def place(blob):
        nonlocal at
        data.append(blob)
        at += len(blob)
        return [at - len(blob), len(blob)]

    for case in cases:
        arrays = {side: [[name, kind, shape, place(blob)] for name, kind, shape, blob in case[side]]
                  for side in ("inputs", "outputs")}
        index.append({"name": case["name"], "ops": case["ops"], "tolerance": case["tolerance"],
                      "model": place(case["model"]), **arrays})
    head = json.dumps(index, separators=(",", ":")).encode()
    whole = struct.pack("<I", len(head)) + head + b"".join(data)
    with open(path, "wb") as file:
        file.write(lzma.compress(whole, preset=9 | lzma.PRESET_EXTREME))


def read(path):
    with open(path, "rb") as file:
        whole = lzma.decompress(file.read())
    size = struct.unpack_from("<I", whole)[0]
    index = json.loads(whole[4:4 + size])
    body = whole[4 + size:]
    return index, lambda place: body[place[0]:place[0] + place[1]]


def cases(path):
    """Returns the cases in the form that pack() takes."""
    index, blob = read(path)
    for case in index:
        case["model"] = blob(case["model"])
        for side in ("inputs", "outputs"):
            case[side] = [[name, kind, shape, blob(place)] for name, kind, shape, place in case[side]]
    return index


def unpack(path, to):
    """Writes the file that node_runner.cpp reads. Returns the names of the cases and their operators."""
    index, blob = read(path)

    def text(data):
        data = data.encode() if isinstance(data, str) else data
        return struct.pack("<I", len(data)) + data

    with open(to, "wb") as out:
        for case in index:
            out.write(text(case["name"]) + text(blob(case["model"])) + struct.pack("<f", case["tolerance"]))
            for side in ("inputs", "outputs"):
                out.write(struct.pack("<I", len(case[side])))
                for name, kind, shape, place in case[side]:
                    out.write(text(name) + struct.pack(f"<II{len(shape)}i", TYPES[kind], len(shape), *shape) + text(blob(place)))
    return {case["name"]: case["ops"] for case in index}


def write_models(path, folder, max_bytes):
    index, blob = read(path)
    for case in index:
        model = blob(case["model"])
        if len(model) <= max_bytes:
            (folder / f"{case['name']}.onnx").write_bytes(model)


if __name__ == "__main__":
    write_models(sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3]))
