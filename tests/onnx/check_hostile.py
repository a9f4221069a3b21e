#!/usr/bin/env python3
"""Checks that converting hostile or wrong files ends with an error whose sentence says why, in little time and memory.

    check_hostile.py MNN_TOOL [unlimited]

unlimited: the tool has a sanitizer: its memory is not limited, and it may take ten times as long.
"""
import os
import pathlib
import resource
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tool"))
import onnx_file as onnx  # noqa: E402

MAX_BYTES = 3 << 30  # of address space
MAX_SECONDS = 60  # of processor time: the clock alone says little on a busy machine
X = onnx.value("x", onnx.FLOAT, [2, 3])
Y = onnx.value("y", onnx.FLOAT, [2, 3])


def net(nodes, initializers=(), inputs=(X,), outputs=(Y,), **more):
    return onnx.model(onnx.graph(nodes, inputs, outputs, initializers), **more)


def add(name):
    return [onnx.node("Add", ["x", name], ["y"])]


def odd_forms():
    """Nodes whose numbers are valid one by one, and not together."""
    nothing = onnx.field(1, "x") + onnx.field(4, "Split")
    yield "a split without outputs", net([nothing, onnx.node("Relu", ["x"], ["y"])], opset=13), ["no outputs"]
    for name, extents, more, words in (
            ("windows of 2^64 taps", [4, 4, 4], {"kernel_shape": [2 ** 30, 2 ** 30, 16], "strides": [2 ** 30, 2 ** 30, 16]}, "axis 0"),
            ("windows of 2^64 taps over a padded map", [16] * 4,
             {"kernel_shape": [2 ** 16] * 4, "strides": [2 ** 16] * 4, "pads": [2 ** 16] * 8}, "taps"),
            ("dilated windows that are wider than the map", [4], {"kernel_shape": [3], "dilations": [3]}, "smaller than a window")):
        pool = onnx.node("MaxPool", ["x"], ["v", "y"], **more)
        yield name, net([pool], inputs=[onnx.value("x", onnx.FLOAT, [1, 1, *extents])], opset=19), [words]
    row = onnx.value("x", onnx.FLOAT, [1, 2, 4])
    weights = [onnx.floats("w", [2, 1, 0], []), onnx.floats("b", [2], [0, 0])]
    yield "weights without taps", net([onnx.node("CausalConvWithState", ["x", "w", "b"], ["y"])], weights, inputs=[row], opset=27), ["taps"]
    heads = onnx.node("GroupQueryAttention", ["x", "", "", "", "", "s", "s"], ["y"], domain="com.microsoft", num_heads=2,
                      kv_num_heads=2 ** 63 - 1)
    yield "heads whose number wraps to 0", net([heads], [onnx.ints("s", [1], [1])], inputs=[row], domains=["com.microsoft"]), ["overflows"]
    attention = onnx.node("Attention", ["x", "x", "x", "m"], ["y"])
    square = onnx.value("x", onnx.FLOAT, [1, 1, 2, 2])
    yield "a mask that is a number", net([attention], [onnx.floats("m", [], [0])], inputs=[square], opset=23), ["a number"]
    for rank in (0, 1):
        training = onnx.node("BatchNormalization", ["x", "s", "s", "s", "s"], ["y"], training_mode=1)
        given = onnx.value("x", onnx.FLOAT, [3] * rank)
        yield f"training over rank {rank}", net([training], [onnx.floats("s", [3], [1] * 3)], inputs=[given], opset=15), [f"rank {rank}"]
    dft = onnx.node("DFT", ["x", "", "a"], ["y"])
    yield "a transform along the parts", net([dft], [onnx.ints("a", [], [-1])], inputs=[onnx.value("x", onnx.FLOAT, [1, 4, 2])],
                                             opset=20), ["the parts"]
    layer = onnx.node("QLinearConv", ["x", "s", "z", "w", "s", "z", "s", "z"], ["y"])
    codes = [onnx.floats("s", [2], [1, 2]), onnx.tensor("z", [2], onnx.UINT8, b"\0\0"), onnx.tensor("w", [1, 1, 1, 1], onnx.UINT8, b"\1")]
    yield "scales for the channels of a number", net([layer], codes, inputs=[onnx.value("x", onnx.UINT8, [])], opset=13), ["rank 0"]
    picture = onnx.value("x", onnx.FLOAT, [1, 1, 4, 4])
    for name, number in (("output_padding", 2 ** 63 - 1), ("output_shape", -2 ** 63)):
        layer = onnx.node("ConvTranspose", ["x", "w"], ["y"], **{name: [number, 4]})
        yield f"{name} of {number}", net([layer], [onnx.floats("w", [1, 1, 1, 1], [1])], inputs=[picture]), [f"{name} has the number {number}"]
    many = onnx.value("m", onnx.INT64, [2 * 10 ** 9])
    for kind, inputs in (("Slice", ["x", "m", "m"]), ("Pad", ["x", "m", "", "m"])):
        yield f"{kind} with numbers for 2 * 10^9 axes", net([onnx.node(kind, inputs, ["y"])], inputs=[X, many]), \
            ["2000000000 axes of a tensor of rank 2"]
    norm = onnx.node("LRN", ["x"], ["y"], size=10 ** 6)
    yield "an even window of 10^6 channels", net([norm], inputs=[picture]), ["1000000 channels"]
    taps = [row, onnx.value("w", onnx.FLOAT, [2, 1, 10 ** 6])]
    yield "weights of 10^6 taps", net([onnx.node("CausalConvWithState", ["x", "w"], ["y"])], inputs=taps, opset=27), ["1000000 taps"]
    numbers = [onnx.ints("b", [], [0]), onnx.ints("e", [], [4]), onnx.ints("d", [], [1])]
    pair = [X, onnx.value("w", onnx.FLOAT, [4, 5])]
    yield "a product that does not fit, beside a list", \
        net([onnx.node("Range", ["b", "e", "d"], ["r"]), onnx.node("MatMul", ["x", "w"], ["y"])], numbers, inputs=pair), ["MatMul"]


