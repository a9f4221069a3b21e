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

// Whether some sequences of the batch end before the last step.
bool hasLengths(Call& c) {
    V lengths = c.maybe(4);
    if (!lengths) return false;
    const size_t time = c.integer("layout", 0) != 0 ? 1 : 0;
    if (!lengths->constant || c.in(0)->rank() != 3 || !c.in(0)->fixed(time)) return true;
    for (const int64_t length : lengths->array().list())
        if (length != c.in(0)->extent(time)) return true;
    return false;
}

// The same node without lengths, forward, over [time, batch, inputs], once for each direction. What lies behind the end of a
// sequence is 0, and its last state is that of its last step.
void withLengths(Call& c, Emit emit) {
    if (c.wants(2)) refuse("its output 2 with sequence_lens");
    const std::string direction = c.text("direction", "forward");
    const bool batchFirst = c.integer("layout", 0) != 0;
    const auto timeFirst = [&](size_t i) {
        V value = c.maybe(i);
        return value && batchFirst ? permute(c, value, {1, 0, 2}) : value;
    };
    V x = timeFirst(0), lengths = c.in(4);
    Node plain = c.node;
    std::erase_if(plain.attributes,
                  [](const Attribute& one) { return one.name == "direction" || one.name == "layout"; });
    plain.outputs.resize(1);
    const auto turned = [&](V value, int32_t batch) {
        wire::ReverseSequenceParamT table;
        table.batchDim = batch;
        table.seqDim = 0;
        std::vector<Result> first(1), second(1);
        first[0].dims = value->dims[0];
        second[0].dims = value->dims[1];
        return c.b.given(OpType::ReverseSequence, table, {value, lengths}, first, second)[0];
    };
    // [time, batch], of bools: the steps that a sequence has, and its last one.
    V steps = unsqueeze(c, rangeTo(c, extentOf(c, x, 0)), {1});
    V inside = unsqueeze(c, compare(c, Binary::LESS, steps, lengths), {1, 3});
    V last = compare(c, Binary::EQUAL, binary(c, Binary::ADD, steps, c.b.scalar(1)), lengths);
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

// One step after another, each with its cell.
void unrolled(Call& c, const Layer& layer, V peepholes) {
    constexpr int64_t kMostSteps = 256;
    const int64_t steps = layer.x->extent(0), hidden = layer.hidden;
    if (steps > kMostSteps) refuse("peepholes over more than %lld steps", static_cast<long long>(kMostSteps));
    V bias = sumOfBiases(c, layer, 4);
    std::vector<V> alls, lasts, cells;
    for (int64_t d = 0; d < layer.directions; ++d) {
        const bool backwards = d == 1;
        const auto of = [&](V from) { return squeeze(c, sliceAxis(c, from, 0, d, d + 1), {0}); };
        // ONNX has the gates i, o, f, c, the cell i, c, f, o.
        const auto ordered = [&](V from) {
            std::vector<V> gates;
            for (const int64_t gate : {0, 3, 2, 1})
                gates.push_back(sliceAxis(c, from, 0, gate * hidden, (gate + 1) * hidden));
            return concat(c, gates, 0);
        };
        V weights = concat(
            c,
            {permute(c, ordered(of(layer.weights)), {1, 0}), permute(c, ordered(of(layer.states)), {1, 0})},
            0);
        V gates = ordered(of(bias)), look = of(peepholes);
        const auto peephole = [&](int64_t gate) {
            return sliceAxis(c, look, 0, gate * hidden, (gate + 1) * hidden);
        };
        V state = of(layer.first ? layer.first : zeroState(c, layer));
        V cell = of(layer.firstCell ? layer.firstCell : zeroState(c, layer));
        std::vector<V> all(static_cast<size_t>(steps));
        wire::LSTMBlockCellT table;
        table.cell_clip = 0;
        table.forget_bias = 0;
        table.use_peephole = true;
        for (int64_t t = 0; t < steps; ++t) {
            const int64_t at = backwards ? steps - 1 - t : t;
            V now = squeeze(c, sliceAxis(c, layer.x, 0, at, at + 1), {0});
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
    finish(c, layer, concat(c, alls, 1), concat(c, lasts, 0), concat(c, cells, 0));
}

void emitLstm(Call& c) {
    if (hasLengths(c)) return withLengths(c, emitLstm);
    Layer layer = readLayer(c, 4, {"sigmoid", "tanh", "tanh"});
    if (V peepholes = c.maybe(7)) {
        bool none = peepholes->constant;
        for (int64_t i = 0; none && i < peepholes->elementCount(); ++i)
            none = peepholes->array().realAt(i) == 0;
        if (!none) return unrolled(c, layer, peepholes);
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
    if (hasLengths(c)) return withLengths(c, emitRnn);
    Layer layer = readLayer(c, 1, {"tanh"});
    std::vector<V> inputs{layer.x, layer.weights, layer.states, sumOfBiases(c, layer, 1)};
    if (layer.first) inputs.push_back(layer.first);
    wire::LSTMT table;
    table.outputCount = static_cast<int32_t>(layer.hidden);
    const std::vector<V> results = run(c, layer, OpType::RNN, table, inputs, 1);
    finish(c, layer, results[0], results[1], nullptr);
}

void emitGru(Call& c) {
    if (hasLengths(c)) return withLengths(c, emitGru);
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
    {"GRU", 7, kNewest, emitGru,
     "RNNSequenceGRU, with Reverse for direction reverse, ReverseSequence and Select for sequence_lens",
     "clip, other activations than Sigmoid and Tanh."},
    {"LSTM", 7, kNewest, emitLstm,
     "LSTM, with Reverse for direction reverse, ReverseSequence and Select for sequence_lens; LSTMBlockCell "
     "for each step with peepholes",
     "The last cells (output 2) with sequence_lens; peepholes over a free number of steps and more than 256; "
     "clip, "
     "input_forget, other activations than Sigmoid, Tanh, Tanh."},
    {"RNN", 7, kNewest, emitRnn,
     "RNN, with Reverse for direction reverse, ReverseSequence and Select for sequence_lens",
     "clip, other activations than Tanh."},
};

}  // namespace

Family recurrentFamily() {
    return kEntries;
}

}  // namespace mnnc::onnx
