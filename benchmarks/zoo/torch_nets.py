"""Builds a net in torch with seeded weights and writes its ONNX file, inputs, expected outputs and case.json.

    python3 torch_nets.py NAME FOLDER [BATCH]

A program of its own, because torch often lives in another interpreter than the runtimes. Needs torch and torchvision,
and timm for its nets.
case.json is written last, so a folder that has it is complete.
"""

import json
import os
import sys
import warnings

import numpy as np
import torch
from torch import nn

import audio, generative, language, recurrent, segmentation, subnormal, timm_nets, vision  # noqa: E401, F401 fill NETS
from torch_base import NETS, seed_weights, settle_batch_norms


def export(net, inputs, path):
    for part in net.module.modules():
        if isinstance(part, nn.MultiheadAttention):
            part.training = True  # uses no fused operator, which has no ONNX form; the dropout is 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the tracer warns about shapes, which are fixed
        names = {"input_names": net.inputs, "output_names": net.outputs}
        if net.dynamo:
            torch.onnx.export(net.module, inputs, path, dynamo=True, external_data=False, verbose=False, **names)
            return
        if hasattr(torch.onnx, "ONNXProgram"):  # this torch has both exporters
            names["dynamo"] = False
        training = torch.onnx.TrainingMode.PRESERVE
        torch.onnx.export(net.module, inputs, path, opset_version=14, training=training, **names)


def in_double(module, inputs):
    torch.set_default_dtype(torch.float64)  # also for tensors that a module creates while it runs
    found = module.double()(*(x.double() if x.is_floating_point() else x for x in inputs))
    return [found] if isinstance(found, torch.Tensor) else list(found)


def write(folder, kind, names, tensors):
    """Writes the arrays, and returns the entries of case.json for them."""
    entries = []
    for name, tensor in zip(names, tensors):
        array = tensor.float().numpy() if tensor.is_floating_point() else tensor.numpy()
        file = f"{kind}_{name}.npy"
        np.save(os.path.join(folder, file), array)
        entries.append({"name": name, "shape": list(array.shape), "dtype": str(array.dtype), "file": file})
    return entries


def main():
    name, folder = sys.argv[1:3]
    batch = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    if name not in NETS:
        sys.exit(f"there is no net {name}")
    torch.manual_seed(sum(name.encode()))
    net = NETS[name]()
    net.module.eval()
    with torch.no_grad():
        seed_weights(net.module)
        settle_batch_norms(net)
        inputs = net.sample(batch)
        export(net, inputs, os.path.join(folder, "model.onnx"))
        outputs = in_double(net.module, inputs)
    if len(outputs) != len(net.outputs):
        sys.exit(f"{name}: it has {len(outputs)} outputs, {len(net.outputs)} have names")
    for output, tensor in zip(net.outputs, outputs):
        if not torch.isfinite(tensor).all() or tensor.std() == 0:
            sys.exit(f"{name}: {output} is constant or not finite")
    case = {
        "model": "model.mnn",
        "inputs": write(folder, "in", net.inputs, inputs),
        "outputs": write(folder, "out", net.outputs, outputs),
    }
    with open(os.path.join(folder, "case.json"), "w") as file:
        json.dump(case, file, indent=1)


if __name__ == "__main__":
    main()
