// Slices that are views: the conditions for copying nothing, and the same numbers as with copies.
#include <gtest/gtest.h>

#include <algorithm>

#include "net_builder.h"
#include "tensor/host_copy.h"

namespace mnnc::test {
namespace {

// Returns the elements [begin, end) of an axis of 1 x 1 or more planes.
std::vector<float> range(const std::vector<float>& whole, const std::vector<int32_t>& dims, size_t axis, size_t begin,
                         size_t end) {
    size_t outer = 1, inner = 1;
    for (size_t i = 0; i < axis; ++i) outer *= static_cast<size_t>(dims[i]);
    for (size_t i = axis + 1; i < dims.size(); ++i) inner *= static_cast<size_t>(dims[i]);
    std::vector<float> result;
    for (size_t o = 0; o < outer; ++o)
        for (size_t a = begin; a < end; ++a)
            for (size_t i = 0; i < inner; ++i)
                result.push_back(whole[(o * static_cast<size_t>(dims[axis]) + a) * inner + i]);
    return result;
}

// Splits y, the result of `make` with these extents, and doubles every part.
void expectSplit(const std::function<int(NetBuilder&)>& make, const std::vector<int32_t>& dims, size_t axis,
                 const std::vector<int32_t>& points, size_t copies) {
    NetBuilder steps;
    const int y = make(steps);
    std::vector<int> outputs = {y};
    for (const int part : steps.split(y, static_cast<int>(axis), points))
        outputs.push_back(steps.binary(BinaryCode::MUL, part, steps.scalar(2)));
    const wire::NetT net = steps.finish(outputs);
    for (const int threads : {1, 2}) {
        SessionConfig config;
        config.backend.threads = threads;
        const NetResult result = runNet(net, config);
        EXPECT_EQ(result.count("Raster"), copies);
        size_t begin = 0;
        for (size_t k = 1; k < result.outputs.size(); ++k) {
            const size_t end = static_cast<size_t>(k <= points.size() ? points[k - 1] : dims[axis]);
            std::vector<float> expected = range(result.outputs[0], dims, axis, begin, end);
            for (float& value : expected) value *= 2;
            EXPECT_EQ(result.outputs[k], expected);
            begin = end;
        }
    }
}

TEST(RasterViews, WholeBlocksOfChannelsAreNotCopied) {
    const auto conv = [](NetBuilder& s) { return s.conv(s.input({1, 5, 6, 7}), 5, 64, 3); };
    expectSplit(conv, {1, 64, 6, 7}, 1, {16, 48}, 0);
    expectSplit(conv, {1, 64, 6, 7}, 1, {32}, 0);
    // The last block belongs to one part only.
    expectSplit([](NetBuilder& s) { return s.conv(s.input({1, 5, 6, 7}), 5, 39, 3); }, {1, 39, 6, 7}, 1, {16, 32}, 0);
}

TEST(RasterViews, SharedBlocksAreCopied) {
    expectSplit([](NetBuilder& s) { return s.conv(s.input({1, 5, 6, 7}), 5, 39, 3); }, {1, 39, 6, 7}, 1, {16, 33}, 2);
    expectSplit([](NetBuilder& s) { return s.conv(s.input({2, 5, 6, 7}), 5, 32, 3); }, {2, 32, 6, 7}, 1, {16}, 2);
}

TEST(RasterViews, BatchesAndRowsAreNotCopied) {
    expectSplit([](NetBuilder& s) { return s.conv(s.input({4, 5, 6, 7}), 5, 39, 3); }, {4, 39, 6, 7}, 0, {1, 3}, 0);
    // Gates and time steps have one pixel, so that packed and row-major are the same bytes.
    expectSplit(
        [](NetBuilder& s) {
            return s.conv(s.input({1, 5, 1, 1}), 5, 128, 1);
        },
        {1, 128, 1, 1}, 1, {32, 64, 96}, 0);
    expectSplit([](NetBuilder& s) { return s.conv(s.input({9, 5, 1, 1}), 5, 128, 1); }, {9, 128, 1, 1}, 0, {3, 4}, 0);
}

TEST(RasterViews, RowMajorRangesAreAligned) {
    const auto sum = [](NetBuilder& s) {
        const int x = s.input({6, 24, 2});
        return s.binary(BinaryCode::ADD, x, s.scalar(1));
    };
    expectSplit(sum, {6, 24, 2}, 0, {1, 2, 5}, 0);  // 192 bytes a row
    expectSplit(sum, {6, 24, 2}, 1, {8}, 2);        // not contiguous
    const auto odd = [](NetBuilder& s) { return s.binary(BinaryCode::ADD, s.input({6, 7}), s.scalar(1)); };
    expectSplit(odd, {6, 7}, 0, {1, 2}, 2);  // only the first begins at a multiple of 64 bytes
}

TEST(RasterViews, ASliceOfAnInputFollowsTheInput) {
    NetBuilder steps;
    const int x = steps.input({4, 32});
    const std::vector<int> parts = steps.split(x, 0, {1, 3});
    const int sum = steps.binary(BinaryCode::ADD, parts[0], parts[2]);
    // A part that is an output belongs to the caller: it must not change with the input.
    const wire::NetT net = steps.finish({sum, parts[1]});
    const auto interpreter = open(net);
    Session session(interpreter, {});
    std::vector<float> values(128), first(32), second(64);
    for (const float scale : {1.0f, -3.0f}) {
        for (size_t i = 0; i < values.size(); ++i) values[i] = scale * static_cast<float>(i);
        copyFromHost(session.input(0), session.inputData(0), values.data(), Format::NCHW);
        session.run();
        std::fill(values.begin(), values.end(), 1e9f);
        copyFromHost(session.input(0), session.inputData(0), values.data(), Format::NCHW);
        copyToHost(session.output(0), session.outputData(0), first.data(), Format::NCHW);
        copyToHost(session.output(1), session.outputData(1), second.data(), Format::NCHW);
        for (size_t i = 0; i < 32; ++i) ASSERT_EQ(first[i], scale * static_cast<float>(i + 96 + i));
        for (size_t i = 0; i < 64; ++i) ASSERT_EQ(second[i], scale * static_cast<float>(i + 32));
    }
}

TEST(RasterViews, SlicesKeepTheWholeAlive) {
    NetBuilder steps;
    const int y = steps.conv(steps.input({1, 5, 6, 7}), 5, 64, 1);
    const std::vector<int> parts = steps.split(y, 1, {32});
    // Other tensors of the same size are used before the second part is read.
    int z = steps.conv(parts[0], 32, 64, 1);
    for (int i = 0; i < 3; ++i) z = steps.conv(z, 64, 64, 3);
    const int end = steps.conv(z, 64, 32, 1);
    const wire::NetT net = steps.finish({steps.binary(BinaryCode::MUL, end, parts[1]), parts[1]});
    const NetResult together = runNet(net), apart = runUnfused(net);
    EXPECT_EQ(together.count("Raster"), 0u);
    EXPECT_EQ(together.outputs, apart.outputs);
}

// Each view begins one row of 64 bytes behind the tensor that it views.
TEST(RasterViews, ViewsOfViewsAreInTheRightPlace) {
    constexpr int32_t kRows = 60, kColumns = 16, kViews = 50;
    NetBuilder steps;
    const int first = steps.unary(UnaryCode::ABS, steps.input({kRows, kColumns}));
    int last = first;
    for (int i = 0; i < kViews; ++i) last = steps.split(last, 0, {1})[1];
    const NetResult result = runNet(steps.finish({first, steps.unary(UnaryCode::NEG, last)}));
    std::vector<float> wanted = range(result.outputs[0], {kRows, kColumns}, 0, kViews, kRows);
    for (float& value : wanted) value = -value;
    EXPECT_EQ(result.outputs[1], wanted);
}

// While each view referred to the view before it, planning such a chain took minutes.
TEST(RasterViews, ALongChainOfViewsTakesNoTime) {
    NetBuilder steps;
    int x = steps.unary(UnaryCode::ABS, steps.input({6, 4}));
    for (int i = 0; i < 10000; ++i) x = steps.reshape(x, i % 2 == 0 ? std::vector<int32_t>{24} : std::vector{6, 4});
    const NetResult result = runNet(steps.finish({steps.unary(UnaryCode::NEG, x)}));
    EXPECT_EQ(result.count("Raster"), 0u);
}

// A split whose parts are concatenated again, alone or together with results that were computed from them.
TEST(RasterViews, SlicesOfAConcatenation) {
    for (const bool first : {true, false}) {
        NetBuilder steps;
        const int y = steps.conv(steps.input({1, 5, 6, 7}), 5, 64, 1);
        const std::vector<int> parts = steps.split(y, 1, {32});
        const int z = steps.conv(parts[1], 32, 48, 3);
        const int joined = first ? steps.concat({parts[0], parts[1], z}) : steps.concat({parts[0], z, parts[1]});
        const NetResult result = runNet(steps.finish({joined, y, z}));
        EXPECT_EQ(result.count("Raster"), first ? 0u : 1u);
        const std::vector<float>&whole = result.outputs[1], &middle = result.outputs[2];
        const auto half = whole.begin() + 32 * 42;
        std::vector<float> expected(whole.begin(), half);
        if (first) expected.insert(expected.end(), half, whole.end());
        expected.insert(expected.end(), middle.begin(), middle.end());
        if (!first) expected.insert(expected.end(), half, whole.end());
        EXPECT_EQ(result.outputs[0], expected);
    }
}

}  // namespace
}  // namespace mnnc::test
