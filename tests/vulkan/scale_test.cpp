// Scale.
#include "ops/scale.h"

#include "channel_cases.h"

namespace mnnc::vulkan::test {

TEST(Scale, PerChannel) {
    overChannels(OpType::Scale, [](int64_t channels) {
        auto params = std::make_shared<ScaleParams>();
        params->scale = randomValue({channels}, 10).floats;
        params->bias = randomValue({channels}, 11).floats;
        return params;
    });
}

}  // namespace mnnc::vulkan::test
