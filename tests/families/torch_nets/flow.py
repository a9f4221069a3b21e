"""Nets that sample by coordinates: RT-DETR with deformable attention, RAFT with its correlation look-up."""
import torch
from torch import nn
from torch.nn.functional import avg_pool2d, grid_sample, interpolate, relu, unfold

from torch_nets.base import Attention, Block, net


def places(height, width, like):
    y, x = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
    return torch.stack([x, y], -1).to(like.dtype)


def inverse_sigmoid(x):
    x = x.clamp(1e-4, 1 - 1e-4)
    return torch.log(x / (1 - x))


class DeformableAttention(nn.Module):
    """Every query samples points around its reference box in maps of several sizes (the formula of Deformable DETR)."""

    def __init__(self, width, heads, levels, points):
        super().__init__()
        self.heads, self.levels, self.points, self.size = heads, levels, points, width // heads
        self.offsets = nn.Linear(width, heads * levels * points * 2)
        self.weights = nn.Linear(width, heads * levels * points)
        self.value, self.out = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, query, reference, memory, shapes):
        batch, count, _ = query.shape
        value = self.value(memory).view(batch, -1, self.heads, self.size)
        offsets = self.offsets(query).view(batch, count, self.heads, self.levels, self.points, 2)
        weights = self.weights(query).view(batch, count, self.heads, -1).softmax(-1)
        box = reference[:, :, None, None, None, :]
        grids = 2 * (box[..., :2] + offsets / self.points * box[..., 2:] * 0.5) - 1
        sampled = []
        for level, part in enumerate(value.split([h * w for h, w in shapes], 1)):
            height, width = shapes[level]
            picture = part.flatten(2).transpose(1, 2).reshape(batch * self.heads, self.size, height, width)
            grid = grids[:, :, :, level].transpose(1, 2).flatten(0, 1)
            sampled.append(grid_sample(picture, grid, mode="bilinear", padding_mode="zeros", align_corners=False))
        weights = weights.transpose(1, 2).reshape(batch * self.heads, 1, count, self.levels * self.points)
        mixed = (torch.stack(sampled, -2).flatten(-2) * weights).sum(-1)
        return self.out(mixed.view(batch, self.heads * self.size, count).transpose(1, 2))


class DecoderLayer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.own, self.cross = Attention(width, 4), DeformableAttention(width, 4, 2, 3)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
        self.feed = nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width))
        self.position = nn.Sequential(nn.Linear(4, width), nn.ReLU(), nn.Linear(width, width))

    def forward(self, x, reference, memory, shapes):
        placed = x + self.position(reference)
        a = self.own
        x = self.norms[0](x + a.join(a.split(a.q(placed), 4), a.split(a.k(placed), 4), a.split(a.v(x), 4)))
        x = self.norms[1](x + self.cross(x + self.position(reference), reference, memory, shapes))
        return self.norms[2](x + self.feed(x))


class RtDetr(nn.Module):
    """A hybrid encoder, the best tokens as queries, and a decoder that refines their boxes."""

    def __init__(self, width=24, classes=5, queries=12):
        super().__init__()
        self.queries = queries
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.BatchNorm2d(16), nn.ReLU(),
                                  nn.Conv2d(16, width, 3, 4, 1), nn.BatchNorm2d(width), nn.ReLU())
        self.next = nn.Sequential(nn.Conv2d(width, width, 3, 2, 1), nn.BatchNorm2d(width), nn.SiLU())
        self.encoder, self.lateral = Block(width, 4, nn.GELU(), before=False), nn.Conv2d(2 * width, width, 1)
        self.norm, self.score, self.box = nn.LayerNorm(width), nn.Linear(width, classes), nn.Linear(width, 4)
        self.layers = nn.ModuleList(DecoderLayer(width) for _ in range(2))
        self.boxes = nn.ModuleList(nn.Linear(width, 4) for _ in range(2))
        self.classes = nn.Linear(width, classes)
        self.score.weight.data.mul_(4.0)

    def forward(self, image):
        fine = self.stem(image)
        coarse = self.next(fine)
        shape = coarse.shape
        coarse = self.encoder(coarse.flatten(2).transpose(1, 2)).transpose(1, 2).reshape(shape)
        fine = self.lateral(torch.cat([fine, interpolate(coarse, scale_factor=2.0, mode="nearest")], 1))
        shapes = [(int(m.shape[2]), int(m.shape[3])) for m in (fine, coarse)]
        memory = torch.cat([m.flatten(2).transpose(1, 2) for m in (fine, coarse)], 1)
        anchors = []
        for level, (height, width) in enumerate(shapes):
            middle = (places(height, width, image) + 0.5) / torch.tensor([width, height], dtype=image.dtype)
            anchors.append(torch.cat([middle, torch.full_like(middle, 0.1 * 2 ** level)], -1).view(1, -1, 4))
        tokens = self.norm(memory)
        score = self.score(tokens)
        _, best = torch.topk(score.max(-1)[0], self.queries, dim=1)
        reference = self.box(tokens) + inverse_sigmoid(torch.cat(anchors, 1))
        reference = reference.gather(1, best.unsqueeze(-1).expand(-1, -1, 4)).sigmoid()
        x = tokens.gather(1, best.unsqueeze(-1).expand(-1, -1, tokens.shape[-1]))
        for layer, box in zip(self.layers, self.boxes):
            x = layer(x, reference, memory, shapes)
            reference = (box(x) + inverse_sigmoid(reference)).sigmoid()
        return self.classes(x).sigmoid(), reference


