// The pass quantize.
#include <algorithm>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "ops/activation.h"
#include "ops/binary.h"
#include "ops/pooling.h"
#include "ops/quantized.h"
#include "plan/code_groups.h"
#include "plan/elementwise_chains.h"
#include "plan/fused_command.h"
#include "plan/passes.h"
#include "plan/quant_states.h"

namespace mnnc {

namespace {

using Id = CommandGraph::Id;

class Quantization {
  public:
    Quantization(CommandGraph& graph, const PlanContext& context)
        : graph_(graph), context_(context), ids_(graph.ids()) {
        std::erase_if(ids_, [&](Id id) { return graph.isControl(id); });
        states_.note(graph, ids_);
    }

    void run() {
        if (!states_.any()) return;
        states_.propagate(graph_, ids_);
        for (const Id id : ids_) {
            takeCodes(graph_.command(id));
            if (graph_.command(id).type == OpType::Raster) states_.followOrigins(graph_.command(id));
            if (takesInt8(graph_.command(id))) computesCodes_.insert(id);
        }
        leaveLoneActivations();
        findGroups();
        for (const Id id : ids_) {
            const auto group = groupOf_.find(id);
            if (computesCodes_.count(id) > 0)
                enterInt8(id);
            else if (group == groupOf_.end())
                enterFloat(id);
            else if (group->second->members.back() == id)
                enterCodes(*group->second);
        }
        for (const Id id : ids_) dropUnreadValues(id);
    }

  private:
    bool takesInt8(const Command& command) {
        if (command.outputs.size() != 1 || command.inputs.empty() || !states_.isKnown(command.outputs[0])) return false;
        for (const Operand* input : command.inputs)
            if (!states_.isKnown(input)) return false;
        const TensorQuant& out = states_[command.outputs[0]].quant;
        switch (command.type) {
            case OpType::Convolution:
            case OpType::ConvolutionDepthwise:
                break;
            case OpType::BinaryOp:
                for (const Operand* input : command.inputs)
                    if (!(input->shape == command.outputs[0]->shape)) return false;
                break;
            case OpType::Raster:  // the reference sees consecutive Rasters as one
                if (!states_[command.outputs[0]].origin.sameStep(out)) return false;
                break;
            case OpType::Pooling:
            case OpType::Pooling3D:
            case OpType::ReLU:
            case OpType::ReLU6:
                for (const Operand* input : command.inputs)
                    if (!states_[input].quant.sameStep(out)) return false;
                break;
            default:
                return false;
        }
        return context_.backend.canQuantize(command);
    }

    // Lets activations between operators of floats compute floats, because they gain nothing from codes.
    void leaveLoneActivations() {
        const auto computesCodes = [&](Id id) { return computesCodes_.count(id) > 0; };
        for (const Id id : ids_) {
            const Command& command = graph_.command(id);
            if (!computesCodes(id) || (command.type != OpType::ReLU && command.type != OpType::ReLU6)) continue;
            const std::vector<Id>& consumers = graph_.consumers(command.outputs[0]);
            if (!computesCodes(graph_.producer(command.inputs[0])) && !states_[command.inputs[0]].int8 &&
                std::none_of(consumers.begin(), consumers.end(), computesCodes))
                computesCodes_.erase(id);
        }
    }

    // Finds the commands that compute over codes although the reference computes them in floats or rounds in other
    // places.
    void findGroups() {
        CodeQuery query;
        query.quantOf = [&](const Operand* tensor) {
            return states_.isKnown(tensor) ? &states_[tensor].quant : nullptr;
        };
        query.computesCodes = [&](Id id) { return computesCodes_.count(id) > 0; };
        query.isMadeOfCodes = [&](const Operand* tensor) { return states_[tensor].int8 != nullptr; };
        groups_ = findCodeGroups(graph_, context_.backend, query);
        for (CodeGroup& group : groups_) {
            for (const Id id : group.members) {
                groupOf_[id] = &group;
                computesCodes_.erase(id);
            }
            roundsAverages_ |= !isLikeReference(group);
        }
        for (size_t i = ids_.size(); i-- > 0;)
            if (groupOf_.count(ids_[i]) > 0) passScaleBack(ids_[i]);
    }

