// The fast forms of Raster: quads and whole channels of packed tensors, rows of quads of row-major ones; and the
// recognition of regions with these forms.
#include <gtest/gtest.h>

#include "backends/vulkan/ops/raster_boxes.h"
#include "tensor/region_overlap.h"
#include "vulkan_harness.h"

namespace mnnc::vulkan::test {

namespace {

struct Axis {
    int64_t size, src, dst;
};

Region region(int input, int64_t src, int64_t dst, std::initializer_list<Axis> axes) {
    Region r;
    r.input = input;
    r.src.offset = src;
    r.dst.offset = dst;
    int i = 3 - static_cast<int>(axes.size());
    for (const Axis& axis : axes) {
        r.size[i] = axis.size;
        r.src.stride[i] = axis.src;
        r.dst.stride[i++] = axis.dst;
    }
    return r;
}

OpCase raster(const std::vector<Shape>& inputs, const Shape& out, std::vector<Region> regions, bool packed,
              bool isInt = false) {
    OpCase c;
    uint32_t seed = 1;
    for (const Shape& shape : inputs) {
        c.inputs.push_back(isInt ? randomInts(shape, seed++, INT32_MIN, INT32_MAX) : randomValue(shape, seed++));
        c.inputs.back().packed = packed;
    }
    c.outputs.resize(1);
    c.outputs[0].shape = out;
    c.outputs[0].isInt = isInt;
    c.regions = std::move(regions);
    return c;
}

// Checks both storages, floats and integers.
void check(const std::vector<Shape>& inputs, const Shape& out, const std::vector<Region>& regions) {
    for (const bool packed : {true, false}) expectSameAsCpu(raster(inputs, out, regions, packed), 0, 1e-6);
    expectSameAsCpu(raster(inputs, out, regions, true, true), 0);
}

void concat(int64_t batch, std::initializer_list<int64_t> channels, const Shape& spatial) {
    const int64_t plane = spatial.elements();
    int64_t total = 0, at = 0;
    for (const int64_t c : channels) total += c;
    std::vector<Shape> shapes;
    std::vector<Region> regions;
    const auto shaped = [&](int64_t c) {
        Shape shape{batch, c};
        for (const int64_t extent : spatial) shape.push(extent);
        return shape;
    };
    for (const int64_t c : channels) {
        regions.push_back(region(static_cast<int>(shapes.size()), 0, at * plane,
                                 {{batch, c * plane, total * plane}, {c * plane, 1, 1}}));
        shapes.push_back(shaped(c));
        at += c;
    }
    check(shapes, shaped(total), regions);
}

Operand shaped(const Shape& shape) {
    Operand tensor;
    tensor.shape = shape;
    return tensor;
}

}  // namespace

TEST(RasterBoxes, ConcatOfChannels) {
    concat(1, {8, 4, 12}, {5, 7});
    concat(2, {4, 8, 3}, {3, 5});
    concat(3, {5, 6}, {2, 9});
    concat(2, {58, 58}, {7, 7});
    concat(2, {4, 8, 16, 20, 3}, {6});
    concat(3, {7, 6, 70}, {});
    concat(1, {1, 2, 3, 4, 5}, {11, 3});
}

TEST(RasterBoxes, SlicesOfChannels) {
    for (const auto& [from, count] : {std::pair<int64_t, int64_t>{0, 4}, {4, 8}, {8, 6}, {3, 5}, {12, 2}, {0, 14}})
        check({{2, 14, 5, 6}}, {2, count, 5, 6}, {region(0, from * 30, 0, {{2, 420, count * 30}, {count * 30, 1, 1}})});
}

TEST(RasterBoxes, CropsAndPaddings) {
    check({{2, 6, 8, 9}}, {2, 6, 5, 4}, {region(0, 2 * 9 + 3, 0, {{12, 72, 20}, {5, 9, 4}, {4, 1, 1}})});
    check({{2, 8, 5, 4}}, {2, 8, 8, 9}, {region(0, 0, 2 * 9 + 3, {{16, 20, 72}, {5, 4, 9}, {4, 1, 1}})});
    // The region moves rows only: the axes of channels and rows are merged.
    check({{1, 5, 6, 8}}, {1, 5, 6, 4}, {region(0, 4, 0, {{30, 8, 4}, {4, 1, 1}})});
    // The columns are mirrored.
    check({{1, 7, 4, 6}}, {1, 7, 4, 8},
          {region(0, 0, 1, {{28, 6, 8}, {6, 1, 1}}), region(0, 1, 0, {{28, 6, 8}}), region(0, 4, 7, {{28, 6, 8}})});
    check({{2, 6, 3, 5}}, {2, 6, 3, 5}, {region(0, 14, 0, {{12, 15, 15}, {15, -1, 1}})});
}

TEST(RasterBoxes, UpsamplingAndStrides) {
    check({{2, 5, 3, 4}}, {2, 5, 3, 8}, {region(0, 0, 0, {{120 / 4 * 1, 4, 8}, {4, 1, 2}, {2, 0, 1}})});
    check({{1, 8, 6, 6}}, {1, 8, 3, 3}, {region(0, 7, 0, {{8, 36, 9}, {3, 12, 3}, {3, 2, 1}})});
}

TEST(RasterBoxes, ChannelsThatMove) {
    // Groups are shuffled.
    check({{2, 12, 3, 3}}, {2, 12, 3, 3},
          {region(0, 0, 0, {{6, 9, 18}, {2, 54, 9}, {9, 1, 1}}),
           region(0, 108, 108, {{6, 9, 18}, {2, 54, 9}, {9, 1, 1}})});
    // Batches are swapped, channels reversed, and one channel is repeated.
    check({{2, 6, 5, 5}}, {2, 6, 5, 5}, {region(0, 150, 0, {{2, -150, 150}, {150, 1, 1}})});
    check({{1, 9, 4, 4}}, {1, 9, 4, 4}, {region(0, 128, 0, {{9, -16, 16}, {16, 1, 1}})});
    check({{3, 1, 4, 5}}, {3, 7, 4, 5}, {region(0, 0, 0, {{3, 20, 140}, {7, 0, 20}, {20, 1, 1}})});
    // Channels without a source are zero; a later region wins.
    check({{2, 4, 30}, {2, 4, 30}}, {2, 11, 30},
          {region(0, 0, 60, {{2, 120, 330}, {120, 1, 1}}), region(1, 30, 120, {{2, 120, 330}, {60, 1, 1}})});
    check({{1, 4, 30}, {1, 4, 30}}, {1, 4, 30},
          {region(0, 0, 0, {{120, 1, 1}}), region(1, 30, 60, {{60, 1, 1}}), region(0, 0, 30, {{30, 1, 1}})});
}

TEST(RasterBoxes, OtherShapesOfTheSameElements) {
    check({{2, 6, 4, 5}}, {2, 3, 8, 5}, {region(0, 0, 0, {{240, 1, 1}})});
    check({{2, 8, 4, 5}}, {8, 2, 20}, {region(0, 0, 0, {{2, 160, 20}, {8, 20, 40}, {20, 1, 1}})});
    check({{3, 5, 4, 6}}, {3, 4, 6, 5}, {region(0, 0, 0, {{3, 120, 120}, {24, 1, 5}, {5, 24, 1}})});
}

TEST(RasterBoxes, RegionsOfQuadsAreRecognised) {
    const Operand a = shaped({2, 8, 5, 6}), b = shaped({2, 12, 5, 6});
    const Region part = region(0, 0, 120, {{2, 240, 360}, {240, 1, 1}});
    const auto box = quadBox(part, a, b);
    ASSERT_TRUE(box);
    EXPECT_EQ(box->dst, 30);
    EXPECT_EQ(box->count(), 2 * 2 * 30);
    EXPECT_FALSE(quadBox(region(0, 0, 90, {{2, 240, 360}, {240, 1, 1}}), a, b));
    EXPECT_TRUE(channelBox(region(0, 0, 90, {{2, 240, 360}, {240, 1, 1}}), a, b));
    // Regions whose pixels leave their channel have neither form.
    EXPECT_FALSE(quadBox(region(0, 1, 0, {{240, 1, 1}}), a, a));
    EXPECT_FALSE(channelBox(region(0, 1, 0, {{240, 1, 1}}), a, a));
    // A crop moves quads, but no whole channels.
    const Operand small = shaped({2, 8, 3, 2});
    const Region crop = region(0, 7, 0, {{16, 30, 6}, {3, 6, 2}, {2, 1, 1}});
    EXPECT_TRUE(quadBox(crop, a, small));
    EXPECT_FALSE(channelBox(crop, a, small));
    // The last channels of a batch, fewer than four, count as a quad.
    const Operand ragged = shaped({2, 6, 30}), longer = shaped({2, 10, 30});
    EXPECT_TRUE(quadBox(region(0, 0, 120, {{2, 180, 300}, {180, 1, 1}}), ragged, longer));
    EXPECT_FALSE(quadBox(region(0, 0, 0, {{2, 180, 300}, {180, 1, 1}}), ragged, longer));
}

TEST(RasterBoxes, OverlapsAreFound) {
    const auto overlap = [](const std::vector<Region>& regions) { return regionsOverlap(regions, 240); };
    const Region left = region(0, 0, 0, {{10, 12, 24}, {12, 1, 1}});
    EXPECT_FALSE(overlap({left, region(0, 0, 12, {{10, 12, 24}, {12, 1, 1}})}));
    EXPECT_FALSE(overlap({left, region(0, 0, 23, {{10, 0, 24}, {12, 0, -1}})}));
    EXPECT_TRUE(overlap({left, region(0, 0, 11, {{10, 12, 24}, {12, 1, 1}})}));
    EXPECT_TRUE(overlap({left, region(0, 0, 216, {{12, 1, 1}})}));
    EXPECT_FALSE(overlap({left, region(0, 0, 12, {{12, 1, 1}}), region(0, 0, 228, {{12, 1, 1}})}));
    EXPECT_FALSE(overlap({region(0, 0, 0, {{100, 1, 1}}), region(0, 0, 100, {{100, 1, 1}})}));
    EXPECT_TRUE(overlap({region(0, 0, 0, {{100, 1, 1}}), region(0, 0, 99, {{100, 1, 1}})}));
    EXPECT_TRUE(overlap({region(0, 0, 0, {{50, 1, 2}}), region(0, 0, 3, {{30, 1, 3}})}));
    EXPECT_FALSE(overlap({region(0, 0, 0, {{50, 1, 2}}), region(0, 0, 1, {{50, 1, 2}})}));
    EXPECT_FALSE(overlap({region(0, 0, 0, {{30, 1, 6}}), region(0, 0, 1, {{30, 1, 4}})}));
}

TEST(RasterBoxes, RowsOfQuadsAreRecognised) {
    EXPECT_TRUE(inQuads(elementBox(region(0, 8, 4, {{5, 12, 20}, {8, 1, 1}}))));
    EXPECT_FALSE(inQuads(elementBox(region(0, 8, 4, {{5, 12, 18}, {8, 1, 1}}))));
    EXPECT_FALSE(inQuads(elementBox(region(0, 6, 4, {{5, 12, 20}, {8, 1, 1}}))));
    EXPECT_FALSE(inQuads(elementBox(region(0, 8, 4, {{5, 12, 20}, {6, 1, 1}}))));
    EXPECT_FALSE(inQuads(elementBox(region(0, 8, 4, {{5, 12, 20}, {8, 2, 1}}))));
    check({{4, 16}, {4, 8}}, {4, 24},
          {region(0, 0, 0, {{4, 16, 24}, {16, 1, 1}}), region(1, 0, 16, {{4, 8, 24}, {8, 1, 1}})});
    check({{4, 15}, {4, 8}}, {4, 23},
          {region(0, 0, 0, {{4, 15, 23}, {15, 1, 1}}), region(1, 0, 15, {{4, 8, 23}, {8, 1, 1}})});
}

}  // namespace mnnc::vulkan::test
