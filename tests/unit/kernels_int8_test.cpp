// Int8 kernels against integer arithmetic in plain loops: equal bytes from every instruction set, with and
// without VNNI, from one thread and two.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "backends/cpu/kernels/int8/int8_conv.h"
#include "backends/cpu/kernels/int8/int8_kernels.h"
#include "base/aligned.h"
#include "int8_reference.h"
#include "int8_variants.h"
#include "model/int8_limits.h"

namespace mnnc::test {
namespace {

int8_t rounded(float value, float lo, float hi) {
    value = std::min(std::max(value, lo), hi);
    return static_cast<int8_t>(std::round(value));
}

// The steps after the sums, with whole blocks for any instruction set.
struct NetBuilder {
    std::vector<float> scale, offset, min;
    std::vector<int32_t> bias;
    Int8Post post;

    NetBuilder(int channels, bool withMin, unsigned seed) {
        std::mt19937 random(seed);
        std::uniform_real_distribution<float> unit(0.2f, 1.0f);
        const size_t count = static_cast<size_t>((channels + 15) / 16 * 16);
        for (size_t i = 0; i < count; ++i) {
            scale.push_back(unit(random) / 900);
            offset.push_back(40 * unit(random) - 30);
            min.push_back(unit(random) / 50 - 0.01f);
            bias.push_back(static_cast<int32_t>(random() % 9000) - 4500);
        }
        post.scale = scale.data();
        post.offset = offset.data();
        post.min = withMin ? min.data() : nullptr;
        post.bias = bias.data();
        post.ratio = 0.37f;
        post.lo = -120;
        post.hi = 101;
        post.padding = -13;
    }
};

enum class Kind { Int8, Float32, NonNegative };  // of the results; NonNegative: bytes from bytes that are not negative

// The limits of the results, and whether the kernels know that no result is out of range.
struct Ends {
    float lo, hi;
    bool bounded;
};
constexpr Ends kEnds[] = {{-120, 101, false}, {-120, 101, true}, {-128, 127, true}, {5, 101, true}};

// Weights for codes that are not negative: -64 to 63, -128 or 127 alone, or -64 to 63 in every second eight channels.
enum class Weights { Small, Largest, Mixed };

int8_t weightOf(int8_t code, Weights kind, size_t channel) {
    if (kind == Weights::Largest) return code % 2 ? -128 : 127;
    return kind == Weights::Mixed && channel / 8 % 2 ? code : int8_t(code / 2);
}

// Also bounds the results before they are clipped; wider: their factor.
void expectDense(const ConvShape& s, int groups = 1, bool nchw = false, bool withMin = false, Kind kind = Kind::Int8,
                 float wider = 1, Weights kindOfWeights = Weights::Small) {
    Bytes src = randomBytes(static_cast<size_t>(s.batch * s.ic * s.ih * s.iw), 1);
    Bytes weights = randomBytes(static_cast<size_t>(s.oc * (s.ic / groups) * s.kh * s.kw), 2);
    NetBuilder steps(s.oc, withMin, 3);
    if (kind == Kind::NonNegative) {
        for (int8_t& code : src) code &= 127;
        const auto area = static_cast<size_t>(s.kh * s.kw), channels = static_cast<size_t>(s.ic / groups);
        for (size_t i = 0; i < weights.size(); ++i)
            weights[i] = weightOf(weights[i], kindOfWeights, i / area % channels);
        steps.post.padding = 127;
    }
    for (float& scale : steps.scale) scale *= wider;
    const float infinity = std::numeric_limits<float>::infinity();
    std::vector<Ends> ends(std::begin(kEnds), std::end(kEnds));
    if (kind == Kind::Float32) ends = {{-infinity, 1000, true}};
    std::vector<float> values;
    for (int n = 0; n < s.batch; ++n)
        for (int o = 0; o < s.oc; ++o)
            for (int i = 0; i < s.oh * s.ow; ++i) {
                const Window at = window(s, groups, src, weights, steps.post.padding, n, o, i / s.ow, i % s.ow);
                const auto k = static_cast<size_t>(o);
                float value = static_cast<float>(at.sum) * steps.scale[k] * steps.post.ratio;
                if (withMin) value += static_cast<float>(at.pixels) * steps.post.ratio * steps.min[k];
                values.push_back(value + steps.offset[k]);
            }
    for (const Variant& variant : variants()) {
        const Int8ConvOptions options{groups, nchw, withMin, kind == Kind::NonNegative};
        std::vector<std::unique_ptr<Int8SumPlan>> plans;
        plans.push_back(makeInt8DensePlan(variant.kernels, s, options));
        if (int8WinogradAccepts(variant.kernels, s, options)) plans.push_back(makeInt8WinogradPlan(variant.kernels, s));
        const int lanes = variant.kernels.lanes, blocks = (s.oc + lanes - 1) / lanes;
        const Bytes input = nchw ? src : packed(src, s.batch, s.ic, s.ih * s.iw, lanes);
        for (const auto& plan : plans)
            for (const Ends& end : ends) {
                const int threads = end.bounded ? 2 : 1;
                std::vector<float> want;
                for (const float value : values)
                    want.push_back(kind != Kind::Float32 ? rounded(value, end.lo, end.hi) : std::min(value, end.hi));
                Int8Post post = steps.post;
                post.lo = end.lo;
                post.hi = end.hi;
                if (end.bounded) post.findBound(static_cast<size_t>(s.oc), int64_t{s.ic} / groups * s.kh * s.kw);
                ForkJoinPool pool(threads);
                AlignedBuffer codes(plan->packedWeightBytes()), scratch(plan->scratchBytes(threads));
                plan->packQuantized({weights, {}, {}}, codes.data(), pool);
                const size_t count = static_cast<size_t>(s.batch * blocks * lanes * s.oh * s.ow);
                Bytes bytes(count);
                std::vector<float> floats(count);
                const bool toFloats = kind == Kind::Float32;
                plan->run(input.data(), codes.data(), toFloats ? nullptr : bytes.data(),
                          toFloats ? floats.data() : nullptr, post, scratch.data(), pool);
                std::vector<float> got;
                if (toFloats)
                    got = unpacked(floats.data(), s.batch, s.oc, s.oh * s.ow, lanes);
                else
                    for (const int8_t value : unpacked(bytes.data(), s.batch, s.oc, s.oh * s.ow, lanes))
                        got.push_back(value);
                ASSERT_EQ(got, want) << variant.name << ", from " << end.lo << ", " << plan->algorithm();
            }
    }
}

TEST(Int8Convolution, OneByOne) {
    expectDense(shape(1, 16, 5, 7, 32, 1, 1));
    expectDense(shape(2, 13, 9, 11, 17, 1, 1));
    expectDense(shape(3, 37, 1, 1, 70, 1, 1));
    expectDense(shape(1, 24, 14, 14, 100, 1, 1));
    expectDense(shape(1, 20, 9, 9, 33, 1, 1, 2));
}

TEST(Int8Convolution, Windows) {
    expectDense(shape(2, 19, 8, 6, 21, 3, 3, 1, 1));
    expectDense(shape(1, 33, 11, 12, 16, 3, 3, 2, 1));
    expectDense(shape(1, 16, 10, 9, 40, 2, 5, 1, 3, 2));
    expectDense(shape(1, 40, 5, 5, 5, 5, 5));
    expectDense(shape(1, 301, 3, 4, 67, 3, 3, 1, 1));
    for (const int ic : {5, 6, 7}) expectDense(shape(1, ic, 6, 5, 9, 2, 3));
}

TEST(Int8Convolution, FewChannels) {
    for (const bool nchw : {false, true}) {
        expectDense(shape(2, 3, 17, 15, 24, 3, 3, 2, 1), 1, nchw);
        expectDense(shape(1, 1, 9, 80, 7, 5, 3, 1, 2), 1, nchw);
        expectDense(shape(1, 4, 9, 9, 16, 3, 3, 1, 2, 2), 1, nchw);
        expectDense(shape(1, 2, 9, 9, 16, 3, 3), 1, nchw, true);
        // Rows of taps take three bytes per pixel.
        expectDense(shape(2, 3, 15, 139, 20, 7, 7, 2, 3), 1, nchw);
        expectDense(shape(1, 3, 9, 11, 7, 2, 5, 1, 0), 1, nchw, true);
        expectDense(shape(1, 3, 19, 17, 7, 7, 7, 1, 3, 2), 1, nchw);
    }
    expectDense(shape(1, 3, 6, 6, 9, 1, 1), 1, true);
}

TEST(Int8Convolution, Groups) {
    expectDense(shape(1, 32, 7, 7, 64, 3, 3, 1, 1), 2);
    expectDense(shape(2, 18, 6, 5, 30, 3, 3, 1, 1), 6);
    expectDense(shape(1, 40, 6, 5, 20, 1, 1), 4);
    expectDense(shape(1, 33, 6, 5, 22, 3, 3, 2, 1), 11);
    expectDense(shape(1, 26, 6, 5, 78, 3, 1), 13);
    expectDense(shape(1, 96, 4, 5, 48, 3, 3), 3);
}

TEST(Int8Convolution, Minima) {
    expectDense(shape(2, 19, 8, 6, 21, 3, 3, 2, 1), 1, false, true);
    expectDense(shape(2, 45, 4, 6, 30, 1, 1), 1, false, true);
    expectDense(shape(3, 45, 1, 1, 30, 1, 1), 1, false, true);
}

// Kernels may add products in 16 bits, and where the weights are small enough those of two steps.
TEST(Int8Convolution, CodesThatAreNotNegative) {
    for (const Weights weights : {Weights::Small, Weights::Largest, Weights::Mixed}) {
        const auto expect = [&](const ConvShape& s, int groups = 1, bool withMin = false) {
            expectDense(s, groups, false, withMin, Kind::NonNegative, 1, weights);
        };
        expect(shape(1, 16, 5, 7, 32, 1, 1));
        expect(shape(2, 13, 9, 11, 17, 1, 1));
        expect(shape(3, 37, 1, 1, 70, 1, 1));
        expect(shape(1, 20, 9, 9, 33, 1, 1, 2));
        expect(shape(1, 301, 3, 4, 67, 3, 3, 1, 1));
        expect(shape(1, 33, 11, 12, 16, 3, 3, 2, 1));
        for (const int ic : {3, 5, 6, 7, 8}) expect(shape(1, ic, 6, 5, 9, 2, 3));
        expect(shape(2, 18, 6, 5, 30, 3, 3, 1, 1), 6);
        expect(shape(1, 32, 7, 7, 64, 3, 3, 1, 1), 2);
        expect(shape(2, 45, 4, 6, 30, 1, 1), 1, true);
    }
}

TEST(Int8Convolution, ResultsOutOfRange) {
    expectDense(shape(1, 19, 8, 6, 21, 3, 3, 1, 1), 1, false, false, Kind::Int8, 1e9f);
    expectDense(shape(1, 40, 5, 7, 33, 1, 1), 1, false, false, Kind::Int8, 1e9f);
}

TEST(Int8Convolution, FloatResults) {
    expectDense(shape(1, 19, 8, 6, 21, 3, 3, 1, 1), 1, false, false, Kind::Float32);
    expectDense(shape(1, 19, 8, 6, 21, 1, 1), 1, false, true, Kind::Float32);
}

void expectDepthwise(const ConvShape& s, float wider = 4) {
    ASSERT_TRUE(fitsInt8Depthwise(s.kw, s.kh, s.dilateW));
    const Bytes src = randomBytes(static_cast<size_t>(s.batch * s.ic * s.ih * s.iw), 4);
    const Bytes weights = randomBytes(static_cast<size_t>(s.ic * s.kh * s.kw), 5);
    NetBuilder steps(s.oc, false, 6);
    for (float& scale : steps.scale) scale *= wider;
    std::vector<float> values;
    for (int n = 0; n < s.batch; ++n)
        for (int o = 0; o < s.oc; ++o)
            for (int i = 0; i < s.oh * s.ow; ++i) {
                const Window at = window(s, s.ic, src, weights, steps.post.padding, n, o, i / s.ow, i % s.ow);
                const auto k = static_cast<size_t>(o);
                values.push_back(static_cast<float>(at.sum + steps.bias[k]) * steps.scale[k]);
            }
    for (const Variant& variant : variants()) {
        const int lanes = variant.kernels.lanes;
        const auto plan = makeInt8DepthwisePlan(variant.kernels, s);
        const Bytes input = packed(src, s.batch, s.ic, s.ih * s.iw, lanes);
        for (const Ends& end : kEnds) {
            Bytes want;
            for (const float value : values) want.push_back(rounded(value, end.lo, end.hi));
            Int8Post post = steps.post;
            post.lo = end.lo;
            post.hi = end.hi;
            if (end.bounded) post.findBound(static_cast<size_t>(s.oc), int64_t{s.kh} * s.kw);
            ForkJoinPool pool(end.bounded ? 2 : 1);
            AlignedBuffer codes(plan->packedWeightBytes());
            plan->packQuantized({weights, {}, {}}, codes.data(), pool);
            Bytes bytes(static_cast<size_t>(s.batch * ((s.oc + lanes - 1) / lanes) * lanes * s.oh * s.ow));
            plan->run(input.data(), codes.data(), bytes.data(), nullptr, post, nullptr, pool);
            ASSERT_EQ(unpacked(bytes.data(), s.batch, s.oc, s.oh * s.ow, lanes), want)
                << variant.name << ", from " << end.lo;
        }
    }
}

TEST(Int8Depthwise, Windows) {
    expectDepthwise(shape(1, 16, 9, 13, 16, 3, 3, 1, 1));
    expectDepthwise(shape(2, 21, 10, 15, 21, 3, 3, 2, 1));
    expectDepthwise(shape(1, 5, 12, 9, 5, 5, 5, 1, 2));
    expectDepthwise(shape(1, 16, 12, 23, 16, 4, 2, 3, 1));
    expectDepthwise(shape(1, 16, 20, 20, 16, 3, 3, 1, 4, 4));
    expectDepthwise(shape(1, 16, 14, 14, 16, 9, 7, 2, 4));
    expectDepthwise(shape(1, 3, 1, 1, 3, 1, 1));
    // Lines of input rows serve several output rows, in several strips.
    expectDepthwise(shape(1, 16, 31, 7, 16, 3, 3, 1, 1));
    expectDepthwise(shape(1, 16, 40, 80, 16, 5, 5, 1, 2));
    expectDepthwise(shape(1, 16, 41, 30, 16, 5, 5, 2, 2));
    expectDepthwise(shape(1, 16, 23, 9, 16, 2, 3, 1, 0));
    expectDepthwise(shape(1, 16, 23, 9, 16, 1, 4, 1, 3));
    expectDepthwise(shape(1, 16, 24, 9, 16, 6, 1, 2, 0));
    expectDepthwise(shape(1, 16, 11, 12, 16, 3, 3, 1, 1), 1e9f);  // results out of range
    expectDepthwise(shape(1, 4, 3, 1200, 4, 3, 3, 1, 1));         // more than one piece of a row
    expectDepthwise(shape(1, 4, 3, 900, 4, 3, 200, 2, 1));
}

TEST(Int8Depthwise, TellsWhatIsTooLarge) {
    EXPECT_FALSE(fitsInt8Depthwise(3, 3, 400));
    EXPECT_FALSE(fitsInt8Depthwise(std::numeric_limits<int>::max(), 3, std::numeric_limits<int>::max()));
}

TEST(Int8Elements, Casts) {
    std::vector<float> values = {0,      0.25f, -0.25f, 0.75f,
                                 -0.75f, 1e30f, -1e30f, std::numeric_limits<float>::quiet_NaN()};
    for (int i = 0; i < 500; ++i) values.push_back(static_cast<float>(i) * 0.37f - 90);
    values.resize(values.size() / 16 * 16);
    for (const Variant& variant : variants()) {
        const Int8Kernels& k = *variant.kernels.int8;
        float scale[16], zero[16];
        for (int i = 0; i < 16; ++i) {
            scale[i] = i < k.lanes ? 2.0f - 0.1f * static_cast<float>(i) : 0;
            zero[i] = static_cast<float>(i - 3);
        }
        Bytes bytes(values.size());
        k.quantize(values.data(), bytes.data(), values.size() / static_cast<size_t>(k.lanes), {scale, zero, -100, 90});
        std::vector<float> back(values.size());
        k.dequantize(bytes.data(), back.data(), values.size() / static_cast<size_t>(k.lanes), scale, zero);
        for (size_t i = 0; i < values.size(); ++i) {
            const size_t lane = i % static_cast<size_t>(k.lanes);
            const int8_t want =
                std::isnan(values[i]) ? int8_t{-100} : rounded(values[i] * scale[lane] + zero[lane], -100, 90);
            ASSERT_EQ(bytes[i], want) << variant.name << " at " << i;
            ASSERT_EQ(back[i], (static_cast<float>(want) - zero[lane]) * scale[lane]) << variant.name << " at " << i;
        }
    }
}

TEST(Int8Elements, Binary) {
    const Bytes a = randomBytes(333, 7), b = randomBytes(333, 8);
    for (const Int8Binary op : {Int8Binary::Add, Int8Binary::Sub, Int8Binary::Mul}) {
        const Int8BinaryArgs kinds[] = {
            {op, 0.25f, 0.125f, 2.0f, 3, -5, 4, -127, 120},  // zero points
            {op, 0.25f, 0.125f, 2.0f, 0, 0, 0, -127, 120},  {op, 0.25f, 0.125f, 2.0f, 0, 0, 0, 2, 120},
            {op, 0.25f, 1e9f, 2.0f, 0, 0, 0, -127, 120},  // out of range
            {op, 0.25f, 1, 1e10f, 3, -5, -5, -127, 120},    {op, 0.25f, 1, 1e10f, 3, -5, 4, -127, 120},
        };
        for (const Int8BinaryArgs& args : kinds) {
            Bytes want;
            for (size_t i = 0; i < a.size(); ++i) {
                const float x = (a[i] - args.zeroA) * args.scaleA, y = (b[i] - args.zeroB) * args.scaleB;
                const float value = op == Int8Binary::Add ? x + y : op == Int8Binary::Sub ? x - y : x * y;
                want.push_back(static_cast<int8_t>(
                    std::min(std::max(std::round(value * args.inverse) + args.zero, args.lo), args.hi)));
            }
            for (const Variant& variant : variants()) {
                Bytes got(a.size());
                variant.kernels.int8->binary(a.data(), b.data(), got.data(), a.size(), args);
                ASSERT_EQ(got, want) << variant.name;
            }
        }
    }
}

}  // namespace
}  // namespace mnnc::test
