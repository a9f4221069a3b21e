// Convolutions and deconvolutions: every kernel, odd shapes, every form of parameters.
#include "ops/convolution.h"

#include <gtest/gtest.h>

#include "mnn_generated.h"
#include "vulkan_harness.h"

namespace mnnc::vulkan::testing {

namespace {

constexpr double kTolerance = 1e-5;

// Parameters with weights of their own instead of a model's.
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
    int givenHeight = 0, givenWidth = 0;  // of the output, where they do not follow
};

OpCase makeCase(const Conv& conv) {
    auto params = std::make_shared<TestConv>();
    params->kernelY = conv.kh, params->kernelX = conv.kw;
    params->strideY = conv.strideY, params->strideX = conv.strideX;
    params->dilateY = conv.dilateY, params->dilateX = conv.dilateX;
    params->padMode = conv.mode;
    params->pads = conv.pads;
    params->outPads = conv.outPads;
    params->group = conv.group;
    params->relu = conv.relu, params->relu6 = conv.relu6;
    params->outputCount = conv.oc;

    OpCase c;
    c.type = conv.type;
    c.params = params;
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
    Tensor weightTensor;
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

void check(const std::vector<Conv>& cases) {
    for (const Conv& conv : cases) {
        SCOPED_TRACE(::testing::Message() << "kernel " << conv.kh << "x" << conv.kw << " stride "
                                          << conv.strideY << "x" << conv.strideX << " dilate " << conv.dilateY
                                          << "x" << conv.dilateX << " groups " << conv.group);
        expectSameAsCpu(makeCase(conv), kTolerance);
    }
}

}  // namespace

TEST(Convolution, pointwise) {
    check({
        {.input = {1, 3, 5, 7}, .oc = 5},
        {.input = {2, 6, 9, 11}, .oc = 33, .relu = true},
        {.input = {1, 64, 23, 24}, .oc = 40, .relu6 = true},
        {.input = {3, 130, 4, 4}, .oc = 70},
        {.input = {1, 8, 33, 31}, .oc = 1, .bias = false},
        {.input = {1, 5, 40, 1}, .oc = 9},
        {.input = {2, 5, 6}, .oc = 9},
    });
}

TEST(Convolution, fullyConnected) {
    check({
        {.input = {1, 1}, .oc = 1},
        {.input = {1, 70}, .oc = 130, .relu = true},
        {.input = {3, 33, 1, 1}, .oc = 10},
        {.input = {8, 257, 1, 1}, .oc = 6, .relu6 = true},
        {.input = {1, 5, 2, 3}, .oc = 7},
        {.input = {3, 6, 1, 2}, .oc = 7, .bias = false},
        {.input = {40, 18}, .oc = 7},
    });
}

TEST(Convolution, window) {
    check({
        {.input = {1, 3, 13, 11},
         .oc = 10,
         .kh = 3,
         .kw = 3,
         .strideY = 2,
         .strideX = 2,
         .pads = {1, 1, 1, 1}},
        {.input = {2, 5, 7, 6}, .oc = 9, .kh = 3, .kw = 3, .pads = {1, 1, 1, 1}, .relu = true},
        {.input = {1, 1, 9, 9}, .oc = 4, .kh = 5, .kw = 2, .strideY = 1, .strideX = 2, .pads = {2, 0, 2, 1}},
        {.input = {1, 7, 12, 10},
         .oc = 6,
         .kh = 3,
         .kw = 3,
         .dilateY = 2,
         .dilateX = 3,
         .pads = {2, 3, 2, 3}},
        {.input = {1, 9, 1, 1}, .oc = 8, .kh = 3, .kw = 3, .pads = {1, 1, 1, 1}},
        {.input = {2, 6, 5, 4}, .oc = 13, .kh = 5, .kw = 4},
        {.input = {1, 4, 8, 9}, .oc = 4, .kh = 3, .kw = 3, .pads = {-1, -2, 1, 0}},
        {.input = {1, 16, 20, 21}, .oc = 16, .kh = 3, .kw = 3, .pads = {-1, -2, 1, 0}},
        {.input = {1, 4, 6, 6}, .oc = 4, .strideY = 3, .strideX = 3, .mode = ConvPad::Same},
        {.input = {1, 6, 7, 8}, .oc = 5, .kh = 3, .kw = 3, .strideY = 2, .strideX = 2, .mode = ConvPad::Same},
        {.input = {1, 6, 7, 8}, .oc = 5, .kh = 3, .kw = 2, .mode = ConvPad::Valid},
        {.input = {2, 6, 17}, .oc = 5, .kh = 3, .pads = {1, 0, 1, 0}},
        {.input = {1, 3, 40, 41}, .oc = 64, .kh = 3, .kw = 3, .pads = {1, 1, 1, 1}, .relu6 = true},
    });
}

// Large enough for the largest tiles.
TEST(Convolution, large) {
    check({
        {.input = {1, 9, 100, 127}, .oc = 254, .relu = true},
        {.input = {2, 3, 71, 97}, .oc = 252, .kh = 3, .kw = 3, .pads = {1, 1, 1, 1}},
    });
}

// Deep and small: the depth is cut into slices; under a forced range the weights are cut into parts.
TEST(Convolution, deep) {
    check({
        {.input = {1, 258, 4, 5}, .oc = 30, .kh = 3, .kw = 3, .pads = {1, 1, 1, 1}, .relu = true},
        {.input = {2, 64, 7, 7},
         .oc = 41,
         .kh = 3,
         .kw = 3,
         .strideY = 2,
         .strideX = 2,
         .pads = {1, 1, 1, 1}},
        {.input = {1, 600, 4, 4}, .oc = 45},
        {.input = {1, 900}, .oc = 50},
    });
}

TEST(Convolution, grouped) {
    check({
        {.input = {2, 16, 6, 7}, .oc = 24, .kh = 3, .kw = 3, .pads = {1, 1, 1, 1}, .group = 2, .relu = true},
        {.input = {1, 12, 9, 5}, .oc = 12, .group = 3},
        {.input = {2, 6, 5, 5}, .oc = 9, .kh = 3, .kw = 2, .strideY = 2, .strideX = 1, .group = 3},
        {.input = {1, 5, 6, 6}, .oc = 10, .kh = 3, .kw = 3, .pads = {1, 1, 1, 1}, .group = 5, .relu6 = true},
        {.input = {1, 6, 6, 6}, .oc = 8, .kh = 3, .kw = 3, .dilateY = 2, .dilateX = 2, .group = 2},
    });
}

TEST(Convolution, depthwise) {
    const OpType type = OpType::ConvolutionDepthwise;
    check({
        {.type = type, .input = {2, 5, 9, 7}, .oc = 5, .kh = 3, .kw = 3, .pads = {1, 1, 1, 1}, .relu = true},
        {.type = type, .input = {1, 8, 11, 12}, .oc = 8, .kh = 3, .kw = 3, .strideY = 2, .strideX = 2},
        {.type = type,
         .input = {1, 6, 12, 12},
         .oc = 6,
         .kh = 5,
         .kw = 3,
         .dilateY = 2,
         .dilateX = 3,
         .pads = {4, 3, 4, 3}},
        {.type = type, .input = {1, 1, 5, 5}, .oc = 1, .kh = 3, .kw = 3, .pads = {1, 1, 1, 1}},
        {.type = type, .input = {3, 7, 1, 1}, .oc = 7, .kh = 3, .kw = 3, .pads = {1, 1, 1, 1}},
        {.type = type, .input = {1, 4, 7, 6}, .oc = 4, .kh = 7, .kw = 6, .bias = false},
        {.type = type, .input = {1, 4, 7, 9}, .oc = 4, .kh = 2, .kw = 2, .pads = {-1, -1, 0, 0}},
        {.type = type, .input = {1, 4, 27, 29}, .oc = 4, .kh = 3, .kw = 3, .pads = {-2, -3, 0, 0}},
        {.type = OpType::Convolution, .input = {1, 9, 7, 9}, .oc = 9, .kh = 3, .kw = 3, .group = 9},
    });
}

// Large enough for invocations that make several outputs.
TEST(Convolution, depthwiseRows) {
    const OpType type = OpType::ConvolutionDepthwise;
    check({
        {.type = type,
         .input = {1, 62, 97, 95},
         .oc = 62,
         .kh = 3,
         .kw = 3,
         .pads = {1, 1, 1, 1},
         .relu6 = true},
        {.type = type,
         .input = {2, 33, 151, 121},
         .oc = 33,
         .kh = 5,
         .kw = 5,
         .strideY = 2,
         .strideX = 2,
         .pads = {2, 2, 2, 2}},
        {.type = type,
         .input = {1, 36, 96, 95},
         .oc = 36,
         .kh = 3,
         .kw = 3,
         .dilateY = 2,
         .dilateX = 2,
         .pads = {2, 2, 2, 2}},
    });
}

TEST(Convolution, deconvolution) {
    const OpType type = OpType::Deconvolution;
    check({
        {.type = type, .input = {1, 3, 4, 5}, .oc = 5, .kh = 3, .kw = 3, .relu = true},
        {.type = type,
         .input = {2, 6, 5, 7},
         .oc = 9,
         .kh = 4,
         .kw = 4,
         .strideY = 2,
         .strideX = 2,
         .pads = {1, 1, 1, 1}},
        {.type = type, .input = {1, 20, 9, 6}, .oc = 70, .kh = 2, .kw = 2, .strideY = 2, .strideX = 2},
        {.type = type,
         .input = {1, 5, 4, 4},
         .oc = 6,
         .kh = 3,
         .kw = 2,
         .strideY = 3,
         .strideX = 1,
         .dilateY = 2,
         .dilateX = 2,
         .pads = {1, 0, 0, 1},
         .relu6 = true},
        {.type = type,
         .input = {1, 5, 4, 6},
         .oc = 6,
         .kh = 3,
         .kw = 3,
         .strideY = 4,
         .strideX = 2,
         .dilateY = 2,
         .dilateX = 2,
         .pads = {1, 1, 1, 1},
         .outPads = {1, 1}},
        {.type = type, .input = {2, 5, 3, 3}, .oc = 4, .strideY = 3, .strideX = 3},
        {.type = type, .input = {1, 5, 3, 3}, .oc = 4},
        {.type = type,
         .input = {1, 5, 4, 3},
         .oc = 4,
         .kh = 3,
         .kw = 3,
         .strideY = 2,
         .strideX = 2,
         .mode = ConvPad::Same,
         .givenHeight = 7,
         .givenWidth = 5},
        {.type = type,
         .input = {1, 5, 4, 3},
         .oc = 4,
         .kh = 3,
         .kw = 3,
         .strideY = 2,
         .strideX = 2,
         .mode = ConvPad::Same,
         .givenHeight = 8,
         .givenWidth = 1},
        {.type = type,
         .input = {1, 4, 3, 3},
         .oc = 4,
         .kh = 3,
         .kw = 3,
         .strideY = 2,
         .strideX = 2,
         .pads = {-1, -2, 0, 0}},
        {.type = type, .input = {1, 200, 3, 3}, .oc = 24, .kh = 4, .kw = 4, .strideY = 2, .strideX = 2},
        {.type = type, .input = {2, 6, 9}, .oc = 5, .kh = 4, .strideY = 2, .pads = {1, 0, 1, 0}},
        {.type = type, .input = {1, 3, 2, 2}, .oc = 2, .kh = 70, .kw = 3, .strideY = 65, .strideX = 2},
    });
}

TEST(Convolution, deconvolutionGrouped) {
    const OpType type = OpType::Deconvolution;
    check({
        {.type = type,
         .input = {2, 8, 5, 4},
         .oc = 16,
         .kh = 3,
         .kw = 3,
         .strideY = 2,
         .strideX = 2,
         .group = 2},
        {.type = type,
         .input = {1, 6, 5, 4},
         .oc = 9,
         .kh = 3,
         .kw = 3,
         .strideY = 2,
         .strideX = 2,
         .group = 3,
         .relu = true},
        {.type = type, .input = {1, 10, 5, 4}, .oc = 5, .kh = 2, .kw = 3, .dilateY = 3, .group = 5},
    });
}

TEST(Convolution, deconvolutionDepthwise) {
    const OpType type = OpType::DeconvolutionDepthwise;
    check({
        {.type = type,
         .input = {2, 5, 4, 6},
         .oc = 5,
         .kh = 4,
         .kw = 4,
         .strideY = 2,
         .strideX = 2,
         .pads = {1, 1, 1, 1},
         .relu = true},
        {.type = type,
         .input = {1, 8, 4, 6},
         .oc = 8,
         .kh = 3,
         .kw = 2,
         .strideY = 3,
         .strideX = 1,
         .dilateY = 2,
         .dilateX = 2,
         .pads = {1, -1, 1, 1}},
        {.type = type,
         .input = {1, 1, 4, 4},
         .oc = 1,
         .kh = 3,
         .kw = 3,
         .strideY = 2,
         .strideX = 2,
         .bias = false},
    });
}

TEST(Convolution, tensorWeights) {
    check({
        {.input = {2, 6, 7, 5},
         .oc = 9,
         .kh = 3,
         .kw = 3,
         .pads = {1, 1, 1, 1},
         .relu = true,
         .tensors = true},
        {.input = {1, 6, 7, 5}, .oc = 10, .tensors = true, .bias = false},
        {.input = {1, 8, 6, 5}, .oc = 6, .kh = 3, .kw = 3, .group = 2, .tensors = true},
        {.type = OpType::ConvolutionDepthwise,
         .input = {1, 7, 6, 5},
         .oc = 7,
         .kh = 3,
         .kw = 3,
         .tensors = true},
        {.type = OpType::Deconvolution,
         .input = {2, 5, 4, 5},
         .oc = 6,
         .kh = 4,
         .kw = 3,
         .strideY = 2,
         .strideX = 2,
         .tensors = true},
        {.type = OpType::DeconvolutionDepthwise,
         .input = {1, 5, 4, 5},
         .oc = 5,
         .kh = 2,
         .kw = 2,
         .strideY = 2,
         .strideX = 2,
         .tensors = true,
         .bias = false},
    });
}

}  // namespace mnnc::vulkan::testing
