#!/usr/bin/env python3
"""Runs the C examples and compares what they print with a formula or with each other.

    check_examples.py EXAMPLES_FOLDER MODELS_FOLDER TOOL

EXAMPLES_FOLDER has the programs, MODELS_FOLDER the folders digits and own_operator, TOOL is the program mnn.
"""
import array
import pathlib
import re
import subprocess
import sys
import tempfile

failures = []


def printed(*command, code=0):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != code:
        failures.append(f"{command}: exit code {done.returncode}, wanted {code}:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def scores_of(text):
    return [float(score) for score in re.findall(r"^\d: (\S+)$", text, re.MULTILINE)]


def write_npy(path, values, shape):
    header = repr({"descr": "<f4", "fortran_order": False, "shape": shape})
    header += " " * (63 - (len(header) + 10) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode()
                     + array.array("f", values).tobytes())


def tool_scores(tool, model, image):
    """The ten scores of an image by the tool, on the library's CPU."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "image.npy"
        write_npy(path, image, (1, 1, 8, 8))
        text = printed(tool, "run", model, "--input", f"image={path}", "--top", 10)
    return {int(place): float(score) for place, score in re.findall(r"^ +(\d) +(\S+) *$", text, re.MULTILINE)}


def close(name, found, wanted, tolerance):
    if len(found) != len(wanted) or any(abs(a - b) > tolerance for a, b in zip(found, wanted)):
        failures.append(f"{name}: {found}, wanted {wanted}")


def check_own_operator(program, model):
    lines = re.findall(r"^(\S+) -> (\S+)$", printed(program, model), re.MULTILINE)
    x = [float(line[0]) for line in lines]
    # The model doubles x, shrinks it by 0.5 and adds 1.
    y = [1 + (2 * v - (0.5 if v > 0 else -0.5) if abs(2 * v) > 0.5 else 0) for v in x]
    close("own_operator, x", x, [(i - 6) / 4 for i in range(12)], 1e-6)
    close("own_operator, y", [float(line[1]) for line in lines], y, 1e-6)


def check_own_backend(program, model, tool):
    text = printed(program, model)
    on_loops = re.findall(r"^\S+ +(\S+) +loops$", text, re.MULTILINE)
    if "Convolution" not in on_loops or "Pooling" not in on_loops:
        failures.append(f"own_backend: the loops computed {on_loops}:\n{text}")
    wanted = tool_scores(tool, model, [i * 7 % 16 / 16 for i in range(64)])
    close("own_backend", scores_of(text), [wanted.get(i, 1e9) for i in range(10)], 2e-3)


def check_quickstart(program, model, tool):
    wanted = tool_scores(tool, model, [0.0] * 64)
    close("quickstart", scores_of(printed(program, model)), [wanted.get(i, 1e9) for i in range(10)], 2e-3)


def check_train(program, folder, tool):
    """The loss falls, and the stored file is a net that other programs can open."""
    with tempfile.TemporaryDirectory() as made:
        trained = pathlib.Path(made) / "trained.mnn"
        text = printed(program, folder, trained)
        losses = [float(loss) for loss in re.findall(r"^step +\d+ +loss (\S+)$", text, re.MULTILINE)]
        right = re.search(r"(\d+) of 100 digits right", text)
        if len(losses) != 11 or losses[0] < 2 or sum(losses[-3:]) > 1 or not right or int(right[1]) < 85:
            failures.append(f"train printed:\n{text}")
        if trained.stat().st_size != (folder / "training.mnn").stat().st_size:
            failures.append("train: the stored file has another size than the net that it was made from")
        if "probabilities" not in printed(tool, "info", trained):
            failures.append("train: the tool does not open the stored file")


def main():
    programs, models, tool = (pathlib.Path(argument) for argument in sys.argv[1:])
    digits = models / "digits/digits.mnn"
    check_quickstart(programs / "quickstart", digits, tool)
    check_own_operator(programs / "own_operator", models / "own_operator/shrink.mnn")
    check_own_backend(programs / "own_backend", digits, tool)
    check_train(programs / "train", models / "digits", tool)
    for name in ("quickstart", "own_operator", "own_backend"):
        if "no-such.mnn" not in printed(programs / name, "no-such.mnn", code=1):
            failures.append(f"{name}: the message does not name the missing file")
    print("\n".join(failures))
    sys.exit(1 if failures else 0)


main()
