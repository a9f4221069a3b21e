"""Normalisations and scales per channel, over ranks."""
import numpy as np

from generator.forms.common import axis_name, draw, form
from generator.group_norm import group_norm
from generator.layer_norm import layer_norm

SHAPES = {"rank2": (3, 5), "rank3": (2, 3, 7), "rank4": (2, 5, 3, 2), "rank5": (1, 3, 2, 2, 3), "one_channel": (2, 1, 3, 3),
          "one_element": (1, 3, 1, 1), "wide": (1, 17, 2, 2), "empty": (0, 3, 2, 2)}


def per_channel(values, rank):
    return values.astype(np.float64).reshape(-1, *[1] * (rank - 2))


def scale(n, biased):
    for name, shape in SHAPES.items():
        x, s, b = draw(n, np.float32, shape), n.floats(shape[1]), n.floats(shape[1])
        main = {"channels": shape[1], "scaleData": s.tolist(), **({"biasData": b.tolist()} if biased else {})}
        y = n.op("Scale", [n.feed(x)], "Scale", main)
        rank = len(shape)
        n.expect(name, y, x * per_channel(s, rank) + (per_channel(b, rank) if biased else 0))


def batch_norm(n, epsilon):
    for name, shape in SHAPES.items():
        x, slope, mean, bias = draw(n, np.float32, shape), *(n.floats(shape[1]) for _ in range(3))
        var = n.floats(shape[1], low=0.2, high=2)
        main = {"channels": shape[1], "epsilon": epsilon, "slopeData": slope.tolist(), "meanData": mean.tolist(),
                "varData": var.tolist(), "biasData": bias.tolist()}
        y = n.op("BatchNorm", [n.feed(x)], "BatchNorm", main)
        s, m, v, b = (per_channel(p, len(shape)) for p in (slope, mean, var, bias))
        n.expect(name, y, s * (x - m) / np.sqrt(v + np.float64(np.float32(epsilon))) + b)


def instance_norm(n, epsilon):
    for name, shape in SHAPES.items():
        if len(shape) < 3 or name in ("empty", "one_element"):
            continue
        x, slope, bias = draw(n, np.float32, shape), n.floats(shape[1]), n.floats(shape[1])
        main = {"channels": shape[1], "epsilon": epsilon, "slopeData": slope.tolist(), "biasData": bias.tolist()}
        y = n.op("InstanceNorm", [n.feed(x)], "BatchNorm", main)
        axes = tuple(range(2, len(shape)))
        wide = x.astype(np.float64)
        centred = wide - wide.mean(axes, keepdims=True)
        value = centred / np.sqrt((centred ** 2).mean(axes, keepdims=True) + epsilon)
        n.expect(name, y, value * per_channel(slope, len(shape)) + per_channel(bias, len(shape)))


for variant, is_biased in (("scale_bias", True), ("scale_only", False)):
    form(f"scale__{variant}_ranks", scale, is_biased)
for variant, small in (("1e5", 1e-5), ("1", 1.0)):
    form(f"scale__batch_norm_epsilon_{variant}", batch_norm, small)
    form(f"scale__instance_norm_epsilon_{variant}", instance_norm, small)


def layer(n, rank, rms, affine):
    x = draw(n, np.float32, (2, 3, 2, 4, 3, 2)[:rank])
    feed = n.feed(x, "x")
    for axis in range(rank):
        for name, axes in ((f"from_axis{axis}", tuple(range(axis, rank))),
                           (f"only_{axis_name(axis - rank)}", (axis - rank,))):
            size = int(np.prod([x.shape[a] for a in axes]))
            gamma, beta = (n.floats(size), n.floats(size)) if affine else (None, None)
            main = {"axis": list(axes), "epsilon": 1e-5, "useRMSNorm": rms}
            if affine:
                main.update(gamma=gamma.tolist(), beta=beta.tolist())
            n.expect(name, n.op("LayerNorm", [feed], "LayerNorm", main), layer_norm(x, axes, 1e-5, rms, gamma, beta))


for of_rank in range(1, 6):
    form(f"layer_norm__rank{of_rank}", layer, of_rank, False, True, seed=f"norm__layer_norm_rank{of_rank}")
    if of_rank % 2 == 0:
        form(f"layer_norm__plain_rank{of_rank}", layer, of_rank, False, False, seed=f"norm__layer_norm_plain_rank{of_rank}")
        form(f"layer_norm__rms_rank{of_rank}", layer, of_rank, True, True, seed=f"norm__rms_norm_rank{of_rank}")


def layer_groups(n):
    """Groups of channels, without axes."""
    for groups in (2, 3, 6):
        x = draw(n, np.float32, (2, 6, 3, 2))
        y = n.op("LayerNorm", [n.feed(x)], "LayerNorm", {"group": groups, "epsilon": 1e-5})
        n.expect(f"groups{groups}", y, group_norm(x, groups, 1e-5))


def groups_of(n, silu):
    for groups in (1, 2, 3, 4, 6, 12):
        x, gamma, beta = draw(n, np.float32, (2, 12, 2, 3)), n.floats(12), n.floats(12)
        main = {"group": groups, "epsilon": 1e-5, "bSwish": int(silu), "gamma": gamma.tolist(), "beta": beta.tolist()}
        y = n.op("GroupNorm", [n.feed(x)], "GroupNorm", main)
        n.expect(f"groups{groups}", y, group_norm(x, groups, 1e-5, gamma, beta, None, silu))


def local_response(n, region):
    for size, alpha, beta, bias in ((1, 0.5, 1, 1), (3, 1e-1, 0.75, 1), (5, 1, 0.5, 2), (7, 0.3, 2, 1)):
        x = draw(n, np.float32, (2, 6, 5, 4))
        wide, half = x.astype(np.float64), size // 2
        total = np.zeros_like(wide)
        if region:
            padded = np.pad(wide ** 2, ((0, 0), (0, 0), (half, half), (half, half)))
            for i in range(size):
                for j in range(size):
                    total += padded[:, :, i:i + 5, j:j + 4] / size ** 2
        else:
            padded = np.pad(wide ** 2, ((0, 0), (half, half), (0, 0), (0, 0)))
            for i in range(size):
                total += padded[:, i:i + 6] / size
        main = {"regionType": region, "localSize": size, "alpha": alpha, "beta": beta, "bias": bias}
        n.expect(f"size{size}", n.op("LRN", [n.feed(x)], "LRN", main), wide / (bias + alpha * total) ** beta)


def normalize(n, across):
    for name, shape in (("plain", (2, 5, 3, 4)), ("one_channel", (1, 1, 2, 3)), ("one_pixel", (3, 7, 1, 1)),
                        ("wide", (1, 17, 2, 2))):
        x, factor = draw(n, np.float32, shape), n.floats(shape[1])
        main = {"acrossSpatial": across, "eps": 1e-6, "scale": factor.tolist()}
        y = n.op("Normalize", [n.feed(x)], "Normalize", main)
        wide = x.astype(np.float64)
        total = (wide ** 2).sum((1, 2, 3) if across else 1, keepdims=True)
        n.expect(name, y, wide * per_channel(factor, 4) / np.sqrt(total + 1e-6))


form("layer_norm__groups", layer_groups, seed="norm__layer_norm_groups")
form("group_norm__groups", groups_of, False)
form("group_norm__groups_silu", groups_of, True)
form("lrn__across", local_response, 0, seed="norm__lrn_across")
form("lrn__within", local_response, 1, seed="norm__lrn_within")
form("normalize__pixel", normalize, 0, seed="norm__normalize_pixel")
form("normalize__image", normalize, 1, seed="norm__normalize_image")
