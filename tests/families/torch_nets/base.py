"""Registers the nets of this folder, exports them to ONNX and computes their outputs in double precision."""
import copy
import json
import os
import warnings
import zlib

import numpy as np
import torch
from torch import nn

NETS = []


class Net:
    """forms: the ends of the folders' names, and the converter's flags. dynamic: the open axes of the file, by
    input."""

    def __init__(self, family, name, build, *, forms=None, dynamic=None, opset=17, tolerance=1e-4):
        self.family, self.name, self.build = family, name, build
        self.forms, self.dynamic, self.opset, self.tolerance = forms or {"": []}, dynamic or {}, opset, tolerance


def net(family, name, **options):
    """Registers a function that returns a module, its inputs by name (one table for each run) and its outputs'
    names."""
    def register(build):
        NETS.append(Net(family, name, build, **options))
        return build
    return register


def randomise(module):
    """Sets statistics and weights of norms that have an effect."""
    for part in module.modules():
        if isinstance(part, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
            part.running_mean.uniform_(-0.3, 0.3)
            part.running_var.uniform_(0.5, 1.5)
        if isinstance(part, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.LayerNorm, nn.GroupNorm)):
            if part.weight is not None:
                nn.init.uniform_(part.weight, 0.5, 1.5)
                nn.init.uniform_(part.bias, -0.3, 0.3)


def flat(value):
    return [value] if isinstance(value, torch.Tensor) else [t for v in value for t in flat(v)]


def export(item, folder):
    """Writes net.onnx, the arrays of every run (in double precision where they are floats) and net.json."""
    torch.manual_seed(zlib.crc32(f"{item.family}/{item.name}".encode()))
    module, runs, outputs = item.build()
    module = module.eval()
    for parameter in module.parameters():
        parameter.requires_grad_(False)
    randomise(module)
    first = next(iter(runs.values()))
    os.makedirs(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(module, tuple(first.values()), os.path.join(folder, "net.onnx"), opset_version=item.opset,
                          input_names=list(first), output_names=outputs, dynamic_axes=item.dynamic)
    double = copy.deepcopy(module).double()
    for run, inputs in runs.items():
        wide = [v.double() if v.is_floating_point() else v for v in inputs.values()]
        torch.set_default_dtype(torch.float64)
        try:
            with torch.no_grad():
                found = flat(double(*wide))
        finally:
            torch.set_default_dtype(torch.float32)
        arrays = {"in_" + name: value.numpy() for name, value in inputs.items()}
        arrays.update({"out_" + name: value.numpy() for name, value in zip(outputs, found)})
        np.savez(os.path.join(folder, f"run_{run}.npz"), **arrays)
    with open(os.path.join(folder, "net.json"), "w", encoding="utf-8") as file:
        json.dump({"family": item.family, "name": item.name, "forms": item.forms, "tolerance": item.tolerance,
                   "source": "ONNX", "model": "net.onnx", "inputs": list(first),
                   "outputs": outputs, "runs": list(runs)}, file)


class Attention(nn.Module):
    """Attention with several heads, in the form of most exporters. groups: heads that share keys and values."""

    def __init__(self, width, heads, bias=True, groups=1):
        super().__init__()
        self.heads, self.size, self.groups = heads, width // heads, groups
        self.q = nn.Linear(width, width, bias)
        self.k = nn.Linear(width, width // groups, bias)
        self.v = nn.Linear(width, width // groups, bias)
        self.out = nn.Linear(width, width, bias)

    def split(self, x, heads):
        return x.view(x.shape[0], -1, heads, self.size).transpose(1, 2)

    def forward(self, x, context=None, mask=None):
        context = x if context is None else context
        q = self.split(self.q(x), self.heads)
        k = self.split(self.k(context), self.heads // self.groups)
        v = self.split(self.v(context), self.heads // self.groups)
        return self.join(q, k, v, mask)

    def join(self, q, k, v, mask=None):
        scores = torch.matmul(q, k.transpose(-1, -2)) / self.size ** 0.5
        if mask is not None:
            scores = scores + mask
        mixed = torch.matmul(torch.softmax(scores, -1), v)
        return self.out(mixed.transpose(1, 2).reshape(mixed.shape[0], -1, self.heads * self.size))


class Block(nn.Module):
    """An encoder layer with the norms before its halves (as in ViT and GPT-2) or after them (as in BERT)."""

    def __init__(self, width, heads, activation, before=True, grown=2):
        super().__init__()
        self.attention, self.before, self.activation = Attention(width, heads), before, activation
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, grown * width), nn.Linear(grown * width, width)

    def feed(self, x):
        return self.down(self.activation(self.up(x)))

    def forward(self, x, mask=None):
        if self.before:
            x = x + self.attention(self.norm1(x), mask=mask)
            return x + self.feed(self.norm2(x))
        x = self.norm1(x + self.attention(x, mask=mask))
        return self.norm2(x + self.feed(x))
