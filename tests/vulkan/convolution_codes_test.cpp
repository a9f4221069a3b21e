// Convolutions whose weights stay int8 codes on the device: the memory mode Low.
#include "convolution_case.h"

namespace mnnc::vulkan::test {

namespace {

// The weights of the case as codes: `pieces` scales for each output channel, and minima if `pairs`.
OpCase codesCase(const Conv& conv, int64_t pieces, bool pairs) {
    OpCase c = makeCase(conv);
    const auto params = std::const_pointer_cast<TestConv>(std::static_pointer_cast<const TestConv>(c.params));
    wire::Convolution2DT table;
    params->table->UnPackTo(&table);
    table.quanParameter = std::make_unique<wire::IDSTQuanT>();
    wire::IDSTQuanT& quan = *table.quanParameter;
    quan.type = 4;
    quan.quantScale = 1;
    quan.aMin = -128;
    quan.readType = pairs ? conv.oc : 0;
    for (size_t i = 0; i < table.weight.size(); ++i)
        quan.buffer.push_back(static_cast<int8_t>(i * 37 % 256 - 128));
    for (int64_t k = 0; k < conv.oc * pieces; ++k) {
        if (pairs) quan.alpha.push_back(0.1f * static_cast<float>(k % 5) - 0.3f);
        quan.alpha.push_back(0.01f * static_cast<float>(k % 7 - 3));
    }
    table.weight.clear();
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(wire::Convolution2D::Pack(builder, &table));
    params->bytes = builder.Release();
    params->table = flatbuffers::GetRoot<wire::Convolution2D>(params->bytes.data());
    c.memory = MemoryMode::Low;
    return c;
}

void checkCodes(const Conv& conv, std::initializer_list<int64_t> pieces) {
    for (const int64_t each : pieces)
        for (const bool pairs : {false, true}) {
            SCOPED_TRACE(::testing::Message() << each << " pieces, " << (pairs ? "pairs" : "scales"));
            expectSameAsCpu(codesCase(conv, each, pairs), kTolerance);
        }
}

Conv window(Shape input, int oc, int kernel, int stride, int group = 1) {
    Conv conv;
    conv.input = input;
    conv.oc = oc;
    conv.kh = conv.kw = kernel;
    conv.strideY = conv.strideX = stride;
    conv.pads = {kernel / 2, kernel / 2, kernel / 2, kernel / 2};
    conv.group = group;
    return conv;
}

}  // namespace

TEST(ConvolutionCodes, Products) {
    checkCodes(window({2, 13, 9, 7}, 19, 3, 1), {1});
    checkCodes(window({1, 24, 15, 15}, 10, 3, 2), {1, 2, 6});
    checkCodes(window({1, 64, 20, 20}, 33, 1, 1), {1, 2, 16});
    // Few work groups: slices of the depth.
    checkCodes(window({1, 256, 3, 3}, 24, 3, 1), {1, 8});
}

TEST(ConvolutionCodes, Groups) {
    checkCodes(window({1, 16, 9, 9}, 24, 3, 1, 2), {1, 2});
    checkCodes(window({1, 6, 5, 5}, 9, 3, 1, 3), {1});
}

TEST(ConvolutionCodes, FullyConnected) {
    for (const int64_t batch : {1, 3, 8}) {
        checkCodes(window({batch, 70, 1, 1}, 50, 1, 1), {1});
        checkCodes(window({batch, 128, 1, 1}, 130, 1, 1), {1, 4, 32});
    }
}

TEST(ConvolutionCodes, Epilogues) {
    Conv conv = window({1, 16, 9, 9}, 20, 3, 1);
    conv.relu6 = true;
    checkCodes(conv, {1, 2});
}

// Forms whose codes become floats: pieces that are no whole input blocks, depthwise and transposed convolutions.
TEST(ConvolutionCodes, OtherForms) {
    checkCodes(window({1, 18, 5, 5}, 8, 3, 1), {3});
    Conv conv = window({1, 12, 9, 9}, 12, 3, 1);
    conv.type = OpType::ConvolutionDepthwise;
    checkCodes(conv, {1});
    conv = window({1, 12, 5, 5}, 8, 3, 2);
    conv.type = OpType::Deconvolution;
    checkCodes(conv, {1});
}

TEST(ConvolutionCodes, TakeAQuarterOfTheMemory) {
    OpCase c = codesCase(window({1, 256, 9, 9}, 256, 3, 1), 1, false);
    const int64_t codes = deviceWeightBytes(c);
    c.memory = MemoryMode::Normal;
    EXPECT_EQ(deviceWeightBytes(c), 256 * 256 * 9 * 4 + 256 * 4);
    EXPECT_EQ(codes, 256 * 256 * 9 + 2 * 256 * 4);
}

}  // namespace mnnc::vulkan::test
