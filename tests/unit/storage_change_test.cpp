// Int8 tensors that change between rows and blocks of channels: maps smaller and larger than squares of eight bytes.
#include <gtest/gtest.h>

#include "quant_net.h"

namespace mnnc::test {
namespace {

class ByteNet : public QuantNet {
  public:
    int identity(int x, int channels) {
        wire::Convolution2DT conv = makeConv(channels, channels, 0);
        conv.quanParameter = std::make_unique<wire::IDSTQuanT>();
        conv.quanParameter->type = 4;
        conv.quanParameter->quantScale = 1;
        for (int i = 0; i < channels * channels; ++i)
            conv.quanParameter->buffer.push_back(static_cast<int8_t>(i % (channels + 1) == 0 ? 100 : 0));
        conv.quanParameter->alpha.assign(static_cast<size_t>(channels), 0.01f);
        conv.bias.assign(static_cast<size_t>(channels), 0.0f);
        conv.symmetricQuan = std::make_unique<wire::QuantizedFloatParamT>();
        return add(wire::OpType::Convolution, {x}, std::move(conv));
    }
};

// Codes leave a convolution in blocks, are transposed as rows, and enter the next one in blocks.
TEST(StorageChange, BytesKeepTheirPlaces) {
    for (const int channels : {3, 8, 16, 21, 40})
        for (const int height : {1, 3, 8, 19})
            for (const int width : {1, 7, 16, 33}) {
                ByteNet n;
                const int x = n.NetBuilder::input({2, channels, height, width}), a = n.identity(x, channels),
                          b = n.permute(a, {0, 1, 3, 2}), c = n.identity(b, channels);
                for (const int id : {x, a, b, c}) n.quant(id, 0.03f, 0);
                const NetResult result = runNet(n.finish({c}));
                ASSERT_EQ(result.count("ConvInt8"), 2U);
                for (int plane = 0; plane < 2 * channels; ++plane)
                    for (int i = 0; i < height * width; ++i) {
                        const int from = plane * height * width + i % height * width + i / height;
                        const float value = 3 * std::sin(static_cast<float>(from * 7 + 1));
                        const float got = result.outputs[0][static_cast<size_t>(plane * height * width + i)];
                        ASSERT_NEAR(got, value, 0.0151f) << channels << " " << height << " " << width << " " << i;
                    }
            }
}

}  // namespace
}  // namespace mnnc::test
