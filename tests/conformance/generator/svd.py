"""Svd: singular values; vectors have no unique sign, so products of them are compared."""
import numpy as np

from generator.wire_net import wire_cases


def product(n, a, b, transpose_a=False):
    return n.op("MatMul", [a, b], "MatMul", {"transposeA": transpose_a, "transposeB": False})


def svd(n, name, x):
    rows, columns = x.shape
    w, u, vt = n.op("Svd", [n.feed(x)], count=3)
    scaled = n.op("BinaryOp", [u, w], "BinaryOp", {"opType": "MUL"})
    truth = np.linalg.svd(np.float64(x), compute_uv=False)
    n.expect(f"{name}_values", w, np.concatenate([truth, np.zeros(columns - len(truth))]))
    n.expect(f"{name}_product", product(n, scaled, vt), x)
    n.expect(f"{name}_right", product(n, vt, vt, True), np.eye(columns))
    known = np.zeros(columns)
    known[:min(rows, columns)] = 1
    n.expect(f"{name}_left", product(n, u, u, True), np.diag(known))


@wire_cases("svd__shapes", tolerance=1e-5)
def _(n):
    svd(n, "square", n.floats(5, 5))
    svd(n, "tall", n.floats(9, 4))
    svd(n, "wide", n.floats(3, 7))
    svd(n, "column", n.floats(4, 1))
    svd(n, "row", n.floats(1, 4))


@wire_cases("svd__ranks", tolerance=1e-5)
def _(n):
    svd(n, "zero", np.zeros((4, 3), np.float32))
    svd(n, "rank_1", np.outer(n.floats(5), n.floats(4)).astype(np.float32))
    svd(n, "equal", np.eye(4, dtype=np.float32) * 3)
    svd(n, "known", np.float32([[1, 2], [3, 4]]))
