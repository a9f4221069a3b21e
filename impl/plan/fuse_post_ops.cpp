// The pass fuse-post-ops.
#include <algorithm>
#include <optional>

#include "ops/activation.h"
#include "ops/unary.h"
#include "plan/activation_forms.h"
#include "plan/passes.h"
#include "tensor/region_check.h"

namespace mnnc {

namespace {

using Id = CommandGraph::Id;

constexpr int kMaxLanes = 16;

std::optional<Act> activationOf(const Command& command) {
    if (command.type != OpType::UnaryOp) return {};
    switch (command.paramsAs<UnaryParams>().code) {
        case kUnarySigmoid:
            return Act::Sigmoid;
        case kUnaryTanh:
            return Act::Tanh;
        case kUnaryHardSwish:
            return Act::HardSwish;
        case kUnaryGelu:
            return Act::GeluTanh;
        case kUnaryGeluStandard:
            return Act::Gelu;
        case kUnarySilu:
            return Act::Silu;
        default:
            return {};
    }
}

// Returns whether the command copies all floats in order, so that only the shape changes.
bool isReshape(const Command& command) {
    return command.type == OpType::Raster && command.inputs.size() == 1 &&
           command.inputs[0]->type == DataType::Float32 && command.outputs[0]->type == DataType::Float32 &&
           command.inputs[0]->elements() == command.outputs[0]->elements() &&
           isIdentity(command.regions, command.outputs[0]->elements());
}

// Moves the followers of one command into its epilogue, as long as the backend computes them there.
class PostOpFusion {
  public:
    PostOpFusion(CommandGraph& graph, const Backend& backend, Id id) : graph_(graph), backend_(backend), id_(id) {}

    void run() {
        if (command().outputs.size() != 1 || result()->type != DataType::Float32 ||
            !backend_.supportsPostOps(command()))
            return;
        while (fuseHardSigmoid() || fuseReshapedAdd() || fuseReshapedActivation() || fuseNext()) {
        }
    }

  private:
    const Command& command() const { return graph_.command(id_); }
    Operand* result() const { return command().outputs[0]; }

    bool fuseHardSigmoid() {
        const Id after = graph_.onlyConsumer(id_);
        if (after == CommandGraph::kNone) return false;
        const HardActivation form = hardActivation(graph_, after);
        Command wanted = command();
        if (form.steps.empty() || form.x != result() || form.timesX || wanted.epilogue.act != Act::None ||
            wanted.epilogue.clips())
            return false;
        wanted.epilogue.act = Act::HardSigmoid;
        wanted.outputs = graph_.command(form.steps.back()).outputs;
        return accept(std::move(wanted), form.steps);
    }

    // Returns the other operand of a sum, if it can be a residual of this command. `term` is the operand that comes
    // from this command.
    Operand* residualOf(const Command& sum, const Operand* term) const {
        Operand* other = sum.inputs[sum.inputs[0] == term ? 1 : 0];
        const bool fits = other != term && other->shape == term->shape && other->format == term->format &&
                          other->type == DataType::Float32 && isWrittenBefore(other);
        return fits ? other : nullptr;
    }

    // Moves a sum after a change of shape before it: the residual is read in its own shape. This needs both shapes to
    // be the same bytes in any storage, otherwise the residual would have to be copied.
    bool fuseReshapedAdd() {
        const Operand& made = *result();
        const Id first = graph_.onlyConsumer(id_);
        if (first == CommandGraph::kNone || !isReshape(graph_.command(first)) || command().epilogue.any() ||
            made.format == Format::NHWC || made.shape.rank() < 2 || made.plane() != 1 || made.shape[1] % kMaxLanes != 0)
            return false;
        const Id copy = lastReshape(first), after = graph_.onlyConsumer(copy);
        if (after == CommandGraph::kNone) return false;
        const Command& sum = graph_.command(after);
        const BinaryParams* params = floatBinary(sum);
        if (!params || params->code != kBinaryAdd) return false;
        Command reshape = graph_.command(copy);
        Operand* other = residualOf(sum, reshape.outputs[0]);
        if (!other || !(sum.outputs[0]->shape == other->shape)) return false;
        Command wanted = command();
        wanted.epilogue.residual = true;
        if (params->relu) wanted.epilogue.lo = 0;
        wanted.inputs.push_back(other);
        if (!backend_.supportsPostOps(wanted)) return false;
        reshape.outputs = sum.outputs;
        graph_.erase(after, id_);
        graph_.replace(id_, std::move(wanted));
        graph_.replace(copy, std::move(reshape));
        return true;
    }

