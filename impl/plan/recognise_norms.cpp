// The pass recognise-norms: (x - mean) / sqrt(variance + epsilon) gamma + beta (Ba, Kiros and Hinton, "Layer
// Normalization", arXiv 1607.06450, equation 4), whose mean and variance are Reductions, becomes a LayerNorm.
#include <algorithm>
#include <optional>

#include "ops/binary.h"
#include "ops/layer_norm.h"
#include "ops/reduction.h"
#include "ops/unary.h"
#include "plan/activation_forms.h"
#include "plan/elementwise_chains.h"
#include "plan/fused_command.h"
#include "plan/passes.h"

namespace mnnc {

namespace {

using Id = CommandGraph::Id;

class NormReader {
  public:
    explicit NormReader(const CommandGraph& graph) : graph_(graph) {}

    // Returns the normalisation that begins with this command, the difference from the mean; empty where the net
    // computes something else.
    std::optional<Command> read(Id difference) {
        x_ = isBinary(difference, kBinarySub) ? command(difference).inputs[0] : nullptr;
        if (!x_ || !(command(difference).outputs[0]->shape == x_->shape)) return {};
        const Id mean = graph_.exclusiveProducer(command(difference).inputs[1], difference);
        if (!isMean(mean) || command(mean).inputs[0] != x_) return {};
        axes_ = command(mean).paramsAs<ReductionParams>().axes;
        if (axes_.empty() || axes_.back() - axes_.front() + 1 != static_cast<int>(axes_.size())) return {};
        members_ = {mean, difference};
        const Id quotient = quotientOf(difference);
        if (quotient == CommandGraph::kNone) return {};
        readScaleAndShift(quotient);
        return result();
    }
    // Returns the replaced commands, the last one at the end.
    const std::vector<Id>& members() const { return members_; }

  private:
    const Command& command(Id id) const { return graph_.command(id); }

    bool isBinary(Id id, int code) const {
        if (id == CommandGraph::kNone || graph_.isControl(id)) return false;
        const BinaryParams* params = floatBinary(command(id));
        return params && params->code == code && !params->relu && !command(id).epilogue.any();
    }
    bool isUnary(Id id, int code) const {
        if (id == CommandGraph::kNone || graph_.isControl(id)) return false;
        const auto* params = command(id).type == OpType::UnaryOp ? command(id).paramsIf<UnaryParams>() : nullptr;
        return params && params->code == code && command(id).outputs[0]->type == DataType::Float32;
    }
    bool isMean(Id id) const {
        if (id == CommandGraph::kNone || graph_.isControl(id) || command(id).type != OpType::Reduction) return false;
        const auto* params = command(id).paramsIf<ReductionParams>();
        return params && params->operation == Reduce::Mean && params->keepDims &&
               command(id).inputs[0]->type == DataType::Float32;
    }
    // Returns whether the command raises `base` to a known power.
    bool isPower(Id id, const Operand* base, float exponent) const {
        return isBinary(id, kBinaryPow) && command(id).inputs[0] == base && isKnownNumber(*command(id).inputs[1]) &&
               *command(id).inputs[1]->known<float>() == exponent;
    }
    bool isSquare(Id id, const Operand* of) const {
        return isUnary(id, kUnarySquare) || isPower(id, of, 2) ||
               (isBinary(id, kBinaryMul) && command(id).inputs[0] == of && command(id).inputs[1] == of);
    }

