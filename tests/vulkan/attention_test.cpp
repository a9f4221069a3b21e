// Attention: sizes around the kernel's tiles, shared key heads, masks of every form, sinks.
#include "ops/attention.h"

#include <gtest/gtest.h>

#include <limits>

#include "vulkan_harness.h"

namespace mnnc::vulkan::test {

namespace {

struct Sizes {
    int64_t batch, queries, keys, heads, keyHeads, depth, valueDepth;
};

OpCase attention(const Sizes& s, float scale = 0) {
    auto params = std::make_shared<AttentionParams>();
    params->scale = scale;
    OpCase c;
    c.type = OpType::Attention;
    c.params = params;
    c.inputs = {randomValue({s.batch, s.queries, s.heads, s.depth}, 1, -2, 2),
                randomValue({s.batch, s.keys, s.keyHeads, s.depth}, 2, -2, 2),
                randomValue({s.batch, s.keys, s.keyHeads, s.valueDepth}, 3)};
    c.outputs.resize(1);
    c.outputs[0].shape = {s.batch, s.queries, s.heads * s.valueDepth};
    return c;
}

constexpr Sizes kOdd = {2, 37, 45, 6, 3, 20, 12};

}  // namespace

TEST(Attention, Sizes) {
    for (const Sizes& s :
         {Sizes{1, 1, 1, 1, 1, 1, 1}, kOdd, Sizes{1, 33, 31, 2, 1, 17, 35}, Sizes{2, 32, 64, 2, 2, 64, 64},
          Sizes{1, 5, 100, 3, 3, 8, 96}, Sizes{1, 3, 40, 2, 2, 33, 131}, Sizes{1, 2, 33, 1, 1, 16, 260},
          Sizes{1, 1, 300, 4, 1, 16, 16}})
        expectSameAsCpu(attention(s), 1e-5, 5e-3);
    expectSameAsCpu(attention(kOdd, 0.7f), 1e-5, 5e-3);
}

TEST(Attention, PackedOutput) {
    OpCase c = attention(kOdd);
    auto params = std::make_shared<AttentionParams>();
    params->packedOutput = true;
    c.params = params;
    c.outputs[0].shape = {2 * 37, 6 * 12, 1, 1};
    c.outputs[0].format = Format::NC4HW4;
    expectSameAsCpu(c, 1e-5, 5e-3);
}

TEST(Attention, Masks) {
    for (const Shape& shape : {Shape{2, 6, 37, 45}, Shape{37, 45}, Shape{2, 1, 1, 45}, Shape{2, 1, 37, 1},
                               Shape{6, 1, 1}, Shape{45}, Shape{1}}) {
        OpCase added = attention(kOdd);
        added.inputs.push_back(randomValue(shape, 4, -3, 3));
        for (size_t i = 0; i < added.inputs[3].floats.size(); i += 3)
            added.inputs[3].floats[i] = -std::numeric_limits<float>::infinity();
        expectSameAsCpu(added, 1e-5, 5e-3);
        OpCase kept = attention(kOdd);
        kept.inputs.push_back(randomInts(shape, 5, 0, 1));
        expectSameAsCpu(kept, 1e-5, 5e-3);
    }
}

// Queries without a key: -inf everywhere gives 0, a condition that is false everywhere gives the average.
TEST(Attention, NothingToSee) {
    OpCase added = attention(kOdd);
    added.inputs.push_back(randomValue({37, 45}, 4));
    for (size_t i = 45; i < 3 * 45; ++i) added.inputs[3].floats[i] = -std::numeric_limits<float>::infinity();
    expectSameAsCpu(added, 1e-5, 5e-3);
    OpCase kept = attention(kOdd);
    kept.inputs.push_back(randomInts({37, 45}, 5, 0, 1));
    for (size_t i = 45; i < 3 * 45; ++i) kept.inputs[3].ints[i] = 0;
    expectSameAsCpu(kept, 1e-5, 5e-3);
}

TEST(Attention, Sinks) {
    OpCase c = attention(kOdd);
    c.inputs.push_back(randomValue({37, 45}, 4));
    for (size_t i = 45; i < 3 * 45; ++i) c.inputs[3].floats[i] = -std::numeric_limits<float>::infinity();
    c.inputs.push_back(randomValue({6}, 6, -2, 8));
    expectSameAsCpu(c, 1e-5, 5e-3);
}

// Scores whose exponentials leave the range of a float unless the maximum is taken away; it comes late.
TEST(Attention, LargeScores) {
    OpCase c = attention({1, 8, 90, 1, 1, 4, 8}, 60);
    for (size_t i = 80 * 4; i < 84 * 4; ++i) c.inputs[1].floats[i] *= 3;
    expectSameAsCpu(c, 1e-4, -1);
}

TEST(Attention, NoKeys) {
    expectRefused(attention({1, 8, 0, 2, 2, 4, 8}), "empty");
}

}  // namespace mnnc::vulkan::test
