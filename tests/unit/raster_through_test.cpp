// Reading through Rasters: composed regions copy what two Rasters copy one after the other, and nets whose
// concatenations, transpositions and slices are composed give what they give step by step.
#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <random>

#include "backends/cpu/kernels/pack.h"
#include "base/error.h"
#include "net_steps.h"
#include "tensor/region_builder.h"
#include "tensor/region_compose.h"

namespace mnnc::testing {
namespace {

using Elements = std::vector<int>;

std::vector<Region> boxes(int input, int64_t src, int64_t dst, std::vector<BoxAxis> axes) {
    RegionBuilder builder("test");
    builder.box(input, src, dst, axes);
    return builder.take();
}

void apply(std::span<const Region> regions, const std::vector<Elements>& sources, Elements& to) {
    for (const Region& r : regions)
        for (int64_t i = 0; i < r.size[0]; ++i)
            for (int64_t j = 0; j < r.size[1]; ++j)
                for (int64_t k = 0; k < r.size[2]; ++k)
                    to.at(static_cast<size_t>(r.dst.offset + i * r.dst.stride[0] + j * r.dst.stride[1] +
                                              k * r.dst.stride[2])) =
                        sources.at(static_cast<size_t>(r.input))
                            .at(static_cast<size_t>(r.src.offset + i * r.src.stride[0] + j * r.src.stride[1] +
                                                    k * r.src.stride[2]));
}

// Whether the two compose; where they do, that it comes to the same.
bool composes(std::span<const Region> outer, std::span<const Region> inner, size_t between, size_t end,
              size_t most = 64) {
    std::vector<Elements> sources(3, Elements(between));
    int value = 1;
    for (Elements& source : sources) {
        std::iota(source.begin(), source.end(), value);
        value += 1000;
    }
    Elements middle(between), expected(end), got(end);
    apply(inner, sources, middle);
    apply(outer, {middle}, expected);
    for (const Region& region : outer) {
        const auto pieces = composeRegion(region, inner, most);
        if (!pieces) return false;
        EXPECT_LE(pieces->size(), most);
        int64_t count = 0;
        for (const Region& piece : *pieces) count += piece.count();
        EXPECT_EQ(count, region.count());
        apply(*pieces, sources, got);
    }
    EXPECT_EQ(expected, got);
    return true;
}

// [height][width] of three sources beside or below one another.
std::vector<Region> concatenated(bool rows, const std::vector<int64_t>& sizes, int64_t other) {
    const int64_t whole = std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
    std::vector<Region> regions;
    int64_t at = 0;
    for (size_t i = 0; i < sizes.size(); ++i) {
        const int input = static_cast<int>(i);
        const auto more = rows ? boxes(input, 0, at * other, {{sizes[i] * other, 1, 1}})
                               : boxes(input, 0, at, {{other, sizes[i], whole}, {sizes[i], 1, 1}});
        regions.insert(regions.end(), more.begin(), more.end());
        at += sizes[i];
    }
    return regions;
}

TEST(ComposeRegion, WhatReadsAConcatenation) {
    const std::vector<Region> inner = concatenated(true, {2, 3, 4}, 5);
    EXPECT_TRUE(composes(boxes(0, 0, 0, {{5, 1, 9}, {9, 5, 1}}), inner, 45, 45)) << "transposed";
    EXPECT_TRUE(composes(boxes(0, 44, 0, {{45, -1, 1}}), inner, 45, 45)) << "backwards";
    EXPECT_TRUE(composes(boxes(0, 1, 0, {{4, 5, 3}, {3, 1, 1}}), inner, 45, 12)) << "a box of two parts";
    EXPECT_TRUE(composes(boxes(0, 11, 0, {{6, 0, 4}, {4, 1, 1}}), inner, 45, 24)) << "repeated";
    EXPECT_TRUE(composes(boxes(0, 3, 0, {{40, 1, 1}}), inner, 45, 40)) << "a range";
    EXPECT_FALSE(composes(boxes(0, 0, 0, {{5, 1, 9}, {9, 5, 1}}), inner, 45, 45, 2)) << "too many regions";
}

TEST(ComposeRegion, RangesOfWhatWasMoved) {
    const std::vector<Region> transposed = boxes(0, 0, 0, {{6, 1, 4}, {4, 6, 1}});
    EXPECT_TRUE(composes(boxes(0, 0, 0, {{24, 1, 1}}), transposed, 24, 24));
    EXPECT_TRUE(composes(boxes(0, 8, 3, {{12, 1, 1}}), transposed, 24, 16));
    EXPECT_FALSE(composes(boxes(0, 7, 0, {{12, 1, 1}}), transposed, 24, 12)) << "cuts through a row";
    const std::vector<Region> beside = concatenated(false, {2, 1, 3}, 7);
    EXPECT_TRUE(composes(boxes(0, 12, 0, {{18, 1, 1}}), beside, 42, 18));
    EXPECT_TRUE(composes(boxes(0, 12, 0, {{2, 1, 1}}), beside, 42, 2)) << "one part of one row";
    EXPECT_FALSE(composes(boxes(0, 0, 0, {{7, 6, 1}}), beside, 42, 7)) << "neither is a range";
}

TEST(ComposeRegion, RegionsWithoutElementsCopyNothing) {
    std::vector<Region> inner = boxes(0, 0, 0, {{6, 1, 4}, {4, 6, 1}});
    Region empty = boxes(1, 0, 0, {{24, 1, 1}})[0];
    empty.size[1] = 0;
    empty.src.stride[1] = empty.dst.stride[1] = 24;
    inner.push_back(empty);
    EXPECT_TRUE(composes(boxes(0, 0, 0, {{8, 1, 1}}), inner, 24, 8));
}

// Random pairs of everything above: whatever composes is right, and not a little does.
TEST(ComposeRegion, Random) {
    std::mt19937 random(11);
    const auto upTo = [&](int64_t most) { return std::uniform_int_distribution<int64_t>(1, most)(random); };
    int composed = 0;
    for (int trial = 0; trial < 3000; ++trial) {
        const std::vector<int64_t> parts{upTo(4), upTo(4), upTo(4)};
        const int64_t whole = parts[0] + parts[1] + parts[2], other = upTo(6), elements = whole * other;
        const std::vector<Region> inner = concatenated(upTo(2) == 1, parts, other);
        int64_t sizes[3] = {upTo(4), upTo(4), upTo(4)}, strides[3], first = 0, last = 0;
        std::vector<BoxAxis> axes;
        int64_t to = sizes[0] * sizes[1] * sizes[2];
        const auto end = static_cast<size_t>(to);
        for (int i = 0; i < 3; ++i) {
            strides[i] = std::uniform_int_distribution<int64_t>(-6, 6)(random);
            (strides[i] < 0 ? first : last) += strides[i] * (sizes[i] - 1);
            to /= sizes[i];
            axes.push_back({sizes[i], strides[i], to});
        }
        if (trial % 3 == 0) axes = {{static_cast<int64_t>(end), 1, 1}}, first = 0, last = axes[0].size - 1;
        if (last - first >= elements) continue;
        const int64_t offset = upTo(elements - (last - first)) - 1 - first;
        composed += composes(boxes(0, offset, 0, axes), inner, static_cast<size_t>(elements), end);
    }
    EXPECT_GT(composed, 1000);
}

TEST(MixLanes, TakesLanesOfUpToFourBlocks) {
    std::mt19937 random(2);
    constexpr size_t kArea = 7;
    for (const std::string& isa : availableIsas()) {
        const Kernels k = selectKernels(isa);
        const auto lanes = static_cast<size_t>(k.lanes);
        for (int count = 1; count <= PackKernels::kMostSources; ++count) {
            std::vector<std::vector<float>> blocks(static_cast<size_t>(count));
            std::vector<std::vector<int32_t>> lane(blocks.size(), std::vector<int32_t>(lanes, -1));
            std::vector<float> expected(kArea * lanes), got(kArea * lanes, 5);
            float value = 1;
            for (std::vector<float>& block : blocks)
                for (size_t i = 0; i < kArea * lanes; ++i) block.push_back(value++);
            for (size_t to = 0; to < lanes; ++to) {
                const size_t source = random() % (blocks.size() + 1), from = random() % lanes;
                if (source == blocks.size()) continue;  // zero
                lane[source][to] = static_cast<int32_t>(from);
                for (size_t i = 0; i < kArea; ++i)
                    expected[i * lanes + to] = blocks[source][i * lanes + from];
            }
            std::vector<LaneSource> sources;
            for (size_t i = 0; i < blocks.size(); ++i) sources.push_back({blocks[i].data(), lane[i].data()});
            k.pack->mixLanes(sources.data(), count, kArea, got.data());
            EXPECT_EQ(expected, got) << k.isa << ", " << count;
        }
    }
}

// Units of a net that shuffles its channels: one half is kept, the other one computed upon, then they are mixed.
wire::NetT shuffled(int half, int units, bool keepMixed) {
    Steps steps;
    const int side = 6;
    int kept = steps.conv(steps.input({1, 3, side, side}), 3, half, 1);
    int mixed = -1, other = steps.conv(kept, half, half, 3);
    for (int i = 0; i < units; ++i) {
        other = steps.conv(other, half, half, 3);
        mixed = steps.reshape(steps.concat({kept, other}), {1, 2, half, side * side});
        mixed = steps.reshape(steps.permute(mixed, {0, 2, 1, 3}), {1, 2 * half, side, side});
        if (i + 1 == units) break;
        const std::vector<int> parts = steps.split(mixed, 1, {half});
        kept = parts[0], other = parts[1];
    }
    std::vector<int> outputs{steps.conv(mixed, 2 * half, 5, 1)};
    if (keepMixed) outputs.push_back(mixed);
    return steps.finish(outputs);
}

TEST(ReadThroughRasters, ShuffledChannels) {
    for (const int half : {8, 13, 16, 29, 58}) {
        for (const bool keepMixed : {false, true}) {
            SCOPED_TRACE(format("%d channels, %d", half, keepMixed));
            const wire::NetT net = shuffled(half, 3, keepMixed);
            const NetResult apart = runApart(net), through = runNet(net);
            EXPECT_EQ(apart.outputs, through.outputs);
            EXPECT_LE(through.count("Raster") + through.count("Copy"),
                      apart.count("Raster") + apart.count("Copy"));
            // Two halves twice and the last mixture, which may be asked for row by row.
            EXPECT_LE(through.count("Raster"), keepMixed ? 7u : 5u);
            EXPECT_LE(through.count("Copy"), keepMixed ? 2u : 0u);
        }
    }
}

TEST(ReadThroughRasters, WhatOthersReadIsMade) {
    Steps steps;
    const int x = steps.input({1, 4, 6, 5});
    const int turned = steps.permute(x, {0, 2, 3, 1});
    const std::vector<int> parts = steps.split(turned, 1, {2, 3});
    std::vector<int> outputs{steps.relu(parts[0]), steps.relu(parts[1]), steps.relu(parts[2])};
    const wire::NetT alone = steps.finish(outputs);
    const NetResult ranges = runNet(alone);
    EXPECT_EQ(ranges.count("Raster"), 3u) << "each range is turned by itself";
    EXPECT_EQ(ranges.outputs, runApart(alone).outputs);
    wire::NetT both = alone;
    both.outputName.push_back(both.tensorName[static_cast<size_t>(turned)]);
    EXPECT_EQ(runNet(both).outputs, runApart(both).outputs);
}

// Nets of nothing but movements: whatever is composed, renamed, joined or seen in place, the numbers stay.
class Movements {
  public:
    explicit Movements(unsigned seed) : random_(seed) {}

