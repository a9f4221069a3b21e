"""Extents that the file leaves free."""
import numpy as np
from onnx import TensorProto, helper

from cases.packing import floats, own_case


def free_cases():
    """Relations that two sets of numbers for free extents satisfy by chance, or do not satisfy at all."""
    node = helper.make_node
    one = {"i1": np.array([1]), "i0": np.array([0]), "m": np.array([64])}
    # Min makes 64 of both stand-ins of the free extent, 96 and 160; the case has 7.
    nodes = [node("Shape", ["x"], ["s"]), node("Gather", ["s", "i1"], ["n"]), node("Min", ["n", "m"], ["e"]),
             node("Slice", ["x", "i0", "e", "i1"], ["c"]), node("Shape", ["c"], ["d"]), node("Concat", ["d", "i1"], ["t"], axis=0),
             node("Conv", ["c3", "w"], ["y"], pads=[1, 1])]
    nodes.insert(6, node("Reshape", ["c", "t"], ["r"]))
    nodes.insert(7, node("Transpose", ["r"], ["c3"], perm=[0, 2, 1]))
    yield own_case("clamped_length", nodes, {"x": floats(2, 7)}, one | {"w": floats(3, 1, 3)}, free=("x",))
    # The stand-in 96 is resized to 72 and padded with 24, 160 is resized to 96 without padding: both become 96.
    sizes = {"most": np.array(48., np.float32), "top": np.array(96., np.float32), "by": np.array(32), "less": np.array(31),
             "i2": np.array(2), "i3": np.array(3), "front": np.zeros(6, np.int64), "u": np.array([0]), "head": np.array([1, 1]),
             "w": floats(2, 1, 3, 3), "g": np.array([0, 1])}
    nodes = [node("Shape", ["x"], ["s"]), node("Gather", ["s", "i2"], ["h"]), node("Gather", ["s", "i3"], ["v"]),
             node("Cast", ["h"], ["hf"], to=1), node("Cast", ["v"], ["vf"], to=1), node("Min", ["hf", "vf"], ["low"]),
             node("Max", ["hf", "vf"], ["high"]), node("Div", ["most", "low"], ["r0"]), node("Div", ["top", "high"], ["r1"]),
             node("Min", ["r0", "r1"], ["r"])]
    for side in ("h", "v"):
        nodes += [node("Mul", [side + "f", "r"], [side + "m"]), node("Floor", [side + "m"], [side + "o"]),
                  node("Cast", [side + "o"], [side + "l"], to=7), node("Unsqueeze", [side + "l", "u"], [side + "n"]),
                  node("Add", [side + "n", "less"], [side + "a"]), node("Div", [side + "a", "by"], [side + "d"]),
                  node("Mul", [side + "d", "by"], [side + "q"]), node("Sub", [side + "q", side + "n"], [side + "p"])]
    nodes += [node("Concat", ["head", "hn", "vn"], ["to"], axis=0), node("Resize", ["x", "", "", "to"], ["z"], mode="linear"),
              node("Concat", ["front", "hp", "vp"], ["pads"], axis=0), node("Pad", ["z", "pads"], ["p"]),
              node("Conv", ["p", "w"], ["f"], pads=[1] * 4, strides=[2, 2]), node("Shape", ["f"], ["fs"]),
              node("Gather", ["s", "g"], ["batch"]), node("Slice", ["fs", "two", "four"], ["plane"]),
              node("ReduceProd", ["plane"], ["area"]), node("Concat", ["batch", "area"], ["shape"], axis=0),
              node("Slice", ["f", "u", "one", "one"], ["first"]), node("Reshape", ["first", "shape"], ["y"])]
    sizes |= {"two": np.array([2]), "four": np.array([4]), "one": np.array([1])}
    yield own_case("resized_and_padded", nodes, {"x": floats(1, 1, 24, 64)}, sizes, free=("x",), opset=13)
    # For both stand-ins, 96 and 160, the range has 32 numbers, of which the slice drops none; here it drops 20 of 52.
    nodes = [node("Shape", ["x"], ["s"]), node("Gather", ["s", "i1"], ["n"]), node("Sub", ["most", "n"], ["d"]), node("Max", ["d", "i0"], ["k"]),
             node("Add", ["k", "half"], ["e"]), node("Squeeze", ["e", "i0"], ["e0"]), node("Range", ["z", "e0", "o"], ["r"]),
             node("Slice", ["r", "i0", "last", "i0"], ["t"]), node("Cast", ["t"], ["y"], to=1)]
    yield own_case("slice_of_range", nodes, {"x": floats(2, 70)},
                   one | {"most": np.array([90]), "half": np.array([32]), "z": np.array(0), "o": np.array(1), "last": np.array([-32])},
                   free=("x",), opset=13)
    yield own_case("split_of_free", [node("Split", ["x", "z"], ["a", "y"], axis=1)], {"x": floats(2, 7)}, {"z": np.array([3, 4])},
                   ("a", "y"), free=("x",), opset=13)
    # With zeros and ones the result is certain; onnxruntime 1.32 gives the opposite.
    yield own_case("bernoulli", [node("Bernoulli", ["x"], ["y"], dtype=6)], {"x": np.array([[0, 1, 1], [1, 0, 0]], np.float32)}, free=("x",),
                   same=[node("Cast", ["x"], ["y"], to=6)])
    yield own_case("nms_all", [node("NonMaxSuppression", ["b", "s", "m", "t"], ["y"])],
                   {"b": np.abs(floats(1, 6, 4)), "s": np.abs(floats(1, 1, 6))}, {"m": np.array(2**63 - 1), "t": np.array([.3], np.float32)})


