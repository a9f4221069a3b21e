"""Nets with a map as large as the image: torchvision's segmentation, a U-Net, SegFormer B0."""

import torch
from torch import nn
from torch.nn import functional
from torchvision import models

from torch_base import NETS, Attention, Net, images, net


class Map(nn.Module):
    """Wraps one of torchvision's nets, which return a dictionary."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, x):
        return self.module(x)["out"]


def segmenter(name):
    build = getattr(models.segmentation, name)
    return lambda: Net(Map(build(weights=None, weights_backbone=None)), images(224))


NETS["deeplabv3_mobilenet"] = segmenter("deeplabv3_mobilenet_v3_large")
NETS["lraspp_mobilenet"] = segmenter("lraspp_mobilenet_v3_large")
NETS["fcn_resnet50"] = segmenter("fcn_resnet50")


class Unet(nn.Module):
    """A small segmentation net that enlarges by both methods: transposed convolution and interpolation."""

    def __init__(self):
        super().__init__()
        self.down1, self.down2, self.middle = double_conv(3, 16), double_conv(16, 32), double_conv(32, 64)
        self.up2 = nn.ConvTranspose2d(64, 32, 2, 2)
        self.merge2, self.merge1 = double_conv(64, 32), double_conv(48, 16)
        self.head = nn.Conv2d(16, 2, 1)

    def forward(self, x):
        full = self.down1(x)
        half = self.down2(functional.max_pool2d(full, 2))
        quarter = self.middle(functional.max_pool2d(half, 2))
        half = self.merge2(torch.cat([self.up2(quarter), half], 1))
        up = functional.interpolate(half, scale_factor=2.0, mode="bilinear", align_corners=False)
        return torch.sigmoid(self.head(self.merge1(torch.cat([up, full], 1))))


def double_conv(inputs, outputs):
    layers = []
    for channels in (inputs, outputs):
        layers += [nn.Conv2d(channels, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()]
    return nn.Sequential(*layers)


@net("unet")
def _():
    return Net(Unet(), images(128))


def as_tokens(x):
    return x.flatten(2).transpose(1, 2)


def as_map(x, height, width):
    return x.transpose(1, 2).reshape(x.shape[0], x.shape[2], height, width)


class MixBlock(nn.Module):
    """Attends to a map of keys that is `shrink` times smaller; the feed-forward part has a depthwise 3x3
    convolution."""

    def __init__(self, width, heads, shrink):
        super().__init__()
        self.norm1, self.norm2, self.attention = nn.LayerNorm(width), nn.LayerNorm(width), Attention(width, heads)
        self.shrink = nn.Conv2d(width, width, shrink, shrink) if shrink > 1 else None
        self.shrunk_norm = nn.LayerNorm(width) if shrink > 1 else None
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.depthwise = nn.Conv2d(4 * width, 4 * width, 3, padding=1, groups=4 * width)

    def forward(self, x, height, width):
        queries = self.norm1(x)
        keys = queries
        if self.shrink is not None:
            keys = self.shrunk_norm(as_tokens(self.shrink(as_map(queries, height, width))))
        x = x + self.attention(queries, context=keys)
        inner = as_tokens(self.depthwise(as_map(self.up(self.norm2(x)), height, width)))
        return x + self.down(functional.gelu(inner))


class Segformer(nn.Module):
    """B0: four stages of two blocks; the head adds up their maps at a quarter of the image."""

    WIDTHS, HEADS, SHRINKS = (32, 64, 160, 256), (1, 2, 5, 8), (8, 4, 2, 1)

    def __init__(self, classes=150, head=256):
        super().__init__()
        before, self.patches, self.norms, self.stages, self.ends = 3, *(nn.ModuleList() for _ in range(4))
        for index, width in enumerate(self.WIDTHS):
            kernel, stride = (7, 4) if index == 0 else (3, 2)
            self.patches.append(nn.Conv2d(before, width, kernel, stride, kernel // 2))
            self.norms.append(nn.LayerNorm(width))
            blocks = (MixBlock(width, self.HEADS[index], self.SHRINKS[index]) for _ in range(2))
            self.stages.append(nn.ModuleList(blocks))
            self.ends.append(nn.LayerNorm(width))
            before = width
        self.to_head = nn.ModuleList(nn.Linear(width, head) for width in self.WIDTHS)
        self.fuse = nn.Sequential(nn.Conv2d(4 * head, head, 1, bias=False), nn.BatchNorm2d(head), nn.ReLU())
        self.classify = nn.Conv2d(head, classes, 1)

    def forward(self, x):
        maps = []
        for patch, norm, blocks, end, to_head in zip(self.patches, self.norms, self.stages, self.ends, self.to_head):
            x = patch(x)
            height, width = x.shape[2:]
            x = norm(as_tokens(x))
            for block in blocks:
                x = block(x, height, width)
            x = as_map(end(x), height, width)
            small = as_map(to_head(as_tokens(x)), height, width)
            size = maps[0].shape[2:] if maps else small.shape[2:]
            maps.append(functional.interpolate(small, size=size, mode="bilinear", align_corners=False))
        return self.classify(self.fuse(torch.cat(maps[::-1], 1)))


@net("segformer_b0")
def _():
    return Net(Segformer(), images(512))
