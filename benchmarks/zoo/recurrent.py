"""Recurrent nets: LSTM, GRU, and a reader of text lines that has convolutions before its LSTM."""

import torch
from torch import nn

from torch_base import Net, net


class Recurrent(nn.Module):
    """Two layers over a sequence, with scores for each step."""

    def __init__(self, kind, inputs, width, classes, both=False):
        super().__init__()
        self.cells = kind(inputs, width, num_layers=2, batch_first=True, bidirectional=both)
        self.head = nn.Linear((1 + both) * width, classes)

    def forward(self, x):
        return self.head(self.cells(x)[0])


def sequence(steps, inputs):
    return lambda batch: (torch.randn(batch, steps, inputs),)


@net("lstm_512")
def _():
    return Net(Recurrent(nn.LSTM, 256, 512, 128), sequence(64, 256))


@net("gru_512")
def _():
    return Net(Recurrent(nn.GRU, 256, 512, 128), sequence(64, 256))


def conv(inputs, outputs, pool=None):
    layers = [nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()]
    return layers + ([nn.MaxPool2d(pool, pool)] if pool else [])


class Crnn(nn.Module):
    """A line of 32 x 128 pixels becomes 32 steps, which an LSTM reads in both directions."""

    def __init__(self, classes=37):
        super().__init__()
        layers = conv(1, 64, 2) + conv(64, 128, 2) + conv(128, 256) + conv(256, 256, (2, 1)) + conv(256, 512)
        self.maps = nn.Sequential(*layers, *conv(512, 512, (2, 1)), nn.Conv2d(512, 512, (2, 1)), nn.ReLU())
        self.steps = Recurrent(nn.LSTM, 512, 256, classes, both=True)

    def forward(self, x):
        return self.steps(self.maps(x).squeeze(2).transpose(1, 2))


@net("crnn")
def _():
    return Net(Crnn(), lambda batch: (torch.randn(batch, 1, 32, 128),))
