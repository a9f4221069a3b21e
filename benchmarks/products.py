#!/usr/bin/env python3
"""Matrix products of floats against OpenBLAS (numpy's) and ONNX Runtime, one thread, a table of shapes.

    python3 benchmarks/products.py --library build/release/libmnn_c.so

A product is rows x K by a constant K x N, as in a fully connected layer: K and N are those of transformers and of the
last layers of other nets, rows from 1 to 4,096. Each shape becomes an ONNX net of one MatMul, and a .mnn of that by the
official converter. --random draws other shapes. All three run in one process, in bursts of about 50 ms in shuffled
order; times are those of the process on the CPU. The figure is the median over rounds of the paired ratio ours / other
of burst medians: below 1 ours is faster. OpenBLAS gets its right side unpacked and packs it on every call, as for
numpy's users.

Needs the packages MNN, onnx, onnxruntime and numpy, whose OpenBLAS it times. OPENBLAS_CORETYPE=Haswell with --isa avx2
compares kernels of AVX2.
"""

import os

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"  # read when numpy is imported

import numpy as np  # noqa: E402
from engines import onnxruntime  # noqa: E402
from harness import one_operator  # noqa: E402

ROWS = (1, 8, 49, 64, 128, 197, 512, 1024, 4096)
SIDES = ((64, 64), (256, 256), (384, 1536), (512, 2048), (768, 768), (768, 3072), (3072, 768), (2048, 1000))
TOLERANCE = 1e-5  # relative to the largest element


class Blas:
    version = "numpy " + np.__version__

    def __init__(self, options):
        pass

    def load(self, product):
        self.left, self.right = product.inputs["a"], product.right
        self.result = np.zeros_like(product.outputs["c"])

    def set_inputs(self):
        pass

    def run(self):
        np.dot(self.left, self.right, out=self.result)

    def results(self):
        return [self.result]


def product(folder, rows, inner, columns):
    from onnx import helper

    draw = np.random.default_rng(rows * 31 + inner * 7 + columns)
    right = draw.standard_normal((inner, columns)).astype(np.float32)
    left = draw.standard_normal((rows, inner)).astype(np.float32)
    exact = (left.astype(np.float64) @ right.astype(np.float64)).astype(np.float32)
    made = one_operator.Problem(folder, left, exact, TOLERANCE)
    made.right = right
    made.write(helper.make_node("MatMul", ["a", "b"], ["c"]), {"b": right})
    return made


def parse():
    parser = one_operator.parser(__doc__)
    parser.add_argument("--rows", help="only these, separated by commas")
    parser.add_argument("--random", type=int, default=0, help="so many random shapes in place of the table")
    args = parser.parse_args()
    try:
        args.rows = [int(count) for count in args.rows.split(",")] if args.rows else list(ROWS)
    except ValueError:
        parser.error("--rows wants numbers separated by commas")
    if min(args.rows) < 1:
        parser.error("--rows are at least 1")
    if args.random < 0:
        parser.error("--random is at least 0")
    one_operator.check(parser, args)
    return args


def random_shapes(args):
    """Returns shapes whose extents are spread evenly over their logarithms, odd ones included, up to a second each."""
    draw = np.random.default_rng(args.seed)
    shapes = []
    while len(shapes) < args.random:
        extents = np.exp(draw.uniform(np.log([1, 16, 16]), np.log([4096, 4096, 4096]))).astype(int)
        if 1e5 <= np.prod(extents, dtype=float) <= 5e9:
            shapes.append(tuple(int(extent) for extent in extents))
    return shapes


def main():
    args = parse()
    table = one_operator.Table(
        args, {"OpenBLAS": Blas, "ONNX Runtime": onnxruntime.Engine}, f"{'rows':>5} {'K':>5} {'N':>5}"
    )
    shapes = random_shapes(args) if args.random else [(rows, *sides) for sides in SIDES for rows in args.rows]
    for rows, inner, columns in shapes:
        table.row(
            f"{rows:5} {inner:5} {columns:5}",
            2.0 * rows * inner * columns,
            lambda folder, shape=(rows, inner, columns): product(folder, *shape),
        )
    table.finish()


if __name__ == "__main__":
    main()