    // Returns whether the results are those of the reference: it also computes a unary operator by a table, and a copy
    // between two scales through floats with the same results.
    bool isLikeReference(const CodeGroup& group) const {
        const OpType type = graph_.command(group.members[0]).type;
        return group.members.size() == 1 && (type == OpType::UnaryOp || type == OpType::Raster);
    }

    // The input of a command that only moves codes takes the scale of that command, so that it is rounded only once.
    void passScaleBack(Id id) {
        const Command& command = graph_.command(id);
        if (!movesCodes(command)) return;
        for (const Operand* input : command.inputs) {
            const Id producer = graph_.producer(input);
            if (groupOf_.count(producer) > 0 && graph_.consumers(input).size() == 1)
                states_[input].quant = states_[command.outputs[0]].quant;
        }
    }

    Operand* int8Of(Operand* tensor) {
        QuantState& state = states_[tensor];
        if (!state.int8) {
            state.int8 = context_.temporary(*tensor);
            state.int8->type = DataType::Int8;
            state.int8->quant = state.quant;
        }
        return state.int8;
    }

    // Where the net itself converts codes to floats, records the codes, so that no command converts the floats back.
    void takeCodes(const Command& command) {
        if (command.type != OpType::Int8ToFloat || command.outputs.size() != 1) return;
        Operand *codes = command.inputs[0], *values = command.outputs[0];
        if (codes->type == DataType::Int8 && codes->quant.known() && states_.isKnown(values) &&
            codes->quant.sameStep(states_[values].quant) && means(command, codes->quant))
            states_[values].int8 = codes;
    }

    // Returns whether the command converts with this scale and zero point.
    static bool means(const Command& command, const TensorQuant& quant) {
        const auto* params = command.paramsIf<QuantCastParams>();
        return !params ||
               (params->scale.size() == 1 && params->scale[0] == quant.scale && params->zero[0] == quant.zero);
    }

    void dropUnreadValues(Id id) {
        if (!graph_.contains(id) || graph_.command(id).type != OpType::Int8ToFloat) return;
        const Command& command = graph_.command(id);
        const Operand *codes = command.inputs[0], *values = command.outputs[0];
        if (graph_.isLiveOut(values) || !graph_.consumers(values).empty()) return;
        for (const Id consumer : graph_.consumers(codes))
            if (consumer != id) return graph_.erase(id, consumer);
    }

    static Command conversion(OpType type, Operand* from, Operand* to) {
        Command command;
        command.type = type;
        command.name = from->name + (type == OpType::FloatToInt8 ? "_to_int8" : "_to_float");
        command.inputs = {from};
        command.outputs = {to};
        return command;
    }
    void convertBefore(Id id, OpType type, Operand* from, Operand* to) {
        graph_.insertBefore(id, conversion(type, from, to), static_cast<double>(to->elements()));
    }

    // Returns the codes of a tensor; inserts a conversion before the command where they do not exist yet.
    Operand* codesBefore(Id id, Operand* input) {
        const bool missing = !states_[input].int8;
        Operand* int8 = int8Of(input);
        if (missing) convertBefore(id, OpType::FloatToInt8, input, int8);
        return int8;
    }

    // Returns the codes of a tensor with another scale, inserting conversions where they are needed.
    Operand* codesBefore(Id id, Operand* input, const TensorQuant& quant) {
        Operand* codes = codesBefore(id, input);
        if (codes->quant.sameStep(quant)) return codes;
        Operand* rescaled = context_.temporary(*codes);
        rescaled->quant = quant;
        auto everything = std::make_shared<ClipParams>();
        everything->lo = -std::numeric_limits<float>::infinity();
        everything->hi = std::numeric_limits<float>::infinity();
        Command command;
        command.type = OpType::ReLU6;
        command.name = input->name + "_rescaled";
        command.params = std::move(everything);
        command.inputs = {codes};
        command.outputs = {rescaled};
        graph_.insertBefore(id, std::move(command), static_cast<double>(codes->elements()));
        return rescaled;
    }

    void enterCodes(const CodeGroup& group) {
        const Id id = group.members.back();
        Command command = group.isChain() ? group.fused : graph_.command(id);
        Operand* output = command.outputs[0];
        Operand* result = int8Of(output);
        Operand* other = group.isChain() ? nullptr : floatOperand(command);
        for (Operand*& input : command.inputs) {
            if (input == other)
                valuesBefore(id, input);
            else if (movesCodes(command))
                input = codesBefore(id, input, result->quant);
            else if (!group.isChain() || !isKnownNumber(*input))
                input = codesBefore(id, input);
        }
        command.outputs[0] = result;
        states_[output].inFloat = false;
        replaceMembers(graph_, group.members, std::move(command));
    }

