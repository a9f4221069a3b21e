"""Pictures: the results of mnn_c.image, and a check that it covers mnn_c_image.h."""

import ctypes
import pathlib
import re
import struct
import tempfile
import unittest

import numpy as np

from support import REPOSITORY, Test, mnn_c

try:
    from mnn_c import _image_abi, image
except ImportError as error:
    if "cannot be opened" not in str(error):
        raise
    raise unittest.SkipTest(str(error)) from error

HEADER = REPOSITORY / "include" / "mnn_c_image.h"
# Functions that the package does not call, and why.
LEFT_OUT = {"mnn_image_crop": "a slice of an array is a view"}
COLOUR = b"P6 2 1 255\n\x0a\x14\x1e\xff\x80\x00"


class Header(unittest.TestCase):
    def test_functions_and_enumerators(self):
        text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.S)
        declared = dict(re.findall(r"MNN_C_API [^;]*?\b(mnn_image_\w+)\(([^;]*?)\);", text))
        self.assertGreater(len(declared), 9)
        self.assertEqual(set(declared), set(_image_abi.FUNCTIONS))
        for name, arguments in declared.items():
            count = 0 if arguments == "void" else arguments.count(",") + 1
            self.assertEqual(len(_image_abi.FUNCTIONS[name][1]), count, name)
        source = pathlib.Path(image.__file__).read_text()
        self.assertEqual(set(declared) - set(re.findall(r"_I\.(mnn_image_\w+)", source)), set(LEFT_OUT))
        values = dict(re.findall(r"MNN_IMAGE_(\w+) = (\d+)", text))
        kinds = {item.name: item.value for kind in (image.PixelFormat, image.Filter, image.Wrap) for item in kind}
        kinds |= {f"BOX_{item.name}": item.value for item in image.BoxColumn}
        kinds |= {f"UNIT_{item.name}": item.value for item in image.BoxUnit}
        self.assertEqual({name: int(value) for name, value in values.items()}, kinds)

    def test_structs_have_the_fields_of_the_header(self):
        text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.S)
        kinds = {"mnn_image": _image_abi.Image, "mnn_image_options": _image_abi.ImageOptions,
                 "mnn_image_values": _image_abi.ImageValues, "mnn_image_detector": _image_abi.ImageDetector}
        types = {"size_t": ctypes.c_size_t, "int32_t": ctypes.c_int32, "void*": ctypes.c_void_p, "float": ctypes.c_float,
                 "double": ctypes.c_double}
        found = re.findall(r"typedef struct (\w+) \{(.*?)\}", text, re.S)
        self.assertEqual({name for name, _ in found}, set(kinds))
        for name, body in found:
            fields = [(field, types[kind] * int(size) if size else types[kind])
                      for kind, field, size in re.findall(r"([\w*]+) (\w+)(?:\[(\d+)\])?;", body)]
            self.assertEqual(fields, kinds[name]._fields_, name)


