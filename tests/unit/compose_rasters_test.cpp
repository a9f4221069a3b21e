// Nets whose concatenations, transpositions and slices are composed give the numbers of the separate operators.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "base/error.h"
#include "net_builder.h"

namespace mnnc::test {
namespace {

// A net that shuffles its channels: in each unit one half passes unchanged, the other one is convolved, then both mix.
wire::NetT shuffled(int half, int units, bool keepMixed) {
    NetBuilder steps;
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

TEST(ComposeRasters, ShuffledChannels) {
    for (const int half : {8, 13, 16, 29, 58}) {
        for (const bool keepMixed : {false, true}) {
            SCOPED_TRACE(format("%d channels, %d", half, keepMixed));
            const wire::NetT net = shuffled(half, 3, keepMixed);
            const NetResult apart = runUnfused(net), through = runNet(net);
            EXPECT_EQ(apart.outputs, through.outputs);
            EXPECT_LE(through.count("Raster") + through.count("Copy"), apart.count("Raster") + apart.count("Copy"));
            // There are two halves twice, and the last mixture, whose rows may be read one by one.
            EXPECT_LE(through.count("Raster"), keepMixed ? 7u : 5u);
            EXPECT_LE(through.count("Copy"), keepMixed ? 2u : 0u);
        }
    }
}

// A Raster of more regions than 32 is computed by itself, because each reader would have as many.
TEST(ComposeRasters, AsManyRegionsAsAReaderMayTakeOver) {
    for (const int parts : {2, 32, 33}) {
        NetBuilder steps;
        std::vector<int32_t> inputs;
        for (int i = 0; i < parts; ++i) inputs.push_back(steps.input({1, 1 + i % 3, 6}));
        const wire::NetT net = steps.finish({steps.permute(steps.concat(inputs), {0, 2, 1})});
        const NetResult result = runNet(net);
        EXPECT_EQ(result.count("Raster") + result.count("Copy"), parts <= 32 ? 1u : 2u) << parts;
        EXPECT_EQ(result.outputs, runUnfused(net).outputs) << parts;
    }
}

TEST(ComposeRasters, OtherConsumersKeepTheTensor) {
    NetBuilder steps;
    const int x = steps.input({1, 4, 6, 5});
    const int turned = steps.permute(x, {0, 2, 3, 1});
    const std::vector<int> parts = steps.split(turned, 1, {2, 3});
    std::vector<int> outputs{steps.relu(parts[0]), steps.relu(parts[1]), steps.relu(parts[2])};
    const wire::NetT alone = steps.finish(outputs);
    const NetResult ranges = runNet(alone);
    EXPECT_EQ(ranges.count("Raster"), 3u) << "each range is turned by itself";
    EXPECT_EQ(ranges.outputs, runUnfused(alone).outputs);
    wire::NetT both = alone;
    both.outputName.push_back(both.tensorName[static_cast<size_t>(turned)]);
    EXPECT_EQ(runNet(both).outputs, runUnfused(both).outputs);
}

// Random nets that only move data: composition, reshapes and views do not change any number.
class Movements {
  public:
    explicit Movements(unsigned seed) : random_(seed) {}

    wire::NetT net(int steps) {
        add(net_.input({1, 6, 4, 8}), {1, 6, 4, 8});
        add(net_.conv(values_[0].id, 6, upTo(40), 1), {});
        values_[1].dims = {1, lastOutputs_, 4, 8};
        for (int i = 0; i < steps; ++i) step(values_.size() - 1 - static_cast<size_t>(upTo(3)) % values_.size());
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

    int upTo(int max) {
        lastOutputs_ = std::uniform_int_distribution<int>(1, max)(random_);
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

    NetBuilder net_;
    std::mt19937 random_;
    std::vector<Value> values_;
    int lastOutputs_ = 0;
};

TEST(ComposeRasters, RandomMovements) {
    size_t fewer = 0;
    for (unsigned seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(seed);
        const wire::NetT net = Movements(seed).net(4 + static_cast<int>(seed % 9));
        const NetResult apart = runUnfused(net), through = runNet(net);
        ASSERT_EQ(apart.outputs, through.outputs);
        fewer += through.count("Raster") < apart.count("Raster");
    }
    EXPECT_GT(fewer, 50u);
}

class RasterNet : public NetBuilder {
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

TEST(ComposeRasters, ImpossibleRegionsOfAFileAreRefused) {
    const auto result = [](std::vector<int32_t> region) {
        RasterNet net;
        const int x = net.raster(net.input({1, 2, 3, 4}), {1, 2, 3, 4}, std::move(region));
        return runNet(net.finish({net.relu(net.permute(x, {0, 3, 2, 1}))}));
    };
    EXPECT_EQ(result({0, 12, 4, 1, 0, 12, 4, 1, 2, 3, 4}).outputs[0].size(), 24u);
    // A region without elements copies nothing and may have any strides.
    constexpr int32_t kWide = std::numeric_limits<int32_t>::max();
    EXPECT_EQ(result({0, kWide, kWide, kWide, 0, kWide, kWide, kWide, kWide, 0, kWide}).outputs[0],
              std::vector<float>(24, 0.0f));
    constexpr int32_t kMax = std::numeric_limits<int32_t>::max(), kMin = std::numeric_limits<int32_t>::min();
    for (const std::vector<int32_t>& region : {std::vector<int32_t>{1, 12, 4, 1, 0, 12, 4, 1, 2, 3, 4},
                                               {0, 12, 4, 1, 1, 12, 4, 1, 2, 3, 4},
                                               {kMax, kMax, kMax, kMax, kMax, kMax, kMax, kMax, kMax, kMax, kMax},
                                               {kMin, kMin, kMin, kMin, kMin, kMin, kMin, kMin, kMax, kMax, kMax},
                                               {0, 12, 4, 1, 0, 12, 4, 1, -2, 3, 4}})
        EXPECT_THROW(result(region), Error);
}

}  // namespace
}  // namespace mnnc::test
