#!/usr/bin/env python3
"""Packs the node tests of the package onnx, and cases of our own whose truth is onnxruntime's, into corpus.xz.

    pip install onnx==1.23.2 onnxruntime==1.32.0 && python3 pack_corpus.py

It needs a CPU with VNNI: elsewhere sums of onnxruntime's quantised products saturate. Not run by tests: they need the
packed file alone. Types that the format lacks are narrowed as it narrows them (64 bits to 32, bool to int32, halves and
doubles to floats); a case with others is left out, and so is one above 40,000 bytes.
"""
import pathlib
import warnings

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnx.backend.test.case.node import collect_testcases

import corpus_files

MOST_BYTES = 40_000
NARROWED = {"int64": np.int32, "bool": np.int32, "float64": np.float32, "float16": np.float32, "uint32": np.int32,
            "int16": np.int32, "uint16": np.int32, "uint64": np.int32}
# Tests with random results, and tests for which onnx itself defines another result than onnxruntime, or a rounded one.
LEFT_OUT = {"test_bernoulli", "test_bernoulli_double", "test_bernoulli_seed", "test_bernoulli_expanded",
            "test_bernoulli_double_expanded", "test_bernoulli_seed_expanded",
            "test_training_dropout", "test_training_dropout_mask", "test_training_dropout_default",
            "test_training_dropout_default_mask",
            "test_averagepool_2d_ceil_last_window_starts_on_pad",
            "test_resize_downsample_scales_linear_align_corners", "test_resize_downsample_scales_cubic_align_corners"}


def narrow(array):
    array = np.asarray(array)
    kind = NARROWED.get(str(array.dtype))
    return array.astype(kind) if kind else array


def packed(name, array):
    array = narrow(array)
    return [name, str(array.dtype), list(array.shape), np.ascontiguousarray(array).tobytes()]


def case_of(name, model, inputs, outputs, tolerance=1e-4):
    """inputs, outputs: lists of name and array; returns None where a type cannot be packed."""
    sides = {"inputs": [packed(*one) for one in inputs], "outputs": [packed(*one) for one in outputs]}
    if any(kind not in corpus_files.TYPES for side in sides.values() for _, kind, _, _ in side):
        return None
    halves = any(str(np.asarray(array).dtype) == "float16" for _, array in inputs + outputs)
    data = model.SerializeToString()
    if len(data) + sum(len(blob) for side in sides.values() for *_, blob in side) > MOST_BYTES:
        return None
    ops = sorted({(node.domain + "." if node.domain not in ("", "ai.onnx") else "") + node.op_type for node in model.graph.node})
    return {"name": name, "ops": ops, "model": data, "tolerance": 2e-3 if halves else tolerance, **sides}


def node_tests():
    for test in collect_testcases(None):
        if test.name in LEFT_OUT:
            continue
        try:
            inputs, outputs = test.data_sets[0]
            if len(inputs) != len(test.model.graph.input):
                continue
            names = [[one.name for one in side] for side in (test.model.graph.input, test.model.graph.output)]
            case = case_of(test.name, test.model, list(zip(names[0], inputs)), list(zip(names[1], outputs)))
        except (TypeError, ValueError, AttributeError):
            continue  # sequences, optional values, types of other packages
        if case:
            yield case


# Node tests that are repeated with free extents of inputs: their axes.
FREED = {"attention_4d": {"Q": "0123", "K": "0123", "V": "0123"}, "attention_4d_gqa": {"Q": "0123", "K": "0123", "V": "0123"},
         "rotary_embedding": {"input": "0123", "cos_cache": "01", "sin_cache": "01", "position_ids": "01"},
         "rotary_embedding_interleaved": {"input": "0123", "cos_cache": "01", "sin_cache": "01", "position_ids": "01"},
         "rotary_embedding_3d_input": {"input": "012", "cos_cache": "01", "sin_cache": "01", "position_ids": "01"}}


def freed_node_tests():
    tests = {test.name: test for test in collect_testcases(None)}
    linear = {name.removeprefix("test_"): {"query": "1", "key": "1", "value": "1", "decay": "1", "beta": "1"}
              for name in tests if name.startswith("test_linear_attention") and not name.endswith("_expanded")}
    for name, axes in (FREED | linear).items():
        test = tests["test_" + name]
        graph = test.model.graph
        for value in graph.input:
            for axis in axes.get(value.name, ""):
                value.type.tensor_type.shape.dim[int(axis)].dim_param = f"{value.name}{axis}"
        inputs, outputs = test.data_sets[0]
        names = [[one.name for one in side] for side in (graph.input, graph.output)]
        yield case_of(f"own_free_{name}", test.model, list(zip(names[0], inputs)), list(zip(names[1], outputs)))


RANDOM = np.random.default_rng(0)


def floats(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


KINDS = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.int64): TensorProto.INT64, np.dtype(np.int32): TensorProto.INT32,
         np.dtype(np.uint8): TensorProto.UINT8, np.dtype(np.int8): TensorProto.INT8, np.dtype(bool): TensorProto.BOOL}


def own_case(name, nodes, feed, constants=None, outputs=("y",), opset=18, free=(), tolerance=1e-4, same=None, plain=False):
    """Adds a case with onnxruntime's results. same: nodes with the same meaning, where it does not run these. plain:
    without onnxruntime's optimisations, which turn float weights into codes. free: names of inputs whose extents have
    names in the model, or a dictionary of names with such axes. tolerance: for codes, their maximum difference."""
    open_axes = free if isinstance(free, dict) else {key: range(feed[key].ndim) for key in free}
    shapes = {key: [f"{key}{i}" if i in open_axes.get(key, ()) else extent for i, extent in enumerate(array.shape)]
              for key, array in feed.items()}
    inputs = [helper.make_tensor_value_info(key, KINDS[array.dtype], shapes[key]) for key, array in feed.items()]
    others = [helper.make_opsetid(domain, 1) for domain in sorted({one.domain for one in nodes} - {""})]
    initializers = [value if isinstance(value, TensorProto) else numpy_helper.from_array(value, key) for key, value in (constants or {}).items()]

    def model(kinds, nodes=nodes):
        results = [helper.make_tensor_value_info(out, kind, None) for out, kind in zip(outputs, kinds)]
        graph = helper.make_graph(nodes, "g", inputs, results, initializers)
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), *others])
        made.ir_version = 9
        return made

    made = model([TensorProto.UNDEFINED] * len(outputs), same or nodes)
    for out in made.graph.output:
        out.ClearField("type")
    options = onnxruntime.SessionOptions()
    if plain:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(made.SerializeToString(), options, providers=["CPUExecutionProvider"])
    truth = session.run(list(outputs), feed)
    made = model([KINDS[array.dtype] for array in truth])
    case = case_of("own_" + name, made, list(feed.items()), list(zip(outputs, truth)), tolerance)
    if not case:
        raise ValueError(f"{name} cannot be packed")
    return case