def definitions():
    """Values, functions and attributes that are not what their readers expect."""
    relu = onnx.node("Relu", ["x"], ["y"])
    call = onnx.node("F", ["x"], ["y"], domain="own")
    lost = onnx.function("F", "own", ["a"], ["b"], [onnx.node("Relu", ["a"], ["c"])])
    yield "a function that does not make its output", net([call], functions=[lost], domains=["own"]), ["output 'b'"]
    whole = onnx.function("F", "own", ["a"], ["b"], [onnx.node("Relu", ["a"], ["b"])])
    more = onnx.node("F", ["x"], ["a", "y"], domain="own")
    yield "a function with fewer outputs than its call", net([more], functions=[whole], domains=["own"]), ["has 1 outputs"]
    yield "two functions of one name", net([call], functions=[whole, lost], domains=["own"]), ["defined twice"]
    twice = onnx.function("F", "own", ["a", "a"], ["b"], [onnx.node("Relu", ["a"], ["b"])])
    yield "a function with the same input twice", net([call], functions=[twice], domains=["own"]), ["'a' twice"]
    yield "two nodes that make one value", net([onnx.node("Neg", ["x"], ["y"]), relu]), ["'y' is defined twice"]
    yield "a node that makes one value twice", net([onnx.node("Split", ["x"], ["y", "y"], axis=0)], opset=13), ["'y' is defined twice"]
    twice = onnx.graph([onnx.node("Identity", ["k"], ["m"]), onnx.node("F", ["x", "x"], ["t"], domain="own")],
                       [onnx.value("i", onnx.INT64, []), onnx.value("k", onnx.BOOL, [])], [onnx.value("m", onnx.BOOL, []), onnx.value("t", onnx.FLOAT, [])])
    loop = onnx.node("Loop", ["n", ""], ["l"], body=twice)
    yield "a function with fewer inputs than its call", net([loop, call], [onnx.ints("n", [], [2])], functions=[whole], domains=["own"]), ["has 1 inputs"]
    yield "a node that makes an input", net([onnx.node("Relu", ["x"], ["x"]), relu]), ["'x' is defined twice"]
    weights = [onnx.floats("w", [1], [2])]
    yield "a node that makes an initializer", net([onnx.node("Relu", ["x"], ["w"]), *add("w")], weights), ["'w' is defined twice"]
    yield "an input twice", net([relu], inputs=[X, onnx.value("x", onnx.FLOAT, [3])]), ["listed twice"]
    for value, words in ((1.0, "a float"), ("1", "a text"), ([1], "integers")):
        yield f"an axis that is {words}", net([onnx.node("Concat", ["x", "x"], ["y"], axis=value)]), [words, "an integer is expected"]
    for kind, attributes in (("Squeeze", {"axes": [0]}), ("ReduceSum", {"axes": [0]}), ("Split", {"split": [2]}), ("Slice", {"starts": [1]}),
                             ("Pad", {"pads": [1, 1, 1, 1]}), ("Clip", {"min": 1.0}), ("TopK", {"k": 1}), ("Dropout", {"ratio": 0.5})):
        old = onnx.node(kind, ["x"], ["y"], **attributes)
        yield f"{kind} as in older opsets", net([old]), [f"the attribute {list(attributes)[0]} is an input"]


def long_searches():
    """Lists that were searched once for each of many nodes, at the end of which a node has no form."""
    def small(kind, inputs, outputs):
        names = b"".join(onnx.field(1, one) for one in inputs) + b"".join(onnx.field(2, one) for one in outputs)
        return names + onnx.field(4, kind)
    count = 100_000
    unknown = onnx.node("Unknown", ["x"], ["z"])
    nodes = [small("Relu", ["x"], [str(i)]) for i in range(count)]
    functions = [onnx.field(1, f"F{i}") + onnx.field(10, "own") for i in range(500_000)]
    yield "many functions", net([*nodes, unknown], outputs=[onnx.field(1, "1")], functions=functions), ["no form of it"]
    yield "many opsets", net([unknown], domains=["a"] * 2000), ["the opsets of the model are 2001"]
    attributes = b"".join(onnx.field(5, b"") for _ in range(2000))
    yield "many attributes", net([onnx.node("Relu", ["x"], ["y"]) + attributes]), ["the attributes of a node are 2000"]
    yield "many outputs", net([onnx.node("Relu", ["x"], ["y"]), unknown], outputs=[onnx.field(1, "y")] * count), ["no form of it"]
    free = [onnx.value("x", onnx.FLOAT, ["n", 2, 3])]
    squeezes = [small("Squeeze", ["x"], [str(i)]) for i in range(count)]
    yield "many notes", net([*squeezes, unknown], inputs=free, outputs=[onnx.field(1, "1")]), ["no form of it"]
    last = str(count - 1)
    reading = onnx.graph([small("Relu", [str(i)], [f"r{i}"]) for i in range(count)], [], [onnx.field(1, f"r{last}")])
    one = onnx.graph([small("Neg", ["x"], ["n"])], [], [onnx.field(1, "n")])
    fork = onnx.node("If", ["c"], ["f"], then_branch=reading, else_branch=one)
    yield "a branch that reads many values", net([*nodes, fork, unknown], inputs=[X, onnx.value("c", onnx.BOOL, [])], outputs=[onnx.field(1, "f")]), \
        ["no form of it"]
    hidden = onnx.graph([small("Relu", ["x"], [str(i)]) for i in range(count)], [], [onnx.field(1, "1")])
    taken = onnx.graph([small("Relu", ["a"], ["t"])], [], [onnx.field(1, "t")])
    branch = onnx.node("If", ["c"], ["b"], then_branch=taken, else_branch=hidden)
    flag = onnx.field(2, "c") + onnx.field(4, "Constant") + onnx.field(5, onnx.field(1, "value") + onnx.field(
        5, onnx.tensor("", [], onnx.BOOL, b"\1")) + onnx.field(20, 4))
    calls = [onnx.node("F", ["x"], [f"y{i}"], domain="own") for i in range(20_000)]
    body = onnx.function("F", "own", ["a"], ["b"], [flag, branch])
    yield "a branch that is not taken, for each call", net([*calls, unknown], functions=[body], domains=["own"]), ["visited"]


