// The operators of NetBuilder, and the runs of its nets.
#include "net_builder.h"

#include <algorithm>
#include <cmath>

#include "tensor/host_copy.h"

namespace mnnc::test {

int NetBuilder::input(std::vector<int32_t> dims) {
    const int id = tensor();
    net_.oplists.push_back(makeInput(id, std::move(dims)));
    return id;
}

int NetBuilder::ints(std::vector<int32_t> dims) {
    const int id = tensor();
    wire::InputT input;
    input.dims = std::move(dims);
    input.dtype = wire::DataType::DT_INT32;
    input.dformat = wire::MNN_DATA_FORMAT::NCHW;
    net_.oplists.push_back(makeOp(wire::OpType::Input, "ints", {}, {id}, std::move(input)));
    return id;
}

int NetBuilder::scalar(float value) {
    const int id = tensor();
    net_.oplists.push_back(makeConst(id, {}, {value}));
    return id;
}

int NetBuilder::constant(std::vector<int32_t> dims) {
    size_t count = 1;
    for (const int32_t extent : dims) count *= static_cast<size_t>(extent);
    std::vector<float> values(count);
    for (size_t i = 0; i < count; ++i) values[i] = std::sin(static_cast<float>(i + 1)) / 3;
    const int id = tensor();
    net_.oplists.push_back(makeConst(id, std::move(dims), std::move(values)));
    return id;
}

int NetBuilder::convBy(int x, int weights, int outputs, int kernel) {
    wire::Convolution2DT conv = makeConv(0, outputs, 0);
    conv.common->kernelX = conv.common->kernelY = kernel;
    conv.common->pads = {kernel / 2, kernel / 2, kernel / 2, kernel / 2};
    conv.bias.clear();
    return add(wire::OpType::Convolution, {x, weights}, std::move(conv));
}

int NetBuilder::conv(int x, int inputs, int outputs, int kernel, bool relu) {
    wire::Convolution2DT conv = makeConv(inputs, outputs, static_cast<size_t>(inputs * outputs * kernel * kernel));
    conv.common->kernelX = conv.common->kernelY = kernel;
    conv.common->pads = {kernel / 2, kernel / 2, kernel / 2, kernel / 2};
    conv.common->relu = relu;
    for (size_t i = 0; i < conv.weight.size(); ++i) conv.weight[i] = std::sin(static_cast<float>(i + 1)) / 3;
    for (size_t i = 0; i < conv.bias.size(); ++i) conv.bias[i] = std::cos(static_cast<float>(i)) * 2;
    return add(wire::OpType::Convolution, {x}, std::move(conv));
}

int NetBuilder::depthwise(int x, int channels) {
    wire::Convolution2DT conv = makeConv(channels, channels, static_cast<size_t>(channels * 9));
    conv.common->kernelX = conv.common->kernelY = 3;
    conv.common->pads = {1, 1, 1, 1};
    conv.common->group = channels;
    for (size_t i = 0; i < conv.weight.size(); ++i) conv.weight[i] = std::sin(static_cast<float>(i + 1));
    return add(wire::OpType::ConvolutionDepthwise, {x}, std::move(conv));
}

int NetBuilder::grouped(int x, int channels, int groups) {
    wire::Convolution2DT conv = makeConv(channels, channels, static_cast<size_t>(channels * (channels / groups) * 9));
    conv.common->kernelX = conv.common->kernelY = 3;
    conv.common->pads = {1, 1, 1, 1};
    conv.common->group = groups;
    for (size_t i = 0; i < conv.weight.size(); ++i) conv.weight[i] = std::sin(static_cast<float>(i + 1));
    return add(wire::OpType::Convolution, {x}, std::move(conv));
}

int NetBuilder::scale(int x, int channels) {
    wire::ScaleT scale;
    scale.channels = channels;
    for (int i = 0; i < channels; ++i) {
        scale.scaleData.push_back(1 + std::sin(static_cast<float>(i)));
        scale.biasData.push_back(std::cos(static_cast<float>(i)));
    }
    return add(wire::OpType::Scale, {x}, std::move(scale));
}

int NetBuilder::binary(wire::BinaryOpOperation code, int a, int b, bool relu) {
    wire::BinaryOpT op;
    op.opType = code;
    op.activationType = relu ? 1 : 0;
    return add(wire::OpType::BinaryOp, {a, b}, std::move(op));
}

int NetBuilder::unary(wire::UnaryOpOperation code, int x) {
    wire::UnaryOpT op;
    op.opType = code;
    return add(wire::OpType::UnaryOp, {x}, std::move(op));
}

int NetBuilder::relu(int x, float slope) {
    wire::ReluT op;
    op.slope = slope;
    return add(wire::OpType::ReLU, {x}, std::move(op));
}

int NetBuilder::clip(int x, float lo, float hi) {
    wire::Relu6T op;
    op.minValue = lo;
    op.maxValue = hi;
    return add(wire::OpType::ReLU6, {x}, std::move(op));
}

int NetBuilder::softmax(int x, int axis) {
    wire::AxisT op;
    op.axis = axis;
    return add(wire::OpType::Softmax, {x}, std::move(op));
}

int NetBuilder::select(int condition, int a, int b) {
    const int id = tensor();
    net_.oplists.push_back(makeOp(wire::OpType::Select, "op" + std::to_string(id), {condition, a, b}, {id}));
    return id;
}

int NetBuilder::concat(std::vector<int32_t> inputs, int axis) {
    wire::AxisT op;
    op.axis = axis;
    return add(wire::OpType::Concat, std::move(inputs), std::move(op));
}

int NetBuilder::resize(int x, int resizeType, int height, int width) {
    wire::InterpT op;
    op.resizeType = resizeType;
    op.outputHeight = height;
    op.outputWidth = width;
    op.ctm = wire::CoordinateTransformationMode::HalfPixels;
    return add(wire::OpType::Interp, {x}, std::move(op));
}

std::vector<int> NetBuilder::split(int x, int axis, std::vector<int32_t> points) {
    wire::SliceT op;
    op.axis = axis;
    op.slicePoints = std::move(points);
    std::vector<int32_t> parts;
    for (size_t i = 0; i <= op.slicePoints.size(); ++i) parts.push_back(tensor());
    net_.oplists.push_back(makeOp(wire::OpType::Slice, "split" + std::to_string(parts[0]), {x}, parts, std::move(op)));
    return parts;
}

int NetBuilder::permute(int x, std::vector<int32_t> dims) {
    wire::PermuteT op;
    op.dims = std::move(dims);
    return add(wire::OpType::Permute, {x}, std::move(op));
}

int NetBuilder::reshape(int x, std::vector<int32_t> dims) {
    wire::ReshapeT op;
    op.dims = std::move(dims);
    return add(wire::OpType::Reshape, {x}, std::move(op));
}

int NetBuilder::matmul(int a, int b, bool transposeA, bool transposeB) {
    wire::MatMulT op;
    op.transposeA = transposeA;
    op.transposeB = transposeB;
    return add(wire::OpType::MatMul, {a, b}, std::move(op));
}

int NetBuilder::sample(int map, int grid) {
    wire::GridSampleT op;
    op.paddingMode = wire::BorderMode::REFLECTION;
    return add(wire::OpType::GridSample, {map, grid}, std::move(op));
}

wire::NetT NetBuilder::finish(const std::vector<int>& outputs) {
    for (const int id : outputs) net_.outputName.push_back(net_.tensorName[static_cast<size_t>(id)]);
    return std::move(net_);
}

int NetBuilder::tensor() {
    net_.tensorName.push_back("t" + std::to_string(net_.tensorName.size()));
    return static_cast<int>(net_.tensorName.size()) - 1;
}

std::unique_ptr<wire::StringVecT> names(std::vector<std::string> list) {
    auto result = std::make_unique<wire::StringVecT>();
    result->data = std::move(list);
    return result;
}

std::unique_ptr<wire::SubGraphProtoT> asGraph(const std::string& name, wire::NetT net, std::vector<int32_t> inputs,
                                              std::vector<int32_t> outputs) {
    auto graph = std::make_unique<wire::SubGraphProtoT>();
    graph->name = name;
    for (const std::string& tensor : net.tensorName) graph->tensors.push_back(name + "_" + tensor);
    graph->inputs = std::move(inputs);
    graph->outputs = std::move(outputs);
    graph->nodes = std::move(net.oplists);
    return graph;
}

std::vector<std::string> NetResult::types() const {
    std::vector<std::string> result;
    for (const OpRecord& op : ops) result.push_back(op.type);
    return result;
}

size_t NetResult::count(const std::string& type) const {
    const std::vector<std::string> all = types();
    return static_cast<size_t>(std::count(all.begin(), all.end(), type));
}

std::shared_ptr<const Interpreter> open(const wire::NetT& net) {
    const std::vector<uint8_t> bytes = pack(net);
    return std::make_shared<const Interpreter>(ModelBytes::copied(bytes.data(), bytes.size()), ModelOptions{});
}

NetResult runNet(const wire::NetT& net, const SessionConfig& config) {
    Session session(open(net), config);
    for (size_t input = 0; input < session.inputCount(); ++input) {
        std::vector<float> values(static_cast<size_t>(session.input(input).elements()));
        for (size_t i = 0; i < values.size(); ++i) values[i] = 3 * std::sin(static_cast<float>(i * 7 + 11 * input + 1));
        copyFromHost(session.input(input), session.inputData(input), values.data(), Format::NCHW);
    }
    session.run();
    NetResult result;
    for (size_t i = 0; i < net.outputName.size(); ++i) {
        EXPECT_EQ(session.output(i).type, DataType::Float32);
        result.outputs.emplace_back(static_cast<size_t>(session.output(i).elements()));
        copyToHost(session.output(i), session.outputData(i), result.outputs.back().data(), Format::NCHW);
    }
    result.ops = session.records();
    result.weightBytes = session.memory().weights;
    return result;
}

NetResult runUnfused(const wire::NetT& net, SessionConfig config) {
    for (const auto& op : net.oplists)
        if (op->type != wire::OpType::Const && op->type != wire::OpType::Input)
            for (const int id : op->outputIndexes)
                config.part.saveTensors.push_back(net.tensorName[static_cast<size_t>(id)]);
    return runNet(net, config);
}

}  // namespace mnnc::test
