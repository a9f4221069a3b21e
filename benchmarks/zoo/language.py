"""Transformers for text, in the shapes of published ones: BERT, GPT-2, LLaMA, T5's encoder, CLIP's text encoder."""

import math

import torch
from torch import nn
from torch.nn import functional

from torch_base import Attention, Block, Net, causal_mask, net, tokens

MOST_NEGATIVE = torch.finfo(torch.float32).min


class Bert(nn.Module):
    """BERT base with its pooler. Tokens with the number 0 are padding, which no token attends to."""

    def __init__(self, width=768, heads=12, layers=12, words=30522, length=128):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(512, width)
        self.kind, self.norm, self.pooler = nn.Embedding(2, width), nn.LayerNorm(width), nn.Linear(width, width)
        blocks = (Block(Attention(width, heads), width, 4 * width, nn.GELU(), before=False) for _ in range(layers))
        self.blocks = nn.ModuleList(blocks)
        self.register_buffer("place", torch.arange(length)[None])

    def forward(self, ids):
        x = self.words(ids) + self.kind(torch.zeros_like(ids)) + self.places(self.place)
        x = self.norm(x)
        mask = (1.0 - (ids != 0)[:, None, None, :].to(x.dtype)) * MOST_NEGATIVE
        for block in self.blocks:
            x = block(x, mask)
        return x, torch.tanh(self.pooler(x[:, 0]))


@net("bert_base")
def _():
    def sample(batch):
        (ids,) = tokens(128, 30522)(batch)
        ids[:, 100:] = 0
        return (ids,)

    return Net(Bert(), sample, outputs=("states", "pooled"))


class NewGelu(nn.Module):
    """GPT-2's approximation of GELU, written out as its authors did."""

    def forward(self, x):
        return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))


class GptAttention(nn.Module):
    """One product computes queries, keys and values; the mask selects scores, it is not added."""

    def __init__(self, width, heads, length):
        super().__init__()
        self.heads, self.size, self.width = heads, width // heads, width
        self.joint, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.register_buffer("visible", torch.ones(length, length, dtype=torch.bool).tril()[None, None])

    def forward(self, x, _=None):
        batch, length, _ = x.shape
        parts = self.joint(x).split(self.width, 2)
        queries, keys, values = (
            part.view(batch, length, self.heads, self.size).permute(0, 2, 1, 3) for part in parts
        )
        scores = torch.matmul(queries, keys.transpose(-1, -2)) / math.sqrt(self.size)
        blocked = torch.full([], MOST_NEGATIVE, dtype=scores.dtype)
        weights = torch.softmax(torch.where(self.visible, scores, blocked), -1)
        return self.out(torch.matmul(weights, values).permute(0, 2, 1, 3).reshape(batch, length, self.width))


class Gpt(nn.Module):
    """GPT-2 small, with the scores of every token after every position."""

    def __init__(self, width=768, heads=12, layers=12, words=50257, length=64):
        super().__init__()
        self.words, self.places, self.norm = nn.Embedding(words, width), nn.Embedding(1024, width), nn.LayerNorm(width)
        blocks = (Block(GptAttention(width, heads, length), width, 4 * width, NewGelu()) for _ in range(layers))
        self.blocks = nn.ModuleList(blocks)
        self.register_buffer("place", torch.arange(length)[None])

    def settle(self):
        nn.init.normal_(self.words.weight, std=self.words.embedding_dim**-0.5)  # also the weights of the last product

    def forward(self, ids):
        x = self.words(ids) + self.places(self.place)
        for block in self.blocks:
            x = block(x)
        return functional.linear(self.norm(x), self.words.weight)


@net("gpt2_small")
def _():
    return Net(Gpt(), tokens(64, 50257))


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(width) + 0.5)

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))


class RotaryAttention(Attention):
    """Queries and keys are rotated by their position; groups of queries share keys and values."""

    def __init__(self, width, heads, kv_heads, length):
        super().__init__(width, heads, kv_heads=kv_heads, bias=False)
        rates = 10000.0 ** (-torch.arange(0, self.size, 2) / self.size)
        angles = torch.outer(torch.arange(length), rates).repeat(1, 2)[None, None]
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())

    def turn(self, queries, keys):
        def turned(x):
            half = x.shape[-1] // 2
            return x * self.cos + torch.cat((-x[..., half:], x[..., :half]), -1) * self.sin

        return turned(queries), turned(keys)