def guessed_cases():
    """Nets that are valid for few of the numbers that stand for free extents, or whose tables have fewer rows than those numbers."""
    node = helper.make_node
    one = {"i0": np.array([0]), "i1": np.array([1]), "one": np.array(1), "zero": np.array(0)}
    # TopK of all lengths sorts them: its k is the batch, which is free.
    nodes = [node("Shape", ["n"], ["s"]), node("TopK", ["n", "s"], ["v", "i"]), node("Cast", ["v"], ["l"], to=6),
             node("LSTM", ["x", "W", "R", "", "l"], ["", "", "c"], hidden_size=3)]
    yield own_case("lengths_by_topk", nodes, {"x": floats(5, 3, 4), "n": np.array([2, 5, 3], np.float32)},
                   {"W": floats(1, 12, 4), "R": floats(1, 12, 3)}, ("c",), free=("x", "n"))
    # Rows of a fed shape keep their type behind operators that cannot be checked.
    shape = {"t": np.array([2, 5, 3, 4])}
    nodes = [node("Reshape", ["x", "t"], ["r"]), node("Where", ["c", "z", "r"], ["w"]), node("Transpose", ["w"], ["p"], perm=[0, 2, 1, 3]),
             node("MatMul", ["p", "m"], ["y"])]
    yield own_case("where_of_fed_shape", nodes, {"x": floats(2, 60), "c": np.array([[[[True]], [[False]]] * 2 + [[[False]]]]).reshape(1, 5, 1, 1),
                                                 **shape}, {"z": np.float32(0), "m": floats(4, 6)}, free=("x", "c"))
    at = np.array([[0, 1], [1, 4]])
    nodes = [node("Reshape", ["x", "t"], ["r"]), node("ScatterND", ["r", "i", "u"], ["w"]), node("Div", ["w", "d"], ["y"])]
    yield own_case("scatter_into_fed_shape", nodes, {"x": floats(2, 60), "i": at, "u": floats(2, 3, 4), **shape}, {"d": np.float32(2)},
                   free=("x",))
    # A decoder with kept keys: positions and a causal mask are cut out of tables of 80 rows, and the length of the mask is a sum.
    nodes = [node("Shape", ["x"], ["xs"]), node("Gather", ["xs", "one"], ["n"]), node("Shape", ["k"], ["ks"]), node("Gather", ["ks", "one"], ["p"]),
             node("Add", ["n", "p"], ["t"]), node("Range", ["p", "t", "one"], ["at"]), node("Gather", ["table", "at"], ["e"]),
             node("Add", ["x", "e"], ["q"]), node("Concat", ["k", "q"], ["keys"], axis=1), node("Transpose", ["keys"], ["kt"], perm=[0, 2, 1]),
             node("MatMul", ["q", "kt"], ["s0"]), node("Unsqueeze", ["p", "i0"], ["p1"]), node("Unsqueeze", ["t", "i0"], ["t1"]),
             node("Slice", ["causal", "p1", "t1", "i0"], ["c0"]), node("Slice", ["c0", "i0", "t1", "i1"], ["c1"]),
             node("Where", ["c1", "s0", "low"], ["s1"]), node("Unsqueeze", ["m", "i1"], ["m1"]), node("Add", ["s1", "m1"], ["s2"]),
             node("Softmax", ["s2"], ["a"]), node("MatMul", ["a", "keys"], ["y"])]
    tables = {"table": floats(80, 8), "causal": np.tril(np.ones((80, 80), bool)), "low": np.float32(-100)}
    for kept in (5, 0):
        yield own_case(f"kept_keys_{kept}", nodes, {"x": floats(2, 3, 8), "m": floats(2, 3 + kept), "k": floats(2, kept, 8)}, one | tables,
                       ("y", "keys"), free={"x": (0, 1), "m": (0, 1), "k": (0, 1)})
    # Both stand-ins exceed the 80 rows of the table, so the equal extents of the slice must not count as certain.
    nodes = [node("Shape", ["x"], ["xs"]), node("Gather", ["xs", "i1"], ["n"]), node("Slice", ["table", "i0", "n", "i0"], ["t"]),
             node("Shape", ["t"], ["ts"]), node("Gather", ["ts", "zero"], ["m"]), node("Cast", ["m"], ["f"], to=1), node("Add", ["x", "f"], ["y"])]
    yield own_case("rows_of_table", nodes, {"x": floats(2, 5)}, one | {"table": floats(80, 4)}, free=("x",))
    # One branch is valid for one row alone, and its result has another rank.
    kind = TensorProto.FLOAT
    branches = [helper.make_graph([node(op, ["x", *axes], ["r"])], op, [], [helper.make_tensor_value_info("r", kind, None)])
                for op, axes in (("Squeeze", ["i1"]), ("Identity", []))]
    nodes = [node("Shape", ["x"], ["xs"]), node("Gather", ["xs", "one"], ["n"]), node("Equal", ["n", "one"], ["c"]),
             node("If", ["c"], ["b"], then_branch=branches[0], else_branch=branches[1]), node("Relu", ["b"], ["y"])]
    yield own_case("branch_for_one", nodes, {"x": floats(2, 3, 4)}, one, free=("x",))


