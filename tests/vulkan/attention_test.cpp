// Attention: sizes around the kernel's tiles, shared key heads, masks of every form, sinks; places and steps of nets
// that write it with single operators.
#include "ops/attention.h"

#include <gtest/gtest.h>

#include <limits>

#include "vulkan_harness.h"

namespace mnnc::vulkan::test {

namespace {

struct Sizes {
    int64_t batch, queries, keys, heads, keyHeads, depth, valueDepth;
};

// Returns the operator over `masks`; the second of these is the sinks.
OpCase attention(const Sizes& s, float scale = 0, const std::vector<Value>& masks = {}) {
    OpCase c;
    c.type = OpType::Attention;
    c.inputs = {randomValue({s.batch, s.queries, s.heads, s.depth}, 1, -2, 2),
                randomValue({s.batch, s.keys, s.keyHeads, s.depth}, 2, -2, 2),
                randomValue({s.batch, s.keys, s.keyHeads, s.valueDepth}, 3)};
    c.inputs.insert(c.inputs.end(), masks.begin(), masks.end());
    c.outputs.resize(1);
    c.outputs[0].shape = {s.batch, s.queries, s.heads * s.valueDepth};
    AttentionParams params;
    params.scale = scale;
    Tensor tensors[2];
    for (size_t i = 0; i < masks.size(); ++i) {
        tensors[i].shape = masks[i].shape;
        tensors[i].type = masks[i].isInt ? DataType::Int32 : DataType::Float32;
    }
    c.params = attentionForm(params,
                             {.batch = s.batch,
                              .queries = s.queries,
                              .keys = s.keys,
                              .heads = s.heads,
                              .keyHeads = s.keyHeads,
                              .depth = s.depth,
                              .valueDepth = s.valueDepth},
                             masks.empty() ? nullptr : &tensors[0], masks.size() < 2 ? nullptr : &tensors[1], "case");
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

TEST(Attention, ManyKeys) {
    expectSameAsCpuOrRefused(attention({1, 2, 4096, 1, 1, 512, 16}), "rounds", 1e-4);
}

TEST(Attention, PackedOutput) {
    OpCase c = attention(kOdd);
    c.outputs[0].shape = {2 * 37, 6 * 12, 1, 1};
    c.outputs[0].format = Format::NC4HW4;
    expectSameAsCpu(c, 1e-5, 5e-3);
}

TEST(Attention, Masks) {
    for (const Shape& shape : {Shape{2, 6, 37, 45}, Shape{37, 45}, Shape{2, 1, 1, 45}, Shape{2, 1, 37, 1},
                               Shape{6, 1, 1}, Shape{45}, Shape{1}}) {
        OpCase added = attention(kOdd, 0, {randomValue(shape, 4, -3, 3)});
        for (size_t i = 0; i < added.inputs[3].floats.size(); i += 3)
            added.inputs[3].floats[i] = -std::numeric_limits<float>::infinity();
        expectSameAsCpu(added, 1e-5, 5e-3);
        expectSameAsCpu(attention(kOdd, 0, {randomInts(shape, 5, 0, 1)}), 1e-5, 5e-3);
    }
}

// Queries that see no key: -inf everywhere gives 0, a condition that is false everywhere gives the average.
TEST(Attention, NothingToSee) {
    OpCase added = attention(kOdd, 0, {randomValue({37, 45}, 4)});
    for (size_t i = 45; i < 3 * 45; ++i) added.inputs[3].floats[i] = -std::numeric_limits<float>::infinity();
    expectSameAsCpu(added, 1e-5, 5e-3);
    OpCase kept = attention(kOdd, 0, {randomInts({37, 45}, 5, 0, 1)});
    for (size_t i = 45; i < 3 * 45; ++i) kept.inputs[3].ints[i] = 0;
    expectSameAsCpu(kept, 1e-5, 5e-3);
}

TEST(Attention, Sinks) {
    OpCase c = attention(kOdd, 0, {randomValue({37, 45}, 4), randomValue({6}, 6, -2, 8)});
    for (size_t i = 45; i < 3 * 45; ++i) c.inputs[3].floats[i] = -std::numeric_limits<float>::infinity();
    expectSameAsCpu(c, 1e-5, 5e-3);
}

// Scores whose exponentials exceed the range of a float unless the maximum is subtracted; the maximum comes late.
TEST(Attention, LargeScores) {
    OpCase c = attention({1, 8, 90, 1, 1, 4, 8}, 60);
    for (size_t i = 80 * 4; i < 84 * 4; ++i) c.inputs[1].floats[i] *= 3;
    expectSameAsCpu(c, 1e-4, -1);
}

// Heads in reverse order, every matrix transposed if `transposed`, and the first `steps` of a list of all kinds.
OpCase written(bool transposed, size_t steps) {
    constexpr int kHeads = 3, kQueries = 37, kKeys = 45, kDepth = 20, kValueDepth = 12;
    const auto form = std::make_shared<AttentionForm>();
    form->heads = kHeads;
    form->queries = kQueries;
    form->keys = kKeys;
    form->depth = kDepth;
    form->valueDepth = kValueDepth;
    form->scale = 0.8f;
    form->queriesTransposed = form->keysTransposed = transposed;
    form->valuesTransposed = form->outTransposed = transposed;
    const auto place = [&](AttentionOperand& operand, int rows, int columns) {
        operand.rowStep = static_cast<size_t>(transposed ? rows : columns);
        for (int head = kHeads; head-- > 0;) operand.heads.push_back(static_cast<size_t>(head * rows * columns));
    };
    place(form->q, kQueries, kDepth);
    place(form->k, kKeys, kDepth);
    place(form->v, kKeys, kValueDepth);
    place(form->out, kQueries, kValueDepth);
    OpCase c;
    c.type = OpType::Attention;
    c.inputs = {randomValue({kHeads, kQueries, kDepth}, 1, -1, 1), randomValue({kHeads, kKeys, kDepth}, 2, -1, 1),
                randomValue({kHeads, kKeys, kValueDepth}, 3)};
    c.outputs.resize(1);
    c.outputs[0].shape = {kHeads, kQueries, kValueDepth};
    const auto add = [&](AttentionStep step, Value operand) {
        if (form->steps.size() == steps) return;
        form->steps.push_back(std::move(step));
        c.inputs.push_back(std::move(operand));
    };
    using Kind = AttentionStep::Kind;
    AttentionStep factors{.kind = Kind::Multiply, .scale = 0.9f};
    factors.columnStep = 0;
    factors.operand.heads = {2, 0, 1};
    add(factors, randomValue({kHeads}, 4, 0.5f, 1));
    AttentionStep gathered{.kind = Kind::Add, .scale = 0.7f};
    gathered.operand.rowStep = 50;
    gathered.runs = {{0, 3, 1}, {20, 49, 0}, {31, 7, 1}, {kKeys, 0, 0}};
    add(gathered, randomValue({kQueries, 50}, 5));
    AttentionStep zeros{.kind = Kind::Keep, .dropped = -2, .keepsZeros = true};
    zeros.operand.rowStep = kKeys;
    add(zeros, randomInts({kQueries, kKeys}, 6, 0, 1));
    AttentionStep others{.kind = Kind::Keep, .scale = 1.5f, .dropped = -1e9f};
    others.operand.heads = {0, kKeys, 2 * kKeys};
    add(others, randomInts({kHeads, kKeys}, 7, 0, 2));
    while (form->steps.size() < steps) {
        AttentionStep sum{.kind = Kind::Add};
        sum.operand.rowStep = kKeys;
        add(sum, randomValue({kQueries, kKeys}, 8 + static_cast<uint32_t>(form->steps.size()), -0.5f, 0.5f));
    }
    c.params = form;
    return c;
}

TEST(Attention, PlacesAndSteps) {
    for (const bool transposed : {false, true})
        for (const size_t steps : {0, 1, 2, 3, 4, 8}) {
            SCOPED_TRACE(steps);
            expectSameAsCpu(written(transposed, steps), 1e-5, 1e-2);
        }
}

TEST(Attention, NoKeys) {
    expectRefused(attention({1, 8, 0, 2, 2, 4, 8}), "empty");
}

}  // namespace mnnc::vulkan::test
