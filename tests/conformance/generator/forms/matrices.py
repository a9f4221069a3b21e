"""Matrix products with every transposition, over ranks and sizes."""
import numpy as np

from generator.forms.common import draw, form

SHAPES = {"square": ((3, 3), (3, 3)), "odd": ((5, 7), (7, 3)), "row": ((1, 9), (9, 6)), "column": ((6, 9), (9, 1)),
          "outer": ((7, 1), (1, 5)), "inner": ((1, 13), (13, 1)), "one": ((1, 1), (1, 1)), "wide": ((2, 17), (17, 33))}
FEW_SHAPES = {name: SHAPES[name] for name in ("odd", "row", "column", "one")}
BATCHED = {"rank3": ((2, 3, 5), (2, 5, 4)), "rank4": ((2, 2, 3, 4), (2, 2, 4, 2)),
           "rank5": ((1, 2, 1, 3, 2), (1, 2, 1, 2, 3)),
           "broadcast": ((2, 1, 3, 4), (1, 3, 4, 2)), "left_matrix": ((3, 4), (2, 4, 5)),
           "right_matrix": ((2, 3, 4), (4, 5)),
           "empty_batch": ((0, 2, 3), (0, 3, 2))}


def product(n, kind, shapes, left, right, bias=False):
    for name, (a, b) in shapes.items():
        x, y = draw(n, np.float32, a), draw(n, np.float32, b)
        inputs = [n.feed(np.ascontiguousarray(x.swapaxes(-1, -2)) if left else x),
                  n.feed(np.ascontiguousarray(y.swapaxes(-1, -2)) if right else y)]
        truth = np.matmul(x.astype(np.float64), y.astype(np.float64))
        if bias:
            inputs.append(n.feed(n.floats(b[-1])))
            truth = truth + n.inputs[n.tensors[inputs[-1]]]
        main = {"transposeA": left, "transposeB": right} if kind == "MatMul" else {"adjX": left, "adjY": right}
        n.expect(name, n.op(kind, inputs, "MatMul" if kind == "MatMul" else "BatchMatMulParam", main), truth)


for flip_left in (False, True):
    for flip_right in (False, True):
        variant = {(False, False): "plain", (True, False): "left", (False, True): "right",
                   (True, True): "both"}[flip_left, flip_right]
        form(f"matmul__transposed_{variant}", product, "MatMul", SHAPES, flip_left, flip_right)
        form(f"matmul__transposed_{variant}_bias", product, "MatMul", FEW_SHAPES, flip_left, flip_right, True)
        form(f"matmul__batch_transposed_{variant}", product, "BatchMatMul", BATCHED, flip_left, flip_right)
        form(f"matmul__batched_matmul_{variant}", product, "MatMul", BATCHED, flip_left, flip_right)


def constant(n, right):
    """One side is a constant, as weights are."""
    for name, (a, b) in {**FEW_SHAPES, **BATCHED}.items():
        if name == "empty_batch":
            continue
        x, y = draw(n, np.float32, a), draw(n, np.float32, b)
        inputs = [n.feed(x), n.const(y)] if right else [n.const(x), n.feed(y)]
        n.expect(name, n.op("MatMul", inputs, "MatMul", {}), np.matmul(x.astype(np.float64), y.astype(np.float64)))


def inner_product(n, biased):
    for name, shape, axis, outputs in (("rank2", (3, 7), 1, 5), ("rank3", (2, 3, 5), 1, 4), ("rank3_last", (2, 3, 5), 2, 3),
                                       ("rank4", (2, 2, 3, 2), 1, 17), ("rank4_last", (2, 2, 3, 2), -1, 1),
                                       ("one", (1, 1), 1, 1)):
        x = draw(n, np.float32, shape)
        first = axis % len(shape)
        w, b = n.floats(outputs, int(np.prod(shape[first:]))), n.floats(outputs)
        main = {"outputCount": outputs, "weightSize": w.size, "weight": w.reshape(-1).tolist(), "axis": axis,
                "biasTerm": int(biased), "bias": b.tolist() if biased else [0.0] * outputs}
        rows = x.astype(np.float64).reshape(*shape[:first], -1)
        n.expect(name, n.op("InnerProduct", [n.feed(x)], "InnerProduct", main), rows @ w.T + (b if biased else 0))


def determinant(n):
    for size in range(1, 6):
        x = draw(n, np.float32, (2, size, size))
        n.expect(f"size{size}", n.op("Det", [n.feed(x)]), np.linalg.det(x.astype(np.float64)))


form("matmul__constant_right", constant, True)
form("matmul__constant_left", constant, False)
form("matmul__inner_product_bias", inner_product, True)
form("matmul__inner_product_plain", inner_product, False)
form("determinant__sizes", determinant)
