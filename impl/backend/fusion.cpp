// The commands inside of a fused one, and the names of fused operators.
#include "backend/fusion.h"

#include <cstring>

#include "net/custom.h"

namespace mnnc {

FusedBody::FusedBody(const Command& fused) {
    const auto& params = fused.paramsAs<FusedParams>();
    std::vector<Operand*> values = fused.inputs;
    steps_.reserve(params.steps.size());
    for (size_t s = 0, made = 0; s < params.steps.size(); ++s) {
        const FusedStep& from = params.steps[s];
        Command step;
        step.type = from.type;
        step.name = from.name;
        step.params = from.params;
        step.epilogue = from.epilogue;
        step.regions = from.regions;
        for (const size_t value : from.operands) step.inputs.push_back(values[value]);
        if (made < params.results.size() && params.results[made] == s) {
            values.push_back(fused.outputs[made++]);
        } else {
            Operand& inner = inner_.emplace_back();
            inner.name = from.name;
            inner.shape = from.shape;
            inner.type = from.dataType;
            inner.format = from.format;
            values.push_back(&inner);
        }
        step.outputs = {values.back()};
        steps_.push_back(std::move(step));
    }
}

const FusionPattern* findPattern(std::span<const FusionPattern* const> patterns, const char* name) noexcept {
    for (const FusionPattern* pattern : patterns)
        if (std::strcmp(pattern->name, name) == 0) return pattern;
    return nullptr;
}

const char* typeName(const Command& command) {
    if (command.type == OpType::Fused) return command.paramsAs<FusedParams>().pattern->name;
    if (const auto* host = command.paramsIf<HostNodeParams>()) return host->node->typeName();
    const char* name = opTypeName(command.type);
    return name ? name : "?";
}

}  // namespace mnnc