class Images(Test):
    def test_boxes(self):
        columns = [image.BoxColumn[name] for name in ("CENTRE_X", "CENTRE_Y", "WIDTH", "HEIGHT", "CLASSES")]
        rows = np.zeros((1, 8, 6), np.float32)
        rows[0, :3] = [[5, 5, 4, 4, 0.25, 0.5], [20, 5, 4, 4, 0.75, 0], [20, 5, 4, 4, 0.625, 0]]
        sizes = {"input_size": (30, 10), "picture_size": (60, 40)}
        wanted = [[36, 12, 44, 28, 0.75, 0], [6, 12, 14, 28, 0.5, 1]]
        self.assertEqual(image.boxes(rows, columns, **sizes).tolist(), wanted)
        self.assertEqual(image.boxes(rows.transpose(0, 2, 1), columns, **sizes).tolist(), wanted)
        self.assertEqual(len(image.boxes(rows, columns, overlap=1, **sizes)), 3)
        self.assertEqual(image.boxes(rows, columns, background=0, min_score=0.3, **sizes).tolist(), wanted[1:])
        edges = [image.BoxColumn[name] for name in ("X1", "Y1", "X2", "Y2")]
        found = image.boxes([[0.1, 0.5, 0.5, 0.75]], edges, scores=[0.5], classes=[7], part=(0, 5, 30, 5), **sizes)
        self.assertTrue(np.allclose(found, [[6, 0, 30, 20, 0.5, 7]]), found)
        self.assertEqual(image.boxes(np.zeros((0, 4)), edges, scores=[], **sizes).shape, (0, 6))
        with self.assertRaisesRegex(mnn_c.errors.InvalidValueError, "likewise y1"):
            image.boxes([[1, 2, 3]], edges[:3], **sizes)
        with self.assertRaisesRegex(mnn_c.errors.ComputeSizeError, "2 boxes"):
            image.boxes([[1, 2, 3, 4]] * 2, edges, classes=[1, 2, 3], scores=[1, 1], **sizes)

    def test_files(self):
        self.assertEqual(image.info(COLOUR), image.ImageInfo(image.PixelFormat.RGB, 2, 1))
        self.assertEqual(image.decode(COLOUR).tolist(), [[[10, 20, 30], [255, 128, 0]]])
        self.assertEqual(image.decode(COLOUR, image.PixelFormat.BGRA).tolist(), [[[30, 20, 10, 255], [0, 128, 255, 255]]])
        pixels = np.arange(5 * 7 * 3, dtype=np.uint8).reshape(5, 7, 3)
        for given in (pixels, pixels[1:4, 2:5], pixels[::-1, ::2], pixels[..., 0], pixels[..., :1]):
            again = image.decode(image.encode_png(given), image.PixelFormat.GRAY if given.shape[2:] != (3,) else image.PixelFormat.RGB)
            np.testing.assert_array_equal(again.reshape(given.shape), given)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "cut.png")
            path.write_bytes(image.encode_png(pixels)[:60])
            with self.assertRaisesRegex(mnn_c.errors.BadFormatError, "cut.png"):
                image.read(path)

    def test_official_pixels(self):
        """The cases of tests/image/official.bin, whose values are bytes."""
        content = (REPOSITORY / "tests" / "image" / "official.bin").read_bytes()
        at, compared = 4, 0
        for _ in range(struct.unpack_from("<i", content)[0]):
            (source, width, height, stride, size, target, to_width, to_height, layout, kind, filter_type, wrap,
             padding) = struct.unpack_from("<13i", content, at)
            numbers = struct.unpack_from("<14f", content, at + 52)
            at += 112
            pixels = np.frombuffer(content, np.uint8, size, at)
            at += size
            element = np.uint8 if kind == 4 else np.float32
            channels = image.PixelFormat(target).channels
            wanted = np.frombuffer(content, element, to_width * to_height * channels, at)
            at += wanted.nbytes
            formats = image.PixelFormat(source)
            if formats.channels:
                padded = np.concatenate([pixels, np.zeros(stride, np.uint8)])
                rows = np.lib.stride_tricks.as_strided(padded, (height, width * formats.channels), (stride, 1))
                pixels = rows.reshape(height, width, formats.channels)
            values = image.convert(
                pixels, to_width, to_height, source=formats, source_size=(width, height), format=image.PixelFormat(target),
                filter=image.Filter(filter_type), wrap=image.Wrap(wrap), padding=padding, matrix=numbers[:6],
                mean=numbers[6:6 + channels], scale=numbers[10:10 + channels], layout=mnn_c.Format(layout), dtype=element)
            self.assertLess(np.abs(values.ravel().astype(np.float32) - wanted).max(), 1.001 if filter_type else 1e-9)
            compared += wanted.size
        self.assertEqual(at, len(content))
        self.assertGreater(compared, 50000)

    def test_a_picture_becomes_an_input(self):
        digit = np.arange(64, dtype=np.uint8).reshape(8, 8) * 4
        x = image.to_input(digit, 8, 8, format=image.PixelFormat.GRAY, mean=2, scale=0.5)
        self.assertEqual((x.shape, x.dtype), ((1, 1, 8, 8), np.float32))
        np.testing.assert_array_equal(x[0, 0], (digit.astype(np.float32) - 2) * 0.5)
        self.assertEqual(self.session()(x).shape, (1, 10))
        colour = np.zeros((4, 6, 3), np.uint8)
        colour[..., 2] = 200
        last = image.to_input(colour, 3, 2, format=image.PixelFormat.BGR, layout=mnn_c.Format.NHWC)
        self.assertEqual(last.shape, (1, 2, 3, 3))
        np.testing.assert_array_equal(last[..., 0], 200)
        self.assertEqual(image.resize_matrix((4, 9), (2, 3)), (2.0, 0.0, 0.5, 0.0, 3.0, 1.0))

    def test_wrong_arguments(self):
        pixels = np.zeros((4, 6, 3), np.uint8)
        for call, kind, word in (
            (lambda: image.decode(b"none"), mnn_c.errors.BadFormatError, "no picture"),
            (lambda: image.decode(COLOUR, image.PixelFormat.NV12), mnn_c.errors.NotSupportedError, "YUV"),
            (lambda: image.resize(pixels, 0, 3), mnn_c.errors.BadRangeError, "0 x 3"),
            (lambda: image.resize(pixels.astype(np.float32), 2, 2), TypeError, "uint8"),
            (lambda: image.encode_png(pixels[..., :2]), ValueError, "2"),
            (lambda: image.convert(pixels, source=image.PixelFormat.RGBA), ValueError, "4"),
            (lambda: image.convert(pixels, -1, 4), ValueError, "-1 x 4"),
            (lambda: image.convert(pixels, matrix=[1, 2]), ValueError, "2 numbers"),
            (lambda: image.convert(pixels, mean=[1, 2]), ValueError, "2 values"),
            (lambda: image.convert(pixels, scale=float("nan")), mnn_c.errors.InvalidValueError, "scale"),
            (lambda: image.convert(pixels, dtype=np.int32), TypeError, "int32"),
            (lambda: image.convert(pixels, source=image.PixelFormat.NV12), ValueError, "source_size"),
            (lambda: image.convert(pixels, source=image.PixelFormat.NV12, source_size=(60, 60)),
             mnn_c.errors.BufferTooSmallError, "72"),
        ):
            with self.assertRaisesRegex(kind, word):
                call()
