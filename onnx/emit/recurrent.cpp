// Recurrent layers: the attributes of their nodes, and the forms that equal one operator of the format.
#include "recurrent.h"

#include <algorithm>

#include "../importer.h"
#include "base/error.h"
#include "codes.h"

namespace mnnc::onnx {
namespace {

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    return text;
}

// The operator of ONNX with this name in small letters, with the default parameters of the activation.
const Activation* knownActivation(const std::string& name) {
    static const std::vector<Activation> kKnown{{"Affine", 1, 1, false},
                                                {"Elu", 1, 0, true},
                                                {"HardSigmoid", 0.2f, 0.5f, true},
                                                {"LeakyRelu", 0.01f, 0, true},
                                                {"Relu", 0, 0, true},
                                                {"ScaledTanh", 1, 1, false},
                                                {"Sigmoid", 0, 0, true},
                                                {"Softplus", 0, 0, true},
                                                {"Softsign", 0, 0, true},
                                                {"Tanh", 0, 0, true},
                                                {"ThresholdedRelu", 1, 0, false}};
    for (const Activation& one : kKnown)
        if (lower(one.name) == name) return &one;
    return nullptr;
}

}  // namespace

Cell readCell(Call& c, const std::vector<std::string>& usual) {
    Cell cell;
    const std::vector<std::string> given = c.texts("activations");
    const std::vector<float> alphas = c.reals("activation_alpha"), betas = c.reals("activation_beta");
    const size_t directions = c.text("direction", "forward") == "bidirectional" ? 2 : 1;
    if (!given.empty() && given.size() != directions * usual.size())
        fail(Status::BadFormat, "the node has %zu activations, %zu are needed", given.size(),
             directions * usual.size());
    size_t alpha = 0, beta = 0;
    for (size_t i = 0; i < directions * usual.size(); ++i) {
        const std::string& wanted = usual[i % usual.size()];
        const std::string name = lower(given.empty() ? wanted : given[i]);
        const Activation* known = knownActivation(name);
        if (!known) refuse("the activation %s is not implemented", name.c_str());
        Activation one = *known;
        // The lists of parameters have entries only for those activations that take one.
        const bool takesAlpha = one.alpha != 0, takesBeta = one.beta != 0;
        if (takesAlpha && alpha >= alphas.size() && !one.hasDefaults)
            refuse("the activation %s has no activation_alpha", one.name);
        if (takesAlpha && alpha < alphas.size()) one.alpha = alphas[alpha++];
        if (takesBeta && !one.hasDefaults && beta >= betas.size())
            refuse("the activation %s has no activation_beta", one.name);
        if (takesBeta && beta < betas.size()) one.beta = betas[beta++];
        cell.plain = cell.plain && name == wanted;
        cell.activations.push_back(one);
    }
    cell.clip = c.real("clip", 0);
    if (cell.clip < 0) fail(Status::BadRange, "clip is %g; it must not be negative", static_cast<double>(cell.clip));
    cell.coupled = c.integer("input_forget", 0) != 0;
    cell.plain = cell.plain && cell.clip == 0 && !cell.coupled;
    return cell;
}

Layer readLayer(Call& c, int64_t gates) {
    Layer layer;
    layer.x = c.in(0);
    layer.weights = c.in(1);
    layer.recurrence = c.in(2);
    layer.bias = c.maybe(3);
    const std::string direction = c.text("direction", "forward");
    if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
        fail(Status::BadFormat, "the direction '%s' is unknown", direction.c_str());
    layer.directions = direction == "bidirectional" ? 2 : 1;
    layer.backwards = direction == "reverse";
    layer.batchFirst = c.integer("layout", 0) != 0;
    if (layer.recurrence->rank() != 3)
        fail(Status::BadFormat, "the recurrence weights have rank %zu, 3 is needed", layer.recurrence->rank());
    layer.hidden = layer.recurrence->extent(2);
    if (layer.x->rank() != 3) fail(Status::BadFormat, "the input has rank %zu, 3 is needed", layer.x->rank());
    if (layer.weights->rank() != 3 || layer.weights->extent(0) != layer.directions ||
        layer.weights->extent(1) != gates * layer.hidden)
        fail(Status::BadFormat, "the input weights have the shape %s, which does not fit %lld units in %lld directions",
             dimsText(layer.weights->dims[0]).c_str(), asLong(layer.hidden), asLong(layer.directions));
    if (layer.batchFirst) layer.x = permute(c, layer.x, {1, 0, 2});
    const auto state = [&](size_t i) {
        V value = c.maybe(i);
        return value && layer.batchFirst ? permute(c, value, {1, 0, 2}) : value;
    };
    layer.initialState = state(5);
    layer.initialCell = state(6);
    return layer;
}

