"""ONNX models: the results of mnn_c.onnx, and a check that it covers mnn_c_onnx.h."""

import ctypes
import os
import pathlib
import pickle
import re
import sys
import tempfile
import unittest

import numpy as np

from support import REPOSITORY, WINDOWS, Test, mnn_c

try:
    from mnn_c import _onnx_abi, onnx
except ImportError as error:
    if "cannot be opened" not in str(error):
        raise
    raise unittest.SkipTest(str(error)) from error

sys.path.insert(0, str(REPOSITORY / "tests" / "tool"))
import onnx_file  # noqa: E402

HEADER = REPOSITORY / "include" / "mnn_c_onnx.h"
X, Y = onnx_file.value("x", onnx_file.FLOAT, ["batch", 64]), onnx_file.value("y", onnx_file.FLOAT, ["batch", 32])
MATRIX = ((np.arange(64 * 32) * 37 % 101 - 50) / 64).astype(np.float32).reshape(64, 32)
NODES = [onnx_file.node("MatMul", ["x", "w"], ["h"]), onnx_file.node("Relu", ["h"], ["y"])]
NET = onnx_file.model(onnx_file.graph(NODES, [X], [Y], [onnx_file.floats("w", [64, 32], MATRIX.ravel())]))
LACKING = onnx_file.model(onnx_file.graph(
    [onnx_file.node("NoSuchOperator", ["x"], ["h"]), onnx_file.node("NorThisOne", ["h"], ["y"])], [X], [Y]))
ONES = np.ones((1, 64), np.float32)
WANTED = np.maximum(ONES @ MATRIX, 0)


class Header(unittest.TestCase):
    def test_functions_and_enumerators(self):
        text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.S)
        declared = dict(re.findall(r"MNN_C_API [^;]*?\b(mnn_onnx_\w+)\(([^;]*?)\);", text))
        self.assertGreater(len(declared), 9)
        self.assertEqual(set(declared), set(_onnx_abi.FUNCTIONS))
        for name, arguments in declared.items():
            count = 0 if arguments == "void" else arguments.count(",") + 1
            self.assertEqual(len(_onnx_abi.FUNCTIONS[name][1]), count, name)
        source = pathlib.Path(onnx.__file__).read_text()
        self.assertEqual(set(declared) - set(re.findall(r"_O\.(mnn_onnx_\w+)", source)), set())
        values = dict(re.findall(r"MNN_ONNX_WEIGHTS_(\w+) = (\d+)", text))
        self.assertEqual({name: int(value) for name, value in values.items()}, {w.name: w.value for w in onnx.Weights})

    def test_structs_have_the_fields_of_the_header(self):
        text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.S)
        kinds = {"mnn_onnx_shape": _onnx_abi.Shape, "mnn_onnx_extent": _onnx_abi.Extent, "mnn_onnx_options": _onnx_abi.Options,
                 "mnn_onnx_report": _onnx_abi.Report, "mnn_onnx_problem": _onnx_abi.Problem}
        pointers = {"int32_t": ctypes.POINTER(ctypes.c_int32), "char": ctypes.c_char_p, "void": ctypes.c_void_p,
                    "mnn_cancel_t": ctypes.c_void_p, "mnn_onnx_shape_t": ctypes.POINTER(_onnx_abi.Shape),
                    "mnn_onnx_extent_t": ctypes.POINTER(_onnx_abi.Extent)}
        plain = {"size_t": ctypes.c_size_t, "int32_t": ctypes.c_int32, "int64_t": ctypes.c_int64, "uint64_t": ctypes.c_uint64,
                 "mnn_onnx_progress": _onnx_abi.Progress}
        found = re.findall(r"typedef struct (\w+) \{(.*?)\}", text, re.S)
        self.assertEqual({name for name, _ in found}, set(kinds))
        for name, body in found:
            fields = []
            for kind, stars, field in re.findall(r"(?:const )?(\w+)((?:\*| const)*) (\w+);", body):
                if stars.count("*") == 2:
                    fields.append((field, ctypes.POINTER(ctypes.c_char_p)))
                else:
                    fields.append((field, pointers[kind] if stars else plain[kind]))
            self.assertEqual(fields, kinds[name]._fields_, name)


