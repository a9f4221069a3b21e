// Tables, maxima, factors of channels, averages and linear resizing of int8 codes, and sums of products, against plain
// loops: equal bytes from every instruction set, with and without VNNI.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "backends/cpu/kernels/int8/int8_conv.h"
#include "base/aligned.h"
#include "int8_variants.h"

namespace mnnc::test {
namespace {

int8_t rounded(float value, float lo, float hi) {
    value = value > lo ? std::min(value, hi) : lo;
    return static_cast<int8_t>(value + (value < 0 ? -0.5f : 0.5f));
}

TEST(Int8Maps, Lookup) {
    const Bytes table = randomBytes(256, 5);
    for (const Variant& variant : variants())
        for (const size_t count : {size_t{1}, size_t{15}, size_t{64}, size_t{257}, size_t{1000}}) {
            const Bytes x = randomBytes(count, static_cast<unsigned>(count));
            Bytes want(count), got(count);
            for (size_t i = 0; i < count; ++i) want[i] = table[static_cast<uint8_t>(x[i])];
            variant.kernels.int8->lookup(x.data(), got.data(), count, table.data());
            EXPECT_EQ(got, want) << variant.name << " " << count;
            Bytes same = x;
            variant.kernels.int8->lookup(same.data(), same.data(), count, table.data());
            EXPECT_EQ(same, want) << variant.name << " in place";
        }
}

// The windows of one row of outputs, as a pooling makes them: those at the edges are cut.
std::vector<PoolSpan> windows(int width, int kernel, int stride, int padding, int outputs) {
    std::vector<PoolSpan> spans;
    for (int x = 0; x < outputs; ++x) {
        const int first = x * stride - padding;
        spans.push_back({std::clamp(first, 0, width - 1), std::clamp(first + kernel, 1, width)});
    }
    return spans;
}

TEST(Int8Maps, Maximum) {
    struct Shape {
        int width, kernel, stride, padding, rows, outputs;
    };
    const Shape shapes[] = {{1, 1, 1, 0, 1, 1},       {7, 3, 2, 1, 3, 4},     {111, 3, 2, 0, 3, 55},
                            {13, 5, 1, 2, 12, 13},    {200, 3, 3, 0, 2, 64},  {700, 2, 11, 0, 4, 64},
                            {300, 200, 40, 90, 5, 7}, {150, 144, 1, 0, 2, 7}, {151, 145, 1, 3, 3, 9},
                            {64, 2, 2, 0, 2, 32}};
    for (const Variant& variant : variants()) {
        const int lanes = variant.kernels.lanes;
        for (const Shape& s : shapes) {
            const Bytes x = randomBytes(static_cast<size_t>(s.rows * s.width * lanes), static_cast<unsigned>(s.width));
            std::vector<const int8_t*> rows;
            for (int y = 0; y < s.rows; ++y) rows.push_back(x.data() + y * s.width * lanes);
            const std::vector<PoolSpan> spans = windows(s.width, s.kernel, s.stride, s.padding, s.outputs);
            Bytes want(static_cast<size_t>(s.outputs * lanes), -128), got(want.size() + 64, 77);
            for (int o = 0; o < s.outputs; ++o)
                for (const int8_t* row : rows)
                    for (int i = spans[static_cast<size_t>(o)].first; i < spans[static_cast<size_t>(o)].last; ++i)
                        for (int l = 0; l < lanes; ++l) {
                            int8_t& best = want[static_cast<size_t>(o * lanes + l)];
                            best = std::max(best, row[i * lanes + l]);
                        }
            want.resize(got.size(), 77);  // what follows stays as it is
            variant.kernels.int8->maximum(rows.data(), s.rows, spans.data(), s.outputs, got.data());
            EXPECT_EQ(got, want) << variant.name << " width " << s.width << " kernel " << s.kernel;
        }
    }
}

TEST(Int8Maps, Affine) {
    for (const Variant& variant : variants())
        for (const size_t blocks : {size_t{1}, size_t{3}, size_t{4}, size_t{21}}) {
            const auto lanes = static_cast<size_t>(variant.kernels.lanes);
            const Bytes x = randomBytes(blocks * lanes, 3);
            std::vector<float> factor(lanes), term(lanes);
            for (size_t l = 0; l < lanes; ++l) {
                factor[l] = std::sin(static_cast<float>(l) + 1);
                term[l] = std::cos(static_cast<float>(l));
            }
            factor[1] = std::numeric_limits<float>::infinity();
            factor[2] = std::numeric_limits<float>::quiet_NaN();
            const Int8AffineArgs args{factor.data(), term.data(), 0.043f, -4, 1 / 0.037f, 11, -120, 117};
            Bytes want(x.size()), got(x.size());
            for (size_t i = 0; i < x.size(); ++i) {
                const float value = (static_cast<float>(x[i]) + 4) * 0.043f;
                const float product = value * factor[i % lanes];
                const float sum = product + term[i % lanes];
                const float scaled = sum * args.inverse;
                want[i] = rounded(scaled + 11, -120, 117);
            }
            variant.kernels.int8->affine(x.data(), got.data(), blocks, args);
            EXPECT_EQ(got, want) << variant.name << " " << blocks;
            for (size_t i = 0; i < x.size(); ++i) {
                const float value = (static_cast<float>(x[i]) + 4) * 0.043f;
                const float product = value * factor[i % lanes];
                const float scaled = (value < 0 ? product : value) * args.inverse;
                want[i] = rounded(scaled + 11, -120, 117);
            }
            variant.kernels.int8->leaky(x.data(), got.data(), blocks, args);
            EXPECT_EQ(got, want) << variant.name << " leaky " << blocks;
        }
}

// Windows that leave the row, in both kinds of rounding, and divisors that floats do not divide exactly.
TEST(Int8Maps, Average) {
    for (const Variant& variant : variants())
        for (const bool nearest : {false, true})
            for (const bool counts : {false, true})
                for (const int64_t rowCount : {int64_t{3}, int64_t{6}, int64_t{20000}}) {
                    const auto lanes = static_cast<size_t>(variant.kernels.lanes);
                    const size_t width = 9;
                    const Bytes x = randomBytes(2 * 4 * width * lanes, 4);
                    const PoolSpan spans[] = {{0, 1}, {0, 9}, {3, 7}, {8, 9}, {5, 5}};
                    const int64_t widthCounts[] = {3, 9, 4, 2, 0};
                    constexpr size_t kOutputs = std::size(spans);
                    Bytes got(kOutputs * lanes);
                    Int8AverageArgs args{};
                    args.src = x.data();
                    args.dst = got.data();
                    args.depth = 2;
                    args.height = 3;
                    args.depthStride = static_cast<ptrdiff_t>(4 * width * lanes);
                    args.rowStride = static_cast<ptrdiff_t>(width * lanes);
                    args.spans = spans;
                    args.outputs = kOutputs;
                    args.countsPadding = counts;
                    args.nearest = nearest;
                    args.rowCount = 6 * rowCount;
                    args.widthCounts = widthCounts;
                    args.outside = 128 + 7;
                    args.empty = -77;
                    variant.kernels.int8->average(args);
                    for (size_t o = 0; o < kOutputs; ++o)
                        for (size_t l = 0; l < lanes; ++l) {
                            const int64_t inside = 6 * (spans[o].last - spans[o].first),
                                          count = counts ? 6 * rowCount * widthCounts[o] : inside;
                            int64_t sum = (count - inside) * 135;
                            for (size_t row : {0, 1, 2, 4, 5, 6})
                                for (auto i = static_cast<size_t>(spans[o].first);
                                     i < static_cast<size_t>(spans[o].last); ++i)
                                    sum += x[(row * width + i) * lanes + l] + 128;
                            const int64_t want = count == 0 ? -77
                                                 : nearest  ? (sum + count / 2) / count - 128
                                                            : (sum * ((1 << 24) / count) >> 24) - 128;
                            EXPECT_EQ(got[o * lanes + l], want)
                                << variant.name << " " << nearest << counts << rowCount << " " << o;
                        }
                }
}

TEST(Int8Maps, ResizeLinear) {
    for (const Variant& variant : variants()) {
        const auto lanes = static_cast<size_t>(variant.kernels.lanes);
        const size_t width = 5, outputs = 9;
        const Bytes first = randomBytes(width * lanes, 1), second = randomBytes(width * lanes, 2);
        const int8_t* rows[] = {first.data(), second.data()};
        const float rowWeights[] = {0.3f, 0.7f};
        std::vector<int32_t> index;
        std::vector<float> weight;
        for (size_t x = 0; x < outputs; ++x) {
            const float part = static_cast<float>(x) / 10;
            index.push_back(static_cast<int32_t>(x / 2));
            index.push_back(static_cast<int32_t>(std::min(x / 2 + 1, width - 1)));
            weight.push_back(1 - part);
            weight.push_back(part);
        }
        Bytes want(outputs * lanes), got(outputs * lanes);
        Int8ResizeArgs args{
            rows, rowWeights, 2,    index.data(), weight.data(), static_cast<int>(outputs), got.data(), -3.0f,
            1.3f, 6,          -127, 127};
        for (size_t x = 0; x < outputs; ++x)
            for (size_t l = 0; l < lanes; ++l) {
                float total = 0;
                for (size_t y = 0; y < 2; ++y) {
                    const auto at = [&](size_t tap) {
                        const auto column = static_cast<size_t>(index[2 * x + tap]);
                        return (static_cast<float>(rows[y][column * lanes + l]) + 3) * weight[2 * x + tap];
                    };
                    const float a = at(0), b = at(1), across = a + b, part = across * rowWeights[y];
                    total += part;
                }
                const float scaled = total * 1.3f;
                want[x * lanes + l] = rounded(scaled + 6, -127, 127);
            }
        variant.kernels.int8->resizeLinear(args);
        EXPECT_EQ(got, want) << variant.name;
    }
}

// Sums of (x + 128) * w without the operations after them.
TEST(Int8Maps, SumsOfProducts) {
    for (const Variant& variant : variants()) {
        const auto lanes = static_cast<size_t>(variant.kernels.lanes);
        ConvShape s;
        s.ic = 7, s.ih = s.oh = 4, s.iw = s.ow = 5, s.oc = 19, s.kh = s.kw = 3, s.padTop = s.padLeft = 1;
        const auto plan = makeInt8ConvPlan(variant.kernels, s, {});
        const size_t inBlocks = (7 + lanes - 1) / lanes, outBlocks = (19 + lanes - 1) / lanes;
        const Bytes x = randomBytes(inBlocks * 20 * lanes, 8), w = randomBytes(19 * 7 * 9, 9);
        InlinePool pool;
        AlignedBuffer packed(plan->packedWeightBytes()), scratch(plan->scratchBytes(1));
        plan->packQuantized({w, {}, {}}, packed.data(), pool);
        std::vector<int32_t> got(outBlocks * 20 * lanes);
        plan->runSums(x.data(), packed.data(), got.data(), -9, scratch.data(), pool);
        for (int o = 0; o < 19; ++o)
            for (int i = 0; i < 20; ++i) {
                int32_t want = 0;
                for (int c = 0; c < 7; ++c)
                    for (int tap = 0; tap < 9; ++tap) {
                        const int iy = i / 5 + tap / 3 - 1, ix = i % 5 + tap % 3 - 1;
                        const bool inside = iy >= 0 && iy < 4 && ix >= 0 && ix < 5;
                        const auto at =
                            (static_cast<size_t>(c) / lanes * 20 + static_cast<size_t>(iy * 5 + ix)) * lanes +
                            static_cast<size_t>(c) % lanes;
                        want += ((inside ? x[at] : -9) + 128) * w[static_cast<size_t>((o * 7 + c) * 9 + tap)];
                    }
                const auto block = static_cast<size_t>(o) / lanes, lane = static_cast<size_t>(o) % lanes;
                EXPECT_EQ(got[(block * 20 + static_cast<size_t>(i)) * lanes + lane], want)
                    << variant.name << " " << o << " " << i;
            }
    }
}

}  // namespace
}  // namespace mnnc::test
