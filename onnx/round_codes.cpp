// See round_codes.h. The engine chooses the operators that compute with codes; this file derives the same choice from
// the net.
#include "round_codes.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "model/int8_limits.h"
#include "moves.h"

namespace mnnc::onnx {
namespace {

// Returns whether the engine computes the operator's results. Others only move elements.
bool computes(OpType type) {
    switch (type) {
        case OpType::BinaryOp:
        case OpType::Convolution:
        case OpType::ConvolutionDepthwise:
        case OpType::Deconvolution:
        case OpType::ELU:
        case OpType::Input:
        case OpType::Int8ToFloat:
        case OpType::Interp:
        case OpType::LayerNorm:
        case OpType::MatMul:
        case OpType::Pooling:
        case OpType::PReLU:
        case OpType::Reduction:
        case OpType::ReLU:
        case OpType::ReLU6:
        case OpType::Selu:
        case OpType::Softmax:
        case OpType::UnaryOp:
            return true;
        default:
            return false;
    }
}

class Rounding {
  public:
    Rounding(Builder& builder, Scope& scope, const std::vector<int>& outputs)
        : builder_(builder),
          scope_(scope),
          producers_(scope.tensors.size(), -1),
          consumers_(scope.tensors.size()),
          given_(scope.tensors.size()),
          coded_(scope.operators.size()),
          grouped_(scope.operators.size()),
          sources_(scope.tensors.size(), -1),
          origins_(scope.tensors.size()) {
        for (size_t i = 0; i < scope.operators.size(); ++i)
            for (const int id : op(i).outputIndexes) producers_[at(id)] = static_cast<int>(i);
        std::vector<bool> live(scope.operators.size());
        std::vector<int> open = outputs;
        for (const int id : outputs) given_[at(id)] = true;
        while (!open.empty()) {
            const int producer = producers_[at(open.back())];
            open.pop_back();
            if (producer < 0 || live[at(producer)]) continue;
            live[at(producer)] = true;
            for (const int id : op(at(producer)).inputIndexes) open.push_back(id);
        }
        for (size_t i = 0; i < scope.operators.size(); ++i)
            if (live[i])
                for (const int id : op(i).inputIndexes) consumers_[at(id)].push_back(i);
        live_ = std::move(live);
    }

    void run(std::map<std::string, int64_t>& floats) {
        for (size_t i = 0; i < coded_.size(); ++i) {
            findOrigins(i);
            coded_[i] = live_[i] && computesCodes(i);
        }
        leaveLoneActivations();
        findGroups();
        std::vector<Operator> result;
        std::map<int, int> rounded;  // inputs, and their replacements for consumers
        for (size_t i = 0; i < coded_.size(); ++i) {
            std::vector<int> wanted;
            for (const int id : op(i).outputIndexes) {
                if (!live_[i] || !needsRounding(i, id)) continue;
                if (op(i).type != OpType::Input) ++floats[wire::EnumNameOpType(op(i).type)];
                if (readsFloats(id)) wanted.push_back(id);
            }
            const OpType type = op(i).type;
            Operator moved = std::move(scope_.operators[i]);
            for (int& id : moved.op.inputIndexes)
                if (const auto found = rounded.find(id); found != rounded.end()) id = found->second;
            const bool isInput = type == OpType::Input;
            std::vector<std::pair<int, int>> pairs;
            for (const int id : wanted) {
                if (isInput) {
                    rounded[id] = added(id, "/rounded", DataType::DT_FLOAT)->tensor;
                    pairs.emplace_back(id, rounded[id]);
                    scope_.values[at(id)]->steps.reset();
                    continue;
                }
                V raw = added(id, "/raw", DataType::DT_FLOAT);
                raw->steps.reset();
                raw->ownSteps = false;
                std::replace(moved.op.outputIndexes.begin(), moved.op.outputIndexes.end(), id, raw->tensor);
                pairs.emplace_back(raw->tensor, id);
            }
            result.push_back(std::move(moved));
            for (const auto& [from, to] : pairs) addPair(from, to, result);
        }
        scope_.operators = std::move(result);
    }

