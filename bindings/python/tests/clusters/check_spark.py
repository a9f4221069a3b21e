#!/usr/bin/env python3
"""mnn_c.spark in Spark's local mode: results, a killed worker, rows that fail, counts. The exit status is 77 where
PySpark or Java is not installed."""

import os
import pathlib
import shutil
import signal
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from support import DIGITS, FOLDER, images, mnn_c  # noqa: E402

import numpy as np  # noqa: E402

try:
    import pandas
    from pyspark.sql import SparkSession
except ImportError as error:
    print(f"check_spark.py: no PySpark: {error}")
    sys.exit(77)
if not shutil.which("java") and "JAVA_HOME" not in os.environ:
    print("check_spark.py: no Java")
    sys.exit(77)

import mnn_c.spark  # noqa: E402

COUNT, RUN = 1000, 50
SCORES = "id long, scores array<float>"


class Once:
    """Returns the scores unchanged; the first process that calls this ends."""

    def __init__(self, marker):
        self.marker = str(marker)

    def __call__(self, outputs):
        try:
            os.close(os.open(self.marker, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return outputs["scores"]
        os.kill(os.getpid(), signal.SIGKILL)


class OnSpark(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        os.environ["MNN_C_NODE_FOLDER"] = os.path.join(cls.folder.name, "node")
        os.environ["PYSPARK_PYTHON"] = sys.executable
        os.environ["PYTHONPATH"] = str(FOLDER / "src") + os.pathsep + str(pathlib.Path(__file__).resolve().parent)
        builder = SparkSession.builder.master("local[2, 3]").config("spark.ui.enabled", "false")  # a task has 3 attempts
        cls.spark = builder.config("spark.sql.execution.arrow.maxRecordsPerBatch", "100").getOrCreate()
        cls.spark.sparkContext.setLogLevel("OFF")
        cls.x = np.resize(images().reshape(-1, 64), (COUNT, 64))
        rows = pandas.DataFrame({"id": np.arange(COUNT), "image": list(cls.x)})
        cls.frame = cls.spark.createDataFrame(rows, "id long, image array<float>").repartition(5).cache()
        cls.model = mnn_c.spark.store(cls.spark, DIGITS)

    @classmethod
    def tearDownClass(cls):
        cls.spark.stop()
        cls.folder.cleanup()

    def check(self, predict):
        """Checks that all rows are there, each once, with the same bits as in one process."""
        table = self.frame.mapInPandas(predict, SCORES).toPandas().sort_values("id")
        np.testing.assert_array_equal(table["id"], np.arange(COUNT))
        with mnn_c.Interpreter(DIGITS).session() as session:
            x = self.x.reshape(-1, 1, 8, 8)
            wanted = np.concatenate([session(x[i : i + RUN]) for i in range(0, COUNT, RUN)])
        np.testing.assert_array_equal(np.stack(list(table["scores"])), wanted)

    def test_results(self):
        total = self.spark.sparkContext.accumulator(0)
        for model in (self.model, DIGITS):
            self.check(mnn_c.spark.predictor(model, rows=RUN, keep=["id"], progress=lambda added: total.add(added.rows)))
        self.assertEqual(total.value, 2 * COUNT)
        names = [path.name for path in pathlib.Path(os.environ["MNN_C_NODE_FOLDER"]).glob("*.mnn")]
        self.assertEqual(names, [self.model.digest + ".mnn"])

    def test_a_killed_worker_loses_nothing(self):
        marker = pathlib.Path(self.folder.name, "killed")
        self.check(mnn_c.spark.predictor(self.model, rows=RUN, keep=["id"], outputs={"scores": Once(marker)}))
        self.assertTrue(marker.exists())

    def test_rows_that_fail(self):
        rows = self.spark.createDataFrame([(i, bytearray(64 if i % 10 else 63)) for i in range(100)], "id long, file binary")

        def decode(batch):
            return np.stack([np.frombuffer(each, np.uint8).reshape(1, 8, 8) for each in batch["file"]])

        options = {"inputs": {"image": decode}, "outputs": {"digit": lambda outputs: outputs["scores"].argmax(1)}}
        predict = mnn_c.spark.predictor(self.model, keep=["id"], errors="rows", **options)
        table = rows.mapInPandas(predict, "id long, digit long, error string").toPandas()
        self.assertEqual(sorted(table["id"][table["error"] != ""]), list(range(0, 100, 10)))
        with self.assertRaisesRegex(Exception, "cannot reshape array of size 63"):
            rows.mapInPandas(mnn_c.spark.predictor(self.model, keep=["id"], **options), "id long, digit long").toPandas()

    def test_rows_of_several_dimensions(self):
        predict = mnn_c.spark.predictor(self.model, keep=["id"], outputs={"pairs": lambda out: out["scores"].reshape(-1, 5, 2)})
        table = self.frame.limit(3).mapInPandas(predict, "id long, pairs array<array<float>>").toPandas()
        self.assertEqual(np.array([[list(pair) for pair in row] for row in table["pairs"]]).shape, (3, 5, 2))


if __name__ == "__main__":
    unittest.main()
