// The nets of model_builder.h, their bytes, and loading them.
#include "model_builder.h"

namespace mnnc::test {

std::unique_ptr<wire::OpT> makeOp(wire::OpType type, std::string name, std::vector<int32_t> inputs,
                                  std::vector<int32_t> outputs) {
    auto op = std::make_unique<wire::OpT>();
    op->type = type;
    op->name = std::move(name);
    op->inputIndexes = std::move(inputs);
    op->outputIndexes = std::move(outputs);
    return op;
}

std::unique_ptr<wire::OpT> makeInput(int32_t id, std::vector<int32_t> dims) {
    wire::InputT input;
    input.dims = std::move(dims);
    input.dformat = wire::MNN_DATA_FORMAT::NCHW;
    return makeOp(wire::OpType::Input, "input", {}, {id}, std::move(input));
}

std::unique_ptr<wire::OpT> makeConst(int32_t id, std::vector<int32_t> dims, std::vector<float> values) {
    wire::BlobT blob;
    blob.dims = std::move(dims);
    blob.float32s = std::move(values);
    return makeOp(wire::OpType::Const, "const", {}, {id}, std::move(blob));
}

std::unique_ptr<wire::OpT> makeIntConst(int32_t id, std::vector<int32_t> dims, std::vector<int32_t> values) {
    wire::BlobT blob;
    blob.dims = std::move(dims);
    blob.dataType = wire::DataType::DT_INT32;
    blob.int32s = std::move(values);
    return makeOp(wire::OpType::Const, "const", {}, {id}, std::move(blob));
}

wire::Convolution2DT makeConv(int32_t inputs, int32_t outputs, size_t weightCount) {
    wire::Convolution2DT conv;
    conv.common = std::make_unique<wire::Convolution2DCommonT>();
    conv.common->inputCount = inputs;
    conv.common->outputCount = outputs;
    conv.weight.assign(weightCount, 1.0f);
    conv.bias.assign(static_cast<size_t>(outputs), 0.0f);
    return conv;
}

wire::NetT makeReluNet() {
    wire::NetT net;
    net.tensorName = {"t0", "t1"};
    net.oplists.push_back(makeInput(0));
    net.oplists.push_back(makeOp(wire::OpType::ReLU, "relu", {0}, {1}));
    net.outputName = {"t1"};
    return net;
}

std::vector<uint8_t> pack(const wire::NetT& net) {
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(wire::Net::Pack(builder, &net));
    return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

std::shared_ptr<const Model> loadBytes(const std::vector<uint8_t>& bytes, const ModelOptions& options) {
    return Model::load(ModelBytes::copied(bytes.data(), bytes.size()), options);
}

std::shared_ptr<const Model> loadNet(const wire::NetT& net, const ModelOptions& options) {
    return loadBytes(pack(net), options);
}

void expectFailure(Status status, const std::string& part, const std::function<void()>& action) {
    try {
        action();
    } catch (const Error& error) {
        EXPECT_EQ(static_cast<int>(error.status()), static_cast<int>(status)) << error.message();
        EXPECT_NE(error.message().find(part), std::string::npos) << error.message();
        return;
    }
    ADD_FAILURE() << "nothing was thrown";
}

void expectRefused(const wire::NetT& net, Status status, const std::string& part) {
    expectFailure(status, part, [&] { loadNet(net); });
}

}  // namespace mnnc::test
