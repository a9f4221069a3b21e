// See builder.h.
#include "builder.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/error.h"

namespace mnnc::onnx {
namespace {

// Contents with more elements than this are tracked only if they are constants.
constexpr int64_t kMaxFollowed = 4096;
// A constant result with more elements than this is folded only where its inputs have at least a quarter as many.
constexpr int64_t kMaxGrown = 65536;
// A small file can ask for any number of operators, for example by pieces of a sequence.
constexpr size_t kMaxValues = size_t{1} << 20;

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
            return parameter.value.AsCastParam()->dstT != DataType::DT_FLOAT;
        case OpType::BroadcastTo:
        case OpType::Concat:
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

// The same array, which says that numbers were clamped where it has limits of 32 bits.
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

// The type of an output, from the types of the inputs alone.
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

std::string shortName(std::string_view name) {
    size_t end = std::min<size_t>(name.size(), 200);
    // Not within a character of several bytes.
    while (end > 0 && end < name.size() && (static_cast<unsigned char>(name[end]) & 0xc0) == 0x80) --end;
    return std::string(name.substr(0, end));
}

int64_t Value::extent(size_t axis) const {
    if (!fixed(axis))
        fail(Status::NotSupported, "axis %zu of '%s' has a free extent, and this form needs a number there", axis,
             name.c_str());
    return dims[0][axis];
}

void Operator::copyWeights(void* to, const std::function<void(Bytes)>& read) const {
    constexpr size_t kPiece = size_t{4} << 20;  // elements
    const bool lent = !weights->lent.empty();
    const auto* source = lent ? reinterpret_cast<const char*>(weights->lent.data())
                              : reinterpret_cast<const char*>(weights->floats.data());
    auto* target = static_cast<char*>(to);
    const size_t count = weights->floatCount();
    const auto isRead = [&](size_t begin, size_t end) {
        if (lent && read) read(weights->lent.subspan(begin * sizeof(float), (end - begin) * sizeof(float)));
    };
    if (!transposed) {
        for (size_t at = 0; at < count; at += kPiece) {
            const size_t end = std::min(at + kPiece, count);
            std::memcpy(target + at * sizeof(float), source + at * sizeof(float), (end - at) * sizeof(float));
            isRead(at, end);
        }
        return;
    }
    const auto k = static_cast<size_t>(weights->dims.at(0)), n = static_cast<size_t>(weights->dims.at(1));
    constexpr size_t kTogether = 16;  // values in a line of the cache
    const size_t rows = std::max<size_t>(kTogether, kPiece / std::max<size_t>(n, 1));
    for (size_t top = 0; top < k; top += rows) {
        const size_t bottom = std::min(top + rows, k);
        for (size_t first = 0; first < n; first += kTogether)
            for (size_t i = top; i < bottom; ++i)
                for (size_t j = first; j < std::min(first + kTogether, n); ++j)
                    std::memcpy(target + (j * k + i) * sizeof(float), source + (i * n + j) * sizeof(float),
                                sizeof(float));
        isRead(top * n, bottom * n);
    }
}

void Operator::fillWeights() {
    if (!weights) return;
    std::vector<float>& target = op.main.AsConvolution2D()->weight;
    target.resize(weights->floatCount());
    copyWeights(target.data(), nullptr);
    weights = nullptr;
}

V Builder::newValue(const std::string& name) {
    if (values_.size() >= kMaxValues)
        fail(Status::LimitExceeded, "the net has more than %zu values, those of repeated bodies and pieces counted",
             kMaxValues);
    Value& value = values_.emplace_back();
    value.name = name;
    value.scope = scope_;
    return &value;
}

V Builder::constant(const ArrayPtr& array, Elem elem, const std::string& name) {
    charge(*array);
    V value = newValue(name);
    value->type = array->type;
    value->elem = elem;
    value->dims = {array->dims, array->dims};
    value->content = {array, array};
    value->constant = true;
    return value;
}

V Builder::number(double value, const Value& like) {
    auto array = std::make_shared<Array>();
    array->type = like.type;
    if (like.type != DataType::DT_FLOAT && !(value >= -0x1p31 && value < 0x1p31))
        fail(Status::Overflow, "the number %g does not fit into 32 bits", value);
    if (like.type == DataType::DT_FLOAT)
        array->floats = {static_cast<float>(value)};
    else if (like.type == DataType::DT_INT32)
        array->ints = {static_cast<int32_t>(value)};
    else
        array->bytes = {static_cast<uint8_t>(static_cast<int32_t>(value))};
    return constant(array, like.elem);
}

V Builder::alias(V value, Elem elem) {
    if (value->elem == elem) return value;
    V other = newValue(value->name);
    *other = *value;
    other->elem = elem;
    return other;
}

V Builder::failedValue(const std::string& name) {
    V value = newValue(name);
    value->failed = true;
    return value;
}

V Builder::nothing(const std::string& name) {
    V value = newValue(name);
    value->isNothing = true;
    return value;
}

V Builder::sequence(const std::string& name, std::vector<V> elements) {
    take(elements.size() * sizeof(V));
    V value = newValue(name);
    value->isSequence = true;
    value->elements = std::move(elements);
    return value;
}

V Builder::codesOf(V real, Elem elem) {
    V value = newValue(name_);
    value->elem = elem;
    value->type = heldAs(elem);
    value->dims = real->dims;
    value->scope = real->scope;
    value->real = real;
    return value;
}

Operator* Builder::producer(V value) {
    if (value->constant || value->scope != scope_ || value->tensor < 0) return nullptr;
    for (size_t i = scope_->operators.size(); i-- > 0;)
        for (const int id : scope_->operators[i].op.outputIndexes)
            if (id == value->tensor) return &scope_->operators[i];
    return nullptr;
}

Scope& Builder::newScope(const std::string& name, Scope* outer) {
    Scope& scope = scopes_.emplace_back();
    scope.name = name;
    scope.outer = outer;
    return scope;
}

std::string Builder::freeName(const std::string& wished) {
    std::string name = wished.empty() ? "tensor" : wished;
    // Numbering continues after the last number for this name.
    for (int64_t& number = scope_->numbers[name]; !scope_->taken.insert(name).second;)
        name = wished + "/" + std::to_string(++number);
    return name;
}

void Builder::addTensor(V value) {
    value->tensor = static_cast<int>(scope_->tensors.size());
    scope_->tensors.push_back(value->name);
    scope_->values.push_back(value);
}

V Builder::input(const std::string& name, Elem elem, const std::array<Dims, kProbes>& dims,
                 const std::vector<bool>& chance) {
    const std::string whole = freeName(name);
    V value = newValue(shortName(whole));
    value->elem = elem;
    value->type = heldAs(elem);
    value->dims = dims;
    value->chance = chance;
    if (value->type == DataType::DT_INVALID)
        fail(Status::NotSupported, "the input '%s' is of %s, for which the .mnn format has no tensor", name.c_str(),
             elemName(elem));
    Operator& added = scope_->operators.emplace_back();
    added.op.type = OpType::Input;
    added.op.name = whole;
    wire::InputT table;
    table.dformat = wire::MNN_DATA_FORMAT::NCHW;
    table.dtype = value->type;
    for (size_t i = 0; i < dims[0].size(); ++i)
        table.dims.push_back(value->fixed(i) ? static_cast<int32_t>(dims[0][i]) : -1);
    added.op.main.Set(std::move(table));
    addTensor(value);
    scope_->tensors.back() = whole;
    added.op.outputIndexes = {value->tensor};
    return value;
}

V Builder::local(V value) {
    if (value->isNothing || value->isSequence)
        fail(Status::NotSupported, "'%s' is %s, and a tensor is needed", value->name.c_str(),
             value->isSequence ? "a sequence" : "an optional value that is not there");
    if (value->real) fail(Status::Internal, "the codes '%s' are used, and nothing made them", value->name.c_str());
    if (value->constant || value->scope == scope_) return value;
    if (const auto found = scope_->standIns.find(value); found != scope_->standIns.end()) return found->second;
    // Scopes between the value's and this one capture it first.
    Scope* here = scope_;
    V outer = value;
    if (here->outer && here->outer != value->scope) {
        scope_ = here->outer;
        outer = local(value);
        scope_ = here;
    }
    for (const auto& [other, inner] : scope_->captured)
        if (other->tensor == outer->tensor && other->scope == outer->scope) {
            V same = inner;
            if (inner->elem != outer->elem) same = alias(inner, outer->elem);
            scope_->standIns[value] = same;
            return same;
        }
    V inner = input(scope_->name + "/" + outer->name, outer->elem, outer->dims, outer->chance);
    inner->content = outer->content;
    inner->doubts = outer->doubts;
    scope_->captured.emplace_back(outer, inner);
    scope_->standIns[value] = inner;
    return inner;
}

int Builder::tensorOf(V value) {
    if (value->failed) fail(Status::Internal, "a value that failed is used");
    if (!value->constant) return local(value)->tensor;
    if (value->tensor >= 0 && value->scope == scope_) return value->tensor;
    if (const auto found = scope_->standIns.find(value); found != scope_->standIns.end()) return found->second->tensor;
    if (value->array().saturated)
        fail(Status::NotSupported, "the constant '%s' has integers beyond 32 bits, which the .mnn format cannot hold",
             value->name.c_str());
    V written = value;
    if (value->scope != scope_) {
        written = newValue(value->name);
        *written = *value;
        written->scope = scope_;
        scope_->standIns[value] = written;
    }
    written->name = freeName(value->name);
    addTensor(written);
    Operator& added = scope_->operators.emplace_back();
    added.op.type = OpType::Const;
    added.op.name = written->name;
    added.op.outputIndexes = {written->tensor};
    added.constant = written->content[0];
    return written->tensor;
}

void Builder::giveNames(const std::vector<std::pair<V, std::string>>& names) {
    std::unordered_map<std::string, size_t> at;
    for (size_t i = 0; i < scope_->tensors.size(); ++i) at[scope_->tensors[i]] = i;
    for (const auto& [value, name] : names) {
        const auto tensor = static_cast<size_t>(value->tensor);
        const auto other = at.find(name);
        if (other != at.end() && other->second != tensor) {
            scope_->tensors[other->second] = freeName(name);
            at[scope_->tensors[other->second]] = other->second;
        }
        at.erase(scope_->tensors[tensor]);
        scope_->tensors[tensor] = name;
        at[name] = tensor;
        scope_->taken.insert(name);
    }
}

V Builder::addLike(Scope& scope, const Value& like, const std::string& name, DataType type) {
    Scope* before = scope_;
    scope_ = &scope;
    V value = newValue(freeName(name));
    value->type = type;
    value->elem = type == DataType::DT_INT8 ? Elem::Int8 : Elem::Float;
    value->dims = like.dims;
    value->chance = like.chance;
    value->steps = like.steps;
    addTensor(value);
    scope_ = before;
    return value;
}

V Builder::copy(V value) {
    value = local(value);
    V result = newValue(name_);
    result->elem = value->elem;
    result->type = value->type;
    result->dims = value->dims;
    result->content = value->content;
    result->doubts = value->doubts;
    result->chance = value->chance;
    append(OpType::Identity, {}, {value}, {result});
    return result;
}

std::array<Dims, kProbes> Builder::openPlaces(V value, int64_t rank) {
    auto& dims = places_[value];
    if (dims[0].empty()) dims = openDims({-1, rank});
    return dims;
}

std::array<Dims, kProbes> Builder::openList(V count) {
    auto& dims = lists_[count];
    if (dims[0].empty()) dims = openDims({-1});
    return dims;
}

std::array<Dims, kProbes> Builder::openShape(V dims, size_t rank) {
    auto& known = shapes_[{dims, rank}];
    if (known[0].size() != rank) known = openDims(freeAxes(rank));
    return known;
}

std::vector<int64_t> Builder::freeAxes(size_t rank) {
    if (rank > MNN_MAX_RANK)
        fail(Status::NotSupported, "a tensor has %lld axes; the format has 0 to %d", asLong(rank),
             static_cast<int>(MNN_MAX_RANK));
    return std::vector<int64_t>(rank, -1);
}

std::array<Dims, kProbes> Builder::openDims(const std::vector<int64_t>& dims) {
    std::array<Dims, kProbes> result{dims, dims};
    for (size_t i = 0; i < dims.size(); ++i) {
        if (dims[i] >= 0) continue;
        result[0][i] = 5 + opened_ % 3;
        result[1][i] = 11 + opened_ % 3;
        probes = 2;
        ++opened_;
    }
    return result;
}

Operand Builder::operand(const Value& value, size_t probe, bool all) const {
    Operand operand{value.type, value.dims[probe], nullptr};
    const ArrayPtr& content = value.content[probe];
    if (content && (all || content->count() <= kMaxFollowed)) operand.content = content;
    return operand;
}

size_t Builder::looseRank(OpType type, const Parameter& parameter, const std::vector<V>& inputs,
                          const Error& refused) const {
    if (open_) return (*open_)[0].size();
    size_t most = 0;
    for (const V value : inputs) most = std::max(most, value->rank());
    const size_t first = inputs.empty() ? 0 : inputs[0]->rank();
    const wire::OpParameterUnion& table = parameter.value;
    switch (type) {
        case OpType::BinaryOp:
        case OpType::MatMul:
        case OpType::Select:
            return most;
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

// Computes the operator where the contents of all inputs are known. Returns whether all outputs are constants.
bool Builder::fold(OpType type, const Parameter& parameter, const std::vector<V>& inputs, std::vector<V>& outputs) {
    bool allConstant = true, allKnown = true, clamped = false;
    int64_t elements = 0;
    for (const V value : inputs) {
        allConstant = allConstant && value->constant;
        for (int p = 0; p < probes; ++p)
            allKnown = allKnown && value->content[p] && (value->constant || value->content[p]->count() <= kMaxFollowed);
        clamped = clamped || (value->content[0] && value->content[0]->saturated);
        // Where not all are constants, the number is of no interest, and their sum may overflow.
        const int64_t count = value->elementCount();
        if (allConstant) elements += count;
    }
    const int64_t most = allConstant ? std::max(kMaxGrown, 4 * elements) : kMaxFollowed;
    // An operator that is not folded refuses clamped constants when it is written.
    const bool wanted = allKnown && !isRandom(type) && !inputs.empty() && (!clamped || takesClamped(type, parameter));
    std::vector<bool> unknown(outputs.size());  // outputs whose extents, those of both probes, are declared or open
    for (int p = 0; p < (allConstant && wanted ? 1 : probes); ++p) {
        std::vector<Operand> operands;
        operands.reserve(inputs.size());
        for (const V value : inputs) operands.push_back(operand(*value, static_cast<size_t>(p), wanted));
        std::vector<Result> results;
        try {
            results = evaluator_(type, parameter.value, operands, outputs.size(), wanted ? most : -1);
        } catch (const Error& error) {
            if (!lenient || allConstant || error.status() == Status::OutOfMemory || error.status() == Status::Cancelled)
                throw;
            const size_t rank = looseRank(type, parameter, inputs, error);
            if (!unknown.at(0)) ++unchecked;  // once for both probes
            if (!open_) openRank(rank);
            results.resize(outputs.size());
            if (outputs.size() > 1) throw;
        }
        for (size_t i = 0; i < outputs.size(); ++i) {
            if (unknown[i]) continue;
            Value& value = *outputs[i];
            const auto at = static_cast<size_t>(p);
            const bool known = results[i].known || results[i].content;
            if (known) value.type = results[i].type;
            value.content[at] = clamped && results[i].content ? markedClamped(results[i].content) : results[i].content;
            if (value.content[at]) charge(*value.content[at]);
            if (known) {
                value.dims[at] = results[i].dims;
                continue;
            }
            unknown[i] = true;
            value.content = {};
            // An output with unknown extents has an unknown type, too.
            if (p == 0) value.type = looseType(type, parameter, inputs);
            std::array<Dims, kProbes> dims;
            const bool has = !(open_ && openAlways_) && declared && declared(i, dims) &&
                             (!open_ || (*open_)[0].size() == dims[0].size());
            if (!has && !(open_ && i == 0))
                fail(Status::NotSupported,
                     "the shape of an output depends on values that only a run has, and the file does not "
                     "declare its rank");
            if (!has) dims = *open_;
            probes = 2;
            value.dims = dims;
        }
    }
    const bool alike = probes == 1 || (allConstant && wanted);
    for (const V value : outputs) {
        if (alike) {
            value->dims[1] = value->dims[0];
            value->content[1] = value->content[0];
        } else if (value->dims[0].size() != value->dims[1].size()) {
            fail(Status::NotSupported, "the rank of an output depends on free extents");
        }
    }
    if (!alike) noteChance(type, parameter, inputs, outputs);
    bool constant = wanted;
    for (size_t i = 0; i < outputs.size(); ++i) {
        V value = outputs[i];
        const auto& [first, second] = value->content;
        const bool same = first && second &&
                          (first == second || (first->dims == second->dims && first->ints == second->ints &&
                                               first->floats == second->floats && first->bytes == second->bytes));
        if (first && second && !allConstant && probes > 1) value->doubts = doubtsOf(type, parameter, inputs, i, *value);
        value->constant = same && value->doubts.empty() && value->chance.empty();
        constant = constant && value->constant;
    }
    if (!constant)
        for (const V value : outputs) value->constant = false;
    return constant;
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
        added.op.outputIndexes.push_back(value->tensor);
    }
    added.op.name = name_;
}

std::vector<V> Builder::op(OpType type, const Parameter& parameter, std::vector<V> inputs, size_t outputs) {
    for (V& value : inputs) value = local(value);
    std::vector<V> results;
    for (size_t i = 0; i < outputs; ++i) results.push_back(newValue(name_));
    const bool folded = fold(type, parameter, inputs, results);
    open_.reset();
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
        results.push_back(value);
    }
    carryChance(inputs, results);
    append(type, parameter, inputs, results);
    return results;
}

}  // namespace mnnc::onnx
