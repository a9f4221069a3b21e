"""The shared parts of the nets in torch: their registry, the seeding of weights, and attention as exporters write
it."""

import torch
from torch import nn

NETS = {}
CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.ConvTranspose2d)
BATCH_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)


class Net:
    """A module, the function that returns its inputs for a batch as a tuple, and the names of inputs and outputs.
    dynamo: the net is exported by the newer of torch's exporters, whose recurrent layers the converter for .mnn does
    not read."""

    def __init__(self, module, sample, inputs=("input",), outputs=("output",), *, dynamo=False):
        self.dynamo = dynamo
        self.module, self.sample, self.inputs, self.outputs = module, sample, list(inputs), list(outputs)


def net(name):
    """Registers the function that builds the Net of this name."""

    def register(build):
        NETS[name] = build
        return build

    return register


def images(side, channels=3):
    return lambda batch: (torch.randn(batch, channels, side, side),)


def tokens(length, words):
    """Returns the numbers of random tokens; 0 is reserved for padding."""
    return lambda batch: (torch.randint(1, words, (batch, length), dtype=torch.int32),)


def seed_weights(module):
    for part in module.modules():
        if isinstance(part, CONVOLUTIONS):
            nn.init.kaiming_normal_(part.weight, nonlinearity="relu")
        elif isinstance(part, nn.Linear):
            nn.init.normal_(part.weight, std=part.in_features**-0.5)
        elif isinstance(part, BATCH_NORMS):
            nn.init.uniform_(part.weight, 0.8, 1.2)
            # With biases around zero, each norm with its ReLU would enlarge rounding errors by a fifth, which is
            # 10,000-fold over all layers.
            nn.init.normal_(part.bias, mean=1.0, std=0.1)
        elif isinstance(getattr(part, "layer_scale", None), nn.Parameter):
            # ConvNeXt begins training with 1e-6, where no branch would count
            nn.init.uniform_(part.layer_scale, 0.1, 0.3)
        if isinstance(part, (*CONVOLUTIONS, nn.Linear)) and part.bias is not None:
            nn.init.normal_(part.bias, std=0.05)
    for part in module.modules():
        if hasattr(part, "settle"):
            part.settle()  # sets the weights that the rules above do not fit


def settle_batch_norms(net):
    """Sets the norms' statistics to those that the seeded weights produce, so that activations keep their range."""
    norms = [part for part in net.module.modules() if isinstance(part, BATCH_NORMS)]
    for norm in norms:
        norm.momentum = None  # the average over all passes
        norm.reset_running_stats()
        norm.train()
    if norms:
        for _ in range(2):
            net.module(*net.sample(4))
    net.module.eval()


class Attention(nn.Module):
    """Attention with several heads. kv_heads: fewer heads of keys and values, each shared by a group of queries."""

    def __init__(self, width, heads, *, size=None, kv_heads=None, bias=True, key_bias=True, scale=None):
        super().__init__()
        self.heads, self.kv_heads, self.size = heads, kv_heads or heads, size or width // heads
        self.scale = self.size**-0.5 if scale is None else scale
        self.query = nn.Linear(width, self.heads * self.size, bias)
        self.key = nn.Linear(width, self.kv_heads * self.size, bias and key_bias)
        self.value = nn.Linear(width, self.kv_heads * self.size, bias)
        self.out = nn.Linear(self.heads * self.size, width, bias)

    def split(self, x, heads):
        return x.view(x.shape[0], x.shape[1], heads, self.size).transpose(1, 2)

    def repeat(self, x):
        groups = self.heads // self.kv_heads
        if groups == 1:
            return x
        batch, heads, length, size = x.shape
        return x[:, :, None].expand(batch, heads, groups, length, size).reshape(batch, self.heads, length, size)

    def turn(self, queries, keys):
        """Rotates queries and keys, in subclasses with rotary positions."""
        return queries, keys

    def forward(self, x, mask=None, context=None):
        context = x if context is None else context
        queries, keys = self.split(self.query(x), self.heads), self.split(self.key(context), self.kv_heads)
        queries, keys = self.turn(queries, keys)
        keys, values = self.repeat(keys), self.repeat(self.split(self.value(context), self.kv_heads))
        scores = torch.matmul(queries, keys.transpose(-1, -2))
        if self.scale != 1.0:
            scores = scores * self.scale
        if mask is not None:
            scores = scores + mask
        mixed = torch.matmul(torch.softmax(scores, -1), values)
        return self.out(mixed.transpose(1, 2).reshape(x.shape[0], x.shape[1], self.heads * self.size))


class Block(nn.Module):
    """A layer of an encoder with its norms before the two halves, as in most nets, or after them, as in BERT."""

    def __init__(self, attention, width, hidden, activation, *, before=True):
        super().__init__()
        self.attention, self.activation, self.before = attention, activation, before
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, hidden), nn.Linear(hidden, width)

    def feed(self, x):
        return self.down(self.activation(self.up(x)))

    def forward(self, x, mask=None):
        if self.before:
            x = x + self.attention(self.norm1(x), mask)
            return x + self.feed(self.norm2(x))
        x = self.norm1(x + self.attention(x, mask))
        return self.norm2(x + self.feed(x))


def causal_mask(length, blocked):
    """Returns a row for each query: 0 for itself and the earlier positions, `blocked` for later ones."""
    return torch.full((length, length), blocked).triu(1)
