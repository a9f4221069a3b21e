// Convolutions whose weights stay codes of 8 or 4 bits on the device: the memory mode Low.
#include "convolution_case.h"

namespace mnnc::vulkan::test {

namespace {

// Returns a stream of `count` codes of 4 bits, -8 to 7: its dims, 16 samples, two codes in a byte.
std::vector<int8_t> halfByteCodes(size_t outputs, size_t count) {
    std::vector<int8_t> stream{2};
    for (const size_t extent : {outputs, count / outputs})
        for (const size_t byte : {extent, extent >> 8}) stream.push_back(static_cast<int8_t>(byte));
    stream.push_back(16);
    for (int sample = -8; sample < 8; ++sample) stream.push_back(static_cast<int8_t>(sample));
    const auto code = [&](size_t i) { return i < count ? (i * 37 + i / 16) % 16 : 0; };
    for (size_t i = 0; i < count; i += 2) stream.push_back(static_cast<int8_t>(code(i) << 4 | code(i + 1)));
    return stream;
}

// Returns the case with its weights as codes: `pieces` scales for each output channel, and minima if `pairs`.
OpCase codesCase(const Conv& conv, int64_t pieces, bool pairs, int bits = 8) {
    OpCase c = makeCase(conv);
    const auto params = std::const_pointer_cast<TestConv>(std::static_pointer_cast<const TestConv>(c.params));
    wire::Convolution2DT table;
    params->table->UnPackTo(&table);
    table.quanParameter = std::make_unique<wire::IDSTQuanT>();
    wire::IDSTQuanT& quan = *table.quanParameter;
    quan.type = bits == 4 ? 1 : 4;
    quan.quantScale = 1;
    quan.aMin = bits == 4 ? -8 : -128;
    quan.readType = pairs ? conv.oc : 0;
    const size_t count = table.weight.size();
    if (bits == 4) quan.buffer = halfByteCodes(static_cast<size_t>(conv.oc), count);
    for (size_t i = 0; bits == 8 && i < count; ++i) quan.buffer.push_back(static_cast<int8_t>(i * 37 % 256 - 128));
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
        for (const bool pairs : {false, true})
            for (const int bits : {8, 4}) {
                SCOPED_TRACE(::testing::Message()
                             << each << " pieces, " << (pairs ? "pairs" : "scales") << ", " << bits << " bits");
                expectSameAsCpu(codesCase(conv, each, pairs, bits), kTolerance);
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
    // There are few work groups, so the depth is cut into slices.
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

TEST(ConvolutionCodes, TakeThePartOfTheMemoryThatTheirBitsAre) {
    const Conv conv = window({1, 256, 9, 9}, 256, 3, 1);
    constexpr int64_t kWeights = 256 * 256 * 9, kFloats = 256 * 4;
    for (const int64_t bits : {8, 4}) {
        OpCase c = codesCase(conv, 1, false, static_cast<int>(bits));
        EXPECT_EQ(deviceWeightBytes(c), kWeights * bits / 8 + 2 * kFloats) << bits << " bits";
        c.memory = MemoryMode::Normal;
        EXPECT_EQ(deviceWeightBytes(c), kWeights * 4 + kFloats) << bits << " bits";
    }
}

}  // namespace mnnc::vulkan::test
