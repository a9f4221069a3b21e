#!/usr/bin/env python3
"""Calls the command line tool and looks at exit codes and words.

    check_tool.py MNN_TOOL MODEL [LOUD_RUN]

MODEL has one float input. LOUD_RUN: a library to preload whose runs print a message as the validation layer does.
What needs a Vulkan device, or the layer, is left out where there is none.
"""
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

failures = []


def call(tool, *arguments, code=0, words=(), env=None):
    """Runs the tool; records a wrong exit code or a missing word; returns its standard output."""
    done = subprocess.run([tool, *arguments], capture_output=True, text=True, env={**os.environ, **(env or {})})
    said = done.stdout + done.stderr
    missing = [word for word in words if word not in said]
    if done.returncode != code or missing:
        failures.append(f"mnn {' '.join(arguments)}: exit code {done.returncode}, wanted {code}; "
                        f"missing: {missing}\n{said}")
    return done.stdout


def check_anywhere(tool, model):
    call(tool, "info", model, "--device", "0", code=2, words=["--backend vulkan"])
    call(tool, "bench", model, "--gpu-mode", "direct", code=2, words=["--backend vulkan"])
    call(tool, "info", model, "--gpu-mode", "sideways", code=2)
    call(tool, "run", model, "--tuning-operators", "3", code=2, words=["--gpu-tuning"])
    call(tool, "run", model, "--tuning-operators", "0", code=2)
    call(tool, "run", model, "--precision", "none", code=2)
    call(tool, "rnu", model, code=2, words=["no command 'rnu'", "run, generate, verify"])
    call(tool, "run", model, "--memory", "none", code=2, words=["mnn run: --memory: none", "'mnn run --help'"])
    call(tool, code=2, words=["'mnn --help'"])
    call(tool, "verify", "no-such-folder", "--backend", "auto", "--validate", code=2, words=["--backend vulkan"])
    call(tool, "compare", model, "--backends", "cpu,cpu", words=["tensors agree"])
    call(tool, "compare", model, "--backends", "cpu,cpu", "--fused", words=["tensors agree"])
    call(tool, "compare", model, "--backends", "cpu", code=2)
    call(tool, "compare", model, "--backends", "cpu,cpu", "--tolerance", "-1", code=2)
    call(tool, "compare", model, "--backends", "cpu,cpu", "--device", "0", code=2)
    low = json.loads(call(tool, "info", model, "--json", "--precision", "low", "--threads", "2"))["settings"]
    if low["threads"] != 2 or (low["precision"] == "low") == bool(low["reasons"]) or not low["cpu_isa"]:
        failures.append(f"the settings of a session are {low}")
    placement = json.loads(call(tool, "info", model, "--json"))["placement"]
    if sum(placement["counts"].values()) != len(placement["ops"]):
        failures.append(f"the placement's counts are not those of its ops: {placement}")
    algorithms = call(tool, "profile", model, "--algorithms").splitlines()
    chosen = [line for line in algorithms if re.fullmatch(r"\*\t\w+\t[0-9.e+]+ cycles\t[0-9.e+-]+ ms(\t!)?", line)]
    if not chosen or len(chosen) != sum("\tConvolution\t" in line for line in algorithms):
        failures.append(f"profile --algorithms does not mark one algorithm of each convolution: {algorithms}")
    check_calibrate(tool, model)
    check_streams(tool, model)
    call(tool, "info", model, "--shape", "image=1x1x8x8", "--shape", "image=2x1x8x8", code=2, words=["two shapes"])
    # Without any driver there is an error, never another backend.
    none = {"VK_ICD_FILENAMES": "/no/such/file", "VK_DRIVER_FILES": "/no/such/file"}
    for command in (["info", model], ["bench", model, "--seconds", "0"]):
        call(tool, *command, "--backend", "vulkan", code=1, words=["MNN_ERROR_BACKEND_MISSING"], env=none)
    call(tool, "compare", model, "--backends", "cpu,vulkan", code=1, words=["MNN_ERROR_BACKEND_MISSING"], env=none)
    call(tool, "bench", model, "--seconds", "0", "--backend", "auto", env=none)
    call(tool, "devices", words=["cpu"], env=none)


