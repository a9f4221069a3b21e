"""Attention of com.microsoft."""
import numpy as np
from onnx import helper

from cases.packing import floats, own_case


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
