// LinearAttention: its rows against loops in double precision for every instruction set, and what the operator refuses.
// tests/c_abi/sums_test.c has sessions with it.
#include "backends/cpu/kernels/sequence/linear_attention.h"

#include <gtest/gtest.h>

#include <cmath>

#include "float_util.h"
#include "index_cases.h"

namespace mnnc::test {
namespace {

TEST(LinearAttention, Convolve) {
    for (const std::string& isa : availableIsas())
        for (const size_t channels : {1u, 3u, 16u, 37u}) {
            const size_t taps = 4;
            const Floats x = randomFloats(taps * channels, 1, 3), weights = randomFloats(taps * channels, 2);
            const float* rows[4];
            for (size_t t = 0; t < taps; ++t) rows[t] = x.data() + t * channels;
            Floats y(channels + 1, 7);
            linearAttentionKernels(selectKernels(isa).id).convolve(rows, weights.data(), taps, channels, y.data());
            for (size_t c = 0; c < channels; ++c) {
                double sum = 0;
                for (size_t t = 0; t < taps; ++t) sum += double(x[t * channels + c]) * weights[t * channels + c];
                EXPECT_NEAR(y[c], sum / (1 + std::exp(-sum)), 2e-6) << isa;
            }
            EXPECT_EQ(y[channels], 7);
        }
}

TEST(LinearAttention, ConvolveScaled) {
    for (const std::string& isa : availableIsas())
        for (const size_t channels : {1u, 3u, 16u, 37u}) {
            const size_t taps = 3;
            const Floats x = randomFloats(taps * channels, 1, 3), weights = randomFloats(taps * channels, 2),
                         factors = randomFloats(channels, 3);
            const float* rows[3];
            for (size_t t = 0; t < taps; ++t) rows[t] = x.data() + t * channels;
            Floats y(channels + 1, 7);
            linearAttentionKernels(selectKernels(isa).id)
                .convolveScaled(rows, weights.data(), taps, channels, factors.data(), y.data());
            for (size_t c = 0; c < channels; ++c) {
                double sum = 0;
                for (size_t t = 0; t < taps; ++t) sum += double(x[t * channels + c]) * weights[t * channels + c];
                EXPECT_NEAR(y[c], sum * factors[c], 2e-6) << isa;
            }
            EXPECT_EQ(y[channels], 7);
        }
}

TEST(LinearAttention, Normalise) {
    for (const std::string& isa : availableIsas())
        for (const size_t n : {1u, 5u, 16u, 33u}) {
            const Floats x = randomFloats(n, 3);
            Floats y = x;
            y.push_back(7);
            linearAttentionKernels(selectKernels(isa).id).normalise(y.data(), n, 0.25f);
            double squares = 1e-6;
            for (const float number : x) squares += double(number) * number;
            for (size_t i = 0; i < n; ++i) EXPECT_NEAR(y[i], 0.25 * x[i] / std::sqrt(squares), 1e-6) << isa;
            EXPECT_EQ(y[n], 7);
        }
}

TEST(LinearAttention, DeltaRow) {
    for (const std::string& isa : availableIsas())
        for (const size_t values : {1u, 5u, 16u, 33u}) {
            const size_t keys = 7;
            const Floats q = randomFloats(keys, 4), k = randomFloats(keys, 5), v = randomFloats(values, 6),
                         before = randomFloats(keys * values, 7);
            Floats matrix = before, out(values + 1, 7);
            const DeltaRow row{q.data(), k.data(), v.data(), 0.7f, 0.4f, matrix.data(), out.data(), keys, values};
            linearAttentionKernels(selectKernels(isa).id).deltaRow(row);
            for (size_t c = 0; c < values; ++c) {
                double known = 0, result = 0;
                for (size_t j = 0; j < keys; ++j) known += 0.7 * before[j * values + c] * k[j];
                const double learnt = 0.4 * (v[c] - known);
                for (size_t j = 0; j < keys; ++j) {
                    const double after = 0.7 * before[j * values + c] + k[j] * learnt;
                    EXPECT_NEAR(matrix[j * values + c], after, 1e-6) << isa;
                    result += after * q[j];
                }
                EXPECT_NEAR(out[c], result, 2e-6) << isa;
            }
            EXPECT_EQ(out[values], 7);
        }
}

wire::LinearAttentionParamT usual() {
    wire::LinearAttentionParamT table;
    table.attn_type = "gated_delta_rule";
    table.num_k_heads = 1;
    table.num_v_heads = 2;
    table.head_k_dim = 3;
    table.head_v_dim = 5;
    table.use_qk_l2norm = true;
    return table;
}

void refuses(Status status, const std::string& part, wire::LinearAttentionParamT table = usual(),
             const std::vector<std::vector<int32_t>>& shapes = {{4, 16, 1, 1}, {4, 2, 1, 1}, {4, 2, 1, 1}},
             const std::vector<int32_t>& weights = {16, 1, 3}) {
    IndexNet net;
    std::vector<int32_t> inputs;
    for (const std::vector<int32_t>& shape : shapes) inputs.push_back(net.input(shape));
    size_t count = 1;
    for (const int32_t extent : weights) count *= size_t(extent);
    inputs.push_back(net.constant(weights, Floats(count, 0.5f)));
    const wire::NetT built = net.finish({net.indexed(wire::OpType::LinearAttention, inputs, std::move(table))});
    expectFailure(status, part, [&] { runNet(built); });
}

TEST(LinearAttention, RefusesParameters) {
    const auto with = [](auto&& change) {
        wire::LinearAttentionParamT table = usual();
        change(table);
        return table;
    };
    refuses(Status::NotSupported, "attn_type is 'long_conv'", with([](auto& t) { t.attn_type = "long_conv"; }));
    refuses(Status::NotSupported, "use_qk_l2norm", with([](auto& t) { t.use_qk_l2norm = false; }));
    refuses(Status::NotSupported, "gate_fold", with([](auto& t) { t.gate_fold = true; }));
    refuses(Status::NotSupported, "gate_coef", with([](auto& t) { t.gate_coef = {1}; }));
    refuses(Status::BadParameter, "is 0", with([](auto& t) { t.num_k_heads = 0; }));
    refuses(Status::BadParameter, "is -5", with([](auto& t) { t.head_v_dim = -5; }));
    refuses(Status::BadParameter, "2 heads of values, a multiple of its 3 heads of keys is needed",
            with([](auto& t) { t.num_k_heads = 3; }));
}

TEST(LinearAttention, RefusesShapes) {
    const auto misfit = [](const std::string& part, const std::vector<std::vector<int32_t>>& shapes,
                           const std::vector<int32_t>& weights = {16, 1, 3}) {
        refuses(Status::ComputeSizeError, part, usual(), shapes, weights);
    };
    misfit("projections are 4x15x1x1", {{4, 15, 1, 1}, {4, 2, 1, 1}, {4, 2, 1, 1}});
    misfit("projections are 4x16", {{4, 16}, {4, 2, 1, 1}, {4, 2, 1, 1}});
    misfit("input 1 is 3x2x1x1", {{4, 16, 1, 1}, {3, 2, 1, 1}, {4, 2, 1, 1}});
    misfit("input 2 is 4x1x1x1", {{4, 16, 1, 1}, {4, 2, 1, 1}, {4, 1, 1, 1}});
    misfit("weights are 15x1x3", {{4, 16, 1, 1}, {4, 2, 1, 1}, {4, 2, 1, 1}}, {15, 1, 3});
    misfit("weights are 16x1x0", {{4, 16, 1, 1}, {4, 2, 1, 1}, {4, 2, 1, 1}}, {16, 1, 0});
    refuses(Status::NoExecution, "more than 32 taps", usual(), {{4, 16, 1, 1}, {4, 2, 1, 1}, {4, 2, 1, 1}},
            {16, 1, 33});
    refuses(Status::NotSupported, "with 5 inputs", usual(), {{4, 16, 1, 1}, {4, 2, 1, 1}, {4, 2, 1, 1}, {4, 2, 1, 1}});
}

TEST(LinearAttention, RefusesShortConvolutions) {
    const auto misfit = [](Status status, const std::string& part, const std::vector<std::vector<int32_t>>& shapes,
                           const std::vector<int32_t>& weights = {5, 1, 3}) {
        wire::LinearAttentionParamT table;
        table.attn_type = "short_conv";
        refuses(status, part, table, shapes, weights);
    };
    misfit(Status::ComputeSizeError, "projections are 4x14x1x1", {{4, 14, 1, 1}, {1}, {1}});
    misfit(Status::ComputeSizeError, "projections are 4x15", {{4, 15}, {1}, {1}});
    misfit(Status::ComputeSizeError, "projections are 4x15x1x2", {{4, 15, 1, 2}, {1}, {1}});
    misfit(Status::ComputeSizeError, "weights are 5x2x3", {{4, 15, 1, 1}, {1}, {1}}, {5, 2, 3});
    misfit(Status::ComputeSizeError, "weights are 5x1x0", {{4, 15, 1, 1}, {1}, {1}}, {5, 1, 0});
    misfit(Status::NotSupported, "one tap", {{4, 15, 1, 1}, {1}, {1}}, {5, 1, 1});
    misfit(Status::NoExecution, "more than 32 taps", {{4, 15, 1, 1}, {1}, {1}}, {5, 1, 33});
    misfit(Status::NotSupported, "with 5 inputs", {{4, 15, 1, 1}, {1}, {1}, {1}});
}

}  // namespace
}  // namespace mnnc::test
