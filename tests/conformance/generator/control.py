"""If, loops, and the recurrent layers that the converter turns into loops."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

from generator.layout import convolved
from generator.net import cases
from generator.wire_net import wire_cases


@cases("control__if_conv", seed="if_conv")
def _(n):
    """A convolution in each branch and one after it."""
    a = convolved(n, 7, 5, 6)
    w = numpy_helper.from_array(n.floats(5, 7, 1, 1), "w_then")
    v = numpy_helper.from_array(n.floats(5, 7, 3, 3), "w_else")
    then = branch("then", "then_out", [helper.make_node("Conv", [a, "w_then"], ["then_out"])], [w])
    other = branch("else", "else_out", [helper.make_node("Conv", [a, "w_else"], ["else_out"], pads=[1, 1, 1, 1])], [v])
    for name, bound in (("then", -1e6), ("else", 1e6)):
        condition = n.op("Greater", n.op("ReduceSum", a, keepdims=0), np.float32(bound))
        picked = n.op("If", condition, then_branch=then, else_branch=other)
        n.out(f"y_{name}", "Conv", n.op("Relu", picked), n.floats(3, 5, 3, 3), n.floats(3))


@cases("control__lstm", seed="lstm")
def _(n):
    x = n.x(4, 2, 3)
    n.outs(["y", "h", "c"], "LSTM", x, n.floats(1, 20, 3, low=-.5, high=.5), n.floats(1, 20, 5, low=-.5, high=.5),
           n.floats(1, 40, low=-.3, high=.3), hidden_size=5)


@cases("control__lstm_both", seed="lstm_both")
def _(n):
    x = n.x(4, 2, 3)
    n.outs(["y", "h", "c"], "LSTM", x, n.floats(2, 20, 3, low=-.5, high=.5), n.floats(2, 20, 5, low=-.5, high=.5),
           n.floats(2, 40, low=-.3, high=.3), hidden_size=5,
           direction="bidirectional")


@cases("control__gru", seed="gru")
def _(n):
    x = n.x(4, 2, 3)
    n.outs(["y", "h"], "GRU", x, n.floats(1, 15, 3, low=-.5, high=.5), n.floats(1, 15, 5, low=-.5, high=.5),
           n.floats(1, 30, low=-.3, high=.3), hidden_size=5, linear_before_reset=1)


def branch(name, output, nodes, initializers=(), kind=TensorProto.FLOAT):
    return helper.make_graph(nodes, name, [], [helper.make_tensor_value_info(output, kind, None)], list(initializers))


def if_net(value):
    def build(n):
        x = n.input(np.full((2, 3), value, np.float32) + n.floats(2, 3, low=0, high=0.1))
        condition = n.op("Greater", n.op("ReduceSum", x, keepdims=0), np.float32(0))
        two = numpy_helper.from_array(np.float32(2), "two")
        then = branch("then", "then_out", [helper.make_node("Mul", [x, "two"], ["then_out"])], [two])
        other = branch("other", "else_out", [helper.make_node("Neg", [x], ["negative"]),
                                             helper.make_node("Exp", ["negative"], ["else_out"])])
        picked = n.op("If", condition, then_branch=then, else_branch=other)
        n.out("y", "Add", picked, np.float32(1))
    return build


@cases("control__if_shapes", seed="if_shapes")
def _(n):
    """The branches give different shapes."""
    x = n.input(n.floats(2, 6), shape=["n", 6])
    count = n.op("Gather", n.op("Shape", x), np.array(0, np.int64), axis=0)
    then = branch("then", "then_out", [helper.make_node("Concat", [x, x], ["then_out"], axis=0)])
    other = branch("else", "else_out", [helper.make_node("Abs", [x], ["else_out"])])
    n.out("y", "Neg", n.op("If", n.op("Less", count, np.array(4, np.int64)), then_branch=then, else_branch=other))


cases("control__if_then", seed="if_then")(if_net(1.0))
cases("control__if_else", seed="if_else")(if_net(-1.0))


@cases("control__loop_counted", seed="loop_counted")
def _(n):
    x = n.x(2, 3)
    trips = n.input(np.array(5, np.int32), "trips", as_type="int64")
    body = helper.make_graph(
        [helper.make_node("Mul", ["acc", "half"], ["scaled"]), helper.make_node("Add", ["scaled", x], ["next"]),
         helper.make_node("Identity", ["go"], ["go_on"]), helper.make_node("Identity", ["next"], ["scan"])], "body",
        [helper.make_tensor_value_info("i", TensorProto.INT64, []),
         helper.make_tensor_value_info("go", TensorProto.BOOL, []),
         helper.make_tensor_value_info("acc", TensorProto.FLOAT, [2, 3])],
        [helper.make_tensor_value_info("go_on", TensorProto.BOOL, []),
         helper.make_tensor_value_info("next", TensorProto.FLOAT, [2, 3]),
         helper.make_tensor_value_info("scan", TensorProto.FLOAT, [2, 3])],
        [numpy_helper.from_array(np.float32(0.5), "half")])
    n.outs(["final", "steps"], "Loop", trips, np.array(True), x, body=body)


@cases("control__loop_conditional", seed="loop_conditional")
def _(n):
    x = n.input(np.array([1.5], np.float32))
    body = helper.make_graph(
        [helper.make_node("Add", ["acc", "acc"], ["next"]), helper.make_node("Less", ["next", "bound"], ["go1"]),
         helper.make_node("Squeeze", ["go1"], ["go_on"])], "body",
        [helper.make_tensor_value_info("i", TensorProto.INT64, []),
         helper.make_tensor_value_info("go", TensorProto.BOOL, []),
         helper.make_tensor_value_info("acc", TensorProto.FLOAT, [1])],
        [helper.make_tensor_value_info("go_on", TensorProto.BOOL, []),
         helper.make_tensor_value_info("next", TensorProto.FLOAT, [1])],
        [numpy_helper.from_array(np.array([40], np.float32), "bound")])
    n.out("y", "Loop", np.array(100, np.int64), np.array(True), x, body=body)


def info(name, kind=TensorProto.FLOAT, shape=None):
    return helper.make_tensor_value_info(name, kind, shape)


def loop_body(name, nodes, carried, results, initializers=(), kinds=None):
    """The body of a Loop. carried and results: names of its values; kinds: types that are not float."""
    kinds = kinds or {}

    def typed(values):
        return [info(v, kinds.get(v, TensorProto.FLOAT)) for v in values]
    inputs = [info("i", TensorProto.INT64, []), info("go", TensorProto.BOOL, []), *typed(carried)]
    return helper.make_graph([helper.make_node("Identity", ["go"], ["go_on"]), *nodes], name, inputs,
                             [info("go_on", TensorProto.BOOL, []), *typed(results)], list(initializers))


@cases("control__loop_zero")
def _(n):
    """With no iteration the values are unchanged, and the stacks are empty."""
    x, trips = n.x(2, 3), n.input(np.array(0, np.int32), "trips", as_type="int64")
    body = loop_body("body", [helper.make_node("Mul", ["acc", x], ["next"])], ["acc"], ["next"])
    n.out("final", "Loop", trips, np.array(True), x, body=body)
    body = loop_body("other", [helper.make_node("Mul", ["acc", x], ["next"])], ["acc"], ["next"])
    n.out("never", "Loop", np.array(5, np.int64), np.array(False), x, body=body)


@cases("control__loop_grows")
def _(n):
    """A value that grows in each iteration, an integer beside it, and a condition in the body."""
    x, trips = n.x(1, 3), n.input(np.array(4, np.int32), "trips", as_type="int64")
    nodes = [helper.make_node("Concat", ["acc", x], ["longer"], axis=0), helper.make_node("Cast", ["i"], ["i32"], to=TensorProto.INT32),
             helper.make_node("Add", ["count", "i32"], ["counted"]), helper.make_node("ReduceSum", ["longer"], ["seen"], keepdims=0)]
    kinds = {"count": TensorProto.INT32, "counted": TensorProto.INT32}
    body = loop_body("body", nodes, ["acc", "count"], ["longer", "counted", "seen"], kinds=kinds)
    n.outs(["rows", "count", "sums"], "Loop", trips, np.array(True), x, n.xi(2), body=body)


@cases("control__nested")
def _(n):
    """A loop in a loop, a branch in a loop and a loop in a branch, all of which read values from outside."""
    x = n.x(2, 3)
    inner = loop_body("inner", [helper.make_node("Add", ["b", x], ["c"])], ["b"], ["c"])
    two = numpy_helper.from_array(np.array(2, np.int64), "two")
    yes = numpy_helper.from_array(np.array(True), "yes")
    outer = loop_body("outer", [helper.make_node("Loop", ["two", "yes", "a"], ["added"], body=inner),
                                helper.make_node("Tanh", ["added"], ["d"])], ["a"], ["d"], [two, yes])
    n.out("loop_in_loop", "Loop", np.array(3, np.int64), np.array(True), x, body=outer)
    even = numpy_helper.from_array(np.array(2, np.int64), "even")
    zero = numpy_helper.from_array(np.array(0, np.int64), "zero")
    then = branch("then", "then_out", [helper.make_node("Add", ["e", x], ["then_out"])])
    other = branch("else", "else_out", [helper.make_node("Mul", ["e", x], ["else_out"])])
    chooses = loop_body("chooses", [helper.make_node("Mod", ["i", "even"], ["rest"]), helper.make_node("Equal", ["rest", "zero"], ["is_even"]),
                                    helper.make_node("If", ["is_even"], ["f"], then_branch=then, else_branch=other)],
                        ["e"], ["f"], [even, zero])
    n.out("branch_in_loop", "Loop", np.array(3, np.int64), np.array(True), x, body=chooses)
    steps = loop_body("steps", [helper.make_node("Mul", ["g", x], ["h"])], ["g"], ["h"])
    three = numpy_helper.from_array(np.array(3, np.int64), "three")
    sure = numpy_helper.from_array(np.array(True), "sure")
    then = branch("loops", "then_loop", [helper.make_node("Loop", ["three", "sure", x], ["then_loop"], body=steps)], [three, sure])
    other = branch("not", "else_loop", [helper.make_node("Neg", [x], ["else_loop"])])
    condition = n.op("Greater", n.op("ReduceSum", n.op("Abs", x), keepdims=0), np.float32(0))
    n.out("loop_in_branch", "If", condition, then_branch=then, else_branch=other)


@cases("control__if_outputs")
def _(n):
    """Branches with several results, one of which is a constant and one of which the other branch passes through."""
    x = n.x(3, 2)
    one = numpy_helper.from_array(n.floats(4), "one")
    then = helper.make_graph([helper.make_node("Identity", ["one"], ["p"]), helper.make_node("Abs", [x], ["q"])], "then", [],
                             [info("p"), info("q")], [one])
    other = helper.make_graph([helper.make_node("Identity", [x], ["r"]), helper.make_node("Neg", [x], ["s"])], "else", [],
                              [info("r"), info("s")])
    for name, bound in (("then", -1e6), ("else", 1e6)):
        condition = n.op("Greater", n.op("ReduceSum", x, keepdims=0), np.float32(bound))
        n.outs([f"{name}_a", f"{name}_b"], "If", condition, then_branch=then, else_branch=other)


@cases("control__loop_without_limit")
def _(n):
    x = n.x(3, low=0.5, high=1.5)
    nodes = [helper.make_node("Add", ["acc", "acc"], ["next"]), helper.make_node("ReduceMax", ["next"], ["top"], keepdims=0),
             helper.make_node("Less", ["top", "bound"], ["go_on"])]
    body = helper.make_graph(nodes, "body", [info("i", TensorProto.INT64, []), info("go", TensorProto.BOOL, []), info("acc")],
                             [info("go_on", TensorProto.BOOL, []), info("next"), info("top")],
                             [numpy_helper.from_array(np.float32(50), "bound")])
    n.outs(["final", "tops"], "Loop", "", np.array(True), x, body=body)


def region(operands, size, op=None, fuse=-1, main=None):
    """A command of a LoopParam; operands: (local tensor, offset, strides, step, local tensor with the units or -1)."""
    command = {"size": list(size), "indexes": [o[0] for o in operands], "fuse": fuse,
               "view": [{"offset": o[1], "stride": list(o[2])} for o in operands], "steps": [o[3] for o in operands],
               "iterIndexes": [o[4] for o in operands]}
    if op:
        command["op"] = {"type": op, **({"main_type": op, "main": main} if main else {})}
    return command


@wire_cases("control__region_loop")
def _(n):
    """Loops over boxes, as static files have them: gathered rows, sums, a running product, and places outside."""
    table, b = n.floats(4, 3), n.floats(4, 3)
    rows = np.array([2, 0, 3, 7, 2], np.int32)
    x, y, indices = n.feed(table), n.feed(b), n.feed(rows)

    def loop(inputs, shape, rounds, *commands, before=()):
        slots = len(inputs)
        return n.op("While", inputs, "LoopParam", {
            "tensorNumber": slots + 1, "inputIndexes": list(range(slots)), "outputIndexes": [slots], "loopNumber": rounds,
            "extraTensorInfos": [{"blob": {"dims": list(shape), "dataType": "DT_FLOAT", "dataFormat": "NCHW"}}],
            "initCommand": list(before), "commands": list(commands)})
    row = (0, 0, 1)
    copy = region([(2, 0, row, 3, -1), (0, 0, row, 3, 1)], (1, 1, 3), "UnaryOp")
    gathered = np.where((rows < 4)[:, None], table[np.minimum(rows, 3)], 0)  # row 7 is outside
    n.expect("gathered", loop([x, indices], (5, 3), 5, copy), gathered)
    add = region([(2, 0, row, 3, 1), (0, 0, row, 3, 1)], (1, 1, 3), "UnaryOp", fuse=0)
    counts = np.array([(rows == i).sum() for i in range(4)])
    n.expect("added", loop([x, indices], (4, 3), 5, add, before=[{"indexes": [2]}]), table * counts[:, None])
    exponential = region([(1, 0, (0, 3, 1), 0, -1), (0, 0, (0, 3, 1), 0, -1)], (1, 4, 3), "UnaryOp", main={"opType": "EXP"})
    n.expect("exp", loop([x], (4, 3), 1, exponential), np.exp(table.astype(np.float64)))
    turned = region([(2, 0, (0, 1, 4), 0, -1), (0, 0, (0, 3, 1), 0, -1), (1, 0, (0, 0, 1), 0, -1)], (1, 4, 3), "BinaryOp",
                    main={"opType": "SUB"})
    n.expect("turned", loop([x, y], (3, 4), 1, turned), (table.astype(np.float64) - b[0]).T)
    product = region([(2, 0, (4, 0, 1), 0, -1), (0, 0, row, 0, -1), (1, 0, row, 0, -1)], (4, 3, 4), "MatMul", fuse=0,
                     main={"transposeB": True})
    n.expect("product", loop([x, y], (4, 4), 2, product), 2 * table.astype(np.float64) @ b.T)
    running = region([(1, 3, row, 3, -1), (1, 0, row, 3, -1), (0, 3, row, 3, -1)], (1, 1, 3), "BinaryOp", main={"opType": "MUL"})
    first = region([(1, 0, row, 0, -1), (0, 0, row, 0, -1)], (1, 1, 3), "UnaryOp")
    n.expect("running", loop([x], (4, 3), 4, running, before=[first]), np.cumprod(table.astype(np.float64), axis=0))


@wire_cases("control__region_loop_static")
def _(n):
    """A static model may describe the result of a loop where it describes its tensors."""
    values, rows = n.floats(4, 3), np.array([2, 0, 3], np.int32)
    x, indices = n.feed(values), n.feed(rows)
    n.describe(x, (4, 3))
    n.describe(indices, (3,))
    row = (0, 0, 1)
    copy = region([(2, 0, row, 3, -1), (0, 0, row, 3, 1)], (1, 1, 3), "UnaryOp")
    y = n.op("While", [x, indices], "LoopParam", {"tensorNumber": 3, "inputIndexes": [0, 1], "outputIndexes": [2],
                                                  "loopNumber": 3, "commands": [copy]})
    n.describe(y, (3, 3))
    z = n.op("UnaryOp", [y], "UnaryOp", {"opType": "NEG"})
    n.describe(z, (3, 3))
    n.expect("gathered", y, values[rows])
    n.expect("negative", z, -values[rows])


@wire_cases("control__region_loop_bytes")
def _(n):
    """Loops over integers of 8 bits: rows, sums that wrap, and comparisons."""
    rows = np.array([2, 0, 3, 2], np.int32)
    indices = n.feed(rows)
    row = (0, 0, 1)
    for dtype, kind in ((np.uint8, "DT_UINT8"), (np.int8, "DT_INT8")):
        limits = np.iinfo(dtype)
        table = n.ints(4, 3, low=limits.min, high=limits.max + 1).astype(dtype)
        other = n.ints(4, 3, low=limits.min, high=limits.max + 1).astype(dtype)
        x, y = n.feed(table), n.feed(other)
        name = np.dtype(dtype).name

        def loop(inputs, kind, *commands, before=()):
            slots = len(inputs)
            return n.op("While", inputs, "LoopParam", {
                "tensorNumber": slots + 1, "inputIndexes": list(range(slots)), "outputIndexes": [slots], "loopNumber": 4,
                "extraTensorInfos": [{"blob": {"dims": [4, 3], "dataType": kind, "dataFormat": "NCHW"}}],
                "initCommand": list(before), "commands": list(commands)})

        gather = region([(2, 0, row, 3, -1), (0, 0, row, 3, 1)], (1, 1, 3), "UnaryOp")
        n.expect(f"gathered_{name}", loop([x, indices], kind, gather), table[rows])
        add = region([(3, 0, row, 3, 1), (0, 0, row, 3, -1)], (1, 1, 3), "UnaryOp", fuse=0)
        start = region([(3, 0, (0, 3, 1), 0, -1), (2, 0, (0, 3, 1), 0, -1)], (1, 4, 3), "UnaryOp")
        added = other.astype(np.int32)
        np.add.at(added, rows, table.astype(np.int32))
        n.expect(f"added_{name}", loop([x, indices, y], kind, add, before=[start]), added.astype(dtype))
        less = region([(2, 0, row, 3, -1), (0, 0, row, 3, -1), (1, 0, row, 3, -1)], (1, 1, 3), "BinaryOp",
                      main={"opType": "LESS"})
        n.expect(f"less_{name}", loop([x, y], "DT_INT32", less), (table < other).astype(np.int32))


@wire_cases("control__region_loop_codes")
def _(n):
    """A loop's operators have the codes of their writer, and an output of copies has the type of its source."""
    a, b = n.floats(3, 4), n.floats(4)
    x, y = n.feed(a), n.feed(b)
    n.source = "ONNX"
    each = (0, 4, 1)

    def loop(kind, *commands):
        return n.op("While", [x, y], "LoopParam", {
            "tensorNumber": 3, "inputIndexes": [0, 1], "outputIndexes": [2], "loopNumber": 1,
            "extraTensorInfos": [{"blob": {"dims": [3, 4], "dataType": kind, "dataFormat": "NCHW"}}], "commands": list(commands)})

    for code, truth in (("FLOORMOD", np.fmod), ("MOD", np.mod), ("MIN_TEMP", np.minimum), ("MAX_TEMP", np.maximum)):
        command = region([(2, 0, each, 0, -1), (0, 0, each, 0, -1), (1, 0, (0, 0, 1), 0, -1)], (1, 3, 4), "BinaryOp",
                         main={"opType": code})
        n.expect(code.lower(), loop("DT_FLOAT", command), truth(a, b))
    copy = region([(2, 0, each, 0, -1), (1, 0, (0, 0, 1), 0, -1)], (1, 3, 4), "UnaryOp")
    spread = loop("DT_INT32", copy)
    n.expect("less", n.op("BinaryOp", [x, spread], "BinaryOp", {"opType": "LESS"}), (a < b).astype(np.int32))