    // Moves an activation after a change of shape before it.
    bool fuseReshapedActivation() {
        const Id copy = graph_.onlyConsumer(id_);
        if (copy == CommandGraph::kNone || !isReshape(graph_.command(copy))) return false;
        const Id last = lastReshape(copy), after = graph_.onlyConsumer(last);
        if (after == CommandGraph::kNone) return false;
        const Command& follower = graph_.command(after);
        const std::optional<Act> act = activationOf(follower);
        if (!act || follower.epilogue.any() || follower.outputs[0]->type != DataType::Float32) return false;
        Command wanted = command();
        if (wanted.epilogue.act != Act::None || wanted.epilogue.clips()) return false;
        wanted.epilogue.act = *act;
        if (!backend_.supportsPostOps(wanted)) return false;
        Command reshape = graph_.command(last);
        reshape.outputs = follower.outputs;
        graph_.erase(after, id_);
        graph_.replace(id_, std::move(wanted));
        graph_.replace(last, std::move(reshape));
        return true;
    }

    // Returns the last one of consecutive changes of shape.
    Id lastReshape(Id copy) const {
        for (Id after = graph_.onlyConsumer(copy); after != CommandGraph::kNone && isReshape(graph_.command(after));
             after = graph_.onlyConsumer(after))
            copy = after;
        return copy;
    }

    bool fuseNext() {
        const Id after = graph_.onlyConsumer(id_);
        if (after == CommandGraph::kNone) return false;
        const Command& follower = graph_.command(after);
        if (follower.outputs.size() != 1 || !(follower.outputs[0]->shape == result()->shape) || follower.epilogue.any())
            return false;
        Command wanted = command();
        wanted.outputs = follower.outputs;
        return addPostOp(follower, wanted) && accept(std::move(wanted), {after});
    }

    // Adds the follower to the epilogue of `wanted`; returns false where an epilogue cannot express it.
    bool addPostOp(const Command& follower, Command& wanted) const {
        Epilogue& epilogue = wanted.epilogue;
        if (follower.type == OpType::ReLU && follower.paramsAs<ReluParams>().slope == 0) {
            epilogue.lo = std::max(epilogue.lo, 0.0f);
            epilogue.hi = std::max(epilogue.hi, 0.0f);
            return true;
        }
        if (follower.type == OpType::ReLU6) {
            const auto* clip = &follower.paramsAs<ClipParams>();
            if (!(clip->lo <= clip->hi)) return false;
            epilogue.lo = std::clamp(epilogue.lo, clip->lo, clip->hi);
            epilogue.hi = std::clamp(epilogue.hi, clip->lo, clip->hi);
            return true;
        }
        if (const std::optional<Act> act = activationOf(follower)) {
            if (epilogue.act != Act::None || epilogue.clips()) return false;
            epilogue.act = *act;
            return true;
        }
        const BinaryParams* sum = floatBinary(follower);
        if (!sum || sum->code != kBinaryAdd || epilogue.any()) return false;
        Operand* other = residualOf(follower, result());
        if (!other) return false;
        epilogue.residual = true;
        if (sum->relu) epilogue.lo = 0;
        wanted.inputs.push_back(other);
        return true;
    }

    // Returns whether no later command of the graph writes the tensor.
    bool isWrittenBefore(const Operand* tensor) const {
        const Id producer = graph_.producer(tensor);
        return producer == CommandGraph::kNone ? graph_.producerCount(tensor) == 0 : graph_.runsBefore(producer, id_);
    }

    bool accept(Command wanted, const std::vector<Id>& merged) {
        if (!backend_.supportsPostOps(wanted)) return false;
        for (const Id one : merged) graph_.erase(one, id_);
        graph_.replace(id_, std::move(wanted));
        return true;
    }

    CommandGraph& graph_;
    const Backend& backend_;
    const Id id_;
};

}  // namespace

void fusePostOps(CommandGraph& graph, const PlanContext& context) {
    for (const Id id : graph.ids())
        if (graph.contains(id)) PostOpFusion(graph, context.backend, id).run();
}

}  // namespace mnnc
