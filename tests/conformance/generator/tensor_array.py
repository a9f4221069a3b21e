"""Sequences of ONNX and TensorArray operators of TensorFlow, also inside loops."""
import numpy as np
from onnx import TensorProto, helper

from generator.net import array, cases
from generator.wire_net import WireNet, wire_cases


def scalar(value):
    return np.array(value, np.int64)


@cases("tensor_array__split")
def _(n):
    x = n.x(6, 4, 3)
    for name, axis, lengths in (("lengths", 0, array(1, 2, 3)), ("pieces", 1, scalar(3)), ("last", -1, array(2, 1, 0)),
                                ("one", 0, None)):
        parts = n.op("SplitToSequence", x, *([] if lengths is None else [lengths]), axis=axis)
        n.out(f"{name}_joined", "ConcatFromSequence", parts, axis=axis)
        n.out(f"{name}_size", "SequenceLength", parts)
        n.out(f"{name}_end", "SequenceAt", parts, scalar(-1))
    dropped = n.op("SplitToSequence", x, axis=1, keepdims=0)
    n.out("dropped", "SequenceAt", dropped, scalar(2))
    n.out("stacked", "ConcatFromSequence", dropped, axis=-1, new_axis=1)
    n.out("stacked_front", "ConcatFromSequence", dropped, axis=0, new_axis=1)


@cases("tensor_array__edit")
def _(n):
    x, other, place = n.x(6, 4), n.x(2, 4), n.input(np.array(1, np.int32), "place", as_type="int64")
    parts = n.op("SplitToSequence", x, array(1, 2, 3), axis=0)
    for name, where in (("front", [scalar(0)]), ("middle", [scalar(-1)]), ("end", []), ("fed", [place])):
        n.out(f"insert_{name}", "ConcatFromSequence", n.op("SequenceInsert", parts, other, *where), axis=0)
        n.out(f"erase_{name}", "ConcatFromSequence", n.op("SequenceErase", parts, *where), axis=0)
    n.out("at_fed", "SequenceAt", parts, place)
    n.out("erased_size", "SequenceLength", n.op("SequenceErase", parts))
    built = n.op("SequenceConstruct", x, other, x)
    n.out("built", "ConcatFromSequence", built, axis=0)
    n.out("built_at", "SequenceAt", built, place)
    grown = n.op("SequenceInsert", n.op("SequenceInsert", n.op("SequenceEmpty"), x), other)
    n.out("grown", "ConcatFromSequence", grown, axis=0)
    n.out("empty_size", "SequenceLength", n.op("SequenceEmpty"))


@cases("tensor_array__ints")
def _(n):
    x = n.xi(5, 2)
    parts = n.op("SplitToSequence", x, array(3, 2), axis=0)
    n.out("joined", "ConcatFromSequence", n.op("SequenceInsert", parts, n.xi(1, 2)), axis=0)
    n.out("at", "SequenceAt", parts, scalar(0))


@cases("tensor_array__convolution")
def _(n):
    """Elements are maps whose channels are stored in blocks."""
    x = n.x(1, 3, 6, 6)
    a, b = n.op("Conv", x, n.floats(5, 3, 3, 3)), n.op("Conv", x, n.floats(5, 3, 3, 3))
    maps = n.op("SequenceConstruct", a, b)
    n.out("joined", "ConcatFromSequence", maps, axis=1)
    n.out("after", "Conv", n.op("SequenceAt", maps, scalar(1)), n.floats(2, 5, 1, 1))


@cases("tensor_array__loop")
def _(n):
    """A sequence that a loop extends, and one whose elements a loop reads."""
    x, trips = n.x(2, 3), n.input(np.array(4, np.int32), "trips", as_type="int64")
    sequence = helper.make_tensor_sequence_value_info
    body = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["go_on"]), helper.make_node("Cast", ["i"], ["number"], to=TensorProto.FLOAT),
         helper.make_node("Add", [x, "number"], ["value"]), helper.make_node("SequenceInsert", ["s", "value"], ["next"])],
        "body", [helper.make_tensor_value_info("i", TensorProto.INT64, []),
                 helper.make_tensor_value_info("go", TensorProto.BOOL, []), sequence("s", TensorProto.FLOAT, None)],
        [helper.make_tensor_value_info("go_on", TensorProto.BOOL, []), sequence("next", TensorProto.FLOAT, None)])
    grown = n.op("Loop", trips, np.array(True), n.op("SequenceEmpty"), body=body)
    n.out("grown", "ConcatFromSequence", grown, axis=0)
    n.out("grown_size", "SequenceLength", grown)
    reader = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["go_on"]), helper.make_node("SequenceAt", [grown, "i"], ["element"]),
         helper.make_node("Mul", ["acc", "element"], ["product"]), helper.make_node("Identity", ["element"], ["seen"])],
        "reader", [helper.make_tensor_value_info("i", TensorProto.INT64, []),
                   helper.make_tensor_value_info("go", TensorProto.BOOL, []),
                   helper.make_tensor_value_info("acc", TensorProto.FLOAT, [2, 3])],
        [helper.make_tensor_value_info("go_on", TensorProto.BOOL, []),
         helper.make_tensor_value_info("product", TensorProto.FLOAT, [2, 3]),
         helper.make_tensor_value_info("seen", TensorProto.FLOAT, [2, 3])])
    n.outs(["product", "seen"], "Loop", trips, np.array(True), x, body=reader)


