// RNN, LSTM and RNNSequenceGRU: both directions, with and without states and outputs.
#include "ops/recurrent.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "vulkan_harness.h"

namespace mnnc::vulkan::test {

namespace {

struct Sizes {
    int64_t steps, batch, inputs, hidden, directions;
};

constexpr Sizes kSizes[] = {
    {3, 2, 5, 35, 2}, {40, 1, 3, 16, 2}, {2, 7, 33, 100, 1}, {1, 1, 6, 20, 1}, {5, 5, 4, 17, 1}, {9, 3, 1, 1, 2},
};

std::shared_ptr<RecurrentParams> paramsOf(const Sizes& s) {
    auto params = std::make_shared<RecurrentParams>();
    params->hidden = s.hidden;
    return params;
}

Value outputOf(Shape shape) {
    Value value;
    value.shape = shape;
    return value;
}

// Sets the outputs: all states if `all`, then the last ones.
void setOutputs(OpCase& c, const Sizes& s, bool all, int last) {
    if (all) c.outputs.push_back(outputOf({s.steps, s.directions, s.batch, s.hidden}));
    for (int i = 0; i < last; ++i) c.outputs.push_back(outputOf({s.directions, s.batch, s.hidden}));
}

OpCase onnxCase(OpType type, const Sizes& s, bool given, int last) {
    const bool lstm = type == OpType::LSTM;
    const int64_t rows = (lstm ? 4 : 1) * s.hidden;
    const float height = 2 / std::sqrt(static_cast<float>(s.hidden));
    OpCase c;
    c.type = type;
    c.params = paramsOf(s);
    c.inputs = {randomValue({s.steps, s.batch, s.inputs}, 1), randomValue({s.directions, rows, s.inputs}, 2),
                randomValue({s.directions, rows, s.hidden}, 3, -height, height), randomValue({s.directions, rows}, 4)};
    for (int i = 0; given && i < (lstm ? 2 : 1); ++i)
        c.inputs.push_back(randomValue({s.directions, s.batch, s.hidden}, 5 + static_cast<uint32_t>(i)));
    setOutputs(c, s, true, last);
    return c;
}

OpCase gruCase(const Sizes& s, bool resetAfter, bool given, bool all, int last) {
    auto params = paramsOf(s);
    params->bidirectional = s.directions == 2;
    params->linearBeforeReset = resetAfter;
    params->keepAllOutputs = all;
    const float height = 2 / std::sqrt(static_cast<float>(s.hidden));
    OpCase c;
    c.type = OpType::RNNSequenceGRU;
    c.params = params;
    c.inputs = {randomValue({s.steps, s.batch, s.inputs}, 1)};
    for (uint32_t d = 0; d < s.directions; ++d) {
        const uint32_t seed = 2 + 10 * d;
        const int64_t rows = s.inputs + s.hidden;
        c.inputs.push_back(randomValue({rows, 2 * s.hidden}, seed, -height, height));
        c.inputs.push_back(randomValue({2 * s.hidden}, seed + 1));
        c.inputs.push_back(randomValue({rows, s.hidden}, seed + 2, -height, height));
        c.inputs.push_back(randomValue({s.hidden}, seed + 3));
        c.inputs.push_back(randomValue({3 * s.hidden}, seed + 4));
    }
    if (given) c.inputs.push_back(randomValue({s.directions, s.batch, s.hidden}, 50));
    setOutputs(c, s, all, last);
    return c;
}

}  // namespace

TEST(Recurrent, RnnAndLstm) {
    for (const OpType type : {OpType::RNN, OpType::LSTM})
        for (const Sizes& s : kSizes)
            for (const bool given : {false, true}) {
                const int most = type == OpType::LSTM ? 2 : 1;
                expectSameAsCpu(onnxCase(type, s, given, given ? most : 0), 2e-6, 1e-2);
            }
}

TEST(Recurrent, Gru) {
    for (const bool resetAfter : {false, true})
        for (const Sizes& s : kSizes) {
            SCOPED_TRACE(resetAfter);
            expectSameAsCpu(gruCase(s, resetAfter, true, true, 1), 2e-6, 1e-2);
            expectSameAsCpu(gruCase(s, resetAfter, false, false, 1), 2e-6, 1e-2);
        }
}

TEST(Recurrent, ManyInputs) {
    expectSameAsCpuOrRefused(onnxCase(OpType::LSTM, {16, 1, 60000, 4, 1}, false, 1), "rounds", 1e-4);
}

TEST(Recurrent, LstmBlockCell) {
    for (const bool peephole : {false, true})
        for (const float clip : {0.0f, 0.4f})
            for (const auto& [batch, inputs, hidden] : {std::array{2, 3, 40}, {1, 130, 67}, {9, 1, 15}, {3, 17, 1}}) {
                SCOPED_TRACE(::testing::Message() << "peephole " << peephole << ", clip " << clip);
                auto params = std::make_shared<LstmBlockParams>();
                params->peephole = peephole;
                params->cellClip = clip;
                params->forgetBias = 0.25f;
                OpCase c;
                c.type = OpType::LSTMBlockCell;
                c.params = params;
                const Shape own = {hidden};
                c.inputs = {randomValue({batch, inputs}, 1),
                            randomValue({batch, hidden}, 2),
                            randomValue({batch, hidden}, 3),
                            randomValue({inputs + hidden, 4 * hidden}, 4, -0.3f, 0.3f),
                            randomValue(own, 5),
                            randomValue(own, 6),
                            randomValue(own, 7),
                            randomValue({4 * hidden}, 8)};
                c.outputs.resize(7);
                for (Value& output : c.outputs) output.shape = {batch, hidden};
                expectSameAsCpu(c, 2e-6, 2e-3);
                c.outputs.resize(2);
                expectSameAsCpu(c, 2e-6, 2e-3);
            }
}

TEST(Recurrent, GruWithRowsOfWeights) {
    for (const Sizes& s : {Sizes{3, 2, 5, 35, 1}, {40, 1, 3, 16, 1}, {9, 3, 1, 1, 1}})
        for (const bool given : {false, true}) {
            auto params = paramsOf(s);
            params->rowWeights = params->keepAllOutputs = true;
            const float height = 2 / std::sqrt(static_cast<float>(s.hidden));
            OpCase c;
            c.type = OpType::RNNSequenceGRU;
            c.params = params;
            c.inputs = {randomValue({s.steps, s.batch, s.inputs}, 1),
                        randomValue({1, 3 * s.hidden, s.inputs}, 2, -height, height), randomValue({3 * s.hidden}, 3),
                        randomValue({1, 3 * s.hidden, s.hidden}, 4, -height, height), randomValue({3 * s.hidden}, 5)};
            if (given) c.inputs.push_back(randomValue({1, s.batch, s.hidden}, 6));
            setOutputs(c, s, true, 1);
            expectSameAsCpu(c, 2e-6, 1e-2);
        }
}

// In a long sequence rounding errors accumulate, so the states stay in 32 bits, even under Precision Low.
TEST(Recurrent, LongSequence) {
    expectSameAsCpu(onnxCase(OpType::LSTM, {300, 2, 8, 24, 1}, true, 2), 5e-6, 2e-2);
}

TEST(Recurrent, Refused) {
    expectRefused(onnxCase(OpType::LSTM, {4097, 1, 1, 2, 1}, false, 0), "up to 4096 steps");
}

}  // namespace mnnc::vulkan::test
