#!/usr/bin/env python3
"""Behaviour of the engine that this library keeps, checked against the official runtime where its Python interface shows it.

    pip install MNN numpy
    MNN_C_LIBRARY=build/release/libmnn_c.so official_behaviour.py

Both run examples/digits/digits.mnn. A line per behaviour, with the row of docs/engine.md: "same", or what each of them
does where this library differs on purpose. Exits with 1 when a behaviour that is kept differs, with 77 without the
official runtime.
"""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bindings/python/src"))
try:
    import MNN
    import numpy as np
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)
import mnn_c  # noqa: E402

MODEL = str(ROOT / "examples/digits/digits.mnn")
NOT_RESIZED, CALL_BACK_STOP = 3, 11  # error codes of the official runtime
failures = 0


def row(rows, what, ours, official, kept=True):
    """Compares the two results; kept=False: they differ on purpose."""
    global failures
    same = bool(np.allclose(ours, official, rtol=0, atol=1e-4)) if isinstance(ours, np.ndarray) else ours == official
    verdict = "same" if same else f"this library {ours}, official {official}"
    if kept != same:
        failures += 1
        verdict = f"WRONG: {verdict}"
    print(f"{rows:<8} {what:<62} {verdict}", flush=True)


class Official:
    """A session of the official runtime."""

    def __init__(self, **config):
        self.net = MNN.Interpreter(MODEL)
        self.session = self.net.createSession(config)

    def inputs(self):
        return self.net.getSessionInputAll(self.session)

    def outputs(self):
        return self.net.getSessionOutputAll(self.session)

    def resize(self, shape):
        self.net.resizeTensor(self.net.getSessionInput(self.session), tuple(shape))
        self.net.resizeSession(self.session)

    def write(self, name, array):
        host = MNN.Tensor(array.shape, MNN.Halide_Type_Float, array, MNN.Tensor_DimensionType_Caffe)
        self.inputs()[name].copyFromHostTensor(host)

    def read(self, name):
        tensor = self.outputs()[name]
        shape = tensor.getShape()
        host = MNN.Tensor(shape, MNN.Halide_Type_Float, np.zeros(shape, np.float32), MNN.Tensor_DimensionType_Caffe)
        tensor.copyToHostTensor(host)
        return np.array(host.getNumpyData()).reshape(shape)

    def run(self):
        return self.net.runSession(self.session)


def status_of(call):
    """Returns MNN_OK as 0, else the name of the status."""
    try:
        call()
    except mnn_c.Error as error:
        return type(error).__name__
    return 0


def images(count):
    return np.random.default_rng(1).random((count, 1, 8, 8), np.float32)


def node_output(name):
    """Returns the tensor that a node of the model produces."""
    graph = json.loads(mnn_c.Interpreter(MODEL).report("graph"))["graphs"][0]
    operator = next(op for op in graph["operators"] if op["name"] == name)
    return graph["tensors"][operator["outputs"][0]]


def model_rows():
    net = mnn_c.Interpreter(MODEL)
    row("B11", "the UUID of the model", net.uuid, MNN.get_model_uuid(MODEL))
    row("B12", "the version of the writer", net.model_version, MNN.Interpreter(MODEL).getModelVersion())
    official = Official()
    ours = net.session()
    row("I6", "names and shapes of inputs", {i.name: tuple(i.shape) for i in net.inputs},
        {name: tensor.getShape() for name, tensor in official.inputs().items()})
    row("I6", "names of outputs", sorted(net.outputs), sorted(official.outputs()))
    one = images(1)
    official.write("image", one)
    official.run()
    row("I12", "scores of an image", ours(one), official.read("scores"))
    first = ours(one)
    ours.execute()
    official.run()
    row("C2", "a second run finds the inputs as they were written", bool((ours.output().read() == first).all()),
        bool(np.allclose(official.read("scores"), first, atol=1e-4)), kept=False)


