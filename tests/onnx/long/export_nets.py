#!/usr/bin/env python3
"""Exports nets of tests/families and of benchmarks/zoo by both of torch's exporters, over opsets 11 to 21.

    export_nets.py FOLDER [REGEX]

A net gets FOLDER/NAME.onnx with fixed extents and, where the exporter can give it, NAME_free.onnx, in which batch and other
extents of inputs are free, each with its exporter and opset in NAME.json, and inputs in NAME.npz (of both sizes). What is
there already is left as it is. Needs torch, torchvision, onnx and onnxscript.
"""
import itertools
import json
import pathlib
import re
import signal
import sys
import traceback
import warnings
import zlib

import numpy as np
import torch

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests" / "families"), str(ROOT / "benchmarks" / "zoo")]

SECONDS = 600  # for one export
TRACED, GRAPH = (11, 12, 13, 14, 15, 16, 17, 18, 19, 20), (18, 19, 20, 21)


class Subject:
    """A module, its inputs by name, the names of its outputs, and candidates for the other size, best first: {axis:
    extent} for each input."""

    def __init__(self, module, inputs, outputs, others):
        self.module, self.inputs, self.outputs, self.others = module, inputs, outputs, others


def other_extents(inputs, batch=True):
    """Returns candidates for the other size. For pictures: batch and sides, sides, batch; for words and waves: batch
    and length, then each alone."""
    first = next(iter(inputs.values()))
    wider = {axis: first.shape[axis] + (32 if first.shape[axis] >= 32 else 1) for axis in range(2, first.dim())} if first.dim() >= 4 else {}
    longer = {1: first.shape[1] + 3} if first.dim() in (2, 3) else {}
    more = {0: first.shape[0] + 1} if batch else {}
    for part in ({**more, **wider, **longer}, {**wider, **longer}, more):
        if part:
            yield {name: part for name in inputs}


def family_nets():
    import torch_nets.flow, torch_nets.language, torch_nets.one_stage, torch_nets.pictures  # noqa: E401,F401
    import torch_nets.sequences, torch_nets.two_stage, torch_nets.volumes  # noqa: E401,F401
    from torch_nets import base

    for item in base.NETS:
        def build(item=item):
            module, runs, outputs = item.build()
            base.randomise(module.eval())
            inputs = next(iter(runs.values()))
            own = {name: {axis: inputs[name].shape[axis] + (1 if axis == 0 else 32 if inputs[name].dim() > 3 else 3) for axis in axes}
                   for name, axes in item.dynamic.items()}
            return Subject(module, inputs, outputs, ([own] if own else []) + list(other_extents(inputs, item.family != "clip")))

        yield f"{item.family}_{item.name}", f"{item.family}/{item.name}", build


def zoo_nets():
    import audio, generative, language, recurrent, segmentation, vision  # noqa: E401,F401
    import names
    from torch_base import NETS, seed_weights, settle_batch_norms

    for name in [*names.FLOAT_NETS, *names.BROAD_NETS]:
        def build(name=name):
            net = NETS[name]()
            net.module.eval()
            with torch.no_grad():
                seed_weights(net.module)
                settle_batch_norms(net)
            inputs = dict(zip(net.inputs, net.sample(1)))
            return Subject(net.module.eval(), inputs, net.outputs, list(other_extents(inputs)))

        yield f"zoo_{name}", name, build


def other_inputs(inputs, extents):
    """Returns numbers of the same kind at the other size."""
    result = {}
    for name, tensor in inputs.items():
        shape = list(tensor.shape)
        for axis, extent in extents.get(name, {}).items():
            shape[axis] = extent
        flat = np.resize(tensor.numpy(), shape)
        result[name] = torch.from_numpy(flat.copy())
        if tensor.is_floating_point():
            result[name] = result[name] * (0.8 + 0.2 * torch.rand(shape))
    return result