def check_streams(tool, model):
    """Standard output holds one text alone, and a text that cannot be written there is an error."""
    if not json.loads(call(tool, "profile", model, "--runs", "1", "--trace", "-"))["traceEvents"]:
        failures.append("profile --trace - writes no events")
    for other in (["--json"], ["--output", "-"]):
        call(tool, "profile", model, "--runs", "1", "--trace", "-", *other, code=2, words=["only one of"])
    if os.path.exists("/dev/full"):
        for command in (["info", model], ["info", model, "--json"], ["--help"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run([tool, *command], stdout=full, stderr=subprocess.PIPE, text=True)
            if done.returncode != 1 or "standard output" not in done.stderr:
                failures.append(f"mnn {command} > /dev/full: {done}")


def check_calibrate(tool, model):
    """The same costs give the same algorithms in every process; wrong ones are named."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "cpu.txt")
        lowest = json.loads(call(tool, "version", "--json"))["cpu"]["isas"][-1]
        call(tool, "calibrate", "--output", path, "--isa", lowest)
        call(tool, "calibrate", "--isa", "mmx", code=1, words=["mmx"])
        command = ["profile", model, "--algorithms", "--isa", lowest, "--cpu-costs", path]
        first, second = (re.sub(r"\t\S+ ms(\t!)?", "", call(tool, *command)) for _ in range(2))
        if first != second or " cycles" not in first:
            failures.append("two processes with the same costs choose different algorithms")
        with open(path, "a") as file:
            file.write("copy -1\n")
        call(tool, *command, code=1, words=["copy is '-1'"])
        call(tool, "info", model, "--cpu-costs", os.path.join(folder, "none"), code=2, words=["none"])


def grey_jpeg(tables):
    """A grey 8x8 JPEG that defines these Huffman tables (class and number in one byte); its scan uses 0x00 and 0x10."""
    def segment(marker, content):
        return bytes([0xff, marker]) + (len(content) + 2).to_bytes(2, "big") + content

    one_code = bytes([1] + 15 * [0]) + b"\0"  # the code 0 for the symbol 0: no difference, end of the block
    return (b"\xff\xd8" + segment(0xdb, b"\0" + bytes([1] * 64)) +
            segment(0xc0, bytes([8, 0, 8, 0, 8, 1, 1, 0x11, 0])) +
            b"".join(segment(0xc4, bytes([table]) + one_code) for table in tables) +
            segment(0xda, bytes([1, 1, 0, 0, 63, 0])) + b"\x3f\xff\xd9")


def check_images(tool, model):
    """MODEL's input is an 8x8 picture of one channel."""
    grey = [number * 4 for number in range(64)]
    wide = b"".join((value * 257).to_bytes(2, "big") for value in grey)
    pictures = {
        "grey.pgm": b"P5 8 8 255\n" + bytes(grey),
        "wide.pgm": b"P5\n# two bytes for each\n8 8\n65535\n" + wide,
        "colour.ppm": b"P6 8 8 255\n" + b"".join(bytes([value] * 3) for value in grey),
    }
    with tempfile.TemporaryDirectory() as folder:
        said = set()
        for name, content in pictures.items():
            path = os.path.join(folder, name)
            with open(path, "wb") as file:
                file.write(content)
            said.add(call(tool, "run", model, "--input", f"image={path}"))
        if len(said) != 1:
            failures.append(f"one picture in three formats gives {said}")
        for name, content, word in [("cut.pgm", pictures["wide.pgm"][:-1], "end after"),
                                    ("huge.ppm", b"P6 70000 70000 255\n", "which is more than"),
                                    ("none.png", b"", "cannot read")]:
            path = os.path.join(folder, name)
            with open(path, "wb") as file:
                file.write(content)
            call(tool, "run", model, "--input", f"image={path}", code=1, words=[word])
        path = os.path.join(folder, "picture.jpg")
        for tables, word in [([0x00], "does not define"), ([0x10], "does not define"),
                             ([0x00, 0x10], None)]:
            with open(path, "wb") as file:
                file.write(grey_jpeg(tables))
            if word:
                call(tool, "run", model, "--input", f"image={path}", code=1, words=[word])
            else:
                call(tool, "run", model, "--input", f"image={path}")


def check_tensors(tool, model):
    """MODEL's input is 1x1x8x8 floats: one tensor in every kind of file, and on standard input, gives one result."""
    numbers = [number / 4 for number in range(64)]
    rows = [numbers[at:at + 8] for at in range(0, 64, 8)]
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 8, 8), }".ljust(117) + b"\n"
    raw = struct.pack("<64f", *numbers)
    npy = b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + raw
    text = json.dumps([[rows]]).encode()
    csv = "\n".join(",".join(map(str, row)) for row in rows).encode()
    results = set()
    with tempfile.TemporaryDirectory() as folder:
        for name, content in (("x.npy", npy), ("x.json", text), ("x.csv", csv), ("x.raw", raw), ("x.BIN", raw)):
            path = os.path.join(folder, name)
            with open(path, "wb") as file:
                file.write(content)
            results.add(call(tool, "run", model, "--input", path, "--json"))
        for name, content, words in (("cut.raw", raw[:-1], ["255 bytes, 256"]), ("cut.csv", csv[:-9], ["numbers, 64"]),
                                     ("word.csv", csv + b",nine", ["'nine'"]), ("line.csv", b"nine\n" + csv, ["'nine'"]),
                                     ("uneven.json", b"[[1],[2,3]]", ["equally"]),
                                     ("deep.json", b"[" * 10 + b"]" * 10, ["nested deeper"]),
                                     ("deepest.json", b"[" * 200000 + b"]" * 200000, ["nested deeper"]),
                                     ("cut.json", text[:-1], []), ("cut.npy", npy[:-1], [])):
            path = os.path.join(folder, name)
            with open(path, "wb") as file:
                file.write(content)
            call(tool, "run", model, "--input", path, code=1, words=[name, "'image'", "1x1x8x8", *words])
    for content in (npy, text, csv):
        done = subprocess.run([tool, "run", model, "--input", "image=-", "--json"], input=content, capture_output=True)
        results.add(done.stdout.decode())
    if len(results) != 1:
        failures.append(f"one tensor in several files gives {results}")
    scores = json.loads(results.pop())["outputs"]["scores"]
    if scores["shape"] != [1, 10] or scores["type"] != "float32" or len(scores["values"]) != 10:
        failures.append(f"run --json prints {scores}")
    done = subprocess.run([tool, "run", model, "--input", "-", "--output", "-"], input=npy, capture_output=True)
    if not done.stdout.startswith(b"\x93NUMPY") or struct.unpack("<10f", done.stdout[-40:]) != tuple(
            struct.unpack("<10f", struct.pack("<10f", *scores["values"]))):
        failures.append(f"run --output - writes {done.stdout[:80]}, {done.stderr}")
    call(tool, "run", model, "--json", "--output", "-", code=2)


