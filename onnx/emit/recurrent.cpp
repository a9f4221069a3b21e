// Recurrent layers.
#include <algorithm>

#include "base/error.h"
#include "helpers.h"

namespace mnnc::onnx {
namespace {

struct Layer {
    V x = nullptr, weights = nullptr, states = nullptr, bias = nullptr, first = nullptr, firstCell = nullptr;
    int64_t directions = 1, hidden = 0;
    bool backwards = false, batchFirst = false;
};

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    return text;
}

// x: [time, batch, inputs]. gates: 4 of LSTM, 3 of GRU, 1 of RNN.
Layer readLayer(Call& c, int64_t gates, const std::vector<std::string>& activations) {
    Layer layer;
    layer.x = c.in(0);
    layer.weights = c.in(1);
    layer.states = c.in(2);
    layer.bias = c.maybe(3);
    const std::string direction = c.text("direction", "forward");
    if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
        fail(Status::BadFormat, "the direction '%s' is unknown", direction.c_str());
    layer.directions = direction == "bidirectional" ? 2 : 1;
    layer.backwards = direction == "reverse";
    layer.batchFirst = c.integer("layout", 0) != 0;
    layer.hidden = layer.states->extent(2);
    if (layer.x->rank() != 3) fail(Status::BadFormat, "an input of rank %zu", layer.x->rank());
    if (layer.weights->rank() != 3 || layer.weights->extent(0) != layer.directions ||
        layer.weights->extent(1) != gates * layer.hidden)
        fail(Status::BadFormat, "weights of %s for %lld units in %lld directions",
             dimsText(layer.weights->dims[0]).c_str(), static_cast<long long>(layer.hidden),
             static_cast<long long>(layer.directions));
    const std::vector<std::string> given = c.texts("activations");
    for (size_t i = 0; i < given.size(); ++i)
        if (lower(given[i]) != activations[i % activations.size()])
            refuse("the activation %s", given[i].c_str());
    if (c.has("clip")) refuse("clip");
    if (c.integer("input_forget", 0) != 0) refuse("input_forget");
    if (layer.batchFirst) layer.x = permute(c, layer.x, {1, 0, 2});
    if (V lengths = c.maybe(4)) {
        if (!lengths->constant) refuse("sequence_lens that are fed");
        for (const int64_t length : lengths->array().list())
            if (length != layer.x->extent(0)) refuse("sequence_lens below the length of the input");
    }
    const auto state = [&](size_t i) {
        V value = c.maybe(i);
        return value && layer.batchFirst ? permute(c, value, {1, 0, 2}) : value;
    };
    layer.first = state(5);
    layer.firstCell = state(6);
    if (layer.backwards) layer.x = reverse(c, layer.x, 0);
    return layer;
}

V noBias(Call& c, const Layer& layer, int64_t gates) {
    std::vector<float> zeros(static_cast<size_t>(layer.directions * gates * layer.hidden), 0.0f);
    return c.b.constant(floatArray({layer.directions, gates * layer.hidden}, std::move(zeros)), Elem::Float);
}

// The sum of the biases of both products: [directions, gates * hidden].
V sumOfBiases(Call& c, const Layer& layer, int64_t gates) {
    if (!layer.bias) return noBias(c, layer, gates);
    const int64_t width = gates * layer.hidden;
    return binary(c, Binary::ADD, sliceAxis(c, layer.bias, 1, 0, width),
                  sliceAxis(c, layer.bias, 1, width, 2 * width));
}

// All states, then `lasts` times those of the last step.
std::vector<V> run(Call& c, const Layer& layer, OpType type, const Parameter& table,
                   const std::vector<V>& inputs, size_t lasts) {
    std::array<std::vector<Result>, kProbes> results;
    for (size_t p = 0; p < kProbes; ++p) {
        const Dims& x = layer.x->dims[p];
        Result all, last;
        all.dims = {x.at(0), layer.directions, x.at(1), layer.hidden};
        last.dims = {layer.directions, x.at(1), layer.hidden};
        results[p] = {all};
        results[p].resize(1 + lasts, last);
    }
    return c.b.given(type, table, inputs, results[0], results[1]);
}

V zeroState(Call& c, const Layer& layer) {
    V shape =
        concat(c, {c.b.ints({layer.directions}), shapeOf(c, layer.x, 1, 2), c.b.ints({layer.hidden})}, 0);
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

void emitLstm(Call& c) {
    Layer layer = readLayer(c, 4, {"sigmoid", "tanh", "tanh"});
    if (V peepholes = c.maybe(7)) {
        bool none = peepholes->constant;
        for (int64_t i = 0; none && i < peepholes->elementCount(); ++i)
            none = peepholes->array().realAt(i) == 0;
        if (!none) refuse("peepholes");
    }
    std::vector<V> inputs{layer.x, layer.weights, layer.states, sumOfBiases(c, layer, 4)};
    if (layer.first || layer.firstCell) {
        inputs.push_back(layer.first ? layer.first : zeroState(c, layer));
        inputs.push_back(layer.firstCell ? layer.firstCell : zeroState(c, layer));
    }
    wire::LSTMT table;
    table.outputCount = static_cast<int32_t>(layer.hidden);
    const std::vector<V> results = run(c, layer, OpType::LSTM, table, inputs, 2);
    finish(c, layer, results[0], results[1], results[2]);
}

void emitRnn(Call& c) {
    Layer layer = readLayer(c, 1, {"tanh"});
    std::vector<V> inputs{layer.x, layer.weights, layer.states, sumOfBiases(c, layer, 1)};
    if (layer.first) inputs.push_back(layer.first);
    wire::LSTMT table;
    table.outputCount = static_cast<int32_t>(layer.hidden);
    const std::vector<V> results = run(c, layer, OpType::RNN, table, inputs, 1);
    finish(c, layer, results[0], results[1], nullptr);
}

void emitGru(Call& c) {
    Layer layer = readLayer(c, 3, {"sigmoid", "tanh"});
    const int64_t hidden = layer.hidden;
    wire::RNNParamT table;
    table.numUnits = static_cast<int32_t>(hidden);
    table.isBidirectionalRNN = layer.directions == 2;
    table.linearBeforeReset = c.integer("linear_before_reset", 0) != 0;
    table.keepAllOutputs = true;
    std::vector<V> inputs{layer.x};
    for (int64_t d = 0; d < layer.directions; ++d) {
        const auto part = [&](V from, int64_t begin, int64_t end) {
            return sliceAxis(c, squeeze(c, sliceAxis(c, from, 0, d, d + 1), {0}), 0, begin, end);
        };
        // [inputs + hidden][rows], of the gates z and r, and of the candidate.
        const auto columns = [&](int64_t begin, int64_t end) {
            return concat(c,
                          {permute(c, part(layer.weights, begin, end), {1, 0}),
                           permute(c, part(layer.states, begin, end), {1, 0})},
                          0);
        };
        V bias = layer.bias ? layer.bias : noBias(c, layer, 6);
        inputs.push_back(columns(0, 2 * hidden));
        inputs.push_back(part(bias, 0, 2 * hidden));
        inputs.push_back(columns(2 * hidden, 3 * hidden));
        inputs.push_back(part(bias, 2 * hidden, 3 * hidden));
        inputs.push_back(part(bias, 3 * hidden, 6 * hidden));
    }
    if (layer.first) inputs.push_back(layer.first);
    const std::vector<V> results = run(c, layer, OpType::RNNSequenceGRU, table, inputs, 1);
    finish(c, layer, results[0], results[1], nullptr);
}

constexpr Entry kEntries[] = {
    {"GRU", 7, kNewest, emitGru, "RNNSequenceGRU, with Reverse for direction reverse",
     "sequence_lens, clip, other activations than Sigmoid and Tanh."},
    {"LSTM", 7, kNewest, emitLstm, "LSTM, with Reverse for direction reverse",
     "sequence_lens, peepholes, clip, input_forget, other activations than Sigmoid, Tanh, Tanh."},
    {"RNN", 7, kNewest, emitRnn, "RNN, with Reverse for direction reverse",
     "sequence_lens, clip, other activations than Tanh."},
};

}  // namespace

Family recurrentFamily() {
    return kEntries;
}

}  // namespace mnnc::onnx
