"""Batches of rows: parts and padding, columns, retries, rows that fail, and the files that processes of a machine
share."""

import gc
import multiprocessing
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np

from support import DIGITS, WINDOWS, Test, case, images, mnn_c
from mnn_c import _node, _processes, batches

if not WINDOWS:
    from mnn_c._shared_weights import SharedWeights

DIGIT = {"digit": lambda outputs: outputs["scores"].argmax(1)}


class Folder(Test):
    def setUp(self):
        self.addCleanup(gc.collect)  # other tests count living objects
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name, "node")
        before = os.environ.get("MNN_C_NODE_FOLDER")
        self.addCleanup(lambda: os.environ.update(MNN_C_NODE_FOLDER=before) if before else os.environ.pop("MNN_C_NODE_FOLDER"))
        os.environ["MNN_C_NODE_FOLDER"] = str(self.folder)

    def predictor(self, model=DIGITS, **options):
        predictor = batches.Predictor(model, **options)
        self.addCleanup(predictor.close)
        return predictor

    def wanted(self, count, rows):
        """The scores as a session of that many rows computes them."""
        session, x = self.session(), images(540)[:count]
        return np.concatenate(
            [session(np.resize(x[i : i + rows], (rows, 1, 8, 8)))[: count - i] for i in range(0, count, rows)]
        )


class Rows(Folder):
    def test_results_do_not_depend_on_batches(self):
        predict = self.predictor(rows=7)
        x, wanted = images(40), self.wanted(40, 7)
        for sizes in ((40,), (7, 7, 26), (1, 39), (13, 27), (6, 8, 26), (0, 40)):
            at, scores = 0, []
            for size in sizes:
                scores.append(predict({"image": x[at : at + size]})["scores"])
                at += size
            np.testing.assert_array_equal(np.concatenate(scores), wanted, str(sizes))

    def test_counts(self):
        added = []
        predict = self.predictor(rows=7, progress=added.append)
        predict({"image": images(40)})
        predict({"image": images(7)})
        self.assertEqual([(c.batches, c.rows, c.runs, c.padded_rows) for c in added], [(1, 40, 6, 2), (1, 7, 1, 0)])
        total = predict.counts
        self.assertEqual((total.batches, total.rows, total.runs, total.padded_rows), (2, 47, 7, 2))
        self.assertEqual((total.retries, total.failed_rows), (0, 0))
        self.assertAlmostEqual(total.seconds, sum(each.seconds for each in added))

    def test_rows_of_a_run(self):
        self.assertEqual(self.predictor().rows, batches.DEFAULT_ROWS)
        self.assertEqual(self.predictor(rows=3).rows, 3)
        for wrong in (0, -1):
            self.assertRaisesRegex(ValueError, "at least one row", self.predictor, rows=wrong)

    def test_shapes_of_rows(self):
        predict = self.predictor(rows=4)
        wanted = predict({"image": images(5)})["scores"]
        flat = images(5).reshape(5, 64)
        lists = np.empty(5, object)
        nested = np.empty(5, object)
        for i in range(5):
            lists[i], nested[i] = flat[i].tolist(), [np.asarray(row) for row in images(5)[i, 0]]
        for column in (flat, flat.astype(np.float64), lists, nested, list(flat)):
            np.testing.assert_array_equal(predict({"image": column})["scores"], wanted)
        lists[3] = lists[3][:60]
        self.assertRaisesRegex(ValueError, "different shapes", predict, {"image": lists})
        self.assertRaisesRegex(ValueError, r"\(63,\); the model takes \(1, 8, 8\)", predict, {"image": flat[:, :63]})
        self.assertRaisesRegex(ValueError, "different numbers of rows", predict, {"image": flat, "id": np.arange(4)})

    def test_columns(self):
        pixels = (images(9) * 16).astype(np.uint8).reshape(9, 64)
        wanted = self.wanted(9, 4).argmax(1)
        options = {"inputs": {"image": lambda batch: batch["pixels"] / 16}, "outputs": DIGIT, "rows": 4}
        table = self.predictor(**options)({"id": np.arange(9), "pixels": pixels})
        self.assertEqual(list(table), ["id", "pixels", "digit"])
        np.testing.assert_array_equal(table["digit"], wanted)
        table = self.predictor(keep=["id"], **options)({"id": np.arange(9), "pixels": pixels})
        self.assertEqual(list(table), ["id", "digit"])
        table = self.predictor(keep=(), inputs={"image": "x"}, outputs={"a": "scores", "b": "scores"})({"x": images(2)})
        self.assertEqual(list(table), ["a", "b"])
        np.testing.assert_array_equal(table["a"], table["b"])
        for options, sentence in (
            ({"inputs": {"picture": "x"}}, "no input 'picture'; there are: image"),
            ({"outputs": {"a": "digit"}}, "no output 'digit'; there are: scores"),
        ):
            self.assertRaisesRegex(mnn_c.errors.NotFoundError, sentence, self.predictor, **options)
        for batch, options in (({"x": images(1)}, {}), ({"image": images(1)}, {"keep": ["id"]})):
            self.assertRaisesRegex(mnn_c.errors.NotFoundError, "no column", self.predictor(errors="rows", **options), batch)
        wrong = self.predictor(outputs={"a": lambda outputs: outputs["scores"][:-1]})
        self.assertRaisesRegex(ValueError, r"column 'a' made \(1, 10\) of 2 rows", wrong, {"image": images(2)})
        self.assertRaises(TypeError, self.predictor, keep="id")

    def test_inputs_that_are_the_same_for_all_rows(self):
        net = self.net(case("binary__add_integers"))
        rows = {each.name: each.name for each in net.inputs}
        same = {each.name: np.full(each.shape, 3, each.dtype) for each in net.inputs}
        count = {each.shape[0] for each in net.inputs if each.shape}
        self.assertIn(2, count)
        name = "a_scalar_right_int32"
        del same[name]
        values = np.arange(18).reshape(2, 3, 3)
        predict = self.predictor(case("binary__add_integers"), inputs=same, outputs={"sum": "scalar_right_int32"})
        self.assertEqual(predict.rows, 2)  # as the model declares
        np.testing.assert_array_equal(predict({name: values})["sum"], values + 3)
        self.assertTrue(rows)
        with self.assertRaisesRegex(ValueError, "no dimension for rows"):
            self.predictor(case("binary__add_integers"))

    def test_outputs_without_rows(self):
        saved = self.predictor(outputs={"pooled": "m"}, save_tensors=("m",), rows=2)
        self.assertEqual(saved({"image": images(3)})["pooled"].shape, (3, 32, 4, 4))
        predict = self.predictor(rows=2)
        run = predict._session.run
        predict._session.run = lambda *a, **k: {"scores": run(*a, **k)["scores"][:1]}
        self.assertRaisesRegex(ValueError, r"\(1, 10\), so it has no row for each of the 2", predict, {"image": images(2)})


