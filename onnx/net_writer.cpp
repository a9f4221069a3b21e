// See net_writer.h.
#include "net_writer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/half.h"
#include "weight_codes.h"

namespace mnnc::onnx {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

constexpr size_t kMaxBytes = size_t{2000} << 20;
// Above this number of bytes, arrays are written to a file beside the net.
constexpr size_t kMaxInside = size_t{1900} << 20;
// Constants of fewer elements stay floats.
constexpr size_t kFewElements = 64;
// Weights of fewer elements do not become codes, because their scales would outweigh the savings.
constexpr size_t kFewCodes = 1024;
// Arrays of fewer bytes stay in the net.
constexpr size_t kFewBytes = 4096;

uint16_t halfOf(float value) {
    return floatToHalf(std::isinf(value) ? value : std::clamp(value, -65504.0f, 65504.0f));
}

// The bytes of the arrays, in the form that the options request.
size_t arrayBytes(const Builder& builder, const WriteOptions& options) {
    const size_t bits = options.weights == Weights::Float  ? 32
                        : options.weights == Weights::Half ? 16
                        : options.weights == Weights::Int8 ? 8
                                                           : 4;
    size_t sum = 0;
    for (const Scope& scope : builder.scopes())
        for (const Operator& one : scope.operators) {
            if (one.constant) {
                const bool halves = options.weights != Weights::Float && one.constant->type == DataType::DT_FLOAT;
                sum += one.constant->byteSize() / (halves ? 2 : 1);
            } else if (const wire::Convolution2DT* table = one.op.main.AsConvolution2D()) {
                const size_t count = table->weight.size() + (one.weights ? one.weights->floatCount() : 0);
                sum += count * bits / 8 + table->bias.size() * sizeof(float);
                // Each block has a scale and a minimum.
                if (bits < 16 && options.block) sum += count / options.block * 2 * sizeof(float);
                if (const wire::IDSTQuanT* codes = table->quanParameter.get())
                    sum += codes->buffer.size() + codes->alpha.size() * sizeof(float);
            }
        }
    return sum;
}

// The capacity for the net: a growing buffer would be copied, and twice as large. The net is written from its end,
// which must be aligned.
size_t roomFor(size_t arrays) {
    constexpr size_t kAligned = 64;
    return std::min(arrays + arrays / 16 + (1 << 16), kMaxBytes) / kAligned * kAligned;
}

class Writer {
  public:
    Writer(Builder& builder, const WriteOptions& options, std::vector<std::string>& notes)
        : builder_(builder),
          options_(options),
          notes_(notes),
          arrays_(arrayBytes(builder, options)),
          beside_(options.beside || arrays_ > kMaxInside),
          to_(roomFor(beside_ ? 0 : arrays_)) {
        if (beside_) weights_.reserve(arrays_);
    }

    WrittenNet write(const std::vector<V>& outputs);

  private:
    Offset<wire::Blob> writeBlob(const Array& array);
    Offset<wire::Convolution2D> writeTable(Operator& one);
    Offset<wire::Convolution2D> newTable(Operator& one);
    Offset<wire::Op> writeLayer(Operator& one);
    std::vector<Offset<wire::Op>> writeOperators(Scope& scope, const std::vector<int>& outputs);
    void storeWeights(wire::OpT& op);
    void moveBeside(wire::Convolution2DT& table);
    Offset<flatbuffers::Vector<Offset<wire::TensorDescribe>>> describe(const Scope& scope);
    template <typename Values>
    int64_t beside(const Values& array) {
        const auto* bytes = reinterpret_cast<const uint8_t*>(array.data());
        const size_t size = array.size() * sizeof *array.data();
        if (size) weights_.insert(weights_.end(), bytes, bytes + size);
        return static_cast<int64_t>(size);
    }

