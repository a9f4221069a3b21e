"""Nets that make images: super resolution, style transfer, a generator, the U-Net of a diffusion model."""

import math

import torch
from torch import nn
from torch.nn import functional

from torch_base import Net, images, net


@net("espcn_x3")
def _():
    layers = [nn.Conv2d(1, 64, 5, padding=2), nn.Tanh(), nn.Conv2d(64, 32, 3, padding=1), nn.Tanh()]
    layers += [nn.Conv2d(32, 9, 3, padding=1), nn.PixelShuffle(3)]
    return Net(nn.Sequential(*layers), images(224, channels=1))


class EdsrBlock(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1, self.conv2 = (nn.Conv2d(channels, channels, 3, padding=1) for _ in range(2))

    def forward(self, x):
        return x + 0.1 * self.conv2(torch.relu(self.conv1(x)))


class Edsr(nn.Module):
    """The baseline of EDSR: 16 blocks of 64 channels, twice the size."""

    def __init__(self, channels=64, blocks=16):
        super().__init__()
        self.head = nn.Conv2d(3, channels, 3, padding=1)
        self.body = nn.Sequential(*(EdsrBlock(channels) for _ in range(blocks)))
        self.end = nn.Conv2d(channels, channels, 3, padding=1)
        self.up = nn.Sequential(nn.Conv2d(channels, 4 * channels, 3, padding=1), nn.PixelShuffle(2))
        self.tail = nn.Conv2d(channels, 3, 3, padding=1)

    def forward(self, x):
        x = self.head(x)
        return self.tail(self.up(x + self.end(self.body(x))))


@net("edsr_x2")
def _():
    return Net(Edsr(), images(96))


class StyleConv(nn.Module):
    """Reflection padding, convolution and, except in the last one, an instance norm; first an enlargement where
    wanted."""

    def __init__(self, inputs, outputs, kernel, stride=1, *, up=1, norm=True):
        super().__init__()
        self.up, self.pad = up, nn.ReflectionPad2d(kernel // 2)
        self.conv = nn.Conv2d(inputs, outputs, kernel, stride)
        self.norm = nn.InstanceNorm2d(outputs, affine=True) if norm else None

    def forward(self, x):
        if self.up > 1:
            x = functional.interpolate(x, scale_factor=float(self.up), mode="nearest")
        x = self.conv(self.pad(x))
        return x if self.norm is None else self.norm(x)


class StyleBlock(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1, self.conv2 = StyleConv(channels, channels, 3), StyleConv(channels, channels, 3)

    def forward(self, x):
        return x + self.conv2(torch.relu(self.conv1(x)))


class Style(nn.Module):
    """Fast neural style: 9x9 at both ends, two steps down, five blocks, two steps up."""

    def __init__(self):
        super().__init__()
        self.down = nn.ModuleList([StyleConv(3, 32, 9), StyleConv(32, 64, 3, 2), StyleConv(64, 128, 3, 2)])
        self.blocks = nn.Sequential(*(StyleBlock(128) for _ in range(5)))
        self.up = nn.ModuleList([StyleConv(128, 64, 3, up=2), StyleConv(64, 32, 3, up=2)])
        self.last = StyleConv(32, 3, 9, norm=False)

    def forward(self, x):
        for layer in self.down:
            x = torch.relu(layer(x))
        x = self.blocks(x)
        for layer in self.up:
            x = torch.relu(layer(x))
        return self.last(x)


@net("style_transfer")
def _():
    return Net(Style(), images(256))


@net("dcgan")
def _():
    layers, channels = [nn.ConvTranspose2d(100, 512, 4, bias=False), nn.BatchNorm2d(512), nn.ReLU()], 512
    while channels > 64:
        layers += [nn.ConvTranspose2d(channels, channels // 2, 4, 2, 1, bias=False), nn.BatchNorm2d(channels // 2)]
        layers += [nn.ReLU()]
        channels //= 2
    layers += [nn.ConvTranspose2d(channels, 3, 4, 2, 1, bias=False), nn.Tanh()]
    return Net(nn.Sequential(*layers), images(1, channels=100))


def norm_silu(channels):
    return nn.Sequential(nn.GroupNorm(32, channels), nn.SiLU())


class TimedBlock(nn.Module):
    """Two convolutions after group norms, with the time embedding added between them."""

    def __init__(self, inputs, outputs, time):
        super().__init__()
        self.first, self.conv1 = norm_silu(inputs), nn.Conv2d(inputs, outputs, 3, padding=1)
        self.time = nn.Linear(time, outputs)
        self.second, self.conv2 = norm_silu(outputs), nn.Conv2d(outputs, outputs, 3, padding=1)
        self.skip = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

    def forward(self, x, time):
        inner = self.conv1(self.first(x)) + self.time(functional.silu(time))[:, :, None, None]
        return self.skip(x) + self.conv2(self.second(inner))


class MapAttention(nn.Module):
    """Attention of one head over all positions of a map."""

    def __init__(self, channels):
        super().__init__()
        self.norm, self.joint = nn.GroupNorm(32, channels), nn.Conv2d(channels, 3 * channels, 1)
        self.out, self.channels = nn.Conv2d(channels, channels, 1), channels

    def forward(self, x):
        queries, keys, values = self.joint(self.norm(x)).flatten(2).chunk(3, 1)
        weights = torch.softmax(torch.bmm(queries.transpose(1, 2), keys) * self.channels**-0.5, -1)
        return x + self.out(torch.bmm(values, weights.transpose(1, 2)).view(x.shape))


class DiffusionUnet(nn.Module):
    """Predicts the noise in an image of 64 x 64: three sizes, attention at the smallest one."""

    def __init__(self, width=64):
        super().__init__()
        time, wide = 4 * width, 2 * width
        self.width = width
        self.time = nn.Sequential(nn.Linear(width, time), nn.SiLU(), nn.Linear(time, time))
        self.head = nn.Conv2d(3, width, 3, padding=1)
        self.down1, self.down2 = TimedBlock(width, width, time), TimedBlock(width, wide, time)
        self.shrink1, self.shrink2 = (nn.Conv2d(c, c, 3, stride=2, padding=1) for c in (width, wide))
        self.middle1, self.middle2 = TimedBlock(wide, 2 * wide, time), TimedBlock(2 * wide, wide, time)
        self.attention = MapAttention(2 * wide)
        self.grow2, self.grow1 = nn.Conv2d(wide, wide, 3, padding=1), nn.Conv2d(wide, wide, 3, padding=1)
        self.up2, self.up1 = TimedBlock(2 * wide, wide, time), TimedBlock(wide + width, width, time)
        self.end, self.tail = norm_silu(width), nn.Conv2d(width, 3, 3, padding=1)

    def waves(self, time):
        half = self.width // 2
        angles = time[:, None] * torch.exp(torch.arange(half, dtype=time.dtype) * (-math.log(10000.0) / half))
        return torch.cat([angles.sin(), angles.cos()], 1)

    def forward(self, x, time):
        time = self.time(self.waves(time))
        full = self.down1(self.head(x), time)
        half = self.down2(self.shrink1(full), time)
        x = self.middle2(self.attention(self.middle1(self.shrink2(half), time)), time)
        x = self.grow2(functional.interpolate(x, scale_factor=2.0, mode="nearest"))
        x = self.up2(torch.cat([x, half], 1), time)
        x = self.grow1(functional.interpolate(x, scale_factor=2.0, mode="nearest"))
        return self.tail(self.end(self.up1(torch.cat([x, full], 1), time)))


@net("diffusion_unet")
def _():
    def sample(batch):
        return torch.randn(batch, 3, 64, 64), torch.randint(1, 1000, (batch,)).float()

    return Net(DiffusionUnet(), sample, inputs=("input", "time"))
