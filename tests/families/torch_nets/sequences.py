"""Nets over sequences other than words: CRNN, WaveNet, spectrograms, Whisper."""
import math

import torch
from torch import nn
from torch.nn.functional import gelu, pad
from torch.onnx import symbolic_helper

from torch_nets.base import Attention, Block, net

LEGACY = {"": [], "own_op": ["--useOriginRNNImpl"]}


class Crnn(nn.Module):
    """Convolutions, then a recurrent layer in both directions over the columns: text in a line."""

    def __init__(self, cell):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                                  nn.Conv2d(12, 20, 3, padding=1), nn.BatchNorm2d(20), nn.ReLU(),
                                  nn.MaxPool2d((2, 1)), nn.Conv2d(20, 16, (4, 2), padding=(0, 1)), nn.ReLU())
        self.first = cell(16, 16, bidirectional=True)
        self.narrow = nn.Linear(32, 16)
        self.second = cell(16, 16, bidirectional=True)
        self.last = nn.Linear(32, 20)

    def forward(self, x):
        y = self.body(x).squeeze(2).permute(2, 0, 1)
        y = self.second(self.narrow(self.first(y)[0]))[0]
        return torch.log_softmax(self.last(y), 2)


@net("crnn", "lstm", forms=LEGACY)
def _():
    return Crnn(nn.LSTM), {"": {"line": torch.rand(1, 1, 16, 48)}}, ["log_probabilities"]


@net("crnn", "gru", forms=LEGACY)
def _():
    return Crnn(nn.GRU), {"": {"line": torch.rand(1, 1, 16, 48)}}, ["log_probabilities"]


class WaveNet(nn.Module):
    """Causal dilated convolutions with gates, residuals and skips."""

    def __init__(self, width=16, layers=5):
        super().__init__()
        self.first = nn.Conv1d(1, width, 1)
        self.gates = nn.ModuleList(nn.Conv1d(width, 2 * width, 2, dilation=2 ** i) for i in range(layers))
        self.mixes = nn.ModuleList(nn.Conv1d(width, 2 * width, 1) for _ in range(layers))
        self.last = nn.Sequential(nn.ReLU(), nn.Conv1d(width, width, 1), nn.ReLU(), nn.Conv1d(width, 32, 1))

    def forward(self, x):
        x, total = self.first(x), None
        for i, (gate, mix) in enumerate(zip(self.gates, self.mixes)):
            a, b = gate(pad(x, (2 ** i, 0))).chunk(2, 1)
            out, skip = mix(torch.tanh(a) * torch.sigmoid(b)).chunk(2, 1)
            x, total = x + out, skip if total is None else total + skip
        return self.last(total).softmax(1)


@net("wavenet", "causal", dynamic={"wave": {2: "samples"}})
def _():
    return WaveNet(), {"": {"wave": torch.rand(1, 1, 150) - 0.5}}, ["probabilities"]


def stft(g, signal, size, hop, *others):
    """aten::stft as the operator of ONNX, which has frames before frequencies; PyTorch 1.13 has no rule for it."""
    numbers = (symbolic_helper._get_const(v, "i", "n") for v in (hop, size))
    step, length = (g.op("Constant", value_t=torch.tensor(v)) for v in numbers)
    window = others[1]
    found = g.op("STFT", signal, step, window, length, onesided_i=1)
    return g.op("Transpose", found, perm_i=[0, 2, 1, 3])


torch.onnx.register_custom_op_symbolic("aten::stft", stft, 17)