class Failures(Folder):
    def fail(self, predict, errors):
        """Makes the next runs fail with these errors, even those of new sessions; returns the list of those that
        remain."""
        open_session = predict._open

        def opened():
            session = open_session()
            run = session.run

            def failing(*arguments, **options):
                if errors:
                    raise errors.pop(0)
                return run(*arguments, **options)

            session.run = failing
            return session

        predict._open = opened
        predict.close()
        return errors

    def test_retries(self):
        lost, memory = mnn_c.errors.DeviceLostError, mnn_c.errors.OutOfMemoryError
        predict = self.predictor(rows=4, retries=2)
        left = self.fail(predict, [lost("gone"), memory("full")])
        np.testing.assert_array_equal(predict({"image": images(9)})["scores"], self.wanted(9, 4))
        self.assertEqual((left, predict.counts.retries, predict.counts.runs), ([], 2, 5))
        left = self.fail(predict, [lost("gone")] * 4)
        for errors in ("raise", "rows"):
            predict._errors = errors
            self.assertRaises(lost, predict, {"image": images(1)})
            left[:] = [lost("gone")] * 3
        self.assertEqual(len(left), 3)
        left.clear()
        self.assertEqual(len(predict({"image": images(1)})["scores"]), 1)  # it stays usable

    def test_other_errors_are_not_retried(self):
        predict = self.predictor(rows=4)
        left = self.fail(predict, [mnn_c.errors.InputDataError("bad"), mnn_c.errors.InputDataError("bad")])
        self.assertRaises(mnn_c.errors.InputDataError, predict, {"image": images(1)})
        self.assertEqual((len(left), predict.counts.retries), (1, 0))

    def test_rows_that_fail(self):
        def decode(batch):
            return np.stack([np.frombuffer(each, np.uint8).reshape(1, 8, 8) / 16 for each in batch["file"]])

        files = np.array([(x * 16).astype(np.uint8).tobytes() for x in images(20)], object)
        files[[3, 4, 19]] = b"short", b"", b"x" * 65
        options = {"inputs": {"image": decode}, "outputs": {**DIGIT, "scores": "scores"}, "rows": 4, "keep": ["id"]}
        batch = {"id": np.arange(20), "file": files}
        self.assertRaises(ValueError, self.predictor(**options), batch)
        predict = self.predictor(errors="rows", **options)
        table = predict(batch)
        good = np.setdiff1d(np.arange(20), [3, 4, 19])
        self.assertEqual(list(table), ["id", "digit", "scores", "error"])
        np.testing.assert_array_equal(table["id"], np.arange(20))
        np.testing.assert_array_equal(np.flatnonzero(table["error"] == ""), good)
        self.assertIn("ValueError: ", table["error"][3])
        np.testing.assert_allclose(table["scores"][good], self.wanted(20, 4)[good], rtol=1e-5, atol=1e-5)
        np.testing.assert_array_equal(table["digit"][good], self.wanted(20, 4).argmax(1)[good])
        self.assertTrue(np.isnan(table["scores"][[3, 4, 19]]).all())
        self.assertEqual((predict.counts.rows, predict.counts.failed_rows), (20, 3))
        table = predict({"id": np.arange(2), "file": files[3:5]})  # no row succeeds
        self.assertEqual((table["scores"].shape, table["scores"].dtype, list(table["digit"])), ((2, 10), np.float32, [0, 0]))
        self.assertNotIn("", table["error"])
        table = predict({"id": np.arange(0), "file": files[:0]})
        self.assertEqual((table["scores"].shape, table["digit"].shape, table["error"].shape), ((0, 10), (0,), (0,)))

    def test_wrong_options(self):
        self.assertRaisesRegex(ValueError, "errors is 'ignore'", self.predictor, errors="ignore")
        self.assertRaisesRegex(ValueError, "retries is -1", self.predictor, retries=-1)
        self.assertRaises(TypeError, self.predictor, colour="red")
        self.assertRaises(FileNotFoundError, self.predictor, "absent.mnn")


