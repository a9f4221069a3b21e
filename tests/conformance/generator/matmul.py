"""Matrix products."""
import numpy as np

from generator.net import array, cases
from generator.wire_net import wire_cases


@cases("matmul__dynamic", seed="matmul_dynamic", tolerance=1e-5)
def _(n):
    for name, a, b in (("2d", (5, 7), (7, 3)), ("2d_odd", (17, 33), (33, 19)), ("row", (1, 9), (9, 6)),
                       ("column", (6, 9), (9, 1)), ("batched", (2, 3, 5, 4), (2, 3, 4, 6)),
                       ("batch_broadcast", (2, 1, 5, 4), (3, 4, 6)), ("rank3_2d", (3, 5, 4), (4, 6)),
                       ("2d_rank3", (5, 4), (3, 4, 6)), ("one", (1, 1), (1, 1)), ("outer", (7, 1), (1, 5)),
                       ("vector_matrix", (7,), (7, 3)), ("matrix_vector", (5, 7), (7,)),
                       ("batch_vector", (2, 5, 7), (7,))):
        n.out(name, "MatMul", n.x(*a, name=f"a_{name}"), n.x(*b, name=f"b_{name}"))
    a, b = n.x(2, 6, 5, name="at"), n.x(2, 7, 5, name="bt")
    n.out("transposed_right", "MatMul", a, n.op("Transpose", b, perm=[0, 2, 1]))
    n.out("transposed_left", "MatMul", n.op("Transpose", a, perm=[0, 2, 1]), n.x(2, 6, 4, name="ct"))


@cases("matmul__vectors", seed="matmul_vectors")
def _(n):
    """The official runtime crashes here."""
    a, b = n.x(9), n.x(9)
    dot = n.data[a].astype(np.float64) @ n.data[b].astype(np.float64)
    n.out("dot", "MatMul", a, b, truth=np.array(dot))


@cases("matmul__wide", seed="matmul_wide")
def _(n):
    n.out("tall", "MatMul", n.x(35, 65), n.x(65, 37))
    n.out("deep", "MatMul", n.x(3, 515), n.x(515, 5))
    n.out("batch", "MatMul", n.x(2, 1, 18, 21), n.x(2, 1, 21, 17))


@cases("matmul__constant", seed="matmul_constant")
def _(n):
    x = n.x(3, 4, 17)
    n.out("rank3", "MatMul", x, n.floats(17, 9))
    n.out("rank3_bias", "Add", n.op("MatMul", x, n.floats(17, 5)), n.floats(5))
    n.out("left_constant", "MatMul", n.floats(6, 4), x)
    n.out("batched_constant", "MatMul", x, n.floats(3, 17, 2))
    n.out("rank2", "MatMul", n.x(1, 65), n.floats(65, 31))


@cases("matmul__gemm", seed="gemm")
def _(n):
    x = n.x(5, 13)
    n.out("plain", "Gemm", x, n.floats(13, 7), n.floats(7))
    n.out("trans_b", "Gemm", x, n.floats(7, 13), n.floats(7), transB=1)
    n.out("alpha_beta", "Gemm", x, n.floats(7, 13), n.floats(7), transB=1, alpha=0.5, beta=2.0)
    n.out("no_bias", "Gemm", x, n.floats(13, 4))
    y = n.x(13, 5)
    n.out("trans_a", "Gemm", y, n.x(13, 6, name="wa"), n.x(6, name="ba"), transA=1)
    w, b = n.x(13, 3, name="w"), n.x(5, 3, name="b")
    n.out("dynamic", "Gemm", x, w, b)
    n.out("dynamic_trans", "Gemm", x, n.x(3, 13, name="wt"), n.x(3, name="bt"), transB=1, alpha=1.5)


@cases("matmul__einsum", seed="einsum")
def _(n):
    a, b = n.x(2, 3, 4, 5), n.x(2, 3, 6, 5)
    n.out("attention", "Einsum", a, b, equation="bhqd,bhkd->bhqk")
    n.out("transpose", "Einsum", a, equation="abcd->dcba")
    n.out("sum", "Einsum", a, equation="abcd->ac")