def wrong_forms():
    """Nodes that gave some result although there is none."""
    square, row = onnx.value("x", onnx.FLOAT, [1, 4, 2, 2]), onnx.value("x", onnx.FLOAT, [1, 3])
    for kind, attributes, given, words in (
            ("DepthToSpace", {"blocksize": 2 ** 32 + 2}, square, "4294967298"), ("DepthToSpace", {"blocksize": 2, "mode": "DRC"}, square, "'DRC'"),
            ("LRN", {"size": 2 ** 32 + 1}, square, "4294967297"), ("LpNormalization", {"p": 3}, X, "p is 3"),
            ("Gelu", {"approximate": "tan"}, X, "'tan'"), ("Einsum", {"equation": "ii->i"}, X, "2 and 3 elements")):
        yield f"{kind} with {attributes}", net([onnx.node(kind, ["x"], ["y"], **attributes)], inputs=[given], opset=20), [words]
    one = [onnx.ints("s", [1], [1])]
    yield "a split into one smaller part", net([onnx.node("Split", ["x", "s"], ["y"], axis=1)], one), ["[1]"]
    yield "a split into equal parts of 3", net([onnx.node("Split", ["x"], ["y", "z"], axis=1)], opset=13), ["2 equal parts of 3"]
    yield "a split with fewer outputs", net([onnx.node("Split", ["x"], ["y", "z"], axis=1, num_outputs=3)]), ["num_outputs is 3"]
    parts = [onnx.ints("s", [2], [-1, 4])]
    yield "a split with a part below 0", net([onnx.node("Split", ["x", "s"], ["y", "z"], axis=1)], parts), ["a part of -1"]
    twice = [onnx.ints("b", [2], [0, 1]), onnx.ints("e", [2], [3, 3]), onnx.ints("a", [2], [1, 1])]
    yield "a slice of one axis twice", net([onnx.node("Slice", ["x", "b", "e", "a"], ["y"])], twice), ["listed twice"]
    empty = onnx.node("Reshape", ["x", "s"], ["y"], allowzero=1)
    yield "six elements in a shape of none", net([empty], [onnx.ints("s", [2], [0, 3])]), ["no elements"]
    norm = onnx.node("LayerNormalization", ["x", "s"], ["y"])
    yield "a scale that widens", net([norm], [onnx.floats("s", [3], [1, 2, 3])], inputs=[onnx.value("x", onnx.FLOAT, [2, 1])]), ["an operand of [3]"]
    gemm = onnx.node("Gemm", ["x", "w", "b"], ["y"])
    matrix = [onnx.floats("w", [3, 2], [1] * 6), onnx.floats("b", [5, 2], [1] * 10)]
    yield "a bias that widens", net([gemm], matrix, inputs=[row]), ["an operand of [5, 2]"]
    resize = onnx.node("Resize", ["x", "", "", "s"], ["y"], keep_aspect_ratio_policy="larger")
    yield "a policy that ONNX lacks", net([resize], [onnx.ints("s", [2], [4, 4])]), ["policy is 'larger'"]
    pool = onnx.node("MaxUnpool", ["x", "i"], ["y"], kernel_shape=[1], strides=[2 ** 62 + 1])
    yield "strides that wrap", net([pool], [onnx.ints("i", [1, 1, 5], list(range(5)))], inputs=[onnx.value("x", onnx.FLOAT, [1, 1, 5])]), \
        ["32 bits"]
    # Integers beyond 32 bits, in arithmetic over constants.
    wide = [onnx.ints("p", [1], [2 ** 40]), onnx.ints("q", [1], [2 ** 40 - 5]), onnx.ints("n", [], [0]), onnx.ints("l", [], [2 ** 40]),
            onnx.ints("d", [], [2 ** 38])]
    for name, node in (("a difference", onnx.node("Sub", ["p", "q"], ["r"])), ("a list", onnx.node("Range", ["n", "l", "d"], ["r"])),
                       ("a float", onnx.node("Identity", ["p"], ["r"])), ("a code", onnx.node("Cast", ["p"], ["r"], to=2))):
        yield f"{name} of numbers beyond 32 bits", net([node, onnx.node("Cast", ["r"], ["y"], to=1)], wide), ["beyond 32 bits"]


