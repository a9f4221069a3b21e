"""Transformers over pictures and diffusion: SegFormer, Swin, a UNet with cross attention."""
import math

import torch
from torch import nn
from torch.nn.functional import interpolate

from torch_nets.base import Attention, net


class ReducedBlock(nn.Module):
    """SegFormer's layer: keys and values from a smaller map, a depthwise convolution between the two products."""

    def __init__(self, width, heads, ratio):
        super().__init__()
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(width) for _ in range(3))
        self.attention, self.reduce = Attention(width, heads), nn.Conv2d(width, width, ratio, ratio)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.mix = nn.Conv2d(2 * width, 2 * width, 3, padding=1, groups=2 * width)

    def forward(self, x, height, width):
        y = self.norm1(x)
        small = self.reduce(y.transpose(1, 2).reshape(y.shape[0], -1, height, width)).flatten(2).transpose(1, 2)
        x = x + self.attention(y, self.norm3(small))
        y = self.up(self.norm2(x))
        y = self.mix(y.transpose(1, 2).reshape(y.shape[0], -1, height, width)).flatten(2).transpose(1, 2)
        return x + self.down(nn.functional.gelu(y))


class SegFormer(nn.Module):
    def __init__(self, classes=4):
        super().__init__()
        self.patch1, self.patch2 = nn.Conv2d(3, 16, 7, 4, 3), nn.Conv2d(16, 32, 3, 2, 1)
        self.norms = nn.ModuleList(nn.LayerNorm(w) for w in (16, 16, 32, 32))
        self.block1, self.block2 = ReducedBlock(16, 1, 4), ReducedBlock(32, 2, 2)
        self.wide1, self.wide2 = nn.Linear(16, 24), nn.Linear(32, 24)
        self.fuse = nn.Sequential(nn.Conv2d(48, 24, 1, bias=False), nn.BatchNorm2d(24), nn.ReLU(),
                                  nn.Conv2d(24, classes, 1))

    def stage(self, x, patch, norm, block, last):
        x = patch(x)
        height, width = x.shape[2:]
        tokens = last(block(norm(x.flatten(2).transpose(1, 2)), height, width))
        return tokens, tokens.transpose(1, 2).reshape(tokens.shape[0], -1, height, width)

    def forward(self, image):
        tokens1, x = self.stage(image, self.patch1, self.norms[0], self.block1, self.norms[1])
        shape = x.shape
        tokens2, y = self.stage(x, self.patch2, self.norms[2], self.block2, self.norms[3])
        a = self.wide1(tokens1).transpose(1, 2).reshape(shape[0], -1, shape[2], shape[3])
        b = self.wide2(tokens2).transpose(1, 2).reshape(shape[0], -1, y.shape[2], y.shape[3])
        b = interpolate(b, size=shape[2:], mode="bilinear", align_corners=False)
        logits = self.fuse(torch.cat([b, a], 1))
        return interpolate(logits, scale_factor=4.0, mode="bilinear", align_corners=False)


@net("segformer", "two_stages", dynamic={"image": {2: "height", 3: "width"}})
def _():
    runs = {"": {"image": torch.rand(1, 3, 64, 48)}, "wider": {"image": torch.rand(1, 3, 32, 96)}}
    return SegFormer(), runs, ["logits"]


