#!/usr/bin/env python3
"""Measures the cost of a call from Python, against ONNX Runtime's package: the same small net, one thread.

    pip install numpy onnx MNN onnxruntime
    MNN_C_LIBRARY=build/release/libmnn_c.so PYTHONPATH=bindings/python/src python3 benchmarks/python_calls.py

Prints the calls per second of processor time of each way to run (bursts are interleaved; the median with the lowest and
the highest), the bytes that a call copies between arrays of NumPy and memory of the engine, the memory that Python
allocates during a call, and the threads of the process that used processor time during the calls. The net is a 3x3
convolution of --channels maps of 28 x 28 pixels between two of 1x1, about 0.1 ms with the default. Both engines get the
same weights, and their results are compared first.
"""

import argparse
import os
import statistics
import tempfile
import time
import tracemalloc

import numpy as np
from harness import machine
from zoo.converters import mnn_from_onnx

SIDE = 28


def make_net(folder, channels):
    """Writes the net as .onnx and .mnn."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    random = np.random.default_rng(1)

    def convolution(name, source, target, rows, columns, kernel):
        weights = random.standard_normal((rows, columns, kernel, kernel)).astype(np.float32)
        weights /= np.sqrt(columns * kernel * kernel)
        constants.append(numpy_helper.from_array(weights, name))
        pad = kernel // 2
        return helper.make_node("Conv", [source, name], [target], kernel_shape=[kernel] * 2, pads=[pad] * 4)

    constants = []
    nodes = [
        convolution("first", "image", "a", channels, 3, 1),
        helper.make_node("Relu", ["a"], ["b"]),
        convolution("second", "b", "c", channels, channels, 3),
        helper.make_node("Relu", ["c"], ["d"]),
        convolution("third", "d", "maps", 8, channels, 1),
    ]
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, SIDE, SIDE])
    maps = helper.make_tensor_value_info("maps", TensorProto.FLOAT, [1, 8, SIDE, SIDE])
    graph = helper.make_graph(nodes, "small", [image], [maps], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    path = os.path.join(folder, "net.onnx")
    onnx.save(model, path)
    mnn_from_onnx(path, os.path.join(folder, "net.mnn"))


def ways(folder, image):
    """Returns name -> (a call, bytes that it copies); each call returns the result."""
    import mnn_c
    import onnxruntime

    net = mnn_c.Interpreter(os.path.join(folder, "net.mnn"))
    plain, named, bound = net.session(), net.session(), net.session()
    result = np.zeros((1, 8, SIDE, SIDE), np.float32)
    both = image.nbytes + result.nbytes
    bound.input().bind(image)
    bound.output().bind(result)

    def run_bound():
        bound.run()
        return result

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        os.path.join(folder, "net.onnx"), options, providers=["CPUExecutionProvider"]
    )
    # ONNX Runtime reads an array in place; its result is an array over memory of its own, unless NumPy allocated that.
    made = session.run(None, {"image": image})[0]
    copied = made.nbytes if made.flags.owndata else 0
    binding = session.io_binding()
    held = onnxruntime.OrtValue.ortvalue_from_numpy(np.zeros_like(result))
    binding.bind_ortvalue_input("image", onnxruntime.OrtValue.ortvalue_from_numpy(image))
    binding.bind_ortvalue_output("maps", held)

    def run_binding():
        session.run_with_iobinding(binding)
        return held.numpy()

    return {
        "mnn_c session(x)": (lambda: plain(image), both),
        'mnn_c session.run({"image": x})': (lambda: named.run({"image": image})["maps"], both),
        "mnn_c, bound arrays": (run_bound, 0),
        "onnxruntime run(None, {...})": (lambda: session.run(None, {"image": image})[0], copied),
        "onnxruntime, io_binding": (run_binding, 0),
    }


def burst(call, seconds):
    """Returns calls per second of processor time: other programs do not count, and for one thread it equals wall
    time."""
    count, begin = 0, time.process_time()
    while True:
        for _ in range(50):
            call()
        count += 50
        passed = time.process_time() - begin
        if passed >= seconds:
            return count / passed


def thread_times():
    """Returns thread -> nanoseconds on a processor."""
    times = {}
    for thread in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{thread}/schedstat") as file:
            times[thread] = int(file.read().split()[0])
    return times


def busy_threads(call, seconds):
    """Counts the threads that used more than a hundredth of the time."""
    before = thread_times()
    burst(call, seconds)
    after = thread_times()
    return sum(after[thread] - before.get(thread, 0) > seconds * 1e7 for thread in after)


def python_bytes(call):
    """Returns the peak of the memory that Python and NumPy allocate during a call."""
    call()
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--channels", type=int, default=40, help="maps inside of the net (default: 40)")
    parser.add_argument("--rounds", type=int, default=15, help="bursts of each way (default: 15)")
    parser.add_argument("--seconds", type=float, default=0.2, help="of each burst (default: 0.2)")
    arguments = parser.parse_args()

    for name, value in machine.describe().items():
        print(f"{name}: {value}")
    with tempfile.TemporaryDirectory() as folder:
        make_net(folder, arguments.channels)
        image = np.random.default_rng(2).standard_normal((1, 3, SIDE, SIDE)).astype(np.float32)
        calls = ways(folder, image)
        wanted = next(iter(calls.values()))[0]()
        for name, (call, _) in calls.items():
            error = np.abs(call() - wanted).max() / np.abs(wanted).max()
            if not error < 1e-4:
                raise SystemExit(f"{name} differs by {error}")
        rates = {name: [] for name in calls}
        for _ in range(arguments.rounds):
            for name, (call, _) in calls.items():
                rates[name].append(burst(call, arguments.seconds))
        print(f"{'':34}{'calls/s':>9} {'(lowest, highest)':>19} {'copied':>9} {'Python':>9} {'threads':>8}")
        for name, (call, copied) in calls.items():
            middle, low, high = statistics.median(rates[name]), min(rates[name]), max(rates[name])
            print(
                f"{name:34}{middle:9.0f} {f'({low:.0f}, {high:.0f})':>19} {f'{copied} B':>9}"
                f" {f'{python_bytes(call)} B':>9} {busy_threads(call, arguments.seconds):8}"
            )


if __name__ == "__main__":
    main()