def large_demands(folder):
    """Small files whose numbers ask for gigabytes, at once or by many nodes."""
    scalars = [onnx.ints("b", [], [2000]), onnx.ints("p", [], [4000]), onnx.ints("r", [], [2 ** 20]), onnx.floats("l", [], [0]),
               onnx.floats("h", [], [1000])]
    mel = [onnx.node("MelWeightMatrix", ["b", "p", "r", "l", "h"], [f"y{i}"]) for i in range(200)]
    relu = onnx.node("Relu", ["x"], ["y"])
    yield "200 tables of mel weights", net([*mel, relu], scalars), ["max_memory_bytes"]
    dft = [onnx.node("DFT", ["x"], [f"y{i}"], axis=1) for i in range(20)]
    yield "20 tables of a transform", net([*dft, relu], inputs=[onnx.value("x", onnx.FLOAT, [1, 4096, 1])], opset=17), ["max_memory_bytes"]
    for opset, pads, inputs in ((19, [onnx.ints("p", [2], [2 ** 30, 2 ** 30])], ["x", "p"]), (9, [], ["x"])):
        more = {} if pads else {"pads": [2 ** 50, 0]}
        pad = onnx.node("Pad", inputs, ["y"], mode="wrap", **more)
        yield f"a list that is wrapped around often, opset {opset}", net([pad], pads, inputs=[onnx.value("x", onnx.FLOAT, [3])], opset=opset), \
            ["max_memory_bytes" if pads else "32 bits"]
    for size in (None, 1):
        pieces = [onnx.node("SplitToSequence", ["x", "n"] if size else ["x"], ["s"], axis=0), onnx.node("SequenceLength", ["s"], ["y"])]
        yield f"2^31 pieces, size {size}", net(pieces, [onnx.ints("n", [], [1])], inputs=[onnx.value("x", onnx.FLOAT, [2 ** 31 - 1])]), \
            ["2147483647 pieces"]
    channels = onnx.value("x", onnx.FLOAT, [1, 400_000_000, 1])
    groups = onnx.node("GroupNormalization", ["x", "s", "s"], ["y"], num_groups=1)
    yield "one group of many channels", net([groups], [onnx.floats("s", [1], [1])], inputs=[channels]), ["max_memory_bytes"]
    blocks = onnx.node("DequantizeLinear", ["x", "s"], ["y"], block_size=1, axis=0)
    codes = [onnx.value("x", onnx.UINT8, [400_000_000]), onnx.value("s", onnx.FLOAT, [400_000_000])]
    yield "a scale for each code", net([blocks], inputs=codes, opset=21), ["max_memory_bytes"]
    for kind, dims in (("ConvTranspose", [0, 2 ** 31 - 1, 1, 1]), ("Conv", [2 ** 31 - 1, 0, 1, 1])):
        yield f"{kind} from no channels to 2^31", net([onnx.node(kind, ["x", "w"], ["y"])], [onnx.tensor("w", dims, onnx.FLOAT, b"")],
                                                      inputs=[onnx.value("x", onnx.FLOAT, [1, 0, 4, 4])]), ["max_memory_bytes"]
    lstm = onnx.node("LSTM", ["x", "w", "r"], ["y"], hidden_size=500_000_000)
    fed = [onnx.value("x", onnx.FLOAT, [1, 1, 1]), onnx.value("w", onnx.FLOAT, [1, 2_000_000_000, 1]),
           onnx.value("r", onnx.FLOAT, [1, 1, 500_000_000])]
    yield "a layer of 5 * 10^8 units", net([lstm], inputs=fed), ["max_memory_bytes"]
    # Names and lists of a function's body, once for each call.
    calls = [onnx.node("F", ["x"], [f"y{i}"], domain="own") for i in range(3000)]
    numbers = onnx.field(5, onnx.field(1, "value_floats") + onnx.field(7, bytes(4_000_000)) + onnx.field(20, 6))
    body = onnx.function("F", "own", ["a"], ["b"], [onnx.field(2, "b") + onnx.field(4, "Constant") + numbers])
    yield "a list of 10^6 numbers 3000 times", net([*calls, relu], functions=[body], domains=["own"]), ["max_memory_bytes"]
    inserts = [onnx.node("SequenceInsert", [f"s{i}", "x"], [f"s{i + 1}"]) for i in range(30000)]
    yield "30000 sequences of up to 30000 values", net([onnx.node("SequenceEmpty", [], ["s0"]), *inserts, relu]), ["max_memory_bytes"]
    weights = onnx.tensor("w", [64, 64, 16, 16], onnx.FLOAT, bytes(64 * 64 * 16 * 16 * 4))
    layers = [onnx.node("ConvTranspose", ["x", "w"], [f"y{i}"]) for i in range(1000)]
    yield "1000 layers with the same weights", net([*layers, relu], [weights], inputs=[onnx.value("x", onnx.FLOAT, [1, 64, 4, 4])]), \
        ["max_memory_bytes"]
    (folder / "inside" / "weights").write_bytes(bytes(4_000_000))
    same = [onnx.tensor(f"w{i}", [1_000_000], onnx.FLOAT, external={"location": f"{'./' * (i % 3)}weights"}) for i in range(1000)]
    yield "1000 tensors of the same external data", net([relu], same), ["max_memory_bytes"]
def learned(op, outputs=("y",), features=3, opset=1, **attributes):
    """A net of one operator of ai.onnx.ml."""
    results = [onnx.value(name, onnx.INT64 if name == "label" else onnx.FLOAT, []) for name in outputs]
    node = onnx.node(op, ["x"], list(outputs), domain="ai.onnx.ml", **attributes)
    return net([node], inputs=[onnx.value("x", onnx.FLOAT, ["n", features])], outputs=results, domains=[("ai.onnx.ml", opset)])


def trees(change, op="TreeEnsembleRegressor", outputs=("y",), **more):
    """Two trees of one comparison each, with changes."""
    given = {"nodes_treeids": [0, 0, 0, 1, 1, 1], "nodes_nodeids": [0, 1, 2] * 2, "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"] * 2,
             "nodes_featureids": [0] * 6, "nodes_values": [0.5] * 6, "nodes_truenodeids": [1, 0, 0] * 2, "nodes_falsenodeids": [2, 0, 0] * 2}
    prefix = "class" if "Classifier" in op else "target"
    given |= {f"{prefix}_treeids": [0, 0, 1, 1], f"{prefix}_nodeids": [1, 2] * 2, f"{prefix}_ids": [0] * 4, f"{prefix}_weights": [1.0] * 4}
    return learned(op, outputs, **(given | change | more))


