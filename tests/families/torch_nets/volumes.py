"""Nets over volumes: a video classifier and a 3-D U-Net."""
import torch
from torch import nn

from torch_nets.base import net


class Residual(nn.Module):
    """A factorised (2+1)-D block: planes, then time."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.body = nn.Sequential(nn.Conv3d(inputs, outputs, (1, 3, 3), (1, stride, stride), (0, 1, 1), bias=False),
                                  nn.BatchNorm3d(outputs), nn.ReLU(),
                                  nn.Conv3d(outputs, outputs, (3, 1, 1), (stride, 1, 1), (1, 0, 0), bias=False),
                                  nn.BatchNorm3d(outputs))
        self.past = nn.Sequential(nn.Conv3d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm3d(outputs))

    def forward(self, x):
        return torch.relu(self.body(x) + self.past(x))


class Video(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv3d(3, 12, 3, (1, 2, 2), 1), nn.BatchNorm3d(12), nn.Hardswish(),
                                  nn.MaxPool3d((1, 2, 2)))
        self.body = nn.Sequential(Residual(12, 16, 2), nn.Conv3d(16, 16, 3, padding=1, groups=16), nn.SiLU(),
                                  Residual(16, 24, 2))
        self.head = nn.Linear(24, 10)

    def forward(self, x):
        return self.head(self.body(self.stem(x)).mean((2, 3, 4)))


@net("cnn_3d", "video")
def _():
    return Video(), {"": {"clip": torch.rand(2, 3, 8, 24, 24)}}, ["scores"]


class Mixed(nn.Module):
    """C3D (Tran et al., arXiv 1412.0767) in small: dense kernels, pools, a linear layer over the whole volume."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv3d(3, 8, 3, padding=1), nn.LeakyReLU(0.1), nn.MaxPool3d(2),
                                  nn.Conv3d(8, 16, (3, 5, 3), padding=(1, 2, 1), dilation=1), nn.PReLU(16),
                                  nn.AvgPool3d(2), nn.Conv3d(16, 16, 3, padding=2, dilation=2), nn.Sigmoid())
        self.head = nn.Linear(16 * 2 * 4 * 4, 6)

    def forward(self, x):
        return self.head(self.body(x).flatten(1)).softmax(1)


@net("cnn_3d", "c3d")
def _():
    return Mixed(), {"": {"clip": torch.rand(1, 3, 8, 16, 16)}}, ["scores"]


class Unet(nn.Module):
    """Half of its norms are instance norms, as in medical nets. learned: up by ConvTranspose3d, else trilinear."""

    def __init__(self, learned):
        super().__init__()
        self.learned = learned

        def double(inputs, outputs):
            return nn.Sequential(nn.Conv3d(inputs, outputs, 3, padding=1), nn.InstanceNorm3d(outputs, affine=True),
                                 nn.LeakyReLU(0.01), nn.Conv3d(outputs, outputs, 3, padding=1), nn.BatchNorm3d(outputs),
                                 nn.ReLU())
        self.first, self.second, self.third = double(1, 5), double(5, 10), double(10, 12)
        self.up2, self.up1 = nn.ConvTranspose3d(12, 10, 2, 2), nn.ConvTranspose3d(10, 5, 3, 2, 1, 1)
        self.wide2, self.wide1 = nn.Conv3d(12, 10, 1), nn.Conv3d(10, 5, 1)
        self.back2, self.back1, self.last = double(20, 10), double(10, 5), nn.Conv3d(5, 3, 1)
        self.pool = nn.MaxPool3d(2)

    def grow(self, x, learned, narrow):
        if self.learned:
            return learned(x)
        return nn.functional.interpolate(narrow(x), scale_factor=2.0, mode="trilinear", align_corners=False)

    def forward(self, x):
        a = self.first(x)
        b = self.second(self.pool(a))
        c = self.third(self.pool(b))
        b = self.back2(torch.cat([b, self.grow(c, self.up2, self.wide2)], 1))
        return self.last(self.back1(torch.cat([a, self.grow(b, self.up1, self.wide1)], 1)))


@net("unet_3d", "transposed")
def _():
    return Unet(True), {"": {"scan": torch.rand(1, 1, 8, 16, 12)}}, ["logits"]


@net("unet_3d", "trilinear")
def _():
    return Unet(False), {"": {"scan": torch.rand(1, 1, 8, 16, 12)}}, ["logits"]
