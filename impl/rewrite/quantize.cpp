#include "rewrite/quantize.h"

#include <algorithm>
#include <unordered_map>

#include "ops/activation.h"
#include "ops/convolution.h"

namespace mnnc {

namespace {

constexpr int kRounds = 3;  // of propagation, as the reference does it

class Quantization {
  public:
    Quantization(const std::vector<Command*>& commands, const Backend& backend,
                 const std::function<bool(const Tensor*)>& kept,
                 const std::function<Tensor*(const Tensor&)>& make)
        : commands_(commands), backend_(backend), kept_(kept), make_(make), places_(commands.size()) {
        for (const Command* command : commands) {
            for (const Tensor* input : command->inputs) note(input);
            for (const Tensor* output : command->outputs) {
                note(output);
                ++states_[output].makers;
            }
        }
    }

    std::vector<QuantizedPlace> run() {
        if (!any_) return std::move(places_);
        propagate();
        for (auto& [tensor, state] : states_) state.origin = state.quant;
        for (size_t i = 0; i < commands_.size(); ++i) {
            if (commands_[i]->type == OpType::Raster) followOrigins(*commands_[i]);
            if (takesInt8(*commands_[i]))
                enterInt8(i);
            else
                enterFloat(i);
        }
        return std::move(places_);
    }

  private:
    struct State {
        TensorQuant quant;
        // What the values were before Rasters moved them about: one scale, or several (unknown).
        TensorQuant origin;
        int makers = 0;
        bool inFloat = true;     // its own memory holds its values
        Tensor* int8 = nullptr;  // and this one the same as int8
    };

    void note(const Tensor* tensor) {
        const auto [found, fresh] = states_.try_emplace(tensor);
        if (!fresh || tensor->type != DataType::Float32) return;
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
            for (const Command* command : commands_)
                if (carriesScale(*command)) changed |= pass(command->inputs[0], command->outputs[0]);
            for (size_t i = commands_.size(); i-- > 0;)
                if (carriesScale(*commands_[i]))
                    changed |= pass(commands_[i]->outputs[0], commands_[i]->inputs[0]);
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

    bool known(const Tensor* tensor) {
        const State& state = states_[tensor];
        return state.quant.known() && state.makers <= 1;
    }

    bool takesInt8(const Command& command) {
        if (command.outputs.size() != 1 || command.inputs.empty() || !known(command.outputs[0])) return false;
        for (const Tensor* input : command.inputs)
            if (!known(input)) return false;
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
        return backend_.canQuantize(command);
    }

    Tensor* int8Of(Tensor* tensor) {
        State& state = states_[tensor];
        if (!state.int8) {
            state.int8 = make_(*tensor);
            state.int8->type = DataType::Int8;
            state.int8->quant = state.quant;
        }
        return state.int8;
    }

    static Command cast(OpType type, Tensor* from, Tensor* to) {
        Command command;
        command.type = type;
        command.name = from->name + (type == OpType::FloatToInt8 ? "_to_int8" : "_to_float");
        command.inputs = {from};
        command.outputs = {to};
        return command;
    }

    void enterInt8(size_t i) {
        Command& command = *commands_[i];
        for (Tensor*& input : command.inputs) {
            const bool missing = !states_[input].int8;
            Tensor* int8 = int8Of(input);
            if (missing) places_[i].before.push_back(cast(OpType::FloatToInt8, input, int8));
            input = int8;
        }
        Tensor* output = command.outputs[0];
        command.outputs[0] = int8Of(output);
        states_[output].inFloat = false;
        if (command.type == OpType::Convolution) command.type = OpType::ConvInt8;
        if (command.type == OpType::ConvolutionDepthwise) command.type = OpType::DepthwiseConvInt8;
        if (kept_(output)) {
            places_[i].after.push_back(cast(OpType::Int8ToFloat, command.outputs[0], output));
            states_[output].inFloat = true;
        }
    }

    void enterFloat(size_t i) {
        for (Tensor* input : commands_[i]->inputs) {
            State& state = states_[input];
            if (state.inFloat) continue;
            places_[i].before.push_back(cast(OpType::Int8ToFloat, state.int8, input));
            state.inFloat = true;
        }
    }

    const std::vector<Command*>& commands_;
    const Backend& backend_;
    const std::function<bool(const Tensor*)>& kept_;
    const std::function<Tensor*(const Tensor&)>& make_;
    std::vector<QuantizedPlace> places_;
    std::unordered_map<const Tensor*, State> states_;
    bool any_ = false;
};

}  // namespace

std::vector<QuantizedPlace> quantizeCommands(const std::vector<Command*>& commands, const Backend& backend,
                                             const std::function<bool(const Tensor*)>& kept,
                                             const std::function<Tensor*(const Tensor&)>& make) {
    return Quantization(commands, backend, kept, make).run();
}

}  // namespace mnnc
