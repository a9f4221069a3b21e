"""Net, a quantised net under construction as the JSON form of its file, and the list of its cases."""
import numpy as np

from generator.wire_net import WireNet

CASES = []


def case(name, tolerance=1e-6, seed=None):
    def register(function):
        CASES.append((name, seed, function, tolerance))
        return function
    return register


def codebook(q):
    """Returns int8 weights as a codebook: the 256 values of int8, then an index for each weight."""
    rows = q.shape[0]
    head = bytes([2]) + np.array([rows, q.size // rows], "<u4").tobytes() + bytes([0])
    return np.frombuffer(head + np.arange(-128, 128).astype(np.int8).tobytes() +
                         (q.astype(np.int16) + 128).astype(np.uint8).tobytes(), np.int8)


class Net(WireNet):
    """A net with int8 storage and blocks of channels. quant: (scale, zero[, min, max])."""

    def op(self, kind, inputs, quant=None, name=None, table=None, main=None):
        return super().op(kind, inputs, table, main, data_format="NC4HW4", quant=quant, name=name)

    def input(self, name, *shape, quant=None, low=-2.0, high=2.0, values=None):
        data = self.random.uniform(low, high, shape).astype(np.float32) if values is None else values
        index = self.tensor(name, quant)
        self.ops.append({"type": "Input", "name": name, "outputIndexes": [index], "main_type": "Input",
                         "main": {"dims": list(shape), "dtype": "DT_FLOAT", "dformat": "NCHW"}})
        self.inputs[name] = data
        return self.op("ConvertTensor", [index], quant, None, "TensorConvertInfo", {"source": "NCHW", "dest": "NC4HW4"})

    def out(self, name, source, quant=None):
        """Makes a tensor a float output of the net."""
        self.op("ConvertTensor", [source], quant, name, "TensorConvertInfo", {"source": "NC4HW4", "dest": "NCHW"})
        self.outputs.append(name)

    def weights(self, oc, ic, kh, kw, low=-127, high=128):
        return self.random.integers(low, high, (oc, ic, kh, kw)).astype(np.int8)

    def conv(self, x, channels, filters, kernel, quant, *, group=1, stride=(1, 1), pads=(0, 0, 0, 0), dilate=(1, 1),
             relu=False, relu6=False, asymmetric=False):
        """A convolution with int8 weights. pads: top, left, bottom, right."""
        kh, kw = kernel
        q = self.weights(filters, channels // group, kh, kw)
        fan = channels // group * kh * kw
        scales = (self.random.uniform(0.3, 1.0, filters) / 74 / np.sqrt(fan)).astype(np.float32)
        alpha = scales
        if asymmetric:
            minimum = self.random.uniform(-0.2, 0.1, filters).astype(np.float32) * scales * 127
            alpha = np.stack([minimum, scales], 1).reshape(-1)
        common = {"padX": pads[1], "padY": pads[0], "kernelX": kw, "kernelY": kh, "strideX": stride[1],
                  "strideY": stride[0], "dilateX": dilate[1], "dilateY": dilate[0], "group": group,
                  "outputCount": filters, "inputCount": channels, "relu": relu, "relu6": relu6, "pads": list(pads)}
        main = {"common": common,
                "bias": [float(v) for v in self.random.uniform(-0.5, 0.5, filters).astype(np.float32)],
                "quanParameter": {"buffer": codebook(q).tolist(), "alpha": [float(v) for v in alpha], "type": 1,
                                  "aMaxOrBits": 8, "aMin": -128 if asymmetric else 0,
                                  "readType": filters if asymmetric else 0, "quantScale": 1.0, "shapeInt32": True},
                "symmetricQuan": {"nbits": 8, "clampMin": -127}}
        kind = "ConvolutionDepthwise" if 1 < group == channels == filters else "Convolution"
        return self.op(kind, [x], quant, None, "Convolution2D", main)

    def folded_conv(self, x, channels, filters, kernel, symmetric, *, group=1, pads=(0, 0, 0, 0), relu=False):
        """The old form: an integer bias and a factor per output channel."""
        kh, kw = kernel
        q = self.weights(filters, channels // group, kh, kw)
        fan = channels // group * kh * kw
        common = {"padX": pads[1], "padY": pads[0], "kernelX": kw, "kernelY": kh, "group": group,
                  "outputCount": filters, "inputCount": channels, "relu": relu, "pads": list(pads)}
        factors = self.random.uniform(0.3, 1.0, filters).astype(np.float32) / np.float32(90 * np.sqrt(fan))
        main = {"common": common,
                "symmetricQuan": {"weight": q.reshape(-1).tolist(),
                                  "bias": self.random.integers(-4000, 4000, filters).tolist(),
                                  "scale": [float(v) for v in factors.astype(np.float32)], **symmetric}}
        kind = "DepthwiseConvInt8" if 1 < group == channels == filters else "ConvInt8"
        return self.op(kind, [x], None, None, "Convolution2D", main)

    def binary(self, a, b, code, quant):
        return self.op("BinaryOp", [a, b], quant, None, "BinaryOp", {"opType": code})

    def pool(self, x, kind, quant, **fields):
        return self.op("Pooling", [x], quant, None, "Pool", {"type": kind, "padType": "CAFFE", **fields})

    def concat(self, inputs, quant, axis=1):
        return self.op("Concat", inputs, quant, None, "Axis", {"axis": axis})
