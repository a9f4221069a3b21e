"""Writes Parquet files of digit images: the 540 held-out ones of examples/digits, repeated with shifts and noise.

Columns: id, image (64 bytes of 0 to 16, row by row), label. Seeded, so the same number of rows gives the same table.
"""

import pathlib

import numpy as np
import pyarrow
import pyarrow.parquet

DIGITS = pathlib.Path(__file__).resolve().parent.parent / "digits"
SEED = 19


def make(count):
    """Returns the columns of `count` images."""
    random = np.random.default_rng(SEED)
    pixels = np.fromfile(DIGITS / "test_images.bin", np.uint8).reshape(-1, 8, 8)
    labels = np.fromfile(DIGITS / "test_labels.bin", np.uint8)
    which = np.arange(count) % len(labels)
    images = pixels[which].astype(np.int16)
    shifted = random.random(count) < 0.1
    images[shifted] = np.roll(images[shifted], 1, axis=2)
    images += random.integers(-1, 2, images.shape, np.int16)
    return np.arange(count), images.clip(0, 16).astype(np.uint8).reshape(count, 64), labels[which]


def write(folder, count, files):
    """Writes `count` images, split over `files` files."""
    ids, images, labels = make(count)
    for i, rows in enumerate(np.array_split(np.arange(count), files)):
        flat = pyarrow.array(images[rows].ravel())
        table = pyarrow.table(
            {"id": ids[rows], "image": pyarrow.FixedSizeListArray.from_arrays(flat, 64), "label": labels[rows]}
        )
        pyarrow.parquet.write_table(table, pathlib.Path(folder, f"images-{i:03}.parquet"))