class Spectrogram(nn.Module):
    """The front end of speech nets: a windowed STFT, power, mel bands, logarithm, and a convolution over it."""

    def __init__(self, size=64, hop=16, bands=12):
        super().__init__()
        self.size, self.hop = size, hop
        self.register_buffer("window", torch.hann_window(size))
        self.register_buffer("bands", torch.rand(bands, size // 2 + 1))
        self.net = nn.Sequential(nn.Conv1d(bands, 16, 3, padding=1), nn.ReLU(), nn.Conv1d(16, 8, 3, 2))

    def forward(self, wave):
        parts = torch.stft(wave, self.size, self.hop, window=self.window, center=False, onesided=True,
                           return_complex=False)
        power = parts.pow(2).sum(-1)
        mel = torch.log(torch.matmul(self.bands, power).clamp(min=1e-6))
        return mel, self.net(mel).transpose(1, 2)


@net("audio", "stft")
def _():
    return Spectrogram(), {"": {"wave": torch.rand(1, 800) - 0.5}}, ["mel", "features"]


class ConvolvedSpectrogram(Spectrogram):
    """The same transform as a convolution with sines, as nets for runtimes without STFT have it."""

    def __init__(self):
        super().__init__()
        turns = torch.outer(torch.arange(self.size // 2 + 1.0), torch.arange(float(self.size))) / self.size
        turns = turns * 2 * math.pi
        self.register_buffer("kernel", (torch.cat([turns.cos(), -turns.sin()]) * self.window).unsqueeze(1))

    def forward(self, wave):
        wave = pad(wave.unsqueeze(1), (self.size // 2, self.size // 2), mode="reflect")
        real, imaginary = torch.conv1d(wave, self.kernel, stride=self.hop).chunk(2, 1)
        mel = torch.log(torch.matmul(self.bands, real ** 2 + imaginary ** 2).clamp(min=1e-6))
        return mel, self.net(mel).transpose(1, 2)


@net("audio", "convolved")
def _():
    return ConvolvedSpectrogram(), {"": {"wave": torch.rand(1, 800) - 0.5}}, ["mel", "features"]


class WhisperEncoder(nn.Module):
    """Two convolutions over the spectrogram, then a transformer."""

    def __init__(self, width=32):
        super().__init__()
        self.first, self.second = nn.Conv1d(20, width, 3, padding=1), nn.Conv1d(width, width, 3, 2, 1)
        self.register_buffer("position", torch.randn(30, width) * 0.3)
        self.blocks = nn.ModuleList(Block(width, 4, nn.GELU()) for _ in range(2))
        self.norm = nn.LayerNorm(width)

    def forward(self, mel):
        x = gelu(self.second(gelu(self.first(mel)))).transpose(1, 2)
        x = x + self.position
        for block in self.blocks:
            x = block(x)
        return self.norm(x)


@net("whisper", "encoder")
def _():
    return WhisperEncoder(), {"": {"mel": torch.rand(1, 20, 60)}}, ["states"]


class WhisperDecoder(nn.Module):
    """A step with the keys and values of the previous words, which it returns together with its own."""

    def __init__(self, width=32, words=60):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(40, width)
        self.own, self.cross = Attention(width, 4), Attention(width, 4)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(4))
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, tokens, past_keys, past_values, states):
        past, count = past_keys.shape[2], tokens.shape[1]
        place = torch.arange(count) + past
        x = self.words(tokens) + self.places(place)
        y = self.norms[0](x)
        keys = torch.cat([past_keys, self.own.split(self.own.k(y), 4)], 2)
        values = torch.cat([past_values, self.own.split(self.own.v(y), 4)], 2)
        hidden = torch.arange(count + past).unsqueeze(0) > place.unsqueeze(1)
        mask = torch.zeros_like(hidden, dtype=x.dtype).masked_fill(hidden, -1e4)
        x = x + self.own.join(self.own.split(self.own.q(y), 4), keys, values, mask)
        x = x + self.cross(self.norms[1](x), states)
        x = x + self.down(gelu(self.up(self.norms[2](x))))
        return torch.matmul(self.norms[3](x), self.words.weight.t()), keys, values


@net("whisper", "decoder", dynamic={"tokens": {1: "count"}, "past_keys": {2: "past"}, "past_values": {2: "past"}})
def _():
    def run(count, past):
        return {"tokens": torch.randint(0, 60, (1, count)), "past_keys": torch.randn(1, 4, past, 8),
                "past_values": torch.randn(1, 4, past, 8), "states": torch.randn(1, 30, 32)}
    return WhisperDecoder(), {"step": run(1, 6), "prompt": run(4, 0)}, ["logits", "keys", "values"]