def resize_rows():
    official, ours = Official(), mnn_c.Interpreter(MODEL).session()
    official.resize((3, 1, 8, 8))
    ours.resize({"image": (3, 1, 8, 8)})
    row("I8, I10", "the output's shape after a resize", tuple(ours.output().shape), official.outputs()["scores"].getShape())
    three = images(3)
    official.write("image", three)
    official.run()
    row("I10", "scores after a resize", ours(three), official.read("scores"))
    official.resize((3, 2, 8, 8))
    failed = status_of(lambda: ours.resize({"image": (3, 2, 8, 8)}))
    row("2.6", "a resize with a wrong shape is refused", failed != 0, official.run() == NOT_RESIZED)
    row("2.6", "a run after a failed resize is refused", status_of(ours.execute) != 0, official.run() == NOT_RESIZED)
    official.resize((2, 1, 8, 8))
    ours.resize({"image": (2, 1, 8, 8)})
    official.write("image", three[:2])
    official.run()
    row("2.6", "a right shape after a wrong one runs", ours(three[:2]), official.read("scores"))
    official.resize((0, 1, 8, 8))
    ours.resize({"image": (0, 1, 8, 8)})
    row("2.7", "no image at all runs", status_of(ours.execute), official.run())
    row("2.7", "the output's shape without an image", tuple(ours.output().shape), official.outputs()["scores"].getShape())


def callback_rows():
    for name, stop in (("c1", "first"), ("c2", "middle")):
        official = Official()
        code = official.net.runSessionWithCallBackInfo(
            official.session, lambda tensors, op: True, lambda tensors, op: op.getName() != name)
        ours = mnn_c.Interpreter(MODEL).session()
        status = status_of(lambda: ours.execute(after=lambda op, tensors: op.name != name))
        row("I14", f"`after` ends the run, {stop} operator", status != 0, code == CALL_BACK_STOP)
    seen, theirs = [], []
    official = Official()
    official.net.runSessionWithCallBackInfo(
        official.session, lambda tensors, op: theirs.append(op.getName()) or True, lambda tensors, op: True)
    mnn_c.Interpreter(MODEL).session().execute(before=lambda op, tensors: seen.append(op.name) or True)
    nodes = ("c1", "c2", "m", "scores__matmul_converted")
    row("I14", "order of the nodes that callbacks see",
        [name for name in seen if name in nodes], [name for name in theirs if name in nodes])


def path_rows():
    one = images(1)
    middle = node_output("m")
    whole = Official(saveTensors=(middle,))
    ours = mnn_c.Interpreter(MODEL).session(save_tensors=(middle,))
    row("F7", "a saved tensor is an output", middle in ours.run({"image": one}), middle in whole.outputs())
    whole.write("image", one)
    whole.run()
    row("F7", "contents of a saved tensor", ours.run({"image": one})[middle], whole.read(middle))
    unknown = Official(saveTensors=("no such tensor",))
    row("F7", "an unknown saved tensor",
        status_of(lambda: mnn_c.Interpreter(MODEL).session(save_tensors=("no such tensor",))), unknown.run(), kept=False)

    # Its Python interface has paths of operators: this one begins with "m", whose input is the second convolution's output.
    before = node_output("c2")
    features = mnn_c.Interpreter(MODEL).session(save_tensors=(before,)).run({"image": one})[before]
    part = Official(inputPaths=("m",), outputPaths=("scores",))
    tail = mnn_c.Interpreter(MODEL).session(inputs=(before,), outputs=("scores",))
    row("F4", "the input of a path that begins in the middle", tail.input(before).name,
        next(iter(part.inputs())))
    part.net.resizeTensor(part.inputs()[before], features.shape)
    part.net.resizeSession(part.session)
    part.write(before, features)
    part.run()
    row("F4", "scores of that path", tail.run({before: features})["scores"], part.read("scores"))
    empty = Official(outputPaths=("no such tensor",), inputPaths=("image",))
    row("F3", "a path to an unknown tensor",
        status_of(lambda: mnn_c.Interpreter(MODEL).session(outputs=("no such tensor",))), empty.run(), kept=False)


def mode_rows():
    net = MNN.Interpreter(MODEL)
    net.setSessionMode(7)  # the first resize is the caller's
    session = net.createSession({})
    ours = mnn_c.Interpreter(MODEL).session(defer_planning=True)
    row("C7", "a run before the first resize is refused", status_of(ours.execute) != 0, net.runSession(session) == NOT_RESIZED)
    net.resizeSession(session)
    ours.resize()
    row("C7", "a run after the first resize", status_of(ours.execute), net.runSession(session))


def main():
    print(f"official runtime {MNN.version()}, this library {mnn_c.version()}", flush=True)
    for rows in (model_rows, resize_rows, callback_rows, path_rows, mode_rows):
        rows()
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
