// The pass compute-in-place: places outputs in the memory of an input without a later consumer.
#include <algorithm>
#include <set>
#include <unordered_map>

#include "plan/passes.h"
#include "plan/storage_location.h"

namespace mnnc {

namespace {

// Returns whether this output may lie where this input lies, judged by the inputs of the step.
bool canRunInPlace(const Step& step, size_t output, size_t input) {
    const uint32_t allowed = step.execution->inPlaceInputs(output);
    const auto may = [&](size_t i) { return i < 32 && ((allowed >> i) & 1u); };
    const Operand& to = *step.command.outputs[output];
    const std::vector<Operand*>& inputs = step.command.inputs;
    const StorageLocation from = storageLocation(inputs[input]);
    if (!may(input) || inputs[input]->type != to.type || inputs[input]->channelBlock != to.channelBlock ||
        from.root->storageBytes() != to.storageBytes())
        return false;
    for (size_t i = 0; i < inputs.size(); ++i) {
        const StorageLocation other = storageLocation(inputs[i]);
        if (other.root == from.root && (other.offset != 0 || !may(i))) return false;
    }
    return true;
}

}  // namespace

// An execution that writes each output element where it has read an input element needs no memory for the output, when
// the input has no later consumer.
void computeInPlace(StepPlan& plan, const StepContext& context) {
    const int end = static_cast<int>(plan.steps.size());
    std::unordered_map<const Operand*, int> lastUse;  // for tensors in the arena
    for (int i = 0; i < end; ++i) {
        const Step& step = plan.steps[static_cast<size_t>(i)];
        if (step.execution && !step.onDevice)
            for (Operand* output : step.command.outputs) {
                const Operand* root = rootOf(output);
                if (!root->onDevice && !context.liesOutside(root)) lastUse[root] = i;
            }
        for (Operand* input : step.command.inputs)
            if (const auto use = lastUse.find(rootOf(input)); use != lastUse.end()) use->second = i;
    }
    for (auto& [root, last] : lastUse)
        if (context.isReadLater(root)) last = end;
    for (Operand* view : plan.views)
        if (const auto use = lastUse.find(rootOf(view)); use != lastUse.end() && context.isReadLater(view))
            use->second = end;

    for (int i = 0; i < end; ++i) {
        const Step& step = plan.steps[static_cast<size_t>(i)];
        if (!step.execution || step.onDevice) continue;
        std::set<const Operand*> taken;
        for (size_t out = 0; out < step.command.outputs.size(); ++out) {
            Operand* output = step.command.outputs[out];
            if (output->aliasOf || lastUse.count(output) == 0) continue;
            for (size_t in = 0; in < step.command.inputs.size(); ++in) {
                Operand* root = rootOf(step.command.inputs[in]);
                const auto use = lastUse.find(root);
                if (use == lastUse.end() || use->second != i || taken.count(root) > 0 || !canRunInPlace(step, out, in))
                    continue;
                taken.insert(root);
                output->aliasOf = root;
                output->aliasOffset = 0;
                plan.views.push_back(output);
                use->second = lastUse.at(output);
                break;
            }
        }
    }
}

}  // namespace mnnc