def own_cases():
    node = helper.make_node
    x = floats(1, 2, 7, 7)
    yield own_case("conv_same_lower", [node("Conv", ["x", "w"], ["y"], auto_pad="SAME_LOWER", strides=[2, 2])],
                   {"x": floats(1, 2, 8, 8)}, {"w": floats(3, 2, 3, 3)})
    yield own_case("conv_3d_relu", [node("Conv", ["x", "w"], ["c"]), node("Relu", ["c"], ["y"])],
                   {"x": floats(1, 2, 5, 5, 5)}, {"w": floats(3, 2, 3, 3, 3)})
    yield own_case("conv_1d_groups", [node("Conv", ["x", "w", "b"], ["y"], group=2, pads=[1, 2], dilations=[2])],
                   {"x": floats(2, 4, 9)}, {"w": floats(6, 2, 3), "b": floats(6)})
    yield own_case("conv_fed_groups", [node("Conv", ["x", "w"], ["y"], group=2)], {"x": x, "w": floats(4, 1, 3, 3)})
    yield own_case("conv_depthwise", [node("Conv", ["x", "w", "b"], ["y"], group=2, pads=[1, 1, 1, 1])], {"x": x},
                   {"w": floats(2, 1, 3, 3), "b": floats(2)})
    yield own_case("conv_transpose_shape", [node("ConvTranspose", ["x", "w"], ["y"], strides=[2, 2], output_shape=[14, 14])],
                   {"x": x}, {"w": floats(2, 3, 3, 3)})
    yield own_case("conv_transpose_3d_groups", [node("ConvTranspose", ["x", "w", "b"], ["y"], group=2, strides=[2, 1, 2])],
                   {"x": floats(1, 4, 3, 3, 3)}, {"w": floats(4, 2, 2, 3, 2), "b": floats(4)})
    yield own_case("conv_transpose_groups", [node("ConvTranspose", ["x", "w", "b"], ["y"], group=2, strides=[2, 2],
                                                  output_padding=[1, 0])],
                   {"x": floats(1, 4, 3, 3)}, {"w": floats(4, 3, 3, 3), "b": floats(6)})
    yield own_case("conv_free", [node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1], strides=[2, 2])], {"x": x},
                   {"w": floats(3, 2, 3, 3)}, free=("x",))
    for reverse in ("reverse", "bidirectional"):
        several = 1 if reverse == "reverse" else 2
        yield own_case(f"lstm_{reverse}", [node("LSTM", ["x", "W", "R", "B"], ["y", "h", "c"], hidden_size=4, direction=reverse)],
                       {"x": floats(5, 2, 3)}, {"W": floats(several, 16, 3), "R": floats(several, 16, 4),
                                                "B": floats(several, 32)}, ("y", "h", "c"))
        for linear in (0, 1):
            yield own_case(f"gru_{reverse}_{linear}",
                           [node("GRU", ["x", "W", "R", "B"], ["y", "h"], hidden_size=4, direction=reverse,
                                 linear_before_reset=linear)],
                           {"x": floats(5, 2, 3)}, {"W": floats(several, 12, 3), "R": floats(several, 12, 4),
                                                    "B": floats(several, 24)}, ("y", "h"))
        yield own_case(f"rnn_{reverse}", [node("RNN", ["x", "W", "R", "B", "", "h0"], ["y", "h"], hidden_size=4, direction=reverse)],
                       {"x": floats(5, 2, 3), "h0": floats(several, 2, 4)},
                       {"W": floats(several, 4, 3), "R": floats(several, 4, 4), "B": floats(several, 8)}, ("y", "h"))
    yield own_case("global_lp_pool", [node("GlobalLpPool", ["x"], ["y"], p=3)], {"x": x})
    yield own_case("max_roi_pool", [node("MaxRoiPool", ["x", "r"], ["y"], pooled_shape=[2, 2], spatial_scale=0.5)],
                   {"x": x, "r": np.array([[0, 1, 1, 9, 9], [0, 0, 2, 6, 12]], np.float32)})
    yield own_case("upsample_linear", [node("Upsample", ["x", "s"], ["y"], mode="linear")], {"x": x},
                   {"s": np.array([1, 1, 2, 2], np.float32)}, opset=9)
    yield own_case("softmax_12", [node("Softmax", ["x"], ["y"], axis=1)], {"x": x}, opset=12)
    yield own_case("pad_axes", [node("Pad", ["x", "p", "", "a"], ["y"])], {"x": floats(2, 3, 4)},
                   {"p": np.array([1, 2], np.int64), "a": np.array([1], np.int64)})
    yield own_case("slice_far_end", [node("Slice", ["x", "s", "e", "a", "t"], ["y"])], {"x": floats(4, 5)},
                   {"s": np.array([-100, 4]), "e": np.array([2**62, -2**62]), "a": np.array([0, 1]), "t": np.array([1, -2])})
    yield own_case("gather_negative_fed", [node("Gather", ["x", "i"], ["y"], axis=1)],
                   {"x": floats(3, 5), "i": np.array([-1, 0, -5])})
    yield own_case("resize_antialias", [node("Resize", ["x", "", "s"], ["y"], mode="linear", antialias=1)], {"x": x},
                   {"s": np.array([1, 1, .5, .5], np.float32)})
    yield own_case("resize_free", [node("Resize", ["x", "", "s"], ["y"], mode="linear")], {"x": x},
                   {"s": np.array([1, 1, 2.5, 2.5], np.float32)}, free=("x",))
    yield own_case("flatten_free", [node("Shape", ["x"], ["s"]), node("Gather", ["s", "i"], ["n"]), node("Unsqueeze", ["n", "i0"], ["u"]),
                                    node("Concat", ["u", "m"], ["t"], axis=0), node("Reshape", ["x", "t"], ["y"])],
                   {"x": floats(3, 2, 4)}, {"i": np.array(0), "i0": np.array([0]), "m": np.array([-1])}, free=("x",))
    yield own_case("cast_to_bool", [node("Cast", ["x"], ["b"], to=9), node("Cast", ["b"], ["y"], to=1)],
                   {"x": np.array([5, 0, -2], np.float32)})
    yield own_case("output_is_input", [node("Relu", ["x"], ["h"]), node("Identity", ["x"], ["y"])], {"x": floats(3)}, outputs=("h", "y"))
    yield own_case("output_twice", [node("Relu", ["x"], ["h"]), node("Identity", ["h"], ["y"])], {"x": floats(3)}, outputs=("h", "y"))
    quantised = {"as": np.float32(.03), "az": np.uint8(128), "bs": np.float32(.02), "bz": np.uint8(120), "ys": np.float32(.05),
                 "yz": np.uint8(110)}
    codes = {"a": RANDOM.integers(0, 255, (3, 4)).astype(np.uint8), "b": RANDOM.integers(0, 255, (3, 4)).astype(np.uint8)}
    for op in ("QLinearAdd", "QLinearMul"):
        yield own_case(op.lower(), [node(op, ["a", "as", "az", "b", "bs", "bz", "ys", "yz"], ["y"], domain="com.microsoft")],
                       codes, quantised, tolerance=1.0)
    yield own_case("contrib_rotary", [node("RotaryEmbedding", ["x", "p", "c", "s"], ["y"], domain="com.microsoft")],
                   {"x": floats(2, 3, 4, 6), "p": np.array([[0, 2, 1, 5], [3, 4, 1, 0]])}, {"c": floats(8, 3), "s": floats(8, 3)})
    yield from more_cases(node, x)


