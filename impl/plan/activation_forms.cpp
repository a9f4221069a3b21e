// Recognises hard activations and float sums in the forms that converters write.
#include "plan/activation_forms.h"

#include <cmath>
#include <optional>

#include "ops/activation.h"

namespace mnnc {

namespace {

constexpr size_t kMaxSteps = 8;

bool isNear(float a, float b) {
    return std::fabs(a - b) <= 1e-6f;
}

// y = factor x + term
struct Linear {
    Operand* x = nullptr;
    float factor = 1, term = 0;
};

// Reads a sum or a product with one known number.
std::optional<Linear> linearForm(const Command& command) {
    const BinaryParams* params = floatBinary(command);
    if (!params || params->relu) return {};
    for (const size_t at : {size_t{1}, size_t{0}}) {
        const Operand& number = *command.inputs[at];
        Operand* x = command.inputs[1 - at];
        if (!number.hasConstantValue || number.channelBlock != 1 || number.elements() != 1 ||
            !(x->shape == command.outputs[0]->shape))
            continue;
        const float value = *number.known<float>();
        switch (params->code) {
            case kBinaryAdd:
                return Linear{x, 1, value};
            case kBinaryMul:
                return Linear{x, value, 0};
            case kBinarySub:
                if (at == 1) return Linear{x, 1, -value};
                break;
            case kBinaryRealDiv:
                if (at == 1) return Linear{x, 1 / value, 0};
                break;
            default:
                break;
        }
    }
    return {};
}

}  // namespace

const BinaryParams* floatBinary(const Command& command) {
    if (command.type != OpType::BinaryOp || command.inputs.size() != 2 ||
        command.outputs[0]->type != DataType::Float32 || command.inputs[0]->type != DataType::Float32)
        return nullptr;
    return &command.paramsAs<BinaryParams>();
}

bool isProduct(const Command& command, const Operand* a, const Operand* b) {
    const BinaryParams* params = floatBinary(command);
    if (!params || params->code != kBinaryMul || params->relu) return false;
    const auto& inputs = command.inputs;
    return (inputs[0] == a && inputs[1] == b) || (inputs[0] == b && inputs[1] == a);
}

HardActivation hardActivation(const CommandGraph& graph, CommandGraph::Id first) {
    HardActivation form, found;
    float factor = 1, term = 0, lo = 0, hi = 0;
    bool clipped = false;
    for (CommandGraph::Id at = first; at != CommandGraph::kNone && form.steps.size() < kMaxSteps;
         at = graph.onlyConsumer(at)) {
        const Command& command = graph.command(at);
        const Operand* before = form.steps.empty() ? nullptr : graph.command(form.steps.back()).outputs[0];
        const std::optional<Linear> step = linearForm(command);
        if (step && (!before || step->x == before)) {
            if (!before) form.x = step->x;
            if (clipped && step->term != 0) break;
            factor *= step->factor;
            term = term * step->factor + step->term;
            lo *= step->factor;
            hi *= step->factor;
        } else if (before && !clipped && command.type == OpType::ReLU6) {
            const auto* clip = &command.paramsAs<ClipParams>();
            lo = clip->lo;
            hi = clip->hi;
            clipped = true;
        } else if (clipped && !form.timesX && isProduct(command, form.x, before)) {
            form.timesX = true;
        } else {
            break;
        }
        form.steps.push_back(at);
        if (clipped && isNear(factor, 1.0f / 6.0f) && isNear(term, 0.5f) && isNear(lo, 0) && isNear(hi, 1))
            found = form;
    }
    return found;
}

}  // namespace mnnc
