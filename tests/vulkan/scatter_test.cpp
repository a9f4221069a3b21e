// ScatterNd and ScatterElements: later updates win, or updates are combined in order. index_check_test.cpp tests
// indices outside.
#include "ops/scatter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "vulkan_harness.h"

namespace mnnc::vulkan::test {

namespace {

OpCase scatterNd(const Shape& shape, int depth, int64_t rows, bool isInt, bool data,
                 Scatter reduction = Scatter::Replace) {
    auto params = std::make_shared<ScatterNdParams>();
    params->rows = rows;
    params->slice = shape.elements(depth, shape.rank());
    params->reduction = reduction;
    params->bounds.depth = depth;
    int64_t least = INT32_MAX;
    for (int j = 0; j < depth; ++j) {
        params->bounds.extent[j] = shape[j];
        params->stride[j] = shape.elements(j + 1, shape.rank());
        least = std::min(least, shape[j]);
    }
    OpCase c;
    c.type = OpType::ScatterNd;
    const auto value = [&](const Shape& of, uint32_t seed) {
        return isInt ? randomInts(of, seed, INT32_MIN, INT32_MAX) : randomValue(of, seed);
    };
    c.inputs = {randomInts({rows, depth}, 2, static_cast<int>(-least), static_cast<int>(least) - 1),
                value({rows, params->slice}, 3)};
    if (data) c.inputs.push_back(value(shape, 1));
    c.params = std::move(params);
    c.outputs.resize(1);
    c.outputs[0].shape = shape;
    c.outputs[0].isInt = isInt;
    return c;
}

OpCase scatterElements(const Shape& data, const Shape& indices, int axis, bool isInt,
                       Scatter reduction = Scatter::Replace) {
    auto params = std::make_shared<ScatterElementsParams>();
    params->axis = axis;
    params->reduction = reduction;
    OpCase c;
    c.type = OpType::ScatterElements;
    c.params = std::move(params);
    const auto value = [&](const Shape& of, uint32_t seed) {
        return isInt ? randomInts(of, seed, INT32_MIN, INT32_MAX) : randomValue(of, seed);
    };
    c.inputs = {value(data, 1), randomInts(indices, 2, static_cast<int>(-data[axis]), static_cast<int>(data[axis]) - 1),
                value(indices, 3)};
    c.outputs.resize(1);
    c.outputs[0].shape = data;
    c.outputs[0].isInt = isInt;
    return c;
}

}  // namespace

TEST(Scatter, Nd) {
    const Shape shape{5, 4, 3, 7};
    for (int depth = 1; depth <= 4; ++depth)
        for (const bool data : {false, true}) {
            expectSameAsCpu(scatterNd(shape, depth, 75, false, data), 0, 1e-6);
            expectSameAsCpu(scatterNd(shape, depth, 75, true, data), 0);
        }
    // Thousands of updates for a few places.
    expectSameAsCpu(scatterNd({6, 5}, 1, 9000, false, true), 0, 1e-6);
}

TEST(Scatter, Elements) {
    const Shape shape{4, 5, 6, 3};
    for (int axis = 0; axis < 4; ++axis) {
        Shape indices{4, 3, 6, 2};
        indices[axis] = 9;
        expectSameAsCpu(scatterElements(shape, indices, axis, false), 0, 1e-6);
        expectSameAsCpu(scatterElements(shape, indices, axis, true), 0);
    }
    expectSameAsCpu(scatterElements({77}, {500}, 0, false), 0, 1e-6);
}

constexpr Scatter kReductions[] = {Scatter::Add, Scatter::Sub, Scatter::Mul, Scatter::Min, Scatter::Max};

// The bits equal the CPU's: updates of a place are combined in their order.
TEST(Scatter, Reductions) {
    for (const Scatter reduction : kReductions)
        for (const bool isInt : {false, true}) {
            SCOPED_TRACE(static_cast<int>(reduction));
            for (int depth = 1; depth <= 4; ++depth)
                for (const bool data : {false, true})
                    expectSameAsCpu(scatterNd({5, 4, 3, 7}, depth, 75, isInt, data, reduction), 0, isInt ? -1 : 2e-3);
            for (int axis = 0; axis < 4; ++axis) {
                Shape indices{4, 3, 6, 2};
                indices[axis] = 9;
                expectSameAsCpu(scatterElements({4, 5, 6, 3}, indices, axis, isInt, reduction), 0, isInt ? -1 : 2e-3);
            }
        }
}

// The lists are sorted in one block, in one that is full, and in several.
TEST(Scatter, LongLists) {
    for (const int64_t rows : {1, 2, 65, 1023, 1024, 1025, 3000, 9000})
        for (const Scatter reduction : {Scatter::Add, Scatter::Max}) {
            SCOPED_TRACE(rows);
            expectSameAsCpu(scatterNd({60, 5}, 1, rows, false, true, reduction), 0, 2e-3);
            expectSameAsCpu(scatterNd({700, 2}, 2, rows, true, false, reduction), 0);
            expectSameAsCpu(scatterElements({77}, {rows}, 0, false, reduction), 0, 2e-3);
        }
}

TEST(Scatter, ReductionsOfValuesThatAreNoNumbers) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    for (const Scatter reduction : kReductions) {
        SCOPED_TRACE(static_cast<int>(reduction));
        OpCase c = scatterElements({3, 40}, {3, 90}, 1, false, reduction);
        for (size_t i = 0; i < c.inputs[2].floats.size(); i += 7)
            c.inputs[2].floats[i] = i % 3 == 0 ? kInfinity : i % 3 == 1 ? -kInfinity : std::nanf("");
        c.inputs[0].floats[5] = std::nanf("");
        expectSameAsCpu(c, 0, 2e-3);
    }
}

TEST(Scatter, Refused) {
    expectRefused(scatterNd({5, 4}, 1, 0, false, true), "not empty");
    expectRefused(scatterNd({5, 4}, 1, 0, false, true, Scatter::Add), "not empty");
}

// A software driver would leave out the updates of a place behind a number of them.
TEST(Scatter, ManyUpdatesOfAPlace) {
    expectSameAsCpuOrRefused(scatterElements({10}, {70000}, 0, true, Scatter::Add), "70000 rounds", 0);
    OpCase c = scatterElements({10}, {70000}, 0, true, Scatter::Add);
    std::fill(c.inputs[1].ints.begin(), c.inputs[1].ints.end(), 3);
    expectSameAsCpuOrRefused(c, "70000 rounds", 0);
    expectRefused(scatterElements({10}, {(1 << 21) + 1}, 0, true, Scatter::Add), "2097152 rows");
}

}  // namespace mnnc::vulkan::test