    // The reference rounds averages down. Where all operators are computed as in the reference, the bits are the same;
    // elsewhere the nearest code has a smaller error.
    void roundAverage(Command& command) const {
        const auto* pool = command.paramsIf<PoolParams>();
        if (!roundsAverages_ || !pool || !pool->average) return;
        auto nearest = std::make_shared<PoolParams>(*pool);
        nearest->nearestCodes = true;
        command.params = std::move(nearest);
    }

    void enterInt8(Id id) {
        Command command = graph_.command(id);
        for (Operand*& input : command.inputs) input = codesBefore(id, input);
        roundAverage(command);
        Operand* output = command.outputs[0];
        const bool exists = states_[output].int8 != nullptr;
        Operand* int8 = int8Of(output);
        if (!exists) int8->quant.nonNegative = writesNoNegativeCodes(command, int8->quant);
        command.outputs[0] = int8;
        states_[output].inFloat = false;
        if (command.type == OpType::Convolution) command.type = OpType::ConvInt8;
        if (command.type == OpType::ConvolutionDepthwise) command.type = OpType::DepthwiseConvInt8;
        graph_.replace(id, std::move(command));
        if (graph_.isLiveOut(output)) {
            graph_.insertAfter(id, conversion(OpType::Int8ToFloat, int8, output),
                               static_cast<double>(output->elements()));
            states_[output].inFloat = true;
        }
    }

    // Returns whether the pooling of zeros is zero: an average that is rounded down makes -1 of them.
    static bool keepsZeros(const Command& pooling) {
        const auto* params = pooling.paramsIf<PoolParams>();
        return params && (!params->average || params->nearestCodes);
    }

    // Returns whether neither the codes of the result nor the zero point, with which maps are padded, are negative.
    // Values from 0 on have such codes where the code of 0 is not negative.
    static bool writesNoNegativeCodes(const Command& command, const TensorQuant& quant) {
        // A file may have an upper limit below the lower one; then all codes are equal to the upper limit.
        if (!(quant.zero >= 0 && quant.zero <= 127 && quant.max >= 0)) return false;
        switch (command.type) {
            case OpType::Convolution:
            case OpType::ConvolutionDepthwise:
                return command.epilogue.lo == 0;
            case OpType::BinaryOp: {
                const auto* binary = command.paramsIf<BinaryParams>();
                return binary && binary->relu;
            }
            case OpType::ReLU: {
                const auto* relu = command.paramsIf<ReluParams>();
                return relu && relu->slope == 0;
            }
            case OpType::ReLU6: {
                const auto* clip = command.paramsIf<ClipParams>();
                return clip && clip->lo >= 0 && clip->hi >= 0;
            }
            case OpType::Pooling:
            case OpType::Pooling3D:
                if (!keepsZeros(command)) return false;
                [[fallthrough]];
            case OpType::Raster:  // elements that no input covers are the zero point
                return std::all_of(command.inputs.begin(), command.inputs.end(),
                                   [](const Operand* input) { return input->quant.nonNegative; });
            default:
                return false;
        }
    }

    void valuesBefore(Id id, Operand* input) {
        QuantState& state = states_[input];
        if (state.inFloat) return;
        convertBefore(id, OpType::Int8ToFloat, state.int8, input);
        state.inFloat = true;
    }

    void enterFloat(Id id) {
        const std::vector<Operand*> inputs = graph_.command(id).inputs;
        for (Operand* input : inputs) valuesBefore(id, input);
    }

    CommandGraph& graph_;
    const PlanContext& context_;
    std::vector<Id> ids_;
    QuantStates states_;
    std::unordered_set<Id> computesCodes_;  // the reference computes these over codes, too
    std::vector<CodeGroup> groups_;
    std::unordered_map<Id, const CodeGroup*> groupOf_;
    bool roundsAverages_ = false;
};

}  // namespace

void quantize(CommandGraph& graph, const PlanContext& context) {
    Quantization(graph, context).run();
}

}  // namespace mnnc