  private:
    static size_t at(int id) { return static_cast<size_t>(id); }
    const wire::OpT& op(size_t i) const { return scope_.operators[i].op; }
    const Value& value(int id) const { return *scope_.values[at(id)]; }
    bool known(int id) const { return value(id).steps && value(id).isFloat() && !value(id).constant; }
    bool sameSteps(int a, int b) const {
        return known(a) && known(b) && value(a).steps == value(b).steps && !value(a).ownSteps && !value(b).ownSteps;
    }
    bool sameDims(int a, int b) const { return value(a).dims == value(b).dims; }

    // The number of inputs whose elements are moved; others are parameters.
    size_t dataCount(size_t i) const { return op(i).type == OpType::Concat ? op(i).inputIndexes.size() : 1; }

    // Finds the steps of the value before the first of consecutive moves: the engine moves codes only with those.
    // Behind operators that it may carry out as moves they count as unknown.
    void findOrigins(size_t i) {
        for (const int id : op(i).outputIndexes) {
            std::optional<Steps>& origin = origins_[at(id)];
            if (known(id) && computes(op(i).type)) origin = value(id).steps;
            if (!movesElements(op(i).type) || op(i).inputIndexes.empty()) continue;
            origin = origins_[at(op(i).inputIndexes[0])];
            for (size_t k = 1; k < dataCount(i); ++k)
                if (origins_[at(op(i).inputIndexes[k])] != origin) origin.reset();
        }
    }

    // Returns whether the engine computes the operator with codes, as it does in quantised nets of the format.
    bool computesCodes(size_t i) const {
        const wire::OpT& one = op(i);
        if (one.inputIndexes.empty() || one.outputIndexes.size() != 1 || !known(one.outputIndexes[0])) return false;
        const int in = one.inputIndexes[0], out = one.outputIndexes[0];
        switch (one.type) {
            case OpType::Convolution:
            case OpType::ConvolutionDepthwise: {
                const wire::Convolution2DT* table = one.main.AsConvolution2D();
                if (one.inputIndexes.size() != 1 || !known(in) || !table || !table->quanParameter) return false;
                const wire::Convolution2DCommonT& form = *table->common;
                const bool depthwise = one.type == OpType::ConvolutionDepthwise;
                const int64_t channels = depthwise ? 1 : form.inputCount / std::max(form.group, 1);
                return !int8Objection({depthwise, table->quanParameter->readType != 0, form.group,
                                       channels * form.kernelX * form.kernelY, form.kernelX, form.kernelY,
                                       form.dilateX});
            }
            case OpType::BinaryOp: {
                if (one.inputIndexes.size() != 2) return false;
                const wire::BinaryOpT* table = one.main.AsBinaryOp();
                if (!table || table->opType < Binary::ADD || table->opType > Binary::MUL) return false;
                for (const int id : one.inputIndexes)
                    if (!known(id) || !sameDims(id, out)) return false;
                return true;
            }
            case OpType::Pooling:
            case OpType::ReLU6:
                return sameSteps(in, out);
            case OpType::ReLU:
                return sameSteps(in, out) && (!one.main.AsRelu() || one.main.AsRelu()->slope == 0);
            default:
                break;
        }
        if (!movesElements(one.type)) return false;
        for (size_t k = 0; k < dataCount(i); ++k)
            if (!sameSteps(one.inputIndexes[k], out)) return false;
        return origins_[at(out)] == value(out).steps;
    }

    // The engine computes an activation with codes only next to another operator with codes.
    void leaveLoneActivations() {
        const std::vector<bool> before = coded_;
        for (size_t i = 0; i < coded_.size(); ++i) {
            if (!before[i] || (op(i).type != OpType::ReLU && op(i).type != OpType::ReLU6)) continue;
            const int producer = producers_[at(op(i).inputIndexes[0])];
            if (producer >= 0 && before[at(producer)]) continue;
            const std::vector<size_t>& all = consumers_[at(op(i).outputIndexes[0])];
            if (std::none_of(all.begin(), all.end(), [&](size_t consumer) { return before[consumer]; }))
                coded_[i] = false;
        }
    }

