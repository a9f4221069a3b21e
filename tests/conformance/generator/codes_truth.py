"""Operators over 8-bit codes as ONNX, TensorFlow and TFLite define them, in exact integers or double precision."""
import numpy as np

LEAST, MOST = -2 ** 31, 2 ** 31 - 1


def dynamic_quant(x):
    """DynamicQuantizeLinear of ONNX, whose unsigned codes and zero point are made signed by subtracting 128."""
    low, high = np.float32(min(x.min(), 0)), np.float32(max(x.max(), 0))
    scale = np.float32((high - low) / np.float32(255)) if high > low else np.float32(1)
    zero = np.clip(np.rint(-low / scale), 0, 255)
    return (np.clip(np.rint(x / scale) + zero, 0, 255) - 128).astype(np.int8), scale, np.float32(zero - 128)


def dequantize(q, mode, low, high):
    """Dequantize of TensorFlow (dequantize_op.cc)."""
    info = np.iinfo(q.dtype)
    least, most, signed = float(info.min), float(info.max), info.min < 0
    step, q = (high - low) / (most - least), q.astype(np.float64)
    if mode == "MIN_COMBINED":
        return (q + (most - least + 1) / 2 * signed) * step + low
    if mode == "MIN_FIRST":
        return q * step + (np.round(low / step) * step - least * step)
    return q * (max(low / least, high / most) if signed else high / most)


class Factor:
    """Multiplication by a real factor in fixed point (QuantizeMultiplier and MultiplyByQuantizedMultiplier of TFLite)."""

    def __init__(self, factor):
        fraction, self.shift = np.frexp(factor)
        self.multiplier = int(np.floor(float(fraction) * 2 ** 31 + 0.5))
        self.shift = int(self.shift)
        if self.multiplier == 2 ** 31:
            self.multiplier, self.shift = 2 ** 30, self.shift + 1

    def times(self, value):
        product = int(value) * (1 << max(self.shift, 0)) * self.multiplier
        high = product + (2 ** 30 if product >= 0 else 1 - 2 ** 30)
        high = high // 2 ** 31 if high >= 0 else -(-high // 2 ** 31)
        right = max(-self.shift, 0)
        mask = (1 << right) - 1
        return (high >> right) + int((high & mask) > (mask >> 1) + (high < 0))


def same(extent, kernel, stride, dilate=1):
    """Returns the results and the leading padding of SAME."""
    out = -(-extent // stride)
    return out, max((out - 1) * stride + (kernel - 1) * dilate + 1 - extent, 0) // 2


def windows(x, kernel, stride, pad, dilate=(1, 1)):
    """Lists, for every result (y, x) of an NHWC picture, the taps (ky, kx, row, column) inside of it. pad: SAME,
    VALID."""
    (h, w), plan = x.shape[1:3], []
    for extent, k, s, d in zip((h, w), kernel, stride, dilate):
        plan.append(same(extent, k, s, d) if pad == "SAME" else (-(-(extent - (k - 1) * d) // s), 0))
    (oh, top), (ow, left) = plan
    for y in range(oh):
        for c in range(ow):
            yield y, c, [(ky, kx, y * stride[0] - top + ky * dilate[0], c * stride[1] - left + kx * dilate[1])
                         for ky in range(kernel[0]) for kx in range(kernel[1])
                         if 0 <= y * stride[0] - top + ky * dilate[0] < h and 0 <= c * stride[1] - left + kx * dilate[1] < w]


def extent(x, kernel, stride, pad, dilate=(1, 1)):
    return [same(e, k, s, d)[0] if pad == "SAME" else -(-(e - (k - 1) * d) // s)
            for e, k, s, d in zip(x.shape[1:3], kernel, stride, dilate)]


def convolution(x, weights, bias, zeros, factor, limits, stride, pad, dilate=(1, 1), depthwise=False):
    """Takes unsigned codes, NHWC; weights HWIO, for a depthwise one HWO."""
    x, w = x.astype(np.int64) - zeros[0], weights.astype(np.int64) - zeros[1]
    kernel, channels = w.shape[:2], w.shape[-1]
    out = np.zeros((len(x), *extent(x, kernel, stride, pad, dilate), channels), np.int64)
    for n in range(len(x)):
        for y, c, taps in windows(x, kernel, stride, pad, dilate):
            total = bias.astype(np.int64).copy()
            for ky, kx, row, column in taps:
                pixel = x[n, row, column]
                total += np.repeat(pixel, channels // len(pixel)) * w[ky, kx] if depthwise else pixel @ w[ky, kx]
            out[n, y, c] = [factor.times(t) for t in total]
    return np.clip(out + zeros[2], *limits).astype(np.uint8)


def pool(x, kernel, stride, pad, average, limits=(0, 255)):
    out = np.zeros((len(x), *extent(x, kernel, stride, pad), x.shape[-1]), np.int64)
    for n in range(len(x)):
        for y, c, taps in windows(x, kernel, stride, pad):
            values = np.stack([x[n, row, column] for _, _, row, column in taps]).astype(np.int64)
            out[n, y, c] = (values.sum(0) + len(values) // 2) // len(values) if average else values.max(0)
    return np.clip(out, *limits).astype(np.uint8)


def add(a, b, scales, zeros, limits):
    """scales, zeros: those of both operands and the result."""
    twice = 2 * max(scales[:2])
    factors = [Factor(s / twice) for s in scales[:2]]
    last = Factor(twice / (2 ** 20 * scales[2]))
    out = [last.times(factors[0].times((int(p) - zeros[0]) << 20) + factors[1].times((int(q) - zeros[1]) << 20))
           for p, q in zip(a.reshape(-1), b.reshape(-1))]
    return np.clip(np.array(out).reshape(a.shape) + zeros[2], *limits).astype(np.uint8)


def logistic(x, scale, zero):
    return np.minimum(np.round(256 / (1 + np.exp(-(x.astype(np.float64) - zero) * scale))), 255).astype(np.uint8)


def softmax(x, step, axis=-1):
    e = np.exp((x.astype(np.float64) - x.max(axis, keepdims=True)) * step)
    return np.minimum(np.round(e / e.sum(axis, keepdims=True) * 256), 255).astype(np.uint8)
