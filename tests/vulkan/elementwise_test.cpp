// UnaryOp, BinaryOp, PReLU, ELU, Selu, Threshold, Scale, Cast.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ops/activation.h"
#include "ops/binary.h"
#include "ops/cast.h"
#include "ops/scale.h"
#include "ops/unary.h"
#include "vulkan_harness.h"

namespace mnnc::vulkan::testing {

namespace {

OpCase unaryCase(OpType type, ParamsPtr params, Value input, bool packed) {
    OpCase c;
    c.type = type;
    c.params = std::move(params);
    Value output;
    output.shape = input.shape;
    output.isInt = input.isInt;
    output.format = input.format;
    input.packed = packed;
    c.inputs = {std::move(input)};
    c.outputs = {output};
    return c;
}

ParamsPtr unaryParams(int code) {
    auto params = std::make_shared<UnaryParams>();
    params->code = code;
    return params;
}

// Arguments a code is defined for, the interesting ones included.
Value argumentsOf(int code) {
    float low = -9, high = 9;
    if (code == 12 || code == 13 || code == 21 || code == 27) low = -0.9995f, high = 0.9995f;
    if (code == 18) low = 1, high = 50;
    if (code == 5 || code == 6 || code == 8) low = 1e-3f, high = 100;
    if (code == 16) low = -0.99f, high = 20;
    Value value = randomValue({3, 5, 7, 3}, static_cast<uint32_t>(code) + 1, low, high);
    if (low == -9)
        for (size_t i = 0; i < 60; ++i) value.floats[i] *= 1e-3f;  // small ones too
    return value;
}

}  // namespace

TEST(Unary, everyCode) {
    for (int code = 0; code <= 34; ++code) {
        SCOPED_TRACE(code);
        const bool steep = code == 7 || code == 11 || code == 15 || code == 19 || code == 24 || code == 28;
        expectSameAsCpu(unaryCase(OpType::UnaryOp, unaryParams(code), argumentsOf(code), code % 2 == 1), 1e-6,
                        steep ? 3e-2 : 2e-2);
    }
}

TEST(Unary, shapes) {
    for (const Shape& shape : {Shape{1}, Shape{1, 1}, Shape{2, 3, 5, 7}, Shape{3, 6, 1}, Shape{67}})
        for (const bool packed : {false, true})
            if (!packed || shape.rank() > 1)
                expectSameAsCpu(
                    unaryCase(OpType::UnaryOp, unaryParams(29), randomValue(shape, 2, -8, 8), packed), 1e-6);
}

// Large angles need many bits of pi.
TEST(Unary, largeArguments) {
    Value value;
    value.shape = {9, 16};
    for (int i = 0; i < 144; ++i)
        value.floats.push_back((i % 2 ? -1.0f : 1.0f) *
                               std::ldexp(1.0f + static_cast<float>(i) / 91.0f, i % 40));
    for (const int code : {9, 10, 11, 14, 20, 29, 30, 25, 26, 33, 34})
        expectSameAsCpu(unaryCase(OpType::UnaryOp, unaryParams(code), value, false), code == 11 ? 1e-5 : 1e-6,
                        -1);
    for (float& x : value.floats) x = std::ldexp(x, 80);
    for (const int code : {9, 10})
        expectSameAsCpu(unaryCase(OpType::UnaryOp, unaryParams(code), value, false), 1e-6, -1);
    for (float& x : value.floats) x = std::fabs(x);
    for (const int code : {8, 16, 18, 20})
        expectSameAsCpu(unaryCase(OpType::UnaryOp, unaryParams(code), value, false), 1e-6, -1);
}

// Relative exactness where results are small: scaled up, so that the tolerance bites.
TEST(Unary, smallArguments) {
    for (const int code : {8, 9, 11, 12, 14, 16, 19, 20, 21, 25, 27, 28, 30, 33}) {
        SCOPED_TRACE(code);
        Value value = randomValue({4, 33}, 5, -1e-3f, 1e-3f);
        if (code == 8)
            for (float& x : value.floats) x = 1 + x;
        expectSameAsCpu(unaryCase(OpType::UnaryOp, unaryParams(code), value, true), 1e-9, -1);
    }
}

TEST(Unary, integers) {
    Value value = randomInts({2, 5, 9}, 3, -100000, 100000);
    value.ints[0] = std::numeric_limits<int32_t>::min();
    value.ints[1] = 0;
    for (const int code : {0, 1, 4, 22})
        for (const bool packed : {false, true})
            expectSameAsCpu(unaryCase(OpType::UnaryOp, unaryParams(code), value, packed), 0);
    expectRefused(unaryCase(OpType::UnaryOp, unaryParams(4), Value{{0, 3}, {}}, false), "empty");
}

TEST(Activation, eluSeluThreshold) {
    auto params = std::make_shared<EluParams>();
    params->alpha = 0.7f;
    params->scale = 1.05f;
    for (const OpType type : {OpType::ELU, OpType::Selu, OpType::Threshold})
        for (const bool packed : {false, true})
            expectSameAsCpu(unaryCase(type, params, randomValue({2, 5, 3, 7}, 4, -4, 4), packed), 1e-6,
                            type == OpType::Threshold ? 0 : 2e-2);
}

namespace {

// Rank, channel counts and inner extents that reach every way of finding the channel.
const Shape kChannelShapes[] = {{2, 5, 3, 7}, {3, 8, 2, 2}, {2, 6, 1, 1}, {5, 8}, {1, 3, 4}, {3, 7}};

template <typename Make>
void overChannels(OpType type, const Make& make) {
    for (const Shape& shape : kChannelShapes)
        for (const bool packed : {false, true})
            expectSameAsCpu(unaryCase(type, make(shape[1]), randomValue(shape, 6, -3, 3), packed), 1e-6,
                            5e-3);
    Value last = randomValue({2, 3, 5, 6}, 7);
    last.format = Format::NHWC;
    expectSameAsCpu(unaryCase(type, make(6), last, false), 1e-6, 5e-3);
}

}  // namespace

TEST(Activation, prelu) {
    overChannels(OpType::PReLU, [](int64_t channels) {
        auto params = std::make_shared<PReluParams>();
        params->slopes = randomValue({channels}, 8).floats;
        return params;
    });
    auto one = std::make_shared<PReluParams>();
    one->slopes = {0.3f};
    expectSameAsCpu(unaryCase(OpType::PReLU, one, randomValue({2, 5, 3}, 9), true), 1e-6);
}

TEST(Scale, perChannel) {
    overChannels(OpType::Scale, [](int64_t channels) {
        auto params = std::make_shared<ScaleParams>();
        params->scale = randomValue({channels}, 10).floats;
        params->bias = randomValue({channels}, 11).floats;
        return params;
    });
}

TEST(Cast, betweenFloatIntAndBool) {
    auto params = std::make_shared<CastParams>();
    Value floats = randomValue({3, 5, 7}, 12, -40, 40);
    floats.floats[0] = -0.0f;
    floats.floats[1] = 0;
    floats.floats[2] = 3e9f;
    floats.floats[3] = -3e9f;
    floats.floats[4] = std::numeric_limits<float>::infinity();
    floats.floats[5] = std::numeric_limits<float>::quiet_NaN();
    for (const bool packed : {false, true}) {
        params = std::make_shared<CastParams>();
        params->type = DataType::Int32;
        OpCase c = unaryCase(OpType::Cast, params, floats, packed);
        c.outputs[0].isInt = true;
        expectSameAsCpu(c, 0, 0);
        params = std::make_shared<CastParams>();
        params->type = DataType::Int32;
        params->toBool = true;
        c.params = params;
        expectSameAsCpu(c, 0, 0);
        c.inputs[0] = randomInts({3, 5, 7}, 13, -2, 2);
        c.inputs[0].packed = packed;
        expectSameAsCpu(c, 0, 0);
        c.params = std::make_shared<CastParams>();
        c.outputs[0].isInt = false;
        c.inputs[0] = randomInts({3, 5, 7}, 13, -30000, 30000);
        c.inputs[0].packed = packed;
        expectSameAsCpu(c, 0, 1e-3);
    }
}

namespace {

bool isComparison(int code) {
    return code == 10 || code == 11 || code == 12 || code == 15 || code == 16 || code == 22;
}

OpCase binaryCase(int code, Value a, Value b, Shape output, bool relu = false) {
    auto params = std::make_shared<BinaryParams>();
    params->code = code;
    params->relu = relu;
    OpCase c;
    c.type = OpType::BinaryOp;
    c.params = params;
    Value y;
    y.shape = output;
    y.isInt = a.isInt || isComparison(code);
    y.format = b.shape.rank() > a.shape.rank() ? b.format : a.format;
    c.inputs = {std::move(a), std::move(b)};
    c.outputs = {y};
    return c;
}

Value packedValue(Shape shape, uint32_t seed) {
    Value value = randomValue(shape, seed, -2, 2);
    value.packed = true;
    return value;
}

}  // namespace

TEST(Binary, floatCodes) {
    for (const int code : {0, 1, 2, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 19, 20, 22, 29}) {
        SCOPED_TRACE(code);
        Value a = randomValue({3, 5, 7}, 14, -4, 4), b = randomValue({3, 5, 7}, 15, -4, 4);
        for (size_t i = 0; i < 30; ++i) b.floats[i] = a.floats[i];
        if (code == 7 || code == 13 || code == 17 || code == 19)
            for (size_t i = 0; i < b.floats.size(); ++i) {
                b.floats[i] += b.floats[i] < 0 ? -1.0f : 1.0f;
                if (i % 3 == 0) a.floats[i] = b.floats[i] * static_cast<float>(i / 3);
            }
        for (size_t i = 0; code == 6 && i < b.floats.size(); ++i) {
            if (i % 2)
                b.floats[i] = std::round(b.floats[i]);
            else
                a.floats[i] = std::fabs(a.floats[i]);
        }
        // Quotients that are integers or nearly so jump when inputs are rounded again; powers are steep.
        const bool jumps = code == 13 || code == 17 || code == 19 || code == 6 || code == 20;
        expectSameAsCpu(binaryCase(code, a, b, {3, 5, 7}), 1e-6, jumps ? -1 : 2e-2);
        a.packed = b.packed = true;
        expectSameAsCpu(binaryCase(code, a, b, {3, 5, 7}, code == 1), 1e-6, -1);
    }
}

TEST(Binary, awkwardFloats) {
    const float inf = std::numeric_limits<float>::infinity();
    const float values[] = {0,        -0.0f, 1,     -1,   0.5f,  -2,     3,   1e-6f,
                            16777216, -1e9f, 1e30f, 6.5f, -0.1f, 127.3f, inf, -inf};
    Value a, b;
    a.shape = b.shape = {16, 16};
    for (const float x : values)
        for (const float y : values) {
            a.floats.push_back(x);
            b.floats.push_back(y);
        }
    for (const int code : {6, 17, 19, 20}) {
        SCOPED_TRACE(code);
        Value x = a, y = b;
        // Infinities and what does not fit are compared for one code only: exact ones.
        for (size_t i = 0; i < x.floats.size(); ++i) {
            const double p = std::pow(static_cast<double>(x.floats[i]), static_cast<double>(y.floats[i]));
            const bool skip = code == 6 ? !(std::fabs(p) < 1e38) && std::isfinite(p)
                                        : code == 17 && std::fabs(x.floats[i]) > 1e8f;
            if (skip) x.floats[i] = 2, y.floats[i] = 3;
        }
        expectSameAsCpu(binaryCase(code, x, y, {16, 16}), code == 6 ? 1e-6 : 1e-7, -1);
    }
}

TEST(Binary, powersAreExact) {
    Value a = randomValue({40, 50}, 16, 0.01f, 30), b = randomValue({40, 50}, 17, -20, 20);
    for (size_t i = 0; i < a.floats.size(); ++i)  // results around 1, so that the tolerance is a relative one
        if (std::fabs(b.floats[i] * std::log(a.floats[i])) > 3) a.floats[i] = std::exp(3 / b.floats[i]);
    expectSameAsCpu(binaryCase(6, a, b, {40, 50}), 3e-7, -1);
}

TEST(Binary, intCodes) {
    const int32_t low = std::numeric_limits<int32_t>::min(), high = std::numeric_limits<int32_t>::max();
    for (const int code :
         {0, 1, 2, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 19, 21, 22, 23, 24, 25, 26, 27, 28}) {
        SCOPED_TRACE(code);
        Value a = randomInts({3, 5, 7}, 18, -9, 9), b = randomInts({3, 5, 7}, 19, -9, 9);
        const int32_t as[] = {low, low, low, high, high, 0, 0, -7, 7, 46341, 1291, -1291, 2, -2, 5};
        const int32_t bs[] = {-1, 0, low, -1, high, 0, -3, 3, -3, 2, 3, 3, 31, 31, low};
        std::copy(std::begin(as), std::end(as), a.ints.begin());
        std::copy(std::begin(bs), std::end(bs), b.ints.begin());
        expectSameAsCpu(binaryCase(code, a, b, {3, 5, 7}, code == 1), 0);
        a.packed = b.packed = true;
        expectSameAsCpu(binaryCase(code, a, b, {3, 5, 7}), 0);
    }
}

TEST(Binary, oneValue) {
    for (const bool first : {false, true})
        for (const bool packed : {false, true})
            for (const Shape& one : {Shape{}, Shape{1}, Shape{1, 1, 1, 1}}) {
                Value big = packedValue({2, 5, 3, 7}, 20), small = randomValue(one, 21);
                big.packed = packed;
                for (const bool smallPacked : {false, true}) {
                    if (smallPacked && one.rank() < 2) continue;
                    small.packed = smallPacked;
                    small.constant = !smallPacked;
                    expectSameAsCpu(first ? binaryCase(1, small, big, {2, 5, 3, 7})
                                          : binaryCase(1, big, small, {2, 5, 3, 7}, true),
                                    1e-6);
                }
            }
}

TEST(Binary, perChannel) {
    for (const bool first : {false, true})
        for (const Shape& operand : {Shape{1, 5, 1, 1}, Shape{5, 1, 1}, Shape{3, 5, 1, 1}})
            for (const bool packed : {false, true}) {
                Value big = packedValue({3, 5, 3, 2}, 22), small = randomValue(operand, 23);
                if (packed) small.packed = operand.rank() == 4;
                small.constant = !small.packed;
                expectSameAsCpu(
                    first ? binaryCase(7, big, small, {3, 5, 3, 2}) : binaryCase(1, small, big, {3, 5, 3, 2}),
                    1e-5, -1);
                expectSameAsCpu(binaryCase(10, big, small, {3, 5, 3, 2}), 0, -1);
            }
}

TEST(Binary, broadcast) {
    const Shape shapes[][3] = {
        {{2, 3, 4, 5}, {5}, {2, 3, 4, 5}},
        {{2, 3, 4, 8}, {8}, {2, 3, 4, 8}},
        {{2, 3, 4, 8}, {4, 1}, {2, 3, 4, 8}},
        {{2, 3, 4, 5}, {3, 1, 1}, {2, 3, 4, 5}},
        {{2, 1, 4, 1}, {1, 3, 1, 8}, {2, 3, 4, 8}},
        {{2, 1, 4, 1, 3, 1}, {1, 3, 1, 2, 1, 5}, {2, 3, 4, 2, 3, 5}},
        {{7, 1}, {1, 9}, {7, 9}},
        {{6, 1, 5}, {6, 4, 5}, {6, 4, 5}},
        {{1, 3, 4}, {5, 3, 4}, {5, 3, 4}},
        {{1, 1}, {1, 1}, {1, 1}},
    };
    for (const auto& s : shapes)
        for (const bool swap : {false, true})
            for (const int code : {1, 12}) {
                const Value a = randomValue(s[swap], 24), b = randomValue(s[!swap], 25);
                expectSameAsCpu(binaryCase(code, a, b, s[2]), 1e-6, code == 1 ? 2e-2 : 0);
            }
    // A packed operand that does not fit beside the other is unpacked.
    expectSameAsCpu(binaryCase(0, packedValue({2, 5, 3, 4}, 26), randomValue({4}, 27), {2, 5, 3, 4}), 1e-6);
    expectSameAsCpu(binaryCase(0, packedValue({2, 5, 3, 4}, 26), packedValue({2, 1, 3, 4}, 27), {2, 5, 3, 4}),
                    1e-6);
    expectRefused(binaryCase(0, randomValue({2, 1, 2, 1, 2, 1, 2}, 1), randomValue({1, 3, 1, 3, 1, 3, 1}, 2),
                             {2, 3, 2, 3, 2, 3, 2}),
                  "axes");
}

}  // namespace mnnc::vulkan::testing
