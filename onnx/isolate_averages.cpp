// See isolate_averages.h. The steps that tensors get are those of impl/plan/quant_states.cpp.
#include "isolate_averages.h"

#include <algorithm>
#include <optional>

#include "emit/helpers.h"
#include "moves.h"

namespace mnnc::onnx {
namespace {

constexpr int kRounds = 3;  // as many rounds of propagation as in impl/plan/quant_states.cpp

// Returns whether the operator averages its input, so that its results may lie between two codes of it.
bool averages(const wire::OpT& op) {
    if (op.type == OpType::Interp) return true;
    if (const wire::PoolT* table = op.main.AsPool()) return table->type == wire::PoolType::AVEPOOL;
    if (const wire::Pool3DT* table = op.main.AsPool3D()) return table->type == wire::PoolType::AVEPOOL;
    return false;
}

// Returns whether the engine passes steps on between the first input and the results. Where this is uncertain the
// answer is true, which costs at most a product that is not needed.
bool passesSteps(const wire::OpT& op) {
    switch (op.type) {
        case OpType::BroadcastTo:
        case OpType::GatherV2:
        case OpType::Padding:
        case OpType::ReLU:
        case OpType::ReLU6:
        case OpType::Reverse:
        case OpType::Tile:
        case OpType::Transpose:
            return true;
        case OpType::Pooling:
        case OpType::Pooling3D:
            return !averages(op);
        default:
            return movesElements(op.type);
    }
}

class Isolation {
  public:
    Isolation(Builder& builder, Scope& scope) : builder_(builder), scope_(scope), steps_(scope.tensors.size()) {
        for (size_t id = 0; id < steps_.size(); ++id) {
            const Value& value = *scope.values[id];
            if (value.steps && value.isFloat() && !value.constant) steps_[id] = value.writtenSteps();
        }
    }

    void run() {
        propagate();
        std::vector<Operator> all = std::move(scope_.operators);
        scope_.operators.clear();
        for (Operator& one : all) {
            const bool apart = averages(one.op) && !one.op.inputIndexes.empty() && !computesRight(one.op);
            const int in = apart ? one.op.inputIndexes[0] : 0, out = apart ? one.op.outputIndexes.at(0) : 0;
            const bool before = apart && steps_[at(in)], after = apart && steps_[at(out)];
            if (before) {
                const int copy = added(in, "/floats");
                addCopy(in, copy);
                one.op.inputIndexes[0] = copy;
            }
            if (after) one.op.outputIndexes[0] = added(out, "/average");
            scope_.operators.push_back(std::move(one));
            if (after) {
                addCopy(scope_.operators.back().op.outputIndexes[0], out);
                scope_.values[at(out)]->ownSteps = false;
            }
        }
    }

  private:
    static size_t at(int id) { return static_cast<size_t>(id); }

    // Returns whether the model has steps on both sides, and the engine computes as the model requires: it averages
    // with floats where the steps of the input and of the result differ. A resize in codes is at most one code off.
    bool computesRight(const wire::OpT& op) const {
        const Value &in = *scope_.values[at(op.inputIndexes[0])], &out = *scope_.values[at(op.outputIndexes[0])];
        if (!in.steps || !out.steps) return false;
        return op.type == OpType::Interp || in.writtenSteps() != out.writtenSteps();
    }

    void pass(int from, int to) {
        if (steps_[at(from)] && !steps_[at(to)] && scope_.values[at(to)]->isFloat()) steps_[at(to)] = steps_[at(from)];
    }

    // A Concat passes steps on where all inputs are one tensor; here each of its inputs counts.
    void propagate() {
        const std::vector<Operator>& all = scope_.operators;
        const auto dataOf = [](const wire::OpT& op) {
            return op.type == OpType::Concat ? op.inputIndexes.size() : std::min<size_t>(op.inputIndexes.size(), 1);
        };
        for (int round = 0; round < kRounds; ++round) {
            for (const Operator& one : all)
                for (size_t k = 0; passesSteps(one.op) && k < dataOf(one.op); ++k)
                    for (const int out : one.op.outputIndexes) pass(one.op.inputIndexes[k], out);
            for (size_t i = all.size(); i-- > 0;)
                for (size_t k = 0; passesSteps(all[i].op) && k < dataOf(all[i].op); ++k)
                    for (const int out : all[i].op.outputIndexes) pass(out, all[i].op.inputIndexes[k]);
        }
    }

    // Adds a tensor like another one, without steps.
    int added(int like, const char* suffix) {
        const Value& from = *scope_.values[at(like)];
        V value = builder_.addLike(scope_, from, from.name + suffix, DataType::DT_FLOAT);
        value->steps.reset();
        return value->tensor;
    }

    // Adds a product with 1: an identity would pass the steps on.
    void addCopy(int from, int to) {
        if (!one_) one_ = builder_.real(1);
        const int one = builder_.tensorOf(one_);
        wire::BinaryOpT table;
        table.opType = Binary::MUL;
        table.T = DataType::DT_FLOAT;
        Operator& copy = scope_.operators.emplace_back();
        copy.op.type = OpType::BinaryOp;
        copy.op.name = scope_.tensors[at(to)];
        copy.op.inputIndexes = {from, one};
        copy.op.outputIndexes = {to};
        copy.op.defaultDimentionFormat = wire::MNN_DATA_FORMAT::NCHW;
        copy.op.main.Set(table);
    }

    Builder& builder_;
    Scope& scope_;
    std::vector<std::optional<Steps>> steps_;  // by tensor: those that the engine gives it
    V one_ = nullptr;
};

}  // namespace

void isolateAverages(Builder& builder) {
    Scope* before = &builder.scope();
    for (size_t i = 0; i < builder.scopes().size(); ++i) {
        Scope& scope = builder.scopes()[i];
        if (i > 0 && scope.name.empty()) continue;
        const bool any = std::any_of(scope.values.begin(), scope.values.end(), [](V value) { return value->steps; }) &&
                         std::any_of(scope.operators.begin(), scope.operators.end(),
                                     [](const Operator& one) { return averages(one.op); });
        if (!any) continue;
        builder.enter(scope);
        Isolation(builder, scope).run();
    }
    builder.enter(*before);
}

}  // namespace mnnc::onnx
