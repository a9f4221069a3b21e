"""ReLU and its relatives, Eltwise, Select."""
import numpy as np

from generator.forms.common import FEW, RANKED, TYPES, draw, form, name_of


def activation(n, kind, table, main, truth, shapes):
    for name, shape in shapes.items():
        x = draw(n, np.float32, shape, -4, 8)
        y = n.op(kind, [n.feed(x, f"x_{name}")], table, main)
        n.expect(name, y, np.asarray(truth(x.astype(np.float64))))


def elu(x, alpha=1.0):
    return np.where(x > 0, x, np.float32(alpha) * np.expm1(np.minimum(x, 0)))


ACTIVATIONS = {
    "relu": ("ReLU", "Relu", {"slope": 0}, lambda x: np.maximum(x, 0)),
    "relu_slope": ("ReLU", "Relu", {"slope": 0.2}, lambda x: np.where(x < 0, x * np.float32(0.2), x)),
    "relu_negative_slope": ("ReLU", "Relu", {"slope": -0.5}, lambda x: np.where(x < 0, x * -0.5, x)),
    "relu6": ("ReLU6", "Relu6", {"minValue": 0, "maxValue": 6}, lambda x: np.clip(x, 0, 6)),
    "relu6_other_limits": ("ReLU6", "Relu6", {"minValue": -1.5, "maxValue": 2.5}, lambda x: np.clip(x, -1.5, 2.5)),
    "elu": ("ELU", "ELU", {"alpha": 1}, elu),
    "elu_alpha": ("ELU", "ELU", {"alpha": 0.3}, lambda x: elu(x, 0.3)),
    "selu": ("Selu", "Selu", {"scale": 0.9, "alpha": 1.3}, lambda x: np.float32(0.9) * elu(x, 1.3)),
    "threshold": ("Threshold", "ELU", {"alpha": 0.5}, lambda x: (x > 0.5).astype(np.float64)),
}
for variant, (op, op_table, op_main, op_truth) in ACTIVATIONS.items():
    form(f"activation__{variant}_ranks", activation, op, op_table, op_main, op_truth, FEW)


def prelu(n, shared):
    for name, shape in RANKED.items():
        if len(shape) < 2:
            continue
        x, slope = draw(n, np.float32, shape), n.floats(1 if shared else shape[1])
        y = n.op("PReLU", [n.feed(x)], "PRelu", {"slopeCount": slope.size, "slope": slope.tolist()})
        factor = slope.astype(np.float64).reshape(-1, *[1] * (len(shape) - 2))
        n.expect(name, y, np.where(x < 0, x * factor, x))


form("activation__prelu_ranks", prelu, False)
form("activation__prelu_shared_ranks", prelu, True)


def eltwise(n, kind, truth):
    for name, shape in RANKED.items():
        if shape:
            parts = [draw(n, np.float32, shape) for _ in range(3)]
            y = n.op("Eltwise", [n.feed(p) for p in parts], "Eltwise", {"type": kind})
            n.expect(name, y, truth(*(p.astype(np.float64) for p in parts)))


for eltwise_kind, combine in (("PROD", lambda a, b, c: a * b * c), ("SUM", lambda a, b, c: a + b + c),
                              ("MAXIMUM", lambda a, b, c: np.maximum(np.maximum(a, b), c)),
                              ("SUB", lambda a, b, c: a - b - c)):
    form(f"binary__eltwise_{eltwise_kind.lower()}_ranks", eltwise, eltwise_kind, combine)

SELECTIONS = {
    "same": ((2, 3), (2, 3), (2, 3)), "condition_row": ((3,), (2, 3), (2, 3)), "condition_column": ((2, 1), (2, 3), (2, 3)),
    "condition_scalar": ((), (2, 3), (2, 3)), "left_scalar": ((2, 3), (), (2, 3)), "right_scalar": ((2, 3), (2, 3), ()),
    "both_scalars": ((5,), (), ()), "mutual": ((2, 1, 1), (3, 1), (4,)), "all_scalars": ((), (), ()),
    "rank6": ((2, 1, 2, 1, 2, 1), (1, 2, 1, 2, 1, 2), (2,)), "empty": ((0, 3), (1, 3), (3,)),
    "right_row": ((2, 3), (2, 3), (3,))}


def select(n, shapes):
    for dtype in TYPES:
        name = name_of(dtype)
        condition = draw(n, np.int32, shapes[0], 0, 2)
        a, b = draw(n, dtype, shapes[1]), draw(n, dtype, shapes[2])
        y = n.op("Select", [n.feed(condition, f"c_{name}"), n.feed(a, f"a_{name}"), n.feed(b, f"b_{name}")])
        n.expect(name, y, np.where(condition != 0, a, b))


for selection, three in SELECTIONS.items():
    form(f"select__{selection}", select, three)