    wire::NetT net(int steps) {
        add(net_.input({1, 6, 4, 8}), {1, 6, 4, 8});
        add(net_.conv(values_[0].id, 6, upTo(40), 1), {});
        values_[1].dims = {1, lastOutputs_, 4, 8};
        for (int i = 0; i < steps; ++i)
            step(values_.size() - 1 - static_cast<size_t>(upTo(3)) % values_.size());
        std::vector<int> outputs;
        for (size_t i = values_.size() > 3 ? values_.size() - 3 : 1; i < values_.size(); ++i)
            outputs.push_back(net_.relu(values_[i].id, 0.5f));
        return net_.finish(outputs);
    }

  private:
    struct Value {
        int id;
        std::vector<int32_t> dims;
    };

    int upTo(int most) {
        lastOutputs_ = std::uniform_int_distribution<int>(1, most)(random_);
        return lastOutputs_;
    }
    void add(int id, std::vector<int32_t> dims) { values_.push_back({id, std::move(dims)}); }

    void step(size_t index) {
        const Value from = values_[index];
        const int axis = upTo(3);
        std::vector<int32_t> dims = from.dims;
        switch (upTo(4)) {
            case 1: {
                std::vector<int32_t> order{0, 1, 2, 3};
                std::shuffle(order.begin(), order.end(), random_);
                for (size_t i = 0; i < 4; ++i) dims[i] = from.dims[static_cast<size_t>(order[i])];
                return add(net_.permute(from.id, order), dims);
            }
            case 2: {  // a factor of one axis moves to the next one
                const auto at = static_cast<size_t>(axis - 1);
                const int32_t factor = dims[at] % 2 == 0 ? 2 : dims[at] % 3 == 0 ? 3 : dims[at];
                dims[at] /= factor;
                dims[at + 1] *= factor;
                return add(net_.reshape(from.id, dims), dims);
            }
            case 3: {
                const Value& other = values_[static_cast<size_t>(upTo(static_cast<int>(values_.size())) - 1)];
                const auto at = static_cast<size_t>(axis);
                dims[at] += other.dims[at];
                for (size_t i = 0; i < 4; ++i)
                    if (i != at && other.dims[i] != from.dims[i]) return;
                return add(net_.concat({from.id, other.id}, axis), dims);
            }
            default: {
                const auto at = static_cast<size_t>(axis);
                if (dims[at] < 2) return;
                const int32_t cut = upTo(dims[at] - 1);
                const std::vector<int> parts = net_.split(from.id, axis, {cut});
                dims[at] = cut;
                add(parts[0], dims);
                dims[at] = from.dims[at] - cut;
                return add(parts[1], dims);
            }
        }
    }

