// GatherV2, GatherND and GatherElements, with indices that count from the end. index_check_test.cpp tests those
// outside.
#include "ops/gather.h"

#include <gtest/gtest.h>

#include "vulkan_harness.h"

namespace mnnc::vulkan::test {

namespace {

OpCase gather(OpType type, ParamsPtr params, Value data, Value indices, const Shape& out) {
    OpCase c;
    c.type = type;
    c.params = std::move(params);
    c.outputs.resize(1);
    c.outputs[0].shape = out;
    c.outputs[0].isInt = data.isInt;
    c.inputs = {std::move(data), std::move(indices)};
    return c;
}

ParamsPtr along(int64_t outer, int64_t extent, int64_t inner, int64_t count) {
    auto params = std::make_shared<GatherParams>();
    params->outer = outer;
    params->extent = extent;
    params->inner = inner;
    params->count = count;
    return params;
}

std::shared_ptr<GatherNdParams> rows(int64_t count, int64_t slice, const Shape& data, int depth) {
    auto params = std::make_shared<GatherNdParams>();
    params->rows = count;
    params->slice = slice;
    params->bounds.depth = depth;
    for (int j = 0; j < depth; ++j) {
        params->bounds.extent[j] = data[j];
        params->stride[j] = data.elements(j + 1, data.rank());
    }
    return params;
}

ParamsPtr axisOf(int axis) {
    auto params = std::make_shared<ElementsParams>();
    params->axis = axis;
    return params;
}

}  // namespace

TEST(Gather, Rows) {
    for (const auto& [outer, extent, inner, count] :
         {std::array<int64_t, 4>{1, 9, 16, 7}, {3, 5, 7, 11}, {2, 70, 1, 33}, {5, 1, 8, 2}}) {
        const Value indices = randomInts({count}, 2, static_cast<int>(-extent), static_cast<int>(extent) - 1);
        for (const bool isInt : {false, true}) {
            const Value data = isInt ? randomInts({outer, extent, inner}, 3, INT32_MIN, INT32_MAX)
                                     : randomValue({outer, extent, inner}, 1);
            expectSameAsCpu(
                gather(OpType::GatherV2, along(outer, extent, inner, count), data, indices, {outer, count, inner}), 0,
                1e-6);
        }
    }
}

TEST(Gather, Nd) {
    const Shape shape{5, 4, 3, 7};
    for (int depth = 1; depth <= 4; ++depth) {
        const int64_t slice = shape.elements(depth, 4);
        expectSameAsCpu(gather(OpType::GatherND, rows(75, slice, shape, depth), randomValue(shape, 1),
                               randomInts({75, depth}, 2, -3, 2), {75, slice}),
                        0, 1e-6);
    }
    expectSameAsCpu(gather(OpType::GatherND, rows(75, 21, shape, 2), randomInts(shape, 1, INT32_MIN, INT32_MAX),
                           randomInts({75, 2}, 2, 0, 3), {75, 21}),
                    0);
    // Five batches of 15 rows; the indices of batch b contain 4 * b.
    auto batched = std::make_shared<GatherNdParams>();
    batched->rows = 75;
    batched->slice = 21;
    batched->bounds = IndexBounds::ofAxis(4);
    batched->bounds.rowsPerBatch = 15;
    batched->bounds.batchStep = 4;
    batched->stride[0] = 21;
    Value indices = randomInts({75, 1}, 2, -4, 3);
    for (size_t r = 0; r < 75; ++r) indices.ints[r] += static_cast<int32_t>(r / 15 * 4);
    expectSameAsCpu(gather(OpType::GatherND, batched, randomValue(shape, 1), indices, {75, 21}), 0, 1e-6);
}

TEST(Gather, Elements) {
    const Shape shape{4, 5, 6, 3};
    for (int axis = 0; axis < 4; ++axis) {
        Shape out{4, 3, 6, 3};
        out[axis] = 9;
        expectSameAsCpu(
            gather(OpType::GatherElements, axisOf(axis), randomValue(shape, 1),
                   randomInts(out, 2, static_cast<int>(-shape[axis]), static_cast<int>(shape[axis]) - 1), out),
            0, 1e-6);
    }
    expectSameAsCpu(gather(OpType::GatherElements, axisOf(0), randomInts({77}, 1, INT32_MIN, INT32_MAX),
                           randomInts({80}, 2, 0, 76), {80}),
                    0);
}

}  // namespace mnnc::vulkan::test
