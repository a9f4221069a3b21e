// The builder's values, scopes and open extents.
#include "builder.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "base/error.h"

namespace mnnc::onnx {
namespace {

// A small file can ask for any number of operators, for example by pieces of a sequence.
constexpr size_t kMaxValues = size_t{1} << 20;

}  // namespace

std::string shortName(std::string_view name) {
    size_t end = std::min<size_t>(name.size(), 200);
    // A character of several bytes is not cut.
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
    value->fourBits = elem == Elem::Uint4 || elem == Elem::Int4;
    value->elem = elem == Elem::Uint4 ? Elem::Uint8 : elem == Elem::Int4 ? Elem::Int8 : elem;
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
    value->shared = true;
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
    take(std::span(elements).size_bytes());
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
    return &scope_->operators[value->producer];
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
    if (value->dims[0] != value->dims[1]) probes = 2;
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
    value->producer = scope_->operators.size() - 1;
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
    V& inner = scope_->standInOf[outer->tensor];
    if (!inner) {
        inner = input(scope_->name + "/" + outer->name, outer->elem, outer->dims, outer->chance);
        inner->content = outer->content;
        inner->doubts = outer->doubts;
        scope_->captured.emplace_back(outer, inner);
    }
    return scope_->standIns[value] = alias(inner, outer->elem);
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

void Builder::nameResult(V value, std::string_view name, size_t first) {
    if (value->scope != scope_ || value->tensor < static_cast<int>(first)) return;
    const std::string wished = shortName(name);
    std::vector<std::string>& names = scope_->tensors;
    const auto own = static_cast<size_t>(value->tensor);
    if (names[own] == wished) return;
    if (scope_->taken.insert(wished).second) {
        names[own] = value->name = wished;
        return;
    }
    if (wished != name_) return;
    const auto holder = std::find(names.begin() + static_cast<ptrdiff_t>(first), names.end(), wished);
    if (holder == names.end()) return;
    std::swap(names[own], *holder);
    std::swap(value->name, scope_->values[static_cast<size_t>(holder - names.begin())]->name);
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
        ++opened_;
    }
    return result;
}

}  // namespace mnnc::onnx