V noBias(Call& c, const Layer& layer, int64_t gates) {
    c.b.requireRoom({layer.directions, gates, layer.hidden});
    std::vector<float> zeros(static_cast<size_t>(layer.directions * gates * layer.hidden), 0.0f);
    return c.b.constant(floatArray({layer.directions, gates * layer.hidden}, std::move(zeros)), Elem::Float);
}

V sumOfBiases(Call& c, const Layer& layer, int64_t gates) {
    if (!layer.bias) return noBias(c, layer, gates);
    const int64_t width = gates * layer.hidden;
    return add(c, sliceAxis(c, layer.bias, 1, 0, width), sliceAxis(c, layer.bias, 1, width, 2 * width));
}

V zeroState(Call& c, const Layer& layer) {
    V shape = concat(c, {c.b.ints({layer.directions}), shapeOf(c, layer.x, 1, 2), c.b.ints({layer.hidden})}, 0);
    return c.b.op(OpType::Fill, {}, {shape, c.b.real(0)});
}

void finish(Call& c, const Layer& layer, V all, V last, V cell) {
    if (layer.backwards) all = reverse(c, all, 0);
    if (layer.batchFirst) {
        all = permute(c, all, {2, 0, 1, 3});
        last = permute(c, last, {1, 0, 2});
        if (cell) cell = permute(c, cell, {1, 0, 2});
    }
    c.out(0, all);
    c.out(1, last);
    if (cell) c.out(2, cell);
}

bool hasLengths(Call& c) {
    V lengths = c.maybe(4);
    if (!lengths) return false;
    const size_t time = c.integer("layout", 0) != 0 ? 1 : 0;
    if (!lengths->constant || c.in(0)->rank() != 3 || !c.in(0)->fixed(time)) return true;
    for (const int64_t length : lengths->array().list())
        if (length != c.in(0)->extent(time)) return true;
    return false;
}

V turnedSequences(Call& c, V value, V lengths, int32_t batch) {
    wire::ReverseSequenceParamT table;
    table.batchDim = batch;
    table.seqDim = 0;
    return c.b.given(OpType::ReverseSequence, table, {value, lengths}, {Output{value->dims}})[0];
}

