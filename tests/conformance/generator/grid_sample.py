"""GridSample: pictures and volumes at the positions of a grid."""
import itertools

import numpy as np

from generator.net import cases


def sampled(x, grid, mode="bilinear", padding="zeros", align=0):
    """GridSample in double precision over any number of axes. A NaN of the grid means -1, as in PyTorch."""
    x, grid = x.astype(np.float64), grid.astype(np.float64)
    extents = np.array(x.shape[2:][::-1], np.float64)
    place = np.where(np.isnan(grid), -1, grid) + 1
    place = place / 2 * (extents - 1) if align else (place * extents - 1) / 2
    if padding == "reflection":
        low, span = (0.0, extents - 1) if align else (-0.5, extents)
        with np.errstate(all="ignore"):
            rest, turns = np.fmod(np.abs(place - low), span), np.floor(np.abs(place - low) / span)
            place = np.where(span > 0, np.where(turns % 2 == 0, rest, span - rest) + low, 0)
        place = np.nan_to_num(place)
    if padding != "zeros":
        place = place.clip(0, extents - 1)
    place = place.clip(-2, extents + 1)
    base = np.rint(place) if mode == "nearest" else np.floor(place)
    out = np.zeros(x.shape[:2] + grid.shape[1:-1])
    batch = np.arange(x.shape[0]).reshape((-1,) + (1,) * (grid.ndim - 2))
    for corner in itertools.product((0,) if mode == "nearest" else (0, 1), repeat=x.ndim - 2):
        at = base + corner
        weight = np.prod(np.where(np.array(corner) == 1, place - base, 1 - place + base), -1) if mode != "nearest" else 1
        inside = np.all((at >= 0) & (at <= extents - 1), -1)
        index = at.clip(0, extents - 1).astype(int)
        axes = tuple(index[..., i] for i in reversed(range(x.ndim - 2)))
        values = np.moveaxis(x[(batch, slice(None)) + axes], -1, 1)
        out += np.where(inside, weight, 0)[:, None] * np.where(inside[:, None], values, 0)
    return out


def sample(n, name, x, grid, mode, padding, align, **more):
    n.out(name, "GridSample", x, grid, mode=mode, padding_mode=padding, align_corners=align,
          truth=sampled(n.data[x], n.data[grid], {"linear": "bilinear"}.get(mode, mode), padding, align), **more)


def all_modes(n, x, grid, modes=("bilinear", "nearest")):
    for mode in modes:
        for padding in ("zeros", "border", "reflection"):
            for align in (0, 1):
                sample(n, f"{mode}_{padding}_{align}", x, grid, mode, padding, align)


@cases("grid_sample__modes", seed="grid_sample", opset=16)
def _(n):
    all_modes(n, n.x(2, 5, 4, 6), n.x(2, 2, 5, 2, name="grid", low=-1.2, high=1.2))


@cases("grid_sample__volume", opset=20)
def _(n):
    all_modes(n, n.x(2, 3, 3, 4, 5), n.x(2, 1, 2, 5, 3, name="grid", low=-1.3, high=1.3), ("linear", "nearest"))


@cases("grid_sample__channels", opset=16)
def _(n):
    for channels in (1, 4, 8, 9, 35):
        x, grid = n.x(2, channels, 3, 3), n.x(2, 1, 7, 2, low=-1.1, high=1.1)
        sample(n, f"channels{channels}", x, grid, "bilinear", "zeros", 0)


@cases("grid_sample__many_outputs", opset=16)
def _(n):
    """More outputs than one piece of work has, far outside of the picture too."""
    grid = n.x(1, 9, 29, 2, name="grid", low=-3, high=3)
    few, many = n.x(1, 1, 5, 3), n.x(1, 3, 5, 4)
    for name, x in (("few", few), ("many", many)):
        for padding in ("zeros", "reflection"):
            sample(n, f"{name}_{padding}", x, grid, "bilinear", padding, 0)


@cases("grid_sample__special_positions", opset=16)
def _(n):
    """NaN, infinity, huge values, halves, and pictures with an extent of 1."""
    values = np.array([np.nan, np.inf, -np.inf, 1e30, -1e30, -1, 1, 0, -0.5, 0.25, 1.25], np.float32)
    y, x = np.meshgrid([0.0, -1.0, np.nan], values, indexing="ij")
    grid = n.input(np.stack([x, y], -1)[None].astype(np.float32), "grid")
    picture, row, pixel = n.x(1, 3, 4, 4), n.x(1, 3, 1, 5), n.x(1, 3, 1, 1)
    for mode in ("bilinear", "nearest"):
        for padding in ("zeros", "border"):
            sample(n, f"{mode}_{padding}", picture, grid, mode, padding, 0)
            sample(n, f"row_{mode}_{padding}", row, grid, mode, padding, 1)
    finite = n.input(np.where(np.isfinite(n.data["grid"]) & (np.abs(n.data["grid"]) < 1e9), n.data["grid"], -1), "finite")
    for align in (0, 1):
        sample(n, f"pixel_{align}", pixel, finite, "bilinear", "reflection", align)
        sample(n, f"row_reflection_{align}", row, finite, "bilinear", "reflection", align)


@cases("grid_sample__empty", opset=16)
def _(n):
    x = n.x(2, 3, 4, 4)
    n.out("no_points", "GridSample", x, n.input(np.zeros((2, 0, 3, 2), np.float32), shape=[2, "p", 3, 2]),
          truth=np.zeros((2, 3, 0, 3)))
    none = n.input(np.zeros((0, 3, 4, 4), np.float32), shape=["n", 3, 4, 4])
    n.out("no_batch", "GridSample", none, n.input(np.zeros((0, 2, 3, 2), np.float32), shape=["n", 2, 3, 2]),
          truth=np.zeros((0, 3, 2, 3)))
