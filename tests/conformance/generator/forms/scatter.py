"""ScatterNd and ScatterElements: every rule of combination with every type, over ranks."""
import numpy as np

from generator.forms.common import INTEGERS, TYPES, axis_name, draw, form, ints, name_of

RULES = {None: lambda a, b: b, "ADD": np.add, "SUB": np.subtract, "MUL": np.multiply, "MAXIMUM": np.maximum,
         "MINIMUM": np.minimum}
SHAPE = (4, 3, 2, 3)
PLANS = {"float32": tuple((rank, np.float32) for rank in (1, 2, 4)),
         "integers": tuple((rank, dtype) for rank, dtype in zip((1, 2, 4), INTEGERS))}  # ranks and types


def limits(dtype):
    """Integers whose products and differences stay small."""
    return (-2, 2) if dtype == np.float32 else (0, 11)


def table(rule):
    return "BinaryOp", {"opType": rule}


def unique_rows(n, shape, count, depth):
    """Different positions in the first axes."""
    flat = n.random.permutation(int(np.prod(shape[:depth])))[:count]
    return np.stack(np.unravel_index(flat, shape[:depth]), -1).astype(np.int32)


def scatter_nd(n, rule, plan):
    for rank, dtype in plan:
        shape = SHAPE[:rank]
        data = draw(n, dtype, shape, *limits(dtype))
        for depth in {1, rank}:
            rows = unique_rows(n, shape, 2, depth)
            if rule:  # a position twice: updates are applied in their order
                rows = np.concatenate([rows, rows[:1]])
            updates = draw(n, dtype, (len(rows), *shape[depth:]), *limits(dtype))
            truth = data.copy()
            for row, update in zip(rows, updates):
                truth[tuple(row)] = RULES[rule](truth[tuple(row)], update)
            inputs = [n.const(rows), n.feed(updates), ints(n, *shape), n.feed(data)]
            y = n.op("ScatterNd", inputs, *(table(rule or -1) if rule or rank > 1 else ()))
            n.expect(f"rank{rank}_depth{depth}_{name_of(dtype)}", y, truth)


def scatter_elements(n, rule, plan):
    for rank, dtype in plan:
        shape = SHAPE[:rank]
        data = draw(n, dtype, shape, *limits(dtype))
        feed = n.feed(data)
        for axis in sorted({0, -1}):
            order = np.argsort(n.random.random(shape), axis).take(range(2), axis).astype(np.int32)
            updates = draw(n, dtype, order.shape, *limits(dtype))
            truth = data.copy()
            for place in np.ndindex(order.shape):
                to = list(place)
                to[axis] = order[place]
                truth[tuple(to)] = RULES[rule](truth[tuple(to)], updates[place])
            inputs = [feed, n.feed(order), n.feed(updates), n.const(np.int32(axis))]
            y = n.op("ScatterElements", inputs, *table(rule or -1))
            n.expect(f"rank{rank}_{axis_name(axis)}_{name_of(dtype)}", y, truth)


def onto_zeros(n):
    """Without data the updates are applied to zeros."""
    for rank, dtype in enumerate(TYPES, 1):
        shape = SHAPE[:rank]
        rows = unique_rows(n, shape, 3, rank)
        updates = draw(n, dtype, (3,))
        truth = np.zeros(shape, dtype)
        truth[tuple(rows.T)] = updates
        n.expect(f"rank{rank}", n.op("ScatterNd", [n.feed(rows), n.feed(updates), ints(n, *shape)]), truth)


for code in RULES:
    for label, of_plan in PLANS.items():
        form(f"scatter__nd_{(code or 'replace').lower()}_{label}", scatter_nd, code, of_plan)
        form(f"scatter__elements_{(code or 'replace').lower()}_{label}", scatter_elements, code, of_plan)
form("scatter__nd_onto_zeros", onto_zeros)
