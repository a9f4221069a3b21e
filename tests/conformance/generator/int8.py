"""Quantised nets."""
import numpy as np

from generator.int8_net import CASES, Net, case  # the program takes CASES and Net from here

IN, MID, OUT = (0.0173, 5), (0.0291, -7), (0.0237, 11)


@case("int8__conv", seed="int8_conv")
def _(n):
    x = n.input("x", 2, 13, 5, 9, quant=IN)
    for name, filters, kernel, options in (
            ("c1x1", 17, (1, 1), {}), ("c1x1_stride", 8, (1, 1), {"stride": (2, 3), "pads": (1, 0, 0, 1)}),
            ("c3x3", 33, (3, 3), {"pads": (1, 1, 1, 1), "relu": True}),
            ("c3x3_stride", 5, (3, 3), {"pads": (0, 1, 1, 0), "stride": (2, 2), "relu6": True}),
            ("c5x2_dilated", 16, (5, 2), {"pads": (4, 2, 4, 0), "dilate": (2, 3)}),
            ("asymmetric", 21, (3, 3), {"pads": (1, 1, 1, 1), "asymmetric": True}),
            ("asymmetric1x1", 40, (1, 1), {"asymmetric": True, "relu": True})):
        n.out(name, n.conv(x, 13, filters, kernel, MID, **options), MID)


@case("int8__conv_chain", seed="int8_conv_chain")
def _(n):
    x = n.input("image", 1, 3, 19, 17, quant=(0.0157, 0))
    a = n.conv(x, 3, 24, (3, 3), (0.0243, -3), stride=(2, 2), pads=(1, 1, 1, 1), relu6=True)
    b = n.conv(a, 24, 72, (1, 1), (0.021, 0), relu=True)
    c = n.conv(b, 72, 72, (3, 3), (0.019, 4), group=72, pads=(1, 1, 1, 1), relu=True)
    d = n.conv(c, 72, 24, (1, 1), (0.0261, -9))
    e = n.binary(a, d, "ADD", (0.0312, 2))
    n.out("sum", e, (0.0312, 2))
    n.out("wide", n.conv(e, 24, 40, (7, 7), (0.0171, 1), pads=(3, 3, 3, 3)), (0.0171, 1))


@case("int8__depthwise", seed="int8_depthwise")
def _(n):
    x = n.input("x", 2, 19, 7, 11, quant=IN)
    for name, kernel, options in (("d3x3", (3, 3), {"pads": (1, 1, 1, 1)}),
                                  ("stride2", (3, 3), {"pads": (0, 1, 1, 0), "stride": (2, 2), "relu": True}),
                                  ("d5x5", (5, 5), {"pads": (2, 2, 2, 2), "relu6": True}),
                                  ("d1x7", (1, 7), {"pads": (0, 3, 0, 3)}),
                                  ("dilated", (3, 2), {"pads": (2, 3, 2, 0), "dilate": (2, 3), "stride": (1, 3)})):
        n.out(name, n.conv(x, 19, 19, kernel, MID, group=19, **options), MID)


@case("int8__depthwise_residual")
def _(n):
    # As the official quantiser writes a sum of a depthwise convolution and its input: the planner takes the tensor that
    # the convolution reads, of another format, for that input.
    to_blocks, back = {"source": "NCHW", "dest": "NC4HW4"}, {"source": "NC4HW4", "dest": "NCHW"}
    blocks = n.input("x", 1, 3, 8, 9, quant=IN)
    plain = n.ops[-1]["inputIndexes"][0]
    x = n.op("ConvertTensor", [blocks], IN, None, "TensorConvertInfo", to_blocks)
    a = n.conv(n.op("ConvertTensor", [x], IN, None, "TensorConvertInfo", to_blocks), 3, 3, (3, 3), MID, group=3, pads=(1, 1, 1, 1))
    b = n.binary(n.op("ConvertTensor", [a], MID, None, "TensorConvertInfo", back), plain, "ADD", OUT)
    c = n.op("ConvertTensor", [b], OUT, None, "TensorConvertInfo", to_blocks)
    n.out("y", n.conv(c, 3, 3, (1, 1), MID), MID)


@case("int8__binary", seed="int8_binary")
def _(n):
    a = n.input("a", 1, 18, 7, 9, quant=(0.25, 3), low=-20, high=20)
    b = n.input("b", 1, 18, 7, 9, quant=(0.125, -5), low=-10, high=10)
    for code in ("ADD", "SUB", "MUL"):
        for quant in ((0.5, 4), (0.3, -7)):
            n.out(f"{code.lower()}{quant[1] + 7}", n.binary(a, b, code, quant), quant)