def learned_cases():
    both = ("label", "z")
    text = ["a", "b"]
    for name, change, part in (
            ("a node that is missing", {"nodes_truenodeids": [7, 0, 0] * 2}, "tree 0 has no node 7"),
            ("a node of -1", {"nodes_falsenodeids": [-1, 0, 0] * 2}, "tree 0 has no node -1"),
            ("a tree that leads back to its root", {"nodes_truenodeids": [0, 0, 0] * 2}, "lead back to one another"),
            ("two nodes of one name", {"nodes_nodeids": [0, 1, 1] * 2}, "tree 0 has two nodes 1"),
            ("nodes of trees in turns", {"nodes_treeids": [0, 1] * 3}, "do not follow one another"),
            ("fewer modes than nodes", {"nodes_modes": ["LEAF"]}, "nodes_modes has 1 numbers in place of 6"),
            ("more thresholds than nodes", {"nodes_values": [0.5] * 9}, "nodes_values has 9 numbers"),
            ("fewer features than nodes", {"nodes_featureids": [0]}, "nodes_featureids has 1 numbers"),
            ("missing values of other nodes", {"nodes_missing_value_tracks_true": [1]}, "nodes_missing_value_tracks_true has 1 numbers"),
            ("no nodes", {"nodes_treeids": []}, "it has no nodes"),
            ("a mode that ONNX lacks", {"nodes_modes": ["BRANCH_MEMBER", "LEAF", "LEAF"] * 2}, "the mode 'BRANCH_MEMBER'"),
            ("a feature of 3", {"nodes_featureids": [3] * 6}, "feature 3 of 3"),
            ("a feature of -1", {"nodes_featureids": [-1] * 6}, "feature -1 of 3"),
            ("a feature of 2^40", {"nodes_featureids": [2 ** 40] * 6}, "feature 1099511627776 of 3"),
            ("a threshold that is NaN", {"nodes_values": [float("nan")] * 6}, "a threshold is NaN"),
            ("a weight of another tree", {"target_treeids": [0, 0, 1, 2]}, "tree 2 has no node 2"),
            ("a weight of another node", {"target_nodeids": [1, 2, 1, 5]}, "tree 1 has no node 5"),
            ("a weight of another target", {"target_ids": [0, 0, 0, 1]}, "column 1 of 1"),
            ("two weights of a leaf", {"target_nodeids": [1, 1, 1, 2]}, "two weights"),
            ("fewer weights than leaves have", {"target_weights": [1.0]}, "target_treeids has 4 numbers in place of 1"),
            ("2^62 targets", {"n_targets": 2 ** 62}, "overflows"),
            ("2^30 targets", {"n_targets": 2 ** 30}, "max_memory_bytes"),
            ("no targets", {"n_targets": 0}, "0 columns"),
            ("base values of other targets", {"base_values": [1.0, 2.0]}, "base_values has 2 numbers"),
            ("an aggregate that ONNX lacks", {"aggregate_function": "MEDIAN"}, "'MEDIAN'"),
            ("a transform without a form", {"post_transform": "PROBIT"}, "'PROBIT'")):
        yield name, trees(change), [part]
    count = 4000
    chain = {"nodes_treeids": [0] * count, "nodes_nodeids": list(range(count)), "nodes_modes": ["BRANCH_LT"] * (count - 1) + ["LEAF"],
             "nodes_featureids": [0] * count, "nodes_values": [0.0] * count, "nodes_truenodeids": [count - 1] * count,
             "nodes_falsenodeids": list(range(1, count)) + [0], "target_treeids": [0], "target_nodeids": [count - 1], "target_ids": [0],
             "target_weights": [1.0]}
    yield "a tree of 3999 levels", trees(chain), ["trees have 3999 levels"]
    count = 170_000  # numbers that lie in one place of a table with a prime number of places
    leaves = {"nodes_treeids": [0] * count, "nodes_nodeids": [i * 172_933 for i in range(count)], "nodes_modes": ["LEAF"] * count,
              **{f"nodes_{name}": [0] * count for name in ("featureids", "truenodeids", "falsenodeids")}, "nodes_values": [0.0] * count}
    yield "170000 leaves with names of one kind", trees(leaves), ["tree 0 has no node 1"]
    yield "features of a free number", learned("TreeEnsembleRegressor", features="f", nodes_treeids=[0], nodes_nodeids=[0], nodes_modes=["LEAF"],
                                               nodes_featureids=[0], nodes_values=[0.0], nodes_truenodeids=[0], nodes_falsenodeids=[0]), ["free extent"]
    forest = "TreeEnsembleClassifier"
    yield "a class of 2 labels", trees({"class_ids": [2] * 4}, forest, both, classlabels_int64s=[0, 1]), ["column 2 of 2"]
    yield "a label beyond 32 bits", trees({}, forest, both, classlabels_int64s=[0, 2 ** 40]), ["does not fit into 32 bits"]
    yield "one label", trees({}, forest, both, classlabels_int64s=[0]), ["it has 1 labels"]
    for op, label in ((forest, "classlabels_strings"), ("LinearClassifier", "classlabels_strings"), ("SVMClassifier", "classlabels_strings")):
        yield f"text labels of {op}", trees({}, op, both, **{label: text}), ["labels are text"]
    yield "text as keys", learned("LabelEncoder", opset=2, keys_strings=text, values_int64s=[1, 2]), ["are text"]
    encoder = onnx.node("LabelEncoder", ["x"], ["y"], domain="ai.onnx.ml", keys_int64s=[1, 2], values_int64s=[3, 4])
    encoder += onnx.field(5, onnx.field(1, "default_tensor") + onnx.field(5, onnx.floats("", [1], [float("nan")])) + onnx.field(20, 4))
    yield "a float in place of an integer", net([encoder], domains=[("ai.onnx.ml", 4)]), ["another type than its values"]
    yield "text as categories", learned("OneHotEncoder", cats_strings=text), ["categories are text"]
    yield "scales of other features", learned("Scaler", scale=[1.0] * 4, offset=[1.0] * 4), ["offset has 4 numbers in place of 3"]
    yield "no scales", learned("Scaler"), ["it has no scale"]
    yield "a norm that ONNX lacks", learned("Normalizer", norm="L3"), ["the norm 'L3'"]
    yield "values of other features", learned("Imputer", imputed_value_floats=[1.0] * 2), ["imputed_value_floats has 2 numbers"]
    yield "coefficients of other features", learned("LinearRegressor", coefficients=[1.0] * 4), ["coefficients has 4 numbers in place of 3"]
    yield "2^62 targets of coefficients", learned("LinearRegressor", coefficients=[1.0] * 4, targets=2 ** 62), ["4 coefficients do not divide"]
    yield "intercepts of other targets", learned("LinearRegressor", coefficients=[1.0] * 3, intercepts=[1.0] * 2), ["intercepts has 2 numbers"]
    yield "intercepts of other labels", learned("LinearClassifier", both, coefficients=[1.0] * 6, intercepts=[1.0] * 2,
                                                classlabels_ints=[0, 1, 2]), ["2 intercepts for 3 labels"]
    for width in 2 ** 62, -1:
        yield f"a row of {width} features", learned("FeatureVectorizer", inputdimensions=[width]), [f"inputdimensions has the number {width}"]
    vectors = dict(kernel_type="RBF", kernel_params=[0.5, 0.0, 0.0], support_vectors=[1.0] * 6, rho=[0.1])
    for name, change, part in (("2^62 vectors", {"n_supports": 2 ** 62}, "support vectors"), ("-1 vectors", {"n_supports": -1}, "-1 support vectors"),
                               ("vectors of other features", {"n_supports": 3}, "support_vectors has 6 numbers in place of 9"),
                               ("fewer coefficients than vectors", {"n_supports": 2, "coefficients": [1.0]}, "coefficients has 1 numbers"),
                               ("two parameters", {"n_supports": 2, "kernel_params": [1.0] * 2}, "kernel_params has 2 numbers"),
                               ("a kernel that ONNX lacks", {"n_supports": 2, "kernel_type": "COSINE"}, "'COSINE'"),
                               ("two offsets", {"rho": [1.0] * 2}, "rho has 2 numbers")):
        yield name, learned("SVMRegressor", **(vectors | change)), [part]
    vectors |= dict(classlabels_ints=[0, 1], vectors_per_class=[1, 1], coefficients=[1.0] * 2)
    for name, change, part in (("a class of 2^62 vectors", {"vectors_per_class": [2 ** 62, 2]}, "a class has"),
                               ("a class of -1 vectors", {"vectors_per_class": [-1, 3]}, "a class has -1 vectors"),
                               ("vectors of three classes", {"vectors_per_class": [1, 1, 0]}, "vectors_per_class has 3 numbers"),
                               ("coefficients of other vectors", {"coefficients": [1.0] * 3}, "coefficients has 3 numbers"),
                               ("probabilities of other pairs", {"prob_a": [1.0] * 2, "prob_b": [1.0] * 2}, "prob_a has 2 numbers"),
                               ("factors without offsets", {"prob_a": [1.0]}, "prob_b has 0 numbers"),
                               ("no vectors", {"vectors_per_class": [0, 0], "coefficients": []}, "0 support vectors"),
                               ("one number for 16384 classes", {"classlabels_ints": list(range(2 ** 14)), "vectors_per_class": [1] * 2 ** 14}, "rho has 1"),
                               ("10^5 classes", {"classlabels_ints": list(range(10 ** 5))}, "max_memory_bytes")):
        yield name, learned("SVMClassifier", both, **(vectors | change)), [part]


