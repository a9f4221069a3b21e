"""Nets that onnxruntime's tools have rewritten."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

from cases.packing import RANDOM, codes, floats, own_case


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
        # onnxruntime defines QLinearReduceMean but has no kernel for it: other operators give the expected result.
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
