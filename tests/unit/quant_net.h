// Builds nets whose tensors have scales.
#pragma once
#include <cmath>

#include "net_builder.h"

namespace mnnc::test {

inline constexpr int kChannels = 6;

class QuantNet : public NetBuilder {
  public:
    int input() { return NetBuilder::input({1, kChannels, 5, 4}); }
    int conv(int x) {
        wire::Convolution2DT conv = makeConv(kChannels, kChannels, 0);
        conv.quanParameter = std::make_unique<wire::IDSTQuanT>();
        conv.quanParameter->type = 4;
        conv.quanParameter->quantScale = 1;
        for (int i = 0; i < kChannels * kChannels; ++i)
            conv.quanParameter->buffer.push_back(static_cast<int8_t>(i * 7 - 100));
        conv.quanParameter->alpha.assign(kChannels, 0.004f);
        conv.symmetricQuan = std::make_unique<wire::QuantizedFloatParamT>();
        return add(wire::OpType::Convolution, {x}, std::move(conv));
    }
    int sigmoid(int x) { return unary(wire::UnaryOpOperation::SIGMOID, x); }
    int cast(wire::OpType type, int x, wire::QuantizedFloatParamT table) { return add(type, {x}, std::move(table)); }
    int castWithoutTable(wire::OpType type, int x) {
        const int id = tensor();
        net_.oplists.push_back(makeOp(type, "op" + std::to_string(id), {x}, {id}));
        return id;
    }
    int convInt8(int x, wire::Convolution2DT conv) { return add(wire::OpType::ConvInt8, {x}, std::move(conv)); }
    QuantNet& quant(int id, float scale = 0.03f, float zero = 2, float max = 127) {
        auto describe = std::make_unique<wire::TensorDescribeT>();
        describe->index = id;
        describe->quantInfo = std::make_unique<wire::TensorQuantInfoT>();
        describe->quantInfo->scale = scale;
        describe->quantInfo->zero = zero;
        describe->quantInfo->min = -127;
        describe->quantInfo->max = max;
        describe->quantInfo->type = wire::DataType::DT_INT8;
        net_.extraTensorDescribe.push_back(std::move(describe));
        return *this;
    }
};

using Types = std::vector<std::string>;

inline bool onGrid(const std::vector<float>& values, float scale) {
    for (const float value : values)
        if (std::fabs(value / scale - std::round(value / scale)) > 1e-3f) return false;
    return true;
}

}  // namespace mnnc::test