@net("rt_detr", "deformable")
def _():
    return RtDetr(), {"": {"images": torch.rand(1, 3, 64, 96)}}, ["scores", "boxes"]


def encoder(width, norm):
    return nn.Sequential(nn.Conv2d(3, 16, 7, 2, 3), norm(16), nn.ReLU(), nn.Conv2d(16, width, 3, 4, 1), norm(width),
                         nn.ReLU(), nn.Conv2d(width, width, 1))


class Gru(nn.Module):
    """The separable convolutional GRU of RAFT."""

    def __init__(self, hidden, inputs):
        super().__init__()
        self.passes = nn.ModuleList(nn.ModuleList(nn.Conv2d(hidden + inputs, hidden, k, padding=p) for _ in range(3))
                                    for k, p in (((1, 5), (0, 2)), ((5, 1), (2, 0))))

    def forward(self, h, x):
        for update, reset, candidate in self.passes:
            both = torch.cat([h, x], 1)
            z, r = torch.sigmoid(update(both)), torch.sigmoid(reset(both))
            h = (1 - z) * h + z * torch.tanh(candidate(torch.cat([r * h, x], 1)))
        return h


class Raft(nn.Module):
    """Optical flow: all pairs of features correlated, looked up around the flow, which a GRU refines step by step."""

    def __init__(self, width=16, radius=2, levels=2, steps=2):
        super().__init__()
        self.radius, self.levels, self.steps, self.hidden = radius, levels, steps, 10
        self.features = encoder(width, nn.InstanceNorm2d)
        self.context = encoder(self.hidden + 8, nn.BatchNorm2d)
        window = levels * (2 * radius + 1) ** 2
        self.motion = nn.Conv2d(window + 2, 10, 3, padding=1)
        self.gru = Gru(self.hidden, 8 + 12)
        self.flow = nn.Sequential(nn.Conv2d(self.hidden, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 2, 3, padding=1))
        self.mask = nn.Conv2d(self.hidden, 9 * 64, 1)

    def look_up(self, pyramid, at):
        batch, height, width, _ = at.shape
        side = 2 * self.radius + 1
        delta = (places(side, side, at) - self.radius).view(1, side, side, 2)
        found = []
        for level, volume in enumerate(pyramid):
            middle = at.reshape(batch * height * width, 1, 1, 2) / 2 ** level + delta
            extent = torch.tensor([volume.shape[3] - 1, volume.shape[2] - 1], dtype=at.dtype)
            window = grid_sample(volume, 2 * middle / extent - 1, align_corners=True)
            found.append(window.view(batch, height, width, -1))
        return torch.cat(found, -1).permute(0, 3, 1, 2)

    def forward(self, first, second):
        a, b = self.features(torch.cat([first, second], 0)).chunk(2, 0)
        batch, channels, height, width = a.shape
        volume = torch.matmul(a.flatten(2).transpose(1, 2), b.flatten(2)) / channels ** 0.5
        pyramid = [volume.view(batch * height * width, 1, height, width)]
        for _ in range(self.levels - 1):
            pyramid.append(avg_pool2d(pyramid[-1], 2, 2))
        hidden, context = self.context(first).split([self.hidden, 8], 1)
        hidden, context = torch.tanh(hidden), relu(context)
        start = places(height, width, first).unsqueeze(0)
        at = start
        for _ in range(self.steps):
            flow = (at - start).permute(0, 3, 1, 2)
            motion = relu(self.motion(torch.cat([self.look_up(pyramid, at), flow], 1)))
            hidden = self.gru(hidden, torch.cat([context, motion, flow], 1))
            at = at + self.flow(hidden).permute(0, 2, 3, 1)
        flow = (at - start).permute(0, 3, 1, 2)
        mask = self.mask(hidden).view(batch, 1, 9, 8, 8, height, width).softmax(2)
        around = unfold(8 * flow, 3, padding=1).view(batch, 2, 9, 1, 1, height, width)
        return (mask * around).sum(2).permute(0, 1, 4, 2, 5, 3).reshape(batch, 2, 8 * height, 8 * width)


@net("raft", "small")
def _():
    return Raft(), {"": {"first": torch.rand(1, 3, 48, 64), "second": torch.rand(1, 3, 48, 64)}}, ["flow"]
