#!/usr/bin/env python3
"""Convolutions of all kinds against ONNX Runtime, one thread, a table of shapes.

    python3 benchmarks/convolutions.py --library build/release/libmnn_c.so [--kinds dilated,grouped] [--batch 8]

Each shape becomes an ONNX net of one Conv or ConvTranspose, and a .mnn of that by the official converter. The kinds are
those that nets beside the well-known classifiers have: dilated ones, strided ones of many channels, maps that are one
pixel wide, large kernels, groups, transposed ones, and three dimensions. The protocol is that of products.py.

Needs the packages MNN, onnx, onnxruntime and numpy.
"""

import os

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"  # read when numpy is imported

from dataclasses import dataclass  # noqa: E402

import numpy as np  # noqa: E402
from engines import onnxruntime  # noqa: E402
from harness import one_operator  # noqa: E402

TOLERANCE = 2e-5  # relative to the largest element: Winograd's transforms round


@dataclass
class Conv:
    channels: int
    outputs: int
    size: tuple  # of the input's map
    kernel: tuple
    stride: object = 1  # one number, or one for each axis
    dilation: int = 1
    groups: int = 1
    pad: object = None  # as `stride`, on each side; None: the map keeps its size, or is divided by the stride
    transposed: bool = False

    def by_axis(self, value):
        return list(value) if isinstance(value, tuple) else [value] * len(self.kernel)

    def title(self):
        parts = [
            ("transposed " if self.transposed else "") + "x".join(map(str, self.kernel)),
            f"{self.channels} to {self.outputs}, {'x'.join(map(str, self.size))}",
        ]
        for name, value, usual in (("stride", self.stride, 1), ("rate", self.dilation, 1), ("groups", self.groups, 1)):
            if value != usual:
                parts.append(f"{name} " + (str(value[0]) if isinstance(value, tuple) else str(value)))
        return ", ".join(parts)

    def pads(self):
        if self.pad is not None:
            return self.by_axis(self.pad)
        if self.transposed:
            return [max(0, (k - s) // 2) for k, s in zip(self.kernel, self.by_axis(self.stride))]
        return [self.dilation * (k - 1) // 2 for k in self.kernel]

    def out_size(self):
        axes = zip(self.size, self.kernel, self.pads(), self.by_axis(self.stride))
        if self.transposed:
            return [(i - 1) * s + k - 2 * p for i, k, p, s in axes]
        return [(i + 2 * p - self.dilation * (k - 1) - 1) // s + 1 for i, k, p, s in axes]

    def flops(self, batch):
        per = 2.0 * np.prod(self.kernel) * self.channels * self.outputs / self.groups
        return per * batch * np.prod(self.size if self.transposed else self.out_size())


KINDS = {
    "dilated": [
        Conv(256, 256, (28, 28), (3, 3), dilation=2), Conv(512, 512, (28, 28), (3, 3), dilation=4),
        Conv(960, 128, (14, 14), (3, 3), dilation=6), Conv(960, 128, (14, 14), (3, 3), dilation=12),
        Conv(2048, 256, (33, 33), (3, 3), dilation=24), Conv(2048, 256, (33, 33), (3, 3), dilation=36),
    ],
    "strided": [
        Conv(128, 128, (56, 56), (3, 3), stride=2), Conv(256, 512, (28, 28), (3, 3), stride=2),
        Conv(512, 512, (14, 14), (3, 3), stride=2), Conv(1024, 1024, (14, 14), (3, 3), stride=2),
        Conv(128, 256, (28, 28), (5, 5), stride=2), Conv(512, 512, (14, 14), (5, 5), stride=2),
    ],
    "1d": [
        Conv(1, 512, (16000, 1), (10, 1), stride=(5, 1), pad=0), Conv(512, 512, (3199, 1), (3, 1), stride=(2, 1), pad=0),
        Conv(512, 512, (399, 1), (2, 1), stride=(2, 1), pad=0), Conv(80, 384, (3000, 1), (3, 1)),
        Conv(384, 384, (3000, 1), (3, 1), stride=(2, 1)), Conv(256, 256, (1, 500), (1, 7)),
        Conv(256, 256, (500, 1), (7, 1)), Conv(768, 768, (49, 1), (128, 1), groups=16, pad=(64, 0)),
    ],
    "large": [
        Conv(3, 32, (256, 256), (9, 9)), Conv(64, 64, (56, 56), (7, 7)), Conv(32, 3, (256, 256), (9, 9)),
        Conv(96, 96, (56, 56), (7, 7), groups=96), Conv(384, 384, (14, 14), (7, 7), groups=384),
        Conv(256, 256, (28, 28), (9, 9), groups=256), Conv(128, 128, (56, 56), (31, 31), groups=128),
        Conv(512, 512, (14, 14), (31, 31), groups=512),
    ],
    "grouped": [
        Conv(128, 128, (56, 56), (3, 3), groups=32), Conv(256, 256, (28, 28), (3, 3), groups=32),
        Conv(512, 512, (14, 14), (3, 3), groups=32), Conv(1024, 1024, (14, 14), (3, 3), groups=16),
        Conv(256, 256, (28, 28), (3, 3), stride=2, groups=32), Conv(96, 96, (28, 28), (3, 3), groups=6),
    ],
    "transposed": [
        Conv(256, 128, (28, 28), (2, 2), stride=2, transposed=True),
        Conv(128, 64, (56, 56), (2, 2), stride=2, transposed=True),
        Conv(64, 64, (56, 56), (3, 3), stride=2, pad=1, transposed=True),
        Conv(100, 512, (1, 1), (4, 4), pad=0, transposed=True),
        Conv(512, 256, (4, 4), (4, 4), stride=2, transposed=True),
        Conv(256, 128, (16, 16), (4, 4), stride=2, transposed=True),
        Conv(64, 3, (64, 64), (4, 4), stride=2, transposed=True),
    ],
    "3d": [
        Conv(3, 64, (8, 56, 56), (3, 7, 7)), Conv(64, 64, (8, 28, 28), (3, 3, 3)),
        Conv(128, 128, (4, 14, 14), (3, 3, 3)), Conv(256, 256, (2, 7, 7), (3, 3, 3)),
        Conv(64, 144, (8, 28, 28), (1, 3, 3)), Conv(144, 64, (8, 28, 28), (3, 1, 1)),
        Conv(64, 128, (8, 28, 28), (3, 3, 3), stride=2),
    ],
}  # fmt: skip


def problem(folder, conv, batch):
    import onnx
    import onnxruntime as runtime
    from onnx import helper

    draw = np.random.default_rng(conv.channels * 31 + conv.outputs * 7 + conv.kernel[0])
    inner = (conv.outputs if conv.transposed else conv.channels) // conv.groups
    outer = conv.channels if conv.transposed else conv.outputs
    weights = draw.standard_normal((outer, inner, *conv.kernel)).astype(np.float32)
    a = draw.standard_normal((batch, conv.channels, *conv.size)).astype(np.float32)
    shape = (batch, conv.outputs, *conv.out_size())
    made = one_operator.Problem(folder, a, np.zeros(shape, np.float32), TOLERANCE)
    pads = conv.pads()
    node = helper.make_node(
        "ConvTranspose" if conv.transposed else "Conv", ["a", "w", "b"], ["c"], kernel_shape=conv.kernel,
        strides=conv.by_axis(conv.stride), dilations=[conv.dilation] * len(pads), group=conv.groups, pads=pads + pads,
    )  # fmt: skip
    made.write(node, {"w": weights, "b": draw.standard_normal(conv.outputs).astype(np.float32)})
    # A reference by another engine is enough for a benchmark; the tests have their own.
    session = runtime.InferenceSession(onnx.load(made.file("model.onnx")).SerializeToString())
    made.outputs["c"] = session.run(None, {"a": a})[0]
    return made


def parse():
    parser = one_operator.parser(__doc__)
    parser.add_argument("--kinds", default=",".join(KINDS), help="some of %(default)s")
    parser.add_argument("--batch", type=int, default=1)
    args = parser.parse_args()
    args.kinds = args.kinds.split(",")
    for kind in args.kinds:
        if kind not in KINDS:
            parser.error(f"there are no '{kind}' convolutions")
    if args.batch < 1:
        parser.error("--batch is at least 1")
    one_operator.check(parser, args)
    return args


def main():
    args = parse()
    width = max(len(conv.title()) for kind in args.kinds for conv in KINDS[kind])
    table = one_operator.Table(args, {"ONNX Runtime": onnxruntime.Engine}, f"{'convolution':{width}}")
    for kind in args.kinds:
        for conv in KINDS[kind]:
            table.row(
                f"{conv.title():{width}}", conv.flops(args.batch), lambda folder, c=conv: problem(folder, c, args.batch)
            )
    table.finish()


if __name__ == "__main__":
    main()
