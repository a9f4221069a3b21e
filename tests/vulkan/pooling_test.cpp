// Pooling and Pooling3D: windows, paddings, count rules, planes that are large enough for a group each.
#include "ops/pooling.h"

#include <gtest/gtest.h>

#include "vulkan_harness.h"

namespace mnnc::vulkan::test {

namespace {

PoolParams plane(bool average, int kernel, int stride, int pad) {
    PoolParams p;
    p.average = average;
    p.kernel = {kernel, kernel};
    p.stride = {stride, stride};
    p.pad = {pad, pad};
    return p;
}

OpCase pooling(const PoolParams& params, const Shape& shape, bool packed, bool indices) {
    OpCase c;
    c.type = params.spatial3d ? OpType::Pooling3D : OpType::Pooling;
    c.params = std::make_shared<PoolParams>(params);
    c.inputs = {randomValue(shape, 5)};
    c.inputs[0].packed = packed;
    Shape out = shape;
    const PoolWindow w = poolWindow(params, shape, "test");
    for (int i = 2; i < out.rank(); ++i) out[i] = params.global ? 1 : w.axis[out.rank() == 5 ? i - 2 : i - 1].out;
    c.outputs.resize(indices ? 2 : 1);
    for (Value& output : c.outputs) output.shape = out;
    if (indices) c.outputs[1].isInt = true;
    return c;
}

void check(const PoolParams& params, const Shape& shape, bool packed = true, bool indices = false) {
    expectSameAsCpu(pooling(params, shape, packed, indices), 1e-6, 2e-3);
}

}  // namespace

TEST(Pooling, Windows) {
    for (const bool average : {false, true}) {
        check(plane(average, 2, 2, 0), {1, 3, 8, 8});
        check(plane(average, 3, 2, 1), {2, 5, 13, 9});
        check(plane(average, 3, 1, 1), {3, 8, 7, 11}, false);
        check(plane(average, 5, 3, 2), {1, 1, 17, 5});
        check(plane(average, 2, 5, 0), {2, 6, 11, 11});
        check(plane(average, 1, 1, 0), {1, 4, 3, 3});
        PoolParams uneven = plane(average, 3, 2, 0);
        uneven.kernel = {1, 4};
        uneven.stride = {3, 1};
        check(uneven, {2, 7, 10, 12});
    }
}

TEST(Pooling, PaddingAndCountRules) {
    for (const bool average : {false, true})
        for (const PoolCount count : {PoolCount::Default, PoolCount::IncludePadding, PoolCount::ExcludePadding}) {
            PoolParams p = plane(average, 3, 2, 0);
            p.count = count;
            for (const PoolPad pad : {PoolPad::Same, PoolPad::Valid}) {
                p.padType = pad;
                check(p, {2, 5, 12, 7});
            }
            p.padType = PoolPad::Explicit;
            p.pad = {1, 1};
            check(p, {1, 6, 12, 7});
            p.ceil = false;
            check(p, {1, 6, 12, 7});
            p.pads = {2, 1, 1, 2};
            check(p, {2, 3, 9, 10});
            p.ceil = true;
            p.pads = {1, 2};
            check(p, {2, 3, 9, 10});
        }
}

TEST(Pooling, WindowsThatSeeOnlyPadding) {
    for (const bool average : {false, true}) {
        PoolParams p = plane(average, 2, 2, 0);
        p.pads = {4, 5, 6, 5};
        check(p, {1, 5, 3, 4});
    }
}

TEST(Pooling, Global) {
    for (const bool average : {false, true}) {
        PoolParams p;
        p.average = average;
        p.global = true;
        for (const Shape& shape : {Shape{1, 1, 1, 1}, Shape{2, 5, 3, 3}, Shape{2, 9, 7, 7}, Shape{3, 6, 31, 33},
                                   Shape{1, 3, 130, 70}, Shape{2, 5}, Shape{2, 3, 40}, Shape{1, 5, 3, 4, 5}})
            check(p, shape);
    }
}

TEST(Pooling, WindowOverTheWholePlane) {
    for (const bool average : {false, true}) {
        check(plane(average, 7, 7, 0), {2, 5, 7, 7});
        check(plane(average, 9, 1, 0), {2, 5, 7, 8});
    }
}

TEST(Pooling, IndicesOfMaxima) {
    check(plane(false, 3, 2, 1), {2, 5, 13, 9}, true, true);
    check(plane(false, 7, 1, 0), {1, 3, 7, 7}, false, true);
    PoolParams p = plane(false, 2, 2, 0);
    p.pads = {4, 5, 6, 5};
    check(p, {1, 5, 3, 4}, true, true);
}

TEST(Pooling, LargeWindows) {
    const OpCase large = pooling(plane(true, 300, 300, 0), {1, 1, 600, 600}, true, false);
    expectSameAsCpuOrRefused(large, "rounds", 1e-5);
    PoolParams column = plane(false, 1, 1, 0);
    column.kernel = {25000, 1};
    expectSameAsCpuOrRefused(pooling(column, {1, 4, 25020, 1}, true, false), "rounds", 1e-5);
}

TEST(Pooling, ThreeAxes) {
    for (const bool average : {false, true}) {
        PoolParams p;
        p.average = average;
        p.spatial3d = true;
        p.ceil = false;
        p.kernel = {2, 3, 3};
        p.stride = {1, 2, 2};
        p.pad = {1, 1, 0};
        check(p, {2, 5, 4, 9, 7});
        p.padType = PoolPad::Same;
        p.pad = {};
        check(p, {1, 3, 5, 6, 7});
        p.padType = PoolPad::Valid;
        check(p, {1, 4, 5, 6, 7}, false);
        p.kernel = {3};
        p.stride = {2};
        check(p, {2, 5, 33});
    }
}

}  // namespace mnnc::vulkan::test
