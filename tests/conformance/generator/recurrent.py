"""RNN, LSTM and GRU as operators of their own, the LSTM of Caffe, and LSTMBlockCell."""
import numpy as np

from generator.net import cases
from generator.wire_net import wire_cases

AS_OPERATORS = ["--useOriginRNNImpl"]  # otherwise the converter writes LSTM and GRU as loops
GATES = {"RNN": 1, "LSTM": 4, "GRU": 3}


def layer(n, kind, x, outputs, hidden=5, inputs=3, directions=1, bias=True, states=(), fed=False, **attributes):
    """One layer with random weights; states: names or values of the initial states."""
    rows = GATES[kind] * hidden
    weights = [n.floats(directions, rows, inputs, low=-.7, high=.7), n.floats(directions, rows, hidden, low=-.7, high=.7)]
    if fed:
        weights = [n.input(w) for w in weights]
    values = [*weights, n.floats(directions, 2 * rows, low=-.5, high=.5) if bias else "", "", *states]
    while isinstance(values[-1], str) and not values[-1]:
        values.pop()
    if directions == 2:
        attributes["direction"] = "bidirectional"
    n.outs(outputs, kind, x, *values, hidden_size=hidden, **attributes)


@cases("recurrent__rnn")
def _(n):
    x = n.x(4, 2, 3)
    layer(n, "RNN", x, ["y", "h"])
    layer(n, "RNN", x, ["both_y", "both_h"], directions=2, states=[n.floats(2, 2, 5)])
    layer(n, "RNN", x, ["plain_y", "plain_h"], hidden=17, bias=False)
    layer(n, "RNN", x, ["fed_y", "fed_h"], fed=True, states=[n.x(1, 2, 5)])
    layer(n, "RNN", n.x(1, 1, 6), ["one_y", "one_h"], inputs=6, hidden=1)


@cases("recurrent__lstm", flags=AS_OPERATORS)
def _(n):
    x = n.x(4, 2, 3)
    layer(n, "LSTM", x, ["y", "h", "c"])
    layer(n, "LSTM", x, ["both_y", "both_h", "both_c"], directions=2, states=[n.floats(2, 2, 5), n.x(2, 2, 5)])
    layer(n, "LSTM", n.x(1, 3, 1), ["one_y", "one_h", "one_c"], inputs=1, hidden=2)
    layer(n, "LSTM", x, ["only_y"])


@cases("recurrent__lstm_weights", flags=AS_OPERATORS)
def _(n):
    """Weights without bias, and weights that are inputs."""
    x = n.x(4, 2, 3)
    layer(n, "LSTM", x, ["plain_y", "plain_h", "plain_c"], hidden=18, bias=False)
    layer(n, "LSTM", x, ["fed_y", "fed_h", "fed_c"], fed=True, directions=2)


def gru_net(after):
    def build(n):
        x = n.x(4, 2, 3)
        layer(n, "GRU", x, ["y", "h"], linear_before_reset=after)
        layer(n, "GRU", x, ["both_y", "both_h"], directions=2, states=[n.x(2, 2, 5)], linear_before_reset=after)
        layer(n, "GRU", x, ["plain_y"], hidden=18, bias=False, linear_before_reset=after)
        layer(n, "GRU", n.x(1, 1, 2), ["one_y", "one_h"], inputs=2, hidden=3, linear_before_reset=after)
    return build


cases("recurrent__gru", flags=AS_OPERATORS)(gru_net(0))
cases("recurrent__gru_reset_after", flags=AS_OPERATORS)(gru_net(1))


