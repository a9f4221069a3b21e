// Convolution3D and ConvTranspose3D: windows, groups, padding of either sign, activations.
#include "ops/convolution3d.h"

#include <gtest/gtest.h>

#include "mnn_objects_generated.h"
#include "vulkan_harness.h"

namespace mnnc::vulkan::test {

namespace {

using Three = std::array<int, 3>;

struct Conv {
    Shape input;
    int filters = 1, group = 1;
    Three kernel{1, 1, 1}, stride{1, 1, 1}, dilate{1, 1, 1}, begin{}, end{}, extra{};
    bool relu = false, relu6 = false;
};

// Parameters with their own weights instead of a model's.
struct TestConv3d : Conv3dParams {
    flatbuffers::DetachedBuffer bytes;
};

OpCase makeCase(const Conv& conv, bool transposed) {
    auto params = std::make_shared<TestConv3d>();
    params->kernel = conv.kernel;
    params->stride = conv.stride;
    params->dilate = conv.dilate;
    params->begin = conv.begin;
    params->end = conv.end;
    params->extra = conv.extra;
    params->statesPads = true;
    params->transposed = transposed;
    params->group = conv.group;
    params->outputCount = conv.filters;
    params->relu = conv.relu;
    params->relu6 = conv.relu6;
    const int64_t channels = conv.input[1];
    const int64_t taps = int64_t{conv.kernel[0]} * conv.kernel[1] * conv.kernel[2];
    wire::Convolution3DT table;
    table.weight = randomValue({channels * conv.filters / conv.group * taps}, 2).floats;
    table.bias = randomValue({conv.filters}, 3, -2, 2).floats;
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(wire::Convolution3D::Pack(builder, &table));
    params->bytes = builder.Release();
    params->table = flatbuffers::GetRoot<wire::Convolution3D>(params->bytes.data());

    OpCase c;
    c.type = transposed ? OpType::ConvTranspose3D : OpType::Convolution3D;
    c.params = params;
    c.inputs = {asPacked(randomValue(conv.input, 1))};
    const Conv3dWindow w = conv3dWindow(*params, conv.input, "case");
    c.outputs.resize(1);
    c.outputs[0].shape = {w.batch, w.oc, w.out[0], w.out[1], w.out[2]};
    return c;
}

void check(const Conv& conv) {
    for (const bool transposed : {false, true}) {
        SCOPED_TRACE(transposed ? "transposed" : "convolution");
        expectSameAsCpu(makeCase(conv, transposed), 1e-5);
    }
}

const Three kAll{1, 1, 1};

}  // namespace

TEST(Convolution3d, Windows) {
    check({{2, 5, 4, 6, 5}, 7, 1, {3, 3, 3}, kAll, kAll, kAll, kAll});
    check({{1, 8, 3, 4, 3}, 6, 1});
    check({{1, 3, 7, 6, 5}, 9, 1, {2, 3, 4}, {2, 1, 3}, {1, 2, 1}, {1, 0, 2}, {0, 1, 1}});
    check({{1, 6, 5, 4, 3}, 4, 1, {3, 1, 1}, kAll, kAll, {-1, 0, 0}, {0, -1, 0}});
    check({{3, 1, 2, 2, 2}, 1, 1, {2, 2, 2}, {3, 3, 3}, kAll});
    // There are more pixels than one invocation computes.
    check({{1, 6, 6, 72, 81}, 18, 1, {1, 1, 3}, kAll, kAll, {0, 0, 1}, {0, 0, 1}});
}

TEST(Convolution3d, OutputPadding) {
    Conv conv{{1, 5, 3, 4, 3}, 6, 1, {3, 3, 2}, {2, 3, 2}, kAll, kAll, kAll};
    conv.extra = {1, 2, 0};
    expectSameAsCpu(makeCase(conv, true), 1e-5);
}

TEST(Convolution3d, Groups) {
    check({{2, 8, 3, 5, 4}, 12, 2, {3, 3, 3}, kAll, kAll, kAll, kAll});
    check({{1, 6, 3, 5, 4}, 9, 3, {3, 2, 3}, {1, 2, 1}, kAll, kAll, kAll});
    check({{2, 10, 4, 5, 3}, 10, 10, {3, 3, 3}, kAll, kAll, kAll, kAll});
}

TEST(Convolution3d, Activations) {
    Conv conv{{1, 5, 3, 6, 5}, 7, 1, {3, 3, 3}, kAll, kAll, kAll, kAll};
    conv.relu = true;
    check(conv);
    conv.relu6 = true;
    check(conv);
    conv.relu = conv.relu6 = false;
    for (const bool transposed : {false, true}) {
        OpCase c = makeCase(conv, transposed);
        c.epilogue.act = Act::Silu;
        c.epilogue.hi = 0.5f;
        expectSameAsCpu(c, 1e-5);
    }
}

TEST(Convolution3d, ManyProducts) {
    for (const Conv& conv : {Conv{{1, 1024, 7, 7, 8}, 4, 1, {7, 7, 7}}, Conv{{1, 1, 28, 28, 29}, 1, 1, {28, 28, 28}},
                             Conv{{1, 4, 18, 18, 19}, 4, 4, {18, 18, 18}}})
        expectSameAsCpuOrRefused(makeCase(conv, false), "rounds", 1e-4);
}

TEST(Convolution3d, WindowsThatStayOnTheCpu) {
    Conv conv{{1, 1, 3, 3, 3}, 1, 1, {128, 128, 65}, kAll, kAll, {130, 130, 70}, {-3, -3, -3}};
    expectRefused(makeCase(conv, false), "window");
}

}  // namespace mnnc::vulkan::test
