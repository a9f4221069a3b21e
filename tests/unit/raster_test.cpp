// The Raster operator in a file: a shape and a region for each input.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

#include "net_builder.h"

namespace mnnc::test {
namespace {

struct Part {
    int32_t from, to, count;  // `count` contiguous elements
};

void addList(wire::ExtraT& extra, const char* key, std::vector<int32_t> values) {
    auto attribute = std::make_unique<wire::AttributeT>();
    attribute->key = key;
    attribute->list = std::make_unique<wire::ListValueT>();
    attribute->list->i = std::move(values);
    extra.attr.push_back(std::move(attribute));
}

// Copies a part of each input into an output of `elements` elements.
wire::NetT rasterNet(int32_t elements, const std::vector<Part>& parts) {
    wire::ExtraT extra;
    addList(extra, "shape", {elements});
    wire::NetT net;
    std::vector<int32_t> inputs, regions;
    for (const Part& part : parts) {
        const auto id = static_cast<int32_t>(inputs.size());
        inputs.push_back(id);
        net.tensorName.push_back("in" + std::to_string(id));
        net.oplists.push_back(makeInput(id, {4}));
        net.oplists.back()->name = net.tensorName.back();
        for (const int32_t value : {part.from, 0, 0, 1, part.to, 0, 0, 1, 1, 1, part.count}) regions.push_back(value);
    }
    addList(extra, "region", std::move(regions));
    const auto output = static_cast<int32_t>(inputs.size());
    net.tensorName.push_back("out");
    net.outputName = {"out"};
    net.oplists.push_back(makeOp(wire::OpType::Raster, "raster", std::move(inputs), {output}, std::move(extra)));
    return net;
}

// Returns element `i` of input `input` of runNet.
float given(int input, int i) {
    return 3 * std::sin(static_cast<float>(i * 7 + 11 * input + 1));
}

TEST(Raster, CopiesRegionsOfManyElementsOfOneAndOfNone) {
    const NetResult result = runNet(rasterNet(7, {{2, 4, 1}, {0, 0, 4}, {1, 5, 0}, {3, 5, 1}, {1, 6, 1}}));
    EXPECT_EQ(result.outputs[0], (std::vector<float>{given(1, 0), given(1, 1), given(1, 2), given(1, 3), given(0, 2),
                                                     given(3, 3), given(4, 1)}));
}

// Threads would write the one element in any order.
TEST(Raster, ALongRowOntoOneElementLeavesItsLast) {
    constexpr int32_t kCount = 1 << 19;
    wire::ExtraT extra;
    addList(extra, "shape", {1});
    addList(extra, "region", {0, 1, 1, 1, 0, 1, 1, 0, 1, 1, kCount});
    wire::NetT net;
    net.tensorName = {"in0", "out"};
    net.outputName = {"out"};
    net.oplists.push_back(makeInput(0, {kCount}));
    net.oplists.back()->name = "in0";
    net.oplists.push_back(makeOp(wire::OpType::Raster, "raster", {0}, {1}, std::move(extra)));
    SessionConfig config;
    config.backend.threads = 16;
    for (int run = 0; run < 30; ++run) EXPECT_EQ(runNet(net, config).outputs[0][0], given(0, kCount - 1));
}

// Rows that begin one element behind each other: of the writes to an element the last one counts, whichever thread made
// it.
TEST(Raster, ALongRegionThatOverlapsItselfKeepsItsOrder) {
    constexpr int32_t kRow = 1 << 17;
    wire::ExtraT extra;
    addList(extra, "shape", {kRow + 2});
    addList(extra, "region", {0, 2 * kRow, kRow, 1, 0, 1, 1, 1, 2, 2, kRow});
    wire::NetT net;
    net.tensorName = {"in0", "out"};
    net.outputName = {"out"};
    net.oplists.push_back(makeInput(0, {4 * kRow}));
    net.oplists.back()->name = "in0";
    net.oplists.push_back(makeOp(wire::OpType::Raster, "raster", {0}, {1}, std::move(extra)));
    SessionConfig config;
    config.backend.threads = 16;
    for (int run = 0; run < 10; ++run) {
        const std::vector<float> out = runNet(net, config).outputs[0];
        ASSERT_EQ(out.size(), size_t{kRow + 2});
        EXPECT_EQ(out[0], given(0, 0));
        EXPECT_EQ(out[1], given(0, 2 * kRow));
        for (int32_t i = 2; i < kRow + 2; ++i) ASSERT_EQ(out[static_cast<size_t>(i)], given(0, 3 * kRow + i - 2)) << i;
    }
}

// Strides of 0 visit one element as often as the sizes say.
TEST(Raster, RegionsThatWouldCopyForHoursAreRefused) {
    wire::ExtraT extra;
    addList(extra, "shape", {4});
    std::vector<int32_t> inputs, regions;
    for (int i = 0; i < 20; ++i) {
        inputs.push_back(0);
        for (const int32_t value : {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, INT32_MAX}) regions.push_back(value);
    }
    addList(extra, "region", std::move(regions));
    wire::NetT net;
    net.tensorName = {"in0", "out"};
    net.outputName = {"out"};
    net.oplists.push_back(makeInput(0, {4}));
    net.oplists.back()->name = "in0";
    net.oplists.push_back(makeOp(wire::OpType::Raster, "raster", std::move(inputs), {1}, std::move(extra)));
    expectFailure(Status::LimitExceeded, "op 'raster': its regions copy 42949672940 elements", [&] { runNet(net); });
}

// Permutes a tensor of three axes: axis `order[i]` becomes axis i.
wire::NetT permutedNet(const std::array<int32_t, 3>& size, const std::array<size_t, 3>& order) {
    const std::array<int32_t, 3> strides = {size[1] * size[2], size[2], 1};
    std::array<int32_t, 3> to;
    for (size_t i = 0; i < 3; ++i) to[i] = size[order[i]];
    const std::vector<int32_t> region = {
        0, strides[order[0]], strides[order[1]], strides[order[2]], 0, to[1] * to[2], to[2], 1, to[0], to[1], to[2]};
    wire::ExtraT extra;
    addList(extra, "shape", {to[0], to[1], to[2]});
    addList(extra, "region", region);
    wire::NetT net;
    net.tensorName = {"in0", "out"};
    net.outputName = {"out"};
    net.oplists.push_back(makeInput(0, {size[0], size[1], size[2]}));
    net.oplists.back()->name = "in0";
    net.oplists.push_back(makeOp(wire::OpType::Raster, "raster", {0}, {1}, std::move(extra)));
    return net;
}

TEST(Raster, PermutesAxesOfAnySize) {
    const std::array<std::array<size_t, 3>, 5> orders = {{{0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};
    std::mt19937 random(4);
    for (int round = 0; round < 150; ++round) {
        const std::array<size_t, 3>& order = orders[static_cast<size_t>(round) % orders.size()];
        std::array<int32_t, 3> size;
        for (int32_t& each : size) each = static_cast<int32_t>(1 + random() % (random() % 3 ? 9 : 300));
        const NetResult result = runNet(permutedNet(size, order));
        std::vector<float> expected;
        std::array<int32_t, 3> at{};
        for (at[0] = 0; at[0] < size[order[0]]; ++at[0])
            for (at[1] = 0; at[1] < size[order[1]]; ++at[1])
                for (at[2] = 0; at[2] < size[order[2]]; ++at[2]) {
                    std::array<int32_t, 3> from;
                    for (size_t i = 0; i < 3; ++i) from[order[i]] = at[i];
                    expected.push_back(given(0, (from[0] * size[1] + from[1]) * size[2] + from[2]));
                }
        ASSERT_EQ(result.outputs[0], expected)
            << size[0] << "x" << size[1] << "x" << size[2] << ", axes " << order[0] << order[1] << order[2];
    }
}

}  // namespace
}  // namespace mnnc::test