def export(subject, path, graph, opset, extents=None):
    names = {"input_names": list(subject.inputs), "output_names": subject.outputs, "opset_version": opset}
    axes = {name: {axis: f"{name}_{axis}" if axis else "batch" for axis in part} for name, part in (extents or {}).items()}
    lengths = {axis for part in axes.values() for axis in part if axis}
    for part in axes.values():  # inputs of the same length share its name
        for axis in part:
            if axis and len(lengths) < 3:
                part[axis] = {1: "length", 2: "height", 3: "width"}.get(axis, part[axis])
    if not graph:
        torch.onnx.export(subject.module, tuple(subject.inputs.values()), path, dynamo=False,
                          training=torch.onnx.TrainingMode.PRESERVE, dynamic_axes=axes, **names)
        return
    shapes = None
    if extents:
        shapes = tuple({axis: torch.export.Dim.DYNAMIC for axis in axes.get(name, {})} for name in subject.inputs)
        largest = other_inputs(subject.inputs, extents)  # an extent of 1 would be fixed
        subject = Subject(subject.module, largest, subject.outputs, [])
    torch.onnx.export(subject.module, tuple(subject.inputs.values()), path, dynamo=True, external_data=False, verbose=False,
                      dynamic_shapes=shapes, **names)


def limited(seconds, function, *arguments):
    def stop(*_):
        raise TimeoutError(f"more than {seconds} seconds")

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        return function(*arguments)
    finally:
        signal.alarm(0)


def make(folder, name, seed, build, order):
    torch.manual_seed(zlib.crc32(seed.encode()))
    subject = build()
    for parameter in subject.module.parameters():
        parameter.requires_grad_(False)
    for part in subject.module.modules():
        if isinstance(part, torch.nn.MultiheadAttention):
            part.training = True  # not eval's fused operator, which has no ONNX form; its dropout is 0
    graph = order % 2 == 1
    ways = [(graph, (GRAPH if graph else TRACED)[order // 2 % (4 if graph else 10)]), (not graph, 18 if not graph else 17), (graph, 18)]
    about = {"outputs": subject.outputs, "fixed": None, "free": None}
    arrays = {f"first:{key}": value.numpy() for key, value in subject.inputs.items()}
    for way in ways:
        try:
            limited(SECONDS, export, subject, str(folder / f"{name}.onnx"), *way)
            about["fixed"] = way
            break
        except Exception as error:  # noqa: BLE001: of any kind
            print(f"{name}: {way}: {str(error).strip().splitlines()[:1]}", flush=True)
    else:
        return
    for extents, way in itertools.product(subject.others, [about["fixed"]] + [way for way in ways if way != about["fixed"]][:1]):
        other = other_inputs(subject.inputs, extents)
        try:
            with torch.no_grad():
                subject.module(*other.values())
        except Exception:  # noqa: BLE001: the module has no such size
            continue
        try:
            limited(SECONDS, export, subject, str(folder / f"{name}_free.onnx"), *way, extents)
        except Exception as error:  # noqa: BLE001
            print(f"{name} free: {way}: {str(error).strip().splitlines()[:1]}", flush=True)
            continue
        about["free"] = [*way, {key: sorted(part) for key, part in extents.items()}]
        arrays |= {f"other:{key}": value.numpy() for key, value in other.items()}
        break
    np.savez(folder / f"{name}.npz", **arrays)
    (folder / f"{name}.json").write_text(json.dumps(about))
    print(f"made {name}: {about['fixed']}, free {about['free']}", flush=True)


def main():
    warnings.filterwarnings("ignore")
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    wanted = sys.argv[2] if len(sys.argv) > 2 else ""
    for order, (name, seed, build) in enumerate(itertools.chain(family_nets(), zoo_nets())):
        if re.search(wanted, name) and not (folder / f"{name}.json").exists():
            try:
                make(folder, name, seed, build, order)
            except Exception:  # noqa: BLE001
                print(f"{name}: {traceback.format_exc().strip().splitlines()[-1]}", flush=True)


if __name__ == "__main__":
    main()