class LlamaBlock(nn.Module):
    def __init__(self, width, heads, kv_heads, hidden, length):
        super().__init__()
        self.norm1, self.norm2 = RmsNorm(width), RmsNorm(width)
        self.attention = RotaryAttention(width, heads, kv_heads, length)
        self.gate, self.up = nn.Linear(width, hidden, False), nn.Linear(width, hidden, False)
        self.down = nn.Linear(hidden, width, False)

    def forward(self, x, mask):
        x = x + self.attention(self.norm1(x), mask)
        normed = self.norm2(x)
        return x + self.down(functional.silu(self.gate(normed)) * self.up(normed))


class Llama(nn.Module):
    """LLaMA's layers at a width of 512: rotary positions, RMS norms, gated SiLU, two queries to a key."""

    def __init__(self, width=512, heads=8, kv_heads=4, hidden=1408, layers=8, words=32000, length=64):
        super().__init__()
        self.words, self.norm = nn.Embedding(words, width), RmsNorm(width)
        self.blocks = nn.ModuleList(LlamaBlock(width, heads, kv_heads, hidden, length) for _ in range(layers))
        self.head = nn.Linear(width, words, False)
        self.register_buffer("mask", causal_mask(length, MOST_NEGATIVE)[None, None])

    def forward(self, ids):
        x = self.words(ids)
        for block in self.blocks:
            x = block(x, self.mask)
        return self.head(self.norm(x))


@net("llama_512")
def _():
    return Net(Llama(), tokens(64, 32000))


class T5Block(nn.Module):
    def __init__(self, width, heads, hidden):
        super().__init__()
        self.norm1, self.norm2 = RmsNorm(width), RmsNorm(width)
        self.attention = Attention(width, heads, size=64, bias=False, scale=1.0)
        self.up, self.down = nn.Linear(width, hidden, False), nn.Linear(hidden, width, False)

    def settle(self):
        # T5 puts its scale of the scores into these weights
        nn.init.normal_(self.attention.query.weight, std=(512 * 64) ** -0.5)

    def forward(self, x, bias):
        x = x + self.attention(self.norm1(x), bias)
        return x + self.down(torch.relu(self.up(self.norm2(x))))


class T5Encoder(nn.Module):
    """The encoder of T5 small: a learned bias by distance, in buckets, in place of positions."""

    BUCKETS, FARTHEST = 32, 128

    def __init__(self, width=512, heads=8, hidden=2048, layers=6, words=32128):
        super().__init__()
        self.words, self.distances = nn.Embedding(words, width), nn.Embedding(self.BUCKETS, heads)
        self.blocks = nn.ModuleList(T5Block(width, heads, hidden) for _ in range(layers))
        self.norm = RmsNorm(width)

    def buckets(self, length):
        """Gives half of the buckets to each direction; half of those are exact, the others grow with the distance."""
        distance = torch.arange(length)[None, :] - torch.arange(length)[:, None]
        half, exact = self.BUCKETS // 2, self.BUCKETS // 4
        far = distance.abs()
        steps = torch.log(far.float().clamp(min=1) / exact) / math.log(self.FARTHEST / exact) * (half - exact)
        large = (exact + steps.long()).clamp(max=half - 1)
        return (distance > 0).long() * half + torch.where(far < exact, far, large)

    def forward(self, ids):
        x = self.words(ids)
        bias = self.distances(self.buckets(ids.shape[1])).permute(2, 0, 1)[None]
        for block in self.blocks:
            x = block(x, bias)
        return self.norm(x)


@net("t5_encoder")
def _():
    return Net(T5Encoder(), tokens(64, 32128))


class QuickGelu(nn.Module):
    def forward(self, x):
        return x * torch.sigmoid(1.702 * x)


class ClipText(nn.Module):
    """The text encoder of CLIP ViT-B/32. The token with the highest number ends the text."""

    def __init__(self, width=512, heads=8, layers=12, words=49408, length=77):
        super().__init__()
        self.words, self.norm = nn.Embedding(words, width), nn.LayerNorm(width)
        self.places = nn.Parameter(torch.randn(length, width))
        blocks = (Block(Attention(width, heads), width, 4 * width, QuickGelu()) for _ in range(layers))
        self.blocks = nn.ModuleList(blocks)
        self.project = nn.Parameter(torch.randn(width, width) * width**-0.5)
        self.register_buffer("mask", causal_mask(length, float("-inf")))

    def forward(self, ids):
        x = self.words(ids) + self.places
        for block in self.blocks:
            x = block(x, self.mask)
        x = self.norm(x)
        return x[torch.arange(x.shape[0]), ids.argmax(-1)] @ self.project


@net("clip_text")
def _():
    def sample(batch):
        (ids,) = tokens(77, 49406)(batch)
        ids[:, 0], ids[:, 20], ids[:, 21:] = 49406, 49407, 0
        return (ids,)

    return Net(ClipText(), sample)