    bool isNumber(int id) const { return value(id).constant && value(id).elementCount() == 1; }

    // The first tensor of the element-wise chain that contains this operator; -1: it is in none.
    int sourceOf(size_t i) const {
        const wire::OpT& one = op(i);
        if (one.outputIndexes.size() != 1 || !value(one.outputIndexes[0]).isFloat()) return -1;
        switch (one.type) {
            case OpType::BinaryOp:
            case OpType::ELU:
            case OpType::ReLU:
            case OpType::ReLU6:
            case OpType::Selu:
            case OpType::UnaryOp:
                break;
            default:
                return -1;
        }
        int source = -1;
        for (const int id : one.inputIndexes) {
            if (isNumber(id)) continue;
            if (value(id).constant || !sameDims(id, one.outputIndexes[0])) return -1;
            const int producer = producers_[at(id)];
            const bool inside = producer >= 0 && grouped_[at(producer)] && sources_[at(id)] >= 0;
            const int from = inside ? sources_[at(id)] : id;
            if (source >= 0 && source != from) return -1;
            source = from;
        }
        return source;
    }

    // The operand with one value for each channel that stays a float.
    int gateOf(size_t i) const {
        const wire::OpT& one = op(i);
        const wire::BinaryOpT* table = one.main.AsBinaryOp();
        if (one.type != OpType::BinaryOp || !table || one.inputIndexes.size() != 2 ||
            (table->opType != Binary::ADD && table->opType != Binary::MUL))
            return -1;
        const Value& whole = value(one.outputIndexes[0]);
        for (const size_t k : {size_t{1}, size_t{0}}) {
            const Value &small = value(one.inputIndexes[k]), &big = value(one.inputIndexes[1 - k]);
            if (big.dims != whole.dims || small.rank() != whole.rank() || whole.rank() < 2) continue;
            bool fits = small.dims[0][1] == whole.dims[0][1];
            for (size_t axis = 2; axis < whole.rank(); ++axis) fits = fits && small.dims[0][axis] == 1;
            if (fits) return static_cast<int>(k);
        }
        return -1;
    }

    // Whether an operator may compute with codes if all operators around it do.
    bool isCandidate(size_t i) {
        const wire::OpT& one = op(i);
        if (!live_[i] || coded_[i] || one.outputIndexes.size() != 1) return false;
        const int out = one.outputIndexes[0], source = sourceOf(i);
        if (source >= 0) {
            sources_[at(out)] = source;
            return true;
        }
        if (!known(out)) return false;
        if (one.type == OpType::PReLU || one.type == OpType::Interp || movesElements(one.type)) return true;
        return gateOf(i) >= 0;
    }

    bool isMadeAsCodes(int id) const {
        if (!known(id)) return false;
        const int producer = producers_[at(id)];
        return producer >= 0 &&
               (coded_[at(producer)] || grouped_[at(producer)] || op(at(producer)).type == OpType::Int8ToFloat);
    }

    bool readsCodes(size_t consumer, int id) const {
        if (coded_[consumer]) return true;
        if (!grouped_[consumer]) return false;
        const int gate = sources_[at(op(consumer).outputIndexes[0])] >= 0 ? -1 : gateOf(consumer);
        return gate < 0 || op(consumer).inputIndexes[at(gate)] != id;
    }

    bool stays(size_t i) const {
        const int out = op(i).outputIndexes[0], source = sources_[at(out)];
        if (given_[at(out)] || consumers_[at(out)].empty()) return false;
        // No codes are produced inside of a chain.
        bool inside = source >= 0;
        for (const size_t consumer : consumers_[at(out)])
            inside = inside && grouped_[consumer] && sources_[at(op(consumer).outputIndexes[0])] == source;
        if (!inside) {
            if (!known(out)) return false;
            for (const size_t consumer : consumers_[at(out)])
                if (!readsCodes(consumer, out)) return false;
        }
        if (source >= 0) return isMadeAsCodes(source);
        if (movesElements(op(i).type)) {
            for (size_t k = 0; k < dataCount(i); ++k)
                if (!isMadeAsCodes(op(i).inputIndexes[k])) return false;
            return true;
        }
        const int gate = gateOf(i);
        return isMadeAsCodes(op(i).inputIndexes[gate < 0 ? 0 : 1 - at(gate)]);
    }

