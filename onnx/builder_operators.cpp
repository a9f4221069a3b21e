// The builder adds operators, or folds them where the contents of their inputs are known.
#include <algorithm>
#include <limits>

#include "base/error.h"
#include "builder.h"

namespace mnnc::onnx {
namespace {

// Contents with more elements than this are tracked only if they are constants.
constexpr int64_t kMaxFollowed = 4096;
// A constant result with more elements than this is folded only where its inputs have at least a quarter as many.
constexpr int64_t kMaxGrown = 65536;
// Operators over more bytes are not folded: the net that computes them would exceed the format's 2 GiB.
constexpr uint64_t kMaxFolded = uint64_t{2000} << 20;

bool isRandom(OpType type) {
    return type == OpType::RandomUniform || type == OpType::RandomNormal;
}

bool isComparison(Binary code) {
    switch (code) {
        case Binary::GREATER:
        case Binary::GREATER_EQUAL:
        case Binary::LESS:
        case Binary::LESS_EQUAL:
        case Binary::EQUAL:
        case Binary::NOTEQUAL:
            return true;
        default:
            return false;
    }
}

// Whether the operator gives right results for integers that were clamped to 32 bits: it moves them, which keeps them
// recognisable, or compares them with others.
bool takesClamped(OpType type, const Parameter& parameter) {
    switch (type) {
        case OpType::BinaryOp: {
            const Binary code = parameter.value.AsBinaryOp()->opType;
            return isComparison(code) || code == Binary::MINIMUM || code == Binary::MAXIMUM;
        }
        case OpType::Cast:
            return parameter.value.AsCastParam()->dstT == DataType::DT_INT32 ||
                   parameter.value.AsCastParam()->dstT == DataType::DT_BOOL;
        case OpType::BroadcastTo:
        case OpType::Concat:
        case OpType::Fill:
        case OpType::Flatten:
        case OpType::GatherV2:
        case OpType::Identity:
        case OpType::Permute:
        case OpType::Reshape:
        case OpType::Select:
        case OpType::Slice:
        case OpType::Squeeze:
        case OpType::StridedSlice:
        case OpType::Tile:
        case OpType::Unsqueeze:
            return true;
        default:
            return false;
    }
}

// Returns the same array, marked as clamped where it contains a limit of 32 bits.
ArrayPtr markedClamped(const ArrayPtr& array) {
    const auto isLimit = [](int32_t value) {
        return value == std::numeric_limits<int32_t>::min() || value == std::numeric_limits<int32_t>::max();
    };
    if (std::none_of(array->ints.begin(), array->ints.end(), isLimit)) return array;
    auto marked = std::make_shared<Array>(*array);
    marked->saturated = true;
    marked->charged = false;
    return marked;
}

// Returns the type of an output, from the types of the inputs only.
DataType looseType(OpType type, const Parameter& parameter, const std::vector<V>& inputs) {
    const auto like = [&](size_t i) { return inputs.at(i)->type; };
    switch (type) {
        case OpType::Shape:
        case OpType::Size:
            return DataType::DT_INT32;
        case OpType::BinaryOp:
            return isComparison(parameter.value.AsBinaryOp()->opType) ? DataType::DT_INT32 : like(0);
        case OpType::Fill:
        case OpType::ScatterNd:
        case OpType::Select:
            return like(1);
        case OpType::OneHot:
            return like(2);
        default:
            return like(0);
    }
}

}  // namespace

Operand Builder::operand(const Value& value, size_t probe, bool all) const {
    Operand operand{value.type, value.dims[probe], nullptr};
    const ArrayPtr& content = value.content[probe];
    if (content && (all || content->count() <= kMaxFollowed)) operand.content = content;
    return operand;
}

size_t Builder::looseRank(OpType type, const Parameter& parameter, const std::vector<V>& inputs,
                          const Error& refused) const {
    if (open_) return (*open_)[0].size();
    size_t maxRank = 0;
    for (const V value : inputs) maxRank = std::max(maxRank, value->rank());
    const size_t first = inputs.empty() ? 0 : inputs[0]->rank();
    const wire::OpParameterUnion& table = parameter.value;
    switch (type) {
        case OpType::BinaryOp:
        case OpType::Select:
            return maxRank;
        case OpType::MatMul: {
            const size_t second = inputs.at(1)->rank();
            return first == 1 && second == 1 ? 0 : maxRank - (first == 1 || second == 1 ? 1 : 0);
        }
        case OpType::Concat:
        case OpType::Convolution:
        case OpType::ConvolutionDepthwise:
        case OpType::Deconvolution:
        case OpType::DeconvolutionDepthwise:
        case OpType::GatherElements:
        case OpType::GridSample:
        case OpType::LayerNorm:
        case OpType::PReLU:
        case OpType::Padding:
        case OpType::Permute:
        case OpType::Scale:
        case OpType::ScatterElements:
        case OpType::StridedSlice:
        case OpType::UnaryOp:
            return first;
        case OpType::ScatterNd:  // the extents of the result are its third operand
            return static_cast<size_t>(inputs.at(2)->elementCount());
        case OpType::Flatten:
            return 2;
        case OpType::GatherV2:
            return first + inputs.at(1)->rank() - 1;
        case OpType::Reshape:
            if (table.AsReshape() && inputs.size() == 1) return table.AsReshape()->dims.size();
            break;
        case OpType::Reduction:
            if (table.AsReductionParam() && inputs.size() == 1)
                return table.AsReductionParam()->keepDims ? first : first - table.AsReductionParam()->dim.size();
            break;
        case OpType::Squeeze:
            if (table.AsSqueezeParam() && inputs.size() == 1) return first - table.AsSqueezeParam()->squeezeDims.size();
            break;
        default:
            break;
    }
    throw refused;
}

Builder::Evaluation Builder::evaluationOf(OpType type, const Parameter& parameter, const std::vector<V>& inputs) const {
    Evaluation how;
    bool allKnown = true;
    int64_t elements = 0;
    uint64_t bytes = 0;
    for (const V value : inputs) {
        how.allConstant = how.allConstant && value->constant;
        bytes += value->constant ? value->array().byteSize() : 0;
        for (int p = 0; p < probes; ++p)
            allKnown = allKnown && value->content[p] && (value->constant || value->content[p]->count() <= kMaxFollowed);
        how.clamped = how.clamped || (value->content[0] && value->content[0]->saturated);
        // Where not all are constants, the number is of no interest, and their sum may overflow.
        const int64_t count = value->elementCount();
        if (how.allConstant) elements += count;
    }
    how.maxElements = how.allConstant ? std::max(kMaxGrown, 4 * elements) : kMaxFollowed;
    // An operator that is not folded refuses clamped constants when it is written.
    how.computes = allKnown && !isRandom(type) && !inputs.empty() && bytes <= kMaxFolded &&
                   (!how.clamped || takesClamped(type, parameter));
    return how;
}

// Evaluates the operator with the numbers of a probe. unknown: the outputs whose extents are open already.
std::vector<Result> Builder::evaluate(OpType type, const Parameter& parameter, const std::vector<V>& inputs,
                                      const Evaluation& how, size_t probe, const std::vector<bool>& unknown) {
    std::vector<Operand> operands;
    operands.reserve(inputs.size());
    for (const V value : inputs) operands.push_back(operand(*value, probe, how.computes));
    try {
        return evaluator_(type, parameter.value, operands, unknown.size(), how.computes ? how.maxElements : -1);
    } catch (const Error& error) {
        if (!lenient || how.allConstant || error.status() == Status::OutOfMemory || error.status() == Status::Cancelled)
            throw;
        const size_t rank = looseRank(type, parameter, inputs, error);
        if (!unknown.at(0)) ++unchecked;  // once for both probes
        if (!open_) openRank(rank);
        if (unknown.size() > 1) throw;
        return std::vector<Result>(unknown.size());
    }
}

// Gives an output whose extents depend on contents the declared extents, or those that its rule has opened.
void Builder::openOutput(size_t output, Value& value) {
    value.content = {};
    std::array<Dims, kProbes> dims;
    const bool has = !(open_ && openAlways_) && declared && declared(output, dims) &&
                     (!open_ || (*open_)[0].size() == dims[0].size());
    if (!has && !(open_ && output == 0))
        fail(Status::NotSupported,
             "the shape of an output depends on values that only a run has, and the file does not declare its rank");
    if (!has) dims = *open_;
    probes = 2;
    value.dims = dims;
}

// Marks the outputs as constants if all of them have the same contents in every run. Returns whether they have.
bool Builder::markConstants(OpType type, const Parameter& parameter, const std::vector<V>& inputs,
                            const Evaluation& how, const std::vector<V>& outputs) const {
    bool constant = how.computes;
    for (size_t i = 0; i < outputs.size(); ++i) {
        V value = outputs[i];
        const auto& [first, second] = value->content;
        const bool same = first && second &&
                          (first == second || (first->dims == second->dims && first->ints == second->ints &&
                                               first->floats == second->floats && first->bytes == second->bytes));
        if (first && second && !how.allConstant && probes > 1)
            value->doubts = doubtsOf(type, parameter, inputs, i, *value);
        value->constant = same && value->doubts.empty() && value->chance.empty();
        constant = constant && value->constant;
    }
    if (!constant)
        for (const V value : outputs) value->constant = false;
    return constant;
}

// Sets the types, extents and known contents of the outputs. Returns whether all outputs are constants.
bool Builder::fold(OpType type, const Parameter& parameter, const std::vector<V>& inputs, std::vector<V>& outputs) {
    const Evaluation how = evaluationOf(type, parameter, inputs);
    std::vector<bool> unknown(outputs.size());  // outputs whose extents, those of both probes, are declared or open
    for (int p = 0; p < (how.allConstant && how.computes ? 1 : probes); ++p) {
        const auto at = static_cast<size_t>(p);
        const std::vector<Result> results = evaluate(type, parameter, inputs, how, at, unknown);
        for (size_t i = 0; i < outputs.size(); ++i) {
            if (unknown[i]) continue;
            Value& value = *outputs[i];
            const ArrayPtr& content = results[i].content;
            value.content[at] = how.clamped && content ? markedClamped(content) : content;
            if (value.content[at]) charge(*value.content[at]);
            if (results[i].known || content) {
                value.type = results[i].type;
                value.dims[at] = results[i].dims;
                continue;
            }
            unknown[i] = true;
            // An output with unknown extents has an unknown type, too.
            if (p == 0) value.type = looseType(type, parameter, inputs);
            openOutput(i, value);
        }
    }
    const bool alike = probes == 1 || (how.allConstant && how.computes);
    for (const V value : outputs) {
        if (alike) {
            value->dims[1] = value->dims[0];
            value->content[1] = value->content[0];
        } else if (value->dims[0].size() != value->dims[1].size()) {
            fail(Status::NotSupported, "the rank of an output depends on free extents");
        }
    }
    if (!alike) noteChance(type, parameter, inputs, outputs);
    return markConstants(type, parameter, inputs, how, outputs);
}

void Builder::append(OpType type, const Parameter& parameter, const std::vector<V>& inputs,
                     const std::vector<V>& outputs) {
    std::vector<int32_t> ids;
    ids.reserve(inputs.size());
    for (const V value : inputs) ids.push_back(tensorOf(value));
    chargeTable(parameter.value);
    Operator& added = scope_->operators.emplace_back();
    added.op.type = type;
    added.op.main = parameter.value;
    added.op.inputIndexes = std::move(ids);
    added.op.defaultDimentionFormat = wire::MNN_DATA_FORMAT::NCHW;
    for (const V value : outputs) {
        value->name = freeName(value->name);
        addTensor(value);
        value->producer = scope_->operators.size() - 1;
        added.op.outputIndexes.push_back(value->tensor);
    }
    added.op.name = name_;
}

std::vector<V> Builder::op(OpType type, const Parameter& parameter, std::vector<V> inputs, size_t outputs) {
    for (V& value : inputs) value = local(value);
    std::vector<V> results;
    for (size_t i = 0; i < outputs; ++i) results.push_back(newValue(name_));
    struct Closing {
        std::optional<std::array<Dims, kProbes>>& open;
        ~Closing() { open.reset(); }
    } const closing{open_};  // also where the operator is refused
    const bool folded = fold(type, parameter, inputs, results);
    for (const V value : results) {
        // Integers keep the type that ONNX gives them; the rule of an operator that changes it sets it.
        const Elem like = inputs.empty() ? Elem::Float : inputs[0]->elem;
        if (value->type == DataType::DT_FLOAT)
            value->elem = heldAs(like) == DataType::DT_FLOAT ? like : Elem::Float;
        else if (value->type == DataType::DT_INT32)
            value->elem = heldAs(like) == DataType::DT_INT32 ? like : Elem::Int64;
        else
            value->elem = value->type == DataType::DT_UINT8 ? Elem::Uint8 : Elem::Int8;
    }
    if (folded)
        ++folded_;
    else
        append(type, parameter, inputs, results);
    return results;
}

std::vector<V> Builder::given(OpType type, const Parameter& parameter, std::vector<V> inputs,
                              const std::vector<Output>& outputs) {
    for (V& value : inputs) value = local(value);
    std::vector<V> results;
    for (const Output& output : outputs) {
        V value = newValue(name_);
        value->type = output.type;
        value->elem = value->type == DataType::DT_FLOAT ? Elem::Float : Elem::Int64;
        value->dims = output.dims;
        value->chance = output.chance;
        results.push_back(value);
    }
    carryChance(type, inputs, results);
    append(type, parameter, inputs, results);
    return results;
}

}  // namespace mnnc::onnx
