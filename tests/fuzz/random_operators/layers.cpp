// Layers with weights, windows and norms: with as many weights as the numbers of the table require.
#include <algorithm>

#include "random_operators/draft.h"

namespace fuzz {

using enum wire::OpType;

namespace {

void settleWindow(Draft& d, wire::Convolution2DCommonT& common) {
    common.kernelX = d.number(1, 3);
    common.kernelY = d.number(1, 3);
    common.strideX = d.number(1, 2);
    common.strideY = d.number(1, 2);
    common.dilateX = d.random.oneIn(4) ? 2 : 1;
    common.dilateY = d.random.oneIn(4) ? 2 : 1;
    common.padX = d.number(0, 1);
    common.padY = d.number(0, 1);
    common.padMode = d.random.oneIn(2) ? wire::PadMode::CAFFE : wire::PadMode::SAME;
    common.pads.clear();
    if (d.random.oneIn(4))
        for (int i = 0; i < 4; ++i) common.pads.push_back(d.number(0, 2));
    common.outPads.clear();
    common.hasOutputShape = false;
    common.group = 1;
}

std::vector<int8_t> codes(Draft& d, int64_t count) {
    std::vector<int8_t> values(static_cast<size_t>(count));
    for (auto& value : values) value = static_cast<int8_t>(d.random.next());
    return values;
}

void settleInt8(Draft& d, wire::Convolution2DT& table, int64_t weights) {
    const auto out = static_cast<size_t>(table.common->outputCount);
    table.symmetricQuan = std::make_unique<wire::QuantizedFloatParamT>();
    table.symmetricQuan->weight = codes(d, weights);
    table.symmetricQuan->bias.assign(out, d.number(-9, 9));
    table.symmetricQuan->scale.assign(out, 0.01f);
    table.symmetricQuan->nbits = 8;
}

void settleCodes(Draft& d, wire::Convolution2DT& table, int64_t weights) {
    table.quanParameter = std::make_unique<wire::IDSTQuanT>();
    wire::IDSTQuanT& quan = *table.quanParameter;
    quan.type = 4;
    quan.aMaxOrBits = 8;
    quan.buffer = codes(d, weights);
    quan.alpha.assign(static_cast<size_t>(table.common->outputCount) * (d.random.oneIn(2) ? 2 : 1), 0.01f);
    if (d.random.oneIn(2)) quan.quantScale = 1, quan.aMin = d.number(-1, 0);
    if (d.random.oneIn(3)) quan.scaleIn = quan.scaleOut = 0.1f, quan.has_scaleInt = true;
    table.weight.clear();
}

void settleConvolution(Draft& d, wire::Convolution2DT& table) {
    const bool depthwise = d.op.type == ConvolutionDepthwise || d.op.type == DeconvolutionDepthwise ||
                           d.op.type == DepthwiseConvInt8 || d.op.type == Dilation2D;
    const bool transposed = d.op.type == Deconvolution || d.op.type == DeconvolutionDepthwise;
    if (!table.common) table.common = std::make_unique<wire::Convolution2DCommonT>();
    wire::Convolution2DCommonT& common = *table.common;
    settleWindow(d, common);
    const int group = !depthwise && d.random.oneIn(4) ? 2 : 1;
    const int channels = depthwise ? d.number(1, 9) : group * d.number(1, d.random.oneIn(3) ? 9 : 4);
    common.outputCount = depthwise ? channels : group * d.number(1, d.random.oneIn(3) ? 9 : 4);
    common.inputCount = channels;
    common.group = depthwise ? channels : group;
    const int64_t weights = int64_t{depthwise ? 1 : channels} * common.outputCount * common.kernelX * common.kernelY /
                            (depthwise ? 1 : group);
    d.inputs = {d.floats({d.extent(), channels, d.number(3, 9), d.number(3, 9)})};
    table.quanParameter.reset();
    table.symmetricQuan.reset();
    table.sparseParameter.reset();
    table.external.clear();
    table.bias = d.reals(common.outputCount);
    table.weight = d.reals(weights);
    if (d.op.type == ConvInt8 || d.op.type == DepthwiseConvInt8) {
        d.inputs[0].type = DT_INT8;
        settleInt8(d, table, weights);
        if (!d.random.oneIn(4)) {
            settleCodes(d, table, weights);
            if (d.random.oneIn(2)) table.symmetricQuan.reset();
        }
    } else if (d.random.oneIn(4) && !transposed) {
        settleCodes(d, table, weights);
    } else if (d.random.oneIn(4) && d.op.type != Dilation2D) {  // weights that are inputs
        table.weight.clear();
        table.bias.clear();
        const Dims dims = depthwise    ? Dims{channels, 1, common.kernelY, common.kernelX}
                          : transposed ? Dims{channels, common.outputCount / group, common.kernelY, common.kernelX}
                                       : Dims{common.outputCount, channels / group, common.kernelY, common.kernelX};
        d.inputs.push_back(d.weights(dims));
        if (d.random.oneIn(2)) d.inputs.push_back(d.weights({common.outputCount}));
    }
}

void settleColumns(Draft& d, wire::Convolution2DT& table) {
    if (!table.common) table.common = std::make_unique<wire::Convolution2DCommonT>();
    settleWindow(d, *table.common);
    auto& common = *table.common;
    common.padMode = wire::PadMode::CAFFE;
    if (d.op.type == Im2Col) {
        d.inputs = {d.floats({d.extent(), d.extent(), d.number(4, 8), d.number(4, 8)})};
        return;
    }
    common.kernelX = common.kernelY = 2;
    common.strideX = common.strideY = 1;
    common.dilateX = common.dilateY = 1;
    common.padX = common.padY = 0;
    common.pads.clear();
    const int height = d.number(2, 5), width = d.number(2, 5);
    d.inputs = {d.floats({d.number(1, 2), 4 * d.number(1, 3), (height - 1) * (width - 1)}), d.list({height, width})};
}

void settleVolumes(Draft& d, wire::Convolution3DT& table) {
    if (!table.common) table.common = std::make_unique<wire::Convolution3DCommonT>();
    auto& common = *table.common;
    common.kernels = {d.number(1, 2), d.number(1, 3), d.number(1, 3)};
    common.strides = {d.number(1, 2), d.number(1, 2), d.number(1, 2)};
    common.dilates = {1, d.number(1, 2), 1};
    common.pads = {d.number(0, 1), d.number(0, 1), d.number(0, 1)};
    if (d.random.oneIn(3)) common.pads.assign(6, d.number(0, 1));
    common.outPads.clear();
    common.hasOutputShape = false;
    common.group = d.random.oneIn(4) ? 2 : 1;
    const int in = common.group * d.number(1, 4), out = common.group * d.number(1, 4);
    common.inputCount = in;
    common.outputCount = out;
    table.external.clear();
    table.weight =
        d.reals(int64_t{in} * out / common.group * common.kernels[0] * common.kernels[1] * common.kernels[2]);
    table.bias = d.reals(out);
    d.inputs = {d.floats({d.number(1, 2), in, d.number(3, 5), d.number(3, 6), d.number(3, 6)})};
}

void settlePool(Draft& d, wire::PoolT& table) {
    d.inputs = {d.floats({d.extent(), d.extent(), d.number(3, 9), d.number(3, 9)})};
    table.kernelX = d.number(1, 3);
    table.kernelY = d.number(1, 3);
    table.strideX = d.number(1, 3);
    table.strideY = d.number(1, 3);
    table.padX = d.number(0, table.kernelX - 1);
    table.padY = d.number(0, table.kernelY - 1);
    table.pads.clear();
    table.dataType = DT_FLOAT;
    if (d.random.oneIn(4)) table.pads = {0, 1, 1, 0};
    if (d.op.type == PoolGrad) d.inputs.assign(3, d.inputs[0]);
}

void settlePool3d(Draft& d, wire::Pool3DT& table) {
    d.inputs = {d.floats({1, d.extent(), d.number(3, 5), d.number(3, 5), d.number(3, 5)})};
    table.kernels = {d.number(1, 3), d.number(1, 3), d.number(1, 3)};
    table.strides = {d.number(1, 2), d.number(1, 2), d.number(1, 2)};
    table.pads = {0, 0, 0};
}

template <typename Table>
void settleWindowOfBytes(Draft& d, Table& table) {
    d.inputs = {{{1, d.number(3, 6), d.number(3, 6), d.extent()}, DT_UINT8}};
    d.format = wire::MNN_DATA_FORMAT::NHWC;
    table.kernelX = table.kernelY = d.number(1, 3);
    table.strideX = table.strideY = d.number(1, 2);
    table.padX = table.padY = 0;
    table.outputActivationMin = 0;
    table.outputActivationMax = 255;
    table.type = DT_UINT8;
    table.modelFormat = wire::ModeFormat::TFLITE;
    table.padType = d.random.oneIn(2) ? wire::PoolPadType::SAME : wire::PoolPadType::VALID;
}

std::unique_ptr<wire::QuantizedParamT> scaled(Draft& d) {
    auto param = std::make_unique<wire::QuantizedParamT>();
    param->zeroPoint = d.number(0, 255);
    param->scale = 0.05f * static_cast<float>(d.number(1, 9));
    return param;
}

void settleBytes(Draft& d, wire::TfQuantizedConv2DT& table) {
    const bool depthwise = d.op.type == QuantizedDepthwiseConv2D;
    if (!table.common) table.common = std::make_unique<wire::Convolution2DCommonT>();
    settleWindow(d, *table.common);
    const int channels = d.number(1, 6), out = depthwise ? channels : d.number(1, 6);
    table.common->outputCount = out;
    table.common->inputCount = channels;
    table.common->padMode = d.random.oneIn(2) ? wire::PadMode::SAME : wire::PadMode::VALID;
    table.depthMultiplier = 1;
    table.biasflag = true;
    table.bias.assign(static_cast<size_t>(out), d.number(-99, 99));
    table.weight.assign(
        static_cast<size_t>((depthwise ? 1 : channels) * out * table.common->kernelX * table.common->kernelY),
        static_cast<uint8_t>(d.number(0, 255)));
    table.inputQuantizedParam = scaled(d);
    table.filterQuantizedParam = scaled(d);
    table.outputQuantizedParam = scaled(d);
    table.biasQuantizedParam = scaled(d);
    table.biasQuantizedParam->zeroPoint = 0;
    table.biasQuantizedParam->scale = table.inputQuantizedParam->scale * table.filterQuantizedParam->scale;
    table.multiplier = 1 << 30;
    table.shift = -3;
    table.outMin = 0;
    table.outMax = 255;
    table.modelFormat = wire::ModeFormat::TFLITE;
    table.activationType = wire::FusedActivation::kTfLiteActNone;
    d.inputs = {{{1, d.number(3, 6), d.number(3, 6), channels}, DT_UINT8}};
    d.format = wire::MNN_DATA_FORMAT::NHWC;
}

void settleNorm(Draft& d, wire::LayerNormT& table) {
    Operand& x = d.inputs[0];
    x = d.floats(d.shape(1, 4));
    d.inputs.resize(1);
    d.outputs = 1;
    table.axis = {d.random.oneIn(2) ? -1 : static_cast<int>(x.dims.size()) - 1};
    table.group = d.random.oneIn(4) ? d.number(1, 2) : 1;
    table.external.clear();
    table.gamma.clear();
    table.beta.clear();
    if (d.random.oneIn(3)) return;
    table.gamma = d.reals(x.dims.back());
    table.beta = d.reals(x.dims.back());
}

}  // namespace

void settleLayers(Draft& d) {
    auto& in = d.inputs;
    auto& main = d.op.main;
    switch (d.op.type) {
        case Im2Col:
        case Col2Im:
            if (auto* table = main.AsConvolution2D()) settleColumns(d, *table);
            return;
        case Pooling:
        case PoolGrad:
            if (auto* table = main.AsPool()) settlePool(d, *table);
            return;
        case LayerNorm:
            if (auto* table = main.AsLayerNorm(); table && !in.empty()) settleNorm(d, *table);
            return;
        case InnerProduct:
            if (auto* table = main.AsInnerProduct()) {
                table->quanParameter.reset();
                table->axis = 1;
                table->outputCount = d.number(1, 6);
                in = {d.floats({d.extent(), d.number(1, 9)})};
                table->weight = d.reals(int64_t{table->outputCount} * in[0].dims[1]);
                table->weightSize = static_cast<int>(table->weight.size());
                table->bias = d.reals(table->outputCount);
                table->biasTerm = 1;
            }
            return;
        case BatchNorm:
        case InstanceNorm:
            if (auto* table = main.AsBatchNorm()) {
                in = {d.floats(d.shape(2, 4))};
                table->channels = in[0].dims[1];
                for (auto* list : {&table->slopeData, &table->meanData, &table->varData, &table->biasData})
                    *list = d.reals(table->channels);
                table->Adata.clear();
                table->Bdata.clear();
                if (d.op.type == InstanceNorm && d.random.oneIn(2))
                    in.insert(in.end(), {d.weights({table->channels}), d.weights({table->channels})});
            }
            return;
        case Scale:
        case PReLU:
        case Normalize:
        case LRN:
        case GroupNorm:
            in = {d.floats(d.op.type == Scale || d.op.type == PReLU ? d.shape(2, 4) : d.shape(4, 4))};
            if (auto* table = main.AsScale()) {
                table->channels = in[0].dims[1];
                table->scaleData = d.reals(table->channels);
                table->biasData = d.reals(table->channels);
                table->external.clear();
            }
            if (auto* table = main.AsPRelu()) {
                table->slope = d.reals(d.random.oneIn(2) ? 1 : in[0].dims[1]);
                table->slopeCount = static_cast<int>(table->slope.size());
            }
            if (auto* table = main.AsNormalize()) table->scale = d.reals(in[0].dims[1]), table->eps = 1e-5f;
            if (auto* table = main.AsLRN()) table->localSize = 1 + 2 * d.number(0, 2), table->regionType = 0;
            if (auto* table = main.AsGroupNorm()) {
                table->group = d.number(1, 2);
                table->bSwish = d.number(0, 1);
                in[0].dims[1] *= table->group;
                table->gamma = d.reals(in[0].dims[1]);
                table->beta = d.reals(in[0].dims[1]);
                table->external.clear();
                if (d.random.oneIn(3)) in.push_back(in[0]);
            }
            return;
        case MatMul:
        case BatchMatMul: {
            const int m = d.extent(), k = d.extent(), n = d.extent();
            bool left = false, right = false;
            if (auto* table = main.AsMatMul()) {
                left = table->transposeA, right = table->transposeB;
                table->weight.clear(), table->bias.clear();
            }
            if (auto* table = main.AsBatchMatMulParam()) left = table->adjX, right = table->adjY;
            Dims a = left ? Dims{k, m} : Dims{m, k}, b = right ? Dims{n, k} : Dims{k, n};
            if (!d.random.oneIn(3) || d.op.type == BatchMatMul) {
                const Dims batch = d.shape(0, 2);
                a.insert(a.begin(), batch.begin(), batch.end());
                if (d.random.oneIn(2)) b.insert(b.begin(), batch.begin(), batch.end());
            }
            in = {d.floats(a), d.weights(b)};
            if (d.random.oneIn(3)) in.push_back(d.weights({n}));
            return;
        }
        case Interp:
        case Interp3D:
        case Resize:
            in = {d.floats(d.op.type == Interp3D ? d.shape(5, 5) : d.shape(4, 4))};
            if (auto* table = main.AsInterp()) {
                table->outputHeight = d.number(1, 9), table->outputWidth = d.number(1, 9);
                table->outputDepth = d.op.type == Interp3D ? d.number(1, 6) : 0;
                table->resizeType = d.number(1, 4);
                if (d.random.oneIn(3)) in.push_back(d.list({d.number(1, 9), d.number(1, 9)}));
            }
            if (auto* table = main.AsResize()) table->xScale = table->yScale = static_cast<float>(d.number(1, 3));
            return;
        case QuantizedAvgPool:
            if (auto* table = main.AsQuantizedAvgPool()) settleWindowOfBytes(d, *table);
            return;
        case QuantizedMaxPool:
            if (auto* table = main.AsQuantizedMaxPool()) settleWindowOfBytes(d, *table);
            return;
        case QuantizedAdd:
        case QuantizedConcat:
        case QuantizedLogistic:
        case QuantizedSoftmax:
            for (auto& input : in) input = {{1, 2, 3, d.number(1, 6)}, DT_UINT8}, input.dims = in[0].dims;
            if (auto* table = main.AsQuantizedAdd()) {
                table->input1QuantizedParam = scaled(d), table->input2QuantizedParam = scaled(d);
                table->outputQuantizedParam = scaled(d);
                table->activationType = wire::FusedActivation::kTfLiteActNone;
            }
            if (auto* table = main.AsQuantizedConcat()) {
                table->axis = d.axis(4);
                table->inputScale.assign(in.size(), 0.1f);
                table->inputZeroPoint.assign(in.size(), 3);
                table->outputQuantizedParam = scaled(d);
                table->activationType = wire::FusedActivation::kTfLiteActNone;
            }
            if (auto* table = main.AsQuantizedLogistic()) {
                table->inputQuantizedParam = scaled(d), table->outputQuantizedParam = scaled(d);
                table->outputQuantizedParam->scale = 1.0f / 256, table->outputQuantizedParam->zeroPoint = 0;
            }
            if (auto* table = main.AsQuantizedSoftmax()) table->beta = 1, table->inputScale = 0.1f;
            return;
        case FloatToInt8:
        case Int8ToFloat:
            in.resize(1);
            in[0].type = d.op.type == FloatToInt8 ? DT_FLOAT : DT_INT8;
            if (auto* table = main.AsQuantizedFloatParam()) {
                table->tensorScale = d.reals(in[0].dims.size() > 1 && d.random.oneIn(2) ? in[0].dims[1] : 1);
                table->floatzeros = d.reals(d.number(0, 1));
            }
            return;
        case EltwiseInt8:
            for (auto& input : in) input = {in[0].dims, DT_INT8};
            if (auto* table = main.AsEltwiseInt8())
                for (auto* quan : {&table->inputQuan0, &table->inputQuan1, &table->outputQuan})
                    if (*quan) (*quan)->scale = (*quan)->tensorScale = {0.5f};
            if (auto* table = main.AsEltwiseInt8()) table->type = wire::EltwiseType::SUM;
            return;
        default:
            break;
    }
    if (auto* table = main.AsConvolution2D()) settleConvolution(d, *table);
    if (auto* table = main.AsConvolution3D()) settleVolumes(d, *table);
    if (auto* table = main.AsPool3D()) settlePool3d(d, *table);
    if (auto* table = main.AsTfQuantizedConv2D()) settleBytes(d, *table);
}

}  // namespace fuzz
