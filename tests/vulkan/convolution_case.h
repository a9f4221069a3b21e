// Convolutions and deconvolutions for tests, with their own weights.
#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "mnn_objects_generated.h"
#include "ops/convolution.h"
#include "vulkan_harness.h"

namespace mnnc::vulkan::test {

inline constexpr double kTolerance = 1e-5;

// Parameters with their own weights instead of a model's.
struct TestConv : ConvParams {
    flatbuffers::DetachedBuffer bytes;
};

struct Conv {
    OpType type = OpType::Convolution;
    Shape input;
    int oc = 1;
    int kh = 1, kw = 1;
    int strideY = 1, strideX = 1;
    int dilateY = 1, dilateX = 1;
    std::vector<int> pads = {};
    ConvPad mode = ConvPad::Explicit;
    int group = 1;
    bool relu = false, relu6 = false;
    std::vector<int> outPads = {};
    bool tensors = false, bias = true;
    int givenHeight = 0, givenWidth = 0;  // of the output, where they do not follow from the other parameters
};

inline OpCase makeCase(const Conv& conv) {
    auto params = std::make_shared<TestConv>();
    params->kernelY = conv.kh, params->kernelX = conv.kw;
    params->strideY = conv.strideY, params->strideX = conv.strideX;
    params->dilateY = conv.dilateY, params->dilateX = conv.dilateX;
    params->padMode = conv.mode;
    params->pads = conv.pads;
    params->outPads = conv.outPads;
    params->group = conv.group;
    params->outputCount = conv.oc;

    OpCase c;
    c.type = conv.type;
    c.params = params;
    if (conv.relu || conv.relu6) c.epilogue.lo = 0;
    if (conv.relu6) c.epilogue.hi = 6;
    c.inputs = {randomValue(conv.input, 1)};
    c.inputs[0].packed = true;
    const int groups = isDepthwise(conv.type) ? static_cast<int>(conv.input[1]) : conv.group;
    const int64_t ic = conv.input[1];
    const Shape shape = isDeconvolution(conv.type) ? Shape{ic, conv.oc / groups, conv.kh, conv.kw}
                                                   : Shape{conv.oc, ic / groups, conv.kh, conv.kw};
    const Value weights = randomValue(shape, 2);
    const Value bias = randomValue({conv.oc}, 3, -2, 2);
    if (conv.tensors) {
        c.inputs.push_back(weights);
        if (conv.bias) c.inputs.push_back(bias);
    } else {
        wire::Convolution2DT table;
        table.weight = weights.floats;
        if (conv.bias) table.bias = bias.floats;
        flatbuffers::FlatBufferBuilder builder;
        builder.Finish(wire::Convolution2D::Pack(builder, &table));
        params->bytes = builder.Release();
        params->table = flatbuffers::GetRoot<wire::Convolution2D>(params->bytes.data());
    }
    Operand weightTensor;
    weightTensor.shape = shape;
    const int64_t given[2] = {conv.givenHeight, conv.givenWidth};
    const ConvWindow w = convWindow(conv.type, *params, conv.input, conv.tensors ? &weightTensor : nullptr,
                                    conv.givenHeight > 0 ? given : nullptr, "case");
    Shape out = conv.input;
    out[1] = conv.oc;
    if (out.rank() > 2) out[2] = w.oh;
    if (out.rank() > 3) out[3] = w.ow;
    c.outputs.resize(1);
    c.outputs[0].shape = out;
    return c;
}

inline void check(const std::vector<Conv>& cases) {
    for (const Conv& conv : cases) {
        SCOPED_TRACE(::testing::Message()
                     << "kernel " << conv.kh << "x" << conv.kw << " stride " << conv.strideY << "x" << conv.strideX
                     << " dilate " << conv.dilateY << "x" << conv.dilateX << " groups " << conv.group);
        expectSameAsCpu(makeCase(conv), kTolerance);
    }
}

}  // namespace mnnc::vulkan::test
