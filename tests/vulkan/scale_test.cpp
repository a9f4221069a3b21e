// Scale.
#include "ops/scale.h"

#include "channel_cases.h"
#include "device_nets.h"

namespace mnnc::vulkan::test {

namespace {

std::shared_ptr<ScaleParams> scaleParams(int64_t channels) {
    auto params = std::make_shared<ScaleParams>();
    params->scale = randomValue({channels}, 10).floats;
    params->bias = randomValue({channels}, 11).floats;
    return params;
}

}  // namespace

TEST(Scale, PerChannel) {
    overChannels(OpType::Scale, scaleParams);
}

TEST(Scale, Epilogue) {
    for (const Epilogue& epilogue :
         {Epilogue{.lo = 0}, {.lo = -0.5f, .hi = 1}, {.act = Act::Silu}, {.act = Act::Tanh, .lo = -0.25f, .hi = 0.5f}})
        for (const Shape& shape : kChannelShapes)
            for (const bool packed : {false, true}) {
                OpCase c =
                    sameShape(OpType::Scale, scaleParams(shape[1]), asPacked(randomValue(shape, 6, -3, 3), packed));
                c.epilogue = epilogue;
                expectSameAsCpu(c, 1e-5, 5e-3);
            }
}

TEST(Scale, PlanTakesAnEpilogue) {
    NetBuilder s;
    const int x = s.scale(s.input({2, 5, 7, 6}), 5);
    const wire::NetT net = s.finish({s.clip(s.unary(wire::UnaryOpOperation::TANH, x), -0.5f, 0.25f)});
    EXPECT_EQ(placesOf(expectNetSameAsCpu(net, 1e-5)), "Scale on vulkan");
}

}  // namespace mnnc::vulkan::test
