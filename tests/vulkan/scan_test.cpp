// CumSum, CumProd, MatrixBandPart and OneHot.
#include "ops/scan.h"

#include <gtest/gtest.h>

#include "ops/fill.h"
#include "vulkan_harness.h"

namespace mnnc::vulkan::test {

namespace {

OpCase scanCase(OpType type, const ScanParams& params, const Value& input) {
    OpCase c;
    c.type = type;
    c.params = std::make_shared<ScanParams>(params);
    c.inputs = {input};
    c.outputs.resize(1);
    c.outputs[0].shape = input.shape;
    c.outputs[0].isInt = input.isInt;
    return c;
}

void scan(OpType type, int64_t outer, int64_t extent, int64_t inner, const Value& input) {
    for (const bool exclusive : {false, true})
        for (const bool reverse : {false, true}) {
            ScanParams params;
            params.outer = outer;
            params.extent = extent;
            params.inner = inner;
            params.exclusive = exclusive;
            params.reverse = reverse;
            expectSameAsCpu(scanCase(type, params, input), 1e-6, 1e-2);
        }
}

Value whole(std::initializer_list<int32_t> values) {
    Value value;
    value.isInt = true;
    value.shape = {static_cast<int64_t>(values.size())};
    value.ints = values;
    return value;
}

}  // namespace

TEST(Scan, SumsAndProducts) {
    for (const OpType type : {OpType::CumSum, OpType::CumProd}) {
        scan(type, 3, 7, 5, randomValue({3, 7, 5}, 1));
        scan(type, 70, 9, 1, randomValue({70, 9}, 2));
        scan(type, 1, 33, 70, randomInts({33, 70}, 3, -5, 5));
    }
    ScanParams params;
    params.extent = 5000;
    expectRefused(scanCase(OpType::CumSum, params, randomValue({5000}, 1)), "few long ones");
    params.outer = 64;
    params.extent = 70000;
    expectSameAsCpuOrRefused(scanCase(OpType::CumSum, params, randomInts({64, 70000}, 3, -5, 5)), "70000 rounds", 0);
}

TEST(Scan, Bands) {
    for (const auto& [lower, upper] : {std::pair{0, 0}, {-1, 0}, {2, -1}, {-1, -1}, {1, 3}}) {
        OpCase c;
        c.type = OpType::MatrixBandPart;
        c.inputs = {randomValue({3, 9, 7}, 1), whole({lower}), whole({upper})};
        c.outputs.resize(1);
        c.outputs[0].shape = {3, 9, 7};
        expectSameAsCpu(c, 0, 1e-6);
    }
}

TEST(Scan, OneHot) {
    auto params = std::make_shared<OneHotParams>();
    params->outer = 13;
    params->depth = 6;
    params->inner = 7;
    for (const bool isInt : {false, true}) {
        OpCase c;
        c.type = OpType::OneHot;
        c.params = params;
        c.inputs = {randomInts({13, 7}, 1, -1, 6), isInt ? whole({5}) : randomValue({1}, 2),
                    isInt ? whole({-3}) : randomValue({1}, 3)};
        c.outputs.resize(1);
        c.outputs[0].shape = {13, 6, 7};
        c.outputs[0].isInt = isInt;
        expectSameAsCpu(c, 0, 1e-6);
    }
}

}  // namespace mnnc::vulkan::test
