// Recurrent layers as a loop over their steps.
#include "linear.h"
#include "loops.h"
#include "recurrent.h"

namespace mnnc::onnx {
namespace {

V activated(Call& c, const Activation& activation, V x) {
    const std::string_view name = activation.name;
    const auto scaled = [&](V value, float factor) { return mul(c, value, c.b.real(factor)); };
    if (name == "Affine") return add(c, scaled(x, activation.alpha), c.b.real(activation.beta));
    if (name == "ScaledTanh") return scaled(unary(c, Unary::TANH, scaled(x, activation.beta)), activation.alpha);
    Node node;
    addAttribute(node, "alpha").f = activation.alpha;
    addAttribute(node, "beta").f = activation.beta;
    return byRule(c, name, node, {x});
}

// Values that the steps of one direction share.
struct Direction {
    const Cell& cell;
    const Activation* activations;
    int64_t hidden;
    V states;  // [hidden, gates * hidden]

    V clipped(Call& c, V x) const { return cell.clip > 0 ? clip(c, x, -cell.clip, cell.clip) : x; }
    V activate(Call& c, size_t which, V x) const { return activated(c, activations[which], clipped(c, x)); }
    V gate(Call& c, V gates, int64_t which, int64_t count = 1) const {
        return sliceAxis(c, gates, 1, which * hidden, (which + count) * hidden);
    }
};

// One step: takes the input's product for the gates and the states before it; returns the states after it, the output
// first.
using Step = std::function<std::vector<V>(const Direction& steps, V input, const std::vector<V>& before)>;

struct Form {
    int64_t gates = 1;
    size_t activations = 1, states = 1;
    // The bias of the input's product: [directions, gates * hidden].
    std::function<V(const Layer& layer)> bias;
    // The step of a direction. of: selects the direction from a value that has directions as its first axis.
    std::function<Step(const std::function<V(V)>& of, const Layer& layer)> step;
};

// The weights determine a width that the model leaves free.
V withWidth(Call& c, const Layer& layer) {
    V x = layer.x;
    if (x->fixed(2)) return x;
    wire::ReshapeT table;
    table.dimType = wire::MNN_DATA_FORMAT::NCHW;
    table.dims = {0, 0, static_cast<int32_t>(layer.weights->extent(2))};
    Output known{x->dims};
    for (Dims& dims : known.dims) dims[2] = layer.weights->extent(2);
    return c.b.given(OpType::Reshape, table, {x}, {known})[0];
}

void inSteps(Call& c, const Cell& cell, const Form& form) {
    Layer layer = readLayer(c, form.gates);
    layer.x = withWidth(c, layer);
    V lengths = hasLengths(c) ? c.in(4) : nullptr, bias = form.bias(layer);
    V always = c.b.constant(intScalar(1), Elem::Bool), count = extentOf(c, layer.x, 0);
    std::vector<V> alls;
    std::vector<std::vector<V>> lasts(form.states);
    for (int64_t d = 0; d < layer.directions; ++d) {
        const std::function<V(V)> of = [&](V from) { return elementOf(c, from, 0, d); };
        const bool backwards = layer.backwards || d == 1;
        const auto turned = [&](V value) {
            return lengths ? turnedSequences(c, value, lengths, 1) : reverse(c, value, 0);
        };
        V inputs = product(c, backwards ? turned(layer.x) : layer.x, permute(c, of(layer.weights), {1, 0}));
        inputs = add(c, inputs, of(bias));
        const Direction steps{cell, cell.activations.data() + form.activations * static_cast<size_t>(d), layer.hidden,
                              permute(c, of(layer.recurrence), {1, 0})};
        const Step step = form.step(of, layer);
        std::vector<V> initial{of(layer.initialState ? layer.initialState : zeroState(c, layer))};
        if (form.states > 1) initial.push_back(of(layer.initialCell ? layer.initialCell : zeroState(c, layer)));
        const LoopResult loop = writeLoop(c, count, always, initial, [&](V iteration, V, const std::vector<V>& before) {
            Round round;
            round.carried = step(steps, gatherAxis(c, inputs, iteration, 0), before);
            V output = round.carried[0];
            if (lengths) {
                V inside = unsqueeze(c, compare(c, Binary::LESS, iteration, lengths), {1});
                output = select(c, inside, output, c.b.real(0));
                for (size_t i = 0; i < before.size(); ++i)
                    round.carried[i] = select(c, inside, round.carried[i], before[i]);
            }
            round.scanned = {output};
            return round;
        });
        V all = loop.stacks[0];
        alls.push_back(unsqueeze(c, backwards ? turned(all) : all, {1}));
        for (size_t i = 0; i < form.states; ++i) lasts[i].push_back(unsqueeze(c, loop.finals[i], {0}));
    }
    layer.backwards = false;  // it has been reversed already
    finish(c, layer, concat(c, alls, 1), concat(c, lasts[0], 0), form.states > 1 ? concat(c, lasts[1], 0) : nullptr);
}

}  // namespace

void lstmSteps(Call& c, const Cell& cell, V peepholes) {
    Form form{4, 3, 2, [&](const Layer& layer) { return sumOfBiases(c, layer, 4); }, {}};
    form.step = [&](const std::function<V(V)>& of, const Layer& layer) -> Step {
        V look = peepholes ? of(peepholes) : nullptr;
        const int64_t hidden = layer.hidden;
        return [&c, look, hidden](const Direction& steps, V input, const std::vector<V>& before) {
            // The gates are i, o, f and c; the peepholes are those of i, o and f.
            V gates = add(c, input, matmul(c, before[0], steps.states));
            const auto gate = [&](int64_t which, V state) {
                V sum = steps.gate(c, gates, which);
                if (look) {
                    V part = sliceAxis(c, look, 0, which * hidden, (which + 1) * hidden);
                    sum = add(c, sum, mul(c, part, state));
                }
                return steps.activate(c, 0, sum);
            };
            V in = gate(0, before[1]);
            V forget = steps.cell.coupled ? sub(c, c.b.real(1), in) : gate(2, before[1]);
            V fresh = steps.activate(c, 1, steps.gate(c, gates, 3));
            V state = add(c, mul(c, forget, before[1]), mul(c, in, fresh));
            // ONNX does not clip the operand of the output's activation.
            V output = mul(c, gate(1, state), activated(c, steps.activations[2], state));
            return std::vector<V>{output, state};
        };
    };
    inSteps(c, cell, form);
}

void gruSteps(Call& c, const Cell& cell) {
    const bool linear = c.integer("linear_before_reset", 0) != 0;
    Form form{3, 2, 1, {}, {}};
    // With linear_before_reset the reset gate also scales the last bias of the states.
    form.bias = [&](const Layer& layer) {
        if (!linear || !layer.bias) return sumOfBiases(c, layer, 3);
        const int64_t hidden = layer.hidden;
        V both =
            add(c, sliceAxis(c, layer.bias, 1, 0, 2 * hidden), sliceAxis(c, layer.bias, 1, 3 * hidden, 5 * hidden));
        return concat(c, {both, sliceAxis(c, layer.bias, 1, 2 * hidden, 3 * hidden)}, 1);
    };
    form.step = [&](const std::function<V(V)>& of, const Layer& layer) -> Step {
        const int64_t hidden = layer.hidden;
        V inner = linear && layer.bias ? sliceAxis(c, of(layer.bias), 0, 5 * hidden, 6 * hidden) : nullptr;
        return [&c, linear, inner](const Direction& steps, V input, const std::vector<V>& before) {
            V first = steps.gate(c, steps.states, 0, 2), last = steps.gate(c, steps.states, 2);
            V gates = add(c, steps.gate(c, input, 0, 2), matmul(c, before[0], first));
            V keep = steps.activate(c, 0, steps.gate(c, gates, 0));
            V reset = steps.activate(c, 0, steps.gate(c, gates, 1));
            V recurrent = nullptr;
            if (linear) {
                recurrent = matmul(c, before[0], last);
                if (inner) recurrent = add(c, recurrent, inner);
                recurrent = mul(c, reset, recurrent);
            } else {
                recurrent = matmul(c, mul(c, reset, before[0]), last);
            }
            V fresh = steps.activate(c, 1, add(c, steps.gate(c, input, 2), recurrent));
            V change = mul(c, keep, sub(c, before[0], fresh));
            return std::vector<V>{add(c, fresh, change)};
        };
    };
    inSteps(c, cell, form);
}

void rnnSteps(Call& c, const Cell& cell) {
    Form form{1, 1, 1, [&](const Layer& layer) { return sumOfBiases(c, layer, 1); }, {}};
    form.step = [&](const std::function<V(V)>&, const Layer&) -> Step {
        return [&c](const Direction& steps, V input, const std::vector<V>& before) {
            V sum = add(c, input, matmul(c, before[0], steps.states));
            return std::vector<V>{steps.activate(c, 0, sum)};
        };
    };
    inSteps(c, cell, form);
}

}  // namespace mnnc::onnx
