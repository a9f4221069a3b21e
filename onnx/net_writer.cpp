// See net_writer.h.
#include "net_writer.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/half.h"

namespace mnnc::onnx {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

constexpr size_t kMostBytes = size_t{2000} << 20;
// Constants of fewer elements stay floats.
constexpr size_t kFewElements = 64;

uint16_t halfOf(float value) {
    return floatToHalf(std::clamp(value, -65504.0f, 65504.0f));
}

Offset<wire::Blob> writeBlob(FlatBufferBuilder& to, const Array& array, bool half) {
    std::vector<int32_t> dims;
    for (const int64_t extent : array.dims) dims.push_back(static_cast<int32_t>(extent));
    const auto shape = to.CreateVector(dims);
    Offset<flatbuffers::Vector<float>> floats;
    Offset<flatbuffers::Vector<int32_t>> ints;
    Offset<flatbuffers::Vector<uint8_t>> bytes;
    Offset<flatbuffers::Vector<int8_t>> signedBytes;
    DataType type = array.type;
    half = half && array.floats.size() >= kFewElements;
    if (half) {
        type = DataType::DT_HALF;
        std::vector<uint8_t> halves;
        halves.reserve(array.floats.size() * 2);
        for (const float value : array.floats) {
            const uint16_t bits = halfOf(value);
            halves.push_back(static_cast<uint8_t>(bits));
            halves.push_back(static_cast<uint8_t>(bits >> 8));
        }
        bytes = to.CreateVector(halves);
    } else if (type == DataType::DT_FLOAT) {
        floats = to.CreateVector(array.floats);
    } else if (type == DataType::DT_INT32) {
        ints = to.CreateVector(array.ints);
    } else if (type == DataType::DT_UINT8) {
        bytes = to.CreateVector(array.bytes);
    } else {
        signedBytes =
            to.CreateVector(reinterpret_cast<const int8_t*>(array.bytes.data()), array.bytes.size());
    }
    return wire::CreateBlob(to, shape, wire::MNN_DATA_FORMAT::NCHW, type, bytes, signedBytes, ints, 0,
                            floats);
}

// Which operators some output needs. Inputs stay in any case.
std::vector<bool> needed(const Scope& scope, const std::vector<int>& outputs) {
    std::vector<bool> wanted(scope.tensors.size()), result(scope.operators.size());
    for (const int id : outputs) wanted[static_cast<size_t>(id)] = true;
    for (size_t i = scope.operators.size(); i-- > 0;) {
        const wire::OpT& op = scope.operators[i].op;
        bool any = op.type == OpType::Input;
        for (const int id : op.outputIndexes) any = any || wanted[static_cast<size_t>(id)];
        result[i] = any;
        if (any)
            for (const int id : op.inputIndexes)
                if (id >= 0) wanted[static_cast<size_t>(id)] = true;
    }
    return result;
}

// Weights of convolutions as halves: a stream of quanParameter.
void halveWeights(wire::OpT& op) {
    wire::Convolution2DT* table = op.main.AsConvolution2D();
    if (!table || table->weight.size() < kFewElements) return;
    auto halves = std::make_unique<wire::IDSTQuanT>();
    halves->type = 3;
    halves->buffer.reserve(table->weight.size() * 2);
    for (const float value : table->weight) {
        const uint16_t bits = halfOf(value);
        halves->buffer.push_back(static_cast<int8_t>(bits & 0xff));
        halves->buffer.push_back(static_cast<int8_t>(bits >> 8));
    }
    halves->weightSize = static_cast<uint32_t>(table->weight.size());
    table->weight.clear();
    table->quanParameter = std::move(halves);
}

std::vector<Offset<wire::Op>> writeOperators(FlatBufferBuilder& to, Scope& scope,
                                             const std::vector<int>& outputs, bool half) {
    std::vector<Offset<wire::Op>> result;
    const std::vector<bool> kept = needed(scope, outputs);
    for (size_t i = 0; i < scope.operators.size(); ++i) {
        if (!kept[i]) continue;
        Operator& one = scope.operators[i];
        if (one.constant) {
            const auto blob = writeBlob(to, *one.constant, half);
            const auto name = to.CreateString(one.op.name);
            const auto ids = to.CreateVector(one.op.outputIndexes);
            wire::OpBuilder op(to);
            op.add_main_type(wire::OpParameter::Blob);
            op.add_main(blob.Union());
            op.add_name(name);
            op.add_outputIndexes(ids);
            op.add_type(OpType::Const);
            op.add_defaultDimentionFormat(wire::MNN_DATA_FORMAT::NCHW);
            result.push_back(op.Finish());
        } else {
            if (half) halveWeights(one.op);
            result.push_back(wire::CreateOp(to, &one.op));
        }
        if (to.GetSize() > kMostBytes)
            fail(Status::LimitExceeded,
                 "the net has more than %zu bytes; weights in a file of their own are not written yet",
                 kMostBytes);
    }
    return result;
}

}  // namespace

flatbuffers::DetachedBuffer writeNet(Builder& builder, const std::vector<V>& outputs,
                                     const WriteOptions& options) {
    FlatBufferBuilder to(1 << 16);
    Scope& net = builder.scopes().front();
    std::vector<int> ids;
    std::vector<Offset<flatbuffers::String>> outputNames, tensorNames;
    for (const V value : outputs) ids.push_back(value->tensor);
    std::vector<Offset<wire::SubGraphProto>> bodies;
    for (size_t i = 1; i < builder.scopes().size(); ++i) {
        Scope& scope = builder.scopes()[i];
        if (scope.name.empty()) continue;
        const auto nodes = to.CreateVector(writeOperators(to, scope, scope.outputs, options.halfWeights));
        const auto name = to.CreateString(scope.name);
        const auto inputs = to.CreateVector(scope.inputs);
        const auto results = to.CreateVector(scope.outputs);
        const auto tensors = to.CreateVectorOfStrings(scope.tensors);
        bodies.push_back(wire::CreateSubGraphProto(to, name, inputs, results, tensors, nodes));
    }
    const auto operators = to.CreateVector(writeOperators(to, net, ids, options.halfWeights));
    for (const int id : ids) outputNames.push_back(to.CreateString(net.tensors[static_cast<size_t>(id)]));
    for (const std::string& name : net.tensors) tensorNames.push_back(to.CreateString(name));
    const auto outputVector = to.CreateVector(outputNames);
    const auto tensorVector = to.CreateVector(tensorNames);
    const auto bodyVector = to.CreateVector(bodies);
    const auto version = to.CreateString("3.6.1");
    wire::ExtraInfoBuilder extra(to);
    extra.add_version(version);
    const auto extraInfo = extra.Finish();
    const auto bizCode = to.CreateString("onnx");
    wire::NetBuilder result(to);
    result.add_bizCode(bizCode);
    result.add_extraInfo(extraInfo);
    result.add_oplists(operators);
    result.add_outputName(outputVector);
    result.add_sourceType(wire::NetSource::ONNX);
    result.add_tensorName(tensorVector);
    if (!bodies.empty()) result.add_subgraphs(bodyVector);
    to.Finish(result.Finish());
    return to.Release();
}

}  // namespace mnnc::onnx
