// RNN, LSTM, RNNSequenceGRU and LSTMBlockCell: against loops in double precision, for every instruction set and number
// of threads.
#include "ops/recurrent.h"

#include <cmath>

#include "op_harness.h"

namespace mnnc::test {
namespace {

using Doubles = std::vector<double>;

struct Sizes {
    int64_t steps, batch, inputs, hidden, directions;
};

Value wave(Shape shape, float seed, float height) {
    Value v{shape, {}, Format::NCHW, {}};
    for (int64_t i = 0; i < shape.elements(); ++i)
        v.data.push_back(height * std::sin(seed + 1.7f * static_cast<float>(i)));
    return v;
}

double sigmoid(double x) {
    return 1 / (1 + std::exp(-x));
}

// Returns the gates x hidden sums of one row: W x + R h + b for direction d.
double sum(const std::vector<Value>& in, const Sizes& s, int64_t d, int64_t rows, int64_t row, const float* x,
           const double* h) {
    double total = in[3].data[static_cast<size_t>(d * rows + row)];
    for (int64_t i = 0; i < s.inputs; ++i)
        total += double{in[1].data[static_cast<size_t>((d * rows + row) * s.inputs + i)]} * x[i];
    for (int64_t i = 0; i < s.hidden; ++i)
        total += double{in[2].data[static_cast<size_t>((d * rows + row) * s.hidden + i)]} * h[i];
    return total;
}

// Returns all states [steps, directions, batch, hidden]; gates: 1 for RNN, 4 for LSTM.
Doubles expected(const std::vector<Value>& in, const Sizes& s, int64_t gates) {
    Doubles y(static_cast<size_t>(s.steps * s.directions * s.batch * s.hidden));
    const int64_t rows = gates * s.hidden;
    for (int64_t d = 0; d < s.directions; ++d)
        for (int64_t b = 0; b < s.batch; ++b) {
            const auto first = static_cast<size_t>((d * s.batch + b) * s.hidden);
            Doubles h(in[4].data.begin() + static_cast<ptrdiff_t>(first),
                      in[4].data.begin() + static_cast<ptrdiff_t>(first) + s.hidden);
            Doubles c = h;
            if (gates == 4)
                for (int64_t k = 0; k < s.hidden; ++k)
                    c[static_cast<size_t>(k)] = in[5].data[first + static_cast<size_t>(k)];
            for (int64_t n = 0; n < s.steps; ++n) {
                const int64_t t = d == 0 ? n : s.steps - 1 - n;
                const float* x = in[0].data.data() + (t * s.batch + b) * s.inputs;
                Doubles now = h;
                for (int64_t k = 0; k < s.hidden; ++k) {
                    const auto gate = [&](int64_t g) { return sum(in, s, d, rows, g * s.hidden + k, x, h.data()); };
                    const auto at = static_cast<size_t>(k);
                    if (gates == 1) {
                        now[at] = std::tanh(gate(0));
                    } else {
                        c[at] = sigmoid(gate(2)) * c[at] + sigmoid(gate(0)) * std::tanh(gate(3));
                        now[at] = sigmoid(gate(1)) * std::tanh(c[at]);
                    }
                    y[static_cast<size_t>(((t * s.directions + d) * s.batch + b) * s.hidden + k)] = now[at];
                }
                h = now;
            }
        }
    return y;
}

TEST(Recurrent, EqualsLoopsForEveryIsaAndThreads) {
    int compared = 0;
    for (const Sizes& s : {Sizes{3, 2, 5, 35, 2}, {400, 1, 2, 3, 2}, {2, 7, 3, 180, 1}, {1, 1, 1, 1, 1}})
        for (const bool lstm : {false, true}) {
            const int64_t rows = (lstm ? 4 : 1) * s.hidden;
            const float height = 1 / std::sqrt(static_cast<float>(s.hidden));
            std::vector<Value> in = {wave({s.steps, s.batch, s.inputs}, 1, 1),
                                     wave({s.directions, rows, s.inputs}, 2, 1),
                                     wave({s.directions, rows, s.hidden}, 3, height), wave({s.directions, rows}, 4, 1),
                                     wave({s.directions, s.batch, s.hidden}, 5, 1)};
            if (lstm) in.push_back(wave({s.directions, s.batch, s.hidden}, 6, 1));
            const Doubles truth = expected(in, s, lstm ? 4 : 1);
            auto params = std::make_shared<RecurrentParams>();
            params->hidden = s.hidden;
            for (const std::string& isa : availableIsas()) {
                std::vector<float> alone;
                for (const int threads : {1, 2, 5}) {
                    const std::vector<Value> out =
                        OpRun(lstm ? OpType::LSTM : OpType::RNN, params, isa.c_str(), threads)(in, lstm ? 3 : 2);
                    ASSERT_EQ(out[0].data.size(), truth.size());
                    for (size_t i = 0; i < truth.size(); ++i)
                        ASSERT_NEAR(out[0].data[i], truth[i], 4e-6) << isa << ' ' << threads << " state " << i;
                    if (threads == 1) alone = out[0].data;
                    EXPECT_EQ(out[0].data, alone) << isa << ' ' << threads;
                    ++compared;
                }
            }
        }
    EXPECT_GE(compared, 24);
}

TEST(Recurrent, GruHasTheSameBitsOnAnyNumberOfThreads) {
    const Sizes s{5, 3, 4, 150, 2};
    auto params = std::make_shared<RecurrentParams>();
    params->hidden = s.hidden;
    params->bidirectional = params->keepAllOutputs = true;
    for (const bool after : {false, true}) {
        params->linearBeforeReset = after;
        std::vector<Value> in = {wave({s.steps, s.batch, s.inputs}, 1, 1)};
        for (int d = 0; d < 2; ++d) {
            const auto seed = static_cast<float>(10 * d);
            in.push_back(wave({s.inputs + s.hidden, 2 * s.hidden}, seed + 2, .1f));
            in.push_back(wave({2 * s.hidden}, seed + 3, 1));
            in.push_back(wave({s.inputs + s.hidden, s.hidden}, seed + 4, .1f));
            in.push_back(wave({s.hidden}, seed + 5, 1));
            in.push_back(wave({3 * s.hidden}, seed + 6, 1));
        }
        const std::vector<Value> alone = OpRun(OpType::RNNSequenceGRU, params, "", 1)(in, 2);
        ASSERT_EQ(alone[0].shape.text(), "5x2x3x150");
        for (const int threads : {2, 3, 4})
            EXPECT_EQ(OpRun(OpType::RNNSequenceGRU, params, "", threads)(in, 2)[0].data, alone[0].data);
        // The last states are those of the first and of the last step.
        const std::vector<float>&y = alone[0].data, &h = alone[1].data;
        const auto state = static_cast<ptrdiff_t>(s.batch * s.hidden);
        EXPECT_TRUE(std::equal(h.begin(), h.begin() + state, y.end() - 2 * state));
        EXPECT_TRUE(std::equal(h.begin() + state, h.end(), y.begin() + state));
    }
}

std::string failureOf(const std::function<void()>& body) {
    try {
        body();
    } catch (const Error& error) {
        return error.what();
    }
    return "no failure";
}

Table lstmTable(int hidden) {
    return [=](flatbuffers::FlatBufferBuilder& b) { return asParameter(wire::CreateLSTM(b, hidden)); };
}

TEST(Recurrent, RefusesWhatDoesNotFit) {
    const auto lstm = [](int hidden, std::vector<Value> in, int outputs = 3) {
        return failureOf([&] { OpRun(OpType::LSTM, lstmTable(hidden))(in, outputs); });
    };
    const Value x = iota({2, 1, 3}), w = iota({1, 8, 3}), r = iota({1, 8, 2}), b = iota({1, 8});
    EXPECT_EQ(lstm(2, {x, w, r, b}), "no failure");
    EXPECT_EQ(lstm(0, {x, w, r, b}), "op 'tested': the state has 0 values, at least 1 is needed");
    EXPECT_EQ(lstm(3, {x, w, r, b}), "op 'tested': input 1 is 1x8x3, 1x12x3 is needed");
    EXPECT_EQ(lstm(2, {x, w, iota({1, 8, 3}), b}), "op 'tested': input 2 is 1x8x3, 1x8x2 is needed");
    EXPECT_EQ(lstm(2, {x, w, r, iota({8})}), "op 'tested': input 3 is 8, 1x8 is needed");
    EXPECT_EQ(lstm(2, {iota({2, 3}), w, r, b}), "op 'tested': its input is 2x3, [steps, batch, values] is needed");
    EXPECT_EQ(lstm(2, {x, w, r, b, iota({1, 1, 2})}), "op 'tested': 5 inputs and 3 outputs do not fit LSTM");
    EXPECT_EQ(lstm(2, {x, iota({3, 8, 3}), r, b}), "op 'tested': the weights have 3 directions, 1 or 2 are possible");
    EXPECT_EQ(lstm(2, {intIota({2, 1, 3}), w, r, b}), "op 'tested' (LSTM): input 0 is int32, float32 is needed");
    EXPECT_EQ(lstm(2, {x}), "op 'tested': 0 and 0 weights do not fit a state of 2 values");
}

// Steps without values have no memory that could limit their number.
TEST(Recurrent, RefusesVeryManyStepsWithoutValues) {
    const auto gru = [](int64_t steps) {
        const Table table = [](flatbuffers::FlatBufferBuilder& b) {
            wire::RNNParamT params;
            params.numUnits = 2;
            return asParameter(wire::CreateRNNParam(b, &params));
        };
        const std::vector<Value> in = {
            floats({steps, 1, 0}, {}), iota({2, 4}), iota({4}), iota({2, 2}), iota({2}), iota({6})};
        return failureOf([&] { OpRun(OpType::RNNSequenceGRU, table)(in); });
    };
    EXPECT_EQ(gru(3), "no failure");
    EXPECT_EQ(gru(INT32_MAX), "op 'tested' has 2147483647 steps without values, the limit is 65536");
}

TEST(Recurrent, BlockCellClipsItsState) {
    const Table table = [](flatbuffers::FlatBufferBuilder& b) {
        return asParameter(wire::CreateLSTMBlockCell(b, 0.25f, 0.0f, false));
    };
    const Value none = floats({1}, {0});
    const std::vector<Value> out = OpRun(OpType::LSTMBlockCell, table)(
        {floats({1, 1}, {100}), floats({1, 1}, {-9}), floats({1, 1}, {0}), floats({2, 4}, {0, 0, 1, 0, 0, 0, 0, 0}),
         none, none, none, floats({4}, {0, 0, 0, 0})},
        7);
    EXPECT_FLOAT_EQ(out[1].data[0], -0.25f);
    EXPECT_FLOAT_EQ(out[6].data[0], 0.5f * std::tanh(-0.25f));
}

}  // namespace
}  // namespace mnnc::test