@cases("matmul__attention", seed="attention")
def _(n):
    x = n.input(n.floats(2, 5, 12), shape=["n", "s", 12])
    w = lambda: (n.floats(12, 12) / 4).astype(np.float32)
    shape = n.op("Shape", x)
    heads = n.op("Concat", n.op("Slice", shape, array(0), array(2)), array(3, 4), axis=0)
    q, k, v = (n.op("Transpose", n.op("Reshape", n.op("Add", n.op("MatMul", x, w()), n.floats(12)), heads),
                    perm=[0, 2, 1, 3]) for _ in range(3))
    scores = n.op("Mul", n.op("MatMul", q, n.op("Transpose", k, perm=[0, 1, 3, 2])), np.float32(0.5))
    mixed = n.op("Transpose", n.op("MatMul", n.op("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
    n.out("y", "Add", n.op("MatMul", n.op("Reshape", mixed, shape), w()), x)


@wire_cases("matmul__empty")
def _(n):
    """Extents of 0 with NumPy's meaning: a sum of no products is 0, or the bias."""
    def product(name, a, b, bias=None, kind="MatMul"):
        inputs = [n.feed(n.floats(*a)), n.feed(n.floats(*b))]
        value = np.matmul(np.zeros(a), np.zeros(b))
        if bias is not None:
            inputs.append(n.feed(bias))
            value = value + bias
        n.expect(name, n.op(kind, inputs, kind if kind == "MatMul" else "BatchMatMulParam", {}), value)

    product("inner", (3, 0), (0, 4))
    product("inner_bias", (3, 0), (0, 4), bias=n.floats(4))
    product("inner_batch", (2, 3, 0), (2, 0, 4), kind="BatchMatMul")
    product("rows", (0, 3), (3, 4))
    product("columns", (2, 3), (3, 0))
    product("batch", (0, 2, 3), (3, 4))
    product("vectors", (0,), (0,))
    product("vector_matrix", (0,), (0, 4))


@wire_cases("matmul__ranks")
def _(n):
    """Vectors against matrices and batches of them, with transpositions, with NumPy's meaning."""
    def product(name, a, b, adj_x=False, adj_y=False, kind="BatchMatMul"):
        x, y = n.floats(*a), n.floats(*b)
        main = {"adjX": adj_x, "adjY": adj_y} if kind == "BatchMatMul" else {"transposeA": adj_x, "transposeB": adj_y}
        left = x.swapaxes(-1, -2) if adj_x and x.ndim > 1 else x
        right = y.swapaxes(-1, -2) if adj_y and y.ndim > 1 else y
        z = n.op(kind, [n.feed(x), n.feed(y)], "BatchMatMulParam" if kind == "BatchMatMul" else kind, main)
        n.expect(name, z, np.matmul(left.astype(np.float64), right.astype(np.float64)))

    product("vectors", (5,), (5,))
    product("vectors_matmul", (5,), (5,), kind="MatMul")
    product("vector_batch", (5,), (2, 3, 5, 4))
    product("batch_vector", (2, 3, 4, 5), (5,))
    product("vector_batch_transposed", (5,), (2, 4, 5), adj_y=True)
    product("both_transposed", (2, 5, 3), (2, 4, 5), adj_x=True, adj_y=True)
    product("broadcast", (2, 1, 3, 5), (3, 5, 4))
    product("broadcast_left", (3, 5), (2, 3, 4, 5), adj_y=True)
    product("broadcast_left_transposed", (5, 3), (2, 1, 5, 4), adj_x=True, kind="MatMul")


@wire_cases("matmul__inner_product")
def _(n):
    """The axes from the given one on form the rows (Caffe)."""
    def case(name, shape, axis=1, outputs=3, bias=True):
        x = n.floats(*shape)
        first = axis % len(shape)
        inner = int(np.prod(shape[first:]))
        w, b = n.floats(outputs, inner), n.floats(outputs)
        main = {"outputCount": outputs, "weightSize": w.size, "weight": w.reshape(-1).tolist(), "axis": axis}
        if bias:
            main.update(biasTerm=1, bias=b.tolist())
        y = n.op("InnerProduct", [n.feed(x)], "InnerProduct", main)
        flat = x.astype(np.float64).reshape(*shape[:first], inner)
        n.expect(name, y, flat @ w.astype(np.float64).T + (b if bias else 0))

    case("rank2", (4, 7))
    case("rank4", (2, 3, 2, 4))
    case("rank4_no_bias", (1, 5, 1, 1), bias=False)
    case("rank3_last", (2, 3, 5), axis=2)
    case("rank4_negative", (2, 3, 2, 4), axis=-2)
    case("no_rows", (0, 3, 2))


@wire_cases("matmul__inner_product_rows")
def _(n):
    """InnerProduct of old files: x W^T + b."""
    x, w, b = n.floats(3, 37), n.floats(5, 37), n.floats(5)
    table = {"outputCount": 5, "biasTerm": 1, "weightSize": w.size, "weight": w.reshape(-1).tolist(), "bias": b.tolist()}
    truth = x.astype(np.float64) @ w.T.astype(np.float64)
    feed = n.feed(x, "x")
    n.expect("biased", n.op("InnerProduct", [feed], "InnerProduct", table), (truth + b).astype(np.float32))
    plain = {**table, "biasTerm": 0, "bias": [0] * 5}
    n.expect("plain", n.op("InnerProduct", [feed], "InnerProduct", plain), truth.astype(np.float32))


@wire_cases("matmul__batch_mat_mul")
def _(n):
    a, b = n.floats(2, 3, 5, 7), n.floats(3, 7, 4)
    left, right = n.feed(a, "a"), n.feed(b, "b")
    n.expect("plain", n.op("BatchMatMul", [left, right], "BatchMatMulParam", {}),
             (a.astype(np.float64) @ b).astype(np.float32))
    c = n.feed(n.floats(2, 3, 4, 7), "c")
    n.expect("adjoint", n.op("BatchMatMul", [left, c], "BatchMatMulParam", {"adjY": True}),
             (a.astype(np.float64) @ n.inputs["c"].swapaxes(-1, -2)).astype(np.float32))
    d = n.feed(n.floats(3, 5, 2), "d")
    n.expect("both", n.op("BatchMatMul", [left, d], "BatchMatMulParam", {"adjX": True}),
             (a.swapaxes(-1, -2).astype(np.float64) @ n.inputs["d"]).astype(np.float32))
