"""Recurrent layers."""
import numpy as np
from onnx import helper

from cases.packing import codes, floats, own_case


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
