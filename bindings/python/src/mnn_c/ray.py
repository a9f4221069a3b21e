"""Predictions on a Ray cluster: an actor class for Dataset.map_batches.

    model = mnn_c.ray.put("digits.mnn")
    ray.data.read_parquet("images/").map_batches(
        mnn_c.ray.Predictor,
        fn_constructor_kwargs={"model": model, "outputs": {"digit": lambda out: out["scores"].argmax(1)}},
        compute=ray.data.ActorPoolStrategy(size=8),
        num_cpus=1,
        batch_size=1024,
    ).write_parquet("digits/")
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass, replace
from typing import Any, Callable, Dict, List, Optional, Union

import numpy as np

from . import batches
from ._node import Content, StoredModel, contents_of, digest_of
from ._optional import needed
from ._processes import Model
from .batches import Counts
from .config import SessionConfig
from .devices import devices
from .enums import Forward

_ray: Any = needed("ray", "ray")
_metrics: Any = needed("ray.util.metrics", "ray")


@dataclass(frozen=True)
class _FromObjectStore:
    """Fetches the contents of a StoredModel."""

    contents: Dict[str, Any]  # references to objects, which keep them in the store

    def __call__(self) -> Dict[str, Any]:
        return {suffix: _ray.get(reference) for suffix, reference in self.contents.items()}


def put(model: Union[str, "os.PathLike[str]", Content]) -> StoredModel:
    """Puts a model, a file with its weights or bytes, into the object store, from which each machine copies it once."""
    contents = contents_of(model)
    objects = {suffix: _ray.put(np.frombuffer(data, np.uint8)) for suffix, data in contents.items()}
    return StoredModel(digest_of(contents), _FromObjectStore(objects))


class Predictor(batches.Predictor):
    """The actor class; batches.Predictor says what its arguments are. Each actor has a session.

    threads: None: the CPUs that Ray gave to the actor (num_cpus of map_batches).
    config: with forward_type=Forward.VULKAN it runs on the GPU that Ray gave to the actor (num_gpus=1).

    Besides Ray's own progress, its metrics count mnn_c_rows, mnn_c_failed_rows, mnn_c_runs, mnn_c_retries and
    mnn_c_seconds for each node.
    """

    def __init__(
        self,
        model: Model,
        *,
        threads: Optional[int] = None,
        progress: Optional[Callable[[Counts], Any]] = None,
        config: Optional[SessionConfig] = None,
        **options: Any,
    ) -> None:
        context = _ray.get_runtime_context()
        settings = SessionConfig() if config is None else config
        if "forward_type" in options:
            settings = replace(settings, forward_type=options.pop("forward_type"))
        gpus: List[str] = context.get_accelerator_ids().get("GPU", [])
        if settings.forward_type != Forward.CPU and settings.device is None and gpus:
            settings = replace(settings, device=device_of(gpus[0]))
        if threads is None:
            threads = max(1, int(context.get_assigned_resources().get("CPU", 1)))
        node = context.get_node_id()
        counter = _metrics.Counter
        self._metrics = {
            name: counter(f"mnn_c_{name}", description=f"{name} of predictors of mnn_c", tag_keys=("node",))
            for name in ("rows", "failed_rows", "runs", "retries", "seconds")
        }

        def count(added: Counts) -> None:
            for name, metric in self._metrics.items():
                value = getattr(added, name)
                if value:
                    metric.inc(value, {"node": node})
            if progress is not None:
                progress(added)

        super().__init__(model, threads=threads, progress=count, config=settings, **options)


def device_of(gpu: str) -> str:
    """Returns the device of a session for a GPU by Ray's number, which differs from Vulkan's: its UUID where the
    machine's driver names it, else its place among the devices that are no software."""
    uuid = gpu if gpu.startswith("GPU-") else _uuid(gpu)
    if uuid:
        return uuid[len("GPU-") :].replace("-", "")
    hardware = [i for i, device in enumerate(devices()) if device.kind != "cpu"]
    if not gpu.isdigit() or int(gpu) >= len(hardware):
        raise LookupError(f"Ray gave the GPU '{gpu}' to this actor, but Vulkan has {len(hardware)} GPUs: {devices()}")
    return str(hardware[int(gpu)])


def _uuid(gpu: str) -> Optional[str]:
    program = shutil.which("nvidia-smi")
    if program is None:
        return None
    found = subprocess.run(
        [program, f"--id={gpu}", "--query-gpu=uuid", "--format=csv,noheader"], stdout=subprocess.PIPE, text=True
    )
    text = found.stdout.strip()
    return text if found.returncode == 0 and text.startswith("GPU-") else None