    void findGroups() {
        const size_t count = grouped_.size();
        for (size_t i = 0; i < count; ++i) grouped_[i] = isCandidate(i);
        // A chain may lose all its operators, the last or the first one at first.
        bool backwards = false;
        for (bool changed = true; changed;) {
            changed = false;
            backwards = !backwards;
            for (size_t k = 0; k < count; ++k) {
                const size_t i = backwards ? count - 1 - k : k;
                if (!grouped_[i] || stays(i)) continue;
                grouped_[i] = false;
                changed = true;
            }
        }
    }

    // Returns whether the value has steps, and the operator that produces it does not give it rounded already.
    bool needsRounding(size_t producer, int id) const {
        if (!known(id) || coded_[producer] || grouped_[producer]) return false;
        const OpType type = op(producer).type;
        if (type == OpType::Int8ToFloat || type == OpType::Const) return false;
        // Operators that only move elements keep rounded values.
        return !(movesElements(type) && sameSteps(op(producer).inputIndexes.at(0), id));
    }

    bool readsFloats(int id) const {
        if (given_[at(id)]) return true;
        return std::any_of(consumers_[at(id)].begin(), consumers_[at(id)].end(),
                           [&](size_t consumer) { return !readsCodes(consumer, id); });
    }

    V added(int like, const char* suffix, DataType type) {
        const Value& from = value(like);
        return builder_.addLike(scope_, from, from.name + suffix, type);
    }

    // Adds FloatToInt8 and its inverse. `to` has the steps.
    void addPair(int from, int to, std::vector<Operator>& operators) {
        V codes = added(to, "/codes", DataType::DT_INT8);
        const Steps steps = *codes->steps;
        for (const bool back : {false, true}) {
            wire::QuantizedFloatParamT table;
            table.tensorScale = {back ? steps.scale : 1 / steps.scale};
            table.floatzeros = {steps.zero};
            table.zeroPoint = static_cast<int8_t>(std::lround(steps.zero));
            Operator& one = operators.emplace_back();
            one.op.type = back ? OpType::Int8ToFloat : OpType::FloatToInt8;
            one.op.name = back ? value(to).name + "/values" : codes->name;
            one.op.inputIndexes = {back ? codes->tensor : from};
            one.op.outputIndexes = {back ? to : codes->tensor};
            one.op.defaultDimentionFormat = wire::MNN_DATA_FORMAT::NCHW;
            one.op.main.Set(std::move(table));
        }
    }

    Builder& builder_;
    Scope& scope_;
    std::vector<int> producers_;
    std::vector<std::vector<size_t>> consumers_;
    std::vector<bool> given_, live_;
    std::vector<bool> coded_;    // operators that compute with codes
    std::vector<bool> grouped_;  // operators that compute with codes if all around them do
    std::vector<int> sources_;   // by result of a chain
    std::vector<std::optional<Steps>> origins_;
};

}  // namespace

std::map<std::string, int64_t> roundCodes(Builder& builder, const std::vector<V>& outputs) {
    std::map<std::string, int64_t> floats;
    for (size_t i = 0; i < builder.scopes().size(); ++i) {
        Scope& scope = builder.scopes()[i];
        if (i > 0 && scope.name.empty()) continue;
        const bool any = std::any_of(scope.values.begin(), scope.values.end(), [](V value) { return value->steps; });
        if (!any) continue;
        std::vector<int> ids = scope.outputs;
        if (i == 0)
            for (const V value : outputs) ids.push_back(value->tensor);
        Rounding(builder, scope, ids).run(floats);
    }
    return floats;
}

}  // namespace mnnc::onnx