@case("int8__pool", seed="int8_pool")
def _(n):
    # The official runtime compares bytes with their sign wrong in a maximum, so only values that are not negative are used.
    x = n.conv(n.input("x", 2, 21, 11, 9, quant=IN), 21, 18, (1, 1), (0.0291, 0), relu=True)
    y = n.conv(x, 18, 18, (1, 1), MID)
    n.out("max", n.pool(x, "MAXPOOL", (0.0291, 0), kernelX=3, kernelY=2, strideX=2, strideY=2, padX=1), (0.0291, 0))
    n.out("average", n.pool(y, "AVEPOOL", MID, kernelX=3, kernelY=3, strideX=2, strideY=2, padX=1, padY=1), MID)
    n.out("all", n.pool(y, "AVEPOOL", MID, isGlobal=True), MID)
    n.out("other_scale", n.pool(y, "AVEPOOL", OUT, kernelX=2, kernelY=2, strideX=2, strideY=2), OUT)


@case("int8__activation", seed="int8_activation")
def _(n):
    y = n.conv(n.input("x", 1, 9, 8, 8, quant=IN), 9, 20, (1, 1), MID)
    n.out("relu", n.op("ReLU", [y], MID, None, "Relu", {"slope": 0.0}), MID)
    n.out("clip", n.op("ReLU6", [y], MID, None, "Relu6", {"minValue": -0.3, "maxValue": 1.5}), MID)
    n.out("rescaled", n.op("ReLU", [y], OUT, None, "Relu", {"slope": 0.0}), OUT)
    n.out("leaky", n.op("ReLU", [y], OUT, None, "Relu", {"slope": 0.2}), OUT)


@case("int8__movement", seed="int8_movement")
def _(n):
    x = n.input("x", 1, 13, 6, 7, quant=IN)
    a, b = n.conv(x, 13, 16, (1, 1), MID), n.conv(x, 13, 21, (1, 1), MID)
    other = n.conv(x, 13, 16, (1, 1), OUT)
    n.out("concat", n.concat([a, b], MID), MID)
    n.out("concat_odd", n.concat([b, a], MID), MID)
    n.out("concat_scales", n.concat([a, other], MID), MID)
    joined = n.concat([b, a], MID)
    n.out("after", n.conv(joined, 37, 11, (3, 3), OUT, pads=(1, 1, 1, 1)), OUT)
    # Tensors without a scale between convolutions.
    bare = n.op("ReLU", [a], None, None, "Relu", {"slope": 0.0})
    n.out("inherited", n.conv(bare, 16, 9, (1, 1), OUT), OUT)


@case("int8__mixed", seed="int8_mixed")
def _(n):
    x = n.input("x", 1, 12, 6, 5)  # no scale: the first convolution computes in float
    a = n.conv(x, 12, 20, (3, 3), MID, pads=(1, 1, 1, 1))
    b = n.conv(a, 20, 20, (1, 1), OUT)
    n.out("int8", b, OUT)
    float_between = n.op("UnaryOp", [b], None, None, "UnaryOp", {"opType": "SIGMOID"})
    n.out("float", float_between)
    n.out("back", n.conv(n.binary(float_between, b, "MUL", IN), 20, 7, (1, 1), MID), MID)


@case("int8__folded", seed="int8_folded")
def _(n):
    # Nets with explicit operators between int8 tensors.
    cast = {"zeroPoint": 3, "clampMin": -127, "clampMax": 127}
    symmetric = {"zeroPoint": 3, "outputZeroPoint": -6, "clampMin": -120, "clampMax": 110}
    x = n.input("x", 1, 13, 8, 7)  # with a batch the official runtime uses the scales of other channels
    q = n.op("FloatToInt8", [x], None, None, "QuantizedFloatParam", {"tensorScale": [45.0], **cast})

    def out(name, source, channels=1):
        scales = [float(v) for v in n.random.uniform(0.01, 0.03, channels).astype(np.float32)]
        n.out(name, n.op("Int8ToFloat", [source], None, None, "QuantizedFloatParam",
                         {"tensorScale": scales, "zeroPoint": -6}))

    out("cast", q)
    out("c1x1", n.folded_conv(q, 13, 18, (1, 1), symmetric))
    out("c3x3", n.folded_conv(q, 13, 9, (3, 3), symmetric, pads=(1, 1, 1, 1), relu=True), 9)
    out("depthwise", n.folded_conv(q, 13, 13, (3, 3), symmetric, group=13, pads=(1, 1, 1, 1)))
    each = {"tensorScale": [float(v) for v in n.random.uniform(30, 60, 13).astype(np.float32)], **cast}
    out("channels", n.op("FloatToInt8", [x], None, None, "QuantizedFloatParam", each))
