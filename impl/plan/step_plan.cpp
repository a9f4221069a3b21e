// The text of a plan's steps.
#include "plan/step_plan.h"

#include <functional>

#include "base/error.h"
#include "plan/operand_text.h"

namespace mnnc {

namespace {

// An operand with its storage: blocks of channels, on the device, a view, its place in the arena.
std::string storedText(const Tensor& tensor, const StepPlan& plan) {
    std::string text = operandText(tensor);
    if (tensor.channelBlock > 1) text += format(" in blocks of %d channels", tensor.channelBlock);
    if (tensor.onDevice) text += " on the device";
    if (tensor.aliasOf)
        text += format(" in '%s' from byte %lld", tensor.aliasOf->name.c_str(),
                       static_cast<long long>(tensor.aliasOffset));
    else if (const auto* data = static_cast<const char*>(tensor.data);
             data && plan.arena && !std::less<>()(data, plan.arena) &&
             std::less<>()(data, plan.arena + plan.arenaBytes))
        text += format(" at byte %lld", static_cast<long long>(data - plan.arena));
    return text;
}

std::string listText(const std::vector<Tensor*>& tensors, const StepPlan& plan) {
    return joined(tensors, [&](const Tensor& tensor) { return storedText(tensor, plan); });
}

}  // namespace

std::string StepPlan::text() const {
    std::string text;
    size_t number = 0;
    for (const Step& step : steps) {
        if (!step.runs() && !step.recording)
            text += format("%4zu %s '%s'\n", number, typeName(step.command), step.command.name.c_str());
        for (const OpCall& call : step.calls) {
            text += format("%4zu %s '%s' on %s%s%s (%s) -> %s\n", number, call.record.type,
                           call.record.name.c_str(), call.record.backend,
                           call.record.algorithm.empty() ? "" : " by ", call.record.algorithm.c_str(),
                           listText(call.inputs, *this).c_str(), listText(call.outputs, *this).c_str());
        }
        ++number;
    }
    return text;
}

}  // namespace mnnc