def _content():
    return _node.contents_of(DIGITS)


class Fetch:
    """Fetches the model and notes that it did."""

    def __init__(self, notes, contents=None):
        self.notes, self.contents = str(notes), contents

    def __call__(self):
        with open(os.path.join(self.notes, f"fetched-{os.getpid()}"), "a") as file:
            file.write("once\n")
        time.sleep(0.2)  # so that other processes come meanwhile
        return _content() if self.contents is None else self.contents


def _path_in_process(model):
    return model.path(), os.getpid()


class Machine(Folder):
    def model(self, contents=None):
        notes = self.folder.parent / "notes"
        notes.mkdir(exist_ok=True)
        self.fetched = lambda: sum(len(path.read_text().split()) for path in notes.iterdir())
        return _node.StoredModel(_node.digest_of(contents or _content()), Fetch(notes, contents))

    def test_processes_copy_a_model_once(self):
        model = self.model()
        with multiprocessing.get_context("spawn").Pool(4) as pool:
            found = pool.map(_path_in_process, [model] * 8, chunksize=1)
        self.assertEqual({path for path, _ in found}, {str(self.folder / (model.digest + ".mnn"))})
        self.assertEqual(self.fetched(), 1)
        self.assertEqual(pathlib.Path(found[0][0]).read_bytes(), DIGITS.read_bytes())
        predict = self.predictor(pickle.loads(pickle.dumps(model)), rows=4)
        np.testing.assert_array_equal(predict({"image": images(4)})["scores"], self.wanted(4, 4))
        self.assertEqual(self.fetched(), 1)

    def test_contents(self):
        with_weights = {"": b"model", ".weight": b"weights"}
        path = pathlib.Path(self.model(with_weights).path())
        self.assertEqual(path.read_bytes(), b"model")
        self.assertEqual(pathlib.Path(str(path) + ".weight").read_bytes(), b"weights")
        self.assertEqual({k: bytes(v) for k, v in _node.contents_of(path).items()}, with_weights)
        self.assertEqual(_node.contents_of(b"model"), {"": b"model"})
        digests = [_node.digest_of(each) for each in (with_weights, {"": b"model"}, {"": b"modelweights"})]
        self.assertEqual(len(set(digests)), 3)
        self.assertRaises(FileNotFoundError, _node.contents_of, "absent.mnn")
        wrong = _node.StoredModel(digests[1], lambda: {"": b"other"})
        self.assertRaisesRegex(ValueError, "was fetched as model", wrong.path)
        self.assertFalse(os.path.exists(self.folder / (digests[1] + ".mnn")))

    def test_the_folder(self):
        self.folder.mkdir(mode=0o700)
        if not WINDOWS:  # there, folders have no such rights
            self.folder.chmod(0o777)
            self.assertRaisesRegex(PermissionError, "MNN_C_NODE_FOLDER", _node.folder)
        self.folder.chmod(0o700)
        old, new = self.folder / "old", self.folder / "new"
        old.write_bytes(b"")
        os.utime(old, (1, 1))
        new.write_bytes(b"")
        _node.sweep()
        self.assertEqual([path.name for path in self.folder.iterdir()], ["new"])

    def test_sessions_of_a_process_share_a_model(self):
        a, b, other = (batches.Predictor(DIGITS, rows=4, threads=threads) for threads in (3, 3, 2))
        self.assertIs(a._model, b._model)
        self.assertIsNot(a._model, other._model)
        self.assertIsNot(a._session, b._session)
        self.assertEqual((a._model.runtime.threads, other._model.runtime.threads), (3, 2))
        self.assertIn((str(DIGITS), 3), _processes._models)
        del a, b  # nothing else keeps the model
        gc.collect()
        self.assertNotIn((str(DIGITS), 3), _processes._models)

    @unittest.skipIf(WINDOWS, "weights are not shared there")
    def test_weights_are_mapped(self):
        another = subprocess.run(
            [sys.executable, "-c", ANOTHER, str(DIGITS)], stdout=subprocess.PIPE, check=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})  # fmt: skip
        files = sorted(self.folder.glob("*.weights"))
        contents = [file.read_bytes() for file in files]
        self.assertTrue(files)
        files[0].chmod(0o600)
        files[0].write_bytes(b"damaged")
        weights = SharedWeights(smallest=1024)
        session = self.session(runtime=mnn_c.Runtime(1, allocator=weights))
        self.assertGreater(weights.share(), session.statistics.weight_bytes // 2)
        self.assertEqual(sorted(self.folder.glob("*.weights")), files)
        self.assertEqual([file.read_bytes() for file in files], contents)
        mapped = pathlib.Path("/proc/self/maps").read_text()
        for file in files:
            self.assertIn(str(file), mapped)
        wanted = self.session()(images(1))
        np.testing.assert_array_equal(session(images(1)), wanted)
        np.testing.assert_array_equal(np.frombuffer(another.stdout, np.float32), self.session()(np.zeros((1, 1, 8, 8)))[0])

    @unittest.skipIf(WINDOWS, "weights are not shared there")
    def test_memory_of_a_runtime(self):
        weights = SharedWeights(smallest=4096)
        for size, alignment in ((1, 64), (100, 64), (4096, 64), (10000, 4096)):
            place = weights.allocate(size, alignment)
            self.assertTrue(place)
            self.assertEqual(place % alignment, 0)
            weights.release(place, size, alignment)
        self.assertEqual(weights.share(), 0)
        self.assertEqual(weights.allocate(2**62, 64), 0)


ANOTHER = """
import sys, numpy as np, mnn_c
from mnn_c._shared_weights import SharedWeights
weights = SharedWeights(smallest=1024)
session = mnn_c.Interpreter(sys.argv[1]).session(runtime=mnn_c.Runtime(1, allocator=weights))
weights.share()
sys.stdout.buffer.write(session(np.zeros((1, 1, 8, 8))).tobytes())
"""


class Optional(unittest.TestCase):
    def test_a_missing_package_is_named(self):
        from mnn_c._optional import needed

        with self.assertRaisesRegex(ImportError, r"mnn_c.ray needs the package 'absent_ray'.*pip install mnn-c\[ray\]"):
            needed("absent_ray.data", "ray")


if __name__ == "__main__":
    unittest.main()
