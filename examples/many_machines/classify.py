#!/usr/bin/env python3
"""Predicts 100,000 digit images from Parquet: in one process, then on a Ray cluster of several nodes that this script
starts on this machine, with 1 and 2 workers, and once more with a worker that is killed in the middle. Every result has
to equal that of the single process, row by row. See README.md.

    pip install 'mnn-c[ray]' && python3 classify.py
"""

import argparse
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import threading
import time

import numpy as np
import pyarrow.parquet
import ray
import ray.data
from ray.cluster_utils import Cluster

import images
import mnn_c.batches
import mnn_c.ray

MODEL = images.DIGITS / "digits.mnn"
FILES = 20  # also the number of parts for the workers; Ray would read files this small as one part
BATCH = 2000  # rows that a worker gets at a time
ROWS = 500  # rows of a run


def pixels(batch):
    """Returns the model's input: bytes of 0 to 16 become floats of 0 to 1."""
    return np.stack(list(batch["image"])).astype(np.float32) / 16


class Digit:
    """Returns the new column: the digit with the largest score. A file in the folder records which process computed
    it."""

    def __init__(self, folder):
        self.folder = str(folder)

    def __call__(self, outputs):
        pathlib.Path(self.folder, str(os.getpid())).touch()
        return outputs["scores"].argmax(1)


def options(folder):
    return {"inputs": {"image": pixels}, "outputs": {"digit": Digit(folder)}, "keep": ["id", "label"], "rows": ROWS}


def in_one_process(data, folder):
    """Returns the digits by id, and the seconds."""
    begin = time.perf_counter()
    predict = mnn_c.batches.Predictor(MODEL, **options(folder))
    digits = []
    for file in sorted(data.glob("*.parquet")):
        for batch in pyarrow.parquet.ParquetFile(file).iter_batches(BATCH):
            table = predict({name: batch.column(name).to_numpy(zero_copy_only=False) for name in batch.schema.names})
            digits.append(table["digit"])
    return np.concatenate(digits), time.perf_counter() - begin


def on_the_cluster(data, folder, workers, model):
    """Returns the digits by id, and the seconds. Fails where a row is missing or occurs twice."""
    begin = time.perf_counter()
    predicted = ray.data.read_parquet(str(data), override_num_blocks=FILES).map_batches(
        mnn_c.ray.Predictor,
        fn_constructor_kwargs={"model": model, **options(folder)},
        compute=ray.data.ActorPoolStrategy(size=workers),
        num_cpus=1,
        batch_size=BATCH,
    )
    blocks = [ray.get(reference).to_pydict() for reference in predicted.to_arrow_refs()]
    seconds = time.perf_counter() - begin
    ids = np.concatenate([block["id"] for block in blocks]).astype(int)
    digits = np.concatenate([block["digit"] for block in blocks])
    order = np.argsort(ids)
    assert np.array_equal(ids[order], np.arange(len(ids))), "a row is missing, or is there twice"
    return digits[order], seconds


def kill_one(folder, killed):
    """Waits until a worker has finished a batch, then kills it."""
    while not killed:
        for file in pathlib.Path(folder).iterdir():
            os.kill(int(file.name), signal.SIGKILL)
            killed.append(int(file.name))
            break
        time.sleep(0.01)


def report(name, seconds, more):
    print(f"{name:16}{seconds:6.1f} s  {more}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000, help="images")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2], help="how many actors, one run for each number")
    parser.add_argument("--nodes", type=int, default=3, help="nodes of the cluster, with one CPU each")
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        data, notes = pathlib.Path(folder, "images"), pathlib.Path(folder, "workers")
        data.mkdir()
        notes.mkdir()
        images.write(data, arguments.rows, FILES)
        size = sum(file.stat().st_size for file in data.iterdir())
        cpu = re.search(r"Model name:\s*(.*)", subprocess.run(["lscpu"], stdout=subprocess.PIPE, text=True).stdout)
        print(f"{os.cpu_count()} cores of {cpu.group(1) if cpu else 'an unknown processor'}, load {os.getloadavg()[0]:.0f}")
        print(f"{arguments.rows} images in {FILES} Parquet files of {size / 1e6:.1f} MB together")

        wanted, seconds = in_one_process(data, notes)
        right = (wanted == images.make(arguments.rows)[2]).mean()
        report("one process", seconds, f"{arguments.rows / seconds:.0f} rows/s, {right:.1%} recognized")

        package = str(pathlib.Path(mnn_c.__file__).resolve().parent.parent)
        here = str(pathlib.Path(__file__).resolve().parent)
        os.environ["PYTHONPATH"] = os.pathsep.join([package, here, os.environ.get("PYTHONPATH", "")])
        os.environ["RAY_worker_niceness"] = "0"  # the niceness of the single process; Ray's default is 15
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
        for _ in range(arguments.nodes - 1):
            cluster.add_node(num_cpus=1)
        ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        # version 2 starts a process for every few files, which costs more than it gains for small files
        context.use_datasource_v2 = False
        model = mnn_c.ray.put(MODEL)
        try:
            for workers in arguments.workers:
                digits, seconds = on_the_cluster(data, notes, workers, model)
                assert np.array_equal(digits, wanted), "the digits differ from those of one process"
                report(f"Ray, workers: {workers}", seconds, f"{arguments.rows / seconds:.0f} rows/s")
            for file in notes.iterdir():
                file.unlink()
            killed = []
            thread = threading.Thread(target=kill_one, args=(notes, killed))
            thread.start()
            digits, seconds = on_the_cluster(data, notes, 2, model)
            thread.join()
            assert np.array_equal(digits, wanted), "the digits differ from those of one process"
            report("2, one killed", seconds, f"process {killed[0]} was killed; each row is there once and as above")
        finally:
            ray.shutdown()
            cluster.shutdown()


if __name__ == "__main__":
    main()
