"""Nets for audio: the encoder of Whisper tiny, wav2vec 2.0."""

import torch
from torch import nn
from torch.nn import functional

from torch_base import Attention, Block, Net, net


class WhisperEncoder(nn.Module):
    """The encoder of Whisper tiny: 30 seconds as 3,000 spectra, two convolutions, four layers over 1,500 positions."""

    def __init__(self, width=384, heads=6, layers=4, bands=80, places=1500):
        super().__init__()
        self.conv1 = nn.Conv1d(bands, width, 3, padding=1)
        self.conv2 = nn.Conv1d(width, width, 3, stride=2, padding=1)
        self.places = nn.Parameter(torch.randn(places, width))
        blocks = (Block(Attention(width, heads, key_bias=False), width, 4 * width, nn.GELU()) for _ in range(layers))
        self.blocks, self.norm = nn.ModuleList(blocks), nn.LayerNorm(width)

    def forward(self, x):
        x = functional.gelu(self.conv2(functional.gelu(self.conv1(x))))
        x = x.permute(0, 2, 1) + self.places
        for block in self.blocks:
            x = block(x)
        return self.norm(x)


@net("whisper_tiny")
def _():
    return Net(WhisperEncoder(), lambda batch: (torch.randn(batch, 80, 3000),))


class Wav2Vec(nn.Module):
    """The base model's seven convolutions and its positional convolution, with six of its twelve layers."""

    KERNELS, STRIDES = (10, 3, 3, 3, 3, 2, 2), (5, 2, 2, 2, 2, 2, 2)

    def __init__(self, channels=512, width=768, heads=12, layers=6):
        super().__init__()
        inputs = [1] + [channels] * 6
        self.convs = nn.ModuleList(
            nn.Conv1d(before, channels, kernel, stride, bias=False)
            for before, kernel, stride in zip(inputs, self.KERNELS, self.STRIDES)
        )
        self.first_norm, self.norm = nn.GroupNorm(channels, channels), nn.LayerNorm(channels)
        self.project = nn.Linear(channels, width)
        self.places = nn.Conv1d(width, width, 128, padding=64, groups=16)
        self.places_norm = nn.LayerNorm(width)
        blocks = (Block(Attention(width, heads), width, 4 * width, nn.GELU(), before=False) for _ in range(layers))
        self.blocks = nn.ModuleList(blocks)

    def forward(self, x):
        x = x[:, None]
        for index, conv in enumerate(self.convs):
            x = conv(x)
            x = functional.gelu(self.first_norm(x) if index == 0 else x)
        x = self.project(self.norm(x.transpose(1, 2)))
        places = functional.gelu(self.places(x.transpose(1, 2))[:, :, :-1])
        x = self.places_norm(x + places.transpose(1, 2))
        for block in self.blocks:
            x = block(x)
        return x


@net("wav2vec2")
def _():
    return Net(Wav2Vec(), lambda batch: (torch.randn(batch, 16000),))  # one second of audio
