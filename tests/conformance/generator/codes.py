"""Operators over 8-bit codes. The truth is the arithmetic of their framework, in exact integers where it is one of integers."""
import numpy as np

from generator import codes_truth as truth
from generator.int8_net import codebook
from generator.wire_net import wire_cases


@wire_cases("dequantize__dynamic_quant")
def _(n):
    for name, x in (("mixed", n.floats(3, 50)), ("positive", n.floats(2, 1, 7, low=1.0, high=3.0)),
                    ("negative", n.floats(5, low=-3.0, high=-1.0)), ("zero", np.zeros((2, 3), np.float32)),
                    ("scalar", np.float32(2.5))):
        outputs = n.op("DynamicQuant", [n.feed(x, name)], count=3)
        for kind, tensor, value in zip(("codes", "scale", "zero"), outputs, truth.dynamic_quant(x)):
            n.expect(f"{name}_{kind}", tensor, value)


def codes(n, kind, *shape):
    info = np.iinfo(kind)
    return n.random.integers(info.min, info.max + 1, shape).astype(kind)


@wire_cases("dequantize__affine")
def _(n):
    for kind, zero, stored in (("uint8", 131, "DT_QUINT8"), ("int8", -5, "DT_QINT8"), ("int32", 7, "DT_QINT32")):
        q = n.ints(3, 17, low=-5000, high=5000) if kind == "int32" else codes(n, kind, 2, 3, 4)
        y = n.op("Dequantize", [n.feed(q, kind)], "Dequantize",
                 {"inputQuantizedParam": {"zeroPoint": zero, "scale": 0.02}, "modelFormat": "TFLITE", "type": stored})
        n.expect(f"{kind}_real", y, (q.astype(np.float64) - zero) * np.float32(0.02))
    y = n.op("Dequantize", [n.feed(np.zeros((0, 3), np.uint8), "none")], "Dequantize",
             {"inputQuantizedParam": {"zeroPoint": 0, "scale": 1.0}, "modelFormat": "TFLITE"})
    n.expect("none_real", y, np.zeros((0, 3)))


@wire_cases("dequantize__ranges")
def _(n):
    low, high = np.float32(-1.3), np.float32(2.9)
    limits = [n.feed(low, "low"), n.feed(np.float32([high]), "high")]
    for kind, stored in (("uint8", "DT_QUINT8"), ("int8", "DT_QINT8")):
        q = codes(n, kind, 5, 7)
        x = n.feed(q, kind)
        for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED"):
            y = n.op("Dequantize", [x, *limits], "Dequantize",
                     {"mode": mode, "modelFormat": "TENSORFLOW", "type": stored, "inputQuantizedParam": {}})
            n.expect(f"{kind}_{mode.lower()}", y, truth.dequantize(q, mode, float(low), float(high)))


@wire_cases("dequantize__unsigned_to_float")
def _(n):
    q = codes(n, "uint8", 1, 19, 3, 7)
    each = [float(s) for s in np.float32(n.random.uniform(0.01, 0.1, 19))]
    for name, scales, zeros in (("one", [0.1], [-8.0]), ("each", each, [float(z) for z in range(-9, 10)])):
        y = n.op("Int8ToFloat", [n.feed(q, f"{name}_codes")], "QuantizedFloatParam",
                 {"tensorScale": scales, "floatzeros": zeros})
        scale, zero = (np.float32(v).astype(np.float64).reshape(-1, 1, 1) for v in (scales, zeros))
        n.expect(name, y, (q.astype(np.float64) - 128 - zero) * scale)


@wire_cases("dequantize__sum_of_codes", tolerance=1e-6)
def _(n):
    """EltwiseInt8, the sum of int8 tensors in files of older tools: scaled, and cut towards 0."""
    a, b = codes(n, "int8", 2, 5, 3, 7), codes(n, "int8", 2, 5, 3, 7)
    x, y = n.feed(a, "a"), n.feed(b, "b")
    each = [[float(s) for s in n.floats(5, low=0.1, high=2.0)] for _ in range(3)]
    for name, scales in (("one", [[0.5], [0.25], [1.5]]), ("each", each)):
        fields = zip(("inputQuan0", "inputQuan1", "outputQuan"), scales)
        z = n.op("EltwiseInt8", [x, y], "EltwiseInt8", {"type": "SUM", **{k: {"tensorScale": s} for k, s in fields}})
        p, q, r = (np.float32(s).reshape(-1, 1, 1) for s in scales)
        n.expect(name, z, np.trunc(np.clip((a * p + b * q) * r, -127, 127)).astype(np.int8))