@cases("recurrent__long", flags=AS_OPERATORS)
def _(n):
    """More steps than are multiplied at once."""
    x = n.x(140, 3, 1)
    layer(n, "RNN", x, ["rnn"], inputs=1, hidden=2)
    layer(n, "LSTM", x, ["lstm_y", "lstm_h", "lstm_c"], inputs=1, hidden=1, directions=2)
    layer(n, "GRU", x, ["gru_y", "gru_h"], inputs=1, hidden=1, directions=2, linear_before_reset=1)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(x, w, r, b, h, c):
    """Steps of [steps, batch, inputs]; rows of the weights are gates in the order i, o, f, c."""
    hidden, states = h.shape[-1], []
    for step in x.astype(np.float64):
        i, o, f, g = np.split(step @ w.T.astype(np.float64) + h @ r.T.astype(np.float64) + b, 4, axis=1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        states.append(h)
    return np.array(states).reshape(len(x), -1, hidden), h, c


def reordered(gates, order):
    """Gates i, o, f, c in another order, given by their letters."""
    blocks = dict(zip("iofc", np.split(gates, 4)))
    return np.concatenate([blocks[letter] for letter in order])


@wire_cases("recurrent__lstm_caffe")
def _(n):
    batch, steps, inputs, hidden = 3, 5, 4, 6
    value = n.floats(batch, steps, 1, inputs)
    x = n.feed(value, data_format="NC4HW4")
    w, r = n.floats(4 * hidden, inputs, low=-.7, high=.7), n.floats(4 * hidden, hidden, low=-.7, high=.7)
    b, second = n.floats(4 * hidden), n.floats(4 * hidden)
    none = np.zeros((batch, hidden))

    def truth(bias):
        y, _, _ = lstm(value[:, :, 0].transpose(1, 0, 2), w, r, bias, none, none)
        return y.transpose(1, 0, 2)[:, :, None]

    def blob(*parts, order="ifoc"):
        return {"float32s": np.concatenate([reordered(p, order).reshape(-1) for p in parts]).tolist()}
    ones = {"outputCount": hidden, "weightI": blob(w), "weightH": blob(r), "bias": blob(b)}
    n.expect("one_bias", n.op("LSTM", [x], "LSTM", ones, data_format="NC4HW4"), truth(b.astype(np.float64)))
    twos = {**ones, "bias": blob(b, second)}
    n.expect("two_biases", n.op("LSTM", [x], "LSTM", twos, data_format="NC4HW4"), truth(b.astype(np.float64) + second))
    packed = {"outputCount": hidden, "weightI": blob(w, r, b, second, order="ifco")}
    n.expect("packed", n.op("LSTM", [x], "LSTM", packed, data_format="NC4HW4"), truth(b.astype(np.float64)))


@wire_cases("recurrent__empty")
def _(n):
    """No steps: the last states are the first ones. No batch: nothing."""
    hidden = 4
    w, r = n.const(n.floats(1, 4 * hidden, 3)), n.const(n.floats(1, 4 * hidden, hidden))
    bias = n.const(n.floats(1, 4 * hidden))
    h, c = n.floats(1, 2, hidden), n.floats(1, 2, hidden)
    none = n.feed(np.zeros((0, 2, 3), np.float32))
    y, last, cell = n.op("LSTM", [none, w, r, bias, n.feed(h), n.feed(c)], "LSTM", {"outputCount": hidden}, count=3)
    n.expect("y", y, np.zeros((0, 1, 2, hidden)))
    n.expect("h", last, h)
    n.expect("c", cell, c)
    _, last = n.op("RNN", [none, n.const(n.floats(1, hidden, 3)), n.const(n.floats(1, hidden, hidden)),
                           n.const(n.floats(1, hidden))], "LSTM", {"outputCount": hidden}, count=2)
    n.expect("zeros", last, np.zeros((1, 2, hidden)))
    none = n.feed(np.zeros((5, 0, 3), np.float32))
    y, last, _ = n.op("LSTM", [none, w, r, bias], "LSTM", {"outputCount": hidden}, count=3)
    n.expect("no_batch_y", y, np.zeros((5, 1, 0, hidden)))
    n.expect("no_batch_h", last, np.zeros((1, 0, hidden)))


@wire_cases("recurrent__gru_last")
def _(n):
    """Only the last states of both directions, and the last state of the second one beside all of them."""
    steps, batch, inputs, hidden = 4, 2, 3, 5
    value = n.floats(steps, batch, inputs)
    x, parts, truth, all_states = n.feed(value), [], [], []
    for backwards in (False, True):
        gates, own = n.floats(inputs + hidden, 2 * hidden), n.floats(inputs + hidden, hidden)
        biases = [n.floats(2 * hidden), n.floats(hidden), n.floats(3 * hidden)]
        parts += [n.const(v) for v in (gates, biases[0], own, biases[1], biases[2])]
        h, states = np.zeros((batch, hidden)), []
        for step in value[::-1] if backwards else value:
            z, r = np.split(sigmoid(np.hstack([step, h]).astype(np.float64) @ gates + biases[0] + biases[2][:2 * hidden]), 2, 1)
            candidate = np.tanh(np.hstack([step, r * h]).astype(np.float64) @ own + biases[1] + biases[2][2 * hidden:])
            h = z * h + (1 - z) * candidate
            states.append(h)
        truth.append(h)
        all_states.append(np.array(states[::-1] if backwards else states))
    main = {"numUnits": hidden, "isBidirectionalRNN": True, "linearBeforeReset": False, "keepAllOutputs": False}
    n.expect("last", n.op("RNNSequenceGRU", [x, *parts], "RNNParam", main), np.array(truth))
    y, h = n.op("RNNSequenceGRU", [x, *parts], "RNNParam", {**main, "keepAllOutputs": True}, count=2)
    n.expect("y", y, np.stack(all_states, axis=1))
    n.expect("h", h, np.array(truth))


@wire_cases("recurrent__lstm_block")
def _(n):
    """Formula: https://www.tensorflow.org/api_docs/python/tf/raw_ops/LSTMBlockCell"""
    batch, inputs, hidden = 2, 3, 17
    x, state, h = n.floats(batch, inputs), n.floats(batch, hidden), n.floats(batch, hidden)
    w, b = n.floats(inputs + hidden, 4 * hidden, low=-.5, high=.5), n.floats(4 * hidden)
    peepholes = [n.floats(hidden) for _ in range(3)]
    operands = [n.feed(v) for v in (x, state, h)] + [n.const(v) for v in (w, *peepholes, b)]
    for name, clip, forget, peephole in (("plain", 0, 1, False), ("clip", .5, 1, False), ("peephole", 3, .25, True)):
        i, ci, f, o = np.split(np.hstack([x, h]).astype(np.float64) @ w + b, 4, axis=1)
        wci, wcf, wco = [p * peephole for p in peepholes]
        i, ci, f = sigmoid(i + wci * state), np.tanh(ci), sigmoid(f + forget + wcf * state)
        now = ci * i + state * f
        if clip:
            now = np.clip(now, -clip, clip)
        o, co = sigmoid(o + wco * now), np.tanh(now)
        outputs = n.op("LSTMBlockCell", operands, "LSTMBlockCell",
                       {"cell_clip": clip, "forget_bias": forget, "use_peephole": peephole}, count=7)
        for part, tensor, truth in zip(("i", "cs", "f", "o", "ci", "co", "h"), outputs, (i, now, f, o, ci, co, co * o)):
            n.expect(f"{name}_{part}", tensor, truth)