    Builder& builder_;
    const WriteOptions& options_;
    std::vector<std::string>& notes_;
    const size_t arrays_;  // in bytes
    bool beside_;
    FlatBufferBuilder to_;
    std::vector<uint8_t> weights_;
    std::unordered_map<const Scope*, std::map<int, Steps>> steps_;  // by tensor
    size_t wholeRows_ = 0;                                          // layers whose rows are not a multiple of the block
    size_t uncoded_ = 0;                                            // layers whose weights have no codes
    // Layers that apply the same weights, such as heads over maps of several sizes, have one table if all other content
    // is equal, too.
    struct Sharing {
        int layers = 0;
        std::map<std::string, Offset<wire::Convolution2D>> tables;  // by the other content
    };
    std::map<std::weak_ptr<const Array>, Sharing, std::owner_less<>> sharings_;
};

Offset<wire::Blob> Writer::writeBlob(const Array& array) {
    std::vector<int32_t> dims;
    for (const int64_t extent : array.dims) dims.push_back(static_cast<int32_t>(extent));
    const auto shape = to_.CreateVector(dims);
    Offset<flatbuffers::Vector<float>> floats;
    Offset<flatbuffers::Vector<int32_t>> ints;
    Offset<flatbuffers::Vector<uint8_t>> bytes;
    Offset<flatbuffers::Vector<int8_t>> signedBytes;
    Offset<flatbuffers::Vector<int64_t>> external;
    DataType type = array.type;
    // The format has no halves beside the net.
    const bool apart = beside_ && array.byteSize() >= kFewBytes;
    if (apart) {
        const auto at = static_cast<int64_t>(weights_.size());
        const int64_t size = beside(array.floats) + beside(array.lent) + beside(array.ints) + beside(array.bytes);
        external = to_.CreateVector(std::vector<int64_t>{at, size});
    } else if (options_.weights != Weights::Float && array.floatCount() >= kFewElements) {
        type = DataType::DT_HALF;
        std::vector<uint8_t> halves;
        halves.reserve(array.floatCount() * 2);
        for (const float value : array.allFloats()) {
            const uint16_t bits = halfOf(value);
            halves.push_back(static_cast<uint8_t>(bits));
            halves.push_back(static_cast<uint8_t>(bits >> 8));
        }
        bytes = to_.CreateVector(halves);
    } else if (type == DataType::DT_FLOAT) {
        if (array.lent.empty()) {
            floats = to_.CreateVector(array.floats);
        } else {
            uint8_t* place = nullptr;
            floats = to_.CreateUninitializedVector(array.floatCount(), sizeof(float), &place);
            std::memcpy(place, array.lent.data(), array.lent.size());
        }
    } else if (type == DataType::DT_INT32) {
        ints = to_.CreateVector(array.ints);
    } else if (type == DataType::DT_UINT8) {
        bytes = to_.CreateVector(array.bytes);
    } else {
        signedBytes = to_.CreateVector(reinterpret_cast<const int8_t*>(array.bytes.data()), array.bytes.size());
    }
    return wire::CreateBlob(to_, shape, wire::MNN_DATA_FORMAT::NCHW, type, bytes, signedBytes, ints, 0, floats, 0,
                            external);
}

// All content of a convolution's table except the numbers that its source determines.
std::string contentOf(Operator& one) {
    wire::Convolution2DT& table = *one.op.main.AsConvolution2D();
    std::vector<int8_t> codes;
    if (table.quanParameter) codes.swap(table.quanParameter->buffer);
    FlatBufferBuilder to;
    to.Finish(wire::CreateConvolution2D(to, &table));
    if (table.quanParameter) codes.swap(table.quanParameter->buffer);
    std::string content(one.transposed ? "transposed " : "");
    content += std::to_string(static_cast<int>(one.op.type));
    content.append(reinterpret_cast<const char*>(to.GetBufferPointer()), to.GetSize());
    return content;
}

Offset<wire::Convolution2D> Writer::newTable(Operator& one) {
    wire::Convolution2DT& table = *one.op.main.AsConvolution2D();
    if (!one.weights || options_.weights != Weights::Float || beside_ || !table.common || table.quanParameter) {
        one.fillWeights();
        storeWeights(one.op);
        return wire::CreateConvolution2D(to_, &table);
    }
    // The weights go from the model to the net without an intermediate copy.
    uint8_t* place = nullptr;
    const Offset<flatbuffers::Vector<float>> weight =
        to_.CreateUninitializedVector(one.weights->floatCount(), sizeof(float), &place);
    one.copyWeights(place, options_.forget);
    const auto bias = to_.CreateVector(table.bias);
    const auto common = wire::CreateConvolution2DCommon(to_, table.common.get());
    return wire::CreateConvolution2D(to_, common, weight, bias);
}

// Writes the table of a convolution, or finds it.
Offset<wire::Convolution2D> Writer::writeTable(Operator& one) {
    const auto sharing = sharings_.find(one.source());
    if (sharing == sharings_.end() || sharing->second.layers < 2) return newTable(one);
    Offset<wire::Convolution2D>& table = sharing->second.tables[contentOf(one)];
    if (table.IsNull()) table = newTable(one);
    return table;
}

Offset<wire::Op> Writer::writeLayer(Operator& one) {
    const Offset<wire::Convolution2D> main = writeTable(one);
    const auto name = to_.CreateString(one.op.name);
    const auto inputs = to_.CreateVector(one.op.inputIndexes), outputs = to_.CreateVector(one.op.outputIndexes);
    return wire::CreateOp(to_, inputs, wire::OpParameter::Convolution2D, main.Union(), name, outputs, one.op.type,
                          one.op.defaultDimentionFormat);
}

// The operators that some output needs. Inputs always stay.
std::vector<bool> needed(const Scope& scope, const std::vector<int>& outputs) {
    std::vector<bool> wanted(scope.tensors.size()), result(scope.operators.size());
    for (const int id : outputs) wanted[static_cast<size_t>(id)] = true;
    for (size_t i = scope.operators.size(); i-- > 0;) {
        const wire::OpT& op = scope.operators[i].op;
        bool any = op.type == OpType::Input;
        for (const int id : op.outputIndexes) any = any || wanted[static_cast<size_t>(id)];
        result[i] = any;
        if (any)
            for (const int id : op.inputIndexes) wanted[static_cast<size_t>(id)] = true;
    }
    return result;
}

// Stores weights of convolutions as halves: a stream of quanParameter.
void halveWeights(wire::Convolution2DT& table) {
    auto halves = std::make_unique<wire::IDSTQuanT>();
    halves->type = 3;
    halves->buffer.reserve(table.weight.size() * 2);
    for (const float value : table.weight) {
        const uint16_t bits = halfOf(value);
        halves->buffer.push_back(static_cast<int8_t>(bits & 0xff));
        halves->buffer.push_back(static_cast<int8_t>(bits >> 8));
    }
    halves->weightSize = static_cast<uint32_t>(table.weight.size());
    table.weight.clear();
    table.quanParameter = std::move(halves);
}

// Converts the weights of a convolution as the options request. Codes of the model itself stay unchanged.
void Writer::storeWeights(wire::OpT& op) {
    wire::Convolution2DT* table = op.main.AsConvolution2D();
    if (!table || !table->common) return;
    // Transposed layers have a column for each output channel, so their rows share no scale.
    const bool coded = options_.weights == Weights::Int8 || options_.weights == Weights::Int4;
    const bool rows = op.type == OpType::Convolution || op.type == OpType::ConvolutionDepthwise;
    const size_t count = table->weight.size();
    const bool wants = coded && rows && count >= kFewCodes && table->common->outputCount > 0;
    const bool has = wants && hasCodes(table->weight);
    uncoded_ += wants && !has ? 1 : 0;
    if (has) {
        const auto channels = static_cast<size_t>(table->common->outputCount);
        const size_t kernel = static_cast<size_t>(table->common->kernelX) * static_cast<size_t>(table->common->kernelY);
        const size_t inputs = count / channels / std::max<size_t>(kernel, 1);
        const bool blocks = options_.block && inputs % options_.block == 0;
        wholeRows_ += options_.block && !blocks ? 1 : 0;
        table->quanParameter = tableOf(encode(table->weight, blocks ? channels * (inputs / options_.block) : channels,
                                              options_.weights == Weights::Int8 ? 8 : 4));
        table->weight.clear();
    } else if (options_.weights != Weights::Float && count >= kFewElements) {
        halveWeights(*table);
    }
    if (beside_) moveBeside(*table);
}

void Writer::moveBeside(wire::Convolution2DT& table) {
    const auto at = static_cast<int64_t>(weights_.size());
    if (wire::IDSTQuanT* codes = table.quanParameter.get()) {
        if (codes->buffer.size() < kFewBytes) return;
        const int64_t bytes = beside(codes->buffer), scales = beside(codes->alpha), bias = beside(table.bias);
        table.external = {at, bytes, scales, bias, 0};
        codes->buffer.clear();
        codes->alpha.clear();
    } else {
        if (table.weight.size() * 4 < kFewBytes) return;
        const int64_t bytes = beside(table.weight), bias = beside(table.bias);
        table.external = {at, bytes, bias};
        table.weight.clear();
    }
    table.bias.clear();
}

std::vector<Offset<wire::Op>> Writer::writeOperators(Scope& scope, const std::vector<int>& outputs) {
    std::vector<Offset<wire::Op>> result;
    const std::vector<bool> kept = needed(scope, outputs);
    for (size_t i = 0; i < scope.operators.size(); ++i) {
        if (!kept[i]) continue;
        Operator& one = scope.operators[i];
        if (one.constant) {
            const auto blob = writeBlob(*one.constant);
            const auto name = to_.CreateString(one.op.name);
            const auto ids = to_.CreateVector(one.op.outputIndexes);
            wire::OpBuilder op(to_);
            op.add_main_type(wire::OpParameter::Blob);
            op.add_main(blob.Union());
            op.add_name(name);
            op.add_outputIndexes(ids);
            op.add_type(OpType::Const);
            op.add_defaultDimentionFormat(wire::MNN_DATA_FORMAT::NCHW);
            result.push_back(op.Finish());
            if (options_.forget && !one.constant->lent.empty()) options_.forget(one.constant->lent);
            one.constant = nullptr;  // freed once written
        } else {
            const ArrayPtr weights = one.weights;
            result.push_back(one.op.main.AsConvolution2D() ? writeLayer(one) : wire::CreateOp(to_, &one.op));
            one.weights = nullptr;
            if (options_.forget && weights && !weights->lent.empty()) options_.forget(weights->lent);
            one.op.main.Reset();  // freed once written
        }
        if (to_.GetSize() > kMaxBytes)
            fail(Status::LimitExceeded, "the net has more than %zu bytes without its large arrays", kMaxBytes);
    }
    return result;
}

// Describes the steps by which tensors may be kept as codes. In a graph with such tensors it states which others are
// floats: without that, runtimes of the format give them the steps of their neighbours.
Offset<flatbuffers::Vector<Offset<wire::TensorDescribe>>> Writer::describe(const Scope& scope) {
    const std::map<int, Steps>& known = steps_[&scope];
    if (known.empty()) return 0;
    std::vector<Offset<wire::TensorDescribe>> all;
    for (size_t i = 0; i < scope.values.size(); ++i) {
        const auto steps = known.find(static_cast<int>(i));
        if (steps == known.end() && (scope.values[i]->constant || !scope.values[i]->isFloat())) continue;
        const auto info = steps == known.end()
                              ? wire::CreateTensorQuantInfo(to_, 0, 0, -128, 127, DataType::DT_FLOAT)
                              : wire::CreateTensorQuantInfo(to_, steps->second.scale, steps->second.zero, -128, 127,
                                                            DataType::DT_INT8);
        wire::TensorDescribeBuilder one(to_);
        one.add_index(static_cast<int>(i));
        one.add_quantInfo(info);
        all.push_back(one.Finish());
    }
    return to_.CreateVector(all);
}

WrittenNet Writer::write(const std::vector<V>& outputs) {
    for (const Scope& scope : builder_.scopes())
        for (const Operator& one : scope.operators) ++sharings_[one.source()].layers;
    sharings_.erase(std::weak_ptr<const Array>());
    for (const Value& value : builder_.values())
        if (value.tensor >= 0 && value.steps && !value.constant)
            steps_[value.scope][value.tensor] = value.writtenSteps();
    Scope& net = builder_.scopes().front();
    const std::vector<int> ids = tensorsOf(outputs);
    std::vector<Offset<flatbuffers::String>> outputNames, tensorNames;
    std::vector<Offset<wire::SubGraphProto>> bodies;
    for (size_t i = 1; i < builder_.scopes().size(); ++i) {
        Scope& scope = builder_.scopes()[i];
        if (scope.name.empty()) continue;
        const auto nodes = to_.CreateVector(writeOperators(scope, scope.outputs));
        const auto name = to_.CreateString(scope.name);
        const auto inputs = to_.CreateVector(scope.inputs);
        const auto results = to_.CreateVector(scope.outputs);
        const auto tensors = to_.CreateVectorOfStrings(scope.tensors);
        bodies.push_back(wire::CreateSubGraphProto(to_, name, inputs, results, tensors, nodes, describe(scope)));
    }
    const auto operators = to_.CreateVector(writeOperators(net, ids));
    for (const int id : ids) outputNames.push_back(to_.CreateString(net.tensors[static_cast<size_t>(id)]));
    for (const std::string& name : net.tensors) tensorNames.push_back(to_.CreateString(name));
    const auto outputVector = to_.CreateVector(outputNames);
    const auto tensorVector = to_.CreateVector(tensorNames);
    const auto bodyVector = to_.CreateVector(bodies);
    const auto version = to_.CreateString("3.6.1");
    wire::ExtraInfoBuilder extra(to_);
    extra.add_version(version);
    const auto extraInfo = extra.Finish();
    const auto bizCode = to_.CreateString("onnx");
    const auto described = describe(net);
    wire::NetBuilder result(to_);
    if (described.o) result.add_extraTensorDescribe(described);
    result.add_bizCode(bizCode);
    result.add_extraInfo(extraInfo);
    result.add_oplists(operators);
    result.add_outputName(outputVector);
    result.add_sourceType(wire::NetSource::ONNX);
    result.add_tensorName(tensorVector);
    if (!bodies.empty()) result.add_subgraphs(bodyVector);
    const auto root = result.Finish();
    to_.TrackMinAlign(sizeof(uint64_t));  // otherwise loading copies the bytes
    to_.Finish(root);
    if (wholeRows_)
        notes_.push_back(std::to_string(wholeRows_) + " layers have one scale for each row, because blocks of " +
                         std::to_string(options_.block) + " do not divide their rows.");
    if (uncoded_)
        notes_.push_back(std::to_string(uncoded_) +
                         " layers have halves in place of codes, because some weights are not finite or too large.");
    if (!weights_.empty()) notes_.push_back(std::to_string(weights_.size()) + " bytes of weights lie beside the net.");
    return {to_.Release(), std::move(weights_)};
}

}  // namespace

WrittenNet writeNet(Builder& builder, const std::vector<V>& outputs, const WriteOptions& options,
                    std::vector<std::string>& notes) {
    return Writer(builder, options, notes).write(outputs);
}

}  // namespace mnnc::onnx