    Steps net_;
    std::mt19937 random_;
    std::vector<Value> values_;
    int lastOutputs_ = 0;
};

TEST(ReadThroughRasters, RandomMovements) {
    size_t fewer = 0;
    for (unsigned seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(seed);
        const wire::NetT net = Movements(seed).net(4 + static_cast<int>(seed % 9));
        const NetResult apart = runApart(net), through = runNet(net);
        ASSERT_EQ(apart.outputs, through.outputs);
        fewer += through.count("Raster") < apart.count("Raster");
    }
    EXPECT_GT(fewer, 50u);
}

class RasterNet : public Steps {
  public:
    // One region over one input: offset and three strides of source and destination, three sizes.
    int raster(int x, std::vector<int32_t> shape, std::vector<int32_t> region) {
        wire::ExtraT extra;
        const auto attribute = [&](const char* key, std::vector<int32_t> values) {
            auto one = std::make_unique<wire::AttributeT>();
            one->key = key;
            one->list = std::make_unique<wire::ListValueT>();
            one->list->i = std::move(values);
            extra.attr.push_back(std::move(one));
        };
        attribute("shape", std::move(shape));
        attribute("region", std::move(region));
        return add(wire::OpType::Raster, {x}, std::move(extra));
    }
};

TEST(ReadThroughRasters, ImpossibleRegionsOfAFileAreRefused) {
    const auto result = [](std::vector<int32_t> region) {
        RasterNet net;
        const int x = net.raster(net.input({1, 2, 3, 4}), {1, 2, 3, 4}, std::move(region));
        return runNet(net.finish({net.relu(net.permute(x, {0, 3, 2, 1}))}));
    };
    EXPECT_EQ(result({0, 12, 4, 1, 0, 12, 4, 1, 2, 3, 4}).outputs[0].size(), 24u);
    // One without elements copies nothing, whatever its strides.
    constexpr int32_t kWide = std::numeric_limits<int32_t>::max();
    EXPECT_EQ(result({0, kWide, kWide, kWide, 0, kWide, kWide, kWide, kWide, 0, kWide}).outputs[0],
              std::vector<float>(24, 0.0f));
    constexpr int32_t kMost = std::numeric_limits<int32_t>::max(),
                      kLeast = std::numeric_limits<int32_t>::min();
    for (const std::vector<int32_t>& region :
         {std::vector<int32_t>{1, 12, 4, 1, 0, 12, 4, 1, 2, 3, 4},
          {0, 12, 4, 1, 1, 12, 4, 1, 2, 3, 4},
          {kMost, kMost, kMost, kMost, kMost, kMost, kMost, kMost, kMost, kMost, kMost},
          {kLeast, kLeast, kLeast, kLeast, kLeast, kLeast, kLeast, kLeast, kMost, kMost, kMost},
          {0, 12, 4, 1, 0, 12, 4, 1, -2, 3, 4}})
        EXPECT_THROW(result(region), Error);
}

}  // namespace
}  // namespace mnnc::testing
