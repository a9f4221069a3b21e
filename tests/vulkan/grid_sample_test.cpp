// GridSample of pictures and volumes: every mode, positions outside, and NaN and infinite coordinates.
#include "ops/grid_sample.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "vulkan_harness.h"

namespace mnnc::vulkan::test {

namespace {

OpCase sampling(const Value& input, Value grid, bool nearest, GridPadding padding, bool alignCorners) {
    auto params = std::make_shared<GridSampleParams>();
    params->nearest = nearest;
    params->padding = padding;
    params->alignCorners = alignCorners;
    OpCase c;
    c.type = OpType::GridSample;
    c.params = params;
    Shape out = input.shape;
    for (int i = 2; i < out.rank(); ++i) out[i] = grid.shape[i - 1];
    c.inputs = {input, std::move(grid)};
    c.outputs.resize(1);
    c.outputs[0].shape = out;
    return c;
}

template <typename Body>
void forModes(const Body& body) {
    for (const bool nearest : {false, true})
        for (const GridPadding padding : {GridPadding::Zeros, GridPadding::Border, GridPadding::Reflection})
            for (const bool alignCorners : {false, true}) body(nearest, padding, alignCorners);
}

}  // namespace

TEST(GridSample, Pictures) {
    forModes([](bool nearest, GridPadding padding, bool align) {
        for (const auto& [in, grid] : {std::pair{Shape{2, 5, 7, 9}, Shape{2, 3, 5, 2}},
                                       {Shape{1, 8, 4, 6}, Shape{1, 9, 1, 2}},
                                       {Shape{3, 1, 1, 3}, Shape{3, 2, 2, 2}}})
            expectSameAsCpu(
                sampling(asPacked(randomValue(in, 1)), randomValue(grid, 2, -2, 2), nearest, padding, align), 1e-5,
                2e-3);
    });
}

TEST(GridSample, Volumes) {
    forModes([](bool nearest, GridPadding padding, bool align) {
        expectSameAsCpu(sampling(randomValue({2, 3, 3, 4, 5}, 1), randomValue({2, 2, 3, 7, 3}, 2, -1.5, 1.5), nearest,
                                 padding, align),
                        1e-5, 2e-3);
    });
}

TEST(GridSample, CoordinatesThatAreNoPlaces) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    Value grid = randomValue({1, 3, 4, 2}, 2, -1, 1);
    grid.floats = {nan, nan, kInfinity, 0,  -kInfinity, 0,      0,     kInfinity, 0,     -kInfinity, nan,   0,
                   0,   nan, 1,         -1, 3e38f,      -3e38f, 60000, -60000,    -1.0f, 1.0f,       -5e4f, nan};
    forModes([&](bool nearest, GridPadding padding, bool align) {
        if (padding == GridPadding::Reflection)  // the places of huge coordinates are rounding errors
            for (float& x : grid.floats)
                if (std::isfinite(x) && std::fabs(x) > 1) x = 0.25f;
        for (const Shape& in : {Shape{1, 5, 4, 6}, Shape{1, 2, 1, 1}})
            expectSameAsCpu(sampling(randomValue(in, 1), grid, nearest, padding, align), 1e-5, 2e-3);
    });
}

TEST(GridSample, EmptyGrid) {
    expectRefused(
        sampling(randomValue({1, 2, 3, 3}, 1), randomValue({1, 0, 4, 2}, 2), false, GridPadding::Zeros, false),
        "empty");
}

}  // namespace mnnc::vulkan::test
