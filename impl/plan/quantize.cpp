// The pass quantize.
#include <algorithm>
#include <unordered_map>

#include "ops/quantized.h"
#include "plan/passes.h"

namespace mnnc {

namespace {

using Id = CommandGraph::Id;

constexpr int kRounds = 3;  // of propagation, as the reference does it

class Quantization {
  public:
    Quantization(CommandGraph& graph, const PlanContext& context)
        : graph_(graph), context_(context), ids_(graph.ids()) {
        std::erase_if(ids_, [&](Id id) { return graph.isControl(id); });
        for (const Id id : ids_) {
            for (const Tensor* input : graph.command(id).inputs) note(input);
            for (const Tensor* output : graph.command(id).outputs) note(output);
        }
    }

    void run() {
        if (!any_) return;
        propagate();
        for (auto& [tensor, state] : states_) state.origin = state.quant;
        for (const Id id : ids_) {
            takeCodes(graph_.command(id));
            if (graph_.command(id).type == OpType::Raster) followOrigins(graph_.command(id));
            if (takesInt8(graph_.command(id)))
                enterInt8(id);
            else
                enterFloat(id);
        }
        for (const Id id : ids_) dropUnreadValues(id);
    }

  private:
    struct State {
        TensorQuant quant;
        // What the values were before Rasters moved them about: one scale, or several (unknown).
        TensorQuant origin;
        bool hasOneProducer = true;  // or none
        bool inFloat = true;         // its own memory holds its values
        Tensor* int8 = nullptr;      // and this one the same as int8
    };

    void note(const Tensor* tensor) {
        const auto [found, fresh] = states_.try_emplace(tensor);
        if (!fresh) return;
        found->second.hasOneProducer = graph_.producerCount(tensor) <= 1;
        if (tensor->type != DataType::Float32) return;
        found->second.quant = tensor->quant;
        any_ |= tensor->quant.known();
    }

    // Values pass these unchanged, or nearly: a scale known on one side does for the other.
    static bool carriesScale(const Command& command) {
        if (command.outputs.size() != 1 || command.inputs.empty()) return false;
        for (const Tensor* input : command.inputs)
            if (input != command.inputs[0]) return false;
        switch (command.type) {
            case OpType::Raster:
            case OpType::ReLU:
            case OpType::ReLU6:
            case OpType::Pooling:
            case OpType::Pooling3D:
                return true;
            case OpType::Interp:
                return command.inputs.size() == 1;
            default:
                return false;
        }
    }

    void propagate() {
        const auto pass = [&](const Tensor* from, const Tensor* to) {
            const State& source = states_[from];
            State& target = states_[to];
            if (!source.quant.known() || target.quant.known() || to->type != DataType::Float32) return false;
            target.quant = source.quant;
            return true;
        };
        for (int round = 0; round < kRounds; ++round) {
            bool changed = false;
            for (const Id id : ids_) {
                const Command& command = graph_.command(id);
                if (carriesScale(command)) changed |= pass(command.inputs[0], command.outputs[0]);
            }
            for (size_t i = ids_.size(); i-- > 0;) {
                const Command& command = graph_.command(ids_[i]);
                if (carriesScale(command)) changed |= pass(command.outputs[0], command.inputs[0]);
            }
            if (!changed) break;
        }
    }

    void followOrigins(const Command& command) {
        if (command.inputs.empty()) return;
        TensorQuant origin = states_[command.inputs[0]].origin;
        for (const Tensor* input : command.inputs)
            if (!states_[input].origin.sameStep(origin)) origin = {};
        states_[command.outputs[0]].origin = origin;
    }

    bool isKnown(const Tensor* tensor) {
        const State& state = states_[tensor];
        return state.quant.known() && state.hasOneProducer;
    }

    bool takesInt8(const Command& command) {
        if (command.outputs.size() != 1 || command.inputs.empty() || !isKnown(command.outputs[0]))
            return false;
        for (const Tensor* input : command.inputs)
            if (!isKnown(input)) return false;
        const TensorQuant& out = states_[command.outputs[0]].quant;
        switch (command.type) {
            case OpType::Raster:  // several in a row are one to the reference
                if (!states_[command.outputs[0]].origin.sameStep(out)) return false;
                break;
            case OpType::Pooling:
            case OpType::Pooling3D:
            case OpType::ReLU:
            case OpType::ReLU6:
                for (const Tensor* input : command.inputs)
                    if (!states_[input].quant.sameStep(out)) return false;
                break;
            default:
                break;
        }
        return context_.backend.canQuantize(command);
    }

    Tensor* int8Of(Tensor* tensor) {
        State& state = states_[tensor];
        if (!state.int8) {
            state.int8 = context_.temporary(*tensor);
            state.int8->type = DataType::Int8;
            state.int8->quant = state.quant;
        }
        return state.int8;
    }

    // The values of codes that the net has itself need no conversion back.
    void takeCodes(const Command& command) {
        if (command.type != OpType::Int8ToFloat || command.outputs.size() != 1) return;
        Tensor *codes = command.inputs[0], *values = command.outputs[0];
        if (codes->type == DataType::Int8 && codes->quant.known() && isKnown(values) &&
            codes->quant.sameStep(states_[values].quant) && means(command, codes->quant))
            states_[values].int8 = codes;
    }

    // Whether the conversion goes by this step.
    static bool means(const Command& command, const TensorQuant& quant) {
        const auto* params = command.paramsIf<QuantCastParams>();
        return !params || (params->scale.size() == 1 && params->scale[0] == quant.scale &&
                           params->zero[0] == quant.zero);
    }

    void dropUnreadValues(Id id) {
        if (!graph_.contains(id) || graph_.command(id).type != OpType::Int8ToFloat) return;
        const Command& command = graph_.command(id);
        const Tensor *codes = command.inputs[0], *values = command.outputs[0];
        if (graph_.isLiveOut(values) || !graph_.consumers(values).empty()) return;
        for (const Id reader : graph_.consumers(codes))
            if (reader != id) return graph_.erase(id, reader);
    }

    static Command conversion(OpType type, Tensor* from, Tensor* to) {
        Command command;
        command.type = type;
        command.name = from->name + (type == OpType::FloatToInt8 ? "_to_int8" : "_to_float");
        command.inputs = {from};
        command.outputs = {to};
        return command;
    }
    void convertBefore(Id id, OpType type, Tensor* from, Tensor* to) {
        graph_.insertBefore(id, conversion(type, from, to), static_cast<double>(to->elements()));
    }

    void enterInt8(Id id) {
        Command command = graph_.command(id);
        for (Tensor*& input : command.inputs) {
            const bool missing = !states_[input].int8;
            Tensor* int8 = int8Of(input);
            if (missing) convertBefore(id, OpType::FloatToInt8, input, int8);
            input = int8;
        }
        Tensor* output = command.outputs[0];
        Tensor* int8 = int8Of(output);
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

    void enterFloat(Id id) {
        for (Tensor* input : graph_.command(id).inputs) {
            State& state = states_[input];
            if (state.inFloat) continue;
            convertBefore(id, OpType::Int8ToFloat, state.int8, input);
            state.inFloat = true;
        }
    }

    CommandGraph& graph_;
    const PlanContext& context_;
    std::vector<Id> ids_;
    std::unordered_map<const Tensor*, State> states_;
    bool any_ = false;
};

}  // namespace

void quantize(CommandGraph& graph, const PlanContext& context) {
    Quantization(graph, context).run();
}

}  // namespace mnnc
