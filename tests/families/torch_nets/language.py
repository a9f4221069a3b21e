"""Language models: BERT, GPT-2, T5, LLaMA; and CLIP."""
import math

import torch
from torch import nn

from torch_nets.base import Attention, Block, net

FUSED = {"": [], "fused": ["--transformerFuse"]}


class Bert(nn.Module):
    def __init__(self, width=32, words=90):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(32, width)
        self.kinds = nn.Embedding(2, width)
        self.norm = nn.LayerNorm(width)
        self.blocks = nn.ModuleList(Block(width, 4, nn.GELU(), before=False) for _ in range(2))
        self.pooler = nn.Linear(width, width)
        self.register_buffer("place", torch.arange(32).unsqueeze(0))

    def forward(self, input_ids, attention_mask, token_type_ids):
        place = self.place[:, :input_ids.shape[1]]
        x = self.norm(self.words(input_ids) + self.places(place) + self.kinds(token_type_ids))
        mask = (1.0 - attention_mask[:, None, None, :].to(x.dtype)) * -1e4
        for block in self.blocks:
            x = block(x, mask)
        return x, torch.tanh(self.pooler(x[:, 0]))


def words(count, *shape):
    return torch.randint(0, count, shape)


@net("bert", "encoder", forms=FUSED, dynamic={name: {0: "batch", 1: "length"} for name in
                                              ("input_ids", "attention_mask", "token_type_ids")})
def _():
    mask = torch.ones(2, 14, dtype=torch.int64)
    mask[1, 9:] = 0
    return Bert(), {"": {"input_ids": words(90, 2, 14), "attention_mask": mask,
                         "token_type_ids": (torch.arange(14) > 6).long().repeat(2, 1)}}, ["states", "pooled"]


class NewGelu(nn.Module):
    def forward(self, x):
        return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))


class Gpt(nn.Module):
    def __init__(self, width=32, count=90):
        super().__init__()
        self.words, self.places = nn.Embedding(count, width), nn.Embedding(32, width)
        self.blocks = nn.ModuleList(Block(width, 4, NewGelu()) for _ in range(2))
        self.norm = nn.LayerNorm(width)
        self.register_buffer("mask", torch.full((32, 32), -1e4).triu(1))

    def forward(self, ids):
        length = ids.shape[1]
        x = self.words(ids) + self.places(torch.arange(length).unsqueeze(0))
        for block in self.blocks:
            x = block(x, self.mask[:length, :length])
        return torch.matmul(self.norm(x), self.words.weight.t())


@net("gpt2", "decoder", forms=FUSED, dynamic={"ids": {1: "length"}})
def _():
    return Gpt(), {"": {"ids": words(90, 1, 11)}, "short": {"ids": words(90, 1, 1)}}, ["logits"]


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(width) + 0.5)

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))


