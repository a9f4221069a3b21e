// BinaryOp.
#include "ops/binary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "vulkan_harness.h"

namespace mnnc::vulkan::test {

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
    return asPacked(randomValue(shape, seed, -2, 2));
}

}  // namespace

TEST(Binary, FloatCodes) {
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
        // Quotients that are integers or nearly so jump when inputs are rounded a second time; powers are steep.
        const bool jumps = code == 13 || code == 17 || code == 19 || code == 6 || code == 20;
        expectSameAsCpu(binaryCase(code, a, b, {3, 5, 7}), 1e-6, jumps ? -1 : 2e-2);
        a.packed = b.packed = true;
        expectSameAsCpu(binaryCase(code, a, b, {3, 5, 7}, code == 1), 1e-6, -1);
    }
}

TEST(Binary, AwkwardFloats) {
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
        // Infinities and values out of range are compared for one code only: exact ones.
        for (size_t i = 0; i < x.floats.size(); ++i) {
            const double p = std::pow(static_cast<double>(x.floats[i]), static_cast<double>(y.floats[i]));
            const bool skip =
                code == 6 ? !(std::fabs(p) < 1e38) && std::isfinite(p) : code == 17 && std::fabs(x.floats[i]) > 1e8f;
            if (skip) x.floats[i] = 2, y.floats[i] = 3;
        }
        expectSameAsCpu(binaryCase(code, x, y, {16, 16}), code == 6 ? 1e-6 : 1e-7, -1);
    }
}

TEST(Binary, PowersAreExact) {
    Value a = randomValue({40, 50}, 16, 0.01f, 30), b = randomValue({40, 50}, 17, -20, 20);
    for (size_t i = 0; i < a.floats.size(); ++i)  // results around 1, so that the tolerance is relative
        if (std::fabs(b.floats[i] * std::log(a.floats[i])) > 3) a.floats[i] = std::exp(3 / b.floats[i]);
    expectSameAsCpu(binaryCase(6, a, b, {40, 50}), 3e-7, -1);
}

TEST(Binary, IntCodes) {
    const int32_t low = std::numeric_limits<int32_t>::min(), high = std::numeric_limits<int32_t>::max();
    for (const int code : {0, 1, 2, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 19, 21, 22, 23, 24, 25, 26, 27, 28}) {
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

TEST(Binary, OneValue) {
    for (const bool first : {false, true})
        for (const bool packed : {false, true})
            for (const Shape& one : {Shape{}, Shape{1}, Shape{1, 1, 1, 1}}) {
                Value big = packedValue({2, 5, 3, 7}, 20), small = randomValue(one, 21);
                big.packed = packed;
                for (const bool smallPacked : {false, true}) {
                    if (smallPacked && one.rank() < 2) continue;
                    small.packed = smallPacked;
                    small.constant = !smallPacked;
                    expectSameAsCpu(
                        first ? binaryCase(1, small, big, {2, 5, 3, 7}) : binaryCase(1, big, small, {2, 5, 3, 7}, true),
                        1e-6);
                }
            }
}

TEST(Binary, PerChannel) {
    for (const bool first : {false, true})
        for (const Shape& operand : {Shape{1, 5, 1, 1}, Shape{5, 1, 1}, Shape{3, 5, 1, 1}})
            for (const bool packed : {false, true}) {
                Value big = packedValue({3, 5, 3, 2}, 22), small = randomValue(operand, 23);
                if (packed) small.packed = operand.rank() == 4;
                small.constant = !small.packed;
                expectSameAsCpu(
                    first ? binaryCase(7, big, small, {3, 5, 3, 2}) : binaryCase(1, small, big, {3, 5, 3, 2}), 1e-5,
                    -1);
                expectSameAsCpu(binaryCase(10, big, small, {3, 5, 3, 2}), 0, -1);
            }
}

TEST(Binary, Broadcast) {
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
    expectSameAsCpu(binaryCase(0, packedValue({2, 5, 3, 4}, 26), packedValue({2, 1, 3, 4}, 27), {2, 5, 3, 4}), 1e-6);
    expectRefused(binaryCase(0, randomValue({2, 1, 2, 1, 2, 1, 2}, 1), randomValue({1, 3, 1, 3, 1, 3, 1}, 2),
                             {2, 3, 2, 3, 2, 3, 2}),
                  "axes");
}

}  // namespace mnnc::vulkan::test