class Conversions(Test):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.path = self.folder / "net.onnx"
        self.path.write_bytes(NET)

    def run_net(self, source, **options):
        session = self.net(source, **options).session()
        self.addCleanup(session.close)
        result = session(ONES)
        return next(iter(result.values())) if isinstance(result, dict) else result

    def test_a_file_of_each_form_of_weights(self):
        for weights, error in zip(onnx.Weights, (1e-5, 1e-2, 0.3, 4)):
            made = onnx.convert(self.path, self.folder / "net.mnn", weights=weights)
            self.assertEqual((self.folder / "net.mnn").read_bytes(), made.data)
            self.assertEqual((made.report.nodes, made.report.problems, made.weights), (2, (), b""))
            got = self.run_net(self.folder / "net.mnn")
            np.testing.assert_allclose(got, WANTED, atol=error)
        self.assertLess(len(onnx.convert(NET, weights=onnx.Weights.INT4, weight_block=16).data), 3500)

    def test_interpreters_take_onnx_files(self):
        np.testing.assert_allclose(self.run_net(self.path), WANTED, atol=1e-5)
        net = self.net(self.path)
        self.assertEqual(net.path, str(self.path))
        again = pickle.loads(pickle.dumps(net))
        self.addCleanup(again.close)
        self.assertEqual(again.outputs, ["y"])
        net.pickle_by = "bytes"
        data = pickle.dumps(net)
        os.remove(self.path)
        again = pickle.loads(data)
        self.addCleanup(again.close)
        self.assertEqual(again.outputs, ["y"])
        with self.assertRaises(mnn_c.errors.FileNotExistError):
            mnn_c.Interpreter(self.path)
        with self.assertRaisesRegex(ValueError, "external_weights"):
            mnn_c.Interpreter(self.path, external_weights=b"1")
        with self.assertRaisesRegex(mnn_c.errors.BadFormatError, "mnn convert"):
            mnn_c.Interpreter(NET)

    def test_weights_beside(self):
        made = onnx.convert(NET, self.folder / "net.mnn", weights_beside=True)
        self.assertEqual(len(made.weights), 4 * (64 * 32 + 32))  # with the bias of the layer
        self.assertEqual((self.folder / "net.mnn.weight").read_bytes(), made.weights)
        np.testing.assert_allclose(self.run_net(self.folder / "net.mnn"), WANTED, atol=1e-5)
        np.testing.assert_allclose(self.run_net(made.data, external_weights=made.weights), WANTED, atol=1e-5)

    def test_options(self):
        made = onnx.convert(NET, extents={"batch": 5}, outputs=["h"])
        self.assertEqual(self.net(made.data).inputs[0].shape, (5, 64))
        self.assertEqual(self.net(made.data).outputs, ["h"])
        self.assertEqual(self.net(onnx.convert(NET, shapes={"x": (3, -1)}).data).inputs[0].shape, (3, 64))
        apart = onnx_file.tensor("w", [64, 32], onnx_file.FLOAT, external={"location": "data", "offset": "0"})
        model = onnx_file.model(onnx_file.graph(NODES, [X], [Y], [apart]))
        with self.assertRaises(mnn_c.errors.NotSupportedError):
            onnx.convert(model)
        inside, outside = self.folder / "inside", self.folder / "blob"
        inside.mkdir()
        if WINDOWS:  # a link needs a right there that users do not have
            (inside / "data").write_bytes(MATRIX.tobytes())
        else:
            outside.write_bytes(MATRIX.tobytes())
            os.symlink(outside, inside / "data")
            with self.assertRaises(mnn_c.errors.BadFormatError):
                onnx.convert(model, data_folder=inside)
        made = onnx.convert(model, data_folder=inside, follow_links=True)
        np.testing.assert_allclose(self.run_net(made.data), WANTED, atol=1e-5)
        for wrong, kind in ((dict(shapes={"z": (1,)}), mnn_c.errors.NotFoundError), (dict(outputs=["z"]), mnn_c.errors.NotFoundError),
                            (dict(weight_block=8), mnn_c.errors.InvalidValueError), (dict(weights=7), mnn_c.errors.InvalidValueError),
                            (dict(max_memory_bytes=100), mnn_c.errors.LimitExceededError)):
            with self.assertRaises(kind):
                onnx.convert(NET, **wrong)

    def test_progress_and_cancel(self):
        seen = []
        onnx.convert(NET, progress=lambda done, total: seen.append((done, total)))
        self.assertEqual(seen, [(1, 2), (2, 2)])

        def stop(done, total):
            raise LookupError("enough")

        with self.assertRaisesRegex(LookupError, "enough"):
            onnx.convert(NET, progress=stop)
        token = mnn_c.CancelToken()
        token.trigger()
        with self.assertRaises(mnn_c.CancelledError):
            onnx.convert(NET, cancel=token)

    def test_all_problems_are_listed(self):
        with self.assertRaises(onnx.ConversionError) as caught:
            onnx.convert(LACKING, self.folder / "net.mnn")
        report = caught.exception.report
        self.assertEqual([p.op_type for p in report.problems], ["NoSuchOperator", "NorThisOne"])
        self.assertEqual((report.problems[0].opset, report.problems[0].status), (18, 2))
        self.assertIn("2 nodes", str(caught.exception))
        self.assertFalse((self.folder / "net.mnn").exists())
        (self.folder / "lacking.onnx").write_bytes(LACKING)
        with self.assertRaises(onnx.ConversionError):
            mnn_c.Interpreter(self.folder / "lacking.onnx")


if __name__ == "__main__":
    unittest.main()
