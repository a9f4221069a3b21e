#!/usr/bin/env python3
"""mnn_c.ray on a cluster of three nodes that this program starts on this machine: results, a killed worker, a node that
goes away, rows that fail. The exit status is 77 where Ray is not installed."""

import os
import pathlib
import signal
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from support import DIGITS, FOLDER, images, mnn_c  # noqa: E402

import numpy as np  # noqa: E402

try:
    import ray
    import ray.data
    from ray.cluster_utils import Cluster
except ImportError as error:
    print(f"check_ray.py: no Ray: {error}")
    sys.exit(77)

import mnn_c.ray  # noqa: E402
from mnn_c import batches  # noqa: E402

COUNT, RUN = 3200, 50


def dataset(parts=16):
    x = np.resize(images().reshape(-1, 64), (COUNT, 64))
    table = [{"id": i, "image": x[i]} for i in range(COUNT)]
    return ray.data.from_items(table, override_num_blocks=parts), x


def once(marker):
    """Returns whether this is the first call with the marker's name in all processes."""
    try:
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
        return True
    except FileExistsError:
        return False


class Scores:
    """Returns the scores unchanged. The first time that it meets `row`, it calls `act`."""

    def __init__(self, marker, act, after):
        self.marker, self.act, self.after, self.calls = str(marker), act, after, 0

    def __call__(self, outputs):
        self.calls += 1
        if self.calls == self.after and once(self.marker):
            self.act()
        return outputs["scores"]


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def pause():
    time.sleep(3)


class OnRay(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        os.environ["MNN_C_NODE_FOLDER"] = os.path.join(cls.folder.name, "node")
        os.environ["PYTHONPATH"] = str(FOLDER / "src") + os.pathsep + str(pathlib.Path(__file__).resolve().parent)
        os.environ["RAY_worker_niceness"] = "0"  # otherwise other work of the machine starves them
        ray.data.DataContext.get_current().enable_progress_bars = False
        cls.cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2})
        cls.cluster.add_node(num_cpus=1)
        cls.spare = cls.cluster.add_node(num_cpus=1)
        ray.init(address=cls.cluster.address, log_to_driver=False)

    @classmethod
    def tearDownClass(cls):
        ray.shutdown()
        cls.cluster.shutdown()
        cls.folder.cleanup()

    def setUp(self):
        self.marker = pathlib.Path(self.folder.name, self.id())
        self.model = mnn_c.ray.put(DIGITS)

    def predicted(self, rows, workers=2, **options):
        made = rows.map_batches(
            mnn_c.ray.Predictor,
            fn_constructor_kwargs={"model": self.model, "rows": RUN, "keep": ["id"], **options},
            compute=ray.data.ActorPoolStrategy(size=workers),
            num_cpus=1,
            batch_size=100,
        )
        return made.take_all()

    def check(self, table, x):
        """Checks that all rows are there, each once, with the same bits as in one process."""
        order = np.argsort([row["id"] for row in table])
        np.testing.assert_array_equal(np.array([row["id"] for row in table])[order], np.arange(COUNT))
        with mnn_c.Interpreter(DIGITS).session() as session:
            wanted = np.concatenate([session(x[i : i + RUN].reshape(-1, 1, 8, 8)) for i in range(0, COUNT, RUN)])
        np.testing.assert_array_equal(np.stack([row["scores"] for row in table])[order], wanted)

    def test_results(self):
        rows, x = dataset()
        self.check(self.predicted(rows), x)
        names = [path.name for path in pathlib.Path(os.environ["MNN_C_NODE_FOLDER"]).glob("*.mnn")]
        self.assertEqual(names, [self.model.digest + ".mnn"])

    def test_a_killed_worker_loses_nothing(self):
        rows, x = dataset()
        self.check(self.predicted(rows, outputs={"scores": Scores(self.marker, die, 5)}), x)
        self.assertTrue(self.marker.exists())

    def test_z_a_node_that_goes_away_loses_nothing(self):  # the last one, because the node does not come back
        rows, x = dataset()

        def remove():
            while not self.marker.exists():
                time.sleep(0.05)
            self.cluster.remove_node(self.spare, allow_graceful=False)

        thread = threading.Thread(target=remove)
        thread.start()
        table = self.predicted(rows, 3, outputs={"scores": Scores(self.marker, pause, 3)})
        thread.join()
        self.check(table, x)
        for _ in range(600):  # the cluster takes a while to notice
            alive = sum(node["Alive"] for node in ray.nodes())
            if alive == 2:
                break
            time.sleep(0.1)
        self.assertEqual(alive, 2)

    def test_rows_that_fail(self):
        rows = ray.data.from_items([{"id": i, "file": b"x" * (64 if i % 10 else 63)} for i in range(100)])

        def decode(batch):
            return np.stack([np.frombuffer(each, np.uint8).reshape(1, 8, 8) for each in batch["file"]])

        options = {"inputs": {"image": decode}, "outputs": {"digit": lambda outputs: outputs["scores"].argmax(1)}}
        table = self.predicted(rows, errors="rows", **options)
        self.assertEqual(sorted(row["id"] for row in table if row["error"]), list(range(0, 100, 10)))
        self.assertEqual(len(table), 100)
        with self.assertRaisesRegex(Exception, "cannot reshape array of size 63"):
            self.predicted(rows, **options)

    def test_settings_of_an_actor(self):
        @ray.remote(num_cpus=2)
        class Inside(mnn_c.ray.Predictor):
            def settings(self):
                return self._model.runtime.threads, self._session.config.forward_type, self.counts

        actor = Inside.remote(self.model, rows=RUN)
        table = ray.get(actor.__call__.remote({"image": images(3)}))
        self.assertEqual(table["scores"].shape, (3, 10))
        threads, forward_type, counts = ray.get(actor.settings.remote())
        ray.kill(actor)
        self.assertEqual((threads, forward_type, counts.rows), (2, mnn_c.Forward.CPU, 3))
        more = Inside.remote(self.model, rows=RUN, threads=1)
        self.assertEqual(ray.get(more.settings.remote())[0], 1)

    def test_progress(self):
        @ray.remote(num_cpus=0)
        class Total:
            counts = batches.Counts()

            def add(self, added):
                self.counts += added
                return self.counts

        total = Total.remote()
        rows, _ = dataset()
        self.predicted(rows, progress=lambda added: ray.get(total.add.remote(added)))
        counts = ray.get(total.add.remote(batches.Counts()))
        self.assertEqual((counts.rows, counts.failed_rows, counts.retries), (COUNT, 0, 0))

    def test_devices(self):
        self.assertEqual(mnn_c.ray.device_of("GPU-12345678-9abc-def0-1234-56789abcdef0"), "123456789abcdef0123456789abcdef0")
        if not [device for device in mnn_c.devices() if device.kind != "cpu"]:
            self.assertRaisesRegex(LookupError, "Vulkan has 0 GPUs", mnn_c.ray.device_of, "0")


if __name__ == "__main__":
    unittest.main()
