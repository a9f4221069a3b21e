"""Stft."""
import numpy as np

from generator.net import cases
from generator.wire_net import wire_cases


@cases("stft__modes")
def _(n):
    step = np.array(4, np.int64)
    x = n.x(2, 37, 1)
    n.out("window", "STFT", x, step, n.floats(8))
    n.out("two_sided", "STFT", x, step, n.floats(8), onesided=0)
    n.out("no_window", "STFT", x, np.array(5, np.int64), "", np.array(9, np.int64))
    n.out("odd", "STFT", x, np.array(3, np.int64), n.floats(11))
    n.out("one_frame", "STFT", x, step, n.floats(37))
    n.out("fed_window", "STFT", x, step, n.x(16))
    n.out("complex", "STFT", n.x(2, 20, 2), step, n.floats(7), onesided=0)


def spectrum(signal, window, step):
    frames = [signal[:, i:i + len(window)] * window.astype(np.float64)
              for i in range(0, signal.shape[1] - len(window) + 1, step)]
    bins = np.fft.rfft(np.stack(frames, axis=1), axis=-1)
    return np.stack([bins.real, bins.imag], axis=-1)


@wire_cases("stft__forms")
def _(n):
    """A signal of rank 2, a step that is known only in a run, and no signal at all."""
    value, window = n.floats(3, 50), n.floats(12)
    x, step = n.feed(value), n.feed(np.array(7, np.int32))
    main = {"abs": True}
    n.expect("rank2", n.op("Stft", [x, n.const(np.array(5, np.int32)), n.const(window)], "StftParam", main),
             spectrum(value, window, 5))
    doubled = n.op("UnaryOp", [step], "UnaryOp", {"opType": "ABS"})
    n.expect("fed_step", n.op("Stft", [x, doubled, n.const(window)], "StftParam", main), spectrum(value, window, 7))
    none = n.feed(np.zeros((0, 50), np.float32))
    n.expect("empty", n.op("Stft", [none, n.const(np.array(5, np.int32)), n.const(window)], "StftParam", main),
             np.zeros((0, 8, 7, 2)))
