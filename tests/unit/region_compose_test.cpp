// Composed regions copy what two Rasters copy one after the other.
#include "tensor/region_compose.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "tensor/region_builder.h"

namespace mnnc::test {
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

// Returns whether two lists of regions compose; if they do, expects the composition to copy the same elements.
bool composes(std::span<const Region> outer, std::span<const Region> inner, size_t between, size_t end,
              size_t maxPieces = 64) {
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
        const auto pieces = composeRegion(region, inner, maxPieces);
        if (!pieces) return false;
        EXPECT_LE(pieces->size(), maxPieces);
        int64_t count = 0;
        for (const Region& piece : *pieces) count += piece.count();
        EXPECT_EQ(count, region.count());
        apply(*pieces, sources, got);
    }
    EXPECT_EQ(expected, got);
    return true;
}

// Concatenates [height][width] of three sources beside or below one another.
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

TEST(RegionCompose, ReadsOfAConcatenation) {
    const std::vector<Region> inner = concatenated(true, {2, 3, 4}, 5);
    EXPECT_TRUE(composes(boxes(0, 0, 0, {{5, 1, 9}, {9, 5, 1}}), inner, 45, 45)) << "transposed";
    EXPECT_TRUE(composes(boxes(0, 44, 0, {{45, -1, 1}}), inner, 45, 45)) << "backwards";
    EXPECT_TRUE(composes(boxes(0, 1, 0, {{4, 5, 3}, {3, 1, 1}}), inner, 45, 12)) << "a box of two parts";
    EXPECT_TRUE(composes(boxes(0, 11, 0, {{6, 0, 4}, {4, 1, 1}}), inner, 45, 24)) << "repeated";
    EXPECT_TRUE(composes(boxes(0, 3, 0, {{40, 1, 1}}), inner, 45, 40)) << "a range";
    EXPECT_FALSE(composes(boxes(0, 0, 0, {{5, 1, 9}, {9, 5, 1}}), inner, 45, 45, 2)) << "too many regions";
}

TEST(RegionCompose, RangesOfMovedTensors) {
    const std::vector<Region> transposed = boxes(0, 0, 0, {{6, 1, 4}, {4, 6, 1}});
    EXPECT_TRUE(composes(boxes(0, 0, 0, {{24, 1, 1}}), transposed, 24, 24));
    EXPECT_TRUE(composes(boxes(0, 8, 3, {{12, 1, 1}}), transposed, 24, 16));
    EXPECT_FALSE(composes(boxes(0, 7, 0, {{12, 1, 1}}), transposed, 24, 12)) << "cuts through a row";
    const std::vector<Region> beside = concatenated(false, {2, 1, 3}, 7);
    EXPECT_TRUE(composes(boxes(0, 12, 0, {{18, 1, 1}}), beside, 42, 18));
    EXPECT_TRUE(composes(boxes(0, 12, 0, {{2, 1, 1}}), beside, 42, 2)) << "one part of one row";
    EXPECT_FALSE(composes(boxes(0, 0, 0, {{7, 6, 1}}), beside, 42, 7)) << "neither is a range";
}

TEST(RegionCompose, RegionsWithoutElementsCopyNothing) {
    std::vector<Region> inner = boxes(0, 0, 0, {{6, 1, 4}, {4, 6, 1}});
    Region empty = boxes(1, 0, 0, {{24, 1, 1}})[0];
    empty.size[1] = 0;
    empty.src.stride[1] = empty.dst.stride[1] = 24;
    inner.push_back(empty);
    EXPECT_TRUE(composes(boxes(0, 0, 0, {{8, 1, 1}}), inner, 24, 8));
}

// Random pairs of all these forms: each composition is correct, and a minimum number of pairs composes.
TEST(RegionCompose, RandomRegions) {
    std::mt19937 random(11);
    const auto upTo = [&](int64_t max) { return std::uniform_int_distribution<int64_t>(1, max)(random); };
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

}  // namespace
}  // namespace mnnc::test
