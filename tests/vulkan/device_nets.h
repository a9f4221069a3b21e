// Nets of several operators on the device against the same nets on the CPU.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>

#include "unit/net_builder.h"
#include "validation_guard.h"

namespace mnnc::vulkan::test {

using mnnc::test::NetBuilder;
using mnnc::test::NetResult;

// Runs the net on the device, with the changes of `set` to its backend; compares every output with the CPU's, where
// each operator runs separately. A value may differ by tolerance * (1 + largest |reference|).
inline NetResult expectNetSameAsCpu(
    const wire::NetT& net, double tolerance, const std::function<void(BackendConfig&)>& set = [](BackendConfig&) {}) {
    const NetResult reference = mnnc::test::runUnfused(net);
    SessionConfig config;
    config.forwardType = ForwardType::Vulkan;
    set(config.backend);
    const uint64_t before = ValidationGuard::unexpected();
    NetResult result = mnnc::test::runNet(net, config);
    EXPECT_EQ(ValidationGuard::unexpected(), before) << "the validation layer has messages";
    for (size_t k = 0; k < net.outputName.size(); ++k) {
        const std::vector<float>&a = reference.outputs[k], &b = result.outputs[k];
        EXPECT_EQ(a.size(), b.size());
        float largest = 0;
        for (const float value : a) largest = std::fmax(largest, std::fabs(value));
        const double allowed = tolerance * (1 + static_cast<double>(largest));
        size_t wrong = 0, first = 0;
        for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
            if (!(std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i])) <= allowed) && wrong++ == 0)
                first = i;
        EXPECT_EQ(wrong, 0u) << "output " << k << ", the first at " << first << ": " << b[first] << " for " << a[first]
                             << "; allowed is " << allowed;
    }
    return result;
}

// Returns "Convolution on vulkan, UnaryOp on cpu".
inline std::string placesOf(const NetResult& result) {
    std::string text;
    for (const OpRecord& op : result.ops)
        text += (text.empty() ? "" : ", ") + std::string(op.type) + " on " + op.backend;
    return text;
}

}  // namespace mnnc::vulkan::test