def array_table(**fields):
    return "TensorArray", fields


@wire_cases("tensor_array__gather_scatter")
def _(n):
    value = n.floats(3, 2, 2)
    x, size = n.feed(value), n.const(np.array([5], np.int32))
    handle, flow = n.op("TensorArray", [size], *array_table(identical_element_shapes=True), count=2)
    order = n.const(np.array([4, 0, 2], np.int32))
    truth = np.zeros((5, 2, 2), np.float32)
    truth[[4, 0, 2]] = value
    scattered = n.op("TensorArrayScatter", [handle, order, x, flow], *array_table())
    everything = n.const(np.arange(5, dtype=np.int32))
    n.expect("scattered", n.op("TensorArrayGather", [handle, everything, scattered], *array_table()), truth)
    n.expect("some", n.op("TensorArrayGather", [handle, order, scattered], *array_table(element_shape=[-1, 2])),
             truth[[4, 0, 2]])
    n.expect("none", n.op("TensorArrayGather", [handle, n.const(np.zeros(0, np.int32)), scattered],
                          *array_table(element_shape=[2, 2])), np.zeros((0, 2, 2)))
    again = n.op("TensorArrayScatter", [handle, n.const(np.array([1, 1], np.int32)), n.feed(value[:2]), scattered],
                 *array_table())
    truth = truth.copy()
    truth[1] = value[1]
    n.expect("twice", n.op("TensorArrayConcat", [handle, again], *array_table(new_axis=True)), truth)
    n.expect("size", n.op("TensorArraySize", [handle, again]), np.array(5))
    known = n.op("TensorArray", [size], *array_table(element_shape=[2, 3]), count=2)
    n.expect("zeros", n.op("TensorArrayRead", [known[0], n.const(np.array(3, np.int32)), known[1]], *array_table()),
             np.zeros((2, 3)))
    fed = n.feed(np.array(3, np.int32))
    written = n.op("TensorArrayWrite", [known[0], fed, n.feed(n.inputs["in0"][0]), flow], *array_table())
    truth = np.zeros((5, 2, 2))
    truth[3] = value[0]
    n.expect("fed", n.op("TensorArrayConcat", [handle, written], *array_table()), truth.reshape(10, 2))


@wire_cases("tensor_array__while")
def _(n):
    """The loop of tf.map_fn, which reads an element, and writes one of another sequence."""
    value = n.floats(5, 3)
    steps = len(value)
    cond, body = WireNet("cond"), WireNet("body")
    i = cond.op("Input", [], "Input", {"dims": [], "dtype": "DT_INT32", "dformat": "NCHW"}, name="cond_i")
    limit = cond.const(np.array(steps, np.int32))
    go_on = cond.op("BinaryOp", [i, limit], "BinaryOp", {"opType": 12})
    n.subgraph(cond, [i], [go_on])
    formal = {name: body.op("Input", [], "Input", {"dims": [1], "dtype": kind, "dformat": "NCHW"}, name=name)
              for name, kind in (("i", "DT_INT32"), ("source", "DT_FLOAT"), ("target", "DT_FLOAT"), ("handle", "DT_FLOAT"))}
    element = body.op("TensorArrayRead", [formal["handle"], formal["i"], formal["source"]], *array_table())
    squared = body.op("BinaryOp", [element, element], "BinaryOp", {"opType": 2})
    written = body.op("TensorArrayWrite", [formal["handle"], formal["i"], squared, formal["target"]], *array_table(),
                      name="written")
    following = body.op("BinaryOp", [formal["i"], body.const(np.array(1, np.int32))], "BinaryOp", {"opType": 0}, name="next")
    n.subgraph(body, list(formal.values()), [following, written])
    size = n.const(np.array([steps], np.int32))
    handle, source = n.op("TensorArray", [size], *array_table(), count=2)
    filled = n.op("TensorArrayScatter", [handle, n.const(np.arange(steps, dtype=np.int32)), n.feed(value), source],
                  *array_table())
    _, target = n.op("TensorArray", [size], *array_table(), count=2)
    main = {"cond_graph": "cond", "body_graph": "body",
            "aliases_inputs": [{"data": ["cond_i", "i"]}, {"data": ["source"]}, {"data": ["target"]}, {"data": ["handle"]}],
            "aliases_outputs": ["written"],
            "aliases_updates": [{"data": ["next", "i"]}, {"data": ["next", "cond_i"]}, {"data": ["written", "target"]}]}
    result = n.op("While", [n.const(np.array(0, np.int32)), filled, target, handle], "WhileParam", main)
    n.expect("squares", n.op("TensorArrayConcat", [handle, result], *array_table(new_axis=True)),
             value.astype(np.float64) ** 2)