def met_cases():
    """A constant of two batches leaves batches of 1 and 2 as the only numbers for free extents: windows with strides of
    2 make one pixel of both, which is no constant."""
    node = helper.make_node
    c = {"two": floats(2, 4, 1, 1), "W": floats(4, 4, 3, 3) / 6, "V": floats(4, 4, 3, 3) / 6,
         "z": np.array([0]), "t": np.array([2]), "f": np.array([4])}
    nodes = [node("Add", ["x", "two"], ["m"]), node("Conv", ["m", "W"], ["p"], pads=[1] * 4, strides=[2] * 2),
             node("Conv", ["p", "V"], ["q"], pads=[1] * 4, strides=[2] * 2), node("Shape", ["p"], ["ps"]),
             node("Slice", ["ps", "t", "f"], ["hw"]), node("Shape", ["q"], ["qs"]), node("Slice", ["qs", "z", "t"], ["nc"]),
             node("Concat", ["nc", "hw"], ["to"], axis=0), node("Resize", ["q", "", "", "to"], ["u"], mode="nearest"),
             node("Add", ["u", "p"], ["y"])]
    for batch in (1, 2):
        yield own_case(f"windows_meet_{batch}", nodes, {"x": floats(batch, 4, 12, 10)}, c, free={"x": (0, 2, 3)})


def cut_cases():
    """Extents that are equal for the numbers that stand for free ones, but not in every run: a slice may end within
    them, a pooling window may make one extent of two. Products of lists of a free length, whose ranks are known."""
    node = helper.make_node
    c = {"z": np.array([0]), "six": np.array([6]), "two": np.array([2]), "back": np.array([-2]), "end": np.array([2**31])}
    cut = node("Slice", ["x", "z", "six", "two"], ["t"])
    behind = {"shape": node("Shape", ["t"], ["y"]), "tail": node("Slice", ["t", "back", "end", "two"], ["y"]),
              "last_of_equals": node("ArgMax", ["t"], ["y"], axis=2, select_last_index=1), "triangle": node("Trilu", ["t"], ["y"])}
    for name, last in behind.items():
        for length in (4, 9):
            x = {"x": np.round(floats(1, 2, length) * 2) / 2}
            yield own_case(f"cut_{name}_{length}", [cut, last], x, c, free={"x": (2,)})
    for name, weight in ("list", floats(10)), ("matrix", floats(10, 4)), ("volume", floats(2, 10, 4)):
        rank = weight.ndim - 1
        for last in ([node("Softmax", ["t"], ["y"], axis=-1), node("ArgMax", ["t"], ["y"], axis=-1), node("Transpose", ["t"], ["y"])] if rank
                     else [node("Neg", ["t"], ["y"])]):
            for fed in (True, False):
                feed, constants = {"x": floats(10)} | ({"w": weight} if fed else {}), {} if fed else {"w": weight}
                yield own_case(f"list_times_{name}_{last.op_type.lower()}_{'fed' if fed else 'constant'}",
                               [node("MatMul", ["x", "w"], ["t"]), last], feed, constants, free=("x",))
    c |= {"last": np.array([2**31 - 1]), "three": np.array([3])}
    yield own_case("cut_steps", [node("Slice", ["x", "z", "last", "z", "three"], ["t"]), node("Shape", ["t"], ["y"])], {"x": floats(7, 4)}, c,
                   free={"x": (0,)})
    pool = {"kernel_shape": [2, 2], "strides": [2, 2]}
    x = {"x": floats(1, 3, 12, 6)}
    yield own_case("unpooled_free_height", [node("MaxPool", ["x"], ["p", "i"], **pool), node("MaxUnpool", ["p", "i"], ["y"], **pool)], x,
                   free={"x": (2,)})
    yield own_case("same_lower_behind_pool", [node("MaxPool", ["x"], ["p"], **pool), node("MaxPool", ["p"], ["y"], kernel_shape=[3, 3], strides=[3, 3],
                                                                                          auto_pad="SAME_LOWER")], x, free={"x": (2,)})