def cases(folder):
    """Yields the name of each case, the bytes of its file, and words that the sentence must have."""
    yield "a text", b"root:x:0:0:root:/root:/bin/sh\n" * 20, ["no ONNX model: "]
    yield "a .mnn model", struct.pack("<II", 24, 0) + bytes(64), ["begins as a .mnn model does"]
    call = onnx.node("F", ["x"], ["y"], domain="own")
    loop = onnx.function("F", "own", ["a"], ["b"], [onnx.node("F", ["a"], ["b"], domain="own")])
    yield "a function that calls itself", net([call], functions=[loop], domains=["own"]), ["'F' calls itself"]
    first = onnx.function("F", "own", ["a"], ["b"], [onnx.node("G", ["a"], ["b"], domain="own")])
    second = onnx.function("G", "own", ["a"], ["b"], [onnx.node("F", ["a"], ["b"], domain="own")])
    yield "functions that call each other", net([call], functions=[first, second], domains=["own"]), ["calls itself"]
    doubling = [onnx.function(f"F{i}", "own", ["a"], ["b"], [onnx.node(f"F{i + 1}", ["a"], [f"b{k}"], domain="own") for k in range(2)] +
                              [onnx.node("Add", ["b0", "b1"], ["b"])]) for i in range(40)]
    doubling.append(onnx.function("F40", "own", ["a"], ["b"], [onnx.node("Relu", ["a"], ["b"])]))
    yield "functions that double their nodes", net([onnx.node("F0", ["x"], ["y"], domain="own")], functions=doubling,
                                                   domains=["own"]), ["more than 262144 nodes"]
    long = onnx.value("x", onnx.FLOAT, [4096])
    pieces = [onnx.node("SplitToSequence", ["x"], [f"s{i}"], axis=0) for i in range(300)]
    last = onnx.node("ConcatFromSequence", ["s0"], ["y"], axis=0)
    yield "more pieces than there is memory for", net([*pieces, last], inputs=[long]), ["more than 1048576 values"]
    body = onnx.graph([onnx.node("Identity", ["a"], ["b"])], [onnx.value("a", onnx.FLOAT, [1])], [onnx.value("b", onnx.FLOAT, [1])])
    for _ in range(2):
        body = onnx.graph([onnx.node("SequenceMap", ["s0"], ["b"], body=body)], [onnx.value("a", onnx.FLOAT, [1])],
                          [onnx.value("b", onnx.FLOAT, [1])])
    yield "bodies that repeat each other", net([pieces[0], onnx.node("SequenceMap", ["s0"], ["t"], body=body), last],
                                               inputs=[long]), ["more than 262144 nodes"]
    (folder / "outside").mkdir()
    (folder / "outside" / "data").write_bytes(bytes(24))
    os.symlink(folder / "outside", folder / "inside" / "link")
    for path in ("../outside/data", str(folder / "outside" / "data"), "link/data", "a/../../outside/data"):
        data = onnx.tensor("w", [2, 3], onnx.FLOAT, external={"location": path, "offset": "0", "length": "24"})
        yield f"external data at {path}", net(add("w"), [data]), ["outside of the model's folder"]
    (folder / "inside" / "data").write_bytes(bytes(24))
    for offset, words in (("8", "which has 24"), ("-1", "in place of a number"), (str(2 ** 63), "which has 24"), ("9" * 30, "in place")):
        data = onnx.tensor("w", [2, 3], onnx.FLOAT, external={"location": "data", "offset": offset})
        yield f"external data from {offset} on", net(add("w"), [data]), [words]
    data = onnx.tensor("w", [2, 3], onnx.FLOAT, external={"location": "missing"})
    yield "external data that is missing", net(add("w"), [data]), ["missing"]
    os.symlink("loop", folder / "inside" / "loop")
    for kind, path in (("of a long name", "w" * 300), ("behind a link to itself", "loop/data")):
        data = onnx.tensor("w", [2, 3], onnx.FLOAT, external={"location": path})
        yield f"external data {kind}", net(add("w"), [data]), ["the tensor 'w' names the file", "cannot be found"]
    (folder / "inside" / "zeros").write_bytes(bytes(80_000))
    data = onnx.tensor("w", [20_000], onnx.FLOAT, bytes(80_000), external={"location": "zeros"})
    yield "data in both places", net([onnx.node("Relu", ["w"], ["y"])], [data]), ["has bytes of its own"]
    yield "an extent of no elements beyond 32 bits", net(add("w"), [onnx.tensor("w", [0, 2 ** 40], onnx.FLOAT, b"")]), ["1099511627776"]
    yield "extents that overflow", net(add("w"), [onnx.tensor("w", [2 ** 40, 2 ** 40], onnx.FLOAT, b"")]), ["overflows"]
    yield "a negative extent", net(add("w"), [onnx.tensor("w", [-3, 2], onnx.FLOAT, bytes(24))]), ["extent of -3"]
    yield "a claim of 10 GB", net(add("w"), [onnx.tensor("w", [50_000, 50_000], onnx.FLOAT, bytes(16))]), ["16 bytes", "10000000000"]
    yield "a claim without data", net(add("w"), [onnx.tensor("w", [50_000, 50_000], onnx.FLOAT)]), ["0 values"]
    wide = onnx.value("x", onnx.FLOAT, [2 ** 33])
    yield "an input of 2^33 elements", net([onnx.node("Relu", ["x"], ["y"])], inputs=[wide]), ["8589934592"]
    huge = onnx.value("x", onnx.FLOAT, [2 ** 31 - 1] * 4)
    yield "an input whose size overflows", net([onnx.node("Relu", ["x"], ["y"])], inputs=[huge]), ["overflows"]
    yield "a node that reads what nothing makes", net([onnx.node("Relu", ["z"], ["y"])]), ["'z', which no node"]
    cycle = [onnx.node("Relu", ["a"], ["y"]), onnx.node("Relu", ["y"], ["a"])]
    yield "nodes that read each other", net(cycle), ["'a', which no node"]
    yield "an output that nothing makes", net([onnx.node("Relu", ["x"], ["a"])]), ["no value 'y'"]
    deep = onnx.graph([], [], [])
    for _ in range(80):
        deep = onnx.graph([onnx.node("If", ["c"], ["y"], then_branch=deep, else_branch=onnx.graph([], [], []))], [], [])
    yield "graphs in graphs", onnx.model(deep), ["deeper in one another than 64"]
    yield "text in a constant", net(add("w"), [onnx.tensor("w", [1], 8)]), ["has no tensor"]
    resize = onnx.node("Resize", ["x", "", "s"], ["y"], mode="nearest", nearest_mode="flor")
    yield "a rounding of Resize that ONNX lacks", net([resize], [onnx.floats("s", [2], [1, 2])]), ["nearest_mode is 'flor'"]
    window = onnx.node("Conv", ["x", "w"], ["y"], strides=[2 ** 40, 1])
    picture = onnx.value("x", onnx.FLOAT, [1, 1, 9, 9])
    yield "a stride beyond 2^30", net([window], [onnx.floats("w", [1, 1, 1, 1], [1])], inputs=[picture]), ["strides has the number"]
    inputs = [picture, onnx.value("o", onnx.FLOAT, [1, 2, 9, 9])]
    bent = onnx.node("DeformConv", ["x", "w", "o"], ["y"], dilations=[2 ** 62, 1])
    yield "a dilation of 2^62", net([bent], [onnx.floats("w", [1, 1, 1, 1], [1])], inputs=inputs, opset=19), ["dilations has the number"]
    bent = onnx.node("DeformConv", ["x", "w", "o"], ["y"])
    yield "weights for more channels", net([bent], [onnx.floats("w", [1, 2, 1, 1], [1, 2])], inputs=inputs, opset=19), ["has 1 channels"]
    row = onnx.value("x", onnx.FLOAT, [2, 16])
    for name, bits, block, codes, scales, part in (
            ("blocks that are no bytes", 2, 1, onnx.tensor("w", [3, 16, 0], onnx.UINT8, b""), 48, "blocks of 1 codes of 2 bits"),
            ("blocks that end within a byte", 2, 5, onnx.tensor("w", [3, 4, 1], onnx.UINT8, bytes(12)), 12, "blocks of 5 codes of 2 bits"),
            ("codes that are floats", 4, 16, onnx.floats("w", [3, 1, 8], [0.0] * 24), 3, "24 codes and 3 scales")):
        node = onnx.node("MatMulNBits", ["x", "w", "s"], ["y"], domain="com.microsoft", K=16, N=3, bits=bits, block_size=block)
        yield name, net([node], [codes, onnx.floats("s", [scales], [1.0] * scales)], inputs=[row], domains=["com.microsoft"]), [part]
    sizes = onnx.node("Attention", ["x", "w", "b"], ["y"], domain="com.microsoft", num_heads=1, qkv_hidden_sizes=[2 ** 62, 2 ** 62, 1])
    parts = [onnx.floats("w", [2, 6], list(range(12))), onnx.floats("b", [6], list(range(6)))]
    yield "parts of 2^62 columns", net([sizes], parts, inputs=[onnx.value("x", onnx.FLOAT, [1, 3, 2])], domains=["com.microsoft"]), ["in 6 columns"]
    big = [onnx.node("ConstantOfShape", ["s"], ["z"]), onnx.node("Add", ["x", "z"], ["y"])]
    yield "a shape of 10^12 elements", net(big, [onnx.ints("s", [2], [10 ** 6, 10 ** 6])]), ["ConstantOfShape", "1000000x1000000"]
    large = net([onnx.node("ConstantOfShape", ["s"], ["z"]), onnx.node("Add", ["z", "x"], ["y"])], [onnx.ints("s", [1], [2 ** 31 - 1])])
    yield "a constant of 2^31 elements", large, ["max_memory_bytes"]
    volume = onnx.value("x", onnx.FLOAT, [1, 1, 1000, 1000, 900])
    for kind, outputs in (("AveragePool", ["y"]), ("MaxPool", ["v", "y"])):
        pool = onnx.node(kind, ["x"], outputs, kernel_shape=[2, 2, 2], dilations=[2, 2, 2])
        result = onnx.value("y", onnx.FLOAT if kind == "AveragePool" else onnx.INT64, [])
        yield f"{kind} of 9 * 10^8 windows", onnx.model(onnx.graph([pool], [volume], [result], ()), opset=19), ["max_memory_bytes"]
    yield from odd_forms()
    yield from large_demands(folder)
    yield from definitions()
    yield from long_searches()
    yield from wrong_forms()
    number = [onnx.value("x", onnx.FLOAT, []), onnx.value("a", onnx.INT64, [])]
    product = onnx.graph([onnx.node("CumProd", ["x", "a"], ["y"], exclusive=1)], number, [onnx.value("y", onnx.FLOAT, [])], ())
    yield "a fed axis of a number", onnx.model(product, opset=26), ["a number has no axes"]
    yield from learned_cases()
    yield "no bytes", b"", ["empty"]
    yield "a picture", b"\x89PNG\r\n\x1a\n" + bytes(64), ["no ONNX model"]
    yield "a size of 2^60", onnx.varint(7 << 3 | 2) + onnx.varint(2 ** 60) + bytes(8), ["are left"]
    yield "a number without end", b"\x08" + b"\xff" * 20, ["more than 10 bytes"]
    yield "two graphs", net([onnx.node("Relu", ["x"], ["y"])]) + onnx.field(7, onnx.graph([], [], [])), ["two graphs"]
    loose = onnx.field(5, onnx.field(1, 2) + onnx.field(2, 1) + onnx.field(8, "w") + onnx.field(4, struct.pack("<3f", 1, 2, 3)[:-2]))
    yield "floats of ten bytes", onnx.model(loose + onnx.graph([], [X], [Y])), ["10 bytes of floats"]


def main():
    tool, unlimited = sys.argv[1], len(sys.argv) > 2

    def limit():
        seconds = MAX_SECONDS * (10 if unlimited else 1)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        if not unlimited:
            resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, MAX_BYTES))

    wrong, count = [], 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        (folder / "inside").mkdir()
        for case, data, words in cases(folder):
            count += 1
            file = folder / "inside" / "net.onnx"
            file.write_bytes(data)
            out = folder / "net.mnn"
            out.unlink(missing_ok=True)
            done = subprocess.run([tool, "convert", file, out], capture_output=True, text=True, errors="replace",
                                  preexec_fn=limit)
            said = done.stdout + done.stderr
            if done.returncode != 1 or out.exists():
                wrong.append(f"{case}: exit code {done.returncode}, {said[:300]}")
            if not all(words):
                wrong.append(f"{case}: an empty word is found in every text")
            wrong += [f"{case}: '{word}' is missing in: {said[:400]}" for word in words if word not in said]
    if count < 30:
        wrong.append(f"only {count} files were tried")
    print(f"{count} files refused")
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
