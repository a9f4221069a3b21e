"""Reduction: every code with every type over ranks and sets of axes; ArgMax, ArgMin and TopKV2."""
import numpy as np

from generator.forms.common import INTEGERS, axis_name, draw, form, ints, name_of
from generator.reduction import CODES

SETS = {"rank1": ((7,), (0,), False), "rank2_first": ((3, 5), (0,), True), "rank2_last": ((3, 5), (-1,), False),
        "rank3_middle": ((2, 3, 5), (-2,), False), "rank4_apart": ((2, 3, 2, 4), (0, 2), False),
        "rank4_plane": ((2, 3, 2, 4), (2, 3), True), "rank5_apart": ((2, 1, 3, 2, 2), (1, -1), False),
        "rank6_three": ((1, 2, 2, 1, 3, 2), (0, 2, -1), True), "all": ((2, 3, 2), (0, 1, 2), False),
        "ones": ((1, 1, 1), (0, 2), False), "no_rows": ((0, 3), (1,), False)}


def code(n, operation, truth, dtype, names):
    for name in names:
        shape, axes, keep = SETS[name]
        x = draw(n, dtype, shape, 0 if dtype == np.uint8 else -3, 4)
        main = {"operation": operation, "keepDims": keep}
        listed = name.startswith("rank4")  # axes as an input, and as a parameter
        inputs = [n.feed(x, f"x_{name}_{name_of(dtype)}")] + ([ints(n, *axes)] if listed else [])
        y = n.op("Reduction", inputs, "ReductionParam", main if listed else {**main, "dim": list(axes)})
        want = truth(x.astype(np.float64 if dtype == np.float32 else np.int64), axis=axes, keepdims=keep)
        want = np.trunc(want) if operation == "MEAN" and dtype != np.float32 else want
        n.expect(f"{name}_{name_of(dtype)}", y, np.asarray(want).astype(dtype))


def integers(n, operation, truth):
    for dtype in INTEGERS:
        code(n, operation, truth, dtype, ("rank2_last", "rank3_middle", "rank6_three"))


for operation_code, operation_truth in CODES.items():
    form(f"reduction__{operation_code.lower()}_float32", code, operation_code, operation_truth, np.float32, SETS)
    form(f"reduction__{operation_code.lower()}_integers", integers, operation_code, operation_truth)


def each_axis(n, rank):
    shape = (2, 3, 1, 2, 2, 3)[:rank]
    x = draw(n, np.float32, shape)
    feed = n.feed(x, "x")
    for axis in range(-rank, rank):
        keep = axis % 2 == 0
        y = n.op("Reduction", [feed], "ReductionParam", {"operation": "SUM", "dim": [axis], "keepDims": keep})
        n.expect(axis_name(axis) + "_keep" * keep, y, x.astype(np.float64).sum(axis, keepdims=keep))


def arg(n, kind, plan):
    for rank, dtype in plan:
        shape = (3, 2, 4, 1, 3, 2)[:rank]
        x = n.random.permutation(int(np.prod(shape))).reshape(shape)
        x = (x - (0 if dtype == np.uint8 else 70)).astype(dtype)
        feed = n.feed(x, f"rank{rank}_{name_of(dtype)}")
        for axis in sorted({0, rank // 2, -1}):
            y = n.op(kind, [feed], "ArgMax", {"axis": axis})
            truth = x.argmax(axis) if kind == "ArgMax" else x.argmin(axis)
            n.expect(f"rank{rank}_{axis_name(axis)}_{name_of(dtype)}", y, np.asarray(truth).astype(np.int32))


def arg_ties(n, kind):
    """The first of equal elements; infinities, negative zeros."""
    for name, x in (("float32", np.array([[2, 1, 2, 1], [-0.0, 0.0, -0.0, 0.0], [-3, -np.inf, np.inf, np.inf]], np.float32)),
                    ("int32", np.array([[7, 7, -7, -7], [0, 0, 0, 0]], np.int32)), ("row", np.full((1, 37), 3, np.float32))):
        y = n.op(kind, [n.feed(x, f"x_{name}")], "ArgMax", {"axis": 1})
        n.expect(name, y, (x.argmax(1) if kind == "ArgMax" else x.argmin(1)).astype(np.int32))


def top_k(n, largest, plan):
    for rank, dtype in plan:
        shape = (5, 3, 2, 2, 3)[:rank]
        x = n.random.permutation(int(np.prod(shape))).reshape(shape)
        x = (x - (0 if dtype == np.uint8 else 30)).astype(dtype)
        feed = n.feed(x, f"rank{rank}_{name_of(dtype)}")
        for axis in sorted({0, -1}):
            k = min(3, shape[axis])
            outputs = n.op("TopKV2", [feed, n.const(np.int32(k)), n.const(np.int32(axis))], "TopKV2", {"largest": largest},
                           count=2)
            order = np.argsort(-x.astype(np.int64) if largest else x.astype(np.int64), axis, kind="stable")
            order = order.take(range(k), axis)
            n.expect(f"rank{rank}_{axis_name(axis)}_{name_of(dtype)}_values", outputs[0], np.take_along_axis(x, order, axis))
            n.expect(f"rank{rank}_{axis_name(axis)}_{name_of(dtype)}_positions", outputs[1], order.astype(np.int32))


for of_rank in range(1, 7):
    form(f"reduction__each_axis_rank{of_rank}", each_axis, of_rank)
PLANS = {"float32": tuple((rank, np.float32) for rank in (1, 2, 3, 5)),
         "integers": tuple((rank, dtype) for dtype in INTEGERS for rank in (1, 3))}  # ranks and types
for plan_name, of_plan in PLANS.items():
    form(f"search__arg_max_{plan_name}", arg, "ArgMax", of_plan)
    form(f"search__arg_min_{plan_name}", arg, "ArgMin", of_plan)
    form(f"search__largest_{plan_name}", top_k, True, of_plan)
    form(f"search__smallest_{plan_name}", top_k, False, of_plan)
form("search__arg_max_ties", arg_ties, "ArgMax")
form("search__arg_min_ties", arg_ties, "ArgMin")
