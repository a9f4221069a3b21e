// UnaryOp.
#include "ops/unary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "vulkan_harness.h"

namespace mnnc::vulkan::test {

namespace {

ParamsPtr unaryParams(int code) {
    auto params = std::make_shared<UnaryParams>();
    params->code = code;
    return params;
}

// Returns arguments for which a code is defined, including critical ones.
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

TEST(Unary, EveryCode) {
    for (int code = 0; code <= 34; ++code) {
        SCOPED_TRACE(code);
        const bool steep = code == 7 || code == 11 || code == 15 || code == 19 || code == 24 || code == 28;
        expectSameAsCpu(sameShape(OpType::UnaryOp, unaryParams(code), asPacked(argumentsOf(code), code % 2 == 1)), 1e-6,
                        steep ? 3e-2 : 2e-2);
    }
}

TEST(Unary, Shapes) {
    for (const Shape& shape : {Shape{1}, Shape{1, 1}, Shape{2, 3, 5, 7}, Shape{3, 6, 1}, Shape{67}})
        for (const bool packed : {false, true})
            if (!packed || shape.rank() > 1)
                expectSameAsCpu(
                    sameShape(OpType::UnaryOp, unaryParams(29), asPacked(randomValue(shape, 2, -8, 8), packed)), 1e-6);
}

// Large angles need many bits of pi.
TEST(Unary, LargeArguments) {
    Value value;
    value.shape = {9, 16};
    for (int i = 0; i < 144; ++i)
        value.floats.push_back((i % 2 ? -1.0f : 1.0f) * std::ldexp(1.0f + static_cast<float>(i) / 91.0f, i % 40));
    for (const int code : {9, 10, 11, 14, 20, 29, 30, 25, 26, 33, 34})
        expectSameAsCpu(sameShape(OpType::UnaryOp, unaryParams(code), value), code == 11 ? 1e-5 : 1e-6, -1);
    for (float& x : value.floats) x = std::ldexp(x, 80);
    for (const int code : {9, 10}) expectSameAsCpu(sameShape(OpType::UnaryOp, unaryParams(code), value), 1e-6, -1);
    for (float& x : value.floats) x = std::fabs(x);
    for (const int code : {8, 16, 18, 20})
        expectSameAsCpu(sameShape(OpType::UnaryOp, unaryParams(code), value), 1e-6, -1);
}

// GELU and SiLU are nearly zero there, where e^-x is beyond the largest number.
TEST(Unary, FarBelow) {
    Value value;
    value.shape = {8};
    value.floats = {-3.4e38f, -std::numeric_limits<float>::infinity(), -1e20f, -1000, -89, -87, -20, 3.4e38f};
    for (const int code : {32, 33, 34})
        for (size_t i = 0; i < value.floats.size(); ++i) {
            Value one = value;
            one.floats.assign(8, value.floats[i]);
            expectSameAsCpu(sameShape(OpType::UnaryOp, unaryParams(code), one), 1e-6, -1);
        }
}

// Where results are small they must be relatively exact: they are scaled up, so that the tolerance has an effect.
TEST(Unary, SmallArguments) {
    for (const int code : {8, 9, 11, 12, 14, 16, 19, 20, 21, 25, 27, 28, 30, 33}) {
        SCOPED_TRACE(code);
        Value value = randomValue({4, 33}, 5, -1e-3f, 1e-3f);
        if (code == 8)
            for (float& x : value.floats) x = 1 + x;
        expectSameAsCpu(sameShape(OpType::UnaryOp, unaryParams(code), asPacked(value)), 1e-9, -1);
    }
}

TEST(Unary, Integers) {
    Value value = randomInts({2, 5, 9}, 3, -100000, 100000);
    value.ints[0] = std::numeric_limits<int32_t>::min();
    value.ints[1] = 0;
    for (const int code : {0, 1, 4, 22})
        for (const bool packed : {false, true})
            expectSameAsCpu(sameShape(OpType::UnaryOp, unaryParams(code), asPacked(value, packed)), 0);
    expectRefused(sameShape(OpType::UnaryOp, unaryParams(4), Value{{0, 3}, {}}), "empty");
}

}  // namespace mnnc::vulkan::test
