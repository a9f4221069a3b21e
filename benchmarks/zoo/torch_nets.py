"""Builds a net in torch with seeded weights and writes its ONNX file, an input and the expected output.

    python3 torch_nets.py NAME FOLDER

A program of its own, because torch often lives in another interpreter than the runtimes. Needs torch and torchvision.
"""

import os
import sys

import numpy as np
import torch
import torchvision
from torch import nn


class Unet(nn.Module):
    """A small segmentation net with both ways up: transposed convolution and interpolation."""

    def __init__(self):
        super().__init__()
        self.down1, self.down2, self.middle = double_conv(3, 16), double_conv(16, 32), double_conv(32, 64)
        self.up2 = nn.ConvTranspose2d(64, 32, 2, 2)
        self.merge2, self.merge1 = double_conv(64, 32), double_conv(48, 16)
        self.head = nn.Conv2d(16, 2, 1)

    def forward(self, x):
        full = self.down1(x)
        half = self.down2(nn.functional.max_pool2d(full, 2))
        quarter = self.middle(nn.functional.max_pool2d(half, 2))
        half = self.merge2(torch.cat([self.up2(quarter), half], 1))
        up = nn.functional.interpolate(half, scale_factor=2.0, mode="bilinear", align_corners=False)
        return torch.sigmoid(self.head(self.merge1(torch.cat([up, full], 1))))


def double_conv(inputs, outputs):
    layers = []
    for channels in (inputs, outputs):
        layers += [nn.Conv2d(channels, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()]
    return nn.Sequential(*layers)


def build(name):
    """The net and the side of its square input."""
    models = torchvision.models
    if name == "unet":
        return Unet(), 128
    if name == "vit_small_224":
        return models.VisionTransformer(224, 16, num_layers=12, num_heads=6, hidden_dim=384, mlp_dim=1536), 224
    if name == "inception_v3":
        return models.inception_v3(weights=None, aux_logits=False, init_weights=False), 299
    if name == "googlenet":
        return models.googlenet(weights=None, aux_logits=False, init_weights=False), 224
    return getattr(models, name)(weights=None), 224


def seed_weights(net):
    for module in net.modules():
        if isinstance(module, (nn.Conv2d, nn.ConvTranspose2d)):
            nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
        elif isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=module.in_features**-0.5)
        elif isinstance(module, nn.BatchNorm2d):
            nn.init.uniform_(module.weight, 0.8, 1.2)
            # Around zero each norm with ReLU would grow rounding errors by a fifth, 10,000 fold in all.
            nn.init.normal_(module.bias, mean=1.0, std=0.1)
        if isinstance(module, (nn.Conv2d, nn.ConvTranspose2d, nn.Linear)) and module.bias is not None:
            nn.init.normal_(module.bias, std=0.05)


def settle_batch_norms(net, side):
    """Gathers the statistics that the seeded weights have, so that activations keep their range."""
    norms = [module for module in net.modules() if isinstance(module, nn.BatchNorm2d)]
    for norm in norms:
        norm.momentum = None  # the average over all passes
        norm.reset_running_stats()
        norm.train()
    if norms:
        for _ in range(2):
            net(torch.randn(4, 3, side, side))
    net.eval()


def main():
    name, folder = sys.argv[1:]
    torch.manual_seed(sum(name.encode()))
    net, side = build(name)
    net.eval()
    seed_weights(net)
    with torch.no_grad():
        settle_batch_norms(net, side)
        image = torch.randn(1, 3, side, side)
        attention = [module for module in net.modules() if isinstance(module, nn.MultiheadAttention)]
        for module in attention:
            module.training = True  # not eval's fused operator, which has no ONNX form; its dropout is 0
        torch.onnx.export(
            net, image, os.path.join(folder, "model.onnx"), input_names=["input"], output_names=["output"],
            opset_version=13, training=torch.onnx.TrainingMode.PRESERVE,
        )  # fmt: skip
        expected = net.double()(image.double()).float()
    if not torch.isfinite(expected).all() or expected.std() == 0:
        sys.exit(f"{name}: its output is constant or not finite")
    np.save(os.path.join(folder, "in_input.npy"), image.numpy())
    np.save(os.path.join(folder, "out_output.npy"), expected.numpy())


if __name__ == "__main__":
    main()