namespace {

void turn(Call& c, Layer& layer) {
    if (layer.backwards) layer.x = reverse(c, layer.x, 0);
}

// Returns all states, followed by `lasts` times the states of the last step.
std::vector<V> run(Call& c, const Layer& layer, OpType type, const Parameter& table, const std::vector<V>& inputs,
                   size_t lasts) {
    Output all, last;
    for (size_t p = 0; p < kProbes; ++p) {
        const Dims& x = layer.x->dims[p];
        all.dims[p] = {x.at(0), layer.directions, x.at(1), layer.hidden};
        last.dims[p] = {layer.directions, x.at(1), layer.hidden};
    }
    std::vector<Output> outputs{all};
    outputs.resize(1 + lasts, last);
    return c.b.given(type, table, inputs, outputs);
}

// Emits a node with sequence lengths: the same node without lengths, forward, over [time, batch, inputs], once for each
// direction. Steps after the end of a sequence are 0, and its last state is the state of its last step.
void withLengths(Call& c, Emit emit) {
    const std::string direction = c.text("direction", "forward");
    const bool batchFirst = c.integer("layout", 0) != 0;
    const auto timeFirst = [&](size_t i) {
        V value = c.maybe(i);
        return value && batchFirst ? permute(c, value, {1, 0, 2}) : value;
    };
    V x = timeFirst(0), lengths = c.in(4);
    Node plain = c.node;
    // A list of activations for two directions does not fit the node for one. It has the defaults here, because layers
    // with others are written step by step elsewhere, so the node needs no list.
    std::erase_if(plain.attributes, [](const Attribute& one) {
        return one.name == "direction" || one.name == "layout" || one.name.starts_with("activation");
    });
    plain.outputs.resize(1);
    const auto turned = [&](V value, int32_t batch) { return turnedSequences(c, value, lengths, batch); };
    // [time, batch] of bools: the steps of each sequence, and its last step.
    V steps = unsqueeze(c, rangeTo(c, extentOf(c, x, 0)), {1});
    V inside = unsqueeze(c, compare(c, Binary::LESS, steps, lengths), {1, 3});
    V last = compare(c, Binary::EQUAL, add(c, steps, c.b.scalar(1)), lengths);
    last = unsqueeze(c, last, {1, 3});
    std::vector<V> alls, lasts;
    const int64_t directions = direction == "bidirectional" ? 2 : 1;
    for (int64_t d = 0; d < directions; ++d) {
        const bool backwards = direction == "reverse" || d == 1;
        Call inner{c.importer, c.b, plain, c.opset, {backwards ? turned(x, 1) : x}, std::vector<V>(3)};
        for (size_t i = 1; i < c.inputs.size(); ++i) {
            V value = i == 5 || i == 6 ? timeFirst(i) : c.maybe(i);
            if (i == 4) value = nullptr;
            if (value && directions > 1) value = sliceAxis(c, value, 0, d, d + 1);
            inner.inputs.push_back(value);
        }
        emit(inner);
        V all = inner.outputs[0];  // [time, 1, batch, hidden]
        lasts.push_back(reduce(c, Reduction::SUM, select(c, last, all, c.b.real(0)), {0}, false));
        all = select(c, inside, all, c.b.real(0));
        alls.push_back(backwards ? turned(all, 2) : all);
    }
    V all = concat(c, alls, 1), end = concat(c, lasts, 0);
    c.out(0, batchFirst ? permute(c, all, {2, 0, 1, 3}) : all);
    c.out(1, batchFirst ? permute(c, end, {1, 0, 2}) : end);
}

// Unrolls the steps, each with its cell.
void unrolled(Call& c, Layer layer, V peepholes) {
    const int64_t steps = layer.x->extent(0), hidden = layer.hidden;
    V bias = sumOfBiases(c, layer, 4);
    std::vector<V> alls, lasts, cells;
    for (int64_t d = 0; d < layer.directions; ++d) {
        const bool backwards = layer.backwards || d == 1;
        const auto of = [&](V from) { return elementOf(c, from, 0, d); };
        // ONNX orders the gates i, o, f, c; the cell orders them i, c, f, o.
        const auto ordered = [&](V from) {
            std::vector<V> gates;
            for (const int64_t gate : {0, 3, 2, 1})
                gates.push_back(sliceAxis(c, from, 0, gate * hidden, (gate + 1) * hidden));
            return concat(c, gates, 0);
        };
        V weights = concat(
            c, {permute(c, ordered(of(layer.weights)), {1, 0}), permute(c, ordered(of(layer.recurrence)), {1, 0})}, 0);
        V gates = ordered(of(bias)), look = of(peepholes);
        const auto peephole = [&](int64_t gate) { return sliceAxis(c, look, 0, gate * hidden, (gate + 1) * hidden); };
        V state = of(layer.initialState ? layer.initialState : zeroState(c, layer));
        V cell = of(layer.initialCell ? layer.initialCell : zeroState(c, layer));
        std::vector<V> all(static_cast<size_t>(steps));
        wire::LSTMBlockCellT table;
        table.cell_clip = 0;
        table.forget_bias = 0;
        table.use_peephole = true;
        for (int64_t t = 0; t < steps; ++t) {
            const int64_t at = backwards ? steps - 1 - t : t;
            V now = elementOf(c, layer.x, 0, at);
            const std::vector<V> made =
                c.b.op(OpType::LSTMBlockCell, table,
                       {now, cell, state, weights, peephole(0), peephole(2), peephole(1), gates}, 7);
            cell = made[1];
            state = made[6];
            all[static_cast<size_t>(at)] = unsqueeze(c, state, {0, 1});
        }
        alls.push_back(concat(c, all, 0));
        lasts.push_back(unsqueeze(c, state, {0}));
        cells.push_back(unsqueeze(c, cell, {0}));
    }
    layer.backwards = false;  // the steps are in the order of the input
    finish(c, layer, concat(c, alls, 1), concat(c, lasts, 0), concat(c, cells, 0));
}

// Returns null where all of them are 0.
V peepholesOf(Call& c) {
    V peepholes = c.maybe(7);
    if (!peepholes || !peepholes->constant) return peepholes;
    for (int64_t i = 0; i < peepholes->elementCount(); ++i)
        if (peepholes->array().realAt(i) != 0) return peepholes;
    return nullptr;
}

void emitLstm(Call& c) {
    constexpr int64_t kMaxUnrolled = 256;
    const Cell cell = readCell(c, {"sigmoid", "tanh", "tanh"});
    V peepholes = peepholesOf(c), x = c.in(0);
    const size_t time = c.integer("layout", 0) != 0 ? 1 : 0;
    const bool lengths = hasLengths(c), few = x->rank() == 3 && x->fixed(time) && x->extent(time) <= kMaxUnrolled;
    if (!cell.plain || (lengths && (c.wants(2) || peepholes)) || (peepholes && !few))
        return lstmSteps(c, cell, peepholes);
    if (lengths) return withLengths(c, emitLstm);
    Layer layer = readLayer(c, 4);
    if (peepholes) return unrolled(c, layer, peepholes);
    turn(c, layer);
    std::vector<V> inputs{layer.x, layer.weights, layer.recurrence, sumOfBiases(c, layer, 4)};
    if (layer.initialState || layer.initialCell) {
        inputs.push_back(layer.initialState ? layer.initialState : zeroState(c, layer));
        inputs.push_back(layer.initialCell ? layer.initialCell : zeroState(c, layer));
    }
    wire::LSTMT table;
    table.outputCount = static_cast<int32_t>(layer.hidden);
    const std::vector<V> results = run(c, layer, OpType::LSTM, table, inputs, 2);
    finish(c, layer, results[0], results[1], results[2]);
}

void emitRnn(Call& c) {
    const Cell cell = readCell(c, {"tanh"});
    if (!cell.plain) return rnnSteps(c, cell);
    if (hasLengths(c)) return withLengths(c, emitRnn);
    Layer layer = readLayer(c, 1);
    turn(c, layer);
    std::vector<V> inputs{layer.x, layer.weights, layer.recurrence, sumOfBiases(c, layer, 1)};
    if (layer.initialState) inputs.push_back(layer.initialState);
    wire::LSTMT table;
    table.outputCount = static_cast<int32_t>(layer.hidden);
    const std::vector<V> results = run(c, layer, OpType::RNN, table, inputs, 1);
    finish(c, layer, results[0], results[1], nullptr);
}

void emitGru(Call& c) {
    const Cell cell = readCell(c, {"sigmoid", "tanh"});
    if (!cell.plain) return gruSteps(c, cell);
    if (hasLengths(c)) return withLengths(c, emitGru);
    Layer layer = readLayer(c, 3);
    turn(c, layer);
    const int64_t hidden = layer.hidden;
    wire::RNNParamT table;
    table.numUnits = static_cast<int32_t>(hidden);
    table.isBidirectionalRNN = layer.directions == 2;
    table.linearBeforeReset = c.integer("linear_before_reset", 0) != 0;
    table.keepAllOutputs = true;
    std::vector<V> inputs{layer.x};
    for (int64_t d = 0; d < layer.directions; ++d) {
        const auto part = [&](V from, int64_t begin, int64_t end) {
            return sliceAxis(c, elementOf(c, from, 0, d), 0, begin, end);
        };
        // [inputs + hidden][rows] for the gates z and r, and for the candidate.
        const auto columns = [&](int64_t begin, int64_t end) {
            return concat(c,
                          {permute(c, part(layer.weights, begin, end), {1, 0}),
                           permute(c, part(layer.recurrence, begin, end), {1, 0})},
                          0);
        };
        V bias = layer.bias ? layer.bias : noBias(c, layer, 6);
        inputs.push_back(columns(0, 2 * hidden));
        inputs.push_back(part(bias, 0, 2 * hidden));
        inputs.push_back(columns(2 * hidden, 3 * hidden));
        inputs.push_back(part(bias, 2 * hidden, 3 * hidden));
        inputs.push_back(part(bias, 3 * hidden, 6 * hidden));
    }
    if (layer.initialState) inputs.push_back(layer.initialState);
    const std::vector<V> results = run(c, layer, OpType::RNNSequenceGRU, table, inputs, 1);
    finish(c, layer, results[0], results[1], nullptr);
}

// Dequantises codes of [directions, rows, columns] to floats of [directions, columns, rows].
V weightsOf(Call& c, V codes, V scale, V zero) {
    const auto spreadOut = [&](V number) {
        if (!number || number->rank() == 0) return number;
        return number->rank() == 1 ? unsqueeze(c, number, {1, 2}) : unsqueeze(c, number, {1});
    };
    if (codes->rank() != 3) fail(Status::BadFormat, "the weights have rank %zu, 3 is needed", codes->rank());
    return permute(c, dequantise(c, codes, spreadOut(castTo(c, scale, Elem::Float)), spreadOut(zero)), {0, 2, 1});
}

// ONNX quantises inputs and states at run time; here they stay floats.
void emitDynamicQuantizeLstm(Call& c) {
    std::vector<V> inputs{c.in(0), weightsOf(c, c.in(1), c.in(8), c.maybe(9)),
                          weightsOf(c, c.in(2), c.in(10), c.maybe(11))};
    for (size_t i = 3; i < 8; ++i) inputs.push_back(c.maybe(i));
    c.importer.note("DynamicQuantizeLSTM computes with floats, which no run quantises.");
    Call inner{c.importer, c.b, c.node, kNewest, inputs, std::vector<V>(c.node.outputs.size())};
    emitLstm(inner);
    c.outputs = inner.outputs;
}

}  // namespace

constexpr Entry kRecurrentEntries[] = {
    {"DynamicQuantizeLSTM", 1, kNewest, emitDynamicQuantizeLstm, "As LSTM", "It computes with floats.", kMicrosoft},
    {"GRU", 7, kNewest, emitGru,
     "RNNSequenceGRU, with Reverse for direction reverse, ReverseSequence and Select for sequence_lens; "
     "While for clip and other activations than Sigmoid and Tanh"},
    {"LSTM", 7, kNewest, emitLstm,
     "LSTM, with Reverse for direction reverse, ReverseSequence and Select for sequence_lens; LSTMBlockCell "
     "for each step with peepholes; While for peepholes over a free number of steps and more than 256, the last "
     "cells with sequence_lens, clip, input_forget, other activations than Sigmoid, Tanh, Tanh"},
    {"RNN", 7, kNewest, emitRnn,
     "RNN, with Reverse for direction reverse, ReverseSequence and Select for sequence_lens; While for clip "
     "and other activations than Tanh"},
};
extern constinit const Family recurrentFamily = kRecurrentEntries;

}  // namespace mnnc::onnx