class Llama(nn.Module):
    """Blocks with rotary positions, keys and values that groups of heads share, and a gated feed-forward part."""

    def __init__(self, width=32, count=80, heads=4, groups=2):
        super().__init__()
        self.heads, self.groups, self.size = heads, groups, width // heads
        self.words, self.norm = nn.Embedding(count, width), RmsNorm(width)
        self.parts = nn.ModuleList(nn.ModuleDict({
            "attention": Attention(width, heads, False, groups), "before": RmsNorm(width), "behind": RmsNorm(width),
            "gate": nn.Linear(width, 2 * width, False), "up": nn.Linear(width, 2 * width, False),
            "down": nn.Linear(2 * width, width, False)}) for _ in range(2))
        self.register_buffer("rates", 1.0 / 10000 ** (torch.arange(0, self.size, 2) / self.size))

    @staticmethod
    def turn(x, cos, sin):
        low, high = x.chunk(2, -1)
        return x * cos + torch.cat([-high, low], -1) * sin

    def forward(self, ids, place):
        x = self.words(ids)
        angle = place.unsqueeze(-1).to(x.dtype) * self.rates
        angle = torch.cat([angle, angle], -1).unsqueeze(1)
        cos, sin = angle.cos(), angle.sin()
        hidden = place.unsqueeze(1).unsqueeze(1) > place.unsqueeze(1).unsqueeze(3)
        mask = torch.zeros_like(hidden, dtype=x.dtype).masked_fill(hidden, -1e4)
        for part in self.parts:
            a, y = part["attention"], part["before"](x)
            q = self.turn(a.split(a.q(y), self.heads), cos, sin)
            k = self.turn(a.split(a.k(y), self.heads // self.groups), cos, sin)
            v = a.split(a.v(y), self.heads // self.groups)
            k, v = (t.unsqueeze(2).expand(-1, -1, self.groups, -1, -1).reshape(t.shape[0], self.heads, -1, self.size)
                    for t in (k, v))
            x = x + a.join(q, k, v, mask)
            y = part["behind"](x)
            x = x + part["down"](nn.functional.silu(part["gate"](y)) * part["up"](y))
        return torch.matmul(self.norm(x), self.words.weight.t())


@net("llama", "grouped", dynamic={"ids": {1: "length"}, "place": {1: "length"}})
def _():
    return Llama(), {"": {"ids": words(80, 1, 10), "place": torch.arange(10).unsqueeze(0)}}, ["logits"]


class T5(nn.Module):
    """An encoder layer and a decoder layer with relative positions in buckets, without scaled scores."""

    def __init__(self, width=24, count=70, heads=4):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.words, self.bias = nn.Embedding(count, width), nn.Embedding(16, heads)
        self.attentions = nn.ModuleList(Attention(width, heads, False) for _ in range(3))
        self.norms = nn.ModuleList(RmsNorm(width) for _ in range(6))
        self.feeds = nn.ModuleList(nn.Sequential(nn.Linear(width, 2 * width, False), nn.ReLU(),
                                                 nn.Linear(2 * width, width, False)) for _ in range(2))

    @staticmethod
    def bucket(distance):
        """Near places have their own buckets, far ones share them by the logarithm of their distance."""
        side = (distance > 0).long() * 8
        distance = distance.abs()
        far = 4 + (torch.log(distance.clamp(min=1).float() / 4) / math.log(16 / 4) * 4).long()
        return side + torch.where(distance < 4, distance, far.clamp(max=7))

    def attend(self, at, x, context, bias=None):
        a = self.attentions[at]
        q, k, v = a.split(a.q(x), self.heads), a.split(a.k(context), self.heads), a.split(a.v(context), self.heads)
        scores = torch.matmul(q, k.transpose(3, 2))
        scores = scores if bias is None else scores + bias
        mixed = torch.matmul(scores.softmax(-1), v)
        return a.out(mixed.transpose(1, 2).reshape(x.shape[0], -1, self.heads * self.size))

    def forward(self, source, target):
        n, m = source.shape[1], target.shape[1]
        bias = self.bias(self.bucket(torch.arange(n).unsqueeze(0) - torch.arange(n).unsqueeze(1))).permute(2, 0, 1)
        x = self.words(source)
        y = self.norms[0](x)
        x = x + self.attend(0, y, y, bias.unsqueeze(0))
        x = self.norms[2](x + self.feeds[0](self.norms[1](x)))
        z = self.words(target)
        y = self.norms[3](z)
        mask = torch.full((m, m), -1e4, dtype=x.dtype).triu(1)
        z = z + self.attend(1, y, y, mask)
        z = z + self.attend(2, self.norms[4](z), x)
        return self.norms[5](z + self.feeds[1](z))


@net("t5", "encoder_decoder")
def _():
    return T5(), {"": {"source": words(70, 1, 13), "target": words(70, 1, 6)}}, ["states"]


class QuickGelu(nn.Module):
    def forward(self, x):
        return x * torch.sigmoid(1.702 * x)


class Clip(nn.Module):
    def __init__(self, width=32, count=60):
        super().__init__()
        self.patch, self.whole = nn.Conv2d(3, width, 8, 8, bias=False), nn.Parameter(torch.randn(width) * 0.3)
        self.areas = nn.Parameter(torch.randn(17, width) * 0.3)
        self.words, self.places = nn.Embedding(count, width), nn.Parameter(torch.randn(12, width) * 0.3)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
        self.sight, self.text = (nn.ModuleList(Block(width, 4, QuickGelu()) for _ in range(1)) for _ in range(2))
        self.sight_out, self.text_out = nn.Linear(width, 24, False), nn.Linear(width, 24, False)
        self.register_buffer("mask", torch.full((12, 12), -1e4).triu(1))

    def forward(self, pixels, ids):
        x = self.patch(pixels).flatten(2).transpose(1, 2)
        x = torch.cat([self.whole.expand(x.shape[0], 1, -1), x], 1) + self.areas
        x = self.norms[0](x)
        for block in self.sight:
            x = block(x)
        image = self.sight_out(self.norms[1](x[:, 0]))
        y = self.words(ids) + self.places
        for block in self.text:
            y = block(y, self.mask)
        y = self.norms[2](y)
        text = self.text_out(y[torch.arange(y.shape[0]), ids.argmax(-1)])
        image, text = (t / t.norm(dim=-1, keepdim=True) for t in (image, text))
        return torch.matmul(image, text.t()) * 14.3, image, text


@net("clip", "both_towers", forms=FUSED)
def _():
    ids = words(58, 3, 12)
    ids[torch.arange(3), torch.tensor([11, 5, 8])] = 59
    return Clip(), {"": {"pixels": torch.rand(2, 3, 32, 32), "ids": ids}}, ["similarity", "image", "text"]