class SwinBlock(nn.Module):
    """Attention inside windows, which are shifted by half of their side in every other layer."""

    def __init__(self, width, heads, side, window, shift):
        super().__init__()
        self.heads, self.window, self.shift, self.side = heads, window, shift, side
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.feed = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.table = nn.Parameter(torch.randn((2 * window - 1) ** 2, heads) * 0.3)
        at = torch.stack(torch.meshgrid(torch.arange(window), torch.arange(window), indexing="ij")).flatten(1)
        apart = at[:, :, None] - at[:, None, :] + window - 1
        self.register_buffer("index", (apart[0] * (2 * window - 1) + apart[1]).flatten())
        area = torch.zeros(1, side, side, 1)
        cuts = (slice(0, -window), slice(-window, -shift or None), slice(-shift or side, None))
        for i, rows in enumerate(cuts):
            for j, columns in enumerate(cuts):
                area[:, rows, columns] = 3 * i + j
        area = self.part(area).squeeze(-1)
        self.register_buffer("mask", (area.unsqueeze(1) != area.unsqueeze(2)).float() * -100.0)

    def part(self, x):
        n, w = self.side // self.window, self.window
        return x.view(-1, n, w, n, w, x.shape[-1]).permute(0, 1, 3, 2, 4, 5).reshape(-1, w * w, x.shape[-1])

    def forward(self, x):
        n, w, width = self.side // self.window, self.window, x.shape[-1]
        y = self.norm1(x)
        y = torch.roll(y, (-self.shift, -self.shift), (1, 2)) if self.shift else y
        y = self.part(y)
        q, k, v = self.qkv(y).view(-1, w * w, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        scores = torch.matmul(q * (width // self.heads) ** -0.5, k.transpose(-2, -1))
        scores = scores + self.table[self.index].view(w * w, w * w, -1).permute(2, 0, 1).unsqueeze(0)
        if self.shift:
            scores = scores.view(-1, n * n, self.heads, w * w, w * w) + self.mask.unsqueeze(1).unsqueeze(0)
            scores = scores.view(-1, self.heads, w * w, w * w)
        y = self.out(torch.matmul(scores.softmax(-1), v).transpose(1, 2).reshape(-1, w * w, width))
        y = y.view(-1, n, n, w, w, width).permute(0, 1, 3, 2, 4, 5).reshape(-1, self.side, self.side, width)
        y = torch.roll(y, (self.shift, self.shift), (1, 2)) if self.shift else y
        x = x + y
        return x + self.feed(self.norm2(x))


class Swin(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.patch, self.norm = nn.Conv2d(3, 16, 4, 4), nn.LayerNorm(16)
        self.first = nn.ModuleList(SwinBlock(16, 2, 16, 4, shift) for shift in (0, 2))
        self.merge_norm, self.merge = nn.LayerNorm(64), nn.Linear(64, 32, bias=False)
        self.second = nn.ModuleList(SwinBlock(32, 4, 8, 4, shift) for shift in (0, 2))
        self.last, self.head = nn.LayerNorm(32), nn.Linear(32, classes)

    def forward(self, image):
        x = self.norm(self.patch(image).permute(0, 2, 3, 1))
        for block in self.first:
            x = block(x)
        x = torch.cat([x[:, 0::2, 0::2], x[:, 1::2, 0::2], x[:, 0::2, 1::2], x[:, 1::2, 1::2]], -1)
        x = self.merge(self.merge_norm(x))
        for block in self.second:
            x = block(x)
        return self.head(self.last(x).mean((1, 2)))


@net("swin", "shifted")
def _():
    return Swin(), {"": {"image": torch.rand(1, 3, 64, 64)}}, ["scores"]


class ResidualBlock(nn.Module):
    def __init__(self, inputs, outputs, time):
        super().__init__()
        self.norm1, self.conv1 = nn.GroupNorm(4, inputs), nn.Conv2d(inputs, outputs, 3, padding=1)
        self.norm2, self.conv2 = nn.GroupNorm(4, outputs), nn.Conv2d(outputs, outputs, 3, padding=1)
        self.time = nn.Linear(time, outputs)
        self.past = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

    def forward(self, x, time):
        y = self.conv1(nn.functional.silu(self.norm1(x)))
        y = y + self.time(nn.functional.silu(time))[:, :, None, None]
        return self.past(x) + self.conv2(nn.functional.silu(self.norm2(y)))


class Gated(nn.Module):
    """GEGLU: one half of a product gates the other."""

    def __init__(self, width):
        super().__init__()
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        value, gate = self.up(x).chunk(2, -1)
        return self.down(value * nn.functional.gelu(gate))


class SpatialTransformer(nn.Module):
    def __init__(self, width, context):
        super().__init__()
        self.norm = nn.GroupNorm(4, width, eps=1e-6)
        self.first, self.last = nn.Conv2d(width, width, 1), nn.Conv2d(width, width, 1)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
        self.own, self.cross, self.feed = Attention(width, 4), Attention(width, 4), Gated(width)
        self.wide = nn.Linear(context, width)

    def forward(self, x, context):
        batch, channels, height, width = x.shape
        y = self.first(self.norm(x)).permute(0, 2, 3, 1).reshape(batch, height * width, channels)
        y = y + self.own(self.norms[0](y))
        y = y + self.cross(self.norms[1](y), self.wide(context))
        y = y + self.feed(self.norms[2](y))
        return x + self.last(y.reshape(batch, height, width, channels).permute(0, 3, 1, 2))


class DiffusionUnet(nn.Module):
    def __init__(self, width=12, context=24):
        super().__init__()
        self.width = width
        self.time = nn.Sequential(nn.Linear(width, 32), nn.SiLU(), nn.Linear(32, 32))
        self.first, self.down = nn.Conv2d(4, width, 3, padding=1), nn.Conv2d(width, width, 3, 2, 1)
        self.res1, self.res2 = ResidualBlock(width, width, 32), ResidualBlock(width, 2 * width, 32)
        self.middle, self.res3 = SpatialTransformer(2 * width, context), ResidualBlock(2 * width, width, 32)
        self.up, self.res4 = nn.Conv2d(width, width, 3, padding=1), ResidualBlock(2 * width, width, 32)
        self.norm, self.last = nn.GroupNorm(4, width), nn.Conv2d(width, 4, 3, padding=1)

    def forward(self, sample, step, context):
        half = self.width // 2
        rates = torch.exp(-math.log(10000) * torch.arange(half, dtype=sample.dtype) / half)
        angle = step[:, None].to(sample.dtype) * rates
        time = self.time(torch.cat([angle.cos(), angle.sin()], -1))
        a = self.res1(self.first(sample), time)
        b = self.middle(self.res2(self.down(a), time), context)
        b = self.up(interpolate(self.res3(b, time), scale_factor=2.0, mode="nearest"))
        return self.last(nn.functional.silu(self.norm(self.res4(torch.cat([b, a], 1), time))))


@net("diffusion", "unet")
def _():
    return DiffusionUnet(), {"": {"sample": torch.randn(2, 4, 16, 16), "step": torch.tensor([17, 801]),
                                  "context": torch.randn(2, 7, 24)}}, ["noise"]
