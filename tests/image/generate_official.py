#!/usr/bin/env python3
"""Writes official.bin: pictures, and what the official runtime's ImageProcess makes of them.

    python3 generate_official.py official.bin     # needs the package MNN of the official runtime, 3.6.1

A record is the numbers of HEADER, the bytes of the picture, and the values of the result: bytes where mean and scale do
nothing, floats otherwise. official_test.c reads it. Conversions that the runtime does not implement are left out: RGB to BGRA, BGR to
RGBA, I420 under a matrix, bicubic samples, repeated pictures.
"""
import struct
import sys

import MNN
import numpy as np

CHANNELS = {0: 4, 1: 3, 2: 3, 3: 1, 4: 4}
NV21, NV12, I420 = 11, 12, 13
NEAREST, BILINEAR, CLAMP, ZERO, NCHW, NHWC, FLOAT, BYTE = 0, 1, 0, 1, 0, 1, 1, 4
HEADER = "<13i6f4f4fi"  # as struct Record in official_test.c


def official(source, width, height, stride, formats, sampling, matrix, factors, size, layout):
    mean, scale = factors
    process = MNN.CVImageProcess({"sourceFormat": formats[0], "destFormat": formats[1], "filterType": sampling[0],
                                  "wrap": sampling[1], "mean": tuple(map(float, mean)),
                                  "normal": tuple(map(float, scale))})
    transform = MNN.CVMatrix()
    transform.write([float(value) for value in (*matrix, 0, 0, 1)])
    process.setMatrix(transform)
    process.setPadding(sampling[2])
    channels = CHANNELS[formats[1]]
    shape = (1, size[1], size[0], channels) if layout == NHWC else (1, channels, size[1], size[0])
    form = MNN.Tensor_DimensionType_Tensorflow if layout == NHWC else MNN.Tensor_DimensionType_Caffe
    tensor = MNN.Tensor(shape, MNN.Halide_Type_Float, np.zeros(shape, np.float32), form)
    # Some readers look a few bytes beyond the picture.
    padded = np.concatenate([source, np.zeros(64, np.uint8)])
    if process.convert(padded.ctypes.data, width, height, stride, tensor) != 0:
        raise RuntimeError(f"the official runtime refuses {formats}")
    return np.array(tensor.getNumpyData(), np.float32)


def picture_bytes(source, width, height, stride):
    if source < NV21:
        return stride * (height - 1) + width * CHANNELS[source]
    return width * height + 2 * ((width + 1) // 2) * ((height + 1) // 2)


class Writer:
    def __init__(self):
        self.random = np.random.default_rng(20)
        self.records = []

    def add(self, source, target, size, to, matrix, filter_type=NEAREST, wrap=CLAMP, padding=0, mean=None, scale=None,
            layout=NHWC, gap=0):
        width, height = size
        stride = width * CHANNELS.get(source, 1) + gap if source < NV21 else 0
        pixels = self.random.integers(0, 256, picture_bytes(source, width, height, stride), dtype=np.uint8)
        plain = mean is None
        mean = np.float32(mean or [0] * 4)
        scale = np.float32(scale or [1] * 4)
        matrix = np.float32(matrix)
        result = official(pixels, width, height, stride, (source, target), (filter_type, wrap, padding), matrix,
                          (mean, scale), to, layout)
        if plain:
            result = result.astype(np.uint8)
        self.records.append(struct.pack(HEADER, source, width, height, stride, pixels.size, target, *to, layout,
                                        BYTE if plain else FLOAT, filter_type, wrap, padding, *matrix, *mean, *scale,
                                        result.size) + pixels.tobytes() + result.tobytes())

    def write(self, path):
        with open(path, "wb") as file:
            file.write(struct.pack("<i", len(self.records)) + b"".join(self.records))


IDENTITY = (1, 0, 0, 0, 1, 0)


def centred(size, to):
    x, y = size[0] / to[0], size[1] / to[1]
    return x, 0, x / 2 - 0.5, 0, y, y / 2 - 0.5


def main():
    out = Writer()
    turned = (0.8137, -0.4521, 1.3313, 0.4521, 0.8137, -2.1071)  # no place of it is halfway between two pixels
    for source in (0, 1, 2, 3, 4, NV21, NV12, I420):
        for target in CHANNELS:
            if (source, target) not in ((1, 4), (2, 0)):
                out.add(source, target, (7, 5), (7, 5), IDENTITY)
    for source, target in ((0, 4), (1, 1), (2, 3), (3, 3), (4, 0), (NV21, 1), (NV12, 2)):
        for wrap, padding in ((CLAMP, 0), (ZERO, 0), (ZERO, 77)):
            for filter_type in (NEAREST, BILINEAR):
                out.add(source, target, (9, 7), (13, 11), turned, filter_type, wrap, padding)
                out.add(source, target, (9, 7), (11, 5), (1, 0, -2, 0, 1, 3), filter_type, wrap, padding)
        for filter_type in (NEAREST, BILINEAR):
            for size, to in (((9, 7), (14, 10)), ((10, 8), (5, 3)), ((3, 2), (11, 13)), ((2, 2), (1, 1)), ((16, 3), (600, 2))):
                out.add(source, target, size, to, centred(size, to), filter_type)
    for source in (0, 1):  # far along a row, where the roundings of sums of places decide
        out.add(source, source, (2600, 1), (1030, 1), (2.5137, 0, 0.3, 0, 1, 0))
    for layout in (NCHW, NHWC):
        out.add(1, 2, (8, 6), (5, 7), centred((8, 6), (5, 7)), BILINEAR, mean=[103.94, 116.78, 123.68, 0],
                scale=[0.017, 0.0175, 0.0171, 1], layout=layout)
        out.add(0, 3, (8, 6), (8, 6), IDENTITY, mean=[127.5, 0, 0, 0], scale=[1 / 127.5, 1, 1, 1], layout=layout)
        out.add(NV21, 1, (8, 6), (8, 6), IDENTITY, mean=[1, 2, 3, 4], scale=[0.5, 0.25, 3, 1], layout=layout)
    for source in (1, 3, 4):
        out.add(source, 1, (6, 5), (7, 9), turned, BILINEAR, gap=5)
    out.write(sys.argv[1])


if __name__ == "__main__":
    main()