def more_cases(node, x):
    def contrib(name, inputs, feed, constants=None, outputs=("y",), tolerance=1e-4, **attributes):
        listed = [""] * (4 - len(outputs)) if len(outputs) == 2 else []
        made = node(name, inputs, [outputs[0]] + listed + list(outputs[1:]), domain="com.microsoft", **attributes)
        return own_case(name.lower(), [made], feed, constants, outputs, tolerance=tolerance)

    yield own_case("matmul_rank_1", [node("MatMul", ["x", "w"], ["y"])], {"x": floats(4), "w": floats(4)})
    yield own_case("mish", [node("Mish", ["x"], ["y"])], {"x": floats(3, 7) * 9})
    yield own_case("celu", [node("Celu", ["x"], ["y"], alpha=0.5)], {"x": floats(3, 7)})
    yield own_case("col2im", [node("Col2Im", ["x", "s", "b"], ["y"], pads=[1, 0, 1, 0], strides=[2, 1])], {"x": floats(2, 12, 6)},
                   {"s": np.array([3, 4]), "b": np.array([2, 2])})
    hidden = {"x": floats(2, 3, 8), "z": floats(2, 3, 8)}
    gamma, beta, bias = floats(8), floats(8), floats(8)
    yield contrib("Gelu", ["x"], {"x": floats(3, 5)})
    yield contrib("QuickGelu", ["x"], {"x": floats(3, 5)})
    yield contrib("BiasGelu", ["x", "b"], {"x": floats(3, 8)}, {"b": bias})
    yield contrib("FastGelu", ["x", "b"], {"x": floats(3, 8)}, {"b": bias})
    yield contrib("FusedMatMul", ["x", "w"], {"x": floats(2, 4, 3), "w": floats(4, 5)}, alpha=0.5, transA=1)
    yield contrib("SkipLayerNormalization", ["x", "z", "g", "e", "b"], hidden, {"g": gamma, "e": beta, "b": bias}, ("y", "s"))
    yield contrib("SkipSimplifiedLayerNormalization", ["x", "z", "g", "b"], hidden, {"g": gamma, "b": bias}, ("y", "s"))
    yield own_case("simplifiedlayernormalization", [node("SimplifiedLayerNormalization", ["x", "g"], ["y"], axis=-1)],
                   {"x": hidden["x"]}, {"g": gamma})
    yield contrib("FusedConv", ["x", "w", "b"], {"x": x}, {"w": floats(3, 2, 3, 3), "b": floats(3)}, activation="LeakyRelu",
                  activation_params=[0.1])
    for bits in (4, 8):
        packed_size = 32 * bits // 8
        yield own_case(f"matmulnbits_{bits}",
                       [node("MatMulNBits", ["x", "w", "s", "z"], ["y"], domain="com.microsoft", K=40, N=3, bits=bits, block_size=32)],
                       {"x": floats(2, 40)}, {"w": RANDOM.integers(0, 255, (3, 2, packed_size)).astype(np.uint8),
                                              "s": np.abs(floats(6)) * .1,
                                              "z": RANDOM.integers(0, 255, 3 * (1 if bits == 4 else 2)).astype(np.uint8)})
    yield own_case("dynamic_quantisation",
                   [node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]), node("MatMulInteger", ["q", "w", "z"], ["m"]),
                    node("Cast", ["m"], ["f"], to=1), node("Mul", ["f", "s"], ["y"])],
                   {"x": floats(4, 6)}, {"w": RANDOM.integers(-127, 127, (6, 3)).astype(np.int8)})
    pictures = RANDOM.integers(0, 255, (1, 2, 7, 7)).astype(np.uint8)
    yield own_case("qlinearconv", [node("QLinearConv", ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"], ["y"])], {"x": pictures},
                   {"xs": np.float32(.03), "xz": np.uint8(128), "w": RANDOM.integers(-127, 127, (3, 2, 3, 3)).astype(np.int8),
                    "ws": np.array([.01, .02, .015], np.float32), "wz": np.zeros(3, np.int8), "ys": np.float32(.1), "yz": np.uint8(120),
                    "b": RANDOM.integers(-999, 999, 3).astype(np.int32)}, tolerance=1.0)

    # ---- Branches, loops, sequences ----
    tensor = helper.make_tensor_value_info

    def body(nodes, inputs, outputs, constants=None):
        made = {key: tensor(key, kind, shape) for key, kind, shape in inputs}
        results = [tensor(key, kind, shape) for key, kind, shape in outputs]
        return helper.make_graph(nodes, "body", list(made.values()), results,
                                 [numpy_helper.from_array(value, key) for key, value in (constants or {}).items()])

    real, whole, true = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
    for chosen in (True, False):
        yes = body([node("Add", ["x", "w"], ["t"])], [], [("t", real, None)], {"w": floats(3)})
        no = body([node("Mul", ["x", "z"], ["u"]), node("Sub", ["u", "x"], ["e"])], [], [("e", real, None)])
        yield own_case(f"if_{chosen}".lower(), [node("If", ["c"], ["y"], then_branch=yes, else_branch=no)],
                       {"c": np.array(chosen), "x": floats(2, 3), "z": floats(2, 3)})
    counting = body([node("Add", ["a", "w"], ["b"]), node("Mul", ["b", "x"], ["s"]), node("Identity", ["k"], ["m"])],
                    [("i", whole, []), ("k", true, []), ("a", real, [2, 3])], [("m", true, []), ("b", real, [2, 3]), ("s", real, [2, 3])],
                    {"w": floats(3)})
    yield own_case("loop", [node("Loop", ["n", "", "x"], ["f", "y"], body=counting)], {"n": np.array(4), "x": floats(2, 3)},
                   outputs=("f", "y"))
    growing = body([node("Concat", ["a", "x"], ["b"], axis=0), node("Less", ["i", "n"], ["m"])],
                   [("i", whole, []), ("k", true, []), ("a", real, None)], [("m", true, []), ("b", real, None)], {"n": np.array(2)})
    yield own_case("loop_growing", [node("Loop", ["", "c", "x"], ["y"], body=growing)], {"c": np.array(True), "x": floats(1, 3)})
    inner = body([node("Mul", ["a", "x"], ["t"])], [], [("t", real, None)])
    other = body([node("Add", ["a", "x"], ["e"])], [], [("e", real, None)])
    nested = body([node("Equal", ["i", "one"], ["q"]), node("If", ["q"], ["b"], then_branch=inner, else_branch=other),
                   node("Identity", ["k"], ["m"])],
                  [("i", whole, []), ("k", true, []), ("a", real, [3])], [("m", true, []), ("b", real, [3])], {"one": np.array(1)})
    yield own_case("loop_with_branch", [node("Loop", ["n", "", "x"], ["y"], body=nested)], {"n": np.array(3), "x": floats(3)})
    summing = body([node("Add", ["a", "e"], ["b"]), node("Mul", ["b", "w"], ["o"])],
                   [("a", real, [2]), ("e", real, [2])], [("b", real, [2]), ("o", real, [2])], {"w": floats(2)})
    yield own_case("scan_backwards", [node("Scan", ["a0", "x"], ["f", "y"], num_scan_inputs=1, body=summing, scan_input_axes=[1],
                                           scan_input_directions=[1], scan_output_axes=[1], scan_output_directions=[1])],
                   {"a0": floats(2), "x": floats(2, 5)}, outputs=("f", "y"))
    zero, one = np.array(0), np.array(-1)
    yield own_case("sequences", [node("SequenceConstruct", ["x", "z"], ["s"]), node("SequenceInsert", ["s", "x", "zero"], ["t"]),
                                 node("SequenceErase", ["t", "one"], ["u"]), node("ConcatFromSequence", ["u"], ["y"], axis=1),
                                 node("SequenceLength", ["u"], ["l"]), node("SequenceAt", ["t", "one"], ["v"]),
                                 node("SplitToSequence", ["x", "two"], ["p"], axis=1), node("ConcatFromSequence", ["p"], ["r"], axis=0)],
                   {"x": floats(2, 4), "z": floats(2, 4)}, {"zero": zero, "one": one, "two": np.array(2)}, ("y", "l", "v", "r"))
    yield own_case("sequence_empty", [node("SequenceEmpty", [], ["s"]), node("SequenceInsert", ["s", "x"], ["t"]),
                                      node("SequenceAt", ["t", "zero"], ["y"])], {"x": floats(2)}, {"zero": zero})
    yield own_case("optional", [node("Optional", ["x"], ["o"]), node("OptionalGetElement", ["o"], ["e"]), node("Relu", ["e"], ["y"]),
                                node("OptionalHasElement", ["o"], ["h"])], {"x": floats(2, 3)}, outputs=("y", "h"))
    yield own_case("scatter", [node("Scatter", ["x", "i", "u"], ["y"], axis=1)],
                   {"x": floats(3, 4), "i": np.array([[1, 0], [2, 3], [0, 2]]), "u": floats(3, 2)}, opset=10)


def codes(kind, *shape):
    low, high = (0, 256) if kind == np.uint8 else (-128, 128)
    return RANDOM.integers(low, high, shape).astype(kind)


def quantised_cases():
    """Nets of codes: outputs are codes, at most one away from onnxruntime's."""
    node = helper.make_node
    real, u8, i8 = np.float32, np.uint8, np.int8

    def pair(name, scale, zero, constants):
        """Quantises and dequantises `name`, as name + "d"."""
        constants[name + "s"], constants[name + "z"] = real(scale), zero
        return [node("QuantizeLinear", [name, name + "s", name + "z"], [name + "q"]),
                node("DequantizeLinear", [name + "q", name + "s", name + "z"], [name + "d"])]

    def weights(constants, name, shape, axis, kind=i8, zero=0):
        """Codes of weights, with a scale for each position of an axis, dequantised as name + "d"."""
        count = shape[axis]
        constants[name] = codes(kind, *shape)
        constants[name + "s"] = (np.abs(floats(count)) * .01 + .005).astype(real)
        constants[name + "z"] = np.full(count, zero, kind)
        return [node("DequantizeLinear", [name, name + "s", name + "z"], [name + "d"], axis=axis)]

    for name, kind, zero, weight_kind, weight_zero in (("int8", i8, i8(-7), i8, 0), ("uint8", u8, u8(131), i8, 0),
                                                       ("relu", u8, u8(0), i8, 0), ("asymmetric", u8, u8(120), u8, 125)):
        for depthwise in (False, True):
            if depthwise and weight_zero:
                continue  # it computes with floats, which are nearer to the values than one code
            c = {"b": codes(i8, 4).astype(np.int32) * 9, "bs": np.full(4, .0004, real), "bz": np.zeros(4, np.int32)}
            nodes = pair("x", .02, kind(100), c) + weights(c, "w", (4, 1 if depthwise else 4, 3, 3), 0, weight_kind, weight_zero)
            nodes += [node("DequantizeLinear", ["b", "bs", "bz"], ["bd"], axis=0),
                      node("Conv", ["xd", "wd", "bd"], ["y"], pads=[1] * 4, strides=[2, 2], group=4 if depthwise else 1)]
            nodes += pair("y", .05, zero, c)
            yield own_case(f"qdq_conv_{name}{'_depthwise' if depthwise else ''}", nodes, {"x": floats(2, 4, 7, 7)}, c, ("yq",),
                           free=("x",), tolerance=1.0)
    c = {}
    nodes = pair("x", .02, u8(128), c) + weights(c, "w", (12, 5), 1) + [node("MatMul", ["xd", "wd"], ["m"])]
    nodes += pair("m", .03, u8(120), c) + [node("Relu", ["md"], ["r"])] + pair("r", .02, u8(0), c)
    yield own_case("qdq_matmul", nodes, {"x": floats(2, 3, 12)}, c, ("rq",), free=("x",), tolerance=1.0)
    c = {"b": floats(6)}
    nodes = pair("x", .02, i8(3), c) + weights(c, "w", (6, 8), 0) + [node("Gemm", ["xd", "wd", "b"], ["y"], transB=1)]
    yield own_case("qdq_gemm", nodes + pair("y", .03, i8(-3), c), {"x": floats(3, 8)}, c, ("yq",), free=("x",), tolerance=1.0)
    # A layer reads a value as codes and an addition reads it as floats; another value is quantised in two ways.
    c = {}
    nodes = [node("Relu", ["x"], ["a"])] + pair("a", .1, u8(0), c) + weights(c, "w", (4, 4, 1, 1), 0)
    nodes += [node("Conv", ["ad", "wd"], ["h"]), node("Add", ["h", "a"], ["y"])]
    yield own_case("qdq_read_elsewhere", nodes, {"x": floats(1, 4, 5, 5) * 3}, c, tolerance=1e-2)
    c = {"t": real(.3), "tz": u8(9)}
    nodes = pair("x", .02, u8(128), c) + [node("QuantizeLinear", ["x", "t", "tz"], ["y"]), node("Mul", ["xd", "xd"], ["m"])]
    yield own_case("qdq_two_steps", nodes + pair("m", .05, u8(0), c), {"x": floats(3, 5)}, c, ("y", "mq"), tolerance=1.0)
    # Codes are moved, joined and pooled between two layers of codes.
    c = {"w": codes(i8, 4, 4, 1, 1), "ws": real(.01), "wz": i8(0), "s": np.array([1, 4, -1])}
    layer = ["xs", "xz", "w", "ws", "wz"]
    nodes = [pair("x", .02, u8(120), c)[0], node("QLinearConv", ["xq", *layer, "xs", "xz"], ["a"]),
             node("MaxPool", ["a"], ["p"], kernel_shape=[2, 2], strides=[2, 2]), node("Concat", ["p", "p"], ["k"], axis=2),
             node("Transpose", ["k"], ["t"], perm=[0, 1, 3, 2]), node("QLinearConv", ["t", *layer, "xs", "xz"], ["e"]),
             node("Reshape", ["e", "s"], ["y"])]
    yield own_case("moved_codes", nodes, {"x": floats(1, 4, 6, 6)}, c, tolerance=1.0)
    contrib = {"domain": "com.microsoft"}
    c = {"w": codes(i8, 8, 5), "ws": np.abs(floats(5)) * .01, "wz": np.zeros(5, i8), "b": codes(i8, 5).astype(np.int32) * 20,
         "ys": real(.04), "yz": u8(99), "xs": real(.02), "xz": u8(120)}
    yield own_case("qgemm", [node("QGemm", ["x", "xs", "xz", "w", "ws", "wz", "b", "ys", "yz"], ["y"], **contrib)], {"x": codes(u8, 3, 8)}, c,
                   tolerance=1.0)
    c = {"xs": real(.03), "xz": u8(120), "ys": real(.02), "yz": u8(60), "zs": real(.05), "zz": u8(130)}
    yield own_case("qlinearconcat", [node("QLinearConcat", ["ys", "yz", "x", "xs", "xz", "z", "zs", "zz"], ["y"], axis=1, **contrib)],
                   {"x": codes(u8, 2, 3, 4), "z": codes(u8, 2, 2, 4)}, c, tolerance=1.0)
    unary = ["x", "xs", "xz", "ys", "yz"]
    shares = {"xs": real(.03), "xz": u8(120), "ys": real(1 / 256), "yz": u8(0)}
    for op, feed, constants, attributes in (
            ("QLinearSigmoid", codes(u8, 3, 7), shares, {}), ("QLinearLeakyRelu", codes(u8, 3, 7), c, {"alpha": .2}),
            ("QLinearGlobalAveragePool", codes(u8, 2, 3, 4, 5), c, {"channels_last": 0}),
            ("QLinearAveragePool", codes(u8, 2, 3, 4, 5), c, {"kernel_shape": [2, 3], "pads": [0, 1, 1, 0]}),
            ("QLinearSoftmax", codes(u8, 2, 3, 9), shares, {"axis": -1, "opset": 13})):
        yield own_case(op.lower(), [node(op, unary, ["y"], **contrib, **attributes)], {"x": feed},
                       {key: constants[key] for key in unary[1:]}, tolerance=1.0)
    c = {"w": codes(i8, 32, 6), "ws": np.abs(floats(6)) * .01, "wz": np.zeros(6, i8), "b": floats(6)}
    yield own_case("dynamicquantizematmul", [node("DynamicQuantizeMatMul", ["x", "w", "ws", "wz", "b"], ["y"], **contrib)],
                   {"x": floats(2, 3, 32)}, c, free=("x",), tolerance=2e-2)
    for bits in (4, 8):
        yield own_case(f"matmulnbits_{bits}_whole",
                       [node("MatMulNBits", ["x", "w", "s", "z", "", "b"], ["y"], **contrib, K=64, N=3, bits=bits, block_size=32)],
                       {"x": floats(2, 3, 64)}, {"w": codes(u8, 3, 2, 32 * bits // 8), "s": np.abs(floats(6)) * .1,
                                                 "z": codes(u8, 3 * (1 if bits == 4 else 2)), "b": floats(3)}, free=("x",))


def attention_cases():
    contrib = {"domain": "com.microsoft"}

    def case(name, op, inputs, feed, constants=None, outputs=("y",), **attributes):
        return own_case(name, [helper.make_node(op, inputs, list(outputs), **contrib, **attributes)], feed, constants, outputs)

    x, seen = floats(2, 5, 8), np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)
    weights = {"w": floats(8, 24) * .5, "b": floats(24)}
    yield case("attention_mask", "Attention", ["x", "w", "b", "m"], {"x": x, "m": seen}, weights, num_heads=2)
    yield case("attention_causal_past", "Attention", ["x", "w", "b", "", "p"], {"x": x, "p": floats(2, 2, 2, 3, 4)}, weights, ("y", "n"),
               num_heads=2, unidirectional=1)
    yield case("attention_sizes_bias", "Attention", ["x", "w", "b", "", "", "a"], {"x": x, "a": floats(2, 2, 5, 5)},
               {"w": floats(8, 28) * .5, "b": floats(28)}, num_heads=2, qkv_hidden_sizes=[8, 8, 12], scale=.3)
    q, k, v = floats(2, 3, 8), floats(2, 5, 8), floats(2, 5, 8)
    yield case("multihead_bias_mask", "MultiHeadAttention", ["q", "k", "v", "b", "m", "a"],
               {"q": q, "k": k, "v": v, "m": seen, "a": floats(1, 2, 3, 5)}, {"b": floats(24)}, num_heads=2)
    apart = [node for i, name in enumerate("abc") for node in (
        helper.make_node("Gather", ["q", f"i{i}"], [name + "4"], axis=3), helper.make_node("Reshape", [name + "4", "r"], [name]))]
    numbers = {"i0": np.array(0), "i1": np.array(1), "i2": np.array(2), "r": np.array([0, 0, 8])}
    yield own_case("multihead_packed", [helper.make_node("MultiHeadAttention", ["q"], ["y"], num_heads=2, **contrib)],
                   {"q": floats(2, 4, 2, 3, 4)}, numbers,
                   same=apart + [helper.make_node("MultiHeadAttention", ["a", "b", "c"], ["y"], num_heads=2, **contrib)])
    apart = [node for i, name in enumerate("ab") for node in (
        helper.make_node("Gather", ["k", f"i{i}"], [name + "4"], axis=3), helper.make_node("Reshape", [name + "4", "r"], [name]))]
    yield own_case("multihead_packed_keys", [helper.make_node("MultiHeadAttention", ["q", "k"], ["y"], num_heads=2, **contrib)],
                   {"q": q, "k": floats(2, 5, 2, 2, 4)}, numbers,
                   same=apart + [helper.make_node("MultiHeadAttention", ["q", "a", "b"], ["y"], num_heads=2, **contrib)])
    yield case("multihead_past", "MultiHeadAttention", ["q", "k", "v", "", "", "", "pk", "pv"],
               {"q": q, "k": floats(2, 3, 8), "v": floats(2, 3, 8), "pk": floats(2, 2, 4, 4), "pv": floats(2, 2, 4, 4)},
               outputs=("y", "nk", "nv"), num_heads=2, unidirectional=1)

    def group(name, inputs, feed, past, **attributes):
        length = feed["q"].shape[1] + past
        ends = {"s": np.full(2, length - 1, np.int32), "t": np.array(length, np.int32)}
        return case(f"group_{name}", "GroupQueryAttention", inputs, feed, {**ends, "cos": floats(16, 8), "sin": floats(16, 8)},
                    ("y", "nk", "nv"), num_heads=4, kv_num_heads=2, **attributes)

    feed = {"q": floats(2, 5, 64), "k": floats(2, 5, 32), "v": floats(2, 5, 32)}
    plain = ["q", "k", "v", "", "", "s", "t"]
    yield group("plain", plain, feed, 0)
    yield group("window_cap", plain, feed, 0, local_window_size=2, softcap=1.5)
    yield group("rotary", plain + ["cos", "sin"], feed, 0, do_rotary=1)
    yield group("packed_interleaved", ["q", "", "", "", "", "s", "t", "cos", "sin"], {"q": floats(2, 5, 128)}, 0, do_rotary=1,
                rotary_interleaved=1)
    one = {"q": floats(2, 1, 64), "k": floats(2, 1, 32), "v": floats(2, 1, 32), "pk": floats(2, 2, 6, 16), "pv": floats(2, 2, 6, 16)}
    yield group("past", ["q", "k", "v", "pk", "pv", "s", "t", "cos", "sin"], one, 6, do_rotary=1)


def chain_cases():
    """Groups of operators that exporters write in place of one operator, in several orders."""
    node = helper.make_node
    real = np.float32
    numbers = {"root": real(2 ** .5), "less": real(.5 ** .5), "one": real(1), "half": real(.5), "two": real(2), "eps": real(1e-5)}
    for name, nodes in (
            ("half_last", [node("Div", ["x", "root"], ["d"]), node("Erf", ["d"], ["e"]), node("Add", ["e", "one"], ["o"]),
                           node("Mul", ["x", "o"], ["p"]), node("Mul", ["p", "half"], ["y"])]),
            ("half_of_sum", [node("Mul", ["less", "x"], ["d"]), node("Erf", ["d"], ["e"]), node("Add", ["one", "e"], ["o"]),
                             node("Mul", ["half", "o"], ["p"]), node("Mul", ["p", "x"], ["y"])]),
            ("half_first", [node("Div", ["x", "root"], ["d"]), node("Erf", ["d"], ["e"]), node("Add", ["e", "one"], ["o"]),
                            node("Mul", ["x", "half"], ["p"]), node("Mul", ["p", "o"], ["y"])]),
            ("not_one", [node("Div", ["x", "root"], ["d"]), node("Erf", ["d"], ["e"]), node("Add", ["e", "two"], ["o"]),
                         node("Mul", ["x", "o"], ["p"]), node("Mul", ["p", "half"], ["y"])])):
        yield own_case(f"gelu_{name}", nodes, {"x": floats(3, 7)}, numbers, free=("x",))
    scale = {"g": floats(6), "b": floats(6), **numbers}
    mean = node("ReduceMean", ["x"], ["m"], axes=[-1])
    centre = node("Sub", ["x", "m"], ["c"])
    rest = [node("ReduceMean", ["q"], ["v"], axes=[-1]), node("Add", ["v", "eps"], ["a"]), node("Sqrt", ["a"], ["r"])]
    for name, nodes in (
            ("power", [mean, centre, node("Pow", ["c", "two"], ["q"]), *rest, node("Div", ["c", "r"], ["n"]), node("Mul", ["n", "g"], ["s"]),
                       node("Add", ["s", "b"], ["y"])]),
            ("product", [mean, centre, node("Mul", ["c", "c"], ["q"]), *rest, node("Sub", ["x", "m"], ["z"]), node("Div", ["z", "r"], ["n"]),
                         node("Mul", ["g", "n"], ["y"])]),
            ("plain", [mean, centre, node("Mul", ["c", "c"], ["q"]), *rest, node("Div", ["c", "r"], ["y"])]),
            ("other_axis", [node("ReduceMean", ["x"], ["m"], axes=[1]), centre, node("Mul", ["c", "c"], ["q"]), *rest,
                            node("Div", ["c", "r"], ["y"])])):
        yield own_case(f"layer_norm_{name}", nodes, {"x": floats(2, 5, 6)}, scale, opset=17)


def rms_cases():
    """x / sqrt(mean(x * x) + epsilon) in the exporters' form, and groups that only look like it."""
    node = helper.make_node
    c = {"two": np.float32(2), "eps": np.float32(1e-5), "one": np.float32(1), "g": floats(6), "h": floats(5, 1)}
    root = [node("ReduceMean", ["q"], ["v"], axes=[-1]), node("Add", ["v", "eps"], ["a"]), node("Sqrt", ["a"], ["r"])]
    power, product = node("Pow", ["x", "two"], ["q"]), node("Mul", ["x", "x"], ["q"])
    for name, nodes in (
            ("reciprocal", [power, *root, node("Reciprocal", ["r"], ["i"]), node("Mul", ["x", "i"], ["n"]), node("Mul", ["g", "n"], ["y"])]),
            ("one_by", [product, *root, node("Div", ["one", "r"], ["i"]), node("Mul", ["i", "x"], ["n"]), node("Mul", ["n", "g"], ["y"])]),
            ("divided", [power, *root, node("Div", ["x", "r"], ["n"]), node("Mul", ["n", "g"], ["m"]), node("Add", ["m", "g"], ["y"])]),
            ("by_row", [power, *root, node("Div", ["x", "r"], ["n"]), node("Mul", ["n", "h"], ["y"])]),
            ("of_another", [power, *root, node("Neg", ["x"], ["z"]), node("Abs", ["z"], ["w"]), node("Div", ["w", "r"], ["y"])])):
        yield own_case(f"rms_{name}", nodes, {"x": floats(3, 5, 6)}, c, opset=13)


def recurrent_cases():
    lengths = {"x": floats(5, 3, 4), "n": np.array([5, 2, 3], np.int32)}
    for op, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
        for direction, count in (("forward", 1), ("reverse", 1), ("bidirectional", 2)):
            constants = {"W": floats(count, gates * 3, 4), "R": floats(count, gates * 3, 3), "B": floats(count, gates * 6)}
            layer = helper.make_node(op, ["x", "W", "R", "B", "n"], ["y", "h"], hidden_size=3, direction=direction)
            yield own_case(f"{op.lower()}_lengths_{direction}", [layer], lengths, constants, ("y", "h"))
    for direction, count in (("forward", 1), ("reverse", 1), ("bidirectional", 2)):
        constants = {"W": floats(count, 12, 4), "R": floats(count, 12, 3), "B": floats(count, 24), "P": floats(count, 9)}
        layer = helper.make_node("LSTM", ["x", "W", "R", "B", "", "h0", "c0", "P"], ["y", "h", "c"], hidden_size=3, direction=direction)
        yield own_case(f"lstm_peepholes_{direction}", [layer],
                       {"x": floats(5, 2, 4), "h0": floats(count, 2, 3), "c0": floats(count, 2, 3)}, constants, ("y", "h", "c"))


def stepwise_cases():
    """Recurrent layers whose steps no operator of the format computes."""
    def case(name, op, gates, count=1, feed=(), outputs=("y", "h"), free=(), **attributes):
        constants = {"W": floats(count, gates * 3, 4), "R": floats(count, gates * 3, 3), "B": floats(count, gates * 6)}
        given = {"x": floats(5, 2, 4), **dict(feed)}
        names = ["x", "W", "R", "B"] + [key if key in given else "" for key in ("n", "h0", "c0", "P")]
        while not names[-1]:
            names.pop()
        constants.update({key: given.pop(key) for key in ("P",) if key in given and "P" not in free})
        layer = helper.make_node(op, names, list(outputs), hidden_size=3, **attributes)
        return own_case(name, [layer], given, constants, outputs, free=free)

    cells = ("y", "h", "c")
    lengths = {"n": np.array([5, 2], np.int32)}
    for direction, count in (("forward", 1), ("reverse", 1), ("bidirectional", 2)):
        states = {"h0": floats(count, 2, 3), "c0": floats(count, 2, 3)}
        peepholes = {"P": floats(count, 9)}
        yield case(f"lstm_clip_{direction}", "LSTM", 4, count, states, cells, clip=.6, direction=direction)
        yield case(f"lstm_lengths_cells_{direction}", "LSTM", 4, count, states | lengths, cells, direction=direction)
        yield case(f"lstm_peepholes_free_{direction}", "LSTM", 4, count, states | peepholes, cells, ("x", "P"), direction=direction)
        yield case(f"gru_clip_{direction}", "GRU", 3, count, clip=.5, direction=direction)
    yield case("lstm_coupled", "LSTM", 4, outputs=cells, input_forget=1)
    yield case("lstm_coupled_peepholes_lengths", "LSTM", 4, feed={"P": floats(1, 9), **lengths}, outputs=cells, free=("x",), input_forget=1,
               clip=1.5)
    yield case("lstm_activations", "LSTM", 4, 2, outputs=cells, direction="bidirectional",
               activations=["HardSigmoid", "Softsign", "Tanh", "Sigmoid", "LeakyRelu", "Elu"], activation_alpha=[.3, .1, .7],
               activation_beta=[.4])
    yield case("gru_linear_clip", "GRU", 3, clip=.5, linear_before_reset=1)
    yield case("gru_activations_lengths", "GRU", 3, feed=lengths, activations=["Sigmoid", "Softplus"], free=("x",))
    yield case("rnn_clip", "RNN", 1, clip=.4)
    yield case("rnn_relu_scaled", "RNN", 1, 2, activations=["Relu", "ScaledTanh"], activation_alpha=[.8], activation_beta=[1.3],
               direction="bidirectional")
    yield case("rnn_affine", "RNN", 1, activations=["Affine"], activation_alpha=[.2], activation_beta=[.1])
    yield case("rnn_thresholded", "RNN", 1, activations=["ThresholdedRelu"], activation_alpha=[.4])
    for rank in (1, 2):
        c = {"W": codes(np.int8, 1, 16, 12), "R": codes(np.int8, 1, 3, 12), "B": floats(1, 24) * .3}
        for key in ("W", "R"):
            c[key + "s"] = (np.abs(floats(*(1, 12)[:rank])) * .002 + .002).astype(np.float32)
            c[key + "z"] = np.zeros((1, 12)[:rank], np.int8)
        layer = helper.make_node("DynamicQuantizeLSTM", ["x", "W", "R", "B", "", "", "", "", "Ws", "Wz", "Rs", "Rz"], list(cells),
                                 domain="com.microsoft", hidden_size=3)
        yield own_case(f"dynamicquantizelstm_{rank}", [layer], {"x": floats(5, 2, 16)}, c, cells, tolerance=2e-2)


def rounded_cases():
    """Operators that compute with floats between quantised values: these are rounded to codes, and limited to the range
    of the codes, which most values here exceed. Results are values, at most one code away from onnxruntime's."""
    node = helper.make_node
    real, u8, i8 = np.float32, np.uint8, np.int8

    def pair(name, out, scale, zero, constants):
        constants[name + "s"], constants[name + "z"] = real(scale), zero
        return [node("QuantizeLinear", [name, name + "s", name + "z"], [name + "q"]),
                node("DequantizeLinear", [name + "q", name + "s", name + "z"], [out])]

    def case(name, nodes, feed, constants, scale, zero, free=("x",)):
        constants = dict(constants)
        front = [one for key in feed for one in pair(key, key + "d", .03, u8(120), constants)]
        back = pair("r", "v", scale, zero, constants) + [node("Relu", ["v"], ["w0"]), node("Neg", ["v"], ["y"])]
        return own_case(f"rounded_{name}", front + nodes + back, feed, constants, ("w0", "y"), free=free, tolerance=1.05 / 117, plain=True)

    x = floats(1, 4, 6, 6) * 2
    yield case("softmax", [node("Softmax", ["xd"], ["r"], axis=-1)], {"x": x}, {}, 1 / 512, i8(-60))
    yield case("mean", [node("ReduceMean", ["xd", "a"], ["r"])], {"x": x}, {"a": np.array([2, 3])}, .004, u8(60))
    yield case("product", [node("MatMul", ["xd", "bd"], ["r"])], {"x": x, "b": floats(1, 4, 6, 5)}, {}, .02, i8(10), ("x", "b"))
    yield case("transposed", [node("ConvTranspose", ["xd", "k"], ["r"], strides=[2, 2])], {"x": x}, {"k": floats(4, 3, 3, 3)}, .02, u8(99))
    yield case("floats", [node("Conv", ["xd", "k"], ["r"])], {"x": x}, {"k": floats(3, 4, 3, 3)}, .02, u8(99))
    yield case("sigmoid", [node("Sigmoid", ["xd"], ["r"])], {"x": x}, {}, 1 / 400, u8(0))
    yield case("sum_of_rows", [node("Add", ["xd", "row"], ["r"])], {"x": x}, {"row": floats(6)}, .01, u8(128))
    yield case("sum", [node("Add", ["xd", "bd"], ["r"])], {"x": x, "b": floats(1, 4, 6, 6)}, {}, .01, u8(0), ("x", "b"))
    yield case("average", [node("AveragePool", ["xd"], ["r"], kernel_shape=[3, 3])], {"x": x}, {}, .006, u8(100))
    yield case("resized", [node("Resize", ["xd", "", "f"], ["r"], mode="linear")], {"x": x}, {"f": np.array([1, 1, 2, 2], real)}, .008, u8(90))
    c = {"k": codes(u8, 4, 1, 3, 3), "ks": np.abs(floats(4)) * .01 + .005, "kz": np.full(4, 117, u8)}
    nodes = [node("DequantizeLinear", ["k", "ks", "kz"], ["kd"], axis=0), node("Conv", ["xd", "kd"], ["r"], group=4)]
    yield case("depthwise", nodes, {"x": x}, c, .02, u8(120))
    # Codes as inputs of the net.
    for kind, zero in ((u8, u8(77)), (i8, i8(-9))):
        c = {"s": real(.02), "z": zero, "k": floats(3, 4, 1, 1), "t": real(.015)}
        nodes = [node("DequantizeLinear", ["x", "s", "z"], ["d"]), node("Conv", ["d", "k"], ["c"]), node("QuantizeLinear", ["c", "t", "z"], ["y"])]
        yield own_case(f"codes_in_{np.dtype(kind).name}", nodes, {"x": codes(kind, 1, 4, 5, 5)}, c, free=("x",), tolerance=1.0,
                       plain=True)


def layer_cases():
    """Operators after layers that become parts of the layers."""
    node = helper.make_node
    def norm(count):
        return {"s": np.abs(floats(count)) + .5, "b": floats(count), "m": floats(count), "v": np.abs(floats(count)) + .5}

    for name, op, x, w, channels, attributes in (
            ("volume", "Conv", floats(1, 4, 4, 5, 5), floats(6, 2, 2, 3, 3), 6, {"group": 2}),
            ("transposed", "ConvTranspose", floats(1, 4, 5, 5), floats(4, 3, 3, 3), 3, {"strides": [2, 2]}),
            ("transposed_groups", "ConvTranspose", floats(1, 4, 5, 5), floats(4, 3, 3, 3), 6, {"group": 2}),
            ("transposed_depthwise", "ConvTranspose", floats(1, 4, 5, 5), floats(4, 1, 3, 3), 4, {"group": 4}),
            ("transposed_volume", "ConvTranspose", floats(1, 4, 3, 3, 3), floats(4, 3, 2, 2, 2), 3, {})):
        nodes = [node(op, ["x", "w"], ["c"], **attributes), node("BatchNormalization", ["c", "s", "b", "m", "v"], ["n"]),
                 node("Relu", ["n"], ["y"])]
        yield own_case(f"norm_behind_{name}", nodes, {"x": x}, {"w": w, **norm(channels)})
    yield own_case("linear_relu", [node("MatMul", ["x", "w"], ["p"]), node("Add", ["p", "b"], ["s"]), node("Relu", ["s"], ["y"])],
                   {"x": floats(2, 3, 5)}, {"w": floats(5, 4), "b": floats(4)}, free=("x",))
    yield own_case("prelu_volume", [node("PRelu", ["x", "s"], ["y"])], {"x": floats(2, 3, 4, 2, 2)}, {"s": floats(3, 1, 1, 1)})


def free_cases():
    """Relations that two sets of numbers for free extents satisfy by chance, or do not satisfy at all."""
    node = helper.make_node
    one = {"i1": np.array([1]), "i0": np.array([0]), "m": np.array([64])}
    # 96 and 160 both become 64.
    nodes = [node("Shape", ["x"], ["s"]), node("Gather", ["s", "i1"], ["n"]), node("Min", ["n", "m"], ["e"]),
             node("Slice", ["x", "i0", "e", "i1"], ["c"]), node("Shape", ["c"], ["d"]), node("Concat", ["d", "i1"], ["t"], axis=0),
             node("Conv", ["c3", "w"], ["y"], pads=[1, 1])]
    nodes.insert(6, node("Reshape", ["c", "t"], ["r"]))
    nodes.insert(7, node("Transpose", ["r"], ["c3"], perm=[0, 2, 1]))
    yield own_case("clamped_length", nodes, {"x": floats(2, 7)}, one | {"w": floats(3, 1, 3)}, free=("x",))
    # 72 of 96 with 24 of padding, 96 of 160 without any.
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
    # 32 numbers, of which 0 lie in front of the last 32, for 96 and for 160; 52 and 20 here.
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


def optimised_cases():
    """Operators that onnxruntime's quantiser and optimisers write."""
    contrib = {"domain": "com.microsoft"}
    real, u8, i8 = np.float32, np.uint8, np.int8

    def case(name, op, inputs, feed, constants=None, outputs=("y",), free=(), tolerance=1e-4, **attributes):
        return own_case(name, [helper.make_node(op, inputs, list(outputs), **contrib, **attributes)], feed, constants, outputs, free=free,
                        tolerance=tolerance)

    # BERT: embeddings, which give lengths of sequences, and attention with these as its mask.
    tables = {"w": floats(11, 8), "p": floats(9, 8), "t": floats(2, 8), "g": floats(8), "b": floats(8)}
    ids = {"i": RANDOM.integers(0, 11, (2, 5)).astype(np.int32), "k": RANDOM.integers(0, 2, (2, 5)).astype(np.int32)}
    seen = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)
    yield case("embed_norm", "EmbedLayerNormalization", ["i", "k", "w", "p", "t", "g", "b", "m"], ids | {"m": seen}, tables, ("y", "n", "s"),
               free=("i", "k", "m"))
    yield case("embed_norm_positions", "EmbedLayerNormalization", ["i", "", "w", "p", "", "g", "b", "", "q"],
               {"i": ids["i"], "q": RANDOM.integers(0, 9, (2, 5)).astype(np.int32)}, {key: tables[key] for key in "wpgb"}, ("y", "n"),
               epsilon=1e-3)
    parts, small = ("w", "p", "t", "g", "b"), {}
    for i, key in enumerate(parts):
        small |= {key: codes(u8, *tables[key].shape), key + "s": real(.01 * (i + 1)), key + "z": u8(120 + i)}
    yield case("qembed_norm", "QEmbedLayerNormalization",
               ["i", "k", *parts, "m", *(key + "s" for key in parts), *(key + "z" for key in parts)], ids | {"m": seen}, small, ("y", "n"),
               free=("i", "k", "m"))
    x, lengths, ends = floats(2, 5, 8), np.array([3, 5], np.int32), np.array([3, 5, 1, 0], np.int32)
    weights = {"w": floats(8, 24) * .5, "b": floats(24)}
    yield case("attention_lengths", "Attention", ["x", "w", "b", "m"], {"x": x, "m": lengths}, weights, num_heads=2)
    yield case("attention_ends_starts", "Attention", ["x", "w", "b", "m"], {"x": x, "m": ends}, weights, num_heads=2)
    yield case("multihead_lengths", "MultiHeadAttention", ["q", "k", "v", "", "m"],
               {"q": floats(2, 3, 8), "k": floats(2, 5, 8), "v": floats(2, 5, 8), "m": lengths}, num_heads=2)
    nodes = [helper.make_node("EmbedLayerNormalization", ["i", "k", "w", "p", "t", "g", "b", "m"], ["e", "n"], **contrib),
             helper.make_node("Attention", ["e", "aw", "ab", "n"], ["y"], num_heads=2, **contrib)]
    yield own_case("embedded_attention", nodes, ids | {"m": seen}, tables | {"aw": weights["w"], "ab": weights["b"]}, free=("i", "k", "m"))
    # Codes.
    coded = {"w": codes(i8, 8, 24), "b": floats(24), "xs": real(.02), "ws": real(.005), "xz": u8(120), "wz": i8(3)}
    inputs = ["x", "w", "b", "xs", "ws", "m", "xz", "wz"]
    yield case("qattention", "QAttention", inputs, {"x": codes(u8, 2, 5, 8), "m": lengths}, coded, num_heads=2)
    coded |= {"ws": np.abs(floats(24)) * .005 + .002, "wz": np.zeros(24, i8)}
    yield case("qattention_columns_past", "QAttention", [*inputs[:5], "", *inputs[6:], "p"],
               {"x": codes(u8, 2, 5, 8), "p": floats(2, 2, 2, 3, 4)}, coded, ("y", "n"), num_heads=2, unidirectional=1)
    c = {"w": codes(i8, 16, 6), "ws": np.abs(floats(6)) * .01 + .002, "wz": np.zeros(6, i8), "b": floats(6)}
    nodes = [helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
             helper.make_node("MatMulIntegerToFloat", ["q", "w", "s", "ws", "z", "wz", "b"], ["y"], **contrib)]
    yield own_case("matmulintegertofloat", nodes, {"x": floats(2, 3, 16)}, c, free=("x",))
    yield case("matmulintegertofloat_fed", "MatMulIntegerToFloat", ["x", "w", "s", "t", "z"], {"x": codes(u8, 3, 16), "w": codes(u8, 16, 4)},
               {"s": real(.03), "t": real(.02), "z": u8(100)})
    c = {"s": real(.001), "z": np.uint16(30000)}
    nodes = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"], **contrib),
             helper.make_node("DequantizeLinear", ["q", "s", "z"], ["y"], **contrib)]
    yield own_case("contrib_codes_16", nodes, {"x": floats(3, 5) * 20}, c)
    c = {"s": real(.02), "z": i8(5), "t": real(.01), "u": i8(-7), "r": real(.03), "v": i8(9)}
    for axes, keep in (([1, -1], 1), ([2], 0)):
        # onnxruntime has a definition of it, and nothing that computes it.
        same = [helper.make_node("DequantizeLinear", ["x", "s", "z"], ["d"]), helper.make_node("ReduceMean", ["d"], ["m"], axes=axes, keepdims=keep),
                helper.make_node("QuantizeLinear", ["m", "t", "u"], ["y"])]
        mean = helper.make_node("QLinearReduceMean", ["x", "s", "z", "t", "u"], ["y"], **contrib, axes=axes, keepdims=keep)
        yield own_case(f"qlinearreducemean_{keep}", [mean], {"x": codes(i8, 2, 3, 4, 5)}, {key: c[key] for key in "sztu"}, tolerance=1.0,
                       same=same, opset=13)
    yield case("qlinearwhere", "QLinearWhere", ["c", "x", "s", "z", "k", "t", "u", "r", "v"],
               {"c": np.array([[True, False, True]]), "x": codes(i8, 4, 3), "k": codes(i8, 4, 3)}, c, tolerance=1.0)
    # Two layers share their codes, and have inputs with other steps.
    c = {"w": codes(i8, 4, 4, 3, 3), "ws": np.abs(floats(4)) * .01 + .005, "wz": np.zeros(4, i8)}
    nodes = [helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["wd"], axis=0)]
    for key, scale, zero in (("x", .02, 100), ("k", .05, 140)):
        c |= {key + "s": real(scale), key + "z": u8(zero), key + "t": real(scale * 9)}
        nodes += [helper.make_node("QuantizeLinear", [key, key + "s", key + "z"], [key + "q"]),
                  helper.make_node("DequantizeLinear", [key + "q", key + "s", key + "z"], [key + "d"]),
                  helper.make_node("Conv", [key + "d", "wd"], [key + "c"]),
                  helper.make_node("QuantizeLinear", [key + "c", key + "t", key + "z"], [key + "y"])]
    yield own_case("qdq_shared_weights", nodes, {"x": floats(2, 4, 7, 7), "k": floats(1, 4, 5, 5) * 2}, c, ("xy", "ky"), free=("x",), tolerance=1.0)
    # Products.
    for name, attributes in (("relu", {"activation": "Relu"}), ("leaky", {"activation": "LeakyRelu", "activation_alpha": .2, "alpha": .5}),
                             ("sigmoid", {"activation": "HardSigmoid", "activation_alpha": .3, "activation_beta": .4, "transB": 1})):
        yield case(f"fusedgemm_{name}", "FusedGemm", ["x", "w", "b"], {"x": floats(3, 5)},
                   {"w": floats(4, 5) if "transB" in attributes else floats(5, 4), "b": floats(4)}, **attributes)
    yield case("fusedmatmul_batches", "FusedMatMul", ["x", "w"], {"x": floats(4, 2, 5), "w": floats(5, 2, 3)}, transBatchA=1, transBatchB=1)
    yield case("transposematmul", "TransposeMatMul", ["x", "w"], {"x": floats(5, 4), "w": floats(5, 3)}, transA=1)


    # Tables of codes, with 4 bits in bytes and as elements of their own.
    for name, kind, bits, block, columns, points in (("4", u8, 4, 16, 32, True), ("4_cut", u8, 4, 16, 40, False), ("8", u8, 8, 16, 32, True),
                                                     ("uint4", TensorProto.UINT4, 4, 16, 32, True),
                                                     ("int4", TensorProto.INT4, 4, 32, 32, False)):
        blocks = -(-columns // block)

        def numbers(key, width, kind=kind, bits=bits):
            if kind == u8:
                return numpy_helper.from_array(codes(u8, 7, -(-width * bits // 8)), key)
            return helper.make_tensor(key, kind, [7, width], codes(u8, 7 * width) % 16 - (8 if kind == TensorProto.INT4 else 0))
        constants = {"d": numbers("d", columns), "s": np.abs(floats(7, blocks)) * .1 + .01}
        if points:
            constants["z"] = numbers("z", blocks)
        yield case(f"gatherblockquantized_{name}", "GatherBlockQuantized", ["d", "i", "s"] + ["z"] * points,
                   {"i": np.array([[0, 6, 3], [2, -1, 5]])}, constants, free=("i",), gather_axis=0, quantize_axis=1, block_size=block, bits=bits)
    # A score that belongs to no key, and normalised queries and keys.
    feed = {"q": floats(2, 5, 64), "k": floats(2, 5, 32), "v": floats(2, 5, 32)}
    ends = {"s": np.full(2, 4, np.int32), "t": np.array(5, np.int32)}
    plain = ["q", "k", "v", "", "", "s", "t", "", "", "", ""]
    heads = {"num_heads": 4, "kv_num_heads": 2}
    yield case("group_sink", "GroupQueryAttention", [*plain, "h"], feed, ends | {"h": floats(4)}, ("y", "nk", "nv"), **heads)
    yield case("group_smooth", "GroupQueryAttention", plain[:7], feed, ends, ("y", "nk", "nv"), smooth_softmax=1, **heads)
    # onnxruntime computes the norms on GPUs alone.
    norms = [node for key, gamma in (("q", "g"), ("k", "e")) for node in (
        helper.make_node("Reshape", [key, "r"], [key + "4"]),
        helper.make_node("SimplifiedLayerNormalization", [key + "4", gamma], [key + "5"], axis=-1, epsilon=1e-3),
        helper.make_node("Reshape", [key + "5", "f"], [key + "6"]))]
    rotary = {"cos": floats(16, 8), "sin": floats(16, 8), "g": floats(16), "e": floats(16)}
    inputs = ["q", "k", "v", "", "", "s", "t", "cos", "sin"]
    norm = helper.make_node("GroupQueryAttention", [*inputs, "", "", "", "", "", "g", "e"], ["y", "nk", "nv"], **contrib, qk_norm_epsilon=1e-3,
                            do_rotary=1, **heads)
    yield own_case("group_norms", [norm], feed, ends | rotary | {"r": np.array([0, 0, -1, 16]), "f": np.array([0, 0, -1])}, ("y", "nk", "nv"),
                   same=[*norms, helper.make_node("GroupQueryAttention", ["q6", "k6", *inputs[2:]], ["y", "nk", "nv"], **contrib, do_rotary=1,
                                                  **heads)])
    yield case("group_two_ways", "GroupQueryAttention", plain[:7], feed, ends, ("y", "nk", "nv"), causal=0, **heads)
    norm = helper.make_node("LayerNormalization", ["x", "g", "b"], ["y"], epsilon=1e-3)
    yield own_case("layer_norm_opset_14", [norm], {"x": floats(3, 5, 8)}, {"g": floats(8), "b": floats(8)}, free=("x",), opset=14)


def deformable_cases():
    """onnxruntime samples as torchvision does."""
    for name, x, w, groups, several, plane, attributes in (
            ("plain", floats(2, 4, 7, 6), floats(3, 4, 3, 2), 1, 1, (7, 5), {"pads": [1, 0, 1, 1], "strides": [1, 1], "dilations": [1, 2]}),
            ("groups", floats(1, 4, 8, 8), floats(6, 2, 3, 3), 2, 2, (4, 4), {"pads": [1, 1, 1, 1], "strides": [2, 2]})):
        taps = w.shape[2] * w.shape[3]
        feed = {"x": x, "o": floats(len(x), several * taps * 2, *plane), "m": np.abs(floats(len(x), several * taps, *plane))}
        yield own_case(f"deform_conv_{name}", [helper.make_node("DeformConv", ["x", "w", "o", "b", "m"], ["y"], group=groups,
                                                                offset_group=several, **attributes)],
                       feed, {"w": w, "b": floats(w.shape[0])}, opset=19)
        front = [helper.make_node("Conv", ["x", "a"], ["h"]),
                 helper.make_node("Conv", ["h", "e"], ["o"], kernel_shape=w.shape[2:], **attributes),
                 helper.make_node("DeformConv", ["h", "w", "o"], ["y"], group=groups, offset_group=several, **attributes)]
        yield own_case(f"deform_conv_free_{name}", front, {"x": x},
                       {"a": floats(4, 4, 1, 1), "e": floats(several * taps * 2, 4, *w.shape[2:]) * .3, "w": w}, opset=19, free=("x",))


def whole_net_cases():
    """Operators that become constants, draw numbers, or repeat a body."""
    node = helper.make_node
    for name, bands, points, highest in ("wide", 20, 256, 7600.0), ("narrow", 9, 16, 8000.0):
        yield own_case(f"mel_{name}", [node("MelWeightMatrix", ["n", "p", "r", "l", "h"], ["m"]), node("MatMul", ["x", "m"], ["y"])],
                       {"x": floats(3, points // 2 + 1)}, {"n": np.array(bands), "p": np.array(points), "r": np.array(16000),
                                                           "l": np.float32(20), "h": np.float32(highest)})
    sure = np.full((3, 5), -100, np.float32)
    sure[[0, 1, 2], [4, 0, 2]] = 100
    yield own_case("multinomial", [node("Multinomial", ["x"], ["y"], sample_size=4, dtype=7)], {"x": sure}, free=("x",))
    kind = TensorProto.FLOAT
    body = helper.make_graph([node("Mul", ["e", "f"], ["p"]), node("Add", ["p", "o"], ["q"]), node("Relu", ["q"], ["r"])], "body",
                             [helper.make_tensor_value_info(key, kind, None) for key in "efo"],
                             [helper.make_tensor_value_info(key, kind, None) for key in "rq"])
    yield own_case("sequence_map", [node("SequenceConstruct", ["a", "b"], ["s"]), node("SequenceConstruct", ["b", "a"], ["t"]),
                                    node("SequenceMap", ["s", "t", "c"], ["u", "v"], body=body),
                                    node("ConcatFromSequence", ["u"], ["y"], axis=0), node("ConcatFromSequence", ["v"], ["z"], axis=1)],
                   {"a": floats(2, 3), "b": floats(2, 3), "c": floats(3)}, outputs=("y", "z"))
    # A line of text: its file is valid for the heights alone that become 1.
    branches = [helper.make_graph([node(op, ["h", *axes], ["r"])], op, [], [helper.make_tensor_value_info("r", kind, None)])
                for op, axes in (("Squeeze", ["two"]), ("Identity", []))]
    yield own_case("text_height", [node("MaxPool", ["x"], ["p"], kernel_shape=[4, 1], strides=[4, 1]), node("Conv", ["p", "w"], ["h"]),
                                   node("Shape", ["h"], ["s"]), node("Gather", ["s", "axis"], ["n"]),
                                   node("Equal", ["n", "one"], ["c"]), node("If", ["c"], ["q"], then_branch=branches[0], else_branch=branches[1]),
                                   node("Transpose", ["q"], ["y"], perm=[2, 0, 1])], {"x": floats(2, 1, 17, 9)},
                   {"w": floats(3, 1, 4, 2), "two": np.array([2]), "axis": np.array(2), "one": np.array(1)}, free={"x": (0, 2, 3)})


def main():
    warnings.filterwarnings("ignore")
    onnxruntime.set_default_logger_severity(4)
    cases = list(node_tests()) + list(own_cases()) + list(quantised_cases()) + list(attention_cases()) + \
        list(recurrent_cases()) + list(chain_cases()) + list(stepwise_cases()) + \
        list(free_cases()) + list(layer_cases()) + list(rms_cases()) + list(rounded_cases()) + list(freed_node_tests()) + \
        list(optimised_cases()) + list(deformable_cases()) + list(whole_net_cases())
    path = pathlib.Path(__file__).parent / "corpus.xz"
    corpus_files.pack(path, cases)
    print(f"{len(cases)} cases, {path.stat().st_size} bytes, onnx {onnx.__version__}, onnxruntime {onnxruntime.__version__}")


if __name__ == "__main__":
    main()