    // Returns the command that divides the difference by the root of its mean square; kNone where there is none.
    Id quotientOf(Id difference) {
        const Operand* value = command(difference).outputs[0];
        const std::vector<Id>& consumers = graph_.consumers(value);
        if (graph_.isLiveOut(value) || graph_.producer(value) != difference || consumers.size() != 2)
            return CommandGraph::kNone;
        const Id square = isSquare(consumers[0], value) ? consumers[0] : consumers[1];
        const Id quotient = consumers[square == consumers[0] ? 1 : 0];
        // A number of higher rank than the value gives a result more axes.
        if (!isSquare(square, value) || !(command(square).outputs[0]->shape == value->shape))
            return CommandGraph::kNone;
        const Id variance = graph_.onlyConsumer(square);
        if (!isMean(variance) || command(variance).paramsAs<ReductionParams>().axes != axes_)
            return CommandGraph::kNone;
        const Id sum = graph_.onlyConsumer(variance);
        if (!isBinary(sum, kBinaryAdd)) return CommandGraph::kNone;
        const Operand& number = *command(sum).inputs[command(sum).inputs[0] == command(variance).outputs[0] ? 1 : 0];
        if (!isKnownNumber(number)) return CommandGraph::kNone;
        epsilon_ = *number.known<float>();
        const Id root = graph_.onlyConsumer(sum);
        if (root == CommandGraph::kNone || graph_.onlyConsumer(root) != quotient) return CommandGraph::kNone;
        const Operand* deviation = command(root).outputs[0];
        const bool isRoot = isUnary(root, kUnarySqrt) || isPower(root, command(sum).outputs[0], 0.5f);
        const bool isInverse = isUnary(root, kUnaryRsqrt) || isPower(root, command(sum).outputs[0], -0.5f);
        const bool isQuotient = isRoot ? isBinary(quotient, kBinaryRealDiv) && command(quotient).inputs[1] == deviation
                                       : isInverse && isBinary(quotient, kBinaryMul);
        if (!isQuotient || !(command(quotient).outputs[0]->shape == value->shape)) return CommandGraph::kNone;
        members_.insert(members_.end(), {square, variance, sum, root, quotient});
        return quotient;
    }

    // Makes factors and terms for each element of the normalised axes part of the command.
    void readScaleAndShift(Id last) {
        const Id product = graph_.onlyConsumer(last);
        if (isBinary(product, kBinaryMul) && readVector(product, last, gamma_)) last = product;
        const Id sum = graph_.onlyConsumer(last);
        if (isBinary(sum, kBinaryAdd)) readVector(sum, last, beta_);
    }
    bool readVector(Id id, Id before, std::vector<float>& to) {
        const Command& binary = command(id);
        const Operand& other = *binary.inputs[binary.inputs[0] == command(before).outputs[0] ? 1 : 0];
        if (!other.hasConstantValue || !other.values || other.type != DataType::Float32 || other.channelBlock != 1 ||
            !(binary.outputs[0]->shape == x_->shape) || !liesAlongAxes(other.shape))
            return false;
        const float* values = other.known<float>();
        to.assign(values, values + other.elements());
        members_.push_back(id);
        return true;
    }
    // Returns whether a shape that is broadcast to the input's has the extents of the axes, and 1 elsewhere.
    bool liesAlongAxes(const Shape& shape) const {
        const int lead = x_->shape.rank() - shape.rank();
        for (int axis = 0; axis < x_->shape.rank(); ++axis) {
            const int64_t extent = axis < lead ? 1 : shape[axis - lead];
            const bool isNormalised = std::find(axes_.begin(), axes_.end(), axis) != axes_.end();
            if (extent != (isNormalised ? x_->shape[axis] : 1)) return false;
        }
        return true;
    }

    std::optional<Command> result() {
        auto params = std::make_shared<LayerNormParams>();
        params->axes = axes_;
        params->epsilon = epsilon_;
        if (gamma_.empty() && !beta_.empty()) gamma_.assign(beta_.size(), 1);
        beta_.resize(gamma_.size());
        params->gamma = std::move(gamma_);
        params->beta = std::move(beta_);
        std::sort(members_.begin(), members_.end(), [&](Id a, Id b) { return graph_.runsBefore(a, b); });
        if (graph_.producerCount(x_) > 1) return {};  // the new command would read x later, perhaps changed
        Command norm;
        norm.type = OpType::LayerNorm;
        norm.name = command(members_.back()).name;
        norm.node = command(members_.back()).node;
        norm.params = std::move(params);
        norm.inputs = {x_};
        norm.outputs = command(members_.back()).outputs;
        return norm;
    }

    const CommandGraph& graph_;
    std::vector<Id> members_;
    Operand* x_ = nullptr;
    std::vector<int> axes_;
    float epsilon_ = 0;
    std::vector<float> gamma_, beta_;
};

}  // namespace

void recogniseNorms(CommandGraph& graph, const PlanContext& context) {
    for (const Id id : graph.ids()) {
        if (!graph.contains(id)) continue;
        NormReader reader(graph);
        std::optional<Command> norm = reader.read(id);
        std::string reason;
        if (norm && context.backend.supports(*norm, reason)) replaceMembers(graph, reader.members(), *std::move(norm));
    }
}

}  // namespace mnnc