@wire_cases("convolution__int8_input", tolerance=1e-4)
def _(n):
    """An int8 picture whose scale the file has. Results with a scale are rounded to their codes."""
    scale, zero = 0.02, 3
    q = codes(n, "int8", 1, 6, 5, 7)
    x = n.op("ConvertTensor", [n.feed(q, "picture", "NHWC", quant=(scale, zero, -128, 127))], "TensorConvertInfo",
             {"source": "NHWC", "dest": "NC4HW4"}, data_format="NC4HW4")
    real = (q.astype(np.float64) - zero) * np.float32(scale)
    for name, quant, group in (("codes", (0.05, -5), 1), ("floats", None, 1), ("depthwise", (0.04, 7), 7)):
        filters = 9 if group == 1 else 7
        w = n.random.integers(-127, 128, (filters, 7 // group, 3, 3)).astype(np.int8)
        alpha, bias = n.floats(filters, low=0.001, high=0.004), n.floats(filters)
        main = {"common": {"kernelX": 3, "kernelY": 3, "padMode": "SAME", "group": group, "outputCount": filters,
                           "inputCount": 7}, "bias": [float(b) for b in bias],
                "quanParameter": {"buffer": codebook(w).tolist(), "alpha": [float(a) for a in alpha], "type": 1,
                                  "aMaxOrBits": 8, "quantScale": 1.0, "shapeInt32": True}}
        y = n.op("ConvolutionDepthwise" if group > 1 else "Convolution", [x], "Convolution2D", main,
                 data_format="NC4HW4", quant=quant)
        y = n.op("ConvertTensor", [y], "TensorConvertInfo", {"source": "NC4HW4", "dest": "NHWC"}, data_format="NHWC",
                 quant=quant)
        padded = np.pad(real, ((0, 0), (1, 1), (1, 1), (0, 0)))
        weights = (w * alpha.reshape(-1, 1, 1, 1).astype(np.float64)).transpose(2, 3, 1, 0)
        taps = [(padded[:, i:i + 6, j:j + 5], weights[i, j]) for i in range(3) for j in range(3)]
        value = bias + sum(a * b[0] if group > 1 else a @ b for a, b in taps)
        if quant:
            value = (np.clip(np.round(value / quant[0] + quant[1]), -127, 127) - quant[1]) * quant[0]
        n.expect(name, y, value)


def convolution(n, name, shape, filters, kernel, *, stride=(1, 1), pad="SAME", dilate=(1, 1), multiplier=0,
                activation="kTfLiteActNone", limits=(0, 255), stated=None, biased=True):
    """A dense convolution, or a depthwise one of so many filters a channel: multiplier."""
    scales, zeros = (0.02, 0.004, 0.05), (131, 120, 123)
    channels = shape[-1]
    x, depthwise = codes(n, "uint8", *shape), multiplier > 0
    w = codes(n, "uint8", *kernel, *([channels * multiplier] if depthwise else [channels, filters]))
    filters = w.shape[-1]
    bias = n.ints(filters, low=-4000, high=4000) if biased else np.zeros(filters, np.int32)
    factor = truth.Factor(float(np.float32(scales[0])) * float(np.float32(scales[1])) / float(np.float32(scales[2])))
    main = {"common": {"kernelX": kernel[1], "kernelY": kernel[0], "strideX": stride[1], "strideY": stride[0],
                       "dilateX": dilate[1], "dilateY": dilate[0], "padMode": pad, "outputCount": filters},
            "weight": w.reshape(-1).tolist(), "biasflag": biased, "activationType": activation, "modelFormat": "TFLITE",
            "depthMultiplier": max(multiplier, 1)}
    if biased:
        main["bias"] = bias.tolist()
    for field, scale, zero in zip(("input", "filter", "output"), scales, zeros):
        main[field + "QuantizedParam"] = {"zeroPoint": zero, "scale": scale}
    if stated:
        factor.multiplier, factor.shift = stated["multiplier"], -stated["shift"]
        main.update(stated)
        limits = (stated["outMin"], stated["outMax"])
    y = n.op("QuantizedDepthwiseConv2D" if depthwise else "TfQuantizedConv2D", [n.feed(x, name + "_x", "NHWC")],
             "TfQuantizedConv2D", main, data_format="NHWC")
    n.expect(name, y, truth.convolution(x, w, bias, zeros, factor, limits, stride, pad, dilate, depthwise))


@wire_cases("uint8__convolution", tolerance=1e-6)
def _(n):
    convolution(n, "same", (2, 9, 8, 3), 5, (3, 3), stride=(2, 2), activation="kTfLiteActRelu6", limits=(123, 243))
    convolution(n, "valid", (1, 7, 6, 5), 4, (3, 2), pad="VALID", stride=(1, 2), activation="kTfLiteActRelu", limits=(123, 255))
    convolution(n, "dilated", (1, 9, 8, 3), 3, (3, 3), dilate=(2, 2), activation="kTfLiteActRelu1", limits=(103, 143))
    convolution(n, "stated", (1, 4, 4, 3), 3, (1, 1), biased=False,
                stated={"multiplier": 1518500250, "shift": 7, "outMin": 10, "outMax": 200})
    convolution(n, "blocks", (2, 6, 5, 21), 35, (3, 3))
    convolution(n, "pointwise", (1, 5, 7, 18), 16, (1, 1), pad="VALID")
    convolution(n, "strided", (1, 9, 7, 4), 17, (2, 3), stride=(2, 3), activation="kTfLiteActRelu", limits=(123, 255))


@wire_cases("uint8__depthwise", tolerance=1e-6)
def _(n):
    convolution(n, "same", (1, 9, 8, 5), 0, (3, 3), multiplier=1)
    convolution(n, "multiplier", (2, 7, 5, 3), 0, (3, 2), multiplier=3, pad="VALID", stride=(2, 1))


@wire_cases("uint8__pool", tolerance=1e-6)
def _(n):
    x = codes(n, "uint8", 2, 9, 8, 3)
    picture = n.feed(x, "picture", "NHWC")
    for kind, average in (("QuantizedAvgPool", True), ("QuantizedMaxPool", False)):
        for name, kernel, stride, pad, limits in (("same", (2, 3), (2, 2), "SAME", (0, 0)),
                                                  ("valid", (3, 3), (1, 2), "VALID", (20, 180))):
            y = n.op(kind, [picture], kind, {"kernelY": kernel[0], "kernelX": kernel[1], "strideY": stride[0],
                                             "strideX": stride[1], "padType": pad, "modelFormat": "TFLITE",
                                             "outputActivationMin": limits[0], "outputActivationMax": limits[1]},
                     data_format="NHWC")
            n.expect(f"{kind[9:].lower()}_{name}", y,
                     truth.pool(x, kernel, stride, pad, average, limits if limits[1] else (0, 255)))


@wire_cases("uint8__elements", tolerance=1e-6)
def _(n):
    a, b = codes(n, "uint8", 1, 5, 7, 3), codes(n, "uint8", 1, 5, 7, 3)
    left, right = n.feed(a, "left", "NHWC"), n.feed(b, "right", "NHWC")
    scales, zeros = (0.02, 0.013, 0.04), (131, 111, 120)
    exact = [float(np.float32(s)) for s in scales]
    for name, activation, limits in (("sum", "kTfLiteActNone", (0, 255)), ("relu", "kTfLiteActRelu", (120, 255))):
        main = {"activationType": activation}
        for field, scale, zero in zip(("input1", "input2", "output"), scales, zeros):
            main[field + "QuantizedParam"] = {"zeroPoint": zero, "scale": scale}
        n.expect(name, n.op("QuantizedAdd", [left, right], "QuantizedAdd", main, data_format="NHWC"),
                 truth.add(a, b, exact, zeros, limits))
    for name, shape in (("row", (1, 1, 7, 3)), ("channels", (3,)), ("one", (1,)), ("batch", (2, 5, 1, 1))):
        c = codes(n, "uint8", *shape)
        other = n.feed(c, name + "_codes", "NHWC")
        full = np.broadcast_arrays(a, c)
        n.expect(name, n.op("QuantizedAdd", [left, other], "QuantizedAdd", main, data_format="NHWC"),
                 truth.add(*full, exact, zeros, limits))
    table = {"inputQuantizedParam": {"zeroPoint": 131, "scale": 0.05}, "outputQuantizedParam": {"scale": 1 / 256}}
    n.expect("logistic", n.op("QuantizedLogistic", [left], "QuantizedLogistic", table, data_format="NHWC"),
             truth.logistic(a, float(np.float32(0.05)), 131))
    x = n.floats(2, 9)
    n.expect("float_logistic", n.op("QuantizedLogistic", [n.feed(x, "reals")], "QuantizedLogistic", table),
             1 / (1 + np.exp(-x.astype(np.float64))))
    softmax = {"beta": 1.0, "inputScale": 0.04}
    n.expect("softmax", n.op("QuantizedSoftmax", [left], "QuantizedSoftmax", softmax, data_format="NHWC"),
             truth.softmax(a, float(np.float32(0.04))))
    rows = codes(n, "uint8", 4, 11)
    n.expect("softmax_rows", n.op("QuantizedSoftmax", [n.feed(rows, "rows")], "QuantizedSoftmax", softmax),
             truth.softmax(rows, float(np.float32(0.04))))