def check_vulkan(tool, model, device, loud_run):
    vulkan = ["--backend", "vulkan"]
    placement = json.loads(call(tool, "info", model, "--json", *vulkan))["placement"]
    if not placement["counts"].get("vulkan") or "host_shape" not in placement["counts"]:
        failures.append(f"nothing runs on the device: {placement}")
    for name in (str(device["index"]), device["uuid"], device["name"]):
        figures = json.loads(call(tool, "bench", model, "--seconds", "0", *vulkan, "--device", name, "--json"))
        if figures["software_driver"] != (device["kind"] == "cpu"):
            failures.append(f"bench on {device} prints {figures}")
    call(tool, "bench", model, "--seconds", "0", *vulkan, "--device", device["uuid"],
         words=["is a software driver"] if device["kind"] == "cpu" else [])
    call(tool, "info", model, *vulkan, "--device", "no such device", code=1, words=[device["name"]])
    for mode in ("direct", "indirect"):
        call(tool, "compare", model, "--gpu-mode", mode, words=["tensors agree"])
    call(tool, "compare", model, "--fused", words=["tensors agree", " vulkan "])
    call(tool, "compare", model, "--precision", "low", "--tolerance", "2e-2", words=["tensors agree"])
    if device["fp16_storage"]:
        call(tool, "compare", model, "--precision", "low", "--tolerance", "1e-9", code=1, words=["DRIFT"])

    probe = subprocess.run([tool, "info", model, *vulkan, "--validate"], capture_output=True, text=True)
    if "is not installed" in probe.stderr:
        if probe.returncode != 1:
            failures.append(f"without the layer --validate ends with {probe.returncode}")
        return
    call(tool, "bench", model, "--seconds", "0", *vulkan, "--validate", words=["median"])
    call(tool, "info", model, *vulkan, "--validate", "--device", "no such device", code=1)
    with tempfile.TemporaryDirectory() as empty:
        call(tool, "info", model, *vulkan, "--validate", code=1, words=["is not installed"],
             env={"VK_LAYER_PATH": empty})
    if loud_run:
        loud = {"LD_PRELOAD": loud_run}
        call(tool, "bench", model, "--seconds", "0", *vulkan, env=loud)
        call(tool, "bench", model, "--seconds", "0", *vulkan, "--validate", code=1,
             words=["vulkan validation: preloaded", "layer reported"], env=loud)


def main(arguments):
    if len(arguments) not in (2, 3):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    tool, model = arguments[:2]
    check_anywhere(tool, model)
    check_images(tool, model)
    check_tensors(tool, model)
    backends = {entry["backend"]: entry for entry in json.loads(call(tool, "devices", "--json"))}
    devices = backends.get("vulkan", {}).get("devices", [])
    if devices:
        check_vulkan(tool, model, devices[0], arguments[2] if len(arguments) == 3 else None)
    else:
        print("without a Vulkan device")
    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
