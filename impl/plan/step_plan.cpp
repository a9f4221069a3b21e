// Writes the steps of a plan as text.
#include "plan/step_plan.h"

#include <unordered_map>

#include "base/error.h"
#include "plan/operand_text.h"

namespace mnnc {

namespace {

// Offsets in the host's arena, by the numbers of operands.
using ArenaOffsets = std::unordered_map<int, int64_t>;

ArenaOffsets offsetsOf(const StepPlan& plan) {
    ArenaOffsets offsets;
    for (const Placement& placement : plan.placements)
        if (placement.onHost) offsets[placement.operand] = placement.offset;
    return offsets;
}

// Describes an operand with its storage, its root if it is a view, and its place in the arena.
std::string storedText(const Operand& tensor, const ArenaOffsets& offsets) {
    std::string text = operandText(tensor);
    if (tensor.aliasOf)
        text += format(" in '%s' from byte %lld", tensor.aliasOf->name.c_str(), asLong(tensor.aliasOffset));
    else if (const auto found = offsets.find(tensor.number); found != offsets.end())
        text += format(" at byte %lld", asLong(found->second));
    return text;
}

std::string listText(const std::vector<Operand*>& tensors, const ArenaOffsets& offsets) {
    return joined(tensors, [&](const Operand& tensor) { return storedText(tensor, offsets); });
}

}  // namespace

std::string StepPlan::text() const {
    std::string text;
    size_t number = 0;
    const ArenaOffsets offsets = offsetsOf(*this);
    for (const Step& step : steps) {
        if (!step.runs() && step.toRecord.empty())
            text += format("%4zu %s '%s'\n", number, typeName(step.command), step.command.name.c_str());
        for (const OpCall& call : step.calls) {
            text +=
                format("%4zu %s '%s' on %s%s%s (%s) -> %s\n", number, call.record.type, call.record.name.c_str(),
                       call.record.backend, call.record.algorithm.empty() ? "" : " by ", call.record.algorithm.c_str(),
                       listText(call.inputs, offsets).c_str(), listText(call.outputs, offsets).c_str());
        }
        ++number;
    }
    return text;
}

}  // namespace mnnc
