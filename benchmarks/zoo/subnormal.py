"""Nets whose numbers become subnormal (below 1.2e-38) while they run: attention with masks, states that decay."""

import torch
from torch import nn

from torch_base import Attention, Net, causal_mask, net

TOKENS, WIDTH, HEADS = 128, 512, 8


class MaskedAttention(nn.Module):
    """One layer of attention with a fixed mask."""

    def __init__(self, mask):
        super().__init__()
        self.attention = Attention(WIDTH, HEADS)
        self.register_buffer("mask", mask)

    def forward(self, x):
        return self.attention(x, self.mask)


def texts(batch):
    return (torch.randn(batch, TOKENS, WIDTH),)


@net("causal_attention")
def _():
    return Net(MaskedAttention(causal_mask(TOKENS, torch.finfo(torch.float32).min)), texts)


@net("alibi_attention")
def _():
    """Scores fall with the distance, for each head at its own rate: weights of far tokens pass through the subnormals."""
    distance = torch.arange(TOKENS)[None, :] - torch.arange(TOKENS)[:, None]
    slopes = 2.0 ** torch.linspace(1, -2, HEADS)[:, None, None]
    mask = torch.where(distance > 0, torch.tensor(-torch.inf), slopes * distance)
    return Net(MaskedAttention(mask), texts)


class Fading(nn.Module):
    """A layer whose gate keeps three quarters of its state at each step."""

    def __init__(self, kind, width=256):
        super().__init__()
        self.cells, self.width = kind(32, width, batch_first=True), width

    def settle(self):
        """Makes the state decay when the input is zero: recurrent weights are small, and only the gate has a bias."""
        for name, value in self.cells.named_parameters():
            if name.startswith("weight"):
                nn.init.normal_(value, std=0.3 * self.width**-0.5)
            else:
                nn.init.zeros_(value)
        # torch orders the gates of a GRU as reset, update, new, and those of an LSTM as input, forget, cell, output.
        self.cells.bias_ih_l0[self.width : 2 * self.width] = 1.0

    def forward(self, x):
        return self.cells(x)[0]


def sound_then_silence(batch):
    """The state is below 1.2e-38 in about half of the 600 steps."""
    x = torch.randn(batch, 600, 32)
    x[:, 20:] = 0
    return (x,)


@net("fading_gru")
def _():
    return Net(Fading(nn.GRU), sound_then_silence)


@net("fading_lstm")
def _():
    return Net(Fading(nn.LSTM), sound_then_silence)
